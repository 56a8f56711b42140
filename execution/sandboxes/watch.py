"""What a tree of processes holds in memory, read from /proc on the host.

RLIMIT_DATA binds one process; this adds up all of them, with shared memory: what processes have mapped of it, or what
lies in /dev/shm and in memfds that nobody maps, whichever is more. Pages of files on disk can be dropped by the kernel
and are not counted. Processes come and go while we look: one that is gone counts as nothing.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from pathlib import Path

SHARED_MEMORY = "dev/shm"
# More open files than this in one process are not looked through for memfds: a look has to stay cheap.
FDS_LOOKED_AT = 256


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Kilobytes: ``private`` belongs to single processes, ``shared`` to shared memory."""

    private: int
    shared: int

    @property
    def total(self) -> int:
        return self.private + self.shared


def descendants(root: int) -> tuple[int, ...]:
    """Return the process ids below ``root``, without it."""
    found: list[int] = []
    waiting = [root]
    while waiting:
        children = _children(waiting.pop())
        found += children
        waiting += children
    return tuple(found)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (thread / "children").read_bytes().split())
    except (FileNotFoundError, ProcessLookupError):
        return found
    return found


def usage(root: int, *, limit_kb: int) -> Usage:
    """Return what the processes below ``root`` hold.

    A quick look counts pages that forked processes share once for each. Only when that exceeds ``limit_kb`` is a slower
    look taken that divides them.
    """
    pids = descendants(root)
    unmapped = _unmapped_kb(pids)
    private, shared = _add_up(pids, "status", ("RssAnon:", "RssShmem:"))
    if private + max(shared, unmapped) > limit_kb:
        private, shared = _add_up(pids, "smaps_rollup", ("Pss_Anon:", "Pss_Shmem:"))
    return Usage(private=private, shared=max(shared, unmapped))


def _add_up(pids: tuple[int, ...], file: str, names: tuple[str, str]) -> tuple[int, int]:
    sums = dict.fromkeys(names, 0)
    for pid in pids:
        try:
            text = Path(f"/proc/{pid}/{file}").read_text("ascii", "replace")
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        for line in text.splitlines():
            words = line.split()
            if words and words[0] in sums:
                sums[words[0]] += int(words[1])
    return sums[names[0]], sums[names[1]]


def _unmapped_kb(pids: tuple[int, ...]) -> int:
    """Kilobytes of /dev/shm inside and of memfds that are open, each counted once."""
    folders: dict[int, int] = {}
    files: dict[tuple[int, int], int] = {}
    for pid in pids:
        try:
            if pid != pids[0]:
                shared = Path("/proc", str(pid), "root", SHARED_MEMORY)
                place = shared.stat().st_dev
                if place not in folders:
                    room = os.statvfs(shared)
                    folders[place] = (room.f_blocks - room.f_bfree) * room.f_frsize // 1024
            for link in itertools.islice(Path(f"/proc/{pid}/fd").iterdir(), FDS_LOOKED_AT):
                if str(link.readlink()).startswith("/memfd:"):
                    state = link.stat()
                    files[state.st_dev, state.st_ino] = state.st_blocks // 2
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return sum(folders.values()) + sum(files.values())
