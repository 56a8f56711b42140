"""Which files are graded, and which runner grades them from where."""

from __future__ import annotations

import json

import pytest

from execution.languages.base import Refusal
from execution.languages.javascript_runner import RunnerChoice, choose_runner, collected
from tests.support.memory_tree import MemoryTree

_NODE_TEST = 'import { test } from "node:test";\ntest("a", () => {});\n'
_JEST_TEST = 'test("a", () => {});\n'


@pytest.mark.parametrize(
    ("path", "text", "graded"),
    [
        ("src/a.test.ts", "", True),
        ("src/a.spec.mjs", "", True),
        ("test/types.test-d.ts", "", False),
        ("src/latest.ts", _JEST_TEST, False),
        ("src/contest.js", _NODE_TEST, False),
        ("test/a.js", _NODE_TEST, True),
        ("test/a.js", _JEST_TEST, False),
        ("test/a.js", 'const { test } = require("node:test"); test("a", () => {})', True),
        ("test/helpers/a.js", _NODE_TEST, False),
        ("test/fixtures/a.test.js", "", False),
        ("src/__tests__/a.js", _JEST_TEST, True),
        ("src/__tests__/setup.js", "module.exports = {}", False),
        ("src/__tests__/a.d.ts", _JEST_TEST, False),
        ("node_modules/x/a.test.js", "", False),
        ("test/data.json", "{}", False),
        ("src/__tests__/__snapshots__/a.test.js.snap", "", False),
    ],
)
def test_what_a_runner_collects(path: str, text: str, graded: bool) -> None:
    assert collected(path, MemoryTree({path: text})) is graded


def test_a_deleted_file_is_not_graded() -> None:
    assert not collected("src/a.test.ts", MemoryTree({}))


def _package(**fields: object) -> str:
    return json.dumps(fields)


def _choice(files: dict[str, str], *graded: str) -> RunnerChoice | Refusal:
    return choose_runner(MemoryTree(dict.fromkeys(graded, "") | files), graded)


def _runner(files: dict[str, str], *graded: str) -> tuple[str, str]:
    choice = _choice(files, *graded)
    return ("refused", choice.detail) if isinstance(choice, Refusal) else (choice.runner, choice.directory)


def test_what_a_test_imports_comes_before_what_is_depended_on() -> None:
    files = {"package.json": _package(devDependencies={"jest": "29"}), "a.test.js": _NODE_TEST}
    assert _runner(files, "a.test.js") == ("node:test", ".")


def test_the_script_comes_before_the_dependencies() -> None:
    package = _package(devDependencies={"jest": "29", "vitest": "1"}, scripts={"test": "jest"})
    assert _runner({"package.json": package}, "a.test.js") == ("jest", ".")


def test_a_plain_folder_needs_no_manifest() -> None:
    assert _runner({"test/a.test.js": _NODE_TEST}, "test/a.test.js") == ("node:test", ".")


def test_a_runner_that_is_not_known_is_named() -> None:
    for package in (_package(devDependencies={"karma": "6"}), _package(scripts={"test": "npx karma"})):
        runner, detail = _runner({"package.json": package}, "a.test.js")
        assert runner == "refused"
        assert "karma" in detail


def test_a_member_that_has_the_runner_is_where_it_starts() -> None:
    files = {"package.json": _package(), "packages/a/package.json": _package(scripts={"test": "vitest"})}
    assert _runner(files, "packages/a/a.test.js") == ("vitest", "packages/a")


def test_a_member_without_the_runner_is_tested_from_the_root() -> None:
    files = {"package.json": _package(devDependencies={"vitest": "1"}), "packages/a/package.json": _package()}
    assert _runner(files, "packages/a/a.test.js", "packages/a/b.test.js") == ("vitest", ".")


def test_files_of_several_members_need_a_runner_above_them() -> None:
    member = _package(devDependencies={"vitest": "1"})
    files = {"package.json": _package(), "a/package.json": member, "b/package.json": member}
    assert _runner(files, "a/x.test.js", "b/x.test.js")[0] == "refused"
    files["package.json"] = member
    assert _runner(files, "a/x.test.js", "b/x.test.js") == ("vitest", ".")


_MOCHA_TEST = "describe('a', () => { it('b', () => {}); });"


@pytest.mark.parametrize(
    ("path", "text", "package", "graded"),
    [
        ("test/app.use.js", _MOCHA_TEST, _package(scripts={"test": "nyc mocha test/"}), True),
        ("test/app.use.js", _MOCHA_TEST, _package(devDependencies={"mocha": "10"}), True),
        ("test/app.use.js", _MOCHA_TEST, _package(devDependencies={"mocha": "10", "jest": "29"}), False),
        ("test/support/env.js", _MOCHA_TEST, _package(devDependencies={"mocha": "10"}), False),
        ("test/app.js", "exports.a = 1;", _package(devDependencies={"mocha": "10"}), False),
        ("spec/app.js", _MOCHA_TEST, _package(scripts={"test": "mocha spec"}), True),
        ("test/app.js", _MOCHA_TEST, "{", False),
        ("test.js", "import test from 'ava'; test('a', t => {});", _package(), True),
        ("test/index.js", "const t = require('tap'); t.equal(1, 1);", _package(), True),
        ("test/index.js", "const tape = require('tape'); tape.test('a', () => {});", _package(), True),
        ("tests/a.js", "import { suite } from 'uvu'; const A = suite('A');", _package(), True),
        ("lib/test.js", "exports.test = () => {};", _package(), False),
    ],
)
def test_what_the_package_s_runner_collects(path: str, text: str, package: str, graded: bool) -> None:
    assert collected(path, MemoryTree({path: text, "package.json": package})) is graded


@pytest.mark.parametrize(
    ("text", "runner"),
    [
        ("import test from 'ava';", "ava"),
        ("const { test } = require('tap')", "tap"),
        ("var test = require('tape');", "tape"),
        ("import { test } from 'uvu';", "uvu"),
    ],
)
def test_runners_that_tests_import(text: str, runner: str) -> None:
    package = _package(devDependencies={"mocha": "10", runner: "1"}, scripts={"test": "node test"})
    assert _runner({"package.json": package, "test.js": text}, "test.js") == (runner, ".")


def test_mocha_by_its_script_its_dependency_and_its_configuration() -> None:
    for package in (_package(scripts={"test": "nyc mocha"}), _package(devDependencies={"mocha": "10"})):
        assert _runner({"package.json": package}, "test/a.js") == ("mocha", ".")
    files = {
        "package.json": _package(devDependencies={"mocha": "10"}),
        "packages/a/package.json": _package(),
        "packages/a/.mocharc.yml": "spec: test",
    }
    assert _runner(files, "packages/a/test/a.js") == ("mocha", "packages/a")
