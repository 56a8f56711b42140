"""Installing a JavaScript tree: the package manager in the sandbox, then every node_modules folder into the store."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from casewright.errors import InfrastructureError
from execution.languages.base import Builder, BuildStep, Refusal
from execution.languages.javascript_failure import (
    Failure,
    package_of_log,
    read_failure,
    remedy,
    telling_lines,
    way_round,
)
from execution.languages.javascript_install_scripts import MODULES, MOST, rebuild_command, scripted_packages
from execution.languages.javascript_installer import BUILD_ENV, dated
from execution.languages.javascript_manifest import DEPENDENCY_FIELDS, join
from execution.languages.javascript_runner import NODE
from execution.languages.javascript_runtime import headers, runtime_env, runtime_mounts
from execution.languages.javascript_setup import shared_setup, tools_command
from execution.languages.system_packages import system_need
from execution.recipe import Environment, Recipe
from execution.sandbox import Ended, SandboxOutcome

# Where runners and their tools keep caches; they get a small tmpfs, since the environment is read-only.
CACHES: Final = (".vite", ".vite-temp", ".vitest", ".cache")
_INSTALL_SECONDS: Final = 900
_SCRIPT_SECONDS: Final = 300


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
        for step in filter(None, (recipe.setting("patch"), tools_command(recipe))):
            outcome = _run(recipe, builder, step)
            if outcome.exit_code != 0:
                return _refusal(step, outcome, read_failure(outcome.output), ())
            command = f"{command} && {step}"
        command = " && ".join((command, *_run_scripts(recipe, builder, notes)))
    folders = tuple(folder for folder in _module_folders(builder.tree) if folder not in tracked)
    version = _runner_version(builder.tree, recipe)
    if version is None:
        return Refusal(code="runner-missing", detail=f"{recipe.runner} is not among what was installed")
    dependencies = set(_direct_dependencies(builder.tree, recipe))
    if recipe.runner != NODE:
        dependencies.add(f"{recipe.runner}@{version}")
    _store_modules(builder, folders)
    return Environment(
        folder=builder.folder,
        era=recipe.era(),
        runtime=recipe.runtime,
        setup=shared_setup(recipe, command),
        dependencies=tuple(sorted(dependencies)),
        runner_version=version,
        tree_mounts=folders,
        tmpfs=tuple(join(folder, cache) for folder in folders for cache in CACHES),
        notes=tuple(notes[len(recipe.why) :]),
    )


def _install(recipe: Recipe, builder: Builder, notes: list[str]) -> str | Refusal:
    """Run the install, or what goes round its failure; return the command that worked."""
    command = dated(recipe.setting("install"), recipe.date)
    tried = {command}
    failed: list[str] = []
    while True:
        outcome = _run(recipe, builder, command)
        if outcome.exit_code == 0:
            return command
        failure = Failure.OTHER if outcome.ended == Ended.TIMEOUT else read_failure(outcome.output)
        other = way_round(failure, command, recipe.setting("install_loose"), outcome.output)
        if not other or other in tried:
            return _refusal(command, outcome, failure, tuple(failed))
        failed.append(f"`{command}` failed: {telling_lines(outcome.output, 2)}")
        notes.append(f"`{command}` failed ({telling_lines(outcome.output, 1)}); installed with `{other}`")
        command = other
        tried.add(command)


def _run_scripts(recipe: Recipe, builder: Builder, notes: list[str]) -> tuple[str, ...]:
    """Run the install scripts of dependencies, together or else one by one; return the commands that worked.

    One that fails mostly wants a host that can't be reached: the tests say whether that matters.
    """
    names = scripted_packages(builder.tree / recipe.setting("install_directory", "."))
    if not names or not recipe.setting("rebuild"):
        return ()
    if len(names) > MOST:
        notes.append(f"the install scripts of {len(names)} packages were left out")
        return ()
    with_headers = bool(headers(recipe.runtime))

    def attempt(some: tuple[str, ...]) -> tuple[str, SandboxOutcome]:
        command = rebuild_command(recipe.setting("rebuild"), some, with_headers=with_headers)
        return command, _run(recipe, builder, command, _SCRIPT_SECONDS)

    command, outcome = attempt(names)
    if outcome.exit_code == 0:
        return (command,)
    worked = []
    for name in names:
        command, outcome = attempt((name,)) if len(names) > 1 else (command, outcome)
        if outcome.exit_code == 0:
            worked.append(command)
        else:
            notes.append(f"the install script of {name} failed and was left out: {telling_lines(outcome.output, 1)}")
    return tuple(worked)


def _refusal(command: str, outcome: SandboxOutcome, failure: Failure, tried: tuple[str, ...]) -> Refusal:
    lines = telling_lines(outcome.output, 4)
    step = f"`{command}`"
    if outcome.ended == Ended.TIMEOUT:
        words = f"{step} did not end within {_INSTALL_SECONDS} s: {lines}"
        return Refusal(code="environment-failed", detail=words, step=step, tried=tried, remedy=remedy(failure, b""))
    if failure is Failure.NETWORK:
        raise InfrastructureError(f"{step} failed on the network: {lines}", "try again when the registry answers")
    own = failure in {Failure.NEEDS_SYSTEM_PACKAGE, Failure.RUNTIME_UNAVAILABLE}
    need = system_need(outcome.output.decode("utf-8", "replace")) if own else None
    return Refusal(
        code=failure.value if own else "environment-failed",
        detail=f"{step} ended with {outcome.exit_code}: {lines}",
        step=step,
        package=need.package if need else package_of_log(outcome.output),
        lines=tuple(lines.split(" | ")),
        tried=tried,
        remedy=remedy(failure, outcome.output),
    )


def _run(recipe: Recipe, builder: Builder, command: str, seconds: int = _INSTALL_SECONDS) -> SandboxOutcome:
    directory = recipe.setting("install_directory", ".")
    return builder.run(
        BuildStep(
            command=command if directory == "." else f"cd {shlex.quote(directory)} && {command}",
            network=True,
            env={**BUILD_ENV, **runtime_env(recipe.runtime)},
            mounts=runtime_mounts(recipe.runtime),
            seconds=seconds,
        )
    )


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


def _installed_version(folder: Path) -> str | None:
    """Return the version of a dependency; None for a member of the workspace, which is no dependency but the tree."""
    return _package_version(folder) if MODULES in folder.resolve().parts else None


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


def _direct_dependencies(tree: Path, recipe: Recipe) -> Iterator[str]:
    """Give ``name@version`` of what the install's root and the tested package ask for and the install gave."""
    root = recipe.setting("install_directory", ".")
    for directory in {root, recipe.directory}:
        try:
            document = json.loads((tree / directory / "package.json").read_bytes())
        except (OSError, ValueError):
            continue
        for field in DEPENDENCY_FIELDS:
            wanted = document.get(field) if isinstance(document, dict) else None
            for name in wanted if isinstance(wanted, dict) else ():
                places = (tree / folder / MODULES / name for folder in (directory, root))
                version = next(filter(None, map(_installed_version, places)), None)
                if version is not None:
                    yield f"{name}@{version}"
