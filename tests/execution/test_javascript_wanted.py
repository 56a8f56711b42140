"""Which lines of node a tree asks for, and in which order."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from execution.languages.javascript_releases import LINES, in_use, line_of, npm_for, settled_line
from execution.languages.javascript_wanted import allows, wanted_lines
from tests.support.memory_tree import MemoryTree


def _seconds(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp())


def _lines(files: dict[str, str], day: str = "2022-06-01", folders: tuple[str, ...] = (".",)) -> list[int]:
    return [wanted.line.major for wanted in wanted_lines(MemoryTree(files), folders, _seconds(day))]


def _engines(text: str) -> dict[str, str]:
    return {"package.json": json.dumps({"engines": {"node": text}})}


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({".nvmrc": "v14.17.0\n"}, 14),
        ({".nvmrc": "18"}, 18),
        ({".nvmrc": "lts/fermium"}, 14),
        ({".nvmrc": "lts/*"}, 16),
        ({".node-version": "12.22.1"}, 12),
        ({".tool-versions": "python 3.9\nnodejs 14.18.0\n"}, 14),
        ({"package.json": json.dumps({"volta": {"node": "12.4.0"}})}, 12),
        ({"package.json": json.dumps({"devEngines": {"runtime": {"name": "node", "version": "^18.1"}}})}, 18),
        ({".devcontainer/devcontainer.json": '{"image": "mcr.example/javascript-node:0-14"}'}, 14),
        ({".nvmrc": "something else"}, 16),
        ({}, 16),
    ],
)
def test_what_files_pin(files: dict[str, str], line: int) -> None:
    assert _lines(files)[0] == line


_MATRIX = """\
jobs:
  test:
    strategy:
      matrix:
        node-version: {}
    steps:
      - run: npm test
"""


@pytest.mark.parametrize(
    ("versions", "day", "lines"),
    [
        ("[12, 14, 16, 17]", "2022-06-01", [16, 14, 12, 17]),
        ("[12.x, 14.x, 16.x]", "2020-12-01", [14, 12]),
        ("\n          - 10\n          - '12'  # not 14\n", "2021-06-01", [12, 10, 14]),
        ("['lts/*']", "2022-06-01", [16]),
        ("${{ matrix.node }}", "2022-06-01", [16]),
    ],
)
def test_what_ci_tests_with(versions: str, day: str, lines: list[int]) -> None:
    found = _lines({".github/workflows/ci.yml": _MATRIX.format(versions)}, day)
    assert found[: len(lines)] == lines


def test_a_workflow_that_tests_nothing_is_not_asked() -> None:
    publishing = "jobs:\n  publish:\n    steps:\n      - with:\n          node-version: 12\n      - run: npm publish\n"
    assert _lines({".github/workflows/publish.yml": publishing}) == [16]


def test_travis_is_asked() -> None:
    assert _lines({".travis.yml": 'language: node_js\nnode_js:\n  - "14"\n  - "12"\n'}, "2020-12-01") == [14, 12]


def test_engines_leave_lines_out() -> None:
    assert _lines(_engines("^12 || ^14"))[0] == 14
    assert _lines(_engines(">=18"), "2022-02-01")[0] == 18
    assert 16 not in _lines(_engines(">=10 <13"))
    files = _engines(">=14") | {".github/workflows/ci.yml": _MATRIX.format("[10, 12, 14]")}
    assert _lines(files)[0] == 14


def test_a_nearer_file_goes_before_the_root_s() -> None:
    files = {"packages/a/.nvmrc": "14", ".nvmrc": "18"}
    assert _lines(files, folders=("packages/a", "packages", "."))[:2] == [14, 18]


def test_engines_of_every_folder_hold() -> None:
    files = _engines(">=12") | {"a/package.json": json.dumps({"engines": {"node": "<16"}})}
    assert allows(MemoryTree(files), ("a", "."), (14, 0, 0))
    assert not allows(MemoryTree(files), ("a", "."), (16, 0, 0))


def test_the_table_is_in_order_and_whole() -> None:
    assert [line.major for line in LINES] == sorted(line.major for line in LINES)
    for line in LINES:
        assert line.newest.startswith(f"{line.major}.")
        assert line.released < line.ended
        assert (line.settled is None) is (line.major % 2 == 1)
    assert settled_line(0).major == LINES[0].major
    assert [settled_line(_seconds(f"{year}-12-01")).major for year in (2020, 2022, 2024, 2026)] == [14, 18, 22, 26]
    node_20 = line_of(20)
    assert node_20 is not None
    assert in_use(node_20, _seconds("2024-01-01"))
    assert not in_use(node_20, _seconds("2026-06-01"))
    assert (npm_for("14.21.3"), npm_for("99.0.0")) == ("6.14.18", LINES[-1].npm)


@pytest.mark.parametrize(
    ("major", "day", "release"),
    [
        (20, "2025-03-04", "20.18.1"),
        (20, "2020-01-01", "20.3.1"),
        (20, "2030-01-01", "20.20.2"),
        (19, "2023-02-01", "19.8.1"),
    ],
)
def test_a_line_has_the_release_of_its_day(major: int, day: str, release: str) -> None:
    line = line_of(major)
    assert line is not None
    assert line.release_at(_seconds(day)) == release
    assert [since for since, _ in line.stands] == sorted(since for since, _ in line.stands)


def test_a_whole_version_that_a_file_names_is_kept() -> None:
    found = wanted_lines(MemoryTree({".tool-versions": "nodejs 20.14.0\n"}), (".",), _seconds("2024-06-01"))
    assert (found[0].line.major, found[0].exact) == (20, "20.14.0")
    assert wanted_lines(MemoryTree({".nvmrc": "20"}), (".",), _seconds("2024-06-01"))[0].exact == ""
