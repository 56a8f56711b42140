"""What counts as a difference between a record and its reproduction, and which file is taken for a report."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from authoring.reproduce import Expected, compare, counts_in, expected_of, read_report
from execution.observation import Outcome, ReportReading, TestResult
from execution.sandbox import Ended, SandboxOutcome
from tests.support.observations import seen


def ran(exit_code: int = 1, ended: Ended = Ended.EXITED) -> SandboxOutcome:
    return SandboxOutcome(
        ended=ended,
        exit_code=exit_code,
        output=b"one line\nthe last line\n",
        output_bytes=23,
        report=b"",
        milliseconds=1,
        peak_memory_kb=1,
        memory_by="test",
    )


def reading(summary: str = "", *, whole: bool = True, **outcomes: Outcome) -> ReportReading:
    tests = tuple(TestResult(id=f"a.py::{name}", file="a.py", outcome=outcome) for name, outcome in outcomes.items())
    return ReportReading(tests=tests, whole=whole, breach="" if whole else "no end", summary=summary)


RECORDED = expected_of([seen("a.py::n=f a.py::o=p a.py::s=s")])


@pytest.mark.parametrize(
    "report",
    [
        reading(n=Outcome.FAILED, o=Outcome.PASSED, s=Outcome.SKIPPED),
        reading(n=Outcome.ERROR, o=Outcome.PASSED),
        reading(n=Outcome.FAILED),
        reading(n=Outcome.FAILED, unknown=Outcome.PASSED),
    ],
)
def test_what_a_report_can_not_tell_is_no_difference(report: ReportReading) -> None:
    assert compare(RECORDED, ran(), report) == ""


@pytest.mark.parametrize(
    ("outcome", "report", "words"),
    [
        (ran(0), reading(n=Outcome.PASSED), "exit code 0, recorded is 1: one line | the last line"),
        (ran(), reading(n=Outcome.PASSED), "a.py::n passed, recorded is red"),
        (ran(), reading(o=Outcome.SKIPPED), "a.py::o skipped, recorded is passed"),
        (ran(), reading(whole=False), "the report is not whole: no end"),
        (ran(137, Ended.TIMEOUT), reading(), "the run ended by timeout, recorded is exited"),
    ],
)
def test_a_difference_is_told_with_its_evidence(outcome: SandboxOutcome, report: ReportReading, words: str) -> None:
    assert compare(RECORDED, outcome, report).startswith(words)


def test_a_report_is_not_missed_where_no_test_ended() -> None:
    recorded = Expected(exit_code=4, ended="exited", outcomes={}, summary="", whole=True)
    assert compare(recorded, ran(4), reading(whole=False)) == ""


def test_what_differed_between_the_runs_is_expected_in_no_way() -> None:
    recorded = expected_of([seen("a.py::n=f a.py::o=p"), seen("a.py::n=f a.py::o=f")])
    assert compare(recorded, ran(), reading(n=Outcome.FAILED, o=Outcome.FAILED)) == ""
    assert compare(recorded, ran(), reading(n=Outcome.PASSED)) != ""


def test_counts_must_agree_where_both_state_them() -> None:
    recorded = Expected(exit_code=0, ended="exited", outcomes={}, summary="5 passed in 0.10s", whole=True)
    assert compare(recorded, ran(0), reading("5 passed, 2 warnings in 7.31s")) == ""
    assert (
        compare(recorded, ran(0), reading("4 passed in 0.10s"))
        == "'4 passed in 0.10s', recorded is '5 passed in 0.10s'"
    )
    assert compare(recorded, ran(0), reading("")) == ""


@pytest.mark.parametrize(
    ("summary", "counts"),
    [
        ("=== 2 failed, 5 passed, 1 warning in 6.36s ===", {"failed": 2, "passed": 5}),
        ("1 error in 0.10s", {"error": 1}),
        ("3 errors in 0.10s", {"error": 3}),
        ("FAILED (failures=1, errors=2, expected failures=3)", {"failures": 1, "errors": 2, "expected failures": 3}),
        ("no tests ran in 0.01s", {}),
    ],
)
def test_counts_are_read_from_a_summary(summary: str, counts: dict[str, int]) -> None:
    assert counts_in(summary) == counts


def test_only_a_plain_file_is_a_report(tmp_path: Path) -> None:
    plain = tmp_path / "plain.xml"
    plain.write_bytes(b"<x/>")
    assert read_report(plain) == b"<x/>"
    (tmp_path / "link.xml").symlink_to(plain)
    os.mkfifo(tmp_path / "fifo.xml")
    (tmp_path / "folder.xml").mkdir()
    assert [read_report(tmp_path / name) for name in ("link.xml", "fifo.xml", "folder.xml", "absent.xml")] == [b""] * 4
