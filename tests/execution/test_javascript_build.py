"""Installing: what goes to the store, what a failing install means, and a whole run in the real sandbox."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from casewright.errors import InfrastructureError
from execution.languages import javascript
from execution.languages.base import BuildStep, PlanRequest, Refusal
from execution.languages.javascript_build import build_environment
from execution.languages.javascript_failure import telling_lines
from execution.recipe import Recipe, Runtime
from execution.sandbox import Ended, SandboxOutcome
from tests.support.memory_tree import MemoryTree

_NODE = Runtime(name="node", version="20.20.2", executable=Path("/usr/bin/node"), prefix=Path("/usr"))
_needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="there is no npm on PATH")


class _Builder:
    """Runs the steps as plain commands, or answers each with a text that was written down."""

    def __init__(self, folder: Path, *answers: tuple[int, str]) -> None:
        self.tree = folder / "tree"
        self.folder = folder / "entry"
        self.tree.mkdir(parents=True)
        self.folder.mkdir()
        self.commands: list[str] = []
        self._answers = list(answers)

    def write(self, files: dict[str, str]) -> None:
        for path, text in files.items():
            (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
            (self.tree / path).write_text(text)

    def run(self, step: BuildStep) -> SandboxOutcome:
        self.commands.append(step.command)
        assert step.network
        if self._answers:
            code, text = self._answers.pop(0)
            output = text.encode()
        else:
            env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self.folder), "npm_config_offline": "true"}
            done = subprocess.run(["sh", "-c", step.command], cwd=self.tree, env=env, check=False, capture_output=True)
            code, output = done.returncode, done.stdout + done.stderr
        return SandboxOutcome(
            ended=Ended.EXITED,
            exit_code=code,
            output=output,
            output_bytes=len(output),
            report=b"",
            milliseconds=1,
            peak_memory_kb=1,
            memory_by="none",
        )


class _Installing(_Builder):
    """Leaves a runner in node_modules when a step succeeds."""

    def run(self, step: BuildStep) -> SandboxOutcome:
        outcome = super().run(step)
        if outcome.exit_code == 0:
            self.write({"node_modules/vitest/package.json": '{"version": "1.2.3"}', "node_modules/.bin/vitest": ""})
        return outcome


def _recipe(**settings: str) -> Recipe:
    return Recipe(
        language="javascript",
        runtime=_NODE,
        runner="vitest",
        date=0,
        settings=tuple({"install": "npm ci", "install_loose": "npm install", **settings}.items()),
    )


@pytest.mark.parametrize(
    ("log", "code"),
    [
        ("npm error code E404\nnpm error 404 Not Found", "environment-failed"),
        ("fatal error: libxml/tree.h: No such file or directory", "needs-system-package"),
        ("gyp ERR! stack Error: not found: make", "needs-system-package"),
        ("ERR_PNPM_UNSUPPORTED_ENGINE  Unsupported environment", "runtime-unavailable"),
        ("something else", "environment-failed"),
    ],
)
def test_what_a_failing_install_means(tmp_path: Path, log: str, code: str) -> None:
    outcome = build_environment(_recipe(), _Builder(tmp_path / "b", (1, log)))
    assert isinstance(outcome, Refusal)
    assert outcome.code == code
    assert "npm ci" in outcome.detail


@pytest.mark.parametrize(
    "log",
    [
        "npm error code ENOTFOUND",
        "ERR_PNPM_META_FETCH_FAIL  GET https://registry.example/x: request failed",
        "RequestError: self-signed certificate in certificate chain",
        "npm error code E503",
        "ENOSPC: no space left on device",
    ],
)
def test_a_network_or_a_disk_that_fails_is_no_verdict(tmp_path: Path, log: str) -> None:
    with pytest.raises(InfrastructureError):
        build_environment(_recipe(), _Builder(tmp_path / "b", (1, log)))


def test_a_stale_lock_falls_back_and_says_so(tmp_path: Path) -> None:
    stale = "ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with frozen-lockfile"
    builder = _Installing(tmp_path / "b", (1, stale), (0, ""))
    environment = build_environment(_recipe(), builder)
    assert not isinstance(environment, Refusal), environment
    assert builder.commands == ["npm ci", "npm install"]
    assert "ERR_PNPM_OUTDATED_LOCKFILE" in environment.notes[0]
    assert environment.runner_version == "1.2.3"


def test_peers_that_npm_refuses_are_let_through(tmp_path: Path) -> None:
    builder = _Installing(tmp_path / "b", (1, "npm error code ERESOLVE"), (0, ""))
    environment = build_environment(_recipe(), builder)
    assert not isinstance(environment, Refusal), environment
    assert builder.commands == ["npm ci", "npm ci --legacy-peer-deps"]


def test_npx_is_kept_from_the_package_that_it_stands_in(tmp_path: Path) -> None:
    builder = _Installing(tmp_path / "b", (1, "npm error code EDUPLICATEWORKSPACE"), (0, ""))
    environment = build_environment(_recipe(install="npx --yes pnpm@9.4.0 install"), builder)
    assert not isinstance(environment, Refusal), environment
    assert builder.commands[-1] == "npx --yes --prefix .. pnpm@9.4.0 install"


def test_no_way_round_is_tried_twice(tmp_path: Path) -> None:
    builder = _Builder(tmp_path / "b", *[(1, "npm error code ERESOLVE")] * 9)
    assert isinstance(build_environment(_recipe(), builder), Refusal)
    assert builder.commands == ["npm ci", "npm ci --legacy-peer-deps"]


def test_a_runner_that_was_not_installed_is_missed(tmp_path: Path) -> None:
    outcome = build_environment(_recipe(), _Builder(tmp_path / "b", (0, "")))
    assert isinstance(outcome, Refusal)
    assert outcome.code == "runner-missing"


def test_the_lines_that_tell() -> None:
    log = b"fetching\nnpm ERR! code E404\nnpm ERR! 404 gone\ndone\n"
    assert telling_lines(log, 1) == "npm ERR! code E404"
    assert telling_lines(b"one\n\ntwo\n", 5) == "one | two"
    assert telling_lines(b"", 5) == "no output"


# A runner of our own under vitest's name: an install without a registry, with everything else as it is.
_RUNNER = """#!/usr/bin/env node
const { writeFileSync } = require("node:fs");
const { resolve } = require("node:path");
const words = process.argv.slice(2);
const report = words.find((word) => word.startsWith("--outputFile=")).slice(13);
const files = words.filter((word) => word.endsWith(".test.js"));
const testResults = files.map((file) => {
  const failed = require(resolve(file)) !== true;
  const status = failed ? "failed" : "passed";
  return { name: resolve(file), status, assertionResults: [{ ancestorTitles: ["a"], title: "b", status }] };
});
const success = testResults.every((entry) => entry.status === "passed");
writeFileSync(report, JSON.stringify({ numTotalTests: files.length, success, testResults }));
process.exitCode = success ? 0 : 1;
"""


def _project() -> dict[str, str]:
    root = {
        "name": "root",
        "private": True,
        "workspaces": ["packages/*"],
        "devDependencies": {"vitest": "file:vendor/vitest"},
    }
    vitest = {"name": "vitest", "version": "9.9.9", "bin": {"vitest": "run.js"}}
    member = {"name": "a", "version": "1.0.0", "scripts": {"test": "vitest"}, "dependencies": {"b": "1.0.0"}}
    return {
        "package.json": json.dumps(root),
        "vendor/vitest/package.json": json.dumps(vitest),
        "vendor/vitest/run.js": _RUNNER,
        "packages/a/package.json": json.dumps(member),
        "packages/a/test/x.test.js": "module.exports = require('b') === 2;",
        "packages/b/package.json": json.dumps({"name": "b", "version": "1.0.0"}),
        "packages/b/index.js": "module.exports = 2;",
        "test/fixtures/app/node_modules/c/index.js": "",
    }


def _plan(files: dict[str, str], *graded: str) -> Recipe:
    tree = MemoryTree(files)
    request = PlanRequest(
        head=tree, base=tree, base_commit="0" * 40, head_commit="1" * 40, graded=graded, date=1_771_100_000
    )
    recipe = javascript.plan(request)
    assert isinstance(recipe, Recipe), recipe
    return recipe


@_needs_npm
def test_an_install_goes_to_the_store_and_the_tree_keeps_what_is_its_own(tmp_path: Path) -> None:
    builder = _Builder(tmp_path / "b")
    builder.write(_project())
    recipe = _plan(_project(), "packages/a/test/x.test.js")
    assert recipe.directory == "packages/a"
    environment = javascript.build(recipe, builder)
    assert not isinstance(environment, Refusal), environment
    assert environment.tree_mounts == ("node_modules",)
    assert environment.dependencies == ("vitest@9.9.9",)
    assert environment.runner_version == "9.9.9"
    assert "node_modules/.vite" in environment.tmpfs
    assert all((builder.folder / "tree" / path).is_dir() for path in (*environment.tree_mounts, *environment.tmpfs))
    assert not (builder.tree / "node_modules").exists()
    assert (builder.tree / "test/fixtures/app/node_modules/c/index.js").exists()


@_needs_npm
def test_the_recorded_check_runs_in_a_plain_folder(tmp_path: Path) -> None:
    builder = _Builder(tmp_path / "b")
    builder.write(_project())
    recipe = _plan(_project(), "packages/a/test/x.test.js")
    environment = javascript.build(recipe, builder)
    assert not isinstance(environment, Refusal), environment
    shutil.move(builder.folder / "tree/node_modules", builder.tree / "node_modules")
    check = javascript.check(recipe, ("packages/a/test/x.test.js",))
    folder = builder.tree / recipe.directory
    done = subprocess.run(["sh", "-c", check.command], cwd=folder, check=False, capture_output=True)
    assert done.returncode == 0, done.stderr
    report = (builder.tree / check.report_file).read_bytes().replace(str(builder.tree).encode(), b"/srv/case/repo")
    reading = javascript.read_recorded(check, report, done.stdout)
    assert [test.id for test in reading.tests] == ["packages/a/test/x.test.js::a > b"]
    assert reading.whole
