"""What cargo and Rust's own test harness tell in JSON Lines: one part for each target that was compiled and run.

A part begins with the line ``{"reason":"graded","files":[…]}`` and ends with ``{"reason":"ended","code":N}``; the check
writes these two. Between them stand cargo's messages (``compiler-message``, ``compiler-artifact``, ``build-finished``)
and the harness's events (``suite`` and ``test``). The harness shares its standard output with what tests start, so a
line that is no event is passed over, and counts that don't agree with the listed tests breach the report.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from execution.observation import RED, SEVERITY, FailsBy, Outcome, ReportReading, TestResult
from execution.sandbox import TREE_DIR

_OUTCOMES: Final[Mapping[str, Outcome]] = {
    "ok": Outcome.PASSED,
    "failed": Outcome.FAILED,
    "ignored": Outcome.SKIPPED,
}
_COUNTED: Final[Mapping[str, Outcome]] = {
    "passed": Outcome.PASSED,
    "failed": Outcome.FAILED,
    "ignored": Outcome.SKIPPED,
}
_ASSERTION: Final = re.compile(r"assertion (?:`|failed)|did not panic as expected|did not contain expected string")
# Since Rust 1.73 the message stands below this line; before, in quotes on it.
_PANIC: Final = re.compile(r"panicked at (?:'(?P<old>.*?)', \S+:\d+|[^\n]*:\d+:\d+:\n(?P<new>[^\n]*))", re.DOTALL)
_LONGEST_MESSAGE: Final = 300


@dataclass(kw_only=True, slots=True)
class _Part:
    """One target: the graded files in it, whether it was compiled, what its harness told."""

    files: tuple[str, ...]
    built: bool | None = None
    error: str = ""
    root: str = ""
    announced: int | None = None
    running: list[str] = field(default_factory=list)
    tests: dict[str, TestResult] = field(default_factory=dict)
    again: list[str] = field(default_factory=list)
    suite: Mapping[str, Any] | None = None
    code: int | None = None


def read(report: bytes, exit_code: int | None, files: tuple[str, ...], output: bytes) -> ReportReading:
    """Read a report; ids are ``file::module::test``, the test's name as the harness tells it.

    A test of a module that is none of the graded files is qualified by the file that its target is compiled from.
    ``files`` are the graded files (empty: whichever the report names), ``exit_code`` None means that it is not known.
    """
    if not report.strip():
        return ReportReading(breach="cargo left no report")
    parts = tuple(_parts(report))
    tests: dict[str, TestResult] = {}
    broken: dict[str, str] = {}
    for part in parts:
        tests.update(part.tests)
        broken.update(dict.fromkeys(part.files, _why_broken(part, output)) if _is_broken(part) else {})
    red = bool(broken) or any(test.outcome in RED for test in tests.values())
    breach = next((said for said in map(_breach, parts) if said), "") or _breach_of_all(parts, files)
    if not breach and exit_code == 0 and red:
        breach = "the report holds failures, the exit code is 0"
    return ReportReading(
        tests=tuple(tests.values()),
        broken_files=broken,
        whole=not breach,
        breach=breach,
        summary=_summary(tests, broken),
    )


def _parts(report: bytes) -> Iterator[_Part]:
    part: _Part | None = None
    for row in _rows(report):
        if row.get("reason") == "graded":
            if part is not None:
                yield part
            names = row.get("files")
            part = _Part(files=tuple(str(name) for name in names) if isinstance(names, list) else ())
        elif part is not None and part.code is None:
            _take(part, row)
    if part is not None:
        yield part


def _rows(report: bytes) -> Iterator[Mapping[str, Any]]:
    for line in report.split(b"\n"):
        if not line.startswith(b"{"):
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            yield row


def _take(part: _Part, row: Mapping[str, Any]) -> None:
    match row:
        case {"reason": "ended", "code": int(code)}:
            part.code = code
        case {"reason": "build-finished", "success": bool(success)}:
            part.built = success
        case {"reason": "compiler-message", "message": {"level": "error", "message": str(text)}} if not part.error:
            part.error = f"{text}{_place(row['message'])}"
        case {"reason": "compiler-artifact", "profile": {"test": True}, "target": {"src_path": str(path)}}:
            part.root = path.removeprefix(f"{TREE_DIR}/")
        case {"type": "suite", "event": "started", "test_count": int(count)}:
            part.announced = count if part.announced is None else -1
        case {"type": "suite", "event": "ok" | "failed"}:
            part.suite = row if part.suite is None else {}
        case {"type": "test", "event": "started", "name": str(name)}:
            part.running.append(name)
        case {"type": "test", "event": str(event), "name": str(name)} if event in _OUTCOMES:
            _end(part, name, event, row)
        case _:
            # Cargo and the harness tell more than a verdict needs: fresh artifacts, warnings, slow tests.
            return


def _end(part: _Part, name: str, event: str, row: Mapping[str, Any]) -> None:
    if name in part.running:
        part.running.remove(name)
    file = _file_of(part, name)
    outcome = _OUTCOMES[event]
    message = _message(row) if outcome in RED else ""
    result = TestResult(
        id=f"{file}::{name}",
        file=file,
        outcome=outcome,
        fails_by=_how(row) if outcome in RED else None,
        message=message,
    )
    known = part.tests.get(result.id)
    if known is not None:
        part.again.append(result.id)
    if known is None or SEVERITY[outcome] > SEVERITY[known.outcome]:
        part.tests[result.id] = result


def _file_of(part: _Part, name: str) -> str:
    """Return the graded file whose module a test is in, the deepest of several, else the target's root."""
    best, depth = part.root, -1
    for file in part.files:
        module = _module(file, part.root)
        if module is not None and len(module) > depth and f"{name}::".startswith(f"{module}::" if module else ""):
            best, depth = file, len(module)
    return best or (part.files[0] if len(part.files) == 1 else "")


def _module(file: str, root: str) -> str | None:
    """Return the module of a file below the folder of a target's root; the root itself is the empty one."""
    if file == root or not root:
        return ""
    folder = root.rpartition("/")[0] + "/" if "/" in root else ""
    if not file.startswith(folder):
        return None
    return "::".join(file.removeprefix(folder).removesuffix(".rs").removesuffix("/mod").split("/"))


def _is_broken(part: _Part) -> bool:
    """Whether a target's files could not be loaded: not compiled, or a program that tells of no test and fails."""
    return part.code not in {0, None} and (part.built is not True or (part.announced is None and not part.tests))


def _why_broken(part: _Part, output: bytes) -> str:
    if part.error:
        return _line(part.error)
    lines = [line.strip() for line in output.decode("utf-8", "replace").splitlines()]
    said = next((line for line in lines if line.startswith("error")), "") if part.built is not True else ""
    return _line(said) or f"it ended with {part.code} and told of no test"


def _breach(part: _Part) -> str:
    where = ", ".join(part.files)
    if part.code is None:
        return f"{where}: the run was cut off"
    if part.built is not True or _is_broken(part):
        return ""
    if part.again:
        return f"{part.again[0]} ended twice"
    if part.announced is not None:
        said = _disagreement(part, part.suite, part.announced)
    else:
        # A target without the harness: it told nothing that could be wrong.
        said = "tests without a suite" if part.tests or part.suite is not None else ""
    return f"{where}: {said}" if said else ""


def _disagreement(part: _Part, suite: Mapping[str, Any] | None, announced: int) -> str:
    if suite is None:
        during = f" in {part.running[0]}" if part.running else ""
        return f"the test program was gone before its end{during}, exit code {part.code}"
    counts = Counter(test.outcome for test in part.tests.values())
    if announced != len(part.tests) or any(suite.get(key) != counts[how] for key, how in _COUNTED.items()):
        return "the harness counted other tests than it listed"
    if (part.code == 0) != (suite.get("event") == "ok") or (counts[Outcome.FAILED] > 0) != (part.code != 0):
        return f"the suite's end does not agree with the exit code {part.code}"
    return ""


def _breach_of_all(parts: tuple[_Part, ...], files: tuple[str, ...]) -> str:
    told = [file for part in parts for file in part.files]
    if len(set(told)) != len(told):
        return "a file was run twice"
    missing = sorted(set(files) - set(told))
    if missing:
        return f"{missing[0]} was not run"
    if files and len(told) > len(files):
        return f"{min(set(told) - set(files))} was run and is not graded"
    return ""


def _message(row: Mapping[str, Any]) -> str:
    """Return one line of why a test failed: what the harness itself says, else what the panic said."""
    said, printed = row.get("message"), row.get("stdout")
    if isinstance(said, str):
        return _line(said)
    text = printed if isinstance(printed, str) else ""
    panic = _PANIC.search(text)
    if panic is not None:
        return _line(panic["old"] or panic["new"] or "panicked")
    return _line(next((line for line in text.splitlines() if line.strip()), ""))


def _how(row: Mapping[str, Any]) -> FailsBy:
    return FailsBy.ASSERTION if _ASSERTION.search(_message(row)) else FailsBy.ERROR


def _place(message: Mapping[str, Any]) -> str:
    spans = message.get("spans")
    for span in spans if isinstance(spans, list) else ():
        if isinstance(span, dict) and span.get("is_primary"):
            return f" ({span.get('file_name')}:{span.get('line_start')})"
    return ""


def _line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_MESSAGE].encode("utf-8", "replace").decode()


def _summary(tests: Mapping[str, TestResult], broken: Mapping[str, str]) -> str:
    counts = Counter(test.outcome.value for test in tests.values())
    words = [f"{number} {word}" for word, number in sorted(counts.items())]
    words += [f"{len(broken)} not loaded"] if broken else []
    return ", ".join(words) or "no tests"
