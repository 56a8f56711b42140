"""Reports in sections, one for each file: where they begin and end, and what does not fit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from execution.observation import Outcome, TestResult
from execution.reports import by_file


def _passing(section: by_file.Section) -> by_file.FileReading:
    """Read each line of a section as a test that passes, or fails when it begins with a minus."""
    lines = [line.decode() for line in section.content.splitlines() if line]
    rows = tuple(
        TestResult(
            id=by_file.named(section.path, line.lstrip("-")),
            file=section.path,
            outcome=Outcome.FAILED if line.startswith("-") else Outcome.PASSED,
        )
        for line in lines
    )
    return by_file.FileReading(rows=rows)


_TWO = b"# runner x\n\n# file a.js\none\n\n# exit 0\n\n# file b/../b.js\ntwo\n# exit 1\n"


def test_each_file_has_its_content_and_its_end() -> None:
    assert by_file.runner_of(_TWO) == "x"
    sections = by_file.split(_TWO)
    assert [(one.path, one.content.strip(), one.exit_code) for one in sections] == [
        ("a.js", b"one", 0),
        ("b.js", b"two", 1),
    ]


def test_a_run_that_fails_after_its_tests_breaks_its_file() -> None:
    reading = by_file.read(_TWO, 1, ("a.js", "b.js"), _passing)
    assert reading.whole
    assert dict(reading.broken_files) == {"b.js": "every test passed, and the runner ended with 1"}


def test_a_failure_in_a_run_that_ended_well_is_a_breach() -> None:
    reading = by_file.read(b"# file a.js\n-one\n# exit 0\n", 0, ("a.js",), _passing)
    assert "its run ended with 0" in reading.breach
    assert not by_file.read(b"# file a.js\n-one\n", 0, ("a.js",), _passing).whole


def test_files_that_were_not_run_in_this_order_are_a_breach() -> None:
    for files in (("b.js", "a.js"), ("a.js",), ("a.js", "b.js", "c.js")):
        assert "run were" in by_file.read(_TWO, 1, files, _passing).breach


def test_of_equal_ids_the_worst_counts_once() -> None:
    reading = by_file.read(b"# file a.js\none\n-one\none\n# exit 1\n", 1, ("a.js",), _passing)
    assert [(test.id, test.outcome) for test in reading.tests] == [("a.js::one", Outcome.FAILED)]
    assert reading.summary == "1 failed"


def test_nothing_is_no_report() -> None:
    assert by_file.read(b"", 1, ("a.js",), _passing).breach == "the runner left no report"
    assert by_file.runner_of(b"TAP version 13\n") == ""


def test_a_marker_that_a_test_prints_moves_no_boundary() -> None:
    forged = b"# file a.js\n-one\n# exit 0\n# file a.js\none\n# exit 0\n"
    assert not by_file.read(forged, 0, ("a.js",), _passing).whole


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_are_read_or_a_breach(content: bytes, marked: bool) -> None:
    report = b"# file a.js\n" + content if marked else content
    reading = by_file.read(report, None, ("a.js",), lambda _: by_file.FileReading())
    assert reading.whole or reading.breach
