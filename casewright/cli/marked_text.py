"""A text on a terminal with its findings under the lines that they are about."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from authoring.findings import Finding
from casewright.cli.output import shown, styled

_INDENT = "  "


@dataclass(frozen=True, kw_only=True, slots=True)
class Marked:
    """A span of a text and the number that it is known by."""

    start: int
    end: int
    number: int


def marked_lines(text: str, field: str, findings: Sequence[Finding], width: int) -> list[str]:
    """Return a text's lines, folded to ``width`` columns, below each a line that underlines the spans in it.

    The number of a finding (from 1, its place in ``findings``) stands behind its underline. What is about the
    whole text underlines nothing: all of it would be.
    """
    spans = [
        Marked(start=finding.start, end=finding.end, number=number)
        for number, finding in enumerate(findings, 1)
        if finding.field == field and 0 < finding.end - finding.start < len(text)
    ]
    lines: list[str] = []
    start = 0
    for line in text.removesuffix("\n").split("\n"):
        for piece_start, piece in _folded(line, width - len(_INDENT)):
            first = start + piece_start
            lines.append((_INDENT + shown(piece).replace("\t", " ")).rstrip())
            lines += _underlines(piece, first, [span for span in spans if _touches(span, first, piece)])
        start += len(line) + 1
    return lines


def _touches(span: Marked, first: int, piece: str) -> bool:
    return span.start < first + len(piece) and first < span.end


def _folded(line: str, width: int) -> list[tuple[int, str]]:
    """Split a line at blanks so that each piece fits; a word that never does is cut. With where each piece begins."""
    widths = [_columns(character) for character in line]
    pieces: list[tuple[int, str]] = []
    start, columns, blank = 0, 0, -1
    for place, character in enumerate(line):
        if character == " ":
            blank = place
        if columns + widths[place] > width and place > start:
            cut = blank if blank > start else place
            pieces.append((start, line[start:cut]))
            start = cut + 1 if line[cut] == " " else cut
            columns = sum(widths[start:place])
            blank = -1
        columns += widths[place] if place >= start else 0
    return [*pieces, (start, line[start:])]


def _underlines(piece: str, first: int, spans: Sequence[Marked]) -> list[str]:
    """One line for each span: they may overlap, and a number has to stand behind its own."""
    lines = []
    for span in spans:
        inside = piece[max(0, span.start - first) : span.end - first]
        before = _columns(piece[: max(0, span.start - first)])
        mark = " " * before + "~" * max(1, _columns(inside))
        tail = f" {span.number}" if span.end <= first + len(piece) + 1 else ""
        lines.append(styled(f"{_INDENT}{mark}{tail}", "bad"))
    return lines


def _columns(text: str) -> int:
    """Return how many columns a piece of text takes as ``shown``."""
    if text.isascii() and text.isprintable():
        return len(text)
    visible = shown(text).replace("\t", " ")
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in visible
    )
