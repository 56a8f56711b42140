"""Commands that start a runner once for each file: what is recorded, what is observed, and that they are one run."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.languages.javascript_check import build_check
from tests.support.javascript_runs import recipe_of

_TWO = ("test/a.js", "test/it's.js")


def test_one_file_of_mocha_is_a_plain_command() -> None:
    check = build_check(recipe_of("mocha", options="--ui tdd", variables="NODE_ENV=test"), ("test/a.js",))
    assert check.command == (
        "NODE_ENV=test node_modules/.bin/mocha --reporter=xunit --reporter-option output=../report.xml"
        " --ui tdd test/a.js"
    )
    assert check.report_file == "../report.xml"


def test_one_file_of_the_others() -> None:
    assert build_check(recipe_of("ava"), ("a.js",)).command == (
        "{ printf '\\n# file %s\\n' a.js; node_modules/.bin/ava --tap a.js; } > ../report.tap"
    )
    assert build_check(recipe_of("uvu", node_options="-r esm"), ("a.js",)).command == "node -r esm a.js"
    assert build_check(recipe_of("tape", options="-r esm"), ("a.js",)).command == (
        "{ printf '\\n# file %s\\n' a.js; node -r esm a.js; } > ../report.tap"
    )


def test_a_pattern_that_speaks_of_the_file_gets_each() -> None:
    recipe = recipe_of("mocha", options="'--ignore=!{file}'")
    assert " --ignore='!'test/a.js test/a.js" in f" {build_check(recipe, ('test/a.js',)).command}".replace(
        "'--ignore=!'", "--ignore='!'"
    )
    assert '"$file" "$file"' in build_check(recipe, _TWO).command


@pytest.mark.parametrize("runner", ["mocha", "ava", "uvu", "tape"])
def test_the_observed_run_has_the_same_words(runner: str) -> None:
    check = build_check(recipe_of(runner, variables="A=1", node_options="--no-warnings"), _TWO)
    shell, flag, script = check.observed
    assert (shell, flag) == ("sh", "-c")
    for words in (check.command, script):
        assert "A=1 " in words or "NODE_OPTIONS=--no-warnings" in words
        assert shlex.join(_TWO) in words
    assert "/opt/casewright" not in check.command
    assert script.startswith(f"echo '# runner {runner}' >&3; ")


_NAMES = st.text(min_size=1, max_size=8).filter(
    lambda name: not set("/\0\n\r") & set(name) and name.isprintable() and name not in {".", ".."}
)


@given(st.lists(_NAMES.map(lambda name: f"t/{name}"), min_size=1, max_size=3, unique=True))
def test_any_names_reach_the_runner(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    """The shell hands each name to the program as it is: here one that prints its last argument."""
    tree = tmp_path_factory.mktemp("case") / "repo"
    program = tree / "node_modules/.bin/ava"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\nfor last; do :; done\nprintf "%s\\n" "ok - $last"\n')
    program.chmod(0o755)
    check = build_check(recipe_of("ava"), tuple(names))
    subprocess.run(["sh", "-c", check.command], cwd=tree, check=True)
    lines = Path(tree.parent / "report.tap").read_text().splitlines()
    assert [line.removeprefix("# file ") for line in lines if line.startswith("# file ")] == names
    assert [line.removeprefix("ok - ") for line in lines if line.startswith("ok - ")] == names


@pytest.mark.parametrize(("codes", "ends"), [((0, 0), 0), ((3, 0), 3), ((0, 4), 4)])
def test_a_failure_of_any_file_is_the_run_s(tmp_path: Path, codes: tuple[int, int], ends: int) -> None:
    tree = tmp_path / "repo"
    program = tree / "node_modules/.bin/ava"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\nfor last; do :; done\nexit "$last"\n')
    program.chmod(0o755)
    check = build_check(recipe_of("ava"), tuple(f"{code}" for code in codes))
    assert subprocess.run(["sh", "-c", check.command], cwd=tree, check=False).returncode == ends
    observed = ["sh", "-c", 'exec 3>../pipe; "$@"', "sh", *check.observed]
    assert subprocess.run(observed, cwd=tree, check=False).returncode == ends


def test_a_file_of_a_member_is_named_from_the_root() -> None:
    check = build_check(recipe_of("tape", "packages/a"), ("packages/a/x.js", "packages/b/y.js"))
    assert "# file packages/a/%s" in check.command
    assert "../b/y.js" in check.command
    assert check.command.endswith("> ../../../report.tap; (exit $code)")
