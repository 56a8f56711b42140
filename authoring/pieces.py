"""A text taken apart into prose lines and code blocks, so that cleaning leaves code as it was typed. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass

from authoring.sentences import CODE_FENCE

_NEWLINE = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
# Control, zero-width and direction characters, soft hyphens, tags, and surrogates that stand alone.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
_ITEM = re.compile(r"([ \t]*)([-*+\u2022]|\d{1,3}[.)])([ \t]+)\S")
_COMMENT_START = re.compile("<!--")
_BACKTICKS = re.compile("`+")
# A literal block of a case file can't hold a line that ends in a blank.
_CODE_LINE_END = re.compile("(?<![ \t])[ \t]+$", re.MULTILINE)
_CODE_INDENT = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A line of prose, or a whole code block with its fences. LF text without a final newline."""

    text: str
    code: bool = False


def visible(text: str) -> str:
    """Return a text with LF line ends, without control characters (tabs stay) and without what nobody can see."""
    return _INVISIBLE.sub("", _NEWLINE.sub("\n", text))


def code_spans(line: str) -> list[tuple[int, int]]:
    """Return where inline code stands in a line: start and end of each span, its backticks included."""
    runs = [(found.start(), found.end()) for found in _BACKTICKS.finditer(line)]
    by_length: defaultdict[int, list[int]] = defaultdict(list)
    for start, end in runs:
        by_length[end - start].append(start)
    spans: list[tuple[int, int]] = []
    reached = 0
    for start, end in runs:
        if start < reached:
            continue
        same = by_length[end - start]
        at = bisect_right(same, start)
        if at < len(same):
            reached = same[at] + end - start
            spans.append((start, reached))
    return spans


def without_comments(text: str) -> str:
    """Return a text without its HTML comments; those in code stay, and one that nobody closed stays too."""
    lines = text.split("\n")
    closing = _closing_lines(lines)
    last_close = max(closing, default=-1)
    kept: list[str] = []
    fence, inside = "", False
    for number, line in enumerate(lines):
        rest = line
        if inside:
            if number not in closing:
                continue
            end = line.find("-->")
            inside, rest = False, line[end + 3 :]
        elif fence or CODE_FENCE.match(line):
            fence = _fence_after(fence, line)
            kept.append(line)
            continue
        rest, inside = _cut_comments(rest, closes_later=last_close > number)
        if rest == line or rest.strip():
            kept.append(rest)
    return "\n".join(kept)


def pieces(text: str) -> list[Piece]:
    """Take an LF text apart. A fence that nobody closed reaches to the end, as on a forge."""
    lines = text.split("\n")
    found: list[Piece] = []
    floor, number, after_blank = 0, 0, True
    while number < len(lines):
        line = lines[number]
        end = _end_of_code(lines, number, floor, after_blank=after_blank)
        if end > number:
            found.append(Piece(text="\n".join(lines[number:end]), code=True))
            number, after_blank = end, False
            continue
        item = _ITEM.match(line)
        if item:
            # What belongs to a list's item stands at least as deep as its words.
            floor = _indent(line) + len(item[2]) + min(len(item[3]), 4)
        elif line.strip() and after_blank and _indent(line) < floor:
            floor = 0
        found.append(Piece(text=line.rstrip()))
        number, after_blank = number + 1, not line.strip()
    return found


def paragraphs(text: str) -> list[str]:
    """Split an LF text at the blank lines that stand outside code; code blocks stay with the lines around them."""
    found: list[list[str]] = [[]]
    for piece in pieces(text):
        if piece.code or piece.text:
            found[-1].append(piece.text)
        elif found[-1]:
            found.append([])
    return ["\n".join(lines) for lines in found if lines]


def joined(parts: list[Piece]) -> str:
    """Put pieces together again, without blank lines at the edges and never two of them between pieces."""
    lines: list[str] = []
    for part in parts:
        if part.code or part.text.strip() or (lines and lines[-1]):
            lines += _CODE_LINE_END.sub("", part.text).split("\n") if part.code else [part.text.rstrip()]
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join(lines)


def _end_of_code(lines: list[str], start: int, floor: int, *, after_blank: bool) -> int:
    """Return the number of the line after the code block that begins at ``start``; ``start`` itself if none does.

    ``floor`` is how deep the list around it stands: from four columns deeper a line after a blank one is code.
    """
    fence = _fence_after("", lines[start])
    end = start
    if fence:
        while fence and end + 1 < len(lines):
            end += 1
            fence = _fence_after(fence, lines[end])
        return end + 1
    if not after_blank or not _is_set_in(lines[start], floor) or _ITEM.match(lines[start]):
        return start
    for number in range(start, len(lines)):
        if _is_set_in(lines[number], floor) and not _fence_after("", lines[number]):
            end = number + 1
        elif lines[number].strip():
            break
    return end


def _is_set_in(line: str, floor: int) -> bool:
    return bool(line.strip()) and _indent(line) >= floor + _CODE_INDENT


def _fence_after(fence: str, line: str) -> str:
    """Return the fence that is open after a line, given the one that was open before it."""
    mark = CODE_FENCE.match(line)
    if not fence:
        # Three backticks that close on their own line are inline code.
        return "" if not mark or (mark[1][0] == "`" and "`" in line[mark.end() :]) else mark[1]
    return "" if mark and mark[1].startswith(fence) and line.strip() == mark[1] else fence


def _cut_comments(line: str, *, closes_later: bool) -> tuple[str, bool]:
    """Return a line without comments, and whether one is open at its end."""
    parts: list[str] = []
    reached = 0
    spans = code_spans(line) if "<!--" in line else []
    starts = [start for start, _ in spans]
    for found in _COMMENT_START.finditer(line):
        at = bisect_right(starts, found.start()) - 1
        if found.start() < reached or (at >= 0 and found.start() < spans[at][1]):
            continue
        end = line.find("-->", found.start() + 2)
        if end < 0 and not closes_later:
            break
        parts.append(line[reached : found.start()])
        if end < 0:
            return "".join(parts), True
        reached = end + 3
    parts.append(line[reached:])
    return "".join(parts), False


def _closing_lines(lines: list[str]) -> set[int]:
    """Return which lines end a comment that began further up.

    What stands in a whole code block below an unclosed comment is code, such as a page's own comments.
    """
    outside: list[int] = []
    inside: list[int] = []
    fence = ""
    for number, line in enumerate(lines):
        before, fence = fence, _fence_after(fence, line)
        if before and not fence:
            inside = []
        elif "-->" in line:
            (inside if before else outside).append(number)
    return {*outside, *inside}


def _indent(line: str) -> int:
    bare = line.lstrip(" \t")
    return len(line[: len(line) - len(bare)].expandtabs(4))
