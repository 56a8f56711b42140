"""Which part of a copy is made, and the shell command that makes it.

Two things can lie in the way of a copy: a mount point inside of it (an environment's ``node_modules``, where a
candidate's tree may hold a symlink or a file of that name), and a later copy that has a folder where this one has a
file, or the other way round. Both are left out of the copy: what comes later wins.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from execution.sandbox import Copy, Mount, SandboxRequest, Scratch
from execution.sandboxes.ground import is_below

# Where a copy's source is seen inside while it is copied.
SOURCE_DIR = "/run/casewright"


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedCopy:
    """A copy without ``left_out``: paths below it, as bytes, with all that they hold. Source and target are bytes."""

    source: bytes
    target: bytes
    seen_at: bytes
    left_out: tuple[bytes, ...] = ()


def plan_copies(request: SandboxRequest, mounted: tuple[Mount | Scratch, ...]) -> tuple[PlannedCopy, ...]:
    """Look at the sources on the host and tell what is copied; ``mounted`` is what is mounted inside of the copies."""
    return tuple(
        PlannedCopy(
            source=os.fsencode(copy.source),
            target=os.fsencode(copy.target),
            seen_at=f"{SOURCE_DIR}/{number}".encode(),
            left_out=tuple(sorted({*_under_mounts(copy, mounted), *_replaced(copy, request.copies[number + 1 :])})),
        )
        for number, copy in enumerate(request.copies)
    )


def _under_mounts(copy: Copy, mounted: tuple[Mount | Scratch, ...]) -> Iterator[bytes]:
    for entry in mounted:
        if not is_below(entry.target, copy.target):
            continue
        parts = os.fsencode(str(PurePosixPath(entry.target).relative_to(copy.target))).split(b"/")
        for length in range(1, len(parts) + 1):
            path = b"/".join(parts[:length])
            is_folder = _is_folder(os.fsencode(copy.source), path)
            if is_folder is None:
                break
            if not is_folder or length == len(parts):
                yield path
                break


def _replaced(copy: Copy, later_copies: tuple[Copy, ...]) -> Iterator[bytes]:
    here = os.fsencode(copy.source)
    for later in later_copies:
        if later.target != copy.target and not is_below(later.target, copy.target):
            continue
        below = os.fsencode(str(PurePosixPath(later.target).relative_to(copy.target)))
        for path, is_folder in _walk(os.fsencode(later.source), b"" if below == b"." else below):
            if _is_folder(here, path) is (not is_folder):
                yield path


def _walk(folder: bytes, name: bytes) -> Iterator[tuple[bytes, bool]]:
    """Yield what a folder holds as (path, is it a folder), the path beginning with ``name``; follows no symlink."""
    with os.scandir(folder) as entries:
        for entry in entries:
            path = name + b"/" + entry.name if name else entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            yield path, is_folder
            if is_folder:
                yield from _walk(entry.path, path)


def _is_folder(root: bytes, path: bytes) -> bool | None:
    """Whether ``path`` below ``root`` is a folder; None where there is nothing, or something else on the way to it."""
    parts = path.split(b"/")
    mode = None
    for length in range(1, len(parts) + 1):
        try:
            mode = os.lstat(b"/".join((root, *parts[:length]))).st_mode
        except FileNotFoundError:
            return None
        if length < len(parts) and not stat.S_ISDIR(mode):
            return None
    return mode is not None and stat.S_ISDIR(mode)


def copy_command(copy: PlannedCopy) -> bytes:
    """Return the command for sh that makes a copy; it fails when the copy is not whole."""
    target = quoted(copy.target)
    if not copy.left_out:
        # --remove-destination: a later copy replaces a symlink of an earlier one instead of writing through it.
        command = b"cp -a --no-preserve=ownership --remove-destination -- %s/. %s" % (copy.seen_at, target)
        return b"mkdir -p -- %s && %s" % (target, command)
    excluded = b" ".join(b"--exclude=" + quoted(b"./" + path) for path in copy.left_out)
    pack = b"tar -C %s --format=posix --anchored --no-wildcards %s -cf - ." % (copy.seen_at, excluded)
    # A pipe tells how its last command ended; the first one's failure is told by an archive without an end.
    unpack = b"tar -C %s -xpf - && test ! -e /tmp/.not-packed" % target
    return b"mkdir -p -- %s && { %s || : > /tmp/.not-packed; } | { %s; }" % (target, pack, unpack)


def quoted(text: bytes) -> bytes:
    """Return text as one word of sh."""
    return b"'" + text.replace(b"'", b"'\\''") + b"'"
