"""What unittest prints is read where it can't be mistaken."""

from __future__ import annotations

from execution.observation import Outcome
from execution.reports.unittest_text import read_broken_modules, read_counts, read_outcomes, summary_line

PRINTED = b"""test_old (tests.test_box.BoxTest) ... ok
test_new (tests.test_box.BoxTest.test_new) ... FAIL
test_told (tests.test_box.BoxTest.test_told)
The box says what it is ... ok
test_skips (tests.test_box.BoxTest.test_skips) ... skipped 'no time'
test_loud (tests.test_box.BoxTest.test_loud) ... hello
ok
test_twice (tests.test_box.BoxTest.test_twice) ... ok
test_twice (tests.test_box.BoxTest.test_twice) ... FAIL
tests.test_lid (unittest.loader._FailedTest.tests.test_lid) ... ERROR

======================================================================
Ran 7 tests in 0.001s

FAILED (failures=2, errors=1, skipped=1, expected failures=1)
"""


def test_only_whole_lines_give_outcomes() -> None:
    assert read_outcomes(PRINTED) == {
        "tests.test_box.BoxTest.test_old": Outcome.PASSED,
        "tests.test_box.BoxTest.test_new": Outcome.FAILED,
        "tests.test_box.BoxTest.test_skips": Outcome.SKIPPED,
    }


def test_modules_that_cannot_be_imported_are_named_in_both_styles() -> None:
    assert read_broken_modules(PRINTED) == ("tests.test_lid",)
    assert read_broken_modules(b"test_lid (unittest.loader._FailedTest) ... ERROR\n") == ("test_lid",)


def test_counts_and_summary_come_from_the_last_lines() -> None:
    assert read_counts(PRINTED) == {"tests": 7, "failures": 2, "errors": 1, "skipped": 1, "expected failures": 1}
    assert summary_line(PRINTED) == "Ran 7 tests: FAILED (failures=2, errors=1, skipped=1, expected failures=1)"
    assert summary_line(b"Ran 1 test in 0.000s\n\nOK\n") == "Ran 1 test: OK"
    assert summary_line(b"no end") == ""
    assert read_counts(b"no end") == {}
