"""mocha's tests: the events of ``execution/resources/mocha_events.cjs``, and mocha's own ``xunit`` report.

Events: ``start``; ``test`` (``outcome``, ``kind`` ``test`` or ``hook``, ``name`` the full title as mocha joins it,
``error`` or null); ``end`` (``failures``). Ids are ``file::full title`` in both: mocha's own report joins the titles of
suites and test with blanks, so a test is named here as there. A hook that fails stands among the tests, under mocha's
own name for it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Final

from casewright.errors import InvalidInputError
from execution.observation import RED, FailsBy, Outcome, ReportReading, TestResult
from execution.reports import by_file
from execution.reports.events import BreachError, Event, read_events
from execution.reports.junit import JUnitCase, read_cases
from execution.sandbox import TREE_DIR

RUNNER: Final = "mocha"
_OUTCOMES: Final[Mapping[str, Outcome]] = {
    "passed": Outcome.PASSED,
    "failed": Outcome.FAILED,
    "skipped": Outcome.SKIPPED,
}
_TIMEOUT: Final = re.compile(r"^Timeout of \S+ exceeded")
# mocha writes control characters as references that no XML parser takes.
_NO_CHARACTER: Final = re.compile(rb"&#x(?:[0-8BCEF]|1[0-9A-F]|FFF[EF]);", re.IGNORECASE)
_LOOP: Final = "for file in "


def read_section(section: by_file.Section) -> by_file.FileReading:
    """Read the events of one file's run."""
    events, fault = read_events(section.content)
    try:
        rows = tuple(_row(event, section.path) for event in events if event.kind == "test")
        ended = next((event for event in events if event.kind == "end"), None)
        failures = ended.number("failures") if ended else 0
    except BreachError as error:
        return by_file.FileReading(broken=str(error))
    red = sum(row.outcome in RED for row in rows)
    if not events and not fault:
        return by_file.FileReading(broken=by_file.NOT_LOADED)
    if fault or ended is None or events[-1] is not ended:
        # mocha's own report is written at the end and would hold none of these.
        return by_file.FileReading(rows=rows, broken=fault or "mocha ended before its report did", counts={})
    if failures != red:
        return by_file.FileReading(rows=rows, broken=f"mocha counted {failures} failures and told of {red}")
    return by_file.FileReading(rows=rows)


def _row(event: Event, path: str) -> TestResult:
    outcome = _OUTCOMES.get(event.text("outcome"))
    if outcome is None:
        raise BreachError(f"the report gives the outcome {event.text('outcome')!r}")
    name = by_file.named(path, event.text("name"))
    if outcome is not Outcome.FAILED:
        return TestResult(id=name, file=path, outcome=outcome)
    how, message = how_it_failed(event)
    hook = event.text("kind") == "hook"
    return TestResult(
        id=name,
        file=path,
        outcome=Outcome.ERROR if hook else Outcome.FAILED,
        fails_by=FailsBy.ERROR if hook and how is FailsBy.ASSERTION else how,
        message=message,
    )


def how_it_failed(event: Event) -> tuple[FailsBy, str]:
    """Return what an event's ``error`` says of a failure.

    It holds name, code and message of what was thrown, and mocha's ``compares``: whether it carries an actual and an
    expected value, as what assertion libraries throw does, whatever its class.
    """
    error = event.fields.get("error")
    if not isinstance(error, dict):
        raise BreachError(f"the event {event.kind!r} tells of a failure without an error")
    thrown = Event(kind=event.kind, fields=error)
    name, code, message = thrown.text("name"), thrown.text("code"), thrown.text("message")
    shown = message.encode("utf-8", "replace").decode()
    if code == "ERR_MOCHA_TIMEOUT" or _TIMEOUT.search(message):
        return FailsBy.TIMEOUT, shown
    asserted = code == "ERR_ASSERTION" or name.startswith("Assertion") or error.get("compares") is True
    return (FailsBy.ASSERTION if asserted else FailsBy.ERROR), shown


def read_recorded(report: bytes, command: str) -> ReportReading:
    """Read what the recorded ``command`` left: one xunit report, or one for each file in sections.

    Early versions write no file beside a test; with one file it is the command's last word, as long as the command is
    run at the tree's root. Where it can't be told the counts remain.
    """
    if command.startswith("rm -f") or _LOOP in command:
        return by_file.read(report, None, (), _read_xunit)
    words = shlex.split(command)
    path = words[-1].removeprefix("./") if "output=../report.xml" in words else ""
    section = by_file.Section(path=path, content=report, exit_code=None)
    reading = _read_xunit(section)
    if reading.broken:
        return ReportReading(breach=reading.broken)
    rows = by_file.worst(reading.rows)
    told = tuple(row for row in rows.values() if row.file)
    return ReportReading(tests=told, whole=True, summary=by_file.summary_of(by_file.counts_of(rows.values())))


def _read_xunit(section: by_file.Section) -> by_file.FileReading:
    if not section.content.strip():
        return by_file.FileReading(broken="mocha left no report")
    try:
        cases = read_cases(_NO_CHARACTER.sub(b"\xef\xbf\xbd", section.content.strip()))
    except InvalidInputError as error:
        return by_file.FileReading(broken=error.message)
    return by_file.FileReading(rows=tuple(_case_row(case, section.path) for case in cases))


def _case_row(case: JUnitCase, path: str) -> TestResult:
    file = case.file.removeprefix(TREE_DIR + "/") if case.file.startswith(TREE_DIR + "/") else path
    title = f"{case.classname} {case.name}" if case.classname else case.name
    red = case.outcome in RED
    # The report has one word for a test and a hook; only mocha's names for hooks tell them apart.
    hook = red and re.match(r'"(?:before|after) (?:each|all)" hook', case.name) is not None
    return TestResult(
        id=by_file.named(file, title),
        file=file,
        outcome=Outcome.ERROR if hook else case.outcome,
        fails_by=FailsBy.ERROR if red else None,
        message=case.message,
    )
