"""Which pull request somebody means: a url or ``owner/name#12`` becomes a reference, or an error that says why not.

The host decides to whom a token is sent, so it is compared with the hosts that are allowed and never searched for in
the text: whatever merely looks like one of them is refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from casewright.errors import UsageError
from miner.forge_facts import ForgeReference

_SHAPE: Final = "write https://github.com/OWNER/NAME/pull/NUMBER or OWNER/NAME#NUMBER"
_ENTERPRISE: Final = "for GitHub Enterprise set GH_HOST, or name the host under forges in casewright.yaml"
# What a person pastes is shown back in the error line.
_SHOWN: Final = 200
# A forge numbers with 32 bits; what is beyond was never a pull request.
_LARGEST: Final = 2**31 - 1

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_UNPRINTABLE: Final = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029]")
_SHORT: Final = re.compile(r"([^/:#@?]*)/([^/:#@?]*)#(.*)", re.DOTALL)
_OWNER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,98}")
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,100}")
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,9}")
_TENANT: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.ghe\.com")
_LOOPBACK: Final = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::[1-9][0-9]{0,4})?")
# The first words of a path below OWNER/NAME that people take for a pull request's.
_OTHER_PAGES: Final = {
    "issues": "an issue",
    "compare": "a comparison",
    "commit": "a commit",
    "commits": "a list of commits",
    "pulls": "the list of pull requests",
    "discussions": "a discussion",
    "merge_requests": "a merge request of GitLab",
    "-": "a page of GitLab",
    "pull-requests": "a pull request of Bitbucket",
}


def parse_pull_reference(text: str, default_host: str, known_hosts: Collection[str]) -> ForgeReference:
    """Return what a text names: ``https://HOST/o/r/pull/N`` with anything after it, the same without scheme, ``o/r#N``.

    Blanks and one pair of ``<>`` around it are dropped. ``o/r#N`` lies on ``default_host``. A url's host is github.com,
    one of ``ghe.com``, one of ``known_hosts`` (lowercase, each with its port where it has one), or this machine itself,
    which alone may be named by plain http. Raises ``UsageError``, without a password that the text may hold.
    """
    wanted = text.strip()
    if wanted.startswith("<") and wanted.endswith(">"):
        wanted = wanted[1:-1].strip()
    if not wanted:
        raise UsageError("no pull request is named", _SHAPE)
    if _UNPRINTABLE.search(wanted) or "\\" in wanted:
        raise _refusal(wanted, "holds a blank, a control character or a backslash", _SHAPE)
    scheme = _SCHEME.match(wanted)
    if scheme is None and (short := _SHORT.fullmatch(wanted)):
        return _reference(wanted, default_host.lower(), short[1], short[2], short[3])
    rest = wanted[scheme.end() :] if scheme else wanted
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    host = _allowed_host(wanted, scheme[1].lower() if scheme else "", authority, known_hosts)
    return _from_path(wanted, host, rest[len(authority) :])


def _allowed_host(wanted: str, scheme: str, authority: str, known_hosts: Collection[str]) -> str:
    """Return the host, lowercase, or refuse it."""
    if scheme not in {"", "https", "http"}:
        raise _refusal(wanted, f"begins with {scheme}://, which names no page of a forge", _SHAPE)
    if "@" in authority:
        raise _refusal(wanted, "holds user info before its host", "leave out what stands before the @")
    host = authority.lower() if authority.isascii() else ""
    if _LOOPBACK.fullmatch(host):
        return host
    if host == "www.github.com":
        host = "github.com"
    if not host or not (host == "github.com" or _TENANT.fullmatch(host) or host in known_hosts):
        raise _refusal(wanted, f"lies on {authority!a}, which is no forge that we know", f"{_SHAPE}; {_ENTERPRISE}")
    if scheme == "http":
        raise _refusal(wanted, "would be read over plain http", "write https://")
    return host


def _from_path(wanted: str, host: str, path: str) -> ForgeReference:
    """Read ``/OWNER/NAME/pull/NUMBER`` and leave aside what follows it."""
    words = re.split(r"[?#]", path, maxsplit=1)[0].split("/")[1:]
    if len(words) >= 4 and words[2] == "pull":
        return _reference(wanted, host, words[0], words[1], words[3])
    page = next((_OTHER_PAGES[word] for word in words[2:4] if word in _OTHER_PAGES), "")
    raise _refusal(wanted, f"is {page}, not a pull request" if page else "is not the address of a pull request", _SHAPE)


def _reference(wanted: str, host: str, owner: str, name: str, number: str) -> ForgeReference:
    if not _OWNER.fullmatch(owner) or not _NAME.fullmatch(name) or name in {".", ".."}:
        raise _refusal(wanted, f"names {f'{owner}/{name}'!a}, which no repository can be called", _SHAPE)
    if not _NUMBER.fullmatch(number) or int(number) > _LARGEST:
        raise _refusal(wanted, f"has {number[:40]!a} for a number", "a pull request's number is 1 or more, in digits")
    return ForgeReference(host=host, owner=owner, name=name, number=int(number))


def _refusal(wanted: str, what: str, advice: str) -> UsageError:
    # A token pasted in user info goes no further than this; look-alike letters are shown as what they are.
    shown = ascii(re.sub(r"[^/]*@", "...@", wanted))
    if len(shown) > _SHOWN:
        shown = f"{shown[:_SHOWN]}...'"
    return UsageError(f"{shown} {what}", advice)
