"""Install scripts of dependencies: which are run, by which command, and that none gets out of the sandbox."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from pathlib import Path

import pytest

from casewright.store import DOWNLOADS, Store
from execution.build import download_key, environment
from execution.languages import javascript
from execution.languages.base import PlanRequest
from execution.languages.javascript_install_scripts import rebuild_command, scripted_packages
from execution.recipe import Recipe
from execution.sandboxes import choose
from tests.support.memory_tree import MemoryTree
from tests.support.sandbox import needs_sandbox

_needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="there is no npm on PATH")


def _package(folder: Path, name: str, **fields: object) -> None:
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"name": name, "version": "1.0.0", **fields}))


def test_packages_that_a_test_may_need_the_scripts_of(tmp_path: Path) -> None:
    modules = tmp_path / "node_modules"
    _package(modules / "plain", "plain", scripts={"test": "x", "prepare": "tsc"})
    _package(modules / "native", "native")
    (modules / "native/binding.gyp").touch()
    _package(modules / "@scope/made", "@scope/made", scripts={"install": "node-gyp-build"})
    _package(modules / ".pnpm/deep@1/node_modules/deep", "deep", scripts={"postinstall": "node make.js"})
    _package(modules / "plain/node_modules/nested", "nested", scripts={"preinstall": "make"})
    _package(modules / "husky", "husky", scripts={"postinstall": "node x"})
    _package(modules / "puppeteer", "puppeteer", scripts={"install": "node install.js"})
    _package(modules / "greets", "greets", scripts={"postinstall": "echo thank you"})
    _package(modules / "odd", "a; rm -rf /", scripts={"postinstall": "make"})
    _package(modules / "esbuild", "esbuild", scripts={"postinstall": "node install.js"})
    program = {"@esbuild/linux-x64": "1"}
    _package(
        modules / "new/node_modules/esbuild", "esbuild", scripts={"postinstall": "x"}, optionalDependencies=program
    )
    (modules / ".bin").mkdir()
    (modules / "linked").symlink_to(modules / "native")
    assert scripted_packages(tmp_path) == ("@scope/made", "deep", "esbuild", "native", "nested")
    assert scripted_packages(tmp_path / "nothing") == ()
    shutil.rmtree(modules / "esbuild")
    assert "esbuild" not in scripted_packages(tmp_path)


def test_node_gyp_is_given_the_headers_that_lie_beside_node() -> None:
    assert rebuild_command("npm rebuild", ("a", "b"), with_headers=False) == "npm rebuild a b"
    command = rebuild_command("npx --yes pnpm@9.0.0 rebuild", ("a",), with_headers=True)
    assert command.startswith("npm_config_nodedir=")
    assert command.endswith(" npx --yes pnpm@9.0.0 rebuild a")


# Tries what a hostile package would, and leaves what came of it in its own folder.
_HOSTILE = """
const fs = require("node:fs");
const places = JSON.parse(fs.readFileSync("places.json", "utf8"));
const told = {};
const attempt = (name, act) => {
  try { told[name] = String(act()); } catch (error) { told[name] = "no " + error.code; }
};
for (const place of places) {
  attempt("write " + place, () => fs.writeFileSync(place + "/poison", "x"));
  attempt("read " + place, () => fs.readdirSync(place));
}
attempt("shadow", () => fs.readFileSync("/etc/shadow", "utf8"));
attempt("root", () => fs.writeFileSync("/usr/poison", "x"));
told.environment = JSON.stringify(process.env);
told.parent = JSON.stringify(fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).map((id) => {
  try { return fs.readFileSync("/proc/" + id + "/environ", "utf8"); } catch (error) { return ""; }
}));
told.uid = process.getuid();
fs.writeFileSync("told.json", JSON.stringify(told));
"""


def _archive(path: Path, files: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size, member.mode = len(text.encode()), 0o755
            archive.addfile(member, io.BytesIO(text.encode()))


def _export(folder: Path, places: list[str]) -> None:
    hostile = {"name": "hostile", "version": "1.0.0", "scripts": {"postinstall": "node hostile.js"}}
    runner = {"name": "vitest", "version": "9.9.9", "bin": {"vitest": "run.js"}}
    asked = {"devDependencies": {"vitest": "file:vendor/vitest.tgz", "hostile": "file:vendor/hostile.tgz"}}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(json.dumps(asked))
    _archive(folder / "vendor/vitest.tgz", {"package.json": json.dumps(runner), "run.js": "#!/usr/bin/env node\n"})
    _archive(
        folder / "vendor/hostile.tgz",
        {"package.json": json.dumps(hostile), "hostile.js": _HOSTILE, "places.json": json.dumps(places)},
    )


@_needs_npm
@needs_sandbox
def test_an_install_script_gets_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_TOKEN_OF_MINE", "very-secret-value")
    store = Store(tmp_path / "cache")
    # What another repository has downloaded, and a folder of the user's that anybody may write.
    with store.shared(DOWNLOADS, download_key("another")) as others:
        own = tmp_path / "own"
        own.mkdir(mode=0o777)
        (own / "secret.txt").write_text("x")
        places = [str(others), str(own), str(tmp_path), str(store.root)]
        package = json.dumps({"devDependencies": {"vitest": "file:vendor/vitest.tgz", "hostile": "1"}})
        tree = MemoryTree({"package.json": package, "a.test.js": "import 'vitest'"})
        request = PlanRequest(
            head=tree, base=tree, base_commit="0" * 40, head_commit="1" * 40, graded=("a.test.js",), date=1_771_100_000
        )
        recipe = javascript.plan(request)
        assert isinstance(recipe, Recipe), recipe
        with environment(
            recipe=recipe,
            language=javascript,
            sandbox=choose(),
            store=store,
            repository="mine",
            export_head=lambda folder: _export(folder, places),
        ) as built:
            assert any("npm rebuild hostile" in command for command in built.setup), (built.setup, built.notes)
            told = json.loads((built.folder / "tree/node_modules/hostile/told.json").read_text())
        assert not list(others.iterdir())
        assert sorted(path.name for path in own.iterdir()) == ["secret.txt"]
    refused = {name: what for name, what in told.items() if name.split()[0] in {"write", "read", "shadow", "root"}}
    assert len(refused) == 2 * len(places) + 2
    assert all(what.startswith("no ") for what in refused.values()), refused
    assert "very-secret-value" not in json.dumps(told)
    assert told["uid"] != 0
