"""Settings of tox."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.languages.python_tox import factors_hold, lines_for_tests, referred


@pytest.mark.parametrize(
    ("factors", "holds"),
    [
        ("tests", True),
        ("py{38,39,310}-tests", True),
        ("py3{9-14}", True),
        ("apicheck,pypy3.11,3.10,3.11,3.12", True),
        ("apicheck,3.10-linux,3.11-linux", True),
        ("py36", False),
        ("py27,py36", False),
        ("!py27", True),
        ("!tests", False),
        ("docs", False),
        ("flake8,mypy", False),
        ("py38-django32, py39-django32", False),
    ],
)
def test_which_factors_a_run_of_tests_has(factors: str, holds: bool) -> None:
    assert factors_hold(factors) is holds


def test_lines_for_some_factors() -> None:
    lines = ("tests: pytest", "mypy: mypy", "-r{toxinidir}/requirements/dev.txt", "box @ https://example.org/x.zip",
             "{posargs}", "py27: mock")  # fmt: skip
    assert lines_for_tests(lines) == ("pytest", "-rrequirements/dev.txt", "box @ https://example.org/x.zip")


def test_a_reference_to_itself_ends() -> None:
    assert "pytest" in referred({"a": {"deps": "pytest {[a]deps}"}}, "{[a]deps}")


@given(st.text(max_size=40))
def test_any_text_is_read(text: str) -> None:
    assert factors_hold(text) in {True, False}
    assert all("{" not in line for line in lines_for_tests((text,)))
