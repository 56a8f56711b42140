"""What a result line of TAP, with its diagnostic block, says of a test."""

from __future__ import annotations

import re
from typing import Final

from execution.observation import FailsBy, Outcome, TestResult
from execution.reports.by_file import named
from execution.reports.tap_document import Point

_ASSERTION: Final = re.compile(
    r"^\s*(?:name: ['\"]?AssertionError|code: ['\"]?ERR_ASSERTION|operator: |compare: |assertion: )"
)
_OTHER_ERROR: Final = re.compile(
    r"^\s*(?:'Error thrown in test:'|name: ['\"]?(?!AssertionError)\w*Error\b|type: \w*Error\b)"
)
_TIMEOUT: Final = re.compile(r"^\s*(?:message: ['\"]?Test timeout exceeded|expired: |signal: SIGALRM)|timeout!$")
_MESSAGE: Final = re.compile(r"message: (?![|>]|''$|\"\"$)(?:'(.+)'|(.+))")
_LONGEST: Final = 300


def outcome_of(point: Point) -> Outcome:
    """Return the outcome of a point; what is skipped or to do is neither passed nor failed."""
    match point.directive:
        case "skip":
            return Outcome.SKIPPED
        case "todo":
            return Outcome.TODO
        case _:
            return Outcome.PASSED if point.ok else Outcome.FAILED


def result(path: str, titles: tuple[str, ...], point: Point, inner: tuple[Point, ...] = ()) -> TestResult:
    """Return the test of a point; ``inner`` are the failed points within it, which know why it failed."""
    outcome = outcome_of(point)
    if outcome is not Outcome.FAILED:
        return TestResult(id=named(path, *titles), file=path, outcome=outcome)
    telling = inner[0] if inner else point
    return TestResult(
        id=named(path, *titles),
        file=path,
        outcome=outcome,
        fails_by=how(telling),
        message=message(telling),
    )


def how(point: Point) -> FailsBy:
    """Return how a failed point failed."""
    lines = [*point.diagnostic, point.name]
    if any(_TIMEOUT.search(line) for line in lines):
        return FailsBy.TIMEOUT
    if any(_OTHER_ERROR.match(line) for line in lines):
        return FailsBy.ERROR
    return FailsBy.ASSERTION if any(_ASSERTION.match(line) for line in lines) else FailsBy.ERROR


def message(point: Point) -> str:
    """Return what a failed point says of itself, in one line."""
    first = point.diagnostic[0] if point.diagnostic else ""
    indent = first[: len(first) - len(first.lstrip(" "))]
    # Values that are compared may have a message of their own, further in.
    lines = (line.removeprefix(indent) for line in point.diagnostic if line.startswith(indent))
    found = next((match.group(1) or match.group(2) for line in lines if (match := _MESSAGE.match(line))), "")
    return (found or point.name)[:_LONGEST].encode("utf-8", "replace").decode()
