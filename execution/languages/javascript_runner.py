"""Which runner grades JavaScript tests, where it is started, and which files it collects. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from execution.languages.base import Refusal, TreeReader
from execution.languages.javascript_each_file import AVA, MOCHA, TAPE, UVU
from execution.languages.javascript_manifest import (
    Manifest,
    ManifestError,
    ancestors,
    exists,
    join,
    nearest_package,
    read_manifest,
    read_text,
)
from execution.languages.javascript_script import Invocation, find_invocation, find_plain_invocation, words

VITEST: Final = "vitest"
JEST: Final = "jest"
NODE: Final = "node:test"
TAP: Final = "tap"
KNOWN: Final = (VITEST, JEST, NODE, MOCHA, AVA, TAP, UVU, TAPE)
# Runners that we can name but not run yet; an honest name helps more than "none found".
_OTHERS: Final = ("jasmine", "karma", "playwright", "cypress", "qunit", "lab", "tstyche", "zora", "baretest")

_EXTENSION: Final = r"\.[cm]?[jt]sx?"
_TEST_NAME: Final = re.compile(rf".+\.(?:test|spec){_EXTENSION}")
_PLAIN_NAME: Final = re.compile(rf"tests?{_EXTENSION}")
_SCRIPT_NAME: Final = re.compile(rf".+{_EXTENSION}")
_DECLARATION: Final = re.compile(r".+\.d\.[cm]?ts|.+\.test-d\.[cm]?tsx?")
_TEST_FOLDERS: Final = frozenset({"test", "tests", "__tests__", "spec"})
# Test files in there are what tests work on, and mostly fail on purpose.
_NOT_GRADED: Final = frozenset({"fixture", "fixtures", "__fixtures__", "testdata", "node_modules"})
_SUPPORT_FOLDERS: Final = frozenset(
    {"helper", "helpers", "mocks", "__mocks__", "__snapshots__", "snapshots", "support", "utils", "data"}
)
_IMPORTS: Final[Mapping[str, re.Pattern[str]]] = {
    runner: re.compile(rf"""(?:from|import|require\()\s*['"]{re.escape(name)}['"]""")
    for runner, name in (
        (NODE, "node:test"),
        (VITEST, "vitest"),
        (JEST, "@jest/globals"),
        (MOCHA, "mocha"),
        (AVA, "ava"),
        (TAP, "tap"),
        (UVU, "uvu"),
        (TAPE, "tape"),
    )
}
_CALLS_A_TEST: Final = re.compile(r"\b(?:test|it|describe|suite)\s*(?:\.\s*\w+\s*)*[(`]")
_CONFIGS: Final[Mapping[str, tuple[str, ...]]] = {
    VITEST: ("vitest.config", "vite.config", "vitest.workspace"),
    JEST: ("jest.config",),
    MOCHA: (".mocharc",),
    AVA: ("ava.config",),
}
_CONFIG_ENDINGS: Final = ("ts", "mts", "js", "mjs", "cjs", "json", "jsonc", "yaml", "yml")


def collected(path: str, tree: TreeReader) -> bool:
    """Whether a runner takes a file of the tree as a test file when it is named."""
    folders, _, name = path.rpartition("/")
    parts = frozenset(folders.split("/"))
    if _DECLARATION.fullmatch(name) or _NOT_GRADED & parts:
        return False
    if _TEST_NAME.fullmatch(name):
        return exists(tree, path)
    text = read_text(tree, path) or ""
    in_folder = _SCRIPT_NAME.fullmatch(name) and _TEST_FOLDERS & parts and not _SUPPORT_FOLDERS & parts
    if not in_folder and not _PLAIN_NAME.fullmatch(name):
        return False
    # A whole file may be one test of tap, which calls nothing but assertions then.
    if _IMPORTS[TAP].search(text):
        return True
    if not _CALLS_A_TEST.search(text):
        return False
    # Jest collects all of __tests__; elsewhere a plain name is a test only when it says by which runner, or where the
    # package's runner is one whose tests name none.
    return "__tests__" in parts or any(pattern.search(text) for pattern in _IMPORTS.values()) or _by_mocha(tree, path)


def _by_mocha(tree: TreeReader, path: str) -> bool:
    """Whether a package's tests are mocha's, whose functions are globals; a manifest that is not JSON says no."""
    for folder in ancestors(nearest_package(tree, path) or "."):
        try:
            manifest = read_manifest(tree, folder)
        except ManifestError:
            return False
        if manifest is None:
            continue
        if find_invocation(manifest.scripts, MOCHA) is not None:
            return True
        if any(runner in manifest.dependencies for runner in (VITEST, JEST)):
            return False
        if MOCHA in manifest.dependencies:
            return True
    return False


@dataclass(frozen=True, kw_only=True, slots=True)
class RunnerChoice:
    """The runner, the folder that it is started in (``.`` is the root), how its script starts it, and why."""

    runner: str
    directory: str
    invocation: Invocation
    requirement: str
    why: str


def choose_runner(tree: TreeReader, graded: tuple[str, ...], override: str = "") -> RunnerChoice | Refusal:
    """Choose the runner of the graded files, by what they import, what the scripts start, and what is depended on.

    Raises ``ManifestError`` for a ``package.json`` that can't be read.
    """
    packages = {nearest_package(tree, path) for path in graded}
    folders = _candidate_folders(packages)
    manifests = [manifest for folder in folders if (manifest := read_manifest(tree, folder)) is not None]
    runner, why = (override, "runner as configured") if override else _named_runner(tree, graded, manifests)
    if runner not in KNOWN:
        return Refusal(
            code="runner-missing",
            detail=f"{why or 'no test runner is named'}; casewright runs {', '.join(KNOWN)}",
        )
    if not manifests:
        return RunnerChoice(runner=runner, directory=".", invocation=Invocation(), requirement="", why=why)
    home = next((manifest for manifest in manifests if _is_home(tree, manifest, runner)), None)
    if home is None and len(packages) > 1 and runner != NODE:
        names = ", ".join(sorted(folder or "." for folder in packages))
        return Refusal(
            code="runner-missing", detail=f"the graded files lie in {names}; no package above them has {runner}"
        )
    chosen = home or manifests[0]
    requirement = next((manifest.dependencies[runner] for manifest in manifests if runner in manifest.dependencies), "")
    return RunnerChoice(
        runner=runner,
        directory=chosen.directory,
        invocation=_invocation(chosen.scripts, runner),
        requirement=requirement,
        why=f"{why}, run in {chosen.directory}",
    )


def _invocation(scripts: Mapping[str, str], runner: str) -> Invocation:
    found = find_invocation(scripts, runner)
    if found is None and runner in {UVU, TAPE}:
        found = find_plain_invocation(scripts)
    return found or Invocation()


def _candidate_folders(packages: set[str | None]) -> tuple[str, ...]:
    """Return the folders that a run over all packages may start in, the nearest first."""
    lines = [ancestors(folder) for folder in sorted(folder for folder in packages if folder is not None)]
    if not lines:
        return (".",)
    return tuple(folder for folder in lines[0] if all(folder in line for line in lines))


def _is_home(tree: TreeReader, manifest: Manifest, runner: str) -> bool:
    """Whether a runner is started in this package: its scripts do, it depends on it, or a configuration lies there."""
    if find_invocation(manifest.scripts, runner) is not None or runner in manifest.dependencies:
        return True
    if runner in {JEST, MOCHA, AVA, TAP} and runner in manifest.raw:
        return True
    configs = tuple(
        join(manifest.directory, f"{name}.{end}") for name in _CONFIGS.get(runner, ()) for end in _CONFIG_ENDINGS
    )
    return any(exists(tree, path) for path in configs)


def _named_runner(tree: TreeReader, graded: tuple[str, ...], manifests: list[Manifest]) -> tuple[str, str]:
    """Return the runner (empty if none is known) and the evidence."""
    texts = {path: read_text(tree, path) or "" for path in graded}
    imported = {
        runner: path for path, text in texts.items() for runner, pattern in _IMPORTS.items() if pattern.search(text)
    }
    if len(imported) == 1:
        runner, path = next(iter(imported.items()))
        return runner, f"{runner}, which {path} imports"
    for path, text in texts.items():
        if re.search(r"""['"]bun:test['"]""", text):
            return "bun:test", f"{path} imports bun:test"
    for manifest in manifests:
        for runner in KNOWN:
            if find_invocation({"test": manifest.scripts.get("test", ""), **manifest.scripts}, runner) is not None:
                return runner, f"{runner}, which the scripts of {manifest.path} start"
    for manifest in manifests:
        found = next((name for name in KNOWN if name in manifest.dependencies), "")
        if found:
            return found, f"{found}, a dependency of {manifest.path}"
        programs = words(manifest.scripts)
        other = next((name for name in _OTHERS if name in programs or name in manifest.dependencies), "")
        if other:
            return other, f"{manifest.path} uses {other}"
    return "", ""
