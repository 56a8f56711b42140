"""Version ranges of npm."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.languages.javascript_range import Version, in_range


@pytest.mark.parametrize(
    ("wanted", "inside", "outside"),
    [
        (">=14", ["14.0.0", "20.1.2"], ["13.9.9"]),
        (">= 14 < 17", ["16.20.2"], ["17.0.0", "13.0.0"]),
        (
            "^12.20.0 || ^14.13.1 || >=16.0.0",
            ["12.22.1", "14.21.3", "16.0.0", "18.1.0"],
            ["13.1.0", "14.1.0", "15.9.9"],
        ),
        ("^0.2.3", ["0.2.9"], ["0.3.0", "1.0.0"]),
        ("~18.2", ["18.2.9"], ["18.3.0"]),
        ("18.x", ["18.0.0", "18.20.8"], ["19.0.0"]),
        ("20", ["20.5.1"], ["21.0.0"]),
        ("10 - 12", ["10.0.0", "12.22.12"], ["13.0.0", "9.9.9"]),
        (">16", ["17.0.0"], ["16.20.2"]),
        ("<=16", ["16.20.2"], ["17.0.0"]),
        ("v16.13.1", ["16.13.1"], ["16.13.2"]),
        ("*", ["0.10.0"], []),
        (">=18.0.0-beta.1", ["18.0.0"], ["17.0.0"]),
        # What is no range leaves nothing out.
        ("node of course", ["1.0.0"], []),
        ("", ["1.0.0"], []),
    ],
)
def test_ranges(wanted: str, inside: list[str], outside: list[str]) -> None:
    assert [text for text in inside if not in_range(_version(text), wanted)] == []
    assert [text for text in outside if in_range(_version(text), wanted)] == []


def _version(text: str) -> Version:
    major, minor, patch = map(int, text.split("."))
    return (major, minor, patch)


_versions = st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))


@given(_versions, _versions)
def test_bounds_are_ordered_as_versions_are(version: Version, bound: Version) -> None:
    text = ".".join(map(str, bound))
    assert in_range(version, f">={text}") is (version >= bound)
    assert in_range(version, f"<{text}") is (version < bound)
    assert in_range(bound, f"^{text}")
    assert in_range(bound, f"~{text}")
    assert in_range(version, f">={text} || <{text}")


@given(_versions, st.text(max_size=40))
def test_no_text_is_an_error(version: Version, text: str) -> None:
    assert in_range(version, text) in {True, False}
