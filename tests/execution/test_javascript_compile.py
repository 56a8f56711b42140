"""Which trees have to be built before their tests, by which script, and where the command of it stands."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from execution.languages.base import Check
from execution.languages.javascript_compile import Compile, needed_build
from execution.languages.javascript_setup import tools_command, with_compile
from execution.recipe import Recipe, Runtime
from tests.support.memory_tree import MemoryTree

_BUILD = {"build": "tsc -p ."}


def _needed(files: dict[str, str], *graded: str, directory: str = ".", **package: object) -> Compile | None:
    tree = MemoryTree({"package.json": json.dumps(package), **files})
    return needed_build(tree, directory, ".", graded or ("test/a.test.ts",))


@pytest.mark.parametrize(
    ("scripts", "script"),
    [
        ({"pretest": "npm run build", "test": "mocha", **_BUILD}, "build"),
        ({"pretest": "npm run lint && yarn compile", "lint": "eslint .", "compile": "babel src -d lib"}, "compile"),
        ({"pretest": "tsc && rollup -c"}, "pretest"),
        ({"test": "npm run build && vitest", **_BUILD}, "build"),
        ({"pretest": "npm run lint", "lint": "eslint ."}, ""),
        ({"pretest": "tsc --noEmit"}, ""),
        ({"test": "vitest", **_BUILD}, ""),
        ({"test": "npm run test:unit && npm run lint", "test:unit": "jest build", "lint": "eslint"}, ""),
    ],
)
def test_what_the_test_script_runs_first(scripts: dict[str, str], script: str) -> None:
    found = _needed({"test/a.test.ts": ""}, scripts=scripts)
    assert (found.command if found else "") == (f"npm run {script}" if script else "")


@pytest.mark.parametrize(
    ("text", "files", "needed"),
    [
        ("import { a } from '../dist/index.js'", {}, True),
        ("const a = require('../lib')", {}, True),
        ("const a = require('../lib')", {"lib/index.js": ""}, False),
        ("import a from '../src/index.js'", {"src/index.ts": ""}, False),
        # A file that only set-up or nobody makes is no reason to build.
        ("import a from './missing.js'", {}, False),
    ],
)
def test_tests_that_import_what_is_built(text: str, files: dict[str, str], needed: bool) -> None:
    found = _needed({"test/a.test.ts": text, **files}, scripts=_BUILD)
    assert (found is not None) is needed


def test_a_package_that_its_tests_import_by_name_is_built() -> None:

    def needed(text: str, files: dict[str, str]) -> bool:
        exports = {".": {"import": "./dist/index.mjs"}}
        return _needed({"test/a.test.ts": text, **files}, name="me", exports=exports, scripts=_BUILD) is not None

    assert needed("import { a } from 'me'", {})
    assert not needed("import { a } from '../src'", {})
    assert not needed(
        "import { a } from 'me'", {"vitest.config.ts": "export default { resolve: { alias: { me: './src' } } }"}
    )


def test_a_member_that_others_of_the_workspace_use_is_built_at_the_root() -> None:
    member = {"name": "a", "dependencies": {"b": "workspace:*"}, "scripts": {"build": "tsc"}}
    files = {
        "packages/a/package.json": json.dumps(member),
        "packages/a/a.test.ts": "",
        "packages/b/package.json": json.dumps({"name": "b", "main": "dist/index.js"}),
    }
    scripts = {"build": "pnpm -r build"}
    found = _needed(files, "packages/a/a.test.ts", directory="packages/a", workspaces=["packages/*"], scripts=scripts)
    assert found is not None
    assert (found.directory, found.command, found.calls_manager) == (".", "npm run build", True)
    there = files | {"packages/b/dist/index.js": ""}
    assert _needed(there, "packages/a/a.test.ts", directory="packages/a", workspaces=["packages/*"]) is None


def test_without_a_script_nothing_can_be_built() -> None:
    assert _needed({"test/a.test.ts": "import '../dist/x.js'"}, scripts={}) is None


def test_a_task_of_gulp_builds_where_no_script_does() -> None:
    tests = {"test/a.test.ts": "import '../build/x.js'"}
    found = _needed({**tests, "gulpfile.js": ""}, scripts={"test": "gulp test"})
    assert found is not None
    assert found.command == "node_modules/.bin/gulp build"
    assert _needed(tests, scripts={"test": "gulp test"}) is None
    assert _needed({**tests, "gulpfile.js": ""}, scripts={"test": "ava"}) is None


def _recipe(**settings: str) -> Recipe:
    node = Runtime(name="node", version="20.0.0", executable=Path("/n"), prefix=Path("/n"))
    return Recipe(language="javascript", runtime=node, runner="vitest", date=0, settings=tuple(settings.items()))


_CHECK = Check(command="run x", report_file="", report_format="", observed=("sh", "-c", "run x >&3"))


def test_the_build_stands_before_the_runner_in_both_commands() -> None:
    check = with_compile(_recipe(compile="npm run build", compile_directory="."), _CHECK)
    assert check.command == "(npm run build) >&2; run x"
    assert check.observed == ("sh", "-c", "(npm run build) >&2; run x >&3")
    assert "npm run build" in check.notes[0]
    assert with_compile(_recipe(), _CHECK) == _CHECK


def test_a_build_elsewhere_with_a_package_manager_beside_the_clone(tmp_path: Path) -> None:
    recipe = _recipe(compile="npm run 'b c'", compile_directory=".", tools="pnpm@9.15.9", install_directory=".")
    check = with_compile(replace(recipe, directory="packages/a"), replace(_CHECK, command="echo ran"))
    folder = tmp_path / "repo/packages/a"
    folder.mkdir(parents=True)
    programs = tmp_path / "env/node_modules/.bin"
    programs.mkdir(parents=True)
    # npm itself is played: it tells where it stands and what it was asked for.
    (programs / "npm").write_text('#!/bin/sh\npwd\necho "$@"\nexit 3\n')
    (programs / "npm").chmod(0o755)
    done = subprocess.run(["sh", "-c", check.command], cwd=folder, check=True, capture_output=True, text=True)
    assert done.stdout == "ran\n"
    assert done.stderr.splitlines() == [str(tmp_path / "repo"), "run b c"]


def test_where_the_package_manager_is_put() -> None:
    recipe = _recipe(tools="pnpm@9.15.9", install_directory="packages/a")
    assert tools_command(recipe).startswith("npm install --prefix ../../../env ")
    assert tools_command(recipe).endswith("--ignore-scripts pnpm@9.15.9")
    assert "--ignore-scripts" not in tools_command(_recipe(tools="bun@1.4.5"))
    assert tools_command(_recipe()) == ""
