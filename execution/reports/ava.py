"""The TAP of ``ava --tap``, one document for each test file. Ids are ``file::title``.

ava plans the tests that a file declared. What it could not run is missing from the results; an error outside of any
test (a file that does not load, one that exits) is a result beyond them. A test that is expected to fail is shown as
passed.
"""

from __future__ import annotations

import re
from typing import Final

from execution.reports import tap_outcomes
from execution.reports.by_file import FileReading, Section
from execution.reports.tap_document import Point, parse

RUNNER: Final = "ava"
_NO_TEST: Final = re.compile(
    r"^(?:[A-Z]\w*)?Error: |^(?:unhandled-rejection|uncaught-exception|No tests found in .*)$"
    r"| exited (?:with a non-zero exit code: \d+|due to \S+|because of .*)$"
)


def read_section(section: Section) -> FileReading:
    """Read the document of one file's run."""
    if not section.content.strip():
        return FileReading(broken="ava left no report")
    level = parse(section.content)
    surplus = len(level.points) - (level.plan or 0)
    beside = _beside_tests(level.points, surplus) if level.plan is not None and surplus > 0 else []
    tests = [point for point in level.points if point not in beside]
    rows = tuple(tap_outcomes.result(section.path, (point.name,), point) for point in tests)
    if level.plan is None or level.fault:
        return FileReading(rows=rows, broken=level.incomplete())
    if surplus < 0:
        return FileReading(rows=rows, broken=f"{-surplus} of its tests did not end")
    return FileReading(rows=rows, broken=tap_outcomes.message(beside[0]) if beside else "")


def _beside_tests(points: list[Point], surplus: int) -> list[Point]:
    """Return the results that are of no test; where that can't be told by ava's words, all that failed."""
    failed = [point for point in points if not point.ok and not point.directive]
    named = [point for point in failed if _NO_TEST.search(point.name)]
    return named if len(named) == surplus else failed
