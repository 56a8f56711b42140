"""The report of a Rust check: parts of cargo's messages and the harness's events, as they came from rust 1.95."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.observation import FailsBy, Outcome, ReportReading
from execution.reports import cargo

_API = ("tests/api.rs",)


def _line(**fields: object) -> bytes:
    return json.dumps(fields).encode() + b"\n"


def _built(*files: str, root: str = "tests/api.rs") -> bytes:
    artifact = _line(
        reason="compiler-artifact", target={"src_path": f"/srv/case/repo/{root}"}, profile={"test": True}, fresh=False
    )
    return _line(reason="graded", files=list(files or _API)) + artifact + _line(reason="build-finished", success=True)


def _test(name: str, event: str = "ok", **more: object) -> bytes:
    return _line(type="test", event="started", name=name) + _line(type="test", name=name, event=event, **more)


def _suite(*tests: bytes, passed: int = 0, failed: int = 0, ignored: int = 0, code: int | None = None) -> bytes:
    ended = 101 if failed else 0
    return (
        _line(type="suite", event="started", test_count=len(tests))
        + b"".join(tests)
        + _line(type="suite", event="failed" if failed else "ok", passed=passed, failed=failed, ignored=ignored)
        + _line(reason="ended", code=ended if code is None else code)
    )


def _read(
    report: bytes, exit_code: int | None = 0, files: tuple[str, ...] = _API, output: bytes = b""
) -> ReportReading:
    return cargo.read(report, exit_code, files, output)


def _outcomes(reading: ReportReading) -> dict[str, Outcome]:
    return {test.id: test.outcome for test in reading.tests}


def test_a_whole_report() -> None:
    tests = (_test("adds"), _test("deep::fails", "failed", stdout="x"), _test("slow", "ignored", message="takes long"))
    reading = _read(_built() + _suite(*tests, passed=1, failed=1, ignored=1), 101)
    assert reading.whole
    assert _outcomes(reading) == {
        "tests/api.rs::adds": Outcome.PASSED,
        "tests/api.rs::deep::fails": Outcome.FAILED,
        "tests/api.rs::slow": Outcome.SKIPPED,
    }
    assert reading.summary == "1 failed, 1 passed, 1 skipped"


@pytest.mark.parametrize(
    ("told", "message", "how"),
    [
        (
            {"stdout": "\nthread 'a' (7) panicked at a.rs:2:20:\nassertion `left == right` failed\n left: 2\n"},
            "assertion `left == right` failed",
            FailsBy.ASSERTION,
        ),
        (
            {"stdout": "thread 'a' panicked at 'assertion failed: `(left == right)`\n  left: `1`', tests/api.rs:2:5\n"},
            "assertion failed: `(left == right)` left: `1`",
            FailsBy.ASSERTION,
        ),
        ({"stdout": "\nthread 'a' panicked at src/lib.rs:1:1:\nno such box\n"}, "no such box", FailsBy.ERROR),
        ({"message": "test did not panic as expected at tests/api.rs:4:28"}, None, FailsBy.ASSERTION),
        ({"stdout": 'Error: "refused"\n'}, 'Error: "refused"', FailsBy.ERROR),
    ],
)
def test_why_a_test_failed(told: dict[str, str], message: str | None, how: FailsBy) -> None:
    (test,) = _read(_built() + _suite(_test("a", "failed", **told), failed=1), 101).tests
    assert (test.message, test.fails_by) == (told.get("message") if message is None else message, how)


def test_a_target_that_does_not_compile_breaks_its_files_and_hides_no_other() -> None:
    error = _line(
        reason="compiler-message",
        message={
            "level": "error",
            "message": "cannot find function `three`",
            "spans": [{"is_primary": True, "file_name": "tests/api.rs", "line_start": 3}],
        },
    )
    broken = _line(reason="graded", files=["tests/api.rs"]) + error
    broken += _line(reason="build-finished", success=False) + _line(reason="ended", code=101)
    other = _built("tests/b.rs", root="tests/b.rs") + _suite(_test("runs"), passed=1)
    reading = _read(broken + other, 101, ("tests/api.rs", "tests/b.rs"))
    assert reading.whole
    assert reading.broken_files == {"tests/api.rs": "cannot find function `three` (tests/api.rs:3)"}
    assert _outcomes(reading) == {"tests/b.rs::runs": Outcome.PASSED}
    assert reading.summary == "1 passed, 1 not loaded"


def test_what_cargo_refuses_before_it_compiles_is_told_in_its_words() -> None:
    report = _line(reason="graded", files=["tests/api.rs"]) + _line(reason="ended", code=101)
    reading = _read(report, 101, output=b"   Updating\nerror: no test target named `api`\n")
    assert reading.broken_files == {"tests/api.rs": "error: no test target named `api`"}


def test_a_program_that_dies_tells_in_which_test() -> None:
    started = _line(type="suite", event="started", test_count=2) + _test("a")
    report = _built() + started + _line(type="test", event="started", name="b") + _line(reason="ended", code=101)
    reading = _read(report, 101)
    assert not reading.whole
    assert "gone before its end in b" in reading.breach
    assert _outcomes(reading) == {"tests/api.rs::a": Outcome.PASSED}


def test_what_a_child_of_a_test_prints_is_no_outcome() -> None:
    forged = b'half {"type": "test", "name": "b", "event": "ok"}\nnoise\n{not json\n'
    reading = _read(_built() + _suite(_test("a"), forged, passed=1))
    assert _outcomes(reading) == {"tests/api.rs::a": Outcome.PASSED}
    # The suite announced two, so what was passed over is missed.
    assert not reading.whole


@pytest.mark.parametrize(
    "report",
    [
        pytest.param(_built() + _suite(_test("a"), _test("b"), passed=1), id="an outcome that the suite did not count"),
        pytest.param(_built() + _suite(_test("a"), _test("a"), passed=2), id="two outcomes of one test"),
        pytest.param(_built() + _suite(_test("a"), passed=1, code=1), id="a green suite, an exit code that is not"),
        pytest.param(_built() + _suite(_test("a", "failed"), failed=1, code=0), id="a red suite, an exit code of 0"),
        pytest.param((_built() + _suite(_test("a"), passed=1)).rpartition(b'{"reason"')[0], id="no end"),
        pytest.param((_built() + _suite(_test("a"), passed=1)) * 2, id="a file that was run twice"),
        pytest.param(_built("tests/b.rs") + _suite(_test("a"), passed=1), id="another file than the graded one"),
        pytest.param(_built() + _test("a") + _line(reason="ended", code=0), id="a test without a suite"),
        pytest.param(
            _built() + _line(type="suite", event="started", test_count=0) + _suite(_test("a"), passed=1),
            id="two suites",
        ),
        pytest.param(b"", id="nothing"),
        pytest.param(b"running 1 test\ntest a ... ok\n", id="text"),
    ],
)
def test_a_report_that_contradicts_itself_is_not_whole(report: bytes) -> None:
    reading = _read(report)
    assert not reading.whole
    assert reading.breach


def test_failures_that_the_exit_code_denies() -> None:
    reading = _read(_built() + _suite(_test("a", "failed"), failed=1), 0)
    assert reading.breach == "the report holds failures, the exit code is 0"


def test_unit_tests_belong_to_the_file_of_their_module() -> None:
    files = ("src/codec/tests.rs", "src/codec/tests/deep.rs")
    tests = (_test("codec::tests::a"), _test("codec::tests::deep::b"), _test("codec::testsuite::c"))
    report = _built(*files, root="src/lib.rs") + _suite(*tests, passed=3)
    reading = _read(report, 0, files)
    assert reading.whole
    assert {test.id: test.file for test in reading.tests} == {
        "src/codec/tests.rs::codec::tests::a": "src/codec/tests.rs",
        "src/codec/tests/deep.rs::codec::tests::deep::b": "src/codec/tests/deep.rs",
        "src/lib.rs::codec::testsuite::c": "src/lib.rs",
    }
    # A stranger's report is read without the list of files, to the same ids.
    assert _outcomes(cargo.read(report, None, (), b"")) == _outcomes(reading)


def test_a_target_without_the_harness_tells_of_no_test() -> None:
    assert _read(_built() + b"all good\n" + _line(reason="ended", code=0)).tests == ()
    failing = _read(_built() + _line(reason="ended", code=3), 101)
    assert failing.broken_files == {"tests/api.rs": "it ended with 3 and told of no test"}


@given(st.binary(max_size=200), st.integers(0, 400))
def test_any_bytes_are_read_and_never_believed_whole(noise: bytes, cut: int) -> None:
    report = _built() + _suite(_test("a"), passed=1)
    reading = _read(report[:cut] + b"\n" + noise)
    assert not reading.whole or cut >= len(report) - 1


@given(st.lists(st.sampled_from(["graded", "ended", "build-finished", "suite", "test"]), max_size=8))
def test_lines_of_any_shape_are_survived(reasons: list[str]) -> None:
    rows = [_line(reason=reason, type=reason, event=None, files=1, code="x", name=3) for reason in reasons]
    assert _read(b"".join(rows)).tests == ()
