"""What keeps a task text from being published."""

from __future__ import annotations

import pytest

from authoring.case import Waiver
from authoring.lint import Code, Severity, blocking, lint
from tests.support.cases import HEAD, as_case, plain_case


def test_a_good_case_has_no_findings() -> None:
    assert lint(as_case(plain_case())) == ()


@pytest.mark.parametrize(
    ("task", "code", "text"),
    [
        ("", Code.EMPTY, ""),
        ("...\n", Code.EMPTY, "...\n"),
        ("Fix it.\n", Code.TOO_SHORT, "Fix it.\n"),
        (f"Do what {HEAD[:10]} did, no more.\n", Code.COMMIT_ID, HEAD[:10]),
        ("Broken since 1a2b3c4 came in.\n", Code.COMMIT_ID, "1a2b3c4"),
        ("It is as https://example.org/issues/1 says.\n", Code.LINK, "https://example.org/issues/1"),
        ("A word is hid\u200bden in this.\n", Code.CONTROL_CHARACTER, "\u200b"),
        ("Text that is turned \u202e around.\n", Code.CONTROL_CHARACTER, "\u202e"),
    ],
)
def test_a_finding_names_the_text_and_its_place(task: str, code: Code, text: str) -> None:
    (found,) = lint(as_case(plain_case(task=task)))
    assert (found.code, found.text, found.severity) == (code, text, Severity.ERROR)
    assert task[found.start : found.end] == text
    assert blocking((found,)) == (found,)


@pytest.mark.parametrize("word", ["deadbeef", "1234567", "0x1a2b3c4d", "defaced", "abc1234-x", "tests/1a2b3c4"])
def test_words_and_numbers_are_no_commits(word: str) -> None:
    assert lint(as_case(plain_case(task=f"The value {word} must be kept.\n"))) == ()


def test_hints_are_read_too() -> None:
    (found,) = lint(as_case(plain_case(hints="See https://example.org/x")))
    assert (found.code, found.field) == (Code.LINK, "hints")


def test_no_category_is_a_warning() -> None:
    (found,) = lint(as_case(plain_case(category="uncategorised")))
    assert (found.code, found.severity) == (Code.NO_CATEGORY, Severity.WARNING)
    assert blocking((found,)) == ()


def test_a_waiver_holds_for_its_text_alone() -> None:
    waiver = {"code": "link", "text": "https://example.org/a", "reason": "A public standard."}
    plain = plain_case(task="It follows https://example.org/a to the letter.\n")
    plain["review"]["waivers"] = [waiver]
    (found,) = lint(as_case(plain))
    assert found.waived == "A public standard."
    assert blocking((found,)) == ()
    plain["task"] = "It follows https://example.org/b to the letter.\n"
    (found,) = lint(as_case(plain))
    assert found.waived == ""
    assert as_case(plain).review.waivers == (Waiver(**waiver),)
