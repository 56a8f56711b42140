"""The check command: what is recorded, what is observed, and that they are the same run."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.languages.javascript_check import build_check, relative
from execution.recipe import Recipe, Runtime


def _recipe(runner: str, directory: str = ".", **settings: str) -> Recipe:
    node = Runtime(name="node", version="20.20.2", executable=Path("/usr/bin/node"), prefix=Path("/usr"))
    return Recipe(
        language="javascript",
        runtime=node,
        runner=runner,
        date=0,
        directory=directory,
        settings=tuple({"install_directory": ".", **settings}.items()),
    )


def test_vitest_runs_the_named_files_and_leaves_json_beside_the_clone() -> None:
    check = build_check(_recipe("vitest"), ("test/a.test.ts",))
    assert check.command == "node_modules/.bin/vitest run --reporter=json --outputFile=../report.json test/a.test.ts"
    assert check.report_file == "../report.json"


@pytest.mark.parametrize("runner", ["vitest", "jest", "node:test"])
def test_the_observed_run_differs_in_the_report_alone(runner: str) -> None:
    check = build_check(_recipe(runner), ("test/a.test.ts", "test/it's.test.ts"))
    shell, flag, script = check.observed
    assert (shell, flag) == ("sh", "-c")
    assert script.replace("/dev/fd/3", check.report_file) == check.command


def test_jest_judges_tests_and_nothing_else() -> None:
    command = build_check(
        _recipe("jest", variables="NODE_ENV=test", node_options="--expose-gc"), ("a.test.js",)
    ).command
    words = shlex.split(command)
    assert words[:2] == ["NODE_ENV=test", "NODE_OPTIONS=--expose-gc"]
    assert {"--ci", "--coverage=false", "--no-cache", "--runInBand"} <= set(words)
    assert words[-2:] == ["--runTestsByPath", "a.test.js"]


def test_node_takes_its_options_before_the_reporter() -> None:
    words = shlex.split(build_check(_recipe("node:test", node_options="--import tsx"), ("a.test.ts",)).command)
    assert words[:4] == ["node", "--import", "tsx", "--test"]
    assert words[-1] == "a.test.ts"


def test_a_member_finds_its_runner_in_its_own_node_modules_or_above() -> None:
    check = build_check(_recipe("vitest", "packages/a"), ("packages/a/test/x.test.ts",))
    assert check.command == (
        'PATH="$PWD/node_modules/.bin:$PWD/../node_modules/.bin:$PWD/../../node_modules/.bin:$PATH"'
        " vitest run --reporter=json --outputFile=../../../report.json test/x.test.ts"
    )
    assert check.report_file == "../report.json"


@pytest.mark.parametrize(
    ("path", "directory", "inside"),
    [
        ("a/b.test.js", ".", "a/b.test.js"),
        ("a/b.test.js", "a", "b.test.js"),
        ("b.test.js", "a/c", "../../b.test.js"),
        ("a/d/b.test.js", "a/c", "../d/b.test.js"),
        ("-a.test.js", ".", "./-a.test.js"),
    ],
)
def test_a_path_as_seen_from_a_folder(path: str, directory: str, inside: str) -> None:
    assert relative(path, directory) == inside


_NAMES = st.text(min_size=1, max_size=8).filter(lambda name: "/" not in name and "\0" not in name)


@given(st.lists(_NAMES, min_size=1, max_size=4).map("/".join))
def test_any_path_survives_the_shell(path: str) -> None:
    words = shlex.split(build_check(_recipe("vitest"), (path,)).command)
    assert words[-1].removeprefix("./") == path.removeprefix("./")
