"""The TAP of ``ava --tap``, one document for each test file. Ids are ``file::title``.

ava plans the tests that a file declared. What it could not run is missing from the results; an error outside of any
test (a file that does not load, one that exits) is a result beyond them. A test that is expected to fail is shown as
passed.
"""

from __future__ import annotations

from typing import Final

from execution.reports import tap_outcomes
from execution.reports.by_file import FileReading, Section
from execution.reports.tap_document import parse

RUNNER: Final = "ava"


def read_section(section: Section) -> FileReading:
    """Read the document of one file's run."""
    if not section.content.strip():
        return FileReading(broken="ava left no report")
    level = parse(section.content)
    points = level.points
    if level.plan is None or level.fault:
        rows = tuple(tap_outcomes.result(section.path, (point.name,), point) for point in points)
        return FileReading(rows=rows, broken=level.incomplete())
    if len(points) > level.plan:
        # The surplus can't be told from the tests by its place, but all of it failed.
        failed = [point for point in points if not point.ok and not point.directive]
        rows = tuple(tap_outcomes.result(section.path, (point.name,), point) for point in points if point not in failed)
        reason = failed[0] if failed else points[-1]
        return FileReading(rows=rows, broken=tap_outcomes.message(reason))
    rows = tuple(tap_outcomes.result(section.path, (point.name,), point) for point in points)
    left = level.plan - len(points)
    return FileReading(rows=rows, broken=f"{left} of its tests did not end" if left else "")
