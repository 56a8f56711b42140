"""The events of ``go test -json``, one JSON object a line, and the lines that ``go`` itself puts between them.

An id is ``package::Test/subtest``, both as Go says them. Our own check puts one line first, which says which tests of
which package the graded files declare (``header``); whatever else speaks of another test was not asked for.

Go before 1.20 finds the events in what a test binary prints, and a test that prints something without a newline hides
the next of them: ``text--- PASS: TestX (0.00s)``. There, and only there, such a line is read too. A program that prints
whole lines of that kind can add events; then a test begins or ends twice, or ends without having begun, and that is a
breach. Later releases mark their lines.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from execution.observation import RED, SEVERITY, FailsBy, Outcome, ReportReading, TestResult

Graded = Mapping[str, Mapping[str, tuple[str, ...]]]

_ENDS: Final = {"pass": Outcome.PASSED, "fail": Outcome.FAILED, "skip": Outcome.SKIPPED}
_HIDDEN_RUN: Final = re.compile(r"=== RUN   (\S+)\n?$")
_HIDDEN_END: Final = re.compile(r"--- (PASS|FAIL|SKIP): (\S+) \(\d+\.\d\ds\)\n?$")
_FRAME: Final = re.compile(r"\s*(?:===|---) ")
# What go says in plain words of a package that it could not build, or not even load.
_NOT_BUILT: Final = re.compile(r"FAIL\t(\S+)(?: \[(?:build|setup) failed\])")
_OWN_LINES: Final = re.compile(r"FAIL|(?:ok  |\?   |FAIL)\t\S+.*")
_COMPLAINT: Final = re.compile(
    r"^(?:vet: |package )?[^\s:]+\.(?:go|s|c|h|mod|sum):\d+(?::\d+)?: .+|^package \S+ is not in .+"
)
_KEPT_LINES: Final = 60


def header(graded: Graded) -> str:
    """Return the line that our check puts before the stream: package, test, and the graded files that declare it."""
    return json.dumps({"graded": graded}, sort_keys=True, separators=(",", ":"))


@dataclass(slots=True)
class _Test:
    """A test as far as it was read: how often it began and ended, the worst outcome, what it printed."""

    begun: int = 0
    ended: int = 0
    outcome: Outcome | None = None
    hidden: Outcome | None = None
    lines: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Package:
    """A package as far as it was read. ``end`` is its last word (``pass``, ``fail``, ``skip``), empty before that."""

    tests: dict[str, _Test] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    end: str = ""
    built: bool = True
    marked: bool = False


@dataclass(slots=True)
class _Stream:
    """What was read so far; ``graded`` is None where no header was there."""

    graded: Graded | None = None
    packages: dict[str, _Package] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)
    breach: str = ""


def read(report: bytes, exit_code: int | None, files: tuple[str, ...], output: bytes) -> ReportReading:
    """Read the stream of one check.

    ``files`` are the graded files; without a header no test is attributed to a file. ``output`` is what was printed
    beside the stream: there older releases say why a package could not be built. ``exit_code`` None means that it is
    not known and can't be compared.
    """
    stream = _Stream(complaints=_complaints(output))
    for number, line in enumerate(report.decode("utf-8", "replace").split("\n")):
        if line.strip() and not stream.breach:
            _take(stream, line, number)
    broken = dict(_broken(stream, files))
    tests = tuple(_results(stream, files))
    outcomes = {test.id: test.outcome for test in tests}
    unloaded = sum(_is_broken(package) for package in stream.packages.values())
    red = unloaded + sum(outcome in RED for outcome in outcomes.values())
    breach = stream.breach or _end_breach(stream, exit_code, red)
    counts = Counter(outcome.value for outcome in outcomes.values())
    words = [f"{number} {name}" for name, number in sorted(counts.items())] + [f"{unloaded} not loaded"] * bool(
        unloaded
    )
    return ReportReading(
        tests=tests,
        broken_files=broken,
        whole=not breach,
        breach=breach,
        summary=", ".join(words) or "no tests",
    )


def _take(stream: _Stream, line: str, number: int) -> None:
    if not line.startswith("{"):
        _take_plain(stream, line)
        return
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        stream.breach = f"line {number + 1} of the report is no JSON"
        return
    if number == 0 and isinstance(event.get("graded"), dict):
        stream.graded = event["graded"]
        return
    action, package, test, text = (event.get(name) for name in ("Action", "Package", "Test", "Output"))
    if action == "build-output" and isinstance(text, str):
        stream.complaints += [text.strip()] if _COMPLAINT.match(text.strip()) else []
    if not isinstance(action, str) or not isinstance(package, str):
        return
    known = stream.packages.setdefault(package, _Package())
    if known.end:
        stream.breach = f"the report goes on with {package} after its end"
    elif isinstance(test, str):
        _take_test(stream, known, package, test, action, text if isinstance(text, str) else "")
    else:
        _take_package(known, action, text if isinstance(text, str) else "", failed_build="FailedBuild" in event)


def _take_plain(stream: _Stream, line: str) -> None:
    """Take a line of go's own; whatever a test prints stands inside an event."""
    if match := _NOT_BUILT.match(line):
        known = stream.packages.setdefault(match[1], _Package())
        if known.tests:
            stream.breach = f"{match[1]} was run and could not be built"
        known.end, known.built = "fail", False
    elif not _OWN_LINES.fullmatch(line):
        stream.breach = f"the report holds a line that go does not write: {line[:80]!r}"


def _take_package(package: _Package, action: str, text: str, *, failed_build: bool) -> None:
    match action:
        case "start":
            package.marked = True
        case "output":
            if _NOT_BUILT.match(text):
                package.built = False
            package.lines = [*package.lines[-_KEPT_LINES:], text]
            if not package.marked:
                _look_for_hidden(package, text)
        case "pass" | "fail" | "skip":
            package.end = action
            package.built = package.built and not failed_build
        case _:
            return


def _take_test(stream: _Stream, package: _Package, name: str, test: str, action: str, text: str) -> None:
    if stream.graded is not None and test.partition("/")[0] not in stream.graded.get(name, {}):
        stream.breach = f"the report speaks of {name}::{test}, which was not asked for"
        return
    seen = package.tests.setdefault(test, _Test())
    match action:
        case "run":
            seen.begun += 1
        case "output":
            if len(seen.lines) < _KEPT_LINES or text.startswith(("panic: ", "fatal error: ")):
                seen.lines.append(text)
            if not package.marked:
                _look_for_hidden(package, text)
        case "pass" | "fail" | "skip":
            seen.ended += 1
            outcome = _ENDS[action]
            if seen.outcome is None or SEVERITY[outcome] > SEVERITY[seen.outcome]:
                seen.outcome = outcome
            if seen.ended > seen.begun:
                how = "ends twice" if seen.begun else "ends and was never begun"
                stream.breach = f"{name}::{test} {how}"
        case _:
            return


def _look_for_hidden(package: _Package, text: str) -> None:
    """Find a beginning that stands behind other text on its line, and an end; an end that was told as an event counts
    as that alone. A hidden end of a test hides those of its subtests, whose lines follow it."""
    if match := _HIDDEN_END.search(text):
        seen, outcome = package.tests.setdefault(match[2], _Test()), _ENDS[match[1].lower()]
        if seen.hidden is None or SEVERITY[outcome] > SEVERITY[seen.hidden]:
            seen.hidden = outcome
    elif (match := _HIDDEN_RUN.search(text)) and match.start():
        package.tests.setdefault(match[1], _Test()).begun += 1


def _end_breach(stream: _Stream, exit_code: int | None, red: int) -> str:
    asked = stream.graded if stream.graded is not None else stream.packages
    for name in asked:
        if name not in stream.packages or not stream.packages[name].end:
            return f"go ended before its report of {name} did" if stream.packages else "go left no report"
    if not stream.packages:
        return "go left no report"
    failed = any(package.end == "fail" for package in stream.packages.values())
    if exit_code == 0 and (red or failed):
        return f"the report holds {red} failures, the exit code is 0"
    if exit_code and not failed:
        return f"every package passed, the exit code is {exit_code}"
    return ""


def _is_broken(package: _Package) -> bool:
    """Whether a package could not be built, or failed before any test began."""
    return not package.built or (package.end == "fail" and not package.tests)


def _broken(stream: _Stream, files: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for name, package in stream.packages.items():
        if not _is_broken(package):
            continue
        told = stream.complaints if not package.built else package.lines
        why = next((line.strip() for line in told if line.strip() and not line.startswith("FAIL")), "")
        for path in sorted({path for paths in (stream.graded or {}).get(name, {}).values() for path in paths}):
            if path in files:
                yield path, (why or f"{name} failed before its first test")[:300]


def _results(stream: _Stream, files: tuple[str, ...]) -> Iterator[TestResult]:
    for name, package in stream.packages.items():
        declared = (stream.graded or {}).get(name, {})
        for test, seen in package.tests.items():
            if not package.end and seen.ended < seen.begun and seen.hidden is None:
                # The run was cut off: how it ended says how this test failed.
                continue
            outcome, how, message = _outcome(seen)
            for path in declared.get(test.partition("/")[0], () if stream.graded is not None else ("",)):
                if not files or path in files:
                    yield TestResult(
                        id=f"{name}::{test}", file=path, outcome=outcome, fails_by=how, message=message[:300]
                    )


def _outcome(seen: _Test) -> tuple[Outcome, FailsBy | None, str]:
    """Return a test's outcome, how it fails and its first words; one that began and never ended took the run along."""
    panic = next((line.strip() for line in seen.lines if line.startswith(("panic: ", "fatal error: "))), "")
    told = panic or next((line.strip() for line in seen.lines if line.strip() and not _FRAME.match(line)), "")
    timed_out = "test timed out after" in panic
    if seen.ended < seen.begun:
        if seen.hidden is not None:
            red = seen.hidden in RED
            return seen.hidden, FailsBy.ASSERTION if red else None, told if red else ""
        how = FailsBy.TIMEOUT if timed_out else FailsBy.CRASH
        return Outcome.ERROR, how, told or "it began and never ended"
    if seen.outcome is None:
        return Outcome.ERROR, FailsBy.CRASH, "it was spoken of and never begun"
    if seen.outcome not in RED:
        return seen.outcome, None, ""
    return seen.outcome, FailsBy.TIMEOUT if timed_out else FailsBy.ERROR if panic else FailsBy.ASSERTION, told


def _complaints(output: bytes) -> list[str]:
    lines = (line.strip() for line in output.decode("utf-8", "replace").splitlines())
    return [line for line in lines if _COMPLAINT.match(line)]
