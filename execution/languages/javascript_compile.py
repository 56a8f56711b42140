"""Whether tests work on what the repository's own build makes of its sources, and which script makes it. Pure.

What is built depends on the sources, so it can't be a part of an environment: built at the head it would hand the fix
to the base. It belongs in the check, before the runner, in both states, as ``pretest`` does it for ``npm test``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from execution.languages.base import TreeReader
from execution.languages.javascript_manifest import (
    DEPENDENCY_FIELDS,
    Manifest,
    exists,
    is_workspace,
    join,
    nearest_package,
    parent,
    read_manifest,
    read_text,
    workspace_folders,
)

# What makes files of files; linters, type checks without output and tests are no builds.
_BUILDS: Final = re.compile(
    r"(?:^|[\s:/])(?:build|compile|bundle|transpile|tsc|rollup|babel|tsup|tsdown|unbuild|esbuild|webpack|microbundle"
    r"|swc|ncc|bob|father|vite build|turbo|lerna run build)(?:$|[\s:])"
)
_NO_BUILD: Final = re.compile(r"--noEmit\b|\blint|\bprettier|\bstorybook|\bdocs?\b|\bwatch\b|\bclean\b")
_SCRIPTS: Final = ("build", "compile", "build:lib", "build:cjs", "transpile", "bundle", "dist")
_TASK_RUNNERS: Final[Mapping[str, tuple[str, ...]]] = {
    "gulp": ("gulpfile.js", "gulpfile.mjs", "gulpfile.cjs", "gulpfile.ts", "gulpfile.babel.js"),
    "grunt": ("Gruntfile.js", "Gruntfile.cjs", "gruntfile.js", "Gruntfile.coffee"),
}
_AT_PUBLISHING: Final = ("prepare", "prepack", "prepublishOnly", "prepublish")
_OUTPUT: Final = frozenset("dist lib build es esm cjs out umd output bundle compiled".split())
_RUN: Final = re.compile(r"(?:npm|pnpm|yarn|bun)(?:\s+(?:run|run-script|-s|--silent))*\s+([\w:.-]+)")
_IMPORT: Final = re.compile(
    r"""(?:\bfrom|\bimport|\brequire\(|\bimport\(|\brequire\.resolve\(|\b__dirname,|\bnew URL\()\s*['"]([^'"\n]+)['"]"""
)
_ENDINGS: Final = ("", ".js", ".cjs", ".mjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".json", ".node", ".vue", ".d.ts")
_CONFIGS: Final = tuple(
    f"{stem}.{end}"
    for stem in ("vitest.config", "vite.config", "vitest.workspace", "jest.config", "vitest.shared")
    for end in ("ts", "mts", "js", "mjs", "cjs", "json")
)
# Where a configuration maps names to sources, nothing built is asked for.
_MAPPED: Final = re.compile(r"\balias\b|moduleNameMapper|tsconfig-?[pP]aths|conditions\s*:\s*\[")
_MANAGERS: Final = re.compile(r"(?:^|[\s&|;(\"'])(pnpm|yarn|bun|bunx)\b|\b(turbo|lerna|nx)\b")


@dataclass(frozen=True, kw_only=True, slots=True)
class Compile:
    """A build before the tests: the folder and the command that is run in it, and why (reads on after a comma).

    ``calls_manager`` says whether it calls the package manager by name, which a plain clone has on no path.
    """

    directory: str
    command: str
    because: str
    calls_manager: bool = False


def needed_build(tree: TreeReader, directory: str, root: str, graded: tuple[str, ...]) -> Compile | None:
    """Return the build that tests run in ``directory`` need, or None.

    ``root`` is the folder of the install, ``graded`` the graded files. Raises ``ManifestError``.
    """
    manifest = read_manifest(tree, directory)
    if manifest is None:
        return None
    script = _before_test(manifest)
    if script:
        return _compile(manifest, script, f"since the test script of {manifest.path} runs it first")
    own = _missing_output(tree, graded) or _missing_own_entry(tree, manifest, graded)
    if own:
        script = _build_script(manifest)
        return _compile(manifest, script, own) if script else _by_task_runner(tree, manifest, own)
    # A run at the root may hold the tests of several members, each with its own dependencies.
    homes = dict.fromkeys((directory, *(nearest_package(tree, path) or directory for path in graded)))
    members = (member for folder in homes if (member := read_manifest(tree, folder)) is not None)
    sibling = next(filter(None, (_missing_sibling(tree, member, root) for member in members)), "")
    if not sibling:
        return None
    for folder in dict.fromkeys((root, directory)):
        package = read_manifest(tree, folder)
        script = _build_script(package) if package is not None else ""
        if package is not None and script:
            return _compile(package, script, sibling)
    return None


def _compile(manifest: Manifest, script: str, because: str) -> Compile:
    called = "\n".join(_all_called(manifest.scripts, script))
    return Compile(
        directory=manifest.directory,
        command=f"npm run {shlex.quote(script)}",
        because=because,
        calls_manager=bool(_MANAGERS.search(called)),
    )


def _by_task_runner(tree: TreeReader, manifest: Manifest, because: str) -> Compile | None:
    """Return the task ``build`` of gulp or grunt, where a package has no script for it and its scripts start those."""
    for program, files in _TASK_RUNNERS.items():
        started = any(re.search(rf"\b{program}\b", text) for text in manifest.scripts.values())
        if started and any(exists(tree, join(manifest.directory, name)) for name in files):
            command = f"node_modules/.bin/{program} build"
            return Compile(directory=manifest.directory, command=command, because=because)
    return None


def _all_called(scripts: Mapping[str, str], name: str) -> Iterator[str]:
    """Give the text of a script and of those that it runs."""
    pending, seen = [name], set[str]()
    while pending:
        one = pending.pop()
        if one in seen or one not in scripts:
            continue
        seen.add(one)
        yield scripts[one]
        pending += [called for called in (*_called(scripts[one]), f"pre{one}", f"post{one}") if called in scripts]


def _called(text: str) -> tuple[str, ...]:
    return tuple(match[1] for match in _RUN.finditer(text))


def _is_build(scripts: Mapping[str, str], name: str) -> bool:
    text = scripts.get(name, "")
    return bool(text) and bool(_BUILDS.search(f"{name} {text}")) and not _NO_BUILD.search(name)


def _before_test(manifest: Manifest) -> str:
    """Return the script that builds and that ``npm test`` runs before its tests, or an empty string."""
    scripts = manifest.scripts
    before = scripts.get("pretest", "")
    parts = [part.strip() for part in re.split(r"&&|;", before) if part.strip()]
    for name in (name for part in parts for name in _called(part)):
        if _is_build(scripts, name):
            return name
    if parts and all(_BUILDS.search(f" {part} ") and not _NO_BUILD.search(part) for part in parts):
        return "pretest"
    for name in (name for part in re.split(r"&&|;", scripts.get("test", "")) for name in _called(part)):
        if _is_build(scripts, name) and not re.match(r"test|unit", name):
            return name
    return ""


def _build_script(manifest: Manifest) -> str:
    for name in _SCRIPTS:
        if manifest.scripts.get(name):
            return name
    return next((name for name in _AT_PUBLISHING if _is_build(manifest.scripts, name)), "")


def _missing_output(tree: TreeReader, graded: tuple[str, ...]) -> str:
    """Say which graded file imports from a folder of built files that the tree does not hold, or nothing."""
    for path in graded:
        for wanted in _IMPORT.findall(read_text(tree, path) or ""):
            if not wanted.startswith("."):
                continue
            place = _resolved(parent(path), wanted)
            if place and _OUTPUT & set(place.split("/")) and not _is_there(tree, place):
                return f"since {path} imports {wanted}, which is built"
    return ""


def _missing_own_entry(tree: TreeReader, manifest: Manifest, graded: tuple[str, ...]) -> str:
    """Say who needs the package's own built entry: a graded file that imports it by name, or an environment of jest."""
    name = manifest.raw.get("name")
    texts = {path: text for path in _configs(tree, (manifest.directory,)) if (text := read_text(tree, path))}
    entry = next((one for one in _entries(manifest.raw) if not _entry_is_there(tree, manifest.directory, one)), "")
    if not entry:
        return ""
    for path, text in texts.items():
        # Miniflare starts what `main` names before any test.
        if re.search(r"testEnvironment['\"]?\s*:\s*['\"](?:jest-environment-)?miniflare", text):
            return f"since {path} starts {entry}, which is built"
    if isinstance(name, str) and not any(_MAPPED.search(text) for text in texts.values()):
        for path in graded:
            imports = _IMPORT.findall(read_text(tree, path) or "")
            if any(wanted == name or wanted.startswith(f"{name}/") for wanted in imports):
                return f"since {path} imports {name} by its name, whose {entry} is built"
    return ""


def _missing_sibling(tree: TreeReader, manifest: Manifest, root: str) -> str:
    """Say which member of the workspace the package depends on whose entry is built, or nothing."""
    if not is_workspace(tree, root):
        return ""
    folders = (manifest.directory, root)
    if any(_MAPPED.search(read_text(tree, path) or "") for path in _configs(tree, folders)):
        return ""
    for folder in workspace_folders(tree, root):
        if folder == manifest.directory:
            continue
        sibling = read_manifest(tree, folder)
        name = sibling.raw.get("name") if sibling is not None else None
        if sibling is None or not isinstance(name, str) or not _depends(manifest.raw, name):
            continue
        entry = next((one for one in _entries(sibling.raw) if not _entry_is_there(tree, folder, one)), "")
        if entry:
            return f"since {name} of the workspace is used by its {entry}, which is built"
    return ""


def _depends(raw: Mapping[str, Any], name: str) -> bool:
    return any(name in fields for field in DEPENDENCY_FIELDS if isinstance(fields := raw.get(field), dict))


def _configs(tree: TreeReader, folders: tuple[str, ...]) -> tuple[str, ...]:
    paths = (join(folder, name) for folder in dict.fromkeys(folders) for name in _CONFIGS)
    return tuple(path for path in paths if exists(tree, path))


def _entries(raw: Mapping[str, Any]) -> Iterator[str]:
    """Give the files that a package is entered by, as its manifest names them for node."""
    exports = raw.get("exports")
    entry = exports.get(".", exports) if isinstance(exports, dict) else exports
    while isinstance(entry, dict):
        entry = next((entry[key] for key in ("node", "import", "require", "default") if key in entry), None)
    found = [entry, raw.get("main"), raw.get("module")]
    yield from (one for one in found if isinstance(one, str) and not one.endswith((".d.ts", "package.json")))


def _entry_is_there(tree: TreeReader, directory: str, entry: str) -> bool:
    place = _resolved(directory, f"./{entry.removeprefix('./')}")
    built = bool(_OUTPUT & set(place.split("/")))
    return not built or "*" in place or _is_there(tree, place)


def _resolved(folder: str, wanted: str) -> str:
    """Return the path that a relative import means, from the tree's root; empty where it leads out of it."""
    parts = [] if folder == "." else folder.split("/")
    for part in wanted.split("?", maxsplit=1)[0].split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part not in {".", ""}:
            parts.append(part)
    return "/".join(parts)


def _is_there(tree: TreeReader, place: str) -> bool:
    stem = re.sub(r"\.[cm]?js$", "", place)
    names = {f"{base}{end}" for base in (place, stem) for end in _ENDINGS}
    names |= {f"{place}/index{end}" for end in _ENDINGS[1:]} | {f"{place}/package.json"}
    return any(exists(tree, name) for name in names)
