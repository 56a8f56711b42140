"""Installing a JavaScript tree: the package manager in the sandbox, then every node_modules folder into the store."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from casewright.errors import InfrastructureError
from execution.languages.base import Builder, BuildStep, Refusal
from execution.languages.javascript_installer import BUILD_ENV, dated
from execution.languages.javascript_manifest import DEPENDENCY_FIELDS, join
from execution.languages.javascript_runner import NODE
from execution.languages.javascript_runtime import runtime_env, runtime_mounts
from execution.languages.javascript_setup import shared_setup
from execution.recipe import Environment, Recipe
from execution.sandbox import Ended, SandboxOutcome

MODULES: Final = "node_modules"
# Where runners and their tools keep caches; they get a small tmpfs, since the environment is read-only.
CACHES: Final = (".vite", ".vite-temp", ".vitest", ".cache")
_INSTALL_SECONDS: Final = 900

_STALE_LOCK: Final = re.compile(
    rb"ERR_PNPM_OUTDATED_LOCKFILE|ERR_PNPM_FROZEN_LOCKFILE|ERR_PNPM_LOCKFILE_(?:CONFIG_MISMATCH|BREAKING_CHANGE)"
    rb"|can only install packages when your package\.json and|Your lockfile needs to be updated|YN0028"
    rb"|lockfile had changes, but lockfile is frozen|is not up[ -]to[ -]date with|Missing: .* from lock file"
)
_NO_DATES: Final = re.compile(rb"ETARGET|notarget|ENOVERSIONS|No versions available|with a date before")
_NETWORK: Final = re.compile(
    rb"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENETUNREACH|EHOSTUNREACH"
    rb"|socket hang up|network (?:request|timeout|connectivity)|UNABLE_TO_(?:GET|VERIFY)|SELF_SIGNED_CERT"
    rb"|[Ss]elf[- ]signed certificate|unable to (?:get|verify)"
    rb"|CERT_HAS_EXPIRED|ERR_PNPM_(?:META_)?FETCH_FAIL|ERR_PNPM_FETCH_(?:5\d\d|403|429)"
    rb"|npm (?:ERR!|error) code E(?:5\d\d|403|429)"
    rb"|Request failed \"?(?:5\d\d|403|429)|ENOSPC"
)
_SYSTEM_PACKAGE: Final = re.compile(
    rb"gyp ERR! (?:find Python|stack Error: not found: make)|fatal error: \S+\.h: No such file"
    rb"|Package \S+ was not found in the pkg-config search path|error while loading shared libraries: (\S+)"
)
_TELLING: Final = re.compile(rb"ERR|rror|not found|nsupported|incompatible|EBADENGINE|WARN.*lock")


def build_environment(recipe: Recipe, builder: Builder) -> Environment | Refusal:
    """Install what the recipe says and move it to the store.

    Raises ``InfrastructureError`` when the network, the registry or the disk failed.
    """
    tracked = frozenset(_module_folders(builder.tree))
    command, notes = recipe.setting("install"), list(recipe.why)
    if command:
        used = _install(recipe, builder, notes)
        if isinstance(used, Refusal):
            return used
        command = used
    folders = tuple(folder for folder in _module_folders(builder.tree) if folder not in tracked)
    version = _runner_version(builder.tree, recipe)
    if version is None:
        return Refusal(code="runner-missing", detail=f"{recipe.runner} is not among what was installed")
    dependencies = tuple(_direct_dependencies(builder.tree, recipe.setting("install_directory", ".")))
    _store_modules(builder, folders)
    return Environment(
        folder=builder.folder,
        era=recipe.era(),
        runtime=recipe.runtime,
        setup=shared_setup(recipe, command),
        dependencies=dependencies,
        runner_version=version,
        tree_mounts=folders,
        tmpfs=tuple(join(folder, cache) for folder in folders for cache in CACHES),
        notes=tuple(notes[len(recipe.why) :]),
    )


def _install(recipe: Recipe, builder: Builder, notes: list[str]) -> str | Refusal:
    """Run the install, or its fallback; return the command that worked."""
    command, loose = dated(recipe.setting("install"), recipe.date), recipe.setting("install_loose")
    outcome = _run(recipe, builder, command)
    if outcome.exit_code == 0:
        return command
    if loose and (_STALE_LOCK.search(outcome.output) or _NO_DATES.search(outcome.output)):
        notes.append(f"`{command}` failed ({telling_lines(outcome.output, 1)}); installed with `{loose}`")
        command = loose
        outcome = _run(recipe, builder, command)
        if outcome.exit_code == 0:
            return command
    return _install_refusal(command, outcome)


def _install_refusal(command: str, outcome: SandboxOutcome) -> Refusal:
    lines = telling_lines(outcome.output, 6)
    if outcome.ended == Ended.TIMEOUT:
        return Refusal(
            code="environment-failed", detail=f"`{command}` did not end within {_INSTALL_SECONDS} s: {lines}"
        )
    if _NETWORK.search(outcome.output):
        raise InfrastructureError(f"`{command}` failed on the network: {lines}", "try again when the registry answers")
    if _SYSTEM_PACKAGE.search(outcome.output):
        return Refusal(code="needs-system-package", detail=f"`{command}`: {lines}")
    return Refusal(code="environment-failed", detail=f"`{command}` ended with {outcome.exit_code}: {lines}")


def _run(recipe: Recipe, builder: Builder, command: str) -> SandboxOutcome:
    directory = recipe.setting("install_directory", ".")
    return builder.run(
        BuildStep(
            command=command if directory == "." else f"cd '{directory}' && {command}",
            network=True,
            env={**BUILD_ENV, **runtime_env(recipe.runtime)},
            mounts=runtime_mounts(recipe.runtime),
            seconds=_INSTALL_SECONDS,
        )
    )


def telling_lines(output: bytes, most: int) -> str:
    """Return the lines of a log that say what went wrong, the last ones if none stands out, as one line of text."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if _TELLING.search(line)] or lines
    return " | ".join(line[:200].decode("utf-8", "replace") for line in telling[:most]) or "no output"


def _module_folders(tree: Path) -> Iterator[str]:
    """Give every node_modules folder of a tree that is not inside another one, as paths from its root."""
    for parent, folders, _ in os.walk(tree):
        if MODULES in folders and not (Path(parent) / MODULES).is_symlink():
            yield (Path(parent) / MODULES).relative_to(tree).as_posix()
        folders[:] = sorted(name for name in folders if name not in {MODULES, ".git"})


def _store_modules(builder: Builder, folders: tuple[str, ...]) -> None:
    for folder in folders:
        target = builder.folder / "tree" / folder
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(builder.tree / folder, target)
        for cache in CACHES:
            place = target / cache
            if place.is_symlink() or place.is_file():
                place.unlink()
            elif place.is_dir():
                shutil.rmtree(place)
            place.mkdir()


def _package_version(folder: Path) -> str | None:
    try:
        document = json.loads((folder / "package.json").read_bytes())
    except (OSError, ValueError):
        return None
    version = document.get("version") if isinstance(document, dict) else None
    return version if isinstance(version, str) else None


def _runner_version(tree: Path, recipe: Recipe) -> str | None:
    """Return the version of the runner that a run in the recipe's directory finds, or None where it finds none."""
    if recipe.runner == NODE:
        return recipe.runtime.version
    folder = tree / recipe.directory
    while True:
        version = _package_version(folder / MODULES / recipe.runner)
        if version is not None and os.path.lexists(folder / MODULES / ".bin" / recipe.runner):
            return version
        if folder == tree or tree not in folder.parents:
            return None
        folder = folder.parent


def _direct_dependencies(tree: Path, directory: str) -> Iterator[str]:
    """Give ``name@version`` of what the package.json of a folder asks for and the install gave, sorted by name."""
    folder = tree / directory
    try:
        document = json.loads((folder / "package.json").read_bytes())
    except (OSError, ValueError):
        return
    names: set[str] = set()
    for field in DEPENDENCY_FIELDS:
        wanted = document.get(field) if isinstance(document, dict) else None
        names.update(wanted if isinstance(wanted, dict) else ())
    for name in sorted(names):
        version = _package_version(folder / MODULES / name)
        if version is not None:
            yield f"{name}@{version}"
