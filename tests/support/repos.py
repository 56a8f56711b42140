"""Small real repositories for tests: a builder with a fixed clock and author, so that ids are constants."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.oddities import built_oddity

FIRST_TIME = 1_600_000_000
HOUR = 3600
ODDITIES_VARIABLE = "CASEWRIGHT_ODDITIES"


@dataclass(frozen=True, slots=True)
class Executable:
    """A file with its executable bit set."""

    content: bytes


@dataclass(frozen=True, slots=True)
class Symlink:
    """A symbolic link."""

    target: str


@dataclass(frozen=True, slots=True)
class Submodule:
    """A submodule's pointer to a commit that nobody has."""

    commit: str


Entry = str | bytes | Executable | Symlink | Submodule | None


def git(folder: Path, *arguments: str | bytes, env: Mapping[str, str] | None = None, stdin: bytes = b"") -> bytes:
    """Run git in ``folder`` without anything of the user's; return its output or fail the test."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**plain_env(), **(env or {})},
        input=stdin,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    return done.stdout


def plain_env() -> dict[str, str]:
    """Return an environment without a user: no configuration, a fixed author, UTC."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "Dev",
        "GIT_AUTHOR_EMAIL": "dev@example.com",
        "GIT_COMMITTER_NAME": "Dev",
        "GIT_COMMITTER_EMAIL": "dev@example.com",
    }


class RepoBuilder:
    """A repository with a worktree at ``path``; every commit is an hour later than the one before."""

    def __init__(self, path: Path, *, object_format: str = "sha1") -> None:
        self.path = path
        self._time = FIRST_TIME
        path.mkdir(parents=True)
        git(path, "init", "-q", "-b", "main", "--template=", f"--object-format={object_format}", ".")

    def git(self, *arguments: str | bytes, stdin: bytes = b"") -> str:
        """Run git in the worktree at the builder's time; return its output without blanks at the ends."""
        date = f"@{self._time} +0000"
        env = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        return git(self.path, *arguments, env=env, stdin=stdin).decode("utf-8", "surrogateescape").strip()

    def commit(self, message: str, files: Mapping[str | bytes, Entry] | None = None, *, time: int | None = None) -> str:
        """Write files (None removes one), commit them and return the commit's id. No files make an empty commit."""
        for name, entry in (files or {}).items():
            self._set(os.fsencode(name), entry)
        self._time = self._time + HOUR if time is None else time
        self.git(
            "commit", "-q", "--allow-empty", "--no-verify", "--cleanup=verbatim", "-F", "-", stdin=message.encode()
        )
        return self.head()

    def merge(self, *branches: str, message: str = "Merge", strategy: str = "") -> str:
        """Merge branches into the current one, always by a merge commit; return its id."""
        self._time += HOUR
        chosen = ["-s", strategy] if strategy else []
        self.git("merge", "-q", "--no-ff", *chosen, "-m", message, *branches)
        return self.head()

    def switch(self, branch: str, *, at: str = "") -> None:
        """Go to a branch, or to a new one that begins ``at`` a commit."""
        self.git("checkout", "-q", *(["-b", branch, at] if at else [branch]))

    def cherry_pick(self, commit: str) -> str:
        """Pick a commit onto the current branch; return the new id."""
        self._time += HOUR
        self.git("cherry-pick", commit)
        return self.head()

    def revert(self, commit: str) -> str:
        """Revert a commit on the current branch; return the new id."""
        self._time += HOUR
        self.git("revert", "--no-edit", commit)
        return self.head()

    def head(self) -> str:
        """Return the id of the current commit."""
        return self.git("rev-parse", "HEAD")

    def tree(self, revision: str = "HEAD") -> str:
        """Return the id of a commit's tree."""
        return self.git("rev-parse", f"{revision}^{{tree}}")

    def _set(self, name: bytes, entry: Entry) -> None:
        place = self.path / os.fsdecode(name)
        if place.is_symlink() or place.is_file():
            place.unlink()
        if entry is None:
            self.git("rm", "-q", "--cached", "--ignore-unmatch", "--", name)
            return
        if isinstance(entry, Submodule):
            place.mkdir(parents=True, exist_ok=True)
            self.git("update-index", "--add", "--cacheinfo", f"160000,{entry.commit},{os.fsdecode(name)}")
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(entry, Symlink):
            place.symlink_to(entry.target)
        elif isinstance(entry, Executable):
            place.write_bytes(entry.content)
            place.chmod(0o755)
        else:
            place.write_bytes(entry.encode() if isinstance(entry, str) else entry)
        self.git("--literal-pathspecs", "add", "-f", "--", name)


@dataclass(frozen=True, kw_only=True, slots=True)
class Oddity:
    """A small repository with the right answer: its folder, named commit ids, and the expected cases."""

    folder: Path
    facts: Mapping[str, str]
    cases: tuple[Mapping[str, Any], ...]


def oddity(name: str, folder: Path) -> Oddity:
    """Build one of the shared oddities (its whole name) into ``folder``; skip where they are absent."""
    built_oddity(name, folder)
    root = Path(os.environ.get(ODDITIES_VARIABLE) or Path(__file__).parents[2] / "../shared/oddities")
    lines = (folder / "facts.env").read_text(encoding="ascii").split()
    expectation = (root / name / "expect.md").read_text(encoding="utf-8")
    block = re.search(r"```json\n(.*?)```", expectation, re.DOTALL)
    assert block is not None, name
    return Oddity(
        folder=folder,
        facts=dict(line.split("=", 1) for line in lines),
        cases=tuple(json.loads(block[1])["cases"]),
    )
