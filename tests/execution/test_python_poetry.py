"""Poetry's constraints become PEP 440 specifiers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from execution.languages.python_poetry import requirement, specifier


@pytest.mark.parametrize(
    ("wish", "meant"),
    [
        ("^1.2.3", ">=1.2.3,<2"), ("^0.3.1", ">=0.3.1,<0.4"), ("^0.0.3", ">=0.0.3,<0.0.4"), ("^0.0", ">=0.0,<0.1"),
        ("^0", ">=0,<1"),
        ("~1.2.3", ">=1.2.3,<1.3"), ("~1.2", ">=1.2,<1.3"), ("~1", ">=1,<2"), ("~=1.2", "~=1.2"), ("*", ""), ("1.4",
        "==1.4"),
        (">=1.2, <2.0", ">=1.2,<2.0"), (">=1.2 <2.0", ">=1.2,<2.0"), ("=1.2", "==1.2"), ("^1.0 || ^2.0", ">=2.0,<3"),
        ("1.*", "==1.*"),
    ],
)  # fmt: skip
def test_constraints(wish: str, meant: str) -> None:
    assert specifier(wish) == meant


@pytest.mark.parametrize(
    ("wish", "line"),
    [
        (
            {"version": "^7.0", "extras": ["toml"], "python": "<3.11"},
            "x[toml]>=7.0,<8 ; (python_full_version < '3.11')",
        ),
        ({"version": "*", "markers": "sys_platform == 'win32'"}, "x ; (sys_platform == 'win32')"),
        ({"git": "https://example.com/x.git"}, None),
        ({"version": "*", "optional": True}, None),
        (7, None),
    ],
)
def test_tables(wish: object, line: str | None) -> None:
    assert requirement("x", wish) == line
    if line:
        Requirement(line)


@given(st.lists(st.integers(0, 99), min_size=1, max_size=4), st.sampled_from("^~"))
def test_a_range_holds_its_own_beginning_and_not_the_next_major(numbers: list[int], sign: str) -> None:
    version = ".".join(map(str, numbers))
    bound = SpecifierSet(specifier(sign + version))
    assert bound.contains(version)
    assert not bound.contains(str(numbers[0] + 1) + ".0")
