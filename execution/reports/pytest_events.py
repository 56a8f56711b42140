"""From the events of ``execution/resources/pytest_report.py`` to one outcome for each test that pytest collected.

In: the bytes of the stream, the exit code of the process, the graded files, and what the run printed. Out: a
``ReportReading``; nothing is raised for what a test can cause. A stream reads, in this order:

``session``    ``version`` of pytest, ``rootdir`` that node ids start from, ``cwd``
``broken``     ``id`` of a node that could not be collected, ``message``; any number
``skipped-file`` ``id`` of a module that skips itself, ``message``; any number
``deselected`` ``ids``; any number
``collected``  ``items``, each ``id`` (node id) and ``path`` (absolute), in the order in which they will run
``report``     ``id``, ``when``, ``outcome``, ``xfail``, ``subtest``, ``by``, ``message``; for each phase of each test
``internal-error`` / ``interrupted``  ``message``
``finish``     ``exit`` as pytest sees it, ``cut``: why it stopped early, or empty
``end``        ``exit``: the exit code that the process is about to leave with
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from execution.observation import RED, SEVERITY, FailsBy, Outcome, ReportReading, TestResult
from execution.reports.events import BreachError, Event, read_events

USAGE_ERROR = 4
_COUNTS = r"(?:no tests ran|\d+ [a-z][a-z -]*(?:, \d+ [a-z][a-z -]*)*)"
_SUMMARY = re.compile(rf"^(?:=+ )?({_COUNTS} in [\d.]+ ?s(?:econds)?(?: \([\d:]+\))?)(?: =+)?$")
_COMPLAINT = re.compile(r"(?:^|: )error: (?!usage)", re.IGNORECASE)
_CONFTEST = re.compile(r"^ImportError while loading conftest|^(?:ERROR: )?could not load .*conftest\.py")
# What the tree's own settings keep from being collected (``collect_ignore``, a plug-in) is an error of the command line
# to pytest, and then nothing runs at all.
_NOT_COLLECTED = re.compile(r"^ERROR: not found: (.+)$")
_COLOUR = re.compile(r"\x1b\[[\d;]*m")


@dataclass(slots=True)
class _Test:
    """What was said of one node id. ``places`` counts how often it was collected: ids need not be unique."""

    file: str
    places: int = 1
    ended: int = 0
    outcome: Outcome | None = None
    fails_by: FailsBy | None = None
    message: str = ""


@dataclass(slots=True)
class _Run:
    """What a stream has said so far."""

    files: tuple[str, ...]
    version: str = ""
    rootdir: str = ""
    cwd: str = ""
    tests: dict[str, _Test] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    collected: bool = False
    failure: str = ""
    cut: str = ""
    exit_code: int | None = None


def read(report: bytes, exit_code: int, files: tuple[str, ...], output: bytes) -> ReportReading:
    """Read a stream; ``files`` are the graded files as paths from the tree's root."""
    run = _Run(files=files)
    events, breach = read_events(report)
    try:
        for event in events:
            _take(run, event)
        breach = breach or _breach(run, exit_code, output)
    except BreachError as error:
        breach = str(error)
    return ReportReading(
        tests=_results(run),
        broken_files=run.broken,
        whole=not breach,
        breach=breach,
        summary=summary_line(output),
        runner_version=run.version,
    )


def summary_line(output: bytes) -> str:
    """Return pytest's own last line of counts, without colours and the rule around it; empty when there is none."""
    for line in reversed(output.decode("utf-8", "replace").splitlines()):
        found = _SUMMARY.match(_COLOUR.sub("", line).strip())
        if found:
            return found.group(1)
    return ""


def _take(run: _Run, event: Event) -> None:
    if run.exit_code is not None:
        raise BreachError("the report goes on after its end")
    if event.kind not in _HANDLERS:
        raise BreachError(f"the report holds an unknown event {event.kind[:40]!r}")
    _HANDLERS[event.kind](run, event)


def _take_session(run: _Run, event: Event) -> None:
    if run.rootdir:
        raise BreachError("the report begins twice")
    run.version, run.rootdir, run.cwd = event.text("version"), event.text("rootdir"), event.text("cwd")


def _take_broken(run: _Run, event: Event) -> None:
    path = posixpath.join(run.rootdir, event.text("id").split("::")[0])
    _break(run, path, event.text("message") or "the file can't be collected")


def _take_nothing(run: _Run, event: Event) -> None:
    """What is skipped as a whole or deselected has no outcome of its own."""


def _take_failure(run: _Run, event: Event) -> None:
    run.failure = event.text("message")


def _take_cut(run: _Run, event: Event) -> None:
    run.cut = event.text("message") or "interrupted"


def _take_finish(run: _Run, event: Event) -> None:
    run.cut = run.cut or event.text("cut")


def _take_end(run: _Run, event: Event) -> None:
    run.exit_code = event.number("exit")


def _take_collected(run: _Run, event: Event) -> None:
    if run.collected:
        raise BreachError("the tests were collected twice")
    run.collected = True
    for item in event.rows("items"):
        name = item.text("id")
        if name in run.tests:
            run.tests[name].places += 1
        else:
            run.tests[name] = _Test(file=_file(run, item.text("path")))


def _take_report(run: _Run, event: Event) -> None:
    name, when = event.text("id"), event.text("when")
    test = run.tests.get(name)
    if test is None:
        raise BreachError(f"a result for {name!r}, which was not collected")
    if test.ended == test.places:
        raise BreachError(f"a second result for {name!r}")
    outcome = _outcome(event, when)
    if outcome is not None and (test.outcome is None or SEVERITY[outcome] > SEVERITY[test.outcome]):
        test.outcome = outcome
        test.fails_by = FailsBy(event.text("by")) if outcome in RED and event.text("by") in _BY else None
        test.message = event.text("message")
    if when == "teardown" and not event.flag("subtest"):
        test.ended += 1


_BY = frozenset({FailsBy.ASSERTION.value, FailsBy.ERROR.value})


def _outcome(event: Event, when: str) -> Outcome | None:
    """Return what one report says of its test, or None when it says nothing final."""
    said = event.text("outcome")
    if said == "failed":
        return Outcome.FAILED if when == "call" else Outcome.ERROR
    # What a subtest says besides a failure is said again, for the whole, by its test; "rerun" announces another try.
    if event.flag("subtest") or said not in {"passed", "skipped"}:
        return None
    if said == "skipped":
        return Outcome.XFAILED if event.flag("xfail") else Outcome.SKIPPED
    if when != "call":
        return None
    return Outcome.XPASSED if event.flag("xfail") else Outcome.PASSED


_HANDLERS: Mapping[str, Callable[[_Run, Event], None]] = {
    "session": _take_session,
    "broken": _take_broken,
    "skipped-file": _take_nothing,
    "deselected": _take_nothing,
    "collected": _take_collected,
    "report": _take_report,
    "internal-error": _take_failure,
    "interrupted": _take_cut,
    "finish": _take_finish,
    "end": _take_end,
}


def _file(run: _Run, path: str) -> str:
    """Return the graded file at an absolute path; a file that is not graded keeps its path from the working folder."""
    relative = posixpath.relpath(path, run.cwd or "/")
    for name in run.files:
        # The check may run in a folder below the tree's root, which graded files are named from.
        if name == relative or name.endswith("/" + relative):
            return name
    return relative


def _break(run: _Run, path: str, message: str) -> None:
    """Note a collection error; one of a package stands for every graded file below its folder."""
    name = _file(run, path)
    if name in run.files:
        run.broken.setdefault(name, message)
        return
    folder = posixpath.dirname(name) if posixpath.basename(name) in {"__init__.py", "conftest.py"} else name
    for file in run.files:
        if folder in {"", "."} or f"/{file}".find(f"/{folder}/") >= 0:
            run.broken.setdefault(file, message)


def _breach(run: _Run, exit_code: int, output: bytes) -> str:
    if run.exit_code is None:
        return "the report has no end: the process ended before the runner did"
    if run.exit_code != exit_code:
        return f"the runner ended with {run.exit_code}, the process with {exit_code}"
    if run.failure:
        return f"the runner failed inside: {run.failure}"
    if not run.rootdir:
        return _before_session(run, output)
    if exit_code == USAGE_ERROR:
        return _refused_files(run, output)
    return _disagreement(run, exit_code)


def _disagreement(run: _Run, exit_code: int) -> str:
    """Return where the outcomes don't agree with what was collected or with the end."""
    silent = [name for name, test in run.tests.items() if test.outcome is None or test.ended < test.places]
    if silent and not run.cut:
        return f"{len(silent)} of {len(run.tests)} collected tests have no result, the first is {silent[0]!r}"
    if exit_code == 0 and (run.broken or any(test.outcome in RED for test in run.tests.values())):
        return "the process ended with 0 although a test failed"
    return ""


def _before_session(run: _Run, output: bytes) -> str:
    """A conftest that can't be loaded breaks every file; any other end before the session is a wrong invocation."""
    lines = _printed(output)
    for place, line in enumerate(lines):
        if _CONFTEST.search(line):
            # Since pytest 4 the error follows, on lines of pytest's own; before, a plain traceback stood above.
            errors = [text[2:].strip() for text in lines[place:] if text.startswith("E ")]
            errors = errors or [text for text in lines[:place] if text][-1:]
            for file in run.files:
                run.broken.setdefault(file, errors[-1] if errors else line)
            return ""
    errors = [line for line in lines if _COMPLAINT.search(line)] or lines[-1:]
    return f"the runner did not begin: {errors[-1] if errors else 'it printed nothing'}"


def _refused_files(run: _Run, output: bytes) -> str:
    """Break the files that pytest refuses to collect; any other error of the command line is a breach."""
    found = [_NOT_COLLECTED.match(line) for line in _printed(output)]
    names = {_file(run, posixpath.join(run.cwd, match[1].split("::")[0])) for match in found if match}
    refused = [file for file in run.files if file in names]
    if not refused:
        return _before_session(run, output)
    for file in refused:
        run.broken.setdefault(file, "pytest does not collect this file: the tree's own settings leave it out")
    return ""


def _printed(output: bytes) -> list[str]:
    return [_COLOUR.sub("", line).strip() for line in output.decode("utf-8", "replace").splitlines()]


def _results(run: _Run) -> tuple[TestResult, ...]:
    return tuple(
        TestResult(id=name, file=test.file, outcome=test.outcome, fails_by=test.fails_by, message=test.message)
        for name, test in run.tests.items()
        if test.outcome is not None and (test.ended or test.outcome in RED)
    )
