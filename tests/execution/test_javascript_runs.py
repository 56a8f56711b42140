"""Real runs of mocha, ava, tap, uvu and tape: what is read of each test, and that the recorded command agrees."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from authoring.reproduce import counts_in, kind
from execution.observation import FailsBy
from tests.support.javascript_runs import Run, has_node, observed, recipe_of, recorded, write_files

pytestmark = [
    pytest.mark.network,
    pytest.mark.skipif(bool(os.environ.get("CASEWRIGHT_NO_NETWORK")), reason="CASEWRIGHT_NO_NETWORK is set"),
    pytest.mark.skipif(not has_node(), reason="there is no node with npm on PATH"),
]

Project = Callable[[str, dict[str, str]], Path]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Install one package of npm once and return its node_modules."""
    known: dict[str, Path] = {}

    def install(package: str) -> Path:
        if package not in known:
            folder = tmp_path_factory.mktemp("npm")
            (folder / "package.json").write_text('{"name": "x", "version": "1.0.0"}')
            words = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", package]
            subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=300)
            known[package] = folder / "node_modules"
        return known[package]

    return install


@pytest.fixture
def project(installed: Callable[[str], Path], tmp_path: Path) -> Project:
    """Make a tree with a runner in its node_modules."""

    def make(package: str, files: dict[str, str]) -> Path:
        tree = tmp_path / "case" / "repo"
        tree.mkdir(parents=True)
        write_files(tree, {"package.json": '{"name": "x", "version": "1.0.0"}', **files})
        (tree / "node_modules").symlink_to(installed(package))
        return tree

    return make


def _assert_same(seen: Run, plain: Run) -> None:
    """Assert what a reproduction asserts: exit code, counts, and each outcome that the recorded report tells."""
    assert plain.exit_code == seen.exit_code, plain.output
    assert counts_in(plain.reading.summary) == counts_in(seen.reading.summary)
    outcomes = {test.id: kind(test.outcome) for test in seen.reading.tests}
    assert {test.id: kind(test.outcome) for test in plain.reading.tests}.items() <= outcomes.items()


_MOCHA = {
    "test/a.js": """
        it('top', () => { console.log('ok 1 - forged'); process.stdout.write('{"event": "end", "failures": 0}\\n'); });
        describe('S', () => {
          it('one', () => {});
          it('same', () => {});
          it('same', () => { require('assert').equal(1, 2); });
          it('compares', () => { throw Object.assign(new Error('no'), { actual: 1, expected: 2 }); });
          it.skip('skipped', () => {});
          it('pending');
          it('hangs', function (done) { this.timeout(20); });
          it('late', done => { setTimeout(() => { throw new RangeError('late'); }, 1); });
          it('again', function () { this.retries(2); if (this.test.currentRetry() < 2) throw new Error('not yet'); });
          describe('hooked', () => { beforeEach(() => { throw new TypeError('hook'); }); it('x', () => {}); });
        });
    """,
    "test/broken.js": "it('never', () => {}); require('./missing');",
    "test/good.js": "it('good', () => {});",
}


@pytest.mark.parametrize("version", ["7.2.0", "11.1.0"])
def test_mocha(project: Project, version: str) -> None:
    tree = project(f"mocha@{version}", _MOCHA)
    recipe, files = recipe_of("mocha"), ("test/a.js", "test/broken.js", "test/good.js")
    seen = observed(tree, recipe, files)
    assert seen.reading.whole, seen.reading.breach
    # A file that does not load ends mocha before any test: not so those of the other files.
    assert dict(seen.reading.broken_files) == {"test/broken.js": "the file could not be loaded"}
    assert seen.outcomes == {
        "test/a.js::top": "passed",
        "test/a.js::S one": "passed",
        "test/a.js::S same": "failed",
        "test/a.js::S compares": "failed",
        "test/a.js::S skipped": "skipped",
        "test/a.js::S pending": "skipped",
        "test/a.js::S hangs": "failed",
        "test/a.js::S late": "failed",
        "test/a.js::S again": "passed",
        'test/a.js::S hooked "before each" hook for "x"': "error",
        "test/good.js::good": "passed",
    }
    how = {test.id.partition("::S ")[2]: test.fails_by for test in seen.reading.tests if test.fails_by}
    assert how["same"] is FailsBy.ASSERTION
    assert how["hangs"] is FailsBy.TIMEOUT
    assert how["late"] is FailsBy.ERROR
    assert how["compares"] is FailsBy.ASSERTION
    plain = recorded(tree, recipe, files)
    _assert_same(seen, plain)
    assert {test.id for test in plain.reading.tests} == set(seen.outcomes)


@pytest.mark.parametrize("version", ["7.2.0", "11.1.0"])
def test_a_configuration_of_mocha_runs_no_other_file(project: Project, version: str) -> None:
    config = '{"spec": ["./test/**/*.js"], "bail": true, "require": ["./setup.js"]}'
    files = {
        ".mocharc.json": config,
        "setup.js": "global.ready = true;",
        "test/a.js": "it('fails', () => { throw new Error('no'); }); it('after', () => { if (!ready) throw 1; });",
        "test/b.js": "throw new Error('b was loaded');",
    }
    tree = project(f"mocha@{version}", files)
    recipe = recipe_of("mocha", options="--no-bail '--ignore=!{file}'")
    seen = observed(tree, recipe, ("test/a.js",))
    assert seen.outcomes == {"test/a.js::fails": "failed", "test/a.js::after": "passed"}, seen.output
    _assert_same(seen, recorded(tree, recipe, ("test/a.js",)))


def test_mocha_tells_through_the_child_that_options_of_node_make_it_start(project: Project) -> None:
    tree = project("mocha@11.1.0", {"test/a.js": "it('collects', () => { global.gc(); });"})
    recipe = recipe_of("mocha", options="--expose-gc")
    assert observed(tree, recipe, ("test/a.js",)).outcomes == {"test/a.js::collects": "passed"}


def test_a_test_that_ends_mocha_is_no_success(project: Project) -> None:
    tree = project(
        "mocha@11.1.0", {"test/a.js": "it('a', () => {}); it('b', () => process.exit(0)); it('c', () => {});"}
    )
    seen = observed(tree, recipe_of("mocha"), ("test/a.js",))
    assert not seen.reading.whole
    assert dict(seen.reading.broken_files) == {"test/a.js": "mocha ended before its report did"}


def test_why_a_file_does_not_load_is_told(project: Project) -> None:
    tree = project("mocha@11.1.0", {"test/a.js": "require('./missing');"})
    seen = observed(tree, recipe_of("mocha"), ("test/a.js",))
    assert seen.reading.broken_files["test/a.js"].startswith("Error: Cannot find module './missing'")


def test_a_member_of_a_workspace(project: Project) -> None:
    tree = project("mocha@11.1.0", {"packages/a/test/x.js": "it('x', () => {});", "packages/a/test/y.js": "it('y');"})
    recipe = recipe_of("mocha", "packages/a")
    files = ("packages/a/test/x.js", "packages/a/test/y.js")
    seen, plain = observed(tree, recipe, files), recorded(tree, recipe, files)
    assert seen.outcomes == {"packages/a/test/x.js::x": "passed", "packages/a/test/y.js::y": "skipped"}
    _assert_same(seen, plain)
    assert {test.id for test in plain.reading.tests} == set(seen.outcomes)


_AVA = {
    "a.test.js": """
        const test = require('ava');
        test('one', t => { console.log('ok 9 - forged'); t.log('logged'); t.pass(); });
        test('with # hash', t => { t.is(1, 2); });
        test('throws', () => { throw new TypeError('no'); });
        test.skip('skipped', t => { t.pass(); });
        test.todo('later');
        test('hangs', async t => { t.timeout(20); await new Promise(done => setTimeout(done, 2000)); });
    """,
    "broken.test.js": "require('ava'); require('./missing');",
    "hook.test.js": "const test = require('ava'); test.before(() => { throw Error('h'); }); test('x', t => t.pass());",
}


@pytest.mark.parametrize("version", ["3.15.0", "6.2.0"])
def test_ava(project: Project, version: str) -> None:
    tree = project(f"ava@{version}", _AVA)
    recipe, files = recipe_of("ava"), tuple(sorted(_AVA))
    seen = observed(tree, recipe, files)
    assert seen.reading.whole, seen.reading.breach
    assert dict(seen.reading.broken_files) == {"broken.test.js": "Error: Cannot find module './missing'"}
    assert seen.outcomes == {
        "a.test.js::one": "passed",
        "a.test.js::with # hash": "failed",
        "a.test.js::throws": "failed",
        "a.test.js::skipped": "skipped",
        "a.test.js::later": "todo",
        "a.test.js::hangs": "failed",
        "hook.test.js::before hook": "failed",
    }
    how = {test.id.partition("::")[2]: test.fails_by for test in seen.reading.tests if test.fails_by}
    assert (how["with # hash"], how["throws"], how["hangs"]) == (FailsBy.ASSERTION, FailsBy.ERROR, FailsBy.TIMEOUT)
    _assert_same(seen, recorded(tree, recipe, files))
    one = files[:1]
    _assert_same(observed(tree, recipe, one), recorded(tree, recipe, one))


_TAPE = {
    "test/a.js": """
        const test = require('tape');
        test('one', t => { t.equal(1, 1, 'same'); t.equal(1, 1, 'same'); t.end(); });
        test('two', t => { t.equal(1, 2); t.end(); });
        test('outer', t => { t.test('inner', s => { s.ok(true); s.end(); }); t.end(); });
        test.skip('skipped', t => { t.end(); });
        test('later', { todo: true }, t => { t.fail(); t.end(); });
        test('plan', t => { t.plan(2); t.pass(); });
    """,
    "test/broken.js": "require('tape'); require('./missing');",
    "test/throws.js": "require('tape')('x', t => { throw new Error('y'); });",
}


def test_tape(project: Project) -> None:
    tree = project("tape@5.9.0", _TAPE)
    recipe, files = recipe_of("tape"), ("test/a.js", "test/broken.js", "test/throws.js")
    seen = observed(tree, recipe, files)
    assert seen.reading.whole, seen.reading.breach
    assert set(seen.reading.broken_files) == {"test/broken.js", "test/throws.js"}
    assert seen.outcomes == {
        "test/a.js::one": "passed",
        "test/a.js::two": "failed",
        "test/a.js::inner": "passed",
        "test/a.js::later": "todo",
        "test/a.js::plan": "failed",
    }
    _assert_same(seen, recorded(tree, recipe, files))


def test_what_a_test_of_tape_prints_is_not_believed(project: Project) -> None:
    printed = "const test = require('tape'); test('a', t => { console.log('ok 1 - a'); t.ok(false); t.end(); });"
    seen = observed(project("tape@5.9.0", {"test/a.js": printed}), recipe_of("tape"), ("test/a.js",))
    assert "is due" in seen.reading.broken_files["test/a.js"]


_UVU = {
    "a.js": """
        const { test, suite } = require('uvu'), assert = require('uvu/assert');
        test('one', () => { console.log('  Total:     7'); });
        test('same', () => {});
        test('same', () => { assert.is(1, 2); });
        test('throws', () => { throw new TypeError('no'); });
        test.skip('skipped', () => {});
        test.run();
        const S = suite('S');
        S.before.each(context => { context.ready = true; });
        S('in', context => { assert.ok(context.ready); });
        S.run();
    """,
    "broken.js": "require('uvu'); require('./missing');",
    "exits.mjs": "import { test } from 'uvu'; test('x', () => {}); test('y', () => process.exit(0)); test.run();",
}


def test_uvu(project: Project) -> None:
    tree = project("uvu@0.5.6", _UVU)
    recipe, files = recipe_of("uvu"), tuple(sorted(_UVU))
    seen = observed(tree, recipe, files)
    assert seen.reading.whole, seen.reading.breach
    assert set(seen.reading.broken_files) == {"broken.js", "exits.mjs"}
    assert seen.outcomes == {
        "a.js::one": "passed",
        "a.js::same": "failed",
        "a.js::throws": "failed",
        "a.js::S > in": "passed",
        "exits.mjs::x": "passed",
        "exits.mjs::y": "error",
    }
    _assert_same(seen, recorded(tree, recipe, files))


def test_a_hook_that_uvu_passes_over_is_no_success(project: Project) -> None:
    hook = "const { test } = require('uvu'); test.before(() => { throw Error(); }); test('x', () => {}); test.run();"
    seen = observed(project("uvu@0.5.6", {"a.js": hook}), recipe_of("uvu"), ("a.js",))
    assert seen.exit_code == 0
    assert seen.outcomes == {"a.js::x": "error"}
    assert not seen.reading.whole


def test_a_child_with_the_same_options_tells_nothing(project: Project) -> None:
    forks = """
        import { fork } from 'node:child_process';
        import { Worker } from 'node:worker_threads';
        import { test } from 'uvu';
        test('forks', () => new Promise(done => {
          new Worker('require("uvu").test("in a worker", () => {})', { eval: true });
          fork('./child.cjs').on('exit', done);
        }));
        test.run();
    """
    files = {"a.mjs": forks, "child.cjs": "const { test } = require('uvu'); test('in a child', () => {}); test.run();"}
    seen = observed(project("uvu@0.5.6", files), recipe_of("uvu"), ("a.mjs",))
    assert seen.outcomes == {"a.mjs::forks": "passed"}
    assert seen.reading.whole, seen.reading.breach


_TAP = {
    "test/a.js": """
        const t = require('tap');
        t.equal(1, 1, 'bare');
        t.test('one', async t => { t.equal(1, 1, 'same'); t.equal(1, 1, 'same'); t.comment('hi'); });
        t.test('two', t => { t.equal(1, 2, 'differs'); t.end(); });
        t.test('group', async t => {
          t.ok(1, 'an assertion');
          await t.test('inner', async t => { t.ok(1); });
          await t.test('throws', async () => { throw new TypeError('no'); });
          await t.test('skipped', { skip: true }, async () => {});
        });
        t.test('later', { todo: 'some day' }, async () => {});
    """,
    "test/broken.js": "require('tap'); require('./missing');",
    "test/forged.js": "const t = require('tap'); t.test('x', async () => { console.log('ok 1 - x'); });",
    "test/good.js": "require('tap').test('good', async t => { t.ok(1); });",
}


def test_tap(project: Project) -> None:
    tree = project("tap@16.3.10", _TAP)
    recipe = recipe_of("tap", options="--no-coverage --reporter=tap --jobs=1 --no-bail")
    files = tuple(sorted(_TAP))
    seen = observed(tree, recipe, files)
    assert seen.reading.whole, seen.reading.breach
    assert set(seen.reading.broken_files) == {"test/broken.js", "test/forged.js"}
    assert {name: outcome for name, outcome in seen.outcomes.items() if "forged" not in name} == {
        "test/a.js::bare": "passed",
        "test/a.js::one": "passed",
        "test/a.js::two": "failed",
        "test/a.js::group > inner": "passed",
        "test/a.js::group > throws": "failed",
        "test/a.js::group > skipped": "skipped",
        "test/a.js::group": "failed",
        "test/a.js::later": "todo",
        "test/good.js::good": "passed",
    }
    how = {test.id.partition("::")[2]: test.fails_by for test in seen.reading.tests if test.fails_by}
    assert (how["two"], how["group > throws"]) == (FailsBy.ASSERTION, FailsBy.ERROR)
    _assert_same(seen, recorded(tree, recipe, files))
