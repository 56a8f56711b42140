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


def stand_in_settings(git_dir: Path, url: str) -> dict[str, str]:
    """Return the environment that makes a local copy stand in for ``url``, for git commands run as recorded.

    By ``file://``: from a bare path git would copy every object, and so hide a pin that no branch or tag leads to.
    """
    return local_environment(
        {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{git_dir.resolve().as_uri()}.insteadOf",
            "GIT_CONFIG_VALUE_0": url,
        }
    )


def clone_plainly(git_dir: Path, url: str, folder: Path, *, from_network: bool) -> None:
    """Make the clone of a stranger (``-c core.autocrlf=false``), with ``git_dir`` in the place of its url."""
    arguments = ["clone", "--quiet", "--no-recurse-submodules", "-c", "core.autocrlf=false", "--template=", "--"]
    if from_network:
        if not url:
            raise RepositoryError("a partial clone without a url can't be cloned", "give a whole clone")
        outcome = run_network_git([*arguments, url, str(folder)])
    else:
        address = url or git_dir.resolve().as_uri()
        env = stand_in_settings(git_dir, url) if url else local_environment()
        outcome = run_git([*arguments, address, str(folder)], env=env)
    if outcome.code != 0:
        raise RepositoryError(f"a plain clone of {url or git_dir} failed: {outcome.complaint}", "git fsck tells more")
