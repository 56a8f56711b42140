"""The TAP of node-tap (``tap --output-file``), 14 to 21: each file is a sub-test of the outermost level, by its path.

A test is a ``t.test`` of any depth: ``file::outer > inner``. An assertion is one only where it stands outside of all
tests; within a test assertions have no lasting names and decide about that test alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from execution.observation import RED, Outcome, ReportReading, TestResult
from execution.reports import tap_outcomes
from execution.reports.by_file import NOT_LOADED, counts_of, summary_of, worst
from execution.reports.tap_document import Level, Point, parse
from execution.sandbox import TREE_DIR

RUNNER: Final = "tap"


def read(report: bytes, exit_code: int | None, files: tuple[str, ...], root: str = TREE_DIR) -> ReportReading:
    """Read a report.

    ``files`` are the graded files from the tree's root; tap names them from the folder that it runs in, so a name may
    lack its first folders. Without ``files`` each is taken as it is named. ``exit_code`` None means: not known.
    """
    if not report.strip():
        return ReportReading(breach="tap left no report")
    outermost = parse(report)
    breach = outermost.incomplete()
    tests: dict[str, TestResult] = {}
    broken: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for point in outermost.points:
        path = _path(point.name, files, root)
        if path is None:
            # tap runs nothing but what it is told and what its settings run before and after.
            breach = breach or (f"tap reports {point.name!r}, which failed" if not point.ok else "")
            continue
        rows = tuple(_tests(point.inner, path, ())) if point.inner else ()
        named = worst(rows)
        tests |= named
        counts.update(counts_of(named.values()))
        fault = _fault(point)
        if fault or (not point.ok and not any(row.outcome in RED for row in rows)):
            told = "the file failed after its tests" if rows else NOT_LOADED
            broken[path] = fault or told
    red = bool(broken) or any(test.outcome in RED for test in tests.values())
    if exit_code == 0 and red:
        breach = breach or "the report holds failures, the exit code is 0"
    return ReportReading(
        tests=tuple(tests.values()), broken_files=broken, whole=not breach, breach=breach, summary=summary_of(counts)
    )


def _path(name: str, files: tuple[str, ...], root: str) -> str | None:
    path = name.removeprefix(root.rstrip("/") + "/")
    if not files or path in files:
        return path
    parts = [part for part in PurePosixPath(path).parts if part != ".."]
    ending = [file for file in files if list(PurePosixPath(file).parts[-len(parts) :]) == parts]
    return ending[0] if len(ending) == 1 else None


def _fault(point: Point) -> str:
    """Return why a file's results can't be believed: some line among them was not tap's."""
    if point.inner is None:
        return "" if point.directive else NOT_LOADED
    return next(_faults(point.inner), "")


def _faults(level: Level) -> Iterator[str]:
    if level.fault:
        yield level.fault
    for point in level.points:
        if point.inner is not None:
            yield from _faults(point.inner)


def _tests(level: Level, path: str, above: tuple[str, ...]) -> Iterator[TestResult]:
    for point in level.points:
        titles = (*above, point.name)
        if point.inner is not None:
            yield from _tests(point.inner, path, titles)
            yield tap_outcomes.result(path, titles, point, tuple(_failed(point.inner)))
        elif not above or point.directive:
            yield tap_outcomes.result(path, titles, point)


def _failed(level: Level) -> Iterator[Point]:
    """Give the failed results below a level, the innermost first."""
    for point in level.points:
        if tap_outcomes.outcome_of(point) is Outcome.FAILED:
            if point.inner is not None:
                yield from _failed(point.inner)
            yield point
