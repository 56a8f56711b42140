"""mocha's events and its xunit report, whole and tampered with."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.observation import FailsBy, Outcome
from execution.reports import by_file, mocha

_START: dict[str, object] = {"event": "start"}


def _test(title: str, outcome: str = "passed", **error: str | bool) -> dict[str, object]:
    thrown = {"name": "Error", "code": "", "message": "no", **error} if outcome == "failed" else None
    return {"event": "test", "outcome": outcome, "kind": "test", "name": title, "error": thrown}


def _end(failures: int = 0) -> dict[str, object]:
    return {"event": "end", "failures": failures}


def _read(*events: dict[str, object], exit_code: int = 0) -> by_file.FileReading:
    content = b"".join(json.dumps(event).encode() + b"\n" for event in events)
    return mocha.read_section(by_file.Section(path="a.js", content=content, exit_code=exit_code))


@pytest.mark.parametrize(
    ("error", "how"),
    [
        ({"name": "AssertionError"}, FailsBy.ASSERTION),
        ({"name": "AssertionError2"}, FailsBy.ASSERTION),
        ({"code": "ERR_ASSERTION"}, FailsBy.ASSERTION),
        ({"name": "TypeError"}, FailsBy.ERROR),
        ({"compares": True}, FailsBy.ASSERTION),
        ({"compares": False}, FailsBy.ERROR),
        ({"code": "ERR_MOCHA_TIMEOUT"}, FailsBy.TIMEOUT),
        ({"message": "Timeout of 20ms exceeded. For async tests"}, FailsBy.TIMEOUT),
        ({"message": "the message Timeout of 20ms exceeded"}, FailsBy.ERROR),
    ],
)
def test_how_a_test_fails(error: dict[str, str | bool], how: FailsBy) -> None:
    reading = _read(_START, _test("a", "failed", **error), _end(1), exit_code=1)
    assert [(row.outcome, row.fails_by) for row in reading.rows] == [(Outcome.FAILED, how)]


def test_a_hook_that_fails_is_an_error() -> None:
    hook = {**_test('"before all" hook', "failed", name="AssertionError"), "kind": "hook"}
    (row,) = _read(_START, hook, _end(1), exit_code=1).rows
    assert (row.outcome, row.fails_by) == (Outcome.ERROR, FailsBy.ERROR)


@pytest.mark.parametrize(
    ("events", "broken"),
    [
        ((), by_file.NOT_LOADED),
        ((_START, _test("a")), "ended before its report"),
        ((_START, _test("a"), _end(), _test("b")), "ended before its report"),
        ((_START, _test("a"), _end(2)), "counted 2 failures and told of 0"),
        ((_START, {**_test("a"), "outcome": "fine"}, _end()), "outcome 'fine'"),
        ((_START, {**_test("a"), "name": 1}, _end()), "no text 'name'"),
        ((_START, {**_test("a", "failed"), "error": None}, _end(1)), "without an error"),
    ],
)
def test_what_breaks_a_file(events: tuple[dict[str, object], ...], broken: str) -> None:
    assert broken in _read(*events, exit_code=1).broken


@given(st.lists(st.sampled_from([_START, _test("a"), _test("b", "failed"), _end(), _end(1), {"event": "x"}])))
def test_a_whole_file_ends_with_its_end(events: list[dict[str, object]]) -> None:
    reading = _read(*events)
    if not reading.broken:
        assert events[-1]["event"] == "end"


_XUNIT = """<testsuite name="Mocha Tests" tests="4" failures="0" errors="2" skipped="1">
<testcase classname="S" name="one"{file} time="0"/>
<testcase classname="" name="odd &#x1B; name"{file} time="0"/>
<testcase classname="S" name="two"{file} time="0"><failure>no</failure></testcase>
<testcase classname="S" name="&#x22;before each&#x22; hook for &#x22;x&#x22;"{file}><failure>no</failure></testcase>
<testcase classname="S" name="later"{file} time="0"><skipped/></testcase>
</testsuite>"""


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("", "mocha --reporter=xunit --reporter-option output=../report.xml 'test/it s.js'"),
        (' file="/srv/case/repo/test/it s.js"', "mocha --reporter-option output=../../report.xml 'it s.js'"),
    ],
)
def test_the_recorded_report_of_one_file(file: str, command: str) -> None:
    reading = mocha.read_recorded(_XUNIT.format(file=file).encode(), command)
    assert {test.id.removeprefix("test/it s.js::"): test.outcome.value for test in reading.tests} == {
        "S one": "passed",
        "odd \ufffd name": "passed",
        "S two": "failed",
        'S "before each" hook for "x"': "error",
        "S later": "skipped",
    }
    assert reading.summary == "1 error, 1 failed, 2 passed, 1 skipped"


def test_where_the_file_can_not_be_told_the_counts_remain() -> None:
    reading = mocha.read_recorded(
        _XUNIT.format(file="").encode(), "mocha --reporter-option output=../../report.xml a.js"
    )
    assert reading.tests == ()
    assert reading.summary == "1 error, 1 failed, 2 passed, 1 skipped"


def test_the_recorded_report_of_several_files() -> None:
    report = b"\n# file a.js\n" + _XUNIT.format(file="").encode() + b"\n# file b.js\n"
    reading = mocha.read_recorded(report, "rm -f ../report.xml; code=0; for file in a.js b.js; do …")
    assert "a.js::S one" in {test.id for test in reading.tests}
    assert list(reading.broken_files) == ["b.js"]
