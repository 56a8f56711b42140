"""Counts, and the numbers that prose states."""

from __future__ import annotations

import pytest

from library.counting import count_cases, filled, limits, wrong_claims
from tests.support.cases import plain_case


def three() -> list[dict[str, object]]:
    auto: dict[str, object] = {"state": "auto", "by": None, "date": None, "task_digest": None, "waivers": []}
    return [
        plain_case(id="a", repository_id="x/one", category="backend"),
        plain_case(id="b", repository_id="x/two", category="backend", language="go"),
        plain_case(id="c", repository_id="x/one", category="release", review=auto),
    ]


def test_counts_are_rows_by_name() -> None:
    assert count_cases(three()) == {
        "cases": 3,
        "repositories": [{"name": "x/one", "cases": 2}, {"name": "x/two", "cases": 1}],
        "languages": [{"name": "go", "cases": 1}, {"name": "python", "cases": 2}],
        "categories": [{"name": "backend", "cases": 2}, {"name": "release", "cases": 1}],
        "review": {"verified": 2, "auto": 1},
        "modes": {"per_test": 3, "exit_code": 0},
    }


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("3 cases, 2 repositories, two languages and two categories", 0),
        ("Three open cases from 2 public repositories.", 0),
        ("4 cases", 1),
        ("Six cases from three repositories, in 2 languages", 2),
        ("1,000 cases", 1),
        ("12 verified\ncases", 1),
        ("two of the cases are hard", 0),
        ("Version 12. Cases are hard.", 0),
        ("3.11 cases", 0),
        ("a case of 7 files", 0),
        ("{cases} cases in {languages} languages, {categories} categories, {repositories} repos", 0),
    ],
)
def test_numbers_in_prose_must_agree(text: str, wrong: int) -> None:
    counts = count_cases(three())
    assert len(wrong_claims(filled(text, counts), counts)) == wrong


def test_a_wrong_number_is_told_with_the_right_one() -> None:
    assert wrong_claims("Now 4 cases.", count_cases(three())) == ("says '4 cases', but there are 3; use {cases}",)


def test_limits_begin_with_owners_and_end_with_the_author_s_own() -> None:
    stated = limits(("A", "B"), count_cases(three()), ("Only {languages} languages.",))
    assert stated[0] == "The graded work belongs to the owners of x/one, x/two; the library is published by A, B."
    assert stated[-1] == "Only 2 languages."
    assert [
        word for word in ("Contamination", "clone", "graded tests") if not any(word in line for line in stated)
    ] == []
