"""The report of a runner that was started once for each graded file: sections, each of one file.

A section begins with a line ``# file PATH`` (the path from the tree's root). Where the run was observed, the report
begins with ``# runner NAME`` and each section ends with ``# exit CODE``: the shell that starts the runner writes these.
A runner that dies while it loads a file so says nothing of the others.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from execution.observation import RED, SEVERITY, ReportReading, TestResult

_FILE = re.compile(rb"^# file (.+)$", re.MULTILINE)
# The newline before it is the shell's: a program may have left its last line open.
_EXIT = re.compile(rb"\n?^# exit (\d+)\n*\Z", re.MULTILINE)
# How node and its loaders begin the line that says what went wrong; mocha has words of its own before it.
_ERROR = re.compile(rb"^(?: Exception during run: )?((?:[A-Z]\w*)?Error\b.*)", re.MULTILINE)
_LONGEST_MESSAGE = 300
_RUNNER = re.compile(rb"# runner ([a-z-]+)\n")


NOT_LOADED = "the file could not be loaded"


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """What one file's run wrote; ``exit_code`` None means that it is not known (a recorded command tells none)."""

    path: str
    content: bytes
    exit_code: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class FileReading:
    """One section as read. ``rows`` may hold an id twice; ``broken`` is why the file counts as failed as a whole.

    ``counts`` replaces the counts of ``rows`` where the runner's own report would count otherwise.
    """

    rows: tuple[TestResult, ...] = ()
    broken: str = ""
    counts: Mapping[str, int] | None = None


SectionReader = Callable[[Section], FileReading]


def runner_of(report: bytes) -> str:
    """Return the runner that an observed report names, empty when it names none."""
    match = _RUNNER.match(report)
    return match.group(1).decode() if match else ""


def read(
    report: bytes, exit_code: int | None, files: tuple[str, ...], reader: SectionReader, output: bytes = b""
) -> ReportReading:
    """Read a report by sections.

    ``files`` are the graded files in the order in which they were run; without any, the sections found are taken as
    they are. ``exit_code`` None means that it is not known. Of equal ids the worst counts. ``output`` is what the run
    printed: why a file does not load stands there alone.
    """
    sections = split(report)
    if not sections:
        return ReportReading(breach="the runner left no report")
    # A test that prints such a line moves the boundaries: then nothing can be told, and nothing is.
    found = tuple(section.path for section in sections)
    if files and found != files:
        return ReportReading(breach=f"the report speaks of {', '.join(found)}, run were {', '.join(files)}")
    readings = [(section, reader(section)) for section in sections]
    error = _ERROR.search(output)
    # Of several files the output does not say whose it is.
    if len(readings) == 1 and readings[0][1].broken == NOT_LOADED and error:
        told = error.group(1).decode("utf-8", "replace")[:_LONGEST_MESSAGE]
        readings = [(section, replace(reading, broken=told)) for section, reading in readings]
    return _joined(readings, exit_code)


def split(report: bytes) -> tuple[Section, ...]:
    """Return the sections of a report in its order; what stands before the first is no part of any."""
    marks = list(_FILE.finditer(report))
    ends = [*(mark.start() for mark in marks[1:]), len(report)]
    sections = []
    for mark, end in zip(marks, ends, strict=False):
        content = report[mark.end() + 1 : end]
        ended = _EXIT.search(content)
        sections.append(
            Section(
                path=posixpath.normpath(mark.group(1).decode("utf-8", "surrogateescape")),
                content=content[: ended.start()] if ended else content,
                exit_code=int(ended.group(1)) if ended else None,
            )
        )
    return tuple(sections)


def worst(rows: Iterable[TestResult]) -> dict[str, TestResult]:
    """Return the tests by id; of two with one id, which nothing tells apart, the worse speaks for both."""
    tests: dict[str, TestResult] = {}
    for row in rows:
        known = tests.get(row.id)
        if known is None or SEVERITY[row.outcome] > SEVERITY[known.outcome]:
            tests[row.id] = row
    return tests


def counts_of(tests: Iterable[TestResult]) -> Counter[str]:
    """Return the number of tests by outcome, in words that a summary line takes."""
    return Counter(test.outcome.value for test in tests)


def _joined(readings: Iterable[tuple[Section, FileReading]], exit_code: int | None) -> ReportReading:
    tests: list[TestResult] = []
    broken: dict[str, str] = {}
    counts: Counter[str] = Counter()
    breach = ""
    for section, reading in readings:
        rows = worst(reading.rows).values()
        red = bool(reading.broken) or any(row.outcome in RED for row in rows)
        tests += rows
        counts.update(counts_of(rows) if reading.counts is None else reading.counts)
        if reading.broken:
            broken[section.path] = reading.broken
        elif section.exit_code and not red:
            broken[section.path] = f"every test passed, and the runner ended with {section.exit_code}"
        if section.exit_code == 0 and red:
            breach = breach or f"{section.path} fails in the report, its run ended with 0"
    if exit_code == 0 and not breach and (broken or any(test.outcome in RED for test in tests)):
        breach = "the report holds failures, the exit code is 0"
    return ReportReading(
        tests=tuple(tests),
        broken_files=broken,
        whole=not breach,
        breach=breach,
        summary=summary_of(counts),
    )


def summary_of(counts: Mapping[str, int]) -> str:
    """Return counts by outcome as a summary line."""
    told = ", ".join(f"{number} {word}" for word, number in sorted(counts.items()) if number)
    return told or "no tests"


def named(path: str, *titles: str) -> str:
    """Return the id of a test: its file and its titles, verbatim but for what no text can hold."""
    return f"{path}::{' > '.join(titles)}".encode("utf-8", "replace").decode()
