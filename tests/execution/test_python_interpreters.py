"""The choice of an interpreter is a rule over versions and a date; what is on the machine is asked for real."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from execution.languages.base import Refusal
from execution.languages.python_interpreters import Wishes, choose, installed, passed_over
from execution.recipe import Runtime


def runtimes(*versions: str) -> tuple[Runtime, ...]:
    return tuple(
        Runtime(
            name="python",
            version=version,
            executable=Path(f"/opt/{version}/bin/python3"),
            prefix=Path(f"/opt/{version}"),
        )
        for version in versions
    )


HERE = runtimes("3.13.0", "3.12.1", "3.11.7", "3.11.2", "3.10.13", "3.9.18", "3.8.18")


def chosen(wishes: Wishes, year: int, here: tuple[Runtime, ...] = HERE) -> str:
    answer = choose(here, wishes, int(datetime(year, 8, 20, tzinfo=UTC).timestamp()))
    assert not isinstance(answer, Refusal), answer
    return answer[0].version


@pytest.mark.parametrize(
    ("wishes", "year", "version"),
    [
        (Wishes(), 2026, "3.12.1"),  # 3.13.0 has had no fixes
        (Wishes(requires=">=3.13"), 2026, "3.13.0"),
        (Wishes(), 2023, "3.11.7"),  # 3.11 came out ten months before
        (Wishes(), 2015, "3.8.18"),  # nothing here is as old
        (Wishes(requires=">=3.7,<3.9"), 2026, "3.8.18"),
        (Wishes(classified=frozenset({(3, 9), (3, 10)})), 2026, "3.10.13"),
        (Wishes(classified=frozenset({(3, 3)})), 2026, "3.12.1"),
        (Wishes(pinned=("3.11",)), 2026, "3.11.7"),
        (Wishes(pinned=("3.11.2",)), 2026, "3.11.2"),
        (Wishes(pinned=("3.14", "cpython-3.9")), 2026, "3.9.18"),
        (Wishes(pinned=("3.8",), requires=">=3.10"), 2026, "3.12.1"),
        (Wishes(asked="3.9"), 2026, "3.9.18"),
        (Wishes(requires="not a specifier"), 2026, "3.12.1"),
    ],
)
def test_the_rule(wishes: Wishes, year: int, version: str) -> None:
    assert chosen(wishes, year) == version


def test_a_version_of_this_month_is_not_taken() -> None:
    november = int(datetime(2022, 11, 20, tzinfo=UTC).timestamp())
    answer = choose(HERE, Wishes(), november)
    assert not isinstance(answer, Refusal)
    assert answer[0].version == "3.10.13"


@pytest.mark.parametrize("wishes", [Wishes(requires="==3.4.*"), Wishes(asked="3.4"), Wishes(asked="3.1")])
def test_what_is_not_here_is_refused_with_what_is(wishes: Wishes) -> None:
    answer = choose(HERE, wishes, 0)
    assert isinstance(answer, Refusal)
    assert answer.code == "runtime-unavailable"
    assert "3.12.1" in answer.detail


def test_an_interpreter_newer_than_our_table_is_taken_only_when_nothing_else_fits() -> None:
    assert chosen(Wishes(), 2030, runtimes("3.99.3", "3.12.1")) == "3.12.1"
    assert chosen(Wishes(requires=">=3.99"), 2030, runtimes("3.99.3", "3.12.1")) == "3.99.3"


def test_the_interpreters_of_this_machine_are_whole_and_exact() -> None:
    found = installed()
    assert any(runtime.version.startswith(f"3.{sys.version_info.minor}.") for runtime in found)
    assert len({runtime.version for runtime in found}) == len(found)
    for runtime in found:
        assert runtime.executable.is_relative_to(runtime.prefix)
    newest = found[0]
    said = subprocess.run((str(newest.executable), "--version"), capture_output=True, check=True).stdout.decode()
    assert said.strip() == f"Python {newest.version}"


def test_what_ci_tests_on_bounds_the_choice_and_what_was_passed_over_is_told() -> None:
    wishes = Wishes(
        requires=">=3.8,<3.13",
        classified=frozenset({(3, 9), (3, 10), (3, 11)}),
        tested={(3, 9): "ci.yml", (3, 10): "ci.yml"},
    )
    date = int(datetime(2025, 1, 1, tzinfo=UTC).timestamp())
    answer = choose(HERE, wishes, date)
    assert not isinstance(answer, Refusal)
    assert answer[0].version == "3.10.13"
    assert "requires-python >=3.8,<3.13, the classifiers (3.9 to 3.11) and what CI tests on (3.9 to 3.10)" in answer[1]
    assert passed_over(HERE, wishes, date, answer[0]) == (
        "Python 3.13.0: requires-python is >=3.8,<3.13",
        "Python 3.12.1: the project doesn't name it",
        "Python 3.11.7: CI doesn't test on it",
    )


def test_ci_that_tests_on_nothing_that_is_here_bounds_nothing() -> None:
    assert chosen(Wishes(tested={(3, 4): ".travis.yml"}), 2023) == "3.11.7"
