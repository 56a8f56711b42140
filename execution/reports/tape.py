"""The TAP that a test file of tape writes. A test is what stands below one comment with its name: ``file::name``.

tape tells nested tests and comments of a test (``t.comment``) from nothing, so they begin a test of their own here. A
comment without a result below it is no test, unless tape itself says that it was skipped.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from execution.observation import Outcome, TestResult
from execution.reports import tap_outcomes
from execution.reports.by_file import NOT_LOADED, FileReading, Section, named
from execution.reports.tap_document import Point, parse

RUNNER: Final = "tape"
_SKIPPED: Final = "SKIP "
_TO_DO: Final = "TODO "


@dataclass(slots=True)
class _Group:
    name: str
    points: list[Point] = field(default_factory=list)


def read_section(section: Section) -> FileReading:
    """Read the document of one file's run."""
    if not section.content.strip():
        return FileReading(broken=NOT_LOADED)
    level = parse(section.content)
    groups = [_Group(name="")]
    for item in level.items:
        if isinstance(item, str):
            groups.append(_Group(name=item))
        else:
            groups[-1].points.append(item)
    rows = [row for group in groups for row in _rows(group, section.path)]
    return FileReading(rows=tuple(rows), broken=level.incomplete())


def _rows(group: _Group, path: str) -> list[TestResult]:
    if not group.name:
        return [tap_outcomes.result(path, (point.name,), point) for point in group.points]
    if group.name.startswith(_SKIPPED) and not group.points:
        skipped = group.name.removeprefix(_SKIPPED)
        return [TestResult(id=named(path, skipped), file=path, outcome=Outcome.SKIPPED)]
    if not group.points:
        return []
    name = group.name.removeprefix(_TO_DO)
    failed = tuple(point for point in group.points if tap_outcomes.outcome_of(point) is Outcome.FAILED)
    if failed:
        return [tap_outcomes.result(path, (name,), failed[0])]
    if group.name.startswith(_TO_DO):
        return [TestResult(id=named(path, name), file=path, outcome=Outcome.TODO)]
    # Skipped results of a test are remarks about it; only a test of nothing else is skipped itself.
    passed = any(tap_outcomes.outcome_of(point) is Outcome.PASSED for point in group.points)
    return (
        [tap_outcomes.result(path, (name,), group.points[0])]
        if not passed
        else [TestResult(id=named(path, name), file=path, outcome=Outcome.PASSED)]
    )
