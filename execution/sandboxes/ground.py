"""The ground plan of one sandbox, computed from a request: what lies where, in which order, and how large (pure).

Order matters. What holds a copy's target comes first, then the copies, then what is mounted inside of them: the
environment's ``node_modules`` lies over the copied tree, and a runner's cache over ``node_modules``.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from execution.sandbox import CASE_DIR, RUNTIME_DIR, Limits, Mount, SandboxRequest, Scratch
from execution.sandboxes.system import HOME

MEGABYTE = 1 << 20
# Files of source trees are small: one inode for 8 KiB is ample for them and ends a flood of empty files early.
INODES_PER_MEGABYTE = 128
LEAST_INODES = 4096
OPEN_FILES = 4096
STACK_BYTES = 8 * MEGABYTE
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
DEVICE_LINKS = (
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ground:
    """``before`` and ``after`` the copies: mounts and scratches, parents before children."""

    before: tuple[Mount | Scratch, ...]
    after: tuple[Mount | Scratch, ...]


def ground(request: SandboxRequest) -> Ground:
    """Order what a request wants to see, with CASE_DIR as a scratch of its own below all of it."""
    case = Scratch(target=CASE_DIR, megabytes=request.limits.disk_mb)
    scratch = tuple(entry for entry in request.scratch if entry.target != CASE_DIR)
    # The sort is stable: at one and the same place the later entry hides the earlier one.
    entries: list[Mount | Scratch] = sorted(
        (case, *request.mounts, *scratch), key=lambda entry: len(PurePosixPath(entry.target).parts)
    )
    copied = [copy.target for copy in request.copies]
    inside = [any(is_below(entry.target, target) for target in copied) for entry in entries]
    return Ground(
        before=tuple(entry for entry, late in zip(entries, inside, strict=True) if not late),
        after=tuple(entry for entry, late in zip(entries, inside, strict=True) if late),
    )


def is_below(path: str, folder: str) -> bool:
    """Whether a path lies inside a folder and is not the folder itself."""
    return PurePosixPath(folder) in PurePosixPath(path).parents


def size(megabytes: int, *, mode: int = 0o755) -> tuple[int, int, int]:
    """Return the bytes, inodes and mode of a scratch."""
    return megabytes * MEGABYTE, max(LEAST_INODES, megabytes * INODES_PER_MEGABYTE), mode


def private_scratches(limits: Limits) -> tuple[tuple[str, int, int, int], ...]:
    """Return the temporary folders that every sandbox has: (target, bytes, inodes, mode)."""
    return (
        ("/tmp", *size(limits.disk_mb, mode=0o1777)),  # noqa: S108 - inside, not the host's
        ("/dev/shm", *size(max(1, limits.memory_mb // 2), mode=0o1777)),  # noqa: S108 - inside, not the host's
    )


def program_environment(env: Mapping[str, str]) -> dict[bytes, bytes]:
    """Return the program's whole environment: the request's, and defaults for what nothing runs without."""
    defaults = {"HOME": HOME, "PATH": f"{RUNTIME_DIR}/bin:/usr/local/bin:/usr/bin:/bin", "TMPDIR": "/tmp"}  # noqa: S108
    return {os.fsencode(name): os.fsencode(value) for name, value in {**defaults, **env}.items()}


def shared_pages(limits: Limits) -> int:
    """Return how many pages of System V shared memory a run may have: as much as it may have of memory."""
    return limits.memory_mb * MEGABYTE // resource.getpagesize()


def resource_limits(limits: Limits) -> list[tuple[int, int]]:
    """Return the limits of each process as (number, value).

    RLIMIT_DATA and not RLIMIT_AS: one WebAssembly memory of node reserves ten gigabytes of addresses. It lies above the
    memory limit, since a program that meets it fails in a way of its own; the look at all processes can tell why.
    """
    return [
        (resource.RLIMIT_DATA, limits.memory_mb * MEGABYTE * 5 // 4),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_STACK, STACK_BYTES),
    ]
