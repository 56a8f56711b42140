"""The task text, drafted from what people wrote of a change: its issues, else its pull request or commits.

An issue says what is wrong; a pull request often says how it was mended, and a commit message hardly anything else. So
the first kind that says enough by itself is taken and nothing of the others. What goes out stands in
``authoring.cleaning``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from authoring.cleaning import TextKind, cleaned
from authoring.condition import has_resolved_condition, resolved_condition
from authoring.inline_marks import clean_line
from authoring.pieces import paragraphs, visible
from authoring.sentences import sentences
from miner.statable import statable

__all__ = [
    "PROPOSED_CONDITION",
    "SourceText",
    "Statement",
    "TextKind",
    "cleaned",
    "cleaned_title",
    "decode_message",
    "draft_statement",
    "has_resolved_condition",
    "resolved_condition",
]

_CONVENTIONAL = re.compile(
    r"(?:build|chore|ci|docs?|feat(?:ure)?|fix|bugfix|hotfix|perf|refactor|revert|style|tests?|types|wip"
    r"|deps)(?:\([^)\n]*\))?!?:\s+(?=\S)",
    re.IGNORECASE,
)
# What people and bots put before a title: ``[BUG]``, ``Feature request:``, ``ENH:``, ``[4.2.x]``, ``Backport:``.
_TAG = re.compile(
    r"\s*(?:\[(?:[\w .-]{0,20}\b(?:bug|feature|request|wip|rfc|draft|enhancement|question|regression|backport"
    r"|proposal|crash|issue"
    r"|fix|feat|docs?|chore|perf|refactor|deps|typing)\b[\w .-]{0,20}|v?\d+(?:\.[\dx*]+)*|(?:release|stable"
    r"|maint)[/-]?[\w.]{0,20})\]\s*:?\s*"
    r"|(?:bug(?: report)?|feature(?: request)?|wip|rfc|draft|enhancement|proposal|backport|regression|feat req|question"
    r"|issue)\s*:\s+|(?-i:BUG|ENH|DOC|MAINT|TST|API|DEP|PERF|BLD|CI|TYP|REF|CLN|REGR|BENCH|STY|SIMD|REL|DEV"
    r"|FIX)(?:/[A-Z]{2,5})?\s*:\s+"
    # "[Python forward compat]" says nothing that the words after it don't; "[Windows only]" does.
    r"|\[(?![^\]]*\b(?:only|windows|linux|mac|macos|posix|unix)\b)[a-z][a-z0-9.+-]*(?: [a-z0-9.+-]+){1,3}\]\s*:?\s+"
    r"|(?:\ufe0f|[\u2600-\u27bf\U0001f300-\U0001faff])+\s*)(?=\S)",
    re.IGNORECASE,
)
# A commit that tells of the documentation or the tests is no wish where another one is.
_ASIDE = re.compile(
    r"(?:docs?|tests?|ci|style)(?:\([^)\n]*\))?:\s|(?:update|improve|fix|correct|extend|clarify|reword|tidy|polish"
    r"|clean up|rework|add|adjust)[a-z]* (?:the |some )?(?:docs|documentation|docstrings?|readme|change ?log)\b"
    r"|[^\n]{0,80}\b(?:in|to|throughout) (?:the )?(?:docs|documentation|docstrings?|readme|change ?log)\b",
    re.IGNORECASE,
)
_SIGN = re.compile(r"^:[a-z0-9_+-]+:\s*")
_PLAIN_WORD = re.compile(r"[a-z]+(?![^\s,])")
_WORD = re.compile(r"[^\W_]+(?:['\u2019._/-][^\W_]+)*")


PROPOSED_CONDITION = "proposed condition"
# Characters within which a text has to say what it is about.
ENOUGH_TO_SAY = 4000
# A longer first line that goes on in lower case is the beginning of a wrapped paragraph.
LONGEST_SUBJECT = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceText:
    """A text as people wrote it. ``source`` is its label: ``issue owner/name#12``, ``pull request #34``.

    A commit message has no title of its own: all of it is ``text``.
    """

    kind: TextKind
    source: str
    title: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """A drafted task: LF text that ends with a newline (or is empty), and the sentences that each source gave.

    A sentence is one line; a source that gave nothing is not among them.
    """

    task: str
    text_from: tuple[tuple[str, tuple[str, ...]], ...]


def decode_message(message: bytes, encoding: str = "") -> str:
    """Return a commit message as text: by the commit's own ``encoding`` header, else as UTF-8.

    What does not decode becomes U+FFFD; a wrong or unknown header is no reason to lose a change.
    """
    for name in (encoding, "utf-8"):
        try:
            return message.decode(name or "utf-8")
        except (LookupError, UnicodeDecodeError):
            continue
    return message.decode("utf-8", "replace")


def draft_statement(texts: Iterable[SourceText]) -> Statement:
    """Return the task drafted from the texts of the first kind that says enough: issues, pull request, commits.

    All texts of that kind are taken in the order given; what an earlier one says is not said again. Where no kind says
    enough by itself, the one that says most is taken.
    """
    given = tuple(texts)
    drafts = [_drafted([text for text in given if text.kind is kind]) for kind in TextKind]
    enough = [draft for draft in drafts if statable([draft.statement.task[:ENOUGH_TO_SAY]])]
    chosen = enough[0] if enough else max(drafts, key=lambda draft: len(draft.statement.task))
    statement = chosen.statement
    if not statement.task or has_resolved_condition(statement.task):
        return statement
    proposed = resolved_condition(chosen.titles)
    return Statement(
        task=f"{statement.task}\n{proposed}\n", text_from=(*statement.text_from, (PROPOSED_CONDITION, (proposed,)))
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Draft:
    """What the texts of one kind give, and the first line of each that gave something."""

    statement: Statement
    titles: tuple[str, ...]


def _drafted(texts: list[SourceText]) -> _Draft:
    telling = [text for text in texts if text.kind is not TextKind.COMMIT or not _ASIDE.match(text.text.lstrip())]
    draft = _drafted_whole(telling)
    return draft if draft.titles or len(telling) == len(texts) else _drafted_whole(texts)


def _drafted_whole(texts: list[SourceText]) -> _Draft:
    split = [paragraphs(_whole(text)) for text in texts]
    shorter = _contained([_words_of(found[0]) if found else "" for found in split])
    parts: list[str] = []
    titles: list[str] = []
    text_from: list[tuple[str, tuple[str, ...]]] = []
    said: set[str] = set()
    for number, (text, found) in enumerate(zip(texts, split, strict=True)):
        kept = []
        for place, paragraph in enumerate(found):
            key = _words_of(paragraph)
            if key and key not in said and not (place == 0 and number in shorter):
                kept.append(paragraph)
                said.add(key)
                if place == 0:
                    titles.append(_title_of(paragraph))
        if kept:
            parts += kept
            text_from.append((text.source, sentences("\n\n".join(kept))))
    task = "\n\n".join(parts)
    statement = Statement(task=f"{task}\n" if task else "", text_from=tuple(text_from))
    return _Draft(statement=statement, titles=tuple(titles))


def _words_of(paragraph: str) -> str:
    """Return the words of a paragraph, by which two of them say the same."""
    return " ".join(_WORD.findall(paragraph.lower()))


def _contained(keys: list[str]) -> set[int]:
    """Return which of the first paragraphs stand in a longer one, word by word."""
    return {
        number
        for number, key in enumerate(keys)
        if key and any(len(other) > len(key) and f" {key} " in f" {other} " for other in keys)
    }


def _title_of(paragraph: str) -> str:
    """Return the first line of a text where it is a title, or nothing where a sentence goes on below it."""
    first, _, rest = paragraph.partition("\n")
    return "" if rest[:1].islower() and len(first) > LONGEST_SUBJECT else first


def _whole(text: SourceText) -> str:
    """Return a text cleaned, its title first; a body that begins by saying its title again says it once."""
    if not text.title:
        whole = _untyped(cleaned(text.text, text.kind))
        title, body = _uncut(*whole.partition("\n\n")[::2])
        return f"{title}\n\n{body}" if body else title
    title, body = _uncut(cleaned_title(text.title), cleaned(text.text, text.kind))
    return f"{title}\n\n{body}" if title and body else title or body


def _uncut(title: str, body: str) -> tuple[str, str]:
    """Return a title that a forge cut off as one again, with the rest of it from the body, and what is left of that.

    The rest begins the body after a mark of its own, or an item of a squashed list says the whole title.
    """
    begun = title[:-1].rstrip() if title.endswith("\u2026") and "\n" not in title else ""
    first, _, rest = body.partition("\n")
    rest = rest.lstrip("\n")
    if begun and first.startswith("\u2026"):
        return title[:-1] + first[1:], rest
    if begun and first[:2] in {"* ", "- "} and first[2:].startswith(begun):
        return first[2:], rest
    return title, body


def cleaned_title(title: str) -> str:
    """Return the title of an issue or a pull request as one line without marks, tags and conventional types."""
    line = " ".join(visible(title).split())
    for _ in range(4):
        fresh = _title(clean_line(line, html=False)).strip()
        if fresh == line:
            break
        line = fresh
    return line


def _untyped(text: str) -> str:
    """Take conventional types (``fix(parser):``) and signs from the title and from the items of a squashed list."""
    first, newline, rest = text.partition("\n")
    lines = [_title(line) if line.startswith(("* ", "- ")) else line for line in rest.split("\n")]
    return _title(first) + newline + "\n".join(lines)


def _title(line: str) -> str:
    """Take all that stands before the words of a title: ``feat: \u2728 merge``."""
    while (fresh := _title_without_one(line)) != line:
        line = fresh
    return line


def _title_without_one(line: str) -> str:
    """Take signs, tags and a conventional type from a title or from an item of a squashed list."""
    mark = line[:2] if line.startswith(("* ", "- ")) else ""
    bare = _SIGN.sub("", line[len(mark) :])
    typed = _CONVENTIONAL.sub(
        "", _TAG.sub("", bare, count=1).lstrip("-\u2013 \t") if _TAG.match(bare) else bare, count=1
    )
    if typed == line[len(mark) :]:
        return line
    # A name such as joinURL or np.pad is written as it is.
    return mark + typed[:1].upper() + typed[1:] if _PLAIN_WORD.match(typed) else mark + typed
