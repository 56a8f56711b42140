"""What the tests of the Python module stand on: trees of git, and a builder without a sandbox.

The builder runs each step as a plain process with the constant paths replaced by those of a private root, so that these
tests need no sandbox; the sandbox's own tests hold that the constant paths work.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from execution.languages import python
from execution.languages.base import BuildStep, Check, PlanRequest, TreeReader
from execution.observation import ReportReading
from execution.recipe import Environment, Recipe
from execution.sandbox import CACHE_DIR, ENVIRONMENT_DIR, TOOLS_DIR, TREE_DIR, Ended, SandboxOutcome

# No shell moves a descriptor above 9, and the pipe's may have any number.
_MOVE = """
import os, sys
fd = int(sys.argv[1])
os.dup2(fd, 3)
if fd != 3:
    os.close(fd)
os.execvp(sys.argv[2], sys.argv[2:])
"""


@dataclass(frozen=True, slots=True)
class GitTree:
    """The tree of a commit of a repository on this machine."""

    repository: Path
    commit: str

    @property
    def paths(self) -> frozenset[bytes]:
        listed = git(self.repository, "ls-tree", "-r", "-z", "--name-only", self.commit)
        return frozenset(path for path in listed.split(b"\0") if path)

    def read(self, path: bytes) -> bytes | None:
        if path not in self.paths:
            return None
        return git(self.repository, "cat-file", "blob", f"{self.commit}:{os.fsdecode(path)}")

    def export(self, folder: Path) -> None:
        """Write the tree into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        with tarfile.open(fileobj=BytesIO(git(self.repository, "archive", self.commit))) as archive:
            archive.extractall(folder, filter="tar")


def git(repository: Path, *words: str) -> bytes:
    """Run git and return what it printed."""
    return subprocess.run(("git", "-C", str(repository), *words), check=True, capture_output=True).stdout


def commit_date(repository: Path, commit: str) -> int:
    """Return a commit's time in seconds."""
    return int(git(repository, "show", "-s", "--format=%ct", commit))


@dataclass(slots=True)
class PlainBuilder:
    """A ``Builder`` whose steps are plain processes at a private root."""

    root: Path
    steps: list[BuildStep] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("repo", "staging/env", "cache"):
            (self.root / name).mkdir(parents=True, exist_ok=True)

    @property
    def tree(self) -> Path:
        return self.root / "repo"

    @property
    def folder(self) -> Path:
        return self.root / "staging"

    def run(self, step: BuildStep) -> SandboxOutcome:
        self.steps.append(step)
        return run_plainly(
            ("sh", "-c", step.command),
            cwd=self.tree,
            env=step.env,
            places={**self.places(), **{mount.target: mount.source for mount in step.mounts}},
        )

    def places(self) -> dict[str, Path]:
        """Return where the constant paths are here."""
        return {
            TREE_DIR: self.tree,
            ENVIRONMENT_DIR: self.folder / "env",
            CACHE_DIR: Path(os.environ.get("CASEWRIGHT_TEST_CACHE", self.root / "cache")),
        }


def run_plainly(
    argv: tuple[str, ...], *, cwd: Path, env: Mapping[str, str], places: Mapping[str, Path]
) -> SandboxOutcome:
    """Run one command outside of any sandbox, with what it writes to file descriptor 3 as its report."""

    def here(text: str) -> str:
        for target in sorted(places, key=len, reverse=True):
            text = text.replace(target, str(places[target]))
        return text

    # What a machine needs to reach its package index (certificates, proxies) goes through; nothing else does.
    passed = {name: value for name, value in os.environ.items() if name.startswith("SSL_") or name.endswith("_proxy")}
    reading, writing = os.pipe()
    inner = (sys.executable, "-ISc", _MOVE, str(writing), *(here(word) for word in argv))
    process = subprocess.Popen(
        inner,
        cwd=cwd,
        env={
            "PATH": os.defpath,
            "HOME": str(cwd.parent),
            **passed,
            **{name: here(value) for name, value in env.items()},
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=(writing,),
    )
    os.close(writing)
    chunks: list[bytes] = []
    with process, open(reading, "rb") as pipe:  # noqa: PTH123 - a file descriptor
        assert process.stdout is not None
        # Both are drained: a report larger than a pipe's buffer would stop the run for ever.
        reader = threading.Thread(target=lambda: chunks.append(pipe.read()))
        reader.start()
        output = process.stdout.read()
        reader.join()
    code = process.returncode
    return SandboxOutcome(
        ended=Ended.EXITED if code >= 0 else Ended.SIGNALLED,
        exit_code=code if code >= 0 else 128 - code,
        output=output,
        output_bytes=len(output),
        report=b"".join(chunks),
        milliseconds=0,
        peak_memory_kb=0,
        memory_by="",
    )


def observe(
    recipe: Recipe, environment: Environment, tree: Path, check: Check, files: tuple[str, ...]
) -> tuple[ReportReading, SandboxOutcome]:
    """Run a check as it is observed, outside of any sandbox. The environment must lie at ``../env`` of the tree."""
    outcome = run_plainly(
        check.observed,
        cwd=tree / recipe.directory,
        env={**python.env(environment, {}), **check.env},
        places={mount.target: mount.source for mount in python.mounts(environment)} | {TOOLS_DIR: _tools(environment)},
    )
    return python.read(outcome.report, outcome.exit_code, files, outcome.output), outcome


def _tools(environment: Environment) -> Path:
    return next(mount.source for mount in python.mounts(environment) if mount.target == TOOLS_DIR)


def request(tree: TreeReader, graded: tuple[str, ...], date: int, **overrides: str) -> PlanRequest:
    """Return a request with the given tree at both ends."""
    return PlanRequest(
        head=tree,
        base=tree,
        base_commit="0" * 40,
        head_commit="1" * 40,
        graded=graded,
        date=date,
        version=overrides.pop("version", ""),
        overrides=overrides,
    )
