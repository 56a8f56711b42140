"""The recorded set-up, run by sh in real clones whose base has other manifests than the head."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from execution.languages.javascript_setup import borrowed_files, setup_commands, shared_setup
from execution.recipe import Recipe, Runtime

_NODE = Runtime(name="node", version="20.20.2", executable=Path("/usr/bin/node"), prefix=Path("/usr"))
# What an "install" would do with the manifests is told by what it sees of them.
_INSTALL = "cat package.json new.lock .npmrc > seen.txt 2>/dev/null; echo rewritten > new.lock"


def _git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=Dev", "-c", "user.email=dev@example.com", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _commit(folder: Path, files: dict[str, str | None]) -> str:
    for path, text in files.items():
        if text is None:
            (folder / path).unlink()
        else:
            (folder / path).write_text(text)
    _git(folder, "add", "-A")
    _git(folder, "commit", "-q", "-m", "a step")
    return _git(folder, "rev-parse", "HEAD")


@pytest.fixture
def clone(tmp_path: Path) -> tuple[Path, str]:
    """A clone at its base; the head's commit is known to it."""
    _git(tmp_path, "init", "-q", "-b", "main", "repo")
    folder = tmp_path / "repo"
    base = _commit(folder, {"package.json": "old\n", ".npmrc": "old\n", "a.js": "1\n"})
    head = _commit(folder, {"package.json": "new\n", "new.lock": "locked\n", ".npmrc": None})
    _git(folder, "checkout", "-q", "--detach", base)
    return folder, head


def _recipe(head: str, **settings: str) -> Recipe:
    return Recipe(
        language="javascript",
        runtime=_NODE,
        runner="vitest",
        date=0,
        inputs=(("new.lock", "1"), ("package.json", "2"), ("install", "x")),
        settings=tuple({"head_commit": head, "install": _INSTALL, "lock": "new.lock", **settings}.items()),
    )


def _run(folder: Path, commands: tuple[str, ...]) -> None:
    for command in commands:
        subprocess.run(["sh", "-c", command], cwd=folder, check=True)


def test_the_head_s_manifests_are_borrowed_and_put_back(clone: tuple[Path, str]) -> None:
    folder, head = clone
    borrowed = borrowed_files({"package.json": "2", "new.lock": "1"}, {"package.json": "0", ".npmrc": "3"})
    assert borrowed == {".npmrc": "removed", "new.lock": "added", "package.json": "changed"}
    recipe = _recipe(head, borrowed=json.dumps(borrowed))
    _run(folder, setup_commands(recipe, shared_setup(recipe, _INSTALL)))
    assert (folder / "seen.txt").read_text() == "new\nlocked\n"
    assert _git(folder, "status", "--porcelain") == "?? seen.txt"


def test_the_shared_set_up_leaves_the_clone_as_it_was(clone: tuple[Path, str]) -> None:
    folder, head = clone
    _run(folder, shared_setup(_recipe(head), _INSTALL))
    assert (folder / "seen.txt").read_text() == "new\nlocked\nold\n"
    assert _git(folder, "status", "--porcelain") == "?? seen.txt"


def _for_one_change(used: str, **settings: str) -> tuple[str, ...]:
    recipe = _recipe("0" * 40, **settings)
    return setup_commands(recipe, shared_setup(recipe, used))


def test_a_set_up_with_nothing_to_borrow_is_the_install_alone() -> None:
    assert _for_one_change(_INSTALL) == (_INSTALL,)
    assert _for_one_change("npm ci", install="npm ci", install_directory="web app") == ("(cd 'web app' && npm ci)",)


def test_a_lock_that_the_install_may_rewrite_is_put_back() -> None:
    commands = _for_one_change("npm install", install="npm ci")
    assert commands == ("npm install", "git --literal-pathspecs restore --worktree -- new.lock")


def test_without_an_install_there_is_nothing_to_set_up() -> None:
    assert _for_one_change("") == ()
