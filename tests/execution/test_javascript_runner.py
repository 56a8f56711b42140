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
