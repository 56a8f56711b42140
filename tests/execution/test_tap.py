"""TAP: directives, escapes, sub-tests, plans."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.observation import Outcome
from execution.reports import tap


def _outcomes(*lines: str, files: tuple[str, ...] = ()) -> dict[str, str]:
    reading = tap.read("\n".join(lines).encode(), None, files)
    return {test.id: test.outcome.value for test in reading.tests}


def test_results_by_name() -> None:
    assert _outcomes("TAP version 13", "ok 1 - a", "not ok 2 - b", "ok 3", "ok - c", "1..4") == {
        "a": "passed",
        "b": "failed",
        "": "passed",
        "c": "passed",
    }


@pytest.mark.parametrize(
    ("line", "name", "outcome"),
    [
        ("ok 1 - a # SKIP why", "a", Outcome.SKIPPED),
        ("not ok 1 - a # TODO later", "a", Outcome.TODO),
        ("ok 1 - a # skipped: why", "a", Outcome.SKIPPED),
        ("not ok 1 - a \\# SKIP not really", "a # SKIP not really", Outcome.FAILED),
        ("not ok 1 - code.html#line12 skip", "code.html#line12 skip", Outcome.FAILED),
        ("ok 1 - back\\\\slash", "back\\slash", Outcome.PASSED),
        ("ok 1 - a # time=3.25ms", "a", Outcome.PASSED),
        ("not ok 1 - a # todoing", "a # todoing", Outcome.FAILED),
    ],
)
def test_a_directive_stands_after_a_hash_that_nothing_escapes(line: str, name: str, outcome: Outcome) -> None:
    (result,) = tap.read(f"{line}\n1..1\n".encode(), None, ()).tests
    assert (result.id, result.outcome) == (name, outcome)


def test_sub_tests_carry_the_names_around_them() -> None:
    lines = ["# Subtest: group", "    # Subtest: deep", "        ok 1 - x", "        1..1", "    ok 1 - deep"]
    lines += [
        "    not ok 2 - y",
        "      ---",
        "      message: 'ok 9 - z'",
        "      ...",
        "    1..2",
        "not ok 1 - group",
        "1..1",
    ]
    assert _outcomes(*lines, files=("a.test.js",)) == {
        "a.test.js > group > deep > x": "passed",
        "a.test.js > group > deep": "passed",
        "a.test.js > group > y": "failed",
        "a.test.js > group": "failed",
    }


def test_equal_names_are_counted() -> None:
    assert _outcomes("ok 1 - same", "not ok 2 - same", "1..2") == {"same": "passed", "same #2": "failed"}


def test_lines_of_a_diagnostic_block_are_no_results() -> None:
    assert _outcomes("not ok 1 - a", "  ---", "  ok 2 - b", "  ...", "1..1") == {"a": "failed"}


@pytest.mark.parametrize(
    ("text", "exit_code", "breach"),
    [
        ("", 0, "no report"),
        ("ok 1 - a\n", 0, "no plan"),
        ("ok 1 - a\n1..2\n", 0, "plans 2 tests and holds 1"),
        ("1..1\nok 1 - a\nok 2 - b\n", 0, "plans 1 tests and holds 2"),
        ("not ok 1 - a\n1..1\n", 0, "the exit code is 0"),
        ("ok 1 - a\nBail out! no database\n1..1\n", 1, "no database"),
        ("    ok 1 - a\n    1..2\nok 1 - g\n1..1\n", 0, "planned were 2"),
    ],
)
def test_what_is_no_whole_report(text: str, exit_code: int, breach: str) -> None:
    reading = tap.read(text.encode(), exit_code, ())
    assert not reading.whole
    assert breach in reading.breach


def test_a_whole_report() -> None:
    reading = tap.read(b"TAP version 14\r\n1..1\r\nok 1 - a\r\n", 0, ("a.t",))
    assert reading.whole, reading.breach
    assert reading.summary == "1 passed"


@given(
    st.lists(st.tuples(st.booleans(), st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=10)))
)
def test_escaped_names_come_back(rows: list[tuple[bool, str]]) -> None:
    lines = []
    for passed, name in rows:
        escaped = name.replace("\\", "\\\\").replace("#", "\\#")
        lines.append(f"{'ok' if passed else 'not ok'} - {escaped}")
    reading = tap.read("\n".join([*lines, f"1..{len(rows)}"]).encode(), None, ())
    assert reading.whole, reading.breach
    assert [test.outcome is Outcome.PASSED for test in reading.tests] == [passed for passed, _ in rows]
    seen = [test.id for test in reading.tests]
    assert len(set(seen)) == len(seen)
    assert all(test.id.startswith(name.strip()) for test, (_, name) in zip(reading.tests, rows, strict=True))


@given(st.text(alphabet="ok not1.-# \\skiptodo\n:'{}", max_size=80))
def test_any_text_is_read_or_a_breach(text: str) -> None:
    reading = tap.read(text.encode(), 0, ())
    assert reading.whole or reading.breach
