"""The set-up that a case records: what a stranger runs in a plain clone at the base, with git, node and npm. Pure."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping

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


def setup_commands(recipe: Recipe, install: str) -> tuple[str, ...]:
    """Return the commands, to be run by sh at the clone's root.

    Both states use the head's dependencies, so what differs is borrowed from the head for the install and put back.
    """
    if not install:
        return ()
    directory = recipe.setting("install_directory", ".")
    step = install if directory == "." else f"(cd {shlex.quote(directory)} && {install})"
    borrowed: Mapping[str, str] = json.loads(recipe.setting("borrowed", "{}"))
    if not borrowed:
        return (step, *_put_back_lock(recipe, install))
    taken = [path for path, how in borrowed.items() if how != "removed"]
    known = [path for path, how in borrowed.items() if how != "added"]
    removed = [path for path, how in borrowed.items() if how == "removed"]
    added = [path for path, how in borrowed.items() if how == "added"]
    head = recipe.setting("head_commit")
    commands = []
    if taken:
        commands.append(f"git --literal-pathspecs restore --source={head} --worktree -- {_quoted(taken)}")
    if removed:
        commands.append(f"rm -f -- {_quoted(removed)}")
    commands.append(step)
    commands += _put_back_lock(recipe, install)
    if known:
        commands.append(f"git --literal-pathspecs restore --worktree -- {_quoted(known)}")
    if added:
        commands.append(f"rm -f -- {_quoted(added)}")
    return tuple(commands)


def shared_setup(recipe: Recipe, install: str) -> tuple[str, ...]:
    """Return the commands that serve every change of the era, whatever its base has in its manifests.

    The head that the environment is built for is as good a source of the era's manifests as any other.
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


def _put_back_lock(recipe: Recipe, install: str) -> tuple[str, ...]:
    """A lock file that an install was allowed to rewrite is the repository's again afterwards."""
    lock = recipe.setting("lock")
    borrowed: Mapping[str, str] = json.loads(recipe.setting("borrowed", "{}"))
    if not lock or lock in borrowed or install != recipe.setting("install_loose"):
        return ()
    return (f"git --literal-pathspecs restore --worktree -- {_quoted([lock])}",)


def _quoted(paths: list[str]) -> str:
    return " ".join(shlex.quote(path) for path in paths)
