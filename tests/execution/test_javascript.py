"""The language as a whole: its plan, its era, and its readers by what a report looks like."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from execution.languages import javascript
from execution.languages.base import Language, PlanRequest, Refusal
from execution.observation import Outcome
from execution.recipe import Environment, Recipe, Runtime
from tests.support.memory_tree import MemoryTree

# A day on which the node of most machines was in use: a plan for another day asks the registry.
_DATE = 1_771_100_000


def _package(**fields: object) -> str:
    return json.dumps(fields)


def _request(head: dict[str, str], *graded: str, base: dict[str, str] | None = None) -> PlanRequest:
    texts = dict.fromkeys(graded, "") | head
    return PlanRequest(
        head=MemoryTree(texts),
        base=MemoryTree(texts if base is None else base),
        base_commit="b" * 40,
        head_commit="a" * 40,
        graded=graded,
        date=_DATE,
    )


def _planned(head: dict[str, str], *graded: str, base: dict[str, str] | None = None) -> Recipe:
    recipe = javascript.plan(_request(head, *graded, base=base))
    assert isinstance(recipe, Recipe), recipe
    return recipe


def _refused(head: dict[str, str], *graded: str) -> Refusal:
    refusal = javascript.plan(_request(head, *graded))
    assert isinstance(refusal, Refusal), refusal
    return refusal


_LOCK = "lockfileVersion: '9.0'\n\npackages:\n\n  vitest@2.1.8:\n"
_VITEST = {"package.json": _package(devDependencies={"vitest": "^2"}), "pnpm-lock.yaml": _LOCK}


def test_the_module_is_a_language() -> None:
    language: Language = javascript
    assert language.name == "javascript"


def test_consecutive_commits_share_an_era_and_a_stored_environment() -> None:
    later = {**_VITEST, "package.json": _package(version="2.0.0", devDependencies={"vitest": "^2"}), "a.ts": "1"}
    first, second = _planned(_VITEST, "a.test.ts"), _planned(later, "a.test.ts")
    assert first.era() == second.era()
    # A lock file is not dated, so the commit's time may not part what it joins.
    assert first.date == 0


def test_another_lock_is_another_era() -> None:
    assert (
        _planned(_VITEST, "a.test.ts").era() != _planned({**_VITEST, "pnpm-lock.yaml": _LOCK + "#"}, "a.test.ts").era()
    )


def test_what_is_resolved_today_is_dated() -> None:
    recipe = _planned({"package.json": _VITEST["package.json"]}, "a.test.ts")
    assert recipe.date == _DATE
    assert "{date}" in recipe.setting("install")


def test_the_era_of_a_dated_environment_does_not_hold_the_date() -> None:
    files = {"package.json": _VITEST["package.json"]}
    request = _request(files, "a.test.ts")
    later = javascript.plan(replace(request, date=_DATE + 86_400))
    assert isinstance(later, Recipe)
    assert later.era() == _planned(files, "a.test.ts").era()


def test_a_base_with_another_lock_borrows_the_head_s() -> None:
    recipe = _planned(_VITEST, "a.test.ts", base={**_VITEST, "pnpm-lock.yaml": "lockfileVersion: '9.0'\n"})
    node = recipe.runtime
    shared = ("git restore", "npx --yes pnpm@9.15.9 install --frozen-lockfile --ignore-scripts", "git clean")
    environment = Environment(folder=Path(), era="", runtime=node, setup=shared, dependencies=())
    commands = javascript.setup(recipe, environment)
    assert commands[0].endswith(f"--source={'a' * 40} --worktree -- pnpm-lock.yaml")
    assert commands[-1] == "git --literal-pathspecs restore --worktree -- pnpm-lock.yaml"


def test_a_changed_script_borrows_nothing() -> None:
    base = {**_VITEST, "package.json": _package(devDependencies={"vitest": "^2"}, scripts={"x": "y"})}
    assert _planned(_VITEST, "a.test.ts", base=base).setting("borrowed") == ""


def test_files_that_vitest_would_take_along_are_excluded() -> None:
    files = {**_VITEST, "packages/x/test/a.test.ts": "", "test/a.test.tsx": "", "test/b.test.ts": ""}
    command = javascript.check(_planned(files, "test/a.test.ts"), ("test/a.test.ts",)).command
    assert "--exclude=packages/x/test/a.test.ts --exclude=test/a.test.tsx" in command
    assert "b.test.ts" not in command


def test_a_graded_file_that_was_left_out_is_not_taken_along() -> None:
    files = ("test/a.test.ts", "x/test/a.test.ts")
    recipe = _planned(_VITEST, *files)
    assert "--exclude" not in javascript.check(recipe, files).command
    assert "--exclude=x/test/a.test.ts" in javascript.check(recipe, files[:1]).command


def test_what_a_configuration_asks_of_the_whole_suite_is_switched_off() -> None:
    config = {"vitest.config.ts": "export default { test: { coverage: { enabled: true }, bail: 1 } }"}
    command = javascript.check(_planned({**_VITEST, **config}, "a.test.ts"), ("a.test.ts",)).command
    assert "--coverage.enabled=false --bail=0" in command
    assert "--bail" not in javascript.check(_planned(_VITEST, "a.test.ts"), ("a.test.ts",)).command


def test_a_node_that_is_not_here_is_refused_by_its_version() -> None:
    request = replace(_request(_VITEST, "a.test.ts"), overrides={"node": "99.1"})
    refusal = javascript.plan(request)
    assert isinstance(refusal, Refusal)
    assert (refusal.code, "99.1" in refusal.detail) == ("runtime-unavailable", True)


def test_a_plain_folder_of_node_tests_installs_nothing() -> None:
    recipe = _planned({"test/a.test.js": 'import test from "node:test"; test("a", () => {})'}, "test/a.test.js")
    assert (recipe.runner, recipe.setting("install"), recipe.inputs) == ("node:test", "", ())


def test_typescript_with_node_s_runner_goes_through_tsx() -> None:
    files = {"package.json": _package(devDependencies={"tsx": "4"}), "a.test.ts": 'import test from "node:test"'}
    assert _planned(files, "a.test.ts").setting("node_options") == "--import tsx"


@pytest.mark.parametrize(
    ("package", "code", "words"),
    [
        ("{", "environment-failed", "package.json"),
        (_package(devDependencies={"jasmine": "5"}), "runner-missing", "jasmine"),
        (_package(), "runner-missing", "no test runner"),
        (_package(devDependencies={"jest": "29"}, engines={"node": ">=99"}), "runtime-unavailable", ">=99"),
    ],
)
def test_what_is_refused(package: str, code: str, words: str) -> None:
    refusal = _refused({"package.json": package}, "a.test.js")
    assert refusal.code == code
    assert words in refusal.detail


@pytest.mark.network
def test_stripping_types_needs_a_node_that_does() -> None:
    files = {
        "package.json": _package(
            scripts={"test": "node --experimental-strip-types --test"}, devDependencies={"x": "1"}
        ),
        "a.test.ts": 'import test from "node:test"',
    }
    recipe = javascript.plan(_request(files, "a.test.ts"))
    if isinstance(recipe, Recipe):
        assert tuple(map(int, recipe.runtime.version.split("."))) >= (22, 6, 0)
    else:
        assert recipe.code == "runtime-unavailable"


def test_graded_files_are_sorted_by_bytes() -> None:
    names = ("b.test.js", "a.test.js", "é.test.js", "Z.test.js", "src/a.js")
    assert javascript.graded_files(names, MemoryTree(dict.fromkeys(names, ""))) == (
        "Z.test.js",
        "a.test.js",
        "b.test.js",
        "é.test.js",
    )


def test_each_report_finds_its_reader() -> None:
    entry = {
        "name": "/srv/case/repo/a.test.js",
        "status": "passed",
        "assertionResults": [{"title": "a", "status": "passed"}],
    }
    suites = json.dumps({"numTotalTests": 1, "success": True, "testResults": [entry]}).encode()
    place = {"file": "/srv/case/repo/a.test.js", "nesting": 0}
    events = [{"event": "start", "name": "a", **place}, {"event": "pass", "name": "a", **place}]
    stream = "\n".join(json.dumps(event) for event in [*events, {"event": "plan", "nesting": 0, "count": 1}]).encode()
    for report, name in ((suites, "a.test.js::a"), (stream, "a.test.js > a")):
        reading = javascript.read(report, 0, ("a.test.js",), b"")
        assert [(test.id, test.outcome) for test in reading.tests] == [(name, Outcome.PASSED)]
        assert reading.whole
    assert javascript.read(b"", 7, ("a.test.js",), b"").breach == "the runner left no report"


@pytest.mark.parametrize(
    ("variation", "zone"), [({}, None), ({"time_zone": "Asia/Kathmandu", "hash_seed": "1"}, "Asia/Kathmandu")]
)
def test_only_the_time_zone_is_varied(variation: Mapping[str, str], zone: str | None) -> None:
    node = Runtime(name="node", version="20.20.2", executable=Path("/opt/n/bin/node"), prefix=Path("/opt/n"))
    environment = Environment(folder=Path(), era="", runtime=node, setup=(), dependencies=())
    env = javascript.env(environment, variation)
    assert env.get("TZ") == zone
    assert env["PATH"].startswith("/opt/runtime/bin:")
    assert [mount.target for mount in javascript.mounts(environment)] == ["/opt/runtime", "/opt/casewright"]


@pytest.mark.parametrize(
    ("files", "options"),
    [
        ({}, ""),
        ({".mocharc.yml": "bail: true\nparallel: true\n"}, "--no-bail --no-parallel"),
        ({".mocharc.json": '{"spec": "test/**"}'}, "'--ignore=!{file}'"),
        ({"test/mocha.opts": "--bail\n--require x\n"}, "--no-bail"),
        ({"test/mocha.opts": "test/**/*.js\n"}, "'--ignore=!{file}'"),
    ],
)
def test_what_a_configuration_of_mocha_asks_of_the_suite_is_switched_off(files: dict[str, str], options: str) -> None:
    package = {"package.json": _package(devDependencies={"mocha": "7"})}
    assert _planned({**package, **files}, "test/a.test.js").setting("options") == options


@pytest.mark.parametrize(
    ("requirement", "option"),
    [("^16.0.0", "--no-coverage"), ("^18", "--disable-coverage"), ("*", "--disable-coverage")],
)
def test_the_options_of_tap_are_those_of_its_version(requirement: str, option: str) -> None:
    files = {"package.json": _package(devDependencies={"tap": requirement})}
    assert option in _planned(files, "a.test.js").setting("options").split()


def test_each_recorded_report_finds_its_reader() -> None:
    tap = b"\n# file a.js\nTAP version 13\n# b\nok 1 - b\n1..1\n"
    for runner, report, ids in (
        ("ava", tap, ["a.js::b"]),
        ("tape", tap, ["a.js::b"]),
        ("tap", b"TAP version 13\n# Subtest: a.js\n    ok 1 - b\n    1..1\nok 1 - a.js\n1..1\n", ["a.js::b"]),
        ("mocha", b'<testsuite><testcase classname="" name="b"/></testsuite>', []),
    ):
        reading = javascript.read_recorded(javascript.recorded_check(runner, "mocha x"), report, b"")
        assert ([test.id for test in reading.tests], reading.summary) == (ids, "1 passed")
    printed = b"\n  Total:     2\n  Passed:    1\n  Skipped:   3\n  Duration:  1ms\n"
    summary = javascript.read_recorded(javascript.recorded_check("uvu", "node a.js"), b"", printed).summary
    assert summary == "1 failed, 1 passed, 3 skipped"


def test_a_warning_that_comes_with_age_is_switched_off() -> None:
    aged = {**_VITEST, "pnpm-lock.yaml": _LOCK + "  caniuse-lite@1.0.30001600:\n"}
    assert _planned(aged, "a.test.ts").setting("variables") == "BROWSERSLIST_IGNORE_OLD_DATA=1"
    assert _planned(_VITEST, "a.test.ts").setting("variables") == ""
