"""The report of a command of the user's own, JUnit XML or TAP, and which graded file each of its tests belongs to.

Ids are verbatim: ``file::classname::name`` in JUnit XML, as far as the report gives each; the tests' own names in TAP.
Of equal ids the worst outcome counts.

A test belongs to the graded file that its ``file`` attribute names. Where the attribute names none of them, although
others of the report do, the test is of another file and grades nothing. Otherwise, with one graded file, it belongs to
that one; with several it belongs to those that its ``classname`` fits best (by the last parts of the path, then by the
folder), and what fits none, as all of TAP, is shared: it stands in the reading once for each graded file, so that a
failure counts against them all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from casewright.errors import InvalidInputError
from execution.observation import RED, SEVERITY, FailsBy, Outcome, ReportReading, TestResult
from execution.reports import tap
from execution.reports.junit import JUnitCase, read_cases
from execution.sandbox import TREE_DIR

_BETWEEN_PARTS: Final = re.compile(r"[/\\.:#$]+")
_NO_REPORT: Final = "the command wrote no report to the place that {report} stands for"


def read_report(report: bytes, exit_code: int | None, files: tuple[str, ...]) -> ReportReading:
    """Read a report; XML begins with ``<``, all else is TAP. ``exit_code`` None means that it is not known.

    Without ``files`` no test is attributed: each stands in the reading once.
    """
    start = report.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start:
        return ReportReading(breach=_NO_REPORT)
    if not start.startswith(b"<"):
        reading = tap.read(report, exit_code, (), worst_counts=True)
        shared = tuple(replace(test, file=file) for test in reading.tests for file in files or ("",))
        return replace(reading, tests=shared)
    try:
        cases = read_cases(start)
    except InvalidInputError as error:
        return ReportReading(breach=error.message)
    red = any(case.outcome in RED for case in cases)
    breach = "the report holds failures, the exit code is 0" if exit_code == 0 and red else ""
    worst = _worst(cases)
    return ReportReading(
        tests=tuple(_attributed(worst, files)),
        whole=not breach,
        breach=breach,
        summary=_summary(case.outcome for case in worst.values()),
    )


def _worst(cases: tuple[JUnitCase, ...]) -> dict[str, JUnitCase]:
    worst: dict[str, JUnitCase] = {}
    for case in cases:
        name = _id(case)
        if name not in worst or SEVERITY[case.outcome] > SEVERITY[worst[name].outcome]:
            worst[name] = case
    return worst


def _id(case: JUnitCase) -> str:
    file = _path(case.file)
    classname = "" if case.classname in {file, case.file} else case.classname
    return "::".join(part for part in (file, classname, case.name) if part)


def _path(file: str) -> str:
    """Return a path of a report from the tree's root where it lies below it, else as it is."""
    return file.removeprefix("file://").removeprefix(TREE_DIR + "/").removeprefix("./")


def _attributed(cases: dict[str, JUnitCase], files: tuple[str, ...]) -> Iterable[TestResult]:
    speaks_of_files = any(_files_of_path(case.file, files) for case in cases.values())
    for name, case in cases.items():
        for file in _owners(case, files, speaks_of_files=speaks_of_files):
            how = FailsBy.ASSERTION if case.outcome is Outcome.FAILED else FailsBy.ERROR
            yield TestResult(
                id=name,
                file=file,
                outcome=case.outcome,
                fails_by=how if case.outcome in RED else None,
                message=next(iter(case.message.strip().splitlines()), "") if case.outcome in RED else "",
            )


def _owners(case: JUnitCase, files: tuple[str, ...], *, speaks_of_files: bool) -> tuple[str, ...]:
    if not files:
        return (_path(case.file),)
    if case.file and speaks_of_files:
        return _files_of_path(case.file, files) or (_path(case.file),)
    return files if len(files) == 1 else _files_of_class(case.classname or case.name, files) or files


def _files_of_path(path: str, files: tuple[str, ...]) -> tuple[str, ...]:
    """Return the graded file that a path names, whole or from a folder above or below the tree's root."""
    wanted = _path(path)
    if not wanted or wanted in files:
        return (wanted,) if wanted else ()
    return tuple(file for file in files if f"/{wanted}".endswith(f"/{file}") or f"/{file}".endswith(f"/{wanted}"))


def _files_of_class(classname: str, files: tuple[str, ...]) -> tuple[str, ...]:
    """Return the graded files that a class name fits best, or none."""
    words = _parts(classname)
    for fit in (_fit_by_file, _fit_by_folder):
        fits = {file: fit(words, file) for file in files}
        best = max(fits.values())
        if best:
            return tuple(file for file in files if fits[file] == best)
    return ()


def _fit_by_file(words: list[str], file: str) -> int:
    """Return how many of the last parts of a path stand in a class name one after another; 0 is no fit."""
    parts = _parts(file.rpartition(".")[0] or file)
    runs = (parts[-length:] for length in range(len(parts), 0, -1))
    return next((len(run) for run in runs if _holds(words, run)), 0)


def _fit_by_folder(words: list[str], file: str) -> int:
    """Return how many parts a class name ends with that a file's folder ends with too, as packages of Go do."""
    folder = _parts(file.rpartition("/")[0])
    return next((length for length in range(len(folder), 0, -1) if words[-length:] == folder[-length:]), 0)


def _parts(text: str) -> list[str]:
    return [part for part in _BETWEEN_PARTS.split(text) if part]


def _holds(words: list[str], run: list[str]) -> bool:
    return any(words[start : start + len(run)] == run for start in range(len(words) - len(run) + 1))


def _summary(outcomes: Iterable[Outcome]) -> str:
    counts = Counter(outcome.value for outcome in outcomes)
    return ", ".join(f"{number} {word}" for word, number in sorted(counts.items())) or "no tests"
