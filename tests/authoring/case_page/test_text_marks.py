"""Marks stand where the findings are, also where these overlap."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from authoring.case_page.text_marks import Numbered, marked_text
from authoring.lint import Code, Finding, Severity
from tests.support.browser import Element, elements

TEXT = "alpha <beta> gamma & delta\nepsilon"


def finding(
    start: int, end: int, field: str = "task", severity: Severity = Severity.ERROR, waived: str = ""
) -> Finding:
    return Finding(
        code=Code.LINK,
        severity=severity,
        field=field,
        start=start,
        end=end,
        text=TEXT[start:end],
        message="m",
        suggestion="s",
        waived=waived,
    )


def marked(*findings: Finding) -> list[Element]:
    numbered = [Numbered(number=number, finding=each) for number, each in enumerate(findings, 1)]
    return elements(f"<div>{marked_text(TEXT, 'task', numbered)}</div>")


def text_of(found: list[Element], number: int) -> str:
    return "".join(
        element.text
        for element in found
        if element.name == "mark" and str(number) in element.attributes["data-findings"].split()
    )


@given(st.lists(st.tuples(st.integers(0, len(TEXT)), st.integers(0, len(TEXT))), max_size=6))
def test_each_finding_is_marked_by_its_own_text(spans: list[tuple[int, int]]) -> None:
    findings = [finding(min(span), max(span)) for span in spans]
    found = marked(*findings)
    for number, each in enumerate(findings, 1):
        assert text_of(found, number) == each.text
        references = [element for element in found if element.attributes.get("id") == f"mark-{number}"]
        assert len(references) == (1 if each.text else 0)
    without_numbers = found[0].text
    for reference in (element for element in found if element.name == "a"):
        without_numbers = without_numbers.replace(reference.text, "", 1)
    assert without_numbers == TEXT


def test_findings_of_another_field_and_of_what_is_missing_mark_nothing() -> None:
    assert [element.name for element in marked(finding(0, 5, field="hints"), finding(3, 3))] == ["div"]


def test_the_worst_of_what_overlaps_gives_the_colour() -> None:
    found = marked(
        finding(0, 12, severity=Severity.WARNING), finding(6, 12), finding(19, 26, waived="it is the subject")
    )
    assert [element.attributes["class"] for element in found if element.name == "mark"] == [
        "warning",
        "error",
        "waived",
    ]
