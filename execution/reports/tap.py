"""The Test Anything Protocol, versions 12 to 14, with sub-tests as node, tap and others indent them.

TAP names no file, so a test belongs to a graded file only when there is just one. Two tests of one name are told apart
by `` #2``, in the order of the report. What a test prints to standard output may look like TAP; where the two share a
stream, nothing can tell them apart, which is why a report file of its own is asked for.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from execution.observation import RED, SEVERITY, FailsBy, Outcome, ReportReading, TestResult

_RESULT: Final = re.compile(r"( *)(not )?ok\b(?: +(\d+))?(?: +-(?= |$)| *)(.*)")
_PLAN: Final = re.compile(r"( *)1\.\.(\d+)\s*(?:#.*)?")
# A directive follows a # that no backslash escapes and that stands after a blank.
_DIRECTIVE: Final = re.compile(r"(?:^|(?<=\s))(?<!\\)#\s*(?:(skip)\S*|todo)(?:\s+.*)?$", re.IGNORECASE)
# Some producers say the time there, which differs from run to run and is no part of a name.
_TIME: Final = re.compile(r"\s+(?<!\\)# time=[\d.]+ ?m?s$")
_INDENT: Final = 4


@dataclass(slots=True)
class _Level:
    """The tests of one indentation that wait for the result line of the test around them."""

    results: list[tuple[tuple[str, ...], Outcome]] = field(default_factory=list)
    plan: int | None = None
    count: int = 0


def read(report: bytes, exit_code: int | None, files: tuple[str, ...], *, worst_counts: bool = False) -> ReportReading:
    """Read a report; ids are ``file > parent > test`` with one graded file, else without a file.

    ``exit_code`` None means that it is not known. With ``worst_counts`` tests of one name are one test with the worst
    of their outcomes, so that the order of several files changes nothing.
    """
    levels = [_Level()]
    breach = ""
    block = -1
    for line in report.decode("utf-8", "surrogateescape").split("\n"):
        text = line.rstrip("\r")
        stripped = text.strip()
        indent = len(text) - len(text.lstrip(" "))
        if block >= 0:
            block = -1 if stripped == "..." and indent <= block else block
        elif stripped == "---" and indent:
            block = indent
        elif text.startswith("Bail out!"):
            breach = f"the run bailed out: {text[9:].strip() or 'no reason given'}"
        elif (result := _RESULT.fullmatch(text)) and not breach:
            breach = _take_result(levels, result)
        elif plan := _PLAN.fullmatch(text):
            _level(levels, len(plan.group(1)) // _INDENT).plan = int(plan.group(2))
    results = _worst(levels[0].results) if worst_counts else levels[0].results
    tests = _named(results, files)
    breach = breach or _end_breach(levels, report, exit_code, tests)
    counts = Counter(test.outcome.value for test in tests)
    return ReportReading(
        tests=tests,
        whole=not breach,
        breach=breach,
        summary=", ".join(f"{number} {word}" for word, number in sorted(counts.items())) or "no tests",
    )


def _end_breach(levels: list[_Level], report: bytes, exit_code: int | None, tests: tuple[TestResult, ...]) -> str:
    top = levels[0]
    if not report.strip():
        return "the run left no report"
    if top.plan is None:
        return "the report has no plan: it ended early"
    if top.plan != top.count:
        return f"the report plans {top.plan} tests and holds {top.count}"
    if exit_code == 0 and any(test.outcome in RED for test in tests):
        return "the report holds failures, the exit code is 0"
    return ""


def _level(levels: list[_Level], depth: int) -> _Level:
    while len(levels) <= depth:
        levels.append(_Level())
    return levels[depth]


def _take_result(levels: list[_Level], match: re.Match[str]) -> str:
    """Take one result line, with the sub-tests that stand before it; return how it breaches the protocol."""
    spaces, bad, _, description = match.groups()
    depth = len(spaces) // _INDENT
    level = _level(levels, depth)
    name, outcome = _outcome(description, failed=bool(bad))
    breach = ""
    if len(levels) > depth + 1:
        inner = levels[depth + 1]
        if inner.plan is not None and inner.plan != inner.count:
            breach = f"the sub-tests of {name!r} are {inner.count}, planned were {inner.plan}"
        level.results += [((name, *path), result) for path, result in inner.results]
        del levels[depth + 1 :]
    level.results.append(((name,), outcome))
    level.count += 1
    return breach


def _outcome(description: str, *, failed: bool) -> tuple[str, Outcome]:
    """Split a description into the name and what the directive makes of the result."""
    found = _DIRECTIVE.search(description)
    text = description[: found.start()] if found else description
    name = re.sub(r"\\([\\#])", r"\1", _TIME.sub("", text).strip())
    if found:
        # Versions before 14 wrote `# SKIP` for passed and for failed tests alike.
        return name, Outcome.SKIPPED if found.group(1) else Outcome.TODO
    return name, Outcome.FAILED if failed else Outcome.PASSED


def _worst(results: list[tuple[tuple[str, ...], Outcome]]) -> list[tuple[tuple[str, ...], Outcome]]:
    worst: dict[tuple[str, ...], Outcome] = {}
    for path, outcome in results:
        worst[path] = max(worst.get(path, outcome), outcome, key=lambda each: SEVERITY[each])
    return list(worst.items())


def _named(results: list[tuple[tuple[str, ...], Outcome]], files: tuple[str, ...]) -> tuple[TestResult, ...]:
    file = files[0] if len(files) == 1 else ""
    seen: Counter[str] = Counter()
    tests = []
    for path, outcome in results:
        name = " > ".join((file, *path) if file else path)
        seen[name] += 1
        if seen[name] > 1:
            name = f"{name} #{seen[name]}"
        how = FailsBy.ERROR if outcome in RED else None
        tests.append(TestResult(id=name, file=file, outcome=outcome, fails_by=how))
    return tuple(tests)
