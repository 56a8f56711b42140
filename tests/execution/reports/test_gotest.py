"""The events of ``go test -json``: real streams of old and new releases, and what programs can do to them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.observation import FailsBy, Outcome, ReportReading
from execution.reports import gotest

_GRADED: gotest.Graded = {
    "example.com/m": {"TestA": ("a_test.go",), "TestB": ("a_test.go",), "TestTwice": ("a_test.go", "b_test.go")},
    "example.com/m/sub": {"TestS": ("sub/s_test.go",)},
}
_FILES = ("a_test.go", "b_test.go", "sub/s_test.go")
_M, _SUB = "example.com/m", "example.com/m/sub"


def _event(action: str, package: str = _M, test: str = "", output: str = "", **more: object) -> str:
    fields: dict[str, object] = {"Action": action, "Package": package, **more}
    return json.dumps(fields | ({"Test": test} if test else {}) | ({"Output": output} if output else {}))


def _test(name: str, end: str = "pass", package: str = _M, *lines: str) -> list[str]:
    printed = [_event("output", package, name, line) for line in lines]
    return [_event("run", package, name), *printed, _event(end, package, name)]


_SUB_PASSES = [*_test("TestS", "pass", _SUB), _event("pass", _SUB)]


def _read(lines: list[str], exit_code: int | None = 0, output: bytes = b"") -> ReportReading:
    stream = "\n".join([gotest.header(_GRADED), *lines, ""])
    return gotest.read(stream.encode(), exit_code, _FILES, output)


def _outcomes(reading: ReportReading) -> dict[tuple[str, str], str]:
    return {(test.id, test.file): test.outcome.value for test in reading.tests}


def test_tests_belong_to_the_file_that_declares_them_and_subtests_to_their_parent_s() -> None:
    reading = _read(
        [*_test("TestA"), *_test("TestA/x_y#01", "skip"), *_test("TestTwice"), _event("pass"), *_SUB_PASSES]
    )
    assert (reading.whole, reading.breach) == (True, "")
    assert _outcomes(reading) == {
        ("example.com/m::TestA", "a_test.go"): "passed",
        ("example.com/m::TestA/x_y#01", "a_test.go"): "skipped",
        ("example.com/m::TestTwice", "a_test.go"): "passed",
        ("example.com/m::TestTwice", "b_test.go"): "passed",
        ("example.com/m/sub::TestS", "sub/s_test.go"): "passed",
    }
    # A test of two files is one test.
    assert reading.summary == "3 passed, 1 skipped"


@pytest.mark.parametrize(
    ("lines", "how", "message"),
    [
        (("=== RUN   TestA\n", "    a_test.go:3: not three\n"), FailsBy.ASSERTION, "a_test.go:3: not three"),
        (("told before\n", "panic: boo [recovered]\n"), FailsBy.ERROR, "panic: boo [recovered]"),
        (("panic: test timed out after 1s\n",), FailsBy.TIMEOUT, "panic: test timed out after 1s"),
    ],
)
def test_how_a_test_fails(lines: tuple[str, ...], how: FailsBy, message: str) -> None:
    reading = _read([*_test("TestA", "fail", _M, *lines), _event("fail"), *_SUB_PASSES], 1)
    assert [(test.fails_by, test.message) for test in reading.tests if test.id.endswith("TestA")] == [(how, message)]
    assert reading.whole


def test_a_panic_leaves_the_tests_after_it_out_and_the_report_whole() -> None:
    reading = _read([*_test("TestA", "fail", _M, "panic: boo\n"), _event("fail"), *_SUB_PASSES], 1)
    assert reading.whole
    assert "example.com/m::TestB" not in {test.id for test in reading.tests}


def test_a_package_that_was_not_built_breaks_its_files_alone() -> None:
    lines = ["FAIL\texample.com/m [build failed]", *_SUB_PASSES]
    reading = _read(lines, 2, b"# example.com/m [example.com/m.test]\n./a_test.go:4:5: undefined: New\n")
    assert reading.whole
    assert reading.broken_files == dict.fromkeys(("a_test.go", "b_test.go"), "./a_test.go:4:5: undefined: New")
    assert reading.summary == "1 passed, 1 not loaded"


def test_a_newer_release_says_it_in_events() -> None:
    lines = [
        json.dumps({"ImportPath": "example.com/m [x]", "Action": "build-output", "Output": "# example.com/m\n"}),
        json.dumps({"ImportPath": "x", "Action": "build-output", "Output": "./a_test.go:4:5: undefined: New\n"}),
        json.dumps({"ImportPath": "example.com/m [example.com/m.test]", "Action": "build-fail"}),
        _event("start"),
        _event("output", output="FAIL\texample.com/m [build failed]\n"),
        _event("fail", FailedBuild="example.com/m [example.com/m.test]"),
        *_SUB_PASSES,
    ]
    reading = _read(lines, 1)
    assert reading.whole
    assert set(reading.broken_files) == {"a_test.go", "b_test.go"}
    assert "undefined: New" in reading.broken_files["a_test.go"]


def test_a_package_that_fails_before_its_first_test_is_broken() -> None:
    reading = _read([_event("output", output="no database\n"), _event("fail"), *_SUB_PASSES], 1)
    assert reading.broken_files["a_test.go"] == "no database"


def test_an_old_release_hides_ends_and_beginnings_behind_text() -> None:
    lines = [
        _event("run", _M, "TestA"),
        _event("output", _M, "TestA", "no newline=== RUN   TestA/inner\n"),
        _event("pass", _M, "TestA/inner"),
        _event("output", _M, "TestA", "and again--- PASS: TestA (0.00s)\n"),
        _event("pass"),
        *_SUB_PASSES,
    ]
    reading = _read(lines)
    assert reading.whole
    assert _outcomes(reading)["example.com/m::TestA", "a_test.go"] == "passed"
    marked = _read([_event("start"), *lines], 0)
    # A release that marks its lines hides none, so there such a text is the program's own.
    assert not marked.whole


def test_a_hidden_end_hides_those_of_the_subtests() -> None:
    lines = [
        _event("run", _M, "TestA"),
        _event("run", _M, "TestA/inner"),
        _event("output", _M, "TestA/inner", "no newline--- PASS: TestA (0.00s)\n"),
        _event("output", _M, "TestA/inner", "    --- SKIP: TestA/inner (0.00s)\n"),
        _event("pass"),
        *_SUB_PASSES,
    ]
    reading = _read(lines)
    assert reading.whole
    assert _outcomes(reading)["example.com/m::TestA", "a_test.go"] == "passed"
    assert _outcomes(reading)["example.com/m::TestA/inner", "a_test.go"] == "skipped"


def test_a_test_that_never_ends_did_not_pass() -> None:
    reading = _read([_event("run", _M, "TestA"), _event("pass"), *_SUB_PASSES])
    first = reading.tests[0]
    assert (first.outcome, first.fails_by) == (Outcome.ERROR, FailsBy.CRASH)
    # Nothing failed, says the exit code of a program that was left by the back door.
    assert not reading.whole


@pytest.mark.parametrize(
    ("lines", "exit_code", "breach"),
    [
        ([], 1, "go left no report"),
        ([*_test("TestA"), _event("pass")], 0, "ended before its report of example.com/m/sub"),
        ([*_test("TestA"), _event("pass", _M, "TestA"), _event("pass"), *_SUB_PASSES], 0, "ends twice"),
        ([_event("pass", _M, "TestB"), _event("pass"), *_SUB_PASSES], 0, "never begun"),
        ([*_test("TestForged"), _event("pass"), *_SUB_PASSES], 0, "not asked for"),
        ([_event("pass"), *_test("TestA"), *_SUB_PASSES], 0, "after its end"),
        (["ok whatever", _event("pass"), *_SUB_PASSES], 0, "go does not write"),
        (["{broken", _event("pass"), *_SUB_PASSES], 0, "no JSON"),
        ([*_test("TestA", "fail"), _event("fail"), *_SUB_PASSES], 0, "exit code is 0"),
        ([*_test("TestA"), _event("pass"), *_SUB_PASSES], 3, "exit code is 3"),
    ],
)
def test_a_breach(lines: list[str], exit_code: int, breach: str) -> None:
    reading = _read(lines, exit_code)
    assert not reading.whole
    assert breach in reading.breach


def test_of_equal_names_the_worst_counts() -> None:
    # A package's tests and those from outside of it may share a name.
    reading = _read([*_test("TestTwice"), *_test("TestTwice", "fail"), _event("fail"), *_SUB_PASSES], 1)
    assert reading.whole
    assert _outcomes(reading)["example.com/m::TestTwice", "b_test.go"] == "failed"


def test_a_recorded_report_has_no_header_and_the_same_ids() -> None:
    lines = [*_test("TestA"), *_test("TestB", "skip"), _event("pass")]
    reading = gotest.read("\n".join(lines).encode(), None, (), b"")
    assert reading.whole
    assert [test.id for test in reading.tests] == ["example.com/m::TestA", "example.com/m::TestB"]
    assert reading.summary == "1 passed, 1 skipped"


@given(st.binary(), st.sampled_from([None, 0, 1]))
def test_no_bytes_break_the_reader(report: bytes, exit_code: int | None) -> None:
    reading = gotest.read(report, exit_code, _FILES, report)
    assert not (reading.whole and not report)


@given(
    st.lists(st.sampled_from([*_test("TestA"), *_test("TestA", "fail"), _event("pass"), _event("fail")]), max_size=12)
)
def test_no_order_of_events_makes_a_failure_pass(lines: list[str]) -> None:
    reading = _read([*lines, *_SUB_PASSES])
    failed = any('"fail"' in line for line in lines)
    assert not (reading.whole and failed)
