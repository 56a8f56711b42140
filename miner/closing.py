"""Which issues a pull request closes: the forge's closing keywords in its texts, and what the forge itself links.

A keyword counts for the one reference that follows it, as on GitHub: ``fixes #1, fixes #2`` closes two issues,
``fixes #1, #2`` closes the first. What a reader sees as code or as somebody else's words closes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from miner.forge_facts import ForgeReference, PullFacts

# In this order at each place: a mark that begins inside another one's reach is content of that one.
_UNREAD: Final = re.compile(
    r"""
      ^[ \t]*(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})[^\n]*(?:\n|\Z)(?:(?![ \t]*(?P=fence)[`~]*[ \t]*$)[^\n]*(?:\n|\Z))*[^\n]*
    | ^[ ]{0,3}>[^\n]*
    | (?P<comment><!--(?:.*?-->|.*\Z))
    | (?<![`\\])(?P<ticks>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=ticks)(?!`)
    """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
# ``hotfix``, ``prefixes`` and ``bug-fix`` are other words; a url's ``/fix`` is none.
_CLOSING: Final = re.compile(
    r"""
    (?<![\w/.\#@-])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)
    (?:[ \t]*:[ \t]*|[ \t]+)
    (?:
        https?://(?P<host>[a-z0-9.:\[\]-]+)/(?P<page_owner>[a-z0-9_-]+)/(?P<page_name>[a-z0-9._-]+)/issues/
        (?P<page>[0-9]+)
      | (?:(?P<owner>[a-z0-9][a-z0-9_-]*)/(?P<name>[a-z0-9._-]+))?\#(?P<number>[0-9]+)
      | gh-(?P<gh>[0-9]+)
    )(?![\w])
    """,
    re.IGNORECASE | re.ASCII | re.VERBOSE,
)
_LARGEST: Final = 2**31 - 1


def closing_references(text: str, default: tuple[str, str, str]) -> tuple[ForgeReference, ...]:
    """Return what a text closes, in its order and without doubles.

    Read are close, fix and resolve in their forms, any case, with or without a colon, before ``#N``, ``GH-N``,
    ``owner/name#N`` or the url of an issue on the same host. ``default`` (host, owner, name) is where a bare number
    belongs. HTML comments, code and quoted lines are not read; urls of other hosts are not followed.
    """
    # A comment leaves its place to what stands around it (``Fixes <!-- which? --> #1``); code and quotes do not.
    read = _UNREAD.sub(lambda mark: " " if mark["comment"] else "\0", text.replace("\r\n", "\n"))
    found = (_reference(match, default) for match in _CLOSING.finditer(read))
    return _distinct(reference for reference in found if reference is not None)


def closed_by(pull: PullFacts) -> tuple[ForgeReference, ...]:
    """Return what a pull request closes: by its title, its body, its commits' messages, then what the forge links.

    In that order, without doubles and without the pull request itself.
    """
    own = pull.reference
    default = (own.host, own.owner, own.name)
    texts = (pull.title, pull.body, *(commit.message for commit in pull.commits))
    named = [reference for text in texts for reference in closing_references(text, default)]
    return tuple(reference for reference in _distinct([*named, *pull.linked]) if _same(reference) != _same(own))


def _reference(match: re.Match[str], default: tuple[str, str, str]) -> ForgeReference | None:
    host, own_owner, own_name = default
    if match["host"] and match["host"].lower().removeprefix("www.") != host.lower():
        return None
    owner = match["page_owner"] or match["owner"] or own_owner
    name = match["page_name"] or match["name"] or own_name
    digits = (match["page"] or match["number"] or match["gh"]).lstrip("0")
    # Longer ones would be slow to read as a number, and name nothing.
    number = int(digits) if 0 < len(digits) <= 10 else 0
    if not 0 < number <= _LARGEST or name in {".", ".."}:
        return None
    if (owner.lower(), name.lower()) == (own_owner.lower(), own_name.lower()):
        owner, name = own_owner, own_name
    return ForgeReference(host=host, owner=owner, name=name, number=number)


def _same(reference: ForgeReference) -> tuple[str, str, str, int]:
    """Return what two spellings of one reference share: a forge takes ``Owner/Name`` and ``owner/name`` for one."""
    return (reference.host.lower(), reference.owner.lower(), reference.name.lower(), reference.number)


def _distinct(references: Iterable[ForgeReference]) -> tuple[ForgeReference, ...]:
    first: dict[tuple[str, str, str, int], ForgeReference] = {}
    for reference in references:
        first.setdefault(_same(reference), reference)
    return tuple(first.values())
