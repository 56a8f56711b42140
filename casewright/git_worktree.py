"""Folders that git fills: a tree checked out, a patch applied to it, a stranger's plain clone."""

from __future__ import annotations

from pathlib import Path

from casewright.errors import RepositoryError
from casewright.git_command import Git, local_environment, run_git, run_network_git


def export_tree(git: Git, tree: str, folder: Path, index: Path) -> None:
    """Check ``tree`` out into ``folder``, which is made if need be and must be empty, by a private index."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise RepositoryError(f"{folder} is not empty", "give a fresh folder")
    git.run("read-tree", "--reset", "-u", tree, index=index, work_tree=folder)


def apply_patch(git: Git, patch: bytes, folder: Path, index: Path) -> str:
    """Apply ``patch`` at the top of ``folder``; return git's complaint, or an empty text when it applied.

    git is told that the folder is its work tree: below some other repository's work tree ``git apply`` skips every
    path in silence. ``index`` is a name that no file has: attributes come from the folder, as in a clone.
    """
    outcome = git.attempt("apply", "--whitespace=nowarn", "-", stdin=patch, work_tree=folder, index=index)
    return "" if outcome.code == 0 else outcome.complaint


def clone_plainly(stand_in: Path | None, url: str, folder: Path) -> None:
    """Make the clone of a stranger (``-c core.autocrlf=false``); a git folder may stand in for its url.

    It does so by ``file://``: from a bare path git would copy every object, and so hide a pin that no branch or tag
    leads to.
    """
    arguments = ["clone", "--quiet", "--no-recurse-submodules", "-c", "core.autocrlf=false", "--template=", "--"]
    if stand_in is None:
        if not url:
            raise RepositoryError("a partial clone without a url can't be cloned", "give a whole clone")
        outcome = run_network_git([*arguments, url, str(folder)])
    else:
        address = stand_in.resolve().as_uri()
        settings = {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{address}.insteadOf",
            "GIT_CONFIG_VALUE_0": url,
        }
        env = local_environment(settings if url else None)
        outcome = run_git([*arguments, url or address, str(folder)], env=env)
    if outcome.code != 0:
        raise RepositoryError(f"a plain clone of {url or stand_in} failed: {outcome.complaint}", "git fsck tells more")
