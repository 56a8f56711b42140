"""JUnit XML is read as rows, and what is no report is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casewright.errors import InvalidInputError
from execution.observation import Outcome
from execution.reports.junit import read_cases

REPORT = b"""<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest" tests="4">
<testcase classname="tests.test_a" name="test_passes[1 + 1]">
<system-out>&lt;failure&gt;</system-out></testcase>
<testcase classname="tests.test_a" name="test_fails"><failure message="assert 1 == 2">trace</failure></testcase>
<testcase classname="tests.test_a" name="test_both"><failure message="first"/><error message="second"/></testcase>
<testcase classname="tests.test_a" name="test_xfails"><skipped type="pytest.xfail" message="later"/></testcase>
</testsuite></testsuites>"""


def test_each_case_has_the_outcome_of_its_children() -> None:
    assert [(case.name, case.outcome, case.kind, case.message) for case in read_cases(REPORT)] == [
        ("test_passes[1 + 1]", Outcome.PASSED, "", ""),
        ("test_fails", Outcome.FAILED, "", "assert 1 == 2"),
        ("test_both", Outcome.FAILED, "", "first"),
        ("test_xfails", Outcome.SKIPPED, "pytest.xfail", "later"),
    ]


@pytest.mark.parametrize("report", [b"", b"ok", b"<testsuites><testcase", REPORT[:-5]])
def test_what_is_no_xml_is_refused(report: bytes) -> None:
    with pytest.raises(InvalidInputError, match="not XML"):
        read_cases(report)


def test_a_report_with_entities_is_refused() -> None:
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><testsuites><testcase name="&b;"/></testsuites>'
    with pytest.raises(InvalidInputError, match="entity"):
        read_cases(bomb)


@given(st.binary(max_size=300))
def test_any_bytes_are_rows_or_refused(data: bytes) -> None:
    try:
        rows = read_cases(data)
    except InvalidInputError:
        return
    assert isinstance(rows, tuple)
