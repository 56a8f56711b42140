"""TAP as a tree: sub-tests before and in braces, blocks, and lines that only look like results."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.reports.tap_document import Level, Point, parse


def _level(*lines: str) -> Level:
    return parse("\n".join(lines).encode())


def test_a_sub_test_stands_before_the_line_of_its_test() -> None:
    level = _level("# Subtest: a", "    ok 1 - b", "    1..1", "not ok 1 - a # time=1.5ms", "1..1")
    (point,) = level.points
    assert (point.ok, point.name) == (False, "a")
    assert point.inner is not None
    assert [inner.name for inner in point.inner.points] == ["b"]
    assert not level.incomplete()


def test_a_sub_test_in_braces_stands_behind_it() -> None:
    level = _level("ok 1 - a # time=2ms {", "    ok 1 - b", "    1..1", "}", "ok 2 - c", "1..2")
    first, second = level.points
    assert first.name == "a"
    assert first.inner is not None
    assert first.inner.plan == 1
    assert second.inner is None


def test_a_block_belongs_to_the_result_before_it() -> None:
    level = _level("not ok 1 - a", "  ---", "  message: ok 2 - no result", "ok 2 - nor this", "  ...", "1..1")
    assert level.points[0].diagnostic == ["  message: ok 2 - no result", "ok 2 - nor this"]
    assert not level.incomplete()


@pytest.mark.parametrize(
    ("description", "name", "directive"),
    [
        ("a # SKIP why", "a", "skip"),
        ("a # TODO", "a", "todo"),
        ("a # time=3ms # SKIP", "a", "skip"),
        ("number #1", "number #1", ""),
        ("C\\# and \\\\", "C# and \\", ""),
        ("a # skipping", "a", "skip"),
        ("todo # nothing", "todo # nothing", ""),
    ],
)
def test_a_description_has_a_name_and_may_have_a_directive(description: str, name: str, directive: str) -> None:
    (point,) = _level(f"ok 1 - {description}", "1..1").points
    assert (point.name, point.directive) == (name, directive)


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (("ok 1 - a", "ok 1 - forged", "1..2"), "result 1 stands where 2 is due"),
        (("ok 2 - forged", "ok 1 - a", "1..2"), "result 2 stands where 1 is due"),
        (("ok 1 - a",), "no plan"),
        (("ok 1 - a", "1..2"), "plans 2 tests and holds 1"),
        (("ok 1 - a", "1..1", "1..1"), "two plans"),
        (("ok 1 - a", "Bail out! gone", "1..1"), "bailed out: gone"),
    ],
)
def test_what_is_not_whole(lines: tuple[str, ...], fault: str) -> None:
    assert fault in _level(*lines).incomplete()


def test_a_comment_makes_no_sub_test() -> None:
    (point,) = _level("    # only printed", "ok 1 - a", "1..1").points
    assert point.inner is None


_LINES = st.lists(
    st.sampled_from(
        ["ok 1 - a", "not ok 2 - b", "ok 1 - c {", "}", "1..1", "1..2", "---", "...", "# x", "text", "Bail out!"]
    ).flatmap(lambda line: st.sampled_from(["", "  ", "    ", "        "]).map(lambda indent: indent + line))
)


@given(_LINES)
def test_any_lines_make_a_tree(lines: list[str]) -> None:
    def count(level: Level) -> int:
        return sum(1 + (count(point.inner) if point.inner else 0) for point in level.points)

    assert count(_level(*lines)) <= len(lines)


@given(st.binary(max_size=200))
def test_any_bytes_make_a_tree(report: bytes) -> None:
    assert all(isinstance(item, Point | str) for item in parse(report).items)
