"""A task as a reader sees it: which parts of it are code, which are lines of a traceback. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

_FENCE: Final = re.compile(
    r"^[ \t]*(?P<mark>```+|~~~+)[^\n]*\n.*?(?:^[ \t]*(?P=mark)[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_SPAN: Final = re.compile(r"(?<!`)(?P<mark>`+)(?!`)(?:[^\n]|\n(?!\s*\n))+?(?<!`)(?P=mark)(?!`)")
_INDENTED: Final = re.compile(r"(?:(?<=\n\n)|\A)(?:(?: {4}|\t)[^\n]*(?:\n|\Z)|[ \t]*\n(?=(?: {4}|\t)))+")
_PROMPT: Final = re.compile(r"^[ \t]*(?:>>>|\.\.\.|\$)[ \t][^\n]*$", re.MULTILINE)
_TRACE: Final = re.compile(
    r"^[ \t]*(?:File \"[^\"\n]+\", line \d+|at\s[^\n]*:\d+(?::\d+)?\)?\s*$|[\w./\\-]+\.\w+:\d+:|\S+\.go:\d+)[^\n]*",
    re.MULTILINE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Prose:
    """A text with the spans (begin, end) of its code and of its lines of tracebacks."""

    text: str
    code: tuple[tuple[int, int], ...]
    traces: tuple[tuple[int, int], ...]

    def is_code(self, place: int) -> bool:
        """Say whether a character stands in code: in backticks, in a block, after a prompt."""
        return _holds(self.code, place)

    def is_trace(self, place: int) -> bool:
        """Say whether a character stands on a line of a traceback."""
        return _holds(self.traces, place)

    def is_traced_code(self, place: int) -> bool:
        """Say whether a character stands on the line of code that a traceback shows below the line of its place."""
        line = self.text.rfind("\n", 0, place) + 1
        before = self.text.rfind("\n", 0, max(0, line - 1)) + 1
        return any(begin < line and end > before for begin, end in self.traces)


def prose_of(text: str) -> Prose:
    """Return a text with its parts found."""
    fences = [found.span() for found in _FENCE.finditer(text)]
    blocks = _merged(fences + [found.span() for rule in (_INDENTED, _PROMPT) for found in rule.finditer(text)])
    spans = [found.span() for found in _SPAN.finditer(text) if not _holds(blocks, found.start())]
    return Prose(
        text=text,
        code=_merged([*blocks, *spans]),
        traces=_merged([found.span() for found in _TRACE.finditer(text)]),
    )


def _merged(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return tuple(merged)


def _holds(spans: tuple[tuple[int, int], ...], place: int) -> bool:
    position = bisect_right(spans, (place, len(spans) and spans[-1][1] + 1)) - 1
    return position >= 0 and spans[position][0] <= place < spans[position][1]
