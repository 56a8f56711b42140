"""The kernel calls of the set-up program that Python 3.11 has no function for, and the constants they take.

Part of what ``execution.sandboxes.inside`` runs by itself: imports nothing of ours. A call that fails is a
``SetupError`` whose message is the first line that a user sees of it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import stat
import sys
from collections.abc import Callable

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REC, MS_PRIVATE, MNT_DETACH = 1 << 14, 1 << 18, 2
NEW_MOUNTS, NEW_UTS, NEW_IPC, NEW_USER, NEW_PIDS, NEW_NET = (
    0x20000,
    0x4000000,
    0x8000000,
    0x10000000,
    0x20000000,
    1 << 30,
)
AT_EMPTY_PATH, AT_RECURSIVE, OPEN_TREE_CLONE = 0x1000, 0x8000, 1
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV, ATTR_NOEXEC, ATTR_IDMAP = 1, 2, 4, 8, 0x100000
MOVE_FROM_AND_TO_FD = 0x04 | 0x40
# These three have the same number on every architecture.
OPEN_TREE, MOVE_MOUNT, MOUNT_SETATTR = 428, 429, 442
KEYCTL = {"x86_64": 250, "aarch64": 219, "riscv64": 219, "ppc64le": 271, "s390x": 280}
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_KEEPCAPS, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 4, 8, 24, 38
PR_SET_CHILD_SUBREAPER = 36
PR_CAP_AMBIENT, AMBIENT_RAISE, DAC_READ_SEARCH = 47, 2, 2
LONG = ctypes.c_long

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = LONG


class SetupError(Exception):
    """The sandbox can't be set up; the message is the first line that a user sees of it."""


def check(what: str, result: int) -> int:
    """Return the result of a libc call, or raise ``SetupError`` with the reason of the failure."""
    if result == -1:
        raise SetupError(f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def shown(path: bytes) -> str:
    """A path as it may stand in a message."""
    return path.decode("utf-8", "backslashreplace")


def mount(kind: bytes, target: bytes, flags: int, options: bytes = b"") -> None:
    """Mount a new file system of a kind at a target."""
    check(f"mount {shown(kind)} at {shown(target)}", libc.mount(kind, target, kind, flags, options))


def set_attributes(fd: int, added: int, *, recursive: bool = True, userns: int = 0) -> None:
    """Add mount attributes to the mount (or detached tree) that ``fd`` stands for."""
    attributes = (ctypes.c_uint64 * 4)(added, 0, MS_PRIVATE, userns)
    flags = AT_EMPTY_PATH | (AT_RECURSIVE if recursive else 0)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    check("mount_setattr", libc.syscall(LONG(MOUNT_SETATTR), fd, b"", flags, ctypes.byref(attributes), size))


def open_tree(source: bytes) -> int:
    """Return a detached copy of the mounts at a host path, to be attached later with ``attach``."""
    flags = OPEN_TREE_CLONE | AT_RECURSIVE | os.O_CLOEXEC
    fd = libc.syscall(LONG(OPEN_TREE), -100, source, ctypes.c_uint(flags))
    return check(f"open {shown(source)}", fd)


def attach(tree: int, place: int) -> None:
    """Attach a detached tree at the folder or file that ``place`` stands for."""
    check("move_mount", libc.syscall(LONG(MOVE_MOUNT), tree, b"", place, b"", ctypes.c_uint(MOVE_FROM_AND_TO_FD)))
    os.close(tree)
    os.close(place)


def set_capabilities(mask: int) -> None:
    """Have exactly these of the first 32 capabilities: permitted, effective and inheritable."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    check("capset", libc.capset(ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)(mask, mask, mask, 0, 0, 0))))


def put(path: bytes, content: bytes, dir_fd: int | None = None) -> None:
    """Write an existing file of the kernel in one call."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC, dir_fd=dir_fd)
    try:
        os.write(fd, content)
    finally:
        os.close(fd)


def die_with(parent_alive: Callable[[], bool]) -> None:
    """Be killed when the parent ends; end at once if it has ended already."""
    check("prctl", libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))
    if not parent_alive():
        os._exit(1)


def limit(limits: list[tuple[int, int]]) -> None:
    """Set resource limits (number, value), never above what is allowed to us."""
    for number, value in limits:
        now = (ctypes.c_uint64 * 2)()
        libc.getrlimit(number, ctypes.byref(now))
        bounded = min(value, now[1])
        check("setrlimit", libc.setrlimit(number, ctypes.byref((ctypes.c_uint64 * 2)(bounded, bounded))))


def is_folder(tree: int) -> bool:
    """Whether a detached tree is a folder, not a file."""
    return stat.S_ISDIR(os.fstat(tree).st_mode)


def protect(path: bytes) -> None:
    """Make one mount read-only, but not those below it."""
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    set_attributes(fd, ATTR_RDONLY | ATTR_NOSUID, recursive=False)
    os.close(fd)


def map_ids(inside: int, uid: int, gid: int) -> None:
    """Give the user namespace that we have just made one user and one group."""
    put(b"/proc/self/setgroups", b"deny")
    put(b"/proc/self/uid_map", b"%d %d 1" % (inside, uid))
    put(b"/proc/self/gid_map", b"%d %d 1" % (inside, gid))


def loopback_up() -> None:
    """Switch on the loopback interface of the new network namespace."""
    fd = check("socket", libc.socket(2, 2 | 0x80000, 0))
    # struct ifreq: a name of 16 bytes, then flags (IFF_UP | IFF_RUNNING).
    request = ctypes.create_string_buffer(b"lo".ljust(16, b"\0") + (0x41).to_bytes(2, sys.byteorder), 40)
    check("switch on loopback", libc.ioctl(fd, 0x8914, request))
    os.close(fd)


def forget_keys() -> None:
    """Leave the caller's session keyring, which may hold credentials."""
    number = KEYCTL.get(os.uname().machine)
    if number is not None:
        libc.syscall(LONG(number), LONG(1), None)


def forget_command_line() -> None:
    """Blank our command line, which can be read as /proc/1/cmdline and names our interpreter on the host."""
    fd = os.open("/proc/self/stat", os.O_RDONLY | os.O_CLOEXEC)
    fields = os.read(fd, 4096).rpartition(b")")[2].split()
    os.close(fd)
    start, end = int(fields[45]), int(fields[46])
    if 0 < start < end:
        ctypes.memset(start, 0, end - start)
        ctypes.memmove(start, b"init", min(4, end - start))


def shell_code(status: int) -> int:
    """A wait status as shells tell it: 128+N for signal N."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def usual_signals() -> None:
    """Give every signal its usual meaning: what is ignored stays ignored in the programs that we become.

    Python ignores some, and whoever started us may have left others so (``nohup``).
    """
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if signal.getsignal(number) is not signal.SIG_DFL:
            signal.signal(number, signal.SIG_DFL)


def bound_shared_memory(pages: int) -> None:
    """Bound System V shared memory of the IPC namespace that root has just made; no look at processes counts it."""
    put(b"/proc/sys/kernel/shmall", b"%d" % pages)


def children() -> list[int]:
    """Return the processes whose parent we are; we have one thread."""
    fd = os.open(f"/proc/self/task/{os.getpid()}/children", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return [int(number) for number in os.read(fd, 1 << 16).split()]
    finally:
        os.close(fd)
