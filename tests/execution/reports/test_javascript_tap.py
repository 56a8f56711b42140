"""What ava, tape and node-tap mean by their TAP, from lines as they write them."""

from __future__ import annotations

import pytest

from execution.observation import FailsBy
from execution.reports import ava, node_tap, tape
from execution.reports.by_file import FileReading, Section


def _section(*lines: str) -> Section:
    return Section(path="a.js", content="\n".join(("TAP version 13", *lines)).encode(), exit_code=1)


def _outcomes(reading: FileReading) -> dict[str, str]:
    return {row.id.removeprefix("a.js::"): row.outcome.value for row in reading.rows}


def test_what_ava_reports_beside_its_tests_is_no_test() -> None:
    reading = ava.read_section(
        _section(
            "ok 1 - a",
            "not ok 2 - b",
            "not ok 3 - unhandled-rejection",
            "  ---",
            "    message: lost",
            "  ...",
            "not ok 4 - a.js exited with a non-zero exit code: 1",
            "1..2",
        )
    )
    assert _outcomes(reading) == {"a": "passed", "b": "failed"}
    assert reading.broken == "lost"


def test_a_surplus_of_ava_s_that_has_no_known_words() -> None:
    reading = ava.read_section(_section("ok 1 - a", "not ok 2 - b", "not ok 3 - something new", "1..2"))
    assert _outcomes(reading) == {"a": "passed"}
    assert reading.broken == "b"


@pytest.mark.parametrize(
    ("lines", "broken"),
    [
        (("ok 1 - a", "1..3"), "2 of its tests did not end"),
        (("ok 1 - a",), "no plan"),
        (("ok 1 - a", "ok 1 - a", "1..2"), "result 1 stands where 2 is due"),
    ],
)
def test_what_breaks_a_file_of_ava(lines: tuple[str, ...], broken: str) -> None:
    assert broken in ava.read_section(_section(*lines)).broken


def test_no_report_breaks_a_file() -> None:
    empty = Section(path="a.js", content=b"\n", exit_code=1)
    assert ava.read_section(empty).broken
    assert tape.read_section(empty).broken


def test_a_test_of_tape_is_what_stands_below_its_name() -> None:
    reading = tape.read_section(
        _section(
            "ok 1 bare",
            "# one",
            "ok 2 same",
            "not ok 3 same",
            "  ---",
            "    operator: equal",
            "  ...",
            "# two",
            "ok 4 x # SKIP",
            "ok 5 y",
            "# all skipped",
            "ok 6 x # SKIP",
            "# TODO later",
            "not ok 7 z # TODO",
            "# SKIP gone",
            "# empty",
            "",
            "1..7",
            "# tests 7",
            "# pass  5",
        )
    )
    assert _outcomes(reading) == {
        "bare": "passed",
        "one": "failed",
        "two": "passed",
        "all skipped": "skipped",
        "later": "todo",
        "gone": "skipped",
    }
    assert not reading.broken
    (failed,) = (row for row in reading.rows if row.fails_by)
    assert (failed.fails_by, failed.message) == (FailsBy.ASSERTION, "same")


_TAP = """TAP version 14
1..3
# Subtest: test/a.js
    # Subtest: group
        # Subtest: inner
            ok 1 - an assertion
            1..1
        ok 1 - inner # time=1ms
        1..1
    ok 1 - group # time=2ms
    1..1
ok 1 - test/a.js # time=3ms
# Subtest: test/b.js
    1..0 # no tests found
not ok 2 - test/b.js # time=3ms
  ---
  exitCode: 1
  ...
# Subtest: test/c.js
    # Subtest: hangs
        not ok 1 - timeout!
          ---
          expired: TAP
          ...
        1..1
    not ok 1 - hangs # time=30ms
    1..1
not ok 3 - test/c.js # time=3ms
"""


def test_files_of_tap_are_sub_tests_by_their_path() -> None:
    files = ("packages/x/test/a.js", "packages/x/test/b.js", "packages/x/test/c.js")
    reading = node_tap.read(_TAP.encode(), 1, files)
    assert reading.whole, reading.breach
    assert [(test.id, test.outcome.value, test.fails_by) for test in reading.tests] == [
        ("packages/x/test/a.js::group > inner", "passed", None),
        ("packages/x/test/a.js::group", "passed", None),
        ("packages/x/test/c.js::hangs", "failed", FailsBy.TIMEOUT),
    ]
    assert list(reading.broken_files) == ["packages/x/test/b.js"]


def test_a_failure_of_tap_s_beside_the_graded_files_is_a_breach() -> None:
    assert "test/c.js" in node_tap.read(_TAP.encode(), 1, ("test/a.js", "test/b.js")).breach


def test_an_exit_code_that_hides_failures_of_tap_s_is_a_breach() -> None:
    assert "exit code is 0" in node_tap.read(_TAP.encode(), 0, ()).breach
    assert node_tap.read(b"", 1, ()).breach == "tap left no report"
