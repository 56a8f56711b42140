"""What leads from a text to a forge, and from there to the fix: commit ids, links, numbers of issues. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from authoring.finding import Code, Finding, Severity
from authoring.leaks import finding_at
from authoring.prose import Prose

_HEX: Final = re.compile(r"(?<![\w./#-])[0-9a-f]{7,64}(?![\w/-])", re.IGNORECASE)
_LINK: Final = re.compile(r"\b(?:https?|ftp|git|ssh)://[^\s<>\]`\"]+|\bwww\.[^\s<>\]`\"]+", re.IGNORECASE)
_FORGE_PAGE: Final = re.compile(
    r"//[^/]+/.+/(?:pull|pulls|merge_requests|pull-requests|commit|commits|compare|issues|-/issues)/|\.(?:patch|diff)$",
    re.IGNORECASE,
)
_SHORT_FORGE_PAGE: Final = re.compile(r"//[^/]+/(?:pull|pulls|commit|compare|issues)/", re.IGNORECASE)
_NUMBER: Final = re.compile(
    r"\(?(?<![\w&/#-])(?:[A-Za-z][\w.-]*/[\w.-]+)?#[1-9]\d{0,5}(?![\w-])\)?|\bGH-\d+\b|(?<![\w/])![1-9]\d{1,5}\b"
)
_DIGEST_LENGTH: Final = 64


def forge_marks(field: str, prose: Prose, commits: Collection[str]) -> Iterator[Finding]:
    """Yield the marks in one field; ``commits`` are full ids that are known to be of the change."""
    links = [_trimmed(found) for found in _LINK.finditer(prose.text)]
    for found in _HEX.finditer(prose.text):
        if not _within(links, found.start()) and _names_a_commit(found[0].lower(), commits):
            yield finding_at(Code.COMMIT_ID, Severity.ERROR, field, prose.text, found.span(), "names a commit")
    for span in links:
        address = prose.text[slice(*span)]
        leading = _FORGE_PAGE.search(address) or _SHORT_FORGE_PAGE.search(address)
        if leading:
            yield finding_at(Code.LINK, Severity.ERROR, field, prose.text, span, "is a link to a forge")
        elif not prose.is_code(span[0]):
            # In code an address is data.
            yield finding_at(
                Code.LINK,
                Severity.WARNING,
                field,
                prose.text,
                span,
                "is a link",
                "a candidate has no network: say here what stands behind it",
            )
    for found in _NUMBER.finditer(prose.text):
        if not prose.is_code(found.start()) and not _within(links, found.start()):
            span = _balanced(prose.text, *found.span())
            yield finding_at(
                Code.FORGE_NUMBER,
                Severity.ERROR,
                field,
                prose.text,
                span,
                "is the number of an issue or a pull request",
            )


def _trimmed(found: re.Match[str]) -> tuple[int, int]:
    """Return a link's span without the marks of the sentence around it."""
    begin, end = found.span()
    text = found.string
    while end > begin:
        last = text[end - 1]
        unopened = last == ")" and text.count("(", begin, end) < text.count(")", begin, end)
        if not (unopened or last in ".,;:!?'*_"):
            break
        end -= 1
    return begin, end


def _balanced(text: str, begin: int, end: int) -> tuple[int, int]:
    if text[begin] == "(" and text[end - 1] != ")":
        return begin + 1, end
    if text[end - 1] == ")" and text[begin] != "(":
        return begin, end - 1
    return begin, end


def _within(spans: list[tuple[int, int]], place: int) -> bool:
    return any(begin <= place < end for begin, end in spans)


def _names_a_commit(token: str, commits: Collection[str]) -> bool:
    if any(commit.startswith(token) for commit in commits):
        return True
    mixed = any(letter.isdigit() for letter in token) and any(letter.isalpha() for letter in token)
    # A number in scientific notation is none, nor is a SHA-256 digest, which data is full of.
    return mixed and len(token) < _DIGEST_LENGTH and not re.fullmatch(r"\d+e\d+", token)
