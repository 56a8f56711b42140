"""The set-up that a case records: what a stranger runs in a plain clone at the base, with git, node and npm. Pure."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace

from execution.languages.base import Check
from execution.languages.javascript_installer import dated
from execution.recipe import Recipe


def borrowed_files(head: Mapping[str, str], base: Mapping[str, str]) -> Mapping[str, str]:
    """Return the files that an install sees differently: path to ``changed``, ``added`` or ``removed``.

    ``head`` and ``base`` hold the files that decide the install in each tree, with the digest of what it reads there.
    """
    borrowed = {}
    for path in sorted({*head, *base}):
        if head.get(path) != base.get(path):
            borrowed[path] = "added" if path not in base else "removed" if path not in head else "changed"
    return borrowed


def shared_setup(recipe: Recipe, install: str) -> tuple[str, ...]:
    """Return the commands that serve every change of the era, whatever its base has in its manifests.

    Both states use the head's dependencies, so its manifests are borrowed for the install and put back. The head that
    the environment is built for is as good a source of the era's manifests as any other.
    """
    files = [path for path, _ in recipe.inputs if path != "install"]
    if not install or not files:
        return ()
    directory = recipe.setting("install_directory", ".")
    return (
        f"git --literal-pathspecs restore --source={recipe.setting('head_commit')} --worktree -- {_quoted(files)}",
        install if directory == "." else f"(cd {shlex.quote(directory)} && {install})",
        "git restore --worktree -- .",
        f"git --literal-pathspecs clean -f -q -- {_quoted(files)}",
    )


def setup_commands(recipe: Recipe, shared: tuple[str, ...]) -> tuple[str, ...]:
    """Return the commands for one change, from those that serve all: without what the change has no need of."""
    if not shared:
        return ()
    step = shared[1]
    borrowed: dict[str, str] = json.loads(recipe.setting("borrowed", "{}"))
    lock = recipe.setting("lock")
    if lock and dated(recipe.setting("install"), recipe.date) not in step:
        # An install that was not held to the lock file has rewritten it.
        borrowed.setdefault(lock, "rewritten")
    taken = [path for path, how in borrowed.items() if how in {"added", "changed"}]
    known = [path for path, how in borrowed.items() if how != "added"]
    removed = [path for path, how in borrowed.items() if how == "removed"]
    added = [path for path, how in borrowed.items() if how == "added"]
    commands = [step]
    if removed:
        commands.insert(0, f"rm -f -- {_quoted(removed)}")
    if taken:
        source = recipe.setting("head_commit")
        commands.insert(0, f"git --literal-pathspecs restore --source={source} --worktree -- {_quoted(taken)}")
    if known:
        commands.append(f"git --literal-pathspecs restore --worktree -- {_quoted(known)}")
    if added:
        commands.append(f"rm -f -- {_quoted(added)}")
    return tuple(commands)


def tools_command(recipe: Recipe) -> str:
    """Return what puts the package manager beside the clone, for a build whose scripts call it; or an empty string.

    It is run in the folder of the install.
    """
    tools = recipe.setting("tools")
    # Bun's package is a stand-in for a program that its own script fetches from the registry.
    scripts = "" if tools.startswith("bun@") else " --ignore-scripts"
    prefix = _up(recipe.setting("install_directory", ".")) + "../env"
    return f"npm install --prefix {prefix} --no-save --no-audit --no-fund{scripts} {tools}" if tools else ""


def with_compile(recipe: Recipe, check: Check) -> Check:
    """Return a check that first runs the repository's own build, where the tests need what it makes.

    The tests run whatever comes of it, and they alone decide: a build that ends with an error may have built enough,
    and one that has built nothing is seen by them.
    """
    build = recipe.setting("compile")
    if not build:
        return check
    up = _up(recipe.directory)
    steps = [build]
    folder = recipe.setting("compile_directory", ".")
    if folder != recipe.directory:
        steps.insert(0, f"cd {shlex.quote(up + folder)}")
    if recipe.setting("tools"):
        # Told from the folder that the check stands in, so it is set before another one is entered.
        steps.insert(0, f'export PATH="$PWD/{up}../env/node_modules/.bin:$PATH"')
    # What it prints may not stand where a runner prints its report.
    first = f"({' && '.join(steps)}) >&2"
    *start, command = check.observed
    return replace(
        check,
        command=f"{first}; {check.command}",
        observed=(*start, f"{first}; {command}"),
        notes=(*check.notes, f"builds first, with `{build}`: the tests work on what it makes"),
    )


def _up(directory: str) -> str:
    return "" if directory == "." else "../" * (directory.count("/") + 1)


def _quoted(paths: list[str]) -> str:
    return " ".join(shlex.quote(path) for path in paths)
