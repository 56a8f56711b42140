"""The reader of unittest's events holds to the protocol."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.observation import FailsBy, Outcome
from execution.reports.unittest_events import read
from tests.execution.reports.streams import stream

FILES = ("tests/test_box.py", "tests/test_lid.py")
SESSION: dict[str, object] = {"event": "session", "version": "3.12.1", "cwd": "/srv/case/repo"}
ONE, TWO = "tests.test_box.BoxTest.test_one", "tests.test_box.BoxTest.test_two"


def collected(*ids: str) -> dict[str, object]:
    return {"event": "collected", "items": [{"id": name, "argument": 0} for name in ids]}


def outcome(name: str, said: str, by: str = "") -> dict[str, object]:
    return {"event": "outcome", "id": name, "outcome": said, "by": by, "message": "m"}


def stopped(name: str) -> dict[str, object]:
    return {"event": "stopped", "id": name}


def end(code: int) -> dict[str, object]:
    return {"event": "end", "exit": code}


def fixture(name: str, said: str) -> dict[str, object]:
    return {"event": "fixture", "name": name, "outcome": said, "by": "error" if said == "error" else "", "message": "m"}


def test_outcomes_are_told_by_id_and_the_worst_counts() -> None:
    told = stream(
        SESSION, collected(ONE, TWO), outcome(ONE, "passed"), stopped(ONE),
        outcome(TWO, "failed", "assertion"), outcome(TWO, "error", "error"), stopped(TWO), end(1),
    )  # fmt: skip
    reading = read(told, 1, FILES, b"")
    assert reading.whole, reading.breach
    assert [(test.id, test.file, test.outcome, test.fails_by) for test in reading.tests] == [
        (ONE, FILES[0], Outcome.PASSED, None),
        (TWO, FILES[0], Outcome.ERROR, FailsBy.ERROR),
    ]


def test_a_failing_set_up_of_a_class_is_the_outcome_of_its_tests() -> None:
    told = stream(SESSION, collected(ONE, TWO), fixture("setUpClass (tests.test_box.BoxTest)", "error"), end(1))
    reading = read(told, 1, FILES, b"")
    assert reading.whole, reading.breach
    assert {test.outcome for test in reading.tests} == {Outcome.ERROR}


def test_a_failing_tear_down_of_a_class_spoils_what_passed() -> None:
    told = stream(
        SESSION, collected(ONE), outcome(ONE, "passed"), stopped(ONE),
        fixture("tearDownClass (tests.test_box.BoxTest)", "error"),
        end(1),
    )  # fmt: skip
    assert [test.outcome for test in read(told, 1, FILES, b"").tests] == [Outcome.ERROR]


def test_a_module_that_cannot_be_imported_is_a_broken_file() -> None:
    broken = {"event": "broken", "argument": 1, "message": "ModuleNotFoundError: No module named 'lid'"}
    told = stream(SESSION, broken, collected(ONE), outcome(ONE, "passed"), stopped(ONE), end(1))
    reading = read(told, 1, FILES, b"")
    assert reading.whole
    assert reading.broken_files == {"tests/test_lid.py": "ModuleNotFoundError: No module named 'lid'"}


@pytest.mark.parametrize(
    ("told", "code", "words"),
    [
        (stream(SESSION), 0, "no end"),
        (stream(SESSION, collected(ONE), end(0)), 0, "no result"),
        (stream(SESSION, collected(ONE), outcome(ONE, "passed"), stopped(ONE), end(0)), 1, "the process with 1"),
        (stream(SESSION, collected(ONE), outcome(TWO, "passed"), end(0)), 0, "not collected"),
        (
            stream(SESSION, collected(ONE), outcome(ONE, "passed"), stopped(ONE), outcome(ONE, "passed"), end(0)),
            0,
            "second",
        ),
        (
            stream(SESSION, collected(ONE), outcome(ONE, "failed", "error"), stopped(ONE), end(0)),
            0,
            "although a test failed",
        ),
        (stream(SESSION, end(1)), 1, "before it loaded"),
        (stream(SESSION, {"event": "broken", "argument": 2, "message": ""}, end(1)), 1, "not asked for"),
        (stream(SESSION, collected(ONE), outcome(ONE, "splendid"), end(0)), 0, "unknown outcome"),
    ],
)
def test_a_breach_is_named(told: bytes, code: int, words: str) -> None:
    reading = read(told, code, FILES, b"")
    assert not reading.whole
    assert words in reading.breach


@given(st.binary(max_size=200))
def test_noise_is_never_an_exception(noise: bytes) -> None:
    assert not read(stream(SESSION) + noise, 0, FILES, noise).whole
