"""The JSON report that jest introduced and vitest writes too: files, each with its tests.

``testResults[]`` holds one entry for each test file (``name`` is its absolute path) with ``assertionResults[]``; the
totals beside it (``numTotalTests`` …) are what the runner itself counted, and must agree with what is listed.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from execution.observation import RED, SEVERITY, FailsBy, Outcome, ReportReading, TestResult
from execution.sandbox import TREE_DIR

OUTCOMES: Final[Mapping[str, Outcome]] = {
    "passed": Outcome.PASSED,
    "failed": Outcome.FAILED,
    "skipped": Outcome.SKIPPED,
    "pending": Outcome.SKIPPED,
    "disabled": Outcome.SKIPPED,
    "todo": Outcome.TODO,
}
_ASSERTION: Final = re.compile(r"AssertionError|JestAssertionError|\bexpect\(|^Error: Snapshot ")
_TIMEOUT: Final = re.compile(r"timed out in \d+ ?ms|[Ee]xceeded timeout of [\d.]+ ?m?s|Async callback was not invoked")
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_LONGEST_MESSAGE: Final = 300


def read(
    report: bytes, exit_code: int | None, files: tuple[str, ...], runner: str, root: str = TREE_DIR
) -> ReportReading:
    """Read a report of ``runner`` (used in sentences).

    ``files`` are the graded files from the tree's root; what the runner took along besides is left out, and with no
    files given everything below ``root`` counts. ``exit_code`` None means that it is not known.
    """
    if not report.strip():
        return ReportReading(breach=f"{runner} left no report")
    try:
        document = json.loads(report)
    except (ValueError, RecursionError):
        return ReportReading(breach=f"{runner} left a report that is not whole JSON")
    if not isinstance(document, dict) or not isinstance(document.get("testResults"), list):
        return ReportReading(breach=f"the report is not one of {runner}")
    tests: dict[str, TestResult] = {}
    broken: dict[str, str] = {}
    seen: list[str] = []
    listed = 0
    red = 0
    for entry in document["testResults"]:
        path = _path(entry, files, root)
        assertions = [row for row in _list(entry, "assertionResults") if isinstance(row, dict)]
        results = [_result(row, path or "") for row in assertions]
        listed += len(results)
        failed = _is_broken(entry, results, success=document.get("success") is True)
        red += failed or any(result.outcome in RED for result in results)
        if path is None:
            continue
        seen.append(path)
        if failed:
            broken[path] = _first_line(entry.get("message")) or "the file failed"
        for result in results:
            # Two tests of one name can't be told apart, so the worse of them speaks for both.
            known = tests.get(result.id)
            if known is None or SEVERITY[result.outcome] > SEVERITY[known.outcome]:
                tests[result.id] = result
    if document.get("success") is False and not red and len(seen) == 1:
        # A hook that fails shows in the totals alone, in versions that do not mark the file.
        broken[seen[0]] = "a suite failed, none of its tests did"
    breach = _breach(document, listed, red, exit_code, runner)
    counts = Counter(test.outcome.value for test in tests.values())
    return ReportReading(
        tests=tuple(tests.values()),
        broken_files=broken,
        whole=not breach,
        breach=breach,
        summary=", ".join(f"{number} {word}" for word, number in sorted(counts.items())) or "no tests",
    )


def _breach(document: dict[str, Any], listed: int, red: int, exit_code: int | None, runner: str) -> str:
    total = document.get("numTotalTests")
    if isinstance(total, int) and total != listed:
        return f"{runner} counted {total} tests and listed {listed}"
    if exit_code == 0 and red:
        return f"{red} files fail in the report, the exit code is 0"
    if exit_code == 0 and document.get("success") is False:
        return f"{runner} reports no success, the exit code is 0"
    return ""


def _list(entry: object, key: str) -> list[Any]:
    value = entry.get(key) if isinstance(entry, dict) else None
    return value if isinstance(value, list) else []


def _is_broken(entry: object, results: list[TestResult], *, success: bool) -> bool:
    """Whether a file failed although none of its tests did: it could not be loaded, or a hook of its suite failed.

    ``success`` is the whole run's. Before version 1 vitest calls a file without tests passed, whatever its message
    says of it, and early versions call one failed that has tests to skip.
    """
    if not isinstance(entry, dict) or any(result.outcome in RED for result in results):
        return False
    if entry.get("message"):
        return entry.get("status") == "failed" or not results
    return entry.get("status") == "failed" and not success


def _path(entry: object, files: tuple[str, ...], root: str) -> str | None:
    """Return the path of a file of the report from the tree's root, or None if it is none of the graded files."""
    name = entry.get("name") if isinstance(entry, dict) else None
    if not isinstance(name, str):
        return None
    inner = name.removeprefix("file://").removeprefix(root.rstrip("/") + "/")
    if not files:
        return inner
    return inner if inner in files else None


def _result(row: dict[str, Any], path: str) -> TestResult:
    titles = [str(title) for title in _list(row, "ancestorTitles")]
    name = f"{path}::{' > '.join([*titles, str(row.get('title', ''))])}"
    outcome = OUTCOMES.get(str(row.get("status")), Outcome.ERROR)
    messages = [str(text) for text in _list(row, "failureMessages")]
    if outcome not in RED:
        return TestResult(id=name, file=path, outcome=outcome)
    text = _COLOUR.sub("", messages[0]) if messages else ""
    return TestResult(id=name, file=path, outcome=outcome, fails_by=_how(text), message=_first_line(text))


def _how(text: str) -> FailsBy:
    if _TIMEOUT.search(text):
        return FailsBy.TIMEOUT
    return FailsBy.ASSERTION if _ASSERTION.search(text.split("\n    at ", maxsplit=1)[0]) else FailsBy.ERROR


def _first_line(text: object) -> str:
    """Return the first line that says something, as text that any encoder takes."""
    if not isinstance(text, str):
        return ""
    lines = (line.strip() for line in _COLOUR.sub("", text).splitlines())
    telling = next((line for line in lines if line and not line.startswith("●")), "")
    return telling[:_LONGEST_MESSAGE].encode("utf-8", "replace").decode()
