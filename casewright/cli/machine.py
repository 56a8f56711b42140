"""What this machine can do: each finding in words, what it means for a case, and the line that mends it."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from casewright import process
from casewright.cli.output import size_shown
from casewright.errors import CasewrightError

# ``git apply`` and ``patch-id --stable`` as the recorded commands use them; older ones were never tried.
OLDEST_GIT: Final = (2, 25)
# A clone, an environment and its tree; below it the first build may fill the disk.
SPARE_BYTES: Final = 2 * 1024**3


class Standing(StrEnum):
    """What a finding means."""

    GOOD = "good"
    LACKS = "lacks"
    BLOCKS = "blocks"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that was looked at; ``remedy`` is what to do, or empty where nothing is to be done."""

    subject: str
    standing: Standing
    detail: str
    remedy: str = ""


def examine() -> tuple[Finding, ...]:
    """Look at all there is: git, runtimes, sandbox, cache. Runs a probe inside the sandbox; changes nothing."""
    return (
        git_finding(_version_of("git")),
        python_finding(_pythons()),
        uv_finding(),
        node_finding(_version_of("node"), _brought_nodes()),
        go_finding(_gos()),
        rust_finding(_rusts()),
        *sandbox_findings(),
        cache_finding(),
    )


def git_finding(told: str | None) -> Finding:
    """Judge what ``git --version`` says (None: there is no git)."""
    match = re.search(r"\d+(?:\.\d+)+", told or "")
    if match is None:
        return Finding(
            subject="git",
            standing=Standing.BLOCKS,
            detail="not found on PATH",
            remedy="install git, for example: apt install git",
        )
    parts = tuple(int(part) for part in match[0].split("."))
    if parts < OLDEST_GIT:
        oldest = ".".join(map(str, OLDEST_GIT))
        return Finding(
            subject="git",
            standing=Standing.BLOCKS,
            detail=f"{match[0]} is older than {oldest}",
            remedy=f"install git {oldest} or newer",
        )
    return Finding(subject="git", standing=Standing.GOOD, detail=match[0])


def python_finding(versions: Iterable[str]) -> Finding:
    """Judge the Python interpreters that mined projects can run on."""
    found = list(versions)
    if not found:
        return Finding(
            subject="python",
            standing=Standing.LACKS,
            detail="no interpreter with venv and pip: no Python project can be run",
            remedy="install one, for example: apt install python3-venv, or: uv python install 3.12",
        )
    return Finding(
        subject="python",
        standing=Standing.GOOD,
        detail=", ".join(found),
        remedy="older projects need older interpreters; add them with: uv python install 3.8" if len(found) < 2 else "",
    )


def uv_finding() -> Finding:
    """Judge the installer of Python packages, which comes with casewright."""
    beside = Path(sys.executable).parent / "uv"
    found = str(beside) if beside.is_file() else shutil.which("uv")
    if found is None:
        return Finding(
            subject="uv",
            standing=Standing.LACKS,
            detail="not found: no Python project can be set up",
            remedy="install casewright again with its dependencies, or: pip install uv",
        )
    return Finding(subject="uv", standing=Standing.GOOD, detail=_version_of(found) or found)


def node_finding(told: str | None, brought: Iterable[str] = ()) -> Finding:
    """Judge what ``node --version`` says (None: there is no node); ``brought`` are versions that the cache holds."""
    if told is None:
        return Finding(
            subject="node",
            standing=Standing.LACKS,
            detail="not found on PATH: no JavaScript project can be run",
            remedy="install Node.js 20 or newer if you mine JavaScript or TypeScript",
        )
    cached = ", ".join(brought)
    others = f"in the cache {cached}; " if cached else ""
    detail = f"{told.lstrip('v')}; {others}others come from the npm registry when a commit asks for them"
    return Finding(subject="node", standing=Standing.GOOD, detail=detail)


def go_finding(versions: Iterable[str]) -> Finding:
    """Judge the Go toolchains of this machine; none is downloaded."""
    return _toolchains(
        "go",
        versions,
        lacking="not found: no Go project can be run",
        remedy="install one if you mine Go, for example: apt install golang-go, or any into ~/sdk",
    )


def rust_finding(versions: Iterable[str]) -> Finding:
    """Judge the Rust toolchains of this machine; none is downloaded."""
    return _toolchains(
        "rust",
        versions,
        lacking="no toolchain found: no Rust project can be run",
        remedy="install one if you mine Rust, for example: rustup toolchain install stable",
    )


def _toolchains(subject: str, versions: Iterable[str], *, lacking: str, remedy: str) -> Finding:
    found = ", ".join(versions)
    if not found:
        return Finding(subject=subject, standing=Standing.LACKS, detail=lacking, remedy=remedy)
    return Finding(subject=subject, standing=Standing.GOOD, detail=found)


def cache_finding() -> Finding:
    """Judge the cache folder: can it be written, and how much room is left on its disk."""
    from casewright.store import CACHE_VARIABLE, cache_root

    root = cache_root()
    place = next(folder for folder in (root, *root.absolute().parents) if folder.is_dir())
    if not os.access(place, os.W_OK):
        return Finding(
            subject="cache",
            standing=Standing.BLOCKS,
            detail=f"{root} can't be written",
            remedy=f"set {CACHE_VARIABLE} to a folder that you may write",
        )
    free = shutil.disk_usage(place).free
    detail = f"{root}, {size_shown(free)} free"
    if free < SPARE_BYTES:
        return Finding(
            subject="cache",
            standing=Standing.LACKS,
            detail=detail,
            remedy=f"make room (casewright cache prune), or set {CACHE_VARIABLE} to a folder on a larger disk",
        )
    return Finding(subject="cache", standing=Standing.GOOD, detail=detail)


def _version_of(program: str) -> str | None:
    if shutil.which(program) is None:
        return None
    told = process.run(process.CommandRequest(argv=(program, "--version"), seconds=60, output_limit=1000))
    return told.stdout.decode("utf-8", "backslashreplace").strip() if told.code == 0 else None


def _pythons() -> tuple[str, ...]:
    from execution.languages.python_interpreters import installed

    return tuple(runtime.version for runtime in installed())


def _gos() -> tuple[str, ...]:
    from execution.languages.go_runtime import installed

    return tuple(runtime.version for runtime in installed())


def _rusts() -> tuple[str, ...]:
    from execution.languages.rust_toolchain import installed_toolchains

    try:
        return tuple(runtime.version for runtime in installed_toolchains())
    except CasewrightError:
        # A toolchain that does not tell its version is of no use, and the next command that needs it says which.
        return ()


def _brought_nodes() -> tuple[str, ...]:
    from casewright.store import cache_root
    from execution.languages.javascript_registry import stored

    # Looking makes no cache where there is none yet.
    return stored() if cache_root().is_dir() and os.access(cache_root(), os.W_OK) else ()


def sandbox_findings() -> tuple[Finding, ...]:
    """Try every sandbox backend, and in the one that would be taken, whether the network is denied."""
    from execution.sandboxes import SANDBOXES, probe

    refusals = {name: sandbox.unavailable() for name, sandbox in SANDBOXES.items()}
    taken = next((SANDBOXES[name] for name, why in refusals.items() if why is None), None)
    found = [backend_finding(name, why, needed=taken is None) for name, why in refusals.items()]
    if taken is None:
        return (*found, network_finding(None, "no sandbox works, so nothing can be shown"))
    try:
        seen = probe(taken)
    except CasewrightError as error:
        return (*found, network_finding(None, str(error)))
    return (*found, network_finding(seen.denied, f"{taken.name}: {seen.detail}"))


def backend_finding(name: str, why_not: str | None, *, needed: bool) -> Finding:
    """Judge one backend; where another one works, this one is not needed."""
    if why_not is None:
        return Finding(subject=f"sandbox {name}", standing=Standing.GOOD, detail="works")
    reason, _, remedy = why_not.partition("; ")
    standing = Standing.BLOCKS if needed else Standing.LACKS
    return Finding(subject=f"sandbox {name}", standing=standing, detail=reason, remedy=remedy)


def network_finding(denied: bool | None, detail: str) -> Finding:
    """Judge what the probe saw; None: it could not look."""
    if denied:
        return Finding(subject="network denied", standing=Standing.GOOD, detail=detail)
    return Finding(
        subject="network denied",
        standing=Standing.BLOCKS,
        detail=detail,
        remedy="" if denied is None else "a sandbox that does not deny the network can prove nothing; report this",
    )
