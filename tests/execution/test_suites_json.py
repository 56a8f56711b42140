"""The JSON of jest and vitest: outcomes, files that don't load, and reports that are not whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.observation import FailsBy, Outcome
from execution.reports import jest, vitest

_FILE = "test/a.test.ts"
_PATH = f"/srv/case/repo/{_FILE}"


def _test(title: str, status: str = "passed", *suites: str, message: str = "") -> dict[str, Any]:
    return {
        "ancestorTitles": list(suites),
        "title": title,
        "status": status,
        "failureMessages": [message] if message else [],
    }


def _report(
    *tests: dict[str, Any], status: str = "", message: str = "", total: int | None = None, name: str = _PATH
) -> bytes:
    red = any(test["status"] == "failed" for test in tests)
    return json.dumps(
        {
            "numTotalTests": len(tests) if total is None else total,
            "numPassedTests": sum(test["status"] == "passed" for test in tests),
            "success": not red and status != "failed",
            "testResults": [
                {
                    "name": name,
                    "status": status or ("failed" if red else "passed"),
                    "message": message,
                    "assertionResults": list(tests),
                }
            ],
        }
    ).encode()


def test_ids_are_file_suites_and_title() -> None:
    report = _report(_test("merges", "passed", "defu", "arrays"), _test("plain"), _test("old", "passed", "", "defu"))
    reading = vitest.read(report, 0, (_FILE,))
    assert reading.whole, reading.breach
    assert [test.id for test in reading.tests] == [
        "test/a.test.ts::defu > arrays > merges",
        "test/a.test.ts::plain",
        "test/a.test.ts:: > defu > old",
    ]


def test_every_status_has_its_outcome() -> None:
    rows = [
        _test(status, status) for status in ("passed", "failed", "skipped", "pending", "todo", "disabled", "strange")
    ]
    outcomes = {test.id.partition("::")[2]: test.outcome for test in jest.read(_report(*rows), 1, (_FILE,)).tests}
    assert outcomes == {
        "passed": Outcome.PASSED,
        "failed": Outcome.FAILED,
        "skipped": Outcome.SKIPPED,
        "pending": Outcome.SKIPPED,
        "todo": Outcome.TODO,
        "disabled": Outcome.SKIPPED,
        "strange": Outcome.ERROR,
    }


def test_of_equal_ids_the_worst_counts() -> None:
    for order in (("passed", "failed"), ("failed", "passed")):
        reading = vitest.read(_report(*(_test("same", status) for status in order)), 1, (_FILE,))
        assert [test.outcome for test in reading.tests] == [Outcome.FAILED]
        assert reading.whole


@pytest.mark.parametrize(
    ("message", "how"),
    [
        ("AssertionError: expected 1 to be 2\n    at x", FailsBy.ASSERTION),
        ("Error: \x1b[2mexpect(\x1b[22mreceived).toBe(expected)", FailsBy.ASSERTION),
        ("TypeError: defu is not a function\n    at expect(x)", FailsBy.ERROR),
        ("Error: Test timed out in 5000ms.", FailsBy.TIMEOUT),
        ('thrown: "Exceeded timeout of 5000 ms for a test.', FailsBy.TIMEOUT),
        ("", FailsBy.ERROR),
    ],
)
def test_how_a_test_fails(message: str, how: FailsBy) -> None:
    (result,) = jest.read(_report(_test("a", "failed", message=message)), 1, (_FILE,)).tests
    assert result.fails_by is how
    assert "\x1b" not in result.message
    assert "\n" not in result.message


def test_a_file_that_does_not_load_is_broken() -> None:
    reading = jest.read(
        _report(status="failed", message="  ● Test suite failed to run\n\n    no such module\n"), 1, (_FILE,)
    )
    assert reading.broken_files == {_FILE: "no such module"}
    assert reading.whole


def test_a_file_whose_suite_hook_fails_is_broken_although_its_tests_pass() -> None:
    assert vitest.read(_report(_test("a"), status="failed", message="afterAll"), 1, (_FILE,)).broken_files == {
        _FILE: "afterAll"
    }


def test_a_file_without_tests_is_broken_although_old_versions_call_it_passed() -> None:
    reading = vitest.read(_report(status="passed", message="Failed to load url ../missing"), 1, (_FILE,))
    assert reading.broken_files == {_FILE: "Failed to load url ../missing"}


def test_a_file_with_tests_to_skip_is_whole_although_early_versions_call_it_failed() -> None:
    document = json.loads(_report(_test("a"), _test("b", "skipped"), status="failed"))
    reading = vitest.read(json.dumps({**document, "success": True}).encode(), 0, (_FILE,))
    assert reading.broken_files == {}
    assert reading.whole, reading.breach


def test_a_suite_that_failed_shows_in_the_totals() -> None:
    document = json.loads(_report(_test("a", "skipped")))
    reading = vitest.read(json.dumps({**document, "success": False}).encode(), 1, (_FILE,))
    assert list(reading.broken_files) == [_FILE]
    assert reading.summary == "1 skipped"


def test_files_that_were_taken_along_are_left_out() -> None:
    reading = vitest.read(_report(_test("a"), name="/srv/case/repo/other/test/a.test.ts"), 0, (_FILE,))
    assert reading.tests == ()
    assert reading.whole


@pytest.mark.parametrize(
    ("report", "exit_code", "breach"),
    [
        (b"", 1, "no report"),
        (b'{"testResults": [', 1, "not whole JSON"),
        (b"[]", 0, "not one of"),
        (_report(_test("a"), total=2), 0, "counted 2 tests and listed 1"),
        (_report(_test("a", "failed")), 0, "the exit code is 0"),
        (_report(status="failed"), 0, "the exit code is 0"),
    ],
)
def test_what_is_no_whole_report(report: bytes, exit_code: int, breach: str) -> None:
    reading = vitest.read(report, exit_code, (_FILE,))
    assert not reading.whole
    assert breach in reading.breach


def test_green_tests_and_a_red_run_are_a_whole_report() -> None:
    assert vitest.read(_report(_test("a")), 1, (_FILE,)).whole


def test_a_report_that_was_complete_before_the_process_was_killed_is_whole() -> None:
    assert vitest.read(_report(_test("a", "failed")), 137, (_FILE,)).whole


def test_the_flat_shape_of_the_first_versions() -> None:
    rows = [
        {"displayName": "a", "status": "pass", "skipped": False, "testFilePath": _PATH},
        {"displayName": "b", "status": "fail", "skipped": False, "testFilePath": _PATH, "failureMessage": "x is no y"},
        {"displayName": "c", "skipped": True, "testFilePath": _PATH},
        {"displayName": "d", "skipped": False, "testFilePath": _PATH},
    ]
    report = json.dumps({"numTotalTests": 4, "success": False, "testResults": rows}).encode()
    reading = vitest.read(report, 1, (_FILE,))
    assert reading.whole, reading.breach
    assert [(test.id, test.outcome) for test in reading.tests] == [
        ("test/a.test.ts::a", Outcome.PASSED),
        ("test/a.test.ts::b", Outcome.FAILED),
        ("test/a.test.ts::c", Outcome.SKIPPED),
        ("test/a.test.ts::d", Outcome.TODO),
    ]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["testResults", "assertionResults", "name", "status", "numTotalTests", "title", "testFilePath"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(_JSON | st.dictionaries(st.just("testResults"), st.lists(_JSON, max_size=3)))
def test_any_json_is_read_or_a_breach(value: object) -> None:
    for reader in (jest.read, vitest.read):
        reading = reader(json.dumps(value).encode(), 0, (_FILE,))
        assert reading.whole or reading.breach
        assert all(test.file == _FILE for test in reading.tests)


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_a_breach(report: bytes) -> None:
    reading = vitest.read(report, 0, (_FILE,))
    assert reading.whole or reading.breach
