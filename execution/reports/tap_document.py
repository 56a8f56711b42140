"""One document of the Test Anything Protocol as JavaScript's runners write it, read strictly into a tree.

Sub-tests stand four blanks deeper, before the line of the test around them or, in braces, after it. Each result carries
its number and each level its plan: a line that some program printed, and that only looks like a result, does not fit
into the row and is a fault of its level.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Literal

Directive = Literal["", "skip", "todo"]

_RESULT: Final = re.compile(r"( *)(not )?ok\b(?: (\d+))?(?: - | |$)(.*)")
_PLAN: Final = re.compile(r"( *)1\.\.(\d+)(?: *#.*)?")
_COMMENT: Final = re.compile(r"( *)# ?(.*)")
_DIRECTIVE: Final = re.compile(r"(?:^|(?<=\s))#\s*(?:(skip)\S*|todo)(?:\s.*)?$", re.IGNORECASE)
# How long a test took differs from run to run and is no part of its name.
_TIME: Final = re.compile(r"\s+# time=[\d.]+ ?m?s$")
_INDENT: Final = 4


@dataclass(slots=True)
class Point:
    """One result: its name without directive and time, what it holds, and the lines of its diagnostic block."""

    ok: bool
    name: str
    directive: Directive = ""
    inner: Level | None = None
    diagnostic: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Level:
    """The results of one indentation, with the comments between them (text) in their order; ``fault`` is the first.

    ``plan`` None means that there is none.
    """

    items: list[Point | str] = field(default_factory=list)
    plan: int | None = None
    fault: str = ""

    @property
    def points(self) -> list[Point]:
        """The results alone."""
        return [item for item in self.items if isinstance(item, Point)]

    def incomplete(self) -> str:
        """Return why this level is not whole, empty when it is."""
        count = len(self.points)
        if self.fault:
            return self.fault
        if self.plan is None:
            return "the report has no plan: it ended early"
        return "" if self.plan == count else f"the report plans {self.plan} tests and holds {count}"


@dataclass(slots=True)
class _Parser:
    levels: list[Level] = field(default_factory=lambda: [Level()])
    braces: list[tuple[int, Point]] = field(default_factory=list)
    last: Point | None = None
    block: int = -1

    def take(self, text: str) -> None:
        stripped = text.strip()
        indent = len(text) - len(text.lstrip(" "))
        if self.block >= 0:
            self._in_block(stripped, indent, text)
        elif stripped == "---" and indent and self.last is not None:
            self.block = indent
        elif self.braces and text == " " * self.braces[-1][0] + "}":
            self._close()
        elif result := _RESULT.fullmatch(text):
            self._result(result)
        elif plan := _PLAN.fullmatch(text):
            self._plan(len(plan.group(1)) // _INDENT, int(plan.group(2)))
        elif text.startswith("Bail out!"):
            self.levels[0].fault = self.levels[0].fault or f"the run bailed out: {text[9:].strip()}"
        elif comment := _COMMENT.fullmatch(text):
            depth = len(comment.group(1)) // _INDENT
            # A comment alone makes no sub-test of the result that follows.
            if depth < len(self.levels):
                self.levels[depth].items.append(comment.group(2))

    def _in_block(self, stripped: str, indent: int, text: str) -> None:
        if stripped == "..." and indent <= self.block:
            self.block = -1
        elif self.last is not None:
            self.last.diagnostic.append(text)

    def _level(self, depth: int) -> Level:
        while len(self.levels) <= depth:
            self.levels.append(Level())
        return self.levels[depth]

    def _plan(self, depth: int, count: int) -> None:
        level = self._level(depth)
        if level.plan is not None:
            level.fault = level.fault or "the report has two plans"
        level.plan = count

    def _result(self, match: re.Match[str]) -> None:
        spaces, bad, number, description = match.groups()
        depth = len(spaces) // _INDENT
        level = self._level(depth)
        opens = description.endswith(" {")
        name, directive = _described(description[:-2] if opens else description)
        point = Point(ok=not bad, name=name, directive=directive)
        due = len(level.points) + 1
        if number is not None and int(number) != due:
            level.fault = level.fault or f"result {number} stands where {due} is due"
        level.items.append(point)
        if len(self.levels) > depth + 1:
            point.inner = self.levels[depth + 1]
            del self.levels[depth + 1 :]
        if opens:
            self.braces.append((len(spaces), point))
        self.last = point

    def _close(self) -> None:
        spaces, point = self.braces.pop()
        depth = spaces // _INDENT
        point.inner = self.levels[depth + 1] if len(self.levels) > depth + 1 else Level()
        del self.levels[depth + 1 :]


def parse(report: bytes) -> Level:
    """Return the document's outermost level."""
    parser = _Parser()
    for line in report.decode("utf-8", "surrogateescape").split("\n"):
        parser.take(line.rstrip("\r"))
    return parser.levels[0]


def _described(description: str) -> tuple[str, Directive]:
    text = _TIME.sub("", description.rstrip())
    found = _DIRECTIVE.search(text)
    directive: Directive = ""
    if found:
        directive = "skip" if found.group(1) else "todo"
        text = _TIME.sub("", text[: found.start()].rstrip())
    return re.sub(r"\\([\\#])", r"\1", text.strip()), directive
