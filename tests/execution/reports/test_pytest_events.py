"""The reader of pytest's events holds to the protocol, whatever a test writes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.observation import FailsBy, Outcome, ReportReading
from execution.reports.pytest_events import read, summary_line
from tests.execution.reports.streams import collected, ended, phases, report, session, stream

FILES = ("tests/test_a.py", "tests/test_b.py")
A, B = "tests/test_a.py::test_one", "tests/test_b.py::test_two"


def outcomes(reading: ReportReading) -> dict[str, Outcome]:
    return {test.id: test.outcome for test in reading.tests}


def test_a_whole_run_gives_one_outcome_for_each_test() -> None:
    told = stream(session(), collected(A, B), *phases(A, "passed"), *phases(B, "failed", by="assertion"), *ended(1))
    reading = read(told, 1, FILES, b"")
    assert reading.whole
    assert reading.runner_version == "9.0.0"
    assert outcomes(reading) == {A: Outcome.PASSED, B: Outcome.FAILED}
    assert [(test.file, test.fails_by) for test in reading.tests] == [(FILES[0], None), (FILES[1], FailsBy.ASSERTION)]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([("setup", "failed", {}), ("teardown", "passed", {})], Outcome.ERROR),
        ([("setup", "passed", {}), ("call", "passed", {}), ("teardown", "failed", {})], Outcome.ERROR),
        ([("setup", "skipped", {}), ("teardown", "passed", {})], Outcome.SKIPPED),
        ([("call", "skipped", {"xfail": True}), ("teardown", "passed", {})], Outcome.XFAILED),
        ([("call", "passed", {"xfail": True}), ("teardown", "passed", {})], Outcome.XPASSED),
        ([("call", "failed", {"subtest": True}), ("call", "passed", {}), ("teardown", "passed", {})], Outcome.FAILED),
        ([("call", "skipped", {"subtest": True}), ("call", "passed", {}), ("teardown", "passed", {})], Outcome.PASSED),
        ([("call", "rerun", {}), ("call", "passed", {}), ("teardown", "passed", {})], Outcome.PASSED),
    ],
)
def test_the_worst_phase_is_the_outcome(parts: list[tuple[str, str, dict[str, object]]], expected: Outcome) -> None:
    told = (report(A, when, outcome, **more) for when, outcome, more in parts)
    code = 1 if expected in {Outcome.FAILED, Outcome.ERROR} else 0
    reading = read(stream(session(), collected(A), *told, *ended(code)), code, FILES, b"")
    assert reading.whole, reading.breach
    assert outcomes(reading) == {A: expected}


@pytest.mark.parametrize(
    ("told", "code", "words"),
    [
        (b"", 0, "no end"),
        (stream(session(), collected(A), *phases(A, "passed")), 0, "no end"),
        (stream(session(), collected(A), *phases(A, "passed"), *ended(0)), 1, "the process with 1"),
        (stream(session(), collected(A), *ended(0)), 0, "no result"),
        (stream(session(), collected(A), *phases(A, "passed"), *phases(B, "passed"), *ended(0)), 0, "not collected"),
        (stream(session(), collected(A), *phases(A, "passed"), *phases(A, "passed"), *ended(0)), 0, "a second result"),
        (stream(session(), collected(A), collected(A), *ended(0)), 0, "collected twice"),
        (stream(session(), session(), *ended(0)), 0, "begins twice"),
        (stream(session(), collected(A), *phases(A, "failed"), *ended(0)), 0, "although a test failed"),
        (stream(session(), collected(), *ended(5), session()), 5, "goes on after its end"),
        (stream(session(), {"event": "resolved"}, *ended(0)), 0, "unknown event"),
        (stream(session(), {"event": "report", "id": 1}), 0, "no text 'id'"),
        (stream(session()) + b"PASSED everything\n" + stream(*ended(0)), 0, "not JSON"),
        (stream(session()) + b"[]\n" + stream(*ended(0)), 0, "not an event"),
        (stream(session(), collected(A), {"event": "internal-error", "message": "boom"}, *ended(3)), 3, "boom"),
    ],
)
def test_a_breach_is_named_and_the_report_is_not_whole(told: bytes, code: int, words: str) -> None:
    reading = read(told, code, FILES, b"")
    assert not reading.whole
    assert words in reading.breach


def test_a_run_that_was_interrupted_need_not_report_the_rest() -> None:
    told = stream(
        session(), collected(A, B), *phases(A, "passed"), {"event": "interrupted", "message": "stop"}, *ended(2)
    )
    reading = read(told, 2, FILES, b"")
    assert reading.whole
    assert outcomes(reading) == {A: Outcome.PASSED}


def test_equal_ids_may_come_as_often_as_they_were_collected_and_the_worst_counts() -> None:
    told = stream(session(), collected(A, A), *phases(A, "failed", by="error"), *phases(A, "passed"), *ended(1))
    reading = read(told, 1, FILES, b"")
    assert reading.whole
    assert outcomes(reading) == {A: Outcome.FAILED}


def test_a_file_that_cannot_be_collected_is_broken_and_hides_no_other() -> None:
    broken = {"event": "broken", "id": "tests/test_a.py", "message": "ImportError: no such name"}
    reading = read(stream(session(), broken, collected(B), *phases(B, "passed"), *ended(1)), 1, FILES, b"")
    assert reading.whole
    assert reading.broken_files == {"tests/test_a.py": "ImportError: no such name"}
    assert outcomes(reading) == {B: Outcome.PASSED}


def test_a_package_that_cannot_be_collected_breaks_all_below_it() -> None:
    broken = {"event": "broken", "id": "tests/__init__.py", "message": "SyntaxError"}
    reading = read(stream(session(), broken, collected(), *ended(1)), 1, FILES, b"")
    assert set(reading.broken_files) == set(FILES)


def test_a_conftest_that_cannot_be_loaded_breaks_every_file() -> None:
    output = b"ImportError while loading conftest '/srv/conftest.py'.\nE   ImportError: cannot import name 'x'\n"
    reading = read(stream({"event": "end", "exit": 4}), 4, FILES, output)
    assert reading.whole
    assert reading.broken_files == dict.fromkeys(FILES, "ImportError: cannot import name 'x'")


def test_a_wrong_invocation_is_a_breach_that_quotes_pytest() -> None:
    output = b"ERROR: usage: pytest [options]\npytest.py: error: unrecognized arguments: --cov\n  inifile: x\n"
    reading = read(stream({"event": "end", "exit": 4}), 4, FILES, output)
    assert not reading.whole
    assert "unrecognized arguments: --cov" in reading.breach


def test_files_below_a_project_folder_are_named_from_the_root() -> None:
    told = stream(
        session("/srv/case/repo/packages/box"),
        collected("tests/test_a.py::test_one", cwd="/srv/case/repo/packages/box"),
    )
    told += stream(*phases("tests/test_a.py::test_one", "passed"), *ended(0))
    reading = read(told, 0, ("packages/box/tests/test_a.py",), b"")
    assert [test.file for test in reading.tests] == ["packages/box/tests/test_a.py"]


@pytest.mark.parametrize(
    ("line", "summary"),
    [
        ("===== 3 failed, 4 passed, 2 errors, 5 subtests passed in 0.10s =====",
        "3 failed, 4 passed, 2 errors, 5 subtests passed in 0.10s"),
        ("\x1b[32m=== \x1b[1m1 passed\x1b[0m in 61.02s (0:01:01) ===\x1b[0m", "1 passed in 61.02s (0:01:01)"),
        ("4 passed, 1 pytest-warnings in 0.05 seconds", "4 passed, 1 pytest-warnings in 0.05 seconds"),
        ("=== no tests ran in 0.01s ===", "no tests ran in 0.01s"),
        ("nothing of the kind", ""),
    ],
)  # fmt: skip
def test_the_summary_line_is_found(line: str, summary: str) -> None:
    assert summary_line(f"before\n{line}\n".encode()) == summary


@given(st.binary(max_size=200), st.integers(0, 255))
def test_whatever_is_on_the_pipe_is_read_without_an_exception(noise: bytes, code: int) -> None:
    told = stream(session(), collected(A), *phases(A, "passed"))
    assert not read(told + noise, code, FILES, noise).whole


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
kinds = st.sampled_from(["session", "broken", "collected", "report", "interrupted", "finish", "end", "deselected"])


@given(
    st.lists(
        st.fixed_dictionaries({"event": kinds}, optional=dict.fromkeys(["id", "items", "exit", "version"], json_values))
    )
)
def test_events_with_wrong_fields_are_a_breach_and_never_an_exception(events: list[dict[str, object]]) -> None:
    reading = read(stream(*events), 0, FILES, b"")
    assert reading.whole is (reading.breach == "")
    assert json.dumps([test.id for test in reading.tests])
