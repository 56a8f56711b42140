"""The date that pins the index, and the tools and republished distributions that get another one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from execution.languages.python_resolution import date_options
from execution.recipe import Recipe, Runtime


def dates(version: str, year: int, month: int, day: int) -> dict[str, str]:
    """Return the option's date for the index (under ``""``) and for each distribution that has its own."""
    runtime = Runtime(name="python", version=version, executable=Path("/opt/bin/python3"), prefix=Path("/opt"))
    moment = int(datetime(year, month, day, 12, tzinfo=UTC).timestamp())
    words = date_options(Recipe(language="python", runtime=runtime, runner="pytest", date=moment))
    assert words[0] == "--exclude-newer"
    found = {"": words[1]}
    for option, word in zip(words[2::2], words[3::2], strict=True):
        assert option == "--exclude-newer-package"
        name, _, date = word.partition("=")
        found[name] = date
    return found


def test_a_recent_date_holds_for_everything() -> None:
    assert dates("3.12.1", 2026, 3, 1) == {"": "2026-03-01T12:00:00Z"}


@pytest.mark.parametrize(
    ("version", "tools"),
    [("3.8.18", "2022-10-01T00:00:00Z"), ("3.12.1", "2023-11-16T00:00:00Z")],
)
def test_build_tools_of_an_old_date_are_those_that_can_install_in_place(version: str, tools: str) -> None:
    found = dates(version, 2020, 5, 1)
    assert found[""] == "2020-05-01T12:00:00Z"
    assert (found["setuptools"], found["wheel"], found["pip"]) == (tools, tools, tools)
    assert "pytest" not in found
    assert "importlib-metadata" not in found


def test_python_3_7_gets_the_metadata_library_that_a_new_setuptools_takes() -> None:
    assert dates("3.7.16", 2019, 8, 20)["importlib-metadata"] == "2022-10-01T00:00:00Z"


def test_what_was_published_anew_is_there_at_every_date() -> None:
    assert dates("3.7.16", 2019, 8, 20)["atomicwrites"] == "2022-07-09T00:00:00Z"
    assert "atomicwrites" not in dates("3.12.1", 2023, 1, 1)
