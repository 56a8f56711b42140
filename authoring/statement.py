"""The task text, drafted from what people wrote of a change: commit messages, later pull requests and issues.

What is of the forge and not of the task goes out: trailers, issue and commit numbers, links, merge formulas, the type
before a conventional title. Whether texts say enough for a task is decided before, by ``miner.statable``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from authoring.condition import has_resolved_condition, resolved_condition
from authoring.sentences import sentences
from miner.statable import statable

__all__ = [
    "PROPOSED_CONDITION",
    "SourceText",
    "Statement",
    "TextKind",
    "decode_message",
    "draft_statement",
    "has_resolved_condition",
    "resolved_condition",
]

_TRAILER = re.compile(
    r"(?:[a-z]+(?:-[a-z]+)*-by|cc|change-id|reviewed-on|differential revision|cherry-picked-from)\s*:\s*\S.*|"
    r"(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|refs?|references|see[- ]also|bug|link|links|related|issue|issues|pr|"
    r"pull request|part of)\s*:\s*(?:(?:[\w.-]+/[\w.-]+)?#\d+|gh-\d+|https?://\S+|\d+|[0-9a-f]{7,64}\b)[\s\S]*|"
    r"\(cherry picked from commit [0-9a-f]+\)|git-svn-id:.*",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"[(\[]?\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|refs?|see|re)\s*:?\s+"
    r"(?:(?:[\w.-]+/[\w.-]+)?(?:#|gh-)\d+(?:\s*(?:,|and|&)\s*)?)+[)\]]?\.?",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\(\s*(?:(?:[\w.-]+/[\w.-]+)?#\d+|gh-\d+)(?:\s*,\s*(?:#|gh-)\d+)*\s*\)|"
    r"(?<![\w&/])(?:[\w.-]+/[\w.-]+)?#\d+\b|\bgh-\d+\b",
    re.IGNORECASE,
)
_LINK = re.compile(r"\[([^\]\n]*)\]\(\s*https?://[^)\s]*\s*\)|<https?://[^>\s]*>|\bhttps?://[^\s<>)\]]+")
_OBJECT_ID = re.compile(r"\b(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_MERGE = re.compile(
    r"merge (?:pull request|pr|mr|merge request) \S+.*|merge (?:remote-tracking )?(?:branch(?:es)?|tag|commit) ['\"].*|"
    r"merge branch \S+ (?:of|into) \S+|merged in \S+ \(pull request.*\)|see merge request\b.*|auto-?merge\b.*|"
    # A branch into a branch; "Merge defaults into options" is a task.
    r"merge \S+ (?:in)?to [`'\"]?(?:main|master|develop|dev|stable|trunk|next|maint\S*|release\S*|v?\d[\w.]*)\W*",
    re.IGNORECASE,
)
_REVERT = re.compile(r"(?:revert|reapply) [\"'].*|this reverts (?:commit|merge request)\b.*", re.IGNORECASE)
_FORMULAS = (_MERGE, _REVERT)
_CONVENTIONAL = re.compile(
    r"(?:build|chore|ci|docs?|feat(?:ure)?|fix|bugfix|hotfix|perf|refactor|revert|style|tests?)(?:\([^)\n]*\))?!?:\s+(?=\S)",
    re.IGNORECASE,
)
_SIGN = re.compile(r"^:[a-z0-9_+-]+:\s*")
_WORD = re.compile(r"[^\W_]+(?:['\u2019._/-][^\W_]+)*")


PROPOSED_CONDITION = "proposed condition"


class TextKind(StrEnum):
    """Who wrote a text and for whom, in the order in which a task is rather drafted from it."""

    ISSUE = "issue"
    PULL_REQUEST = "pull request"
    COMMIT = "commit message"


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
    enough = [draft for draft in drafts if statable([draft.statement.task])]
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
    parts: list[str] = []
    titles: list[str] = []
    text_from: list[tuple[str, tuple[str, ...]]] = []
    said: set[str] = set()
    for text in texts:
        kept = []
        whole = f"{text.title}\n\n{text.text}" if text.title else text.text
        for paragraph in _untyped(cleaned(whole)).split("\n\n"):
            key = " ".join(_WORD.findall(paragraph.lower()))
            if key and key not in said:
                kept.append(paragraph)
                said.add(key)
        if kept:
            parts += kept
            titles.append(kept[0].partition("\n")[0])
            text_from.append((text.source, sentences("\n\n".join(kept))))
    task = "\n\n".join(parts)
    statement = Statement(task=f"{task}\n" if task else "", text_from=tuple(text_from))
    return _Draft(statement=statement, titles=tuple(titles))


def cleaned(text: str) -> str:
    """Return a text without what belongs to the forge; paragraphs and line breaks stay as they were wrapped."""
    unified = _CONTROL.sub(
        "", text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    )
    lines = _without_trailers(_COMMENT.sub("", unified).split("\n"))
    kept: list[str] = []
    for line in lines:
        bare = line.strip()
        fresh = _clean_line(line)
        if _TRAILER.fullmatch(bare) or any(rule.fullmatch(one) for rule in _FORMULAS for one in (bare, fresh.strip())):
            continue
        if fresh.strip(" \t-*•.,;:()[]") or not bare:
            kept.append(fresh)
    paragraphs = re.split(r"\n[ \t]*\n+", "\n".join(kept).strip("\n"))
    shown = [paragraph.strip("\n") for paragraph in paragraphs if paragraph.strip()]
    return "\n\n".join(part.lstrip() if number == 0 else part for number, part in enumerate(shown))


def _untyped(text: str) -> str:
    """Take conventional types (``fix(parser):``) and signs from the title and from the items of a squashed list."""
    first, newline, rest = text.partition("\n")
    lines = [_title(line) if line.startswith(("* ", "- ")) else line for line in rest.split("\n")]
    return _title(first) + newline + "\n".join(lines)


def _without_trailers(lines: list[str]) -> list[str]:
    """Take out the last block of lines when each of them has the shape ``Token: value`` or continues one."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    start = end
    while start and lines[start - 1].strip():
        start -= 1
    block = lines[start:end]
    shaped = all(
        re.match(r"[A-Za-z][A-Za-z0-9-]*: \S|\s+\S", line) or _TRAILER.fullmatch(line.strip()) for line in block
    )
    known = any(_TRAILER.fullmatch(line.strip()) for line in block)
    return lines[:start] if start and shaped and known else lines[:end]


def _clean_line(line: str) -> str:
    fresh = _LINK.sub(lambda found: found[1] or "", line)
    fresh = _CLOSING.sub("", fresh)
    fresh = _NUMBER.sub("", fresh)
    fresh = _OBJECT_ID.sub("", fresh)
    if fresh == line:
        return line.rstrip()
    indent = fresh[: len(fresh) - len(fresh.lstrip())]
    body = re.sub(r"(?<!\S)(?:\(\s*\)|\[\s*\])", "", fresh.strip())
    body = re.sub(r"[ \t]{2,}", " ", body)
    body = re.sub(r"^[:;,.\u2013\u2014-]+\s+", "", body) if not line.lstrip().startswith("-") else body
    body = re.sub(r"\s+([.,;:!?])(?=\s|$)", r"\1", body)
    return (indent + body).rstrip()


def _title(line: str) -> str:
    mark = line[:2] if line.startswith(("* ", "- ")) else ""
    bare = _SIGN.sub("", line[len(mark) :])
    typed = _CONVENTIONAL.sub("", bare, count=1) if _CONVENTIONAL.match(bare) else bare
    if typed == line[len(mark) :]:
        return line
    return mark + typed[:1].upper() + typed[1:] if typed[:2].isalpha() else mark + typed
