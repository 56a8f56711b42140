"""From the events of ``execution/resources/unittest_report.py`` to one outcome for each test that unittest loaded.

In: the bytes of the stream, the exit code of the process, the graded files in the order of the command line, and what
the run printed. Out: a ``ReportReading``; nothing is raised for what a test can cause. A stream reads, in this order:

``session``   ``version`` of Python, ``cwd``
``broken``    ``argument`` (the place in the command line of a file that could not be imported), ``message``; any number
``collected`` ``items``, each ``id`` and the ``argument`` that it comes from
``outcome``   ``id``, ``outcome``, ``by``, ``message``; one or more for each test
``fixture``   ``name`` (such as ``setUpClass (tests.test_box.BoxTest)``), ``outcome``, ``by``, ``message``
``stopped``   ``id``: the test has ended
``end``       ``exit``: the exit code that the process is about to leave with
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from execution.observation import RED, SEVERITY, FailsBy, Outcome, ReportReading, TestResult
from execution.reports.events import BreachError, Event, read_events
from execution.reports.unittest_text import summary_line

_FIXTURE = re.compile(r"^(setUp|tearDown)(?:Class|Module) \((.+)\)$")
_OUTCOMES = {
    "passed": Outcome.PASSED,
    "failed": Outcome.FAILED,
    "error": Outcome.ERROR,
    "skipped": Outcome.SKIPPED,
    "xfailed": Outcome.XFAILED,
}
_BY = {"assertion": FailsBy.ASSERTION, "error": FailsBy.ERROR, "": None}


@dataclass(slots=True)
class _Test:
    """What was said of one id. ``places`` counts how often it was loaded: a base class may be loaded twice."""

    file: str
    places: int = 1
    ended: int = 0
    outcome: Outcome | None = None
    fails_by: FailsBy | None = None
    message: str = ""

    def worsen(self, event: Event) -> None:
        """Take what an event says if it is worse than what was said before."""
        outcome, by = event.text("outcome"), event.text("by")
        if outcome not in _OUTCOMES or by not in _BY:
            raise BreachError(f"an unknown outcome {outcome[:40]!r}")
        said = _OUTCOMES[outcome]
        if self.outcome is None or SEVERITY[said] > SEVERITY[self.outcome]:
            self.outcome, self.fails_by, self.message = said, _BY[by], event.text("message")


@dataclass(slots=True)
class _Run:
    """What a stream has said so far."""

    files: tuple[str, ...]
    version: str = ""
    collected: bool = False
    tests: dict[str, _Test] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    exit_code: int | None = None


def read(report: bytes, exit_code: int, files: tuple[str, ...], output: bytes) -> ReportReading:
    """Read a stream; ``files`` are the graded files as paths from the tree's root, in the order of the command."""
    run = _Run(files=files)
    events, breach = read_events(report)
    try:
        for event in events:
            _take(run, event)
        breach = breach or _breach(run, exit_code)
    except BreachError as error:
        breach = str(error)
    return ReportReading(
        tests=tuple(
            TestResult(id=name, file=test.file, outcome=test.outcome, fails_by=test.fails_by, message=test.message)
            for name, test in run.tests.items()
            if test.outcome is not None
        ),
        broken_files=run.broken,
        whole=not breach,
        breach=breach,
        summary=summary_line(output),
        runner_version=run.version,
    )


def _take(run: _Run, event: Event) -> None:
    if run.exit_code is not None:
        raise BreachError("the report goes on after its end")
    if event.kind not in _HANDLERS:
        raise BreachError(f"the report holds an unknown event {event.kind[:40]!r}")
    _HANDLERS[event.kind](run, event)


def _take_session(run: _Run, event: Event) -> None:
    if run.version:
        raise BreachError("the report begins twice")
    run.version = event.text("version")


def _take_outcome(run: _Run, event: Event) -> None:
    test = _known(run, event.text("id"))
    if test.ended == test.places:
        raise BreachError(f"a second result for {event.text('id')!r}")
    test.worsen(event)


def _take_stopped(run: _Run, event: Event) -> None:
    _known(run, event.text("id")).ended += 1


def _take_end(run: _Run, event: Event) -> None:
    run.exit_code = event.number("exit")


def _take_collected(run: _Run, event: Event) -> None:
    if run.collected:
        raise BreachError("the tests were collected twice")
    run.collected = True
    for item in event.rows("items"):
        name, file = item.text("id"), _file(run, item)
        if name in run.tests:
            run.tests[name].places += 1
        else:
            run.tests[name] = _Test(file=file)


def _take_broken(run: _Run, event: Event) -> None:
    file = _file(run, event)
    run.broken.setdefault(file, event.text("message") or "the module can't be imported")


def _file(run: _Run, event: Event) -> str:
    place = event.number("argument")
    if not 0 <= place < len(run.files):
        raise BreachError("tests of a file that was not asked for")
    return run.files[place]


def _take_fixture(run: _Run, event: Event) -> None:
    """A failing fixture of a class or module is the outcome of its tests: those not yet run, or those that ran."""
    found = _FIXTURE.match(event.text("name"))
    if not found:
        raise BreachError(f"an unknown fixture {event.text('name')[:80]!r}")
    step, owner = found.groups()
    for name, test in run.tests.items():
        if name.startswith(owner + ".") and (step == "tearDown" or not test.ended):
            test.worsen(event)
            if step == "setUp":
                test.ended = test.places


_HANDLERS: Mapping[str, Callable[[_Run, Event], None]] = {
    "session": _take_session,
    "broken": _take_broken,
    "collected": _take_collected,
    "outcome": _take_outcome,
    "fixture": _take_fixture,
    "stopped": _take_stopped,
    "end": _take_end,
}


def _known(run: _Run, name: str) -> _Test:
    test = run.tests.get(name)
    if test is None:
        raise BreachError(f"a result for {name!r}, which was not collected")
    return test


def _breach(run: _Run, exit_code: int) -> str:
    if run.exit_code is None:
        return "the report has no end: the process ended before the runner did"
    if run.exit_code != exit_code:
        return f"the runner ended with {run.exit_code}, the process with {exit_code}"
    if not run.collected:
        return "the runner ended before it loaded the tests"
    silent = [name for name, test in run.tests.items() if test.outcome is None or test.ended < test.places]
    if silent:
        return f"{len(silent)} of {len(run.tests)} loaded tests have no result, the first is {silent[0]!r}"
    if exit_code == 0 and (run.broken or any(test.outcome in RED for test in run.tests.values())):
        return "the process ended with 0 although a test failed"
    return ""
