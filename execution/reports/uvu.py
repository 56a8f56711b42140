"""uvu's tests: the events of ``execution/resources/uvu_events.cjs``, and the totals that uvu prints.

Events: ``start``; ``suite`` (``suite``, ``names`` of its tests, ``skipped``); ``test`` (``suite``, ``name``,
``outcome``, ``error`` or null); ``suite-end``; ``end`` (``code``). Ids are ``file::suite > test``, without the suite
where it has no name. uvu has no name for a skipped test, only a number, and no report at all: of a recorded run nothing
but the counts is known.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from execution.observation import FailsBy, Outcome, ReportReading, TestResult
from execution.reports import by_file
from execution.reports.events import BreachError, Event, read_events
from execution.reports.mocha import how_it_failed

RUNNER: Final = "uvu"
_TOTALS: Final = re.compile(rb"^ +Total: +(\d+)\n +Passed: +(\d+)\n +Skipped: +(\d+)$", re.MULTILINE)
_COLOUR: Final = re.compile(rb"\x1b\[[0-9;]*m")


def read_section(section: by_file.Section) -> by_file.FileReading:
    """Read the events of one file's run."""
    events, fault = read_events(section.content)
    try:
        rows = tuple(_row(event, section.path) for event in events if event.kind == "test")
        skipped = sum(event.number("skipped") for event in events if event.kind == "suite")
        missing = _missing(events, section.path)
    except BreachError as error:
        return by_file.FileReading(broken=str(error))
    passed = sum(row.outcome is Outcome.PASSED for row in rows)
    counts = {"passed": passed, "failed": len(rows) + len(missing) - passed, "skipped": skipped}
    broken = fault or _ending(events, section.exit_code)
    # uvu prints its totals at the end or not at all.
    return by_file.FileReading(rows=(*rows, *missing), broken=broken, counts={} if broken else counts)


def _ending(events: tuple[Event, ...], exit_code: int | None) -> str:
    kinds = [event.kind for event in events]
    if not kinds or kinds[-1] != "end":
        return "the process ended before its report did"
    if "start" not in kinds:
        return by_file.NOT_LOADED if exit_code else ""
    if kinds.count("suite") != kinds.count("suite-end"):
        return "the process ended before its tests did"
    return ""


def _row(event: Event, path: str) -> TestResult:
    name = _id(path, event.text("suite"), event.text("name"))
    match event.text("outcome"):
        case "passed":
            return TestResult(id=name, file=path, outcome=Outcome.PASSED)
        case "failed":
            how, message = how_it_failed(event)
            return TestResult(id=name, file=path, outcome=Outcome.FAILED, fails_by=how, message=message)
        case other:
            raise BreachError(f"the report gives the outcome {other!r}")


def _missing(events: tuple[Event, ...], path: str) -> tuple[TestResult, ...]:
    """Return as failed what a suite announced and never ran: a hook before its tests failed, which uvu passes over."""
    announced: Counter[tuple[str, str]] = Counter()
    for event in events:
        if event.kind == "suite":
            names = event.fields.get("names")
            if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                raise BreachError("the event 'suite' has no list of names")
            announced.update((event.text("suite"), name) for name in names)
    announced.subtract((event.text("suite"), event.text("name")) for event in events if event.kind == "test")
    if any(number < 0 for number in announced.values()):
        raise BreachError("the report tells of a test that no suite announced")
    return tuple(
        TestResult(
            id=_id(path, suite, name),
            file=path,
            outcome=Outcome.ERROR,
            fails_by=FailsBy.MISSING,
            message="uvu did not run it",
        )
        for suite, name in announced.elements()
    )


def _id(path: str, suite: str, name: str) -> str:
    return by_file.named(path, *((suite, name) if suite else (name,)))


def read_recorded(output: bytes) -> ReportReading:
    """Read the totals that the recorded command printed, once for each file; they name no test."""
    totals = [tuple(map(int, match)) for match in _TOTALS.findall(_COLOUR.sub(b"", output))]
    counts = Counter[str]()
    for total, passed, skipped in totals:
        counts.update({"passed": passed, "failed": total - passed, "skipped": skipped})
    return ReportReading(whole=True, summary=by_file.summary_of(counts) if totals else "")
