"""Who strangers' code runs as, seen from the host.

Started by root, casewright gives the real uid of the run to an unprivileged user: a root that is only renamed inside
still opens /proc/sys/kernel/core_pattern for writing, reads /etc/shadow, and is bound by no process limit. Started by
an ordinary user, it is that user, in a user namespace of its own. Inside, the uid is 1000 in both cases.
"""

from __future__ import annotations

import contextlib
import functools
import os
from pathlib import Path

# Between the ranges that systemd and distributions give to people, services and containers.
UNPRIVILEGED_UID = 60_806


def real_uid() -> int | None:
    """Return the uid that is taken before strangers' code runs; None when it stays our own."""
    return UNPRIVILEGED_UID if os.getuid() == 0 and is_mapped(_uid_map(), UNPRIVILEGED_UID) else None


def is_mapped(uid_map: str, uid: int) -> bool:
    """Whether a user namespace with this /proc/self/uid_map has a uid (pure).

    Where it has not, its root is some ordinary user's, in a container of theirs, and has no other id to take.
    """
    ranges = [tuple(map(int, line.split())) for line in uid_map.splitlines()]
    return any(first <= uid < first + count for first, _, count in ranges)


@functools.cache
def _uid_map() -> str:
    return Path("/proc/self/uid_map").read_text("ascii")


def hand_over(folder: Path) -> None:
    """Give a folder of ours and all that is in it to the user of the sandbox, who is going to write there.

    Follows no symlink. The folder itself comes last: that it has changed hands tells that all of it has. What vanishes
    meanwhile is no longer ours to give. Does nothing when casewright was not started by root.
    """
    uid = real_uid()
    if uid is None:
        return
    for _, folders, files, parent in os.fwalk(folder, topdown=False, follow_symlinks=False):
        for name in (*folders, *files):
            with contextlib.suppress(FileNotFoundError):
                os.chown(name, uid, uid, dir_fd=parent, follow_symlinks=False)
        os.chown(parent, uid, uid)


def hand_over_once(folder: Path) -> None:
    """The same, unless the folder itself belongs to that user already (one request after another shares it)."""
    uid = real_uid()
    if uid is not None and folder.stat().st_uid != uid:
        hand_over(folder)
