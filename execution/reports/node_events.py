"""The events of ``node --test``, one JSON object a line, as ``REPORTER`` writes them.

node's own formats can't name a test: TAP has no file and JUnit drops newlines and parents. So the check brings a
reporter of one line, given to node as a ``data:`` URL, which needs no file beside the tests.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from execution.observation import FailsBy, Outcome, ReportReading, TestResult
from execution.sandbox import TREE_DIR

# No single quote (it stands in single quotes for sh); no #, % and ? (they mean something in a URL).
REPORTER: Final = (
    "data:text/javascript,export default async function*(s){for await(const{type:t,data:d}of s)"
    "if(/:(start|pass|fail|plan)$/.test(t)){const e=(d.details||{}).error,c=e&&e.cause;yield JSON.stringify({"
    "event:t.slice(5),file:d.file,nesting:d.nesting,name:d.name,count:d.count,skip:d.skip,todo:d.todo,"
    'why:e&&[e.failureType,c&&c.code,String(c&&c.message||c||e.message).slice(0,300)]})+"\\n"}}'
)


@dataclass(slots=True)
class _Stream:
    """What was read so far. ``stack`` holds the open tests, each with its name and with its part of the id;
    ``names`` counts how often a node was begun."""

    root: str
    files: tuple[str, ...]
    tests: list[TestResult] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)
    stack: list[tuple[str, str]] = field(default_factory=list)
    names: Counter[tuple[str, ...]] = field(default_factory=Counter)
    top_level: int = 0
    plan: int | None = None
    breach: str = ""


def read(report: bytes, exit_code: int | None, files: tuple[str, ...], root: str = TREE_DIR) -> ReportReading:
    """Read the event stream of one run.

    ``files`` are the graded files (from the tree's root; empty takes every file below ``root``). ``exit_code`` None
    means that it is not known and can't be compared.
    """
    stream = _Stream(root=root, files=files)
    for line in report.split(b"\n"):
        if line.strip() and not stream.breach:
            _take(stream, line)
    red = sum(test.outcome in {Outcome.FAILED, Outcome.ERROR} for test in stream.tests) + len(stream.broken)
    breach = stream.breach or _end_breach(stream, report, exit_code, red)
    counts = Counter(test.outcome.value for test in stream.tests)
    return ReportReading(
        tests=tuple(stream.tests),
        broken_files=stream.broken,
        whole=not breach,
        breach=breach,
        summary=", ".join(f"{number} {name}" for name, number in sorted(counts.items())) or "no tests",
    )


def _end_breach(stream: _Stream, report: bytes, exit_code: int | None, red: int) -> str:
    if stream.plan is None:
        return "node ended before its report did" if report else "node left no report"
    if stream.plan != stream.top_level:
        return f"node announced {stream.plan} top-level tests and reported {stream.top_level}"
    if exit_code == 0 and red:
        return f"the report holds {red} failures, the exit code is 0"
    return ""


def _take(stream: _Stream, line: bytes) -> None:
    try:
        event = json.loads(line)
    except ValueError:
        event = None
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        stream.breach = "the report holds a line that node did not write"
        return
    match event["event"]:
        case "plan" if event.get("nesting") == 0:
            stream.plan = event.get("count") if isinstance(event.get("count"), int) else None
        case "start":
            _start(stream, event)
        case "pass" | "fail":
            _end(stream, event)
        case _:
            return


def _start(stream: _Stream, event: dict[str, Any]) -> None:
    nesting, name = _place(event)
    del stream.stack[nesting:]
    if len(stream.stack) != nesting:
        stream.breach = f"the report begins {name!r} below a test that was never begun"
        return
    key = (str(event.get("file")), *(part for _, part in stream.stack), name)
    stream.names[key] += 1
    number = stream.names[key]
    stream.stack.append((name, name if number == 1 else f"{name} #{number}"))


def _end(stream: _Stream, event: dict[str, Any]) -> None:
    nesting, name = _place(event)
    if nesting == 0:
        stream.top_level += 1
    if len(stream.stack) <= nesting or stream.stack[nesting][0] != name:
        stream.breach = f"the report ends {name!r}, which was not begun"
        return
    whole_name = tuple(part for _, part in stream.stack[: nesting + 1])
    # What has ended can't end again: the next one has to be begun first.
    del stream.stack[nesting:]
    path = _graded(stream, event.get("file"))
    if path is None:
        return
    if nesting == 0 and _is_file_itself(event, name):
        if event["event"] == "fail":
            stream.broken[path] = _reason(event) or "the file failed"
        return
    stream.tests.append(_result(event, " > ".join((path, *whole_name)), path))


def _place(event: dict[str, Any]) -> tuple[int, str]:
    nesting, name = event.get("nesting"), event.get("name")
    return (max(nesting, 0) if isinstance(nesting, int) else 0, name if isinstance(name, str) else "")


def _is_file_itself(event: dict[str, Any], name: str) -> bool:
    """A file that ends before its tests, or can't be loaded, is reported as a test named by its own path."""
    file = str(event.get("file"))
    return name == file or (name.startswith("/") and name.endswith(("js", "ts", "jsx", "tsx")) and file.endswith(name))


def _graded(stream: _Stream, file: object) -> str | None:
    if not isinstance(file, str):
        return None
    prefix = stream.root.rstrip("/") + "/"
    path = file.removeprefix("file://")
    inner = path.removeprefix(prefix) if path.startswith(prefix) else None
    if not stream.files:
        return inner
    return inner if inner in stream.files else None


def _reason(event: dict[str, Any]) -> str:
    why = event.get("why")
    return str(why[2]).split("\n")[0].encode("utf-8", "replace").decode() if isinstance(why, list) else ""


def _result(event: dict[str, Any], name: str, path: str) -> TestResult:
    if event.get("skip") not in {None, False}:
        return TestResult(id=name, file=path, outcome=Outcome.SKIPPED)
    if event.get("todo") not in {None, False}:
        return TestResult(id=name, file=path, outcome=Outcome.TODO)
    if event["event"] == "pass":
        return TestResult(id=name, file=path, outcome=Outcome.PASSED)
    why = event.get("why")
    kind, code = (str(why[0]), str(why[1])) if isinstance(why, list) else ("", "")
    if kind == "testTimeoutFailure":
        how = FailsBy.TIMEOUT
    else:
        how = FailsBy.ASSERTION if code == "ERR_ASSERTION" or kind == "subtestsFailed" else FailsBy.ERROR
    return TestResult(id=name, file=path, outcome=Outcome.FAILED, fails_by=how, message=_reason(event))
