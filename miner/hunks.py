"""Hunks of the test part: lines of a file of the base that lines of the grading commit take the place of. Pure.

Files that hold source and tests have them (``miner.inline_tests``); a case records them (``grading.test_hunks``), and a
library's check derives the recorded command from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby


@dataclass(frozen=True, kw_only=True, slots=True)
class TestHunk:
    """Lines of one file at the base (``base_lines`` of them from ``base_line`` on) and those that take their place.

    Lines are 1-based and end at newlines; without lines at the base the others are put in before ``base_line``, which
    is one more than there are for the end of the file. ``item`` is what they hold, such as ``mod tests``.
    """

    __test__ = False

    path: bytes
    item: str
    base_line: int
    base_lines: int
    grading_line: int
    grading_lines: int


def with_hunks(base: bytes, grading: bytes, hunks: Sequence[TestHunk]) -> bytes:
    """Return one file's base with its hunks (sorted by place), as the recorded command gives it."""
    return b"".join(pieces_of(lines_of(base), lines_of(grading), hunks))


def by_file(hunks: Sequence[TestHunk]) -> Iterator[tuple[bytes, tuple[TestHunk, ...]]]:
    """Give the hunks of each file together, the files sorted by bytes."""
    for path, group in groupby(sorted(hunks, key=lambda hunk: hunk.path), key=lambda hunk: hunk.path):
        yield path, tuple(group)


def lines_of(content: bytes) -> list[bytes]:
    """Return the lines of a file, each with its newline; the last one may have none."""
    lines = content.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def pieces_of(base: list[bytes], grading: list[bytes], hunks: Sequence[TestHunk]) -> Iterator[bytes]:
    """Give the pieces of a file by its lines at both commits, in order: what stays and what takes a place, by turns."""
    place = 0
    for hunk in hunks:
        yield b"".join(base[place : hunk.base_line - 1])
        yield b"".join(grading[hunk.grading_line - 1 : hunk.grading_line - 1 + hunk.grading_lines])
        place = hunk.base_line - 1 + hunk.base_lines
    yield b"".join(base[place:])
