"""The set-up program of a sandbox: run by itself (``python -I -S inside.py FD``), it imports nothing of ours.

FD holds the plan, a marshalled dict of plain values with paths as bytes (``execution.sandboxes.ground`` describes it).
Two ways lead on from it:

- ``stage``: what bubblewrap can't do for itself. Started by root, sources get reachable and the real uid is given up;
  limits are set, and bubblewrap takes over.
- ``namespaces``: the whole sandbox is built here with unshare(2) and mount(2).

The status pipe tells how it went: ``ok`` just before the program starts, or ``failed: <why>``. Whatever happens to the
parent, this program and all that it started die with it.
"""

# The rules that are off ask for pathlib, whose import costs more than all that is done here, and warn of starting
# programs and reading a marshalled plan: the plan comes from the process that starts us.
# ruff: noqa: PTH102, PTH106, PTH110, PTH120, PTH123, PTH211, S108, S302, S606

from __future__ import annotations

import ctypes
import errno
import marshal
import os
import select
import signal
import stat
import sys
from collections.abc import Callable
from typing import Any, NoReturn

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


class Identity:
    """Who the program inside is: the real uid and gid on the host, and None for an ordinary user's own."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.uid: int | None = plan["uid"]
        self.inner: int = plan["inner_uid"]
        # Made now: /proc does not tell the numbers of the process namespace that we may enter next.
        self._idmap = self._root_shown_as_inside()

    def source(self, path: bytes, *, writable: bool) -> int:
        """Return a detached tree of a host path that the program inside can read."""
        tree = open_tree(path)
        if not writable and self.uid is not None and os.fstat(tree).st_uid == 0:
            # What root owns shows as the program's own, so that a closed mode does not hide it. Not every file system
            # can do this; there, only what others may read can be read.
            try:
                set_attributes(tree, ATTR_IDMAP, userns=self._idmap)
            except SetupError:
                os.close(tree)
                tree = open_tree(path)
        return tree

    def _root_shown_as_inside(self) -> int:
        """Return a user namespace in which root is the unprivileged user, as the mapping of a mount."""
        if self.uid is None:
            return -1
        ready, written = os.pipe(), os.pipe()
        child = os.fork()
        if child == 0:
            libc.unshare(NEW_USER)
            os.write(ready[1], b".")
            os.close(written[1])
            os.read(written[0], 1)
            os._exit(0)
        try:
            os.read(ready[0], 1)
            for name in ("uid_map", "gid_map"):
                put(f"/proc/{child}/{name}".encode(), b"0 %d 1" % self.uid)
            return os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise SetupError(f"map the ids of a mount: {error.strerror}") from error
        finally:
            for fd in (*ready, *written):
                os.close(fd)
            os.waitpid(child, 0)

    def take(self, *, keep: int | None = None) -> None:
        """Become the unprivileged user for good; ``keep`` is one capability that survives the next exec."""
        if self.uid is None:
            return
        if keep is not None:
            libc.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)
        os.setgroups([])
        os.setresgid(self.uid, self.uid, self.uid)
        os.setresuid(self.uid, self.uid, self.uid)
        if keep is not None:
            set_capabilities(1 << keep)
            check("prctl", libc.prctl(PR_CAP_AMBIENT, AMBIENT_RAISE, keep, 0, 0))


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


def place(root: int, target: bytes, *, folder: bool, owner: int | None) -> int:
    """Return a handle of the folder (or file) at ``target`` below ``root``, made where missing; follows no symlink."""
    fd = os.dup(root)
    parts = [part for part in target.split(b"/") if part]
    for number, name in enumerate(parts, start=1):
        wanted = folder or number < len(parts)
        try:
            mode = os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode
        except FileNotFoundError:
            make(fd, name, target, folder=wanted, owner=owner)
        else:
            if wanted != stat.S_ISDIR(mode):
                raise SetupError(f"{shown(target)} can't be a mount point: {shown(name)} is in the way")
        flags = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC | (os.O_DIRECTORY if wanted else 0)
        below = os.open(name, flags, dir_fd=fd)
        os.close(fd)
        fd = below
    return fd


def make(parent: int, name: bytes, target: bytes, *, folder: bool, owner: int | None) -> None:
    """Make one empty folder or file on the way to a mount point."""
    try:
        if folder:
            os.mkdir(name, 0o755, dir_fd=parent)
        else:
            os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644, dir_fd=parent))
    except OSError as error:
        raise SetupError(f"{shown(target)} can't be made a mount point: {error.strerror}") from error
    if owner is not None:
        os.chown(name, owner, owner, dir_fd=parent, follow_symlinks=False)


def tmpfs(root: int, target: bytes, size: tuple[int, int, int], owner: int | None) -> None:
    """Mount a private tmpfs; ``size`` is (bytes, inodes, mode)."""
    where = place(root, target, folder=True, owner=owner)
    who = b"" if owner is None else b",uid=%d,gid=%d" % (owner, owner)
    mount(b"tmpfs", b"/proc/self/fd/%d" % where, MS_NOSUID | MS_NODEV, b"size=%d,nr_inodes=%d,mode=%o" % size + who)
    os.close(where)


class Build:
    """The sandbox's root, from nothing to what the plan says."""

    def __init__(self, plan: dict[str, Any], identity: Identity) -> None:
        self.plan = plan
        self.identity = identity
        check("mount", libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
        # Everything of the host is picked up before its root goes out of sight.
        self.system = [(target, open_tree(source)) for source, target in plan["system"]]
        self.devices = [(name, open_tree(b"/dev/" + name)) for name in plan["devices"]]
        self.sources = [identity.source(source, writable=False) for source, *_ in plan["copies"]]
        self.mounts = {
            target: (identity.source(source, writable=writable), writable)
            for kind, target, source, writable in plan["first"] + plan["then"]
            if kind == "bind"
        }

    def pivot(self) -> None:
        """Make an empty tmpfs the root and let the host's go."""
        mount(b"tmpfs", b"/tmp", MS_NOSUID | MS_NODEV, b"size=16m,nr_inodes=8192,mode=755")
        os.chdir("/tmp")
        os.mkdir("proc", 0o755)
        mount(b"proc", b"proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
        check("pivot_root", libc.pivot_root(b".", b"."))
        check("umount", libc.umount2(b".", MNT_DETACH))
        os.chdir("/")

    def furnish(self) -> None:
        """System folders, links, /etc, /dev."""
        root = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        for target, tree in self.system:
            set_attributes(tree, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV)
            attach(tree, place(root, target, folder=is_folder(tree), owner=None))
        for path, content in self.plan["files"]:
            os.close(place(root, path, folder=False, owner=None))
            put(path, content)
        for path, points_to in self.plan["links"]:
            os.close(place(root, os.path.dirname(path), folder=True, owner=None))
            os.symlink(points_to, path)
        tmpfs(root, b"/dev", (1 << 20, 1024, 0o755), None)
        for name, tree in self.devices:
            set_attributes(tree, ATTR_NOSUID | ATTR_NOEXEC)
            attach(tree, place(root, b"/dev/" + name, folder=False, owner=None))
        for name, points_to in self.plan["device_links"]:
            os.symlink(points_to, b"/dev/" + name)
        os.mkdir("/dev/pts", 0o755)
        mount(b"devpts", b"/dev/pts", MS_NOSUID | MS_NOEXEC, b"newinstance,ptmxmode=0666,mode=620")
        for target, *size in self.plan["tmpfs"]:
            tmpfs(root, target, tuple(size), self.identity.uid)
        for target in self.plan["folders"]:
            os.close(place(root, target, folder=True, owner=self.identity.uid))
        protect(b"/dev")
        os.close(root)

    def fill(self) -> None:
        """Scratches and mounts, copies between them, as the plan orders them."""
        root = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._mount(root, self.plan["first"])
        for tree, copy in zip(self.sources, self.plan["copies"], strict=True):
            self._copy(root, tree, copy)
        self._mount(root, self.plan["then"])
        os.close(root)

    def _mount(self, root: int, entries: list[tuple[str, bytes, Any, Any]]) -> None:
        owner = self.identity.uid
        for kind, target, what, _ in entries:
            if kind == "tmpfs":
                tmpfs(root, target, what, owner)
                continue
            tree, writable = self.mounts[target]
            set_attributes(tree, ATTR_NOSUID | ATTR_NODEV | (0 if writable else ATTR_RDONLY))
            attach(tree, place(root, target, folder=is_folder(tree), owner=owner))

    def _copy(self, root: int, tree: int, copy: tuple[bytes, bytes, bytes, bytes]) -> None:
        _, target, seen_at, command = copy
        set_attributes(tree, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV)
        attach(tree, place(root, seen_at, folder=True, owner=None))
        os.close(place(root, target, folder=True, owner=self.identity.uid))
        child = os.fork()
        if child == 0:
            self.identity.take(keep=DAC_READ_SEARCH)
            os.execve("/bin/sh", [b"sh", b"-c", command], {b"PATH": b"/usr/bin:/bin"})
        _, status = os.waitpid(child, 0)
        check("umount", libc.umount2(seen_at, MNT_DETACH))
        os.rmdir(seen_at)
        if status != 0:
            raise SetupError(f"copy into {shown(target)} failed (the output says why)")

    def close(self) -> None:
        """Nothing of the skeleton can be changed any more; /proc/sys is closed even to its owner."""
        for path in (b"/proc/sys", b"/proc/sysrq-trigger", b"/proc/irq", b"/proc/bus"):
            if os.path.exists(path):
                tree = open_tree(path)
                set_attributes(tree, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV | ATTR_NOEXEC)
                attach(tree, os.open(path, os.O_PATH | os.O_CLOEXEC))
        protect(b"/")


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
    """Blank our command line, which names a path of the host and can be read as /proc/1/cmdline."""
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    start, end = int(fields[45]), int(fields[46])
    if 0 < start < end:
        ctypes.memset(start, 0, end - start)
        ctypes.memmove(start, b"init", min(4, end - start))


def usual_signals() -> None:
    """Undo what Python does to signals: what is ignored stays ignored in the programs that we become."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


def start_program(plan: dict[str, Any], status: int, *, report: int) -> NoReturn:
    """Become the program: file descriptors, signals, and nothing else of ours."""
    usual_signals()
    os.umask(0o022)
    check("prctl", libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    try:
        os.chdir(plan["cwd"])
    except OSError as error:
        raise SetupError(f"the program's folder {shown(plan['cwd'])}: {error.strerror}") from error
    os.write(status, b"ok\n")
    first = 3
    if report >= 0:
        if report != first:
            os.dup2(report, first)
        os.set_inheritable(first, True)
        first += 1
    os.closerange(first, 1 << 20)
    try:
        os.execvpe(plan["argv"][0], plan["argv"], plan["env"])
    except OSError as error:
        os.write(2, f"{shown(plan['argv'][0])}: {error.strerror}\n".encode())
        os._exit(127 if error.errno == errno.ENOENT else 126)


def run_program(plan: dict[str, Any], identity: Identity, status: int, sysctl: int) -> NoReturn:
    """The last steps of the program's own process, from the built root on."""
    os.setsid()
    if identity.uid is not None:
        for capability in range(64):
            libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
        identity.take()
        # Another uid closed /proc/self to us; the maps must be written, and the program's own /proc be readable.
        libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
        check("unshare the user namespace", libc.unshare(NEW_USER))
        map_ids(identity.inner, identity.uid, identity.uid)
    put(b"user/max_user_namespaces", b"0", dir_fd=sysctl)
    for capability in range(64):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    set_capabilities(0)
    # The number of processes counts inside this user namespace only when it is set inside of it.
    limit(plan["limits"] + plan["process_limit"])
    start_program(plan, status, report=plan["report"])


def be_init(plan: dict[str, Any], identity: Identity, status: int, lifeline: int) -> NoReturn:
    """Process 1 of the sandbox: build it, start the program, reap, and end with the program's code."""

    def parent_alive() -> bool:
        return not select.select([lifeline], [], [], 0)[0]

    die_with(parent_alive)
    forget_command_line()
    if not plan["network"]:
        loopback_up()
    check("sethostname", libc.sethostname(plan["hostname"], len(plan["hostname"])))
    build = Build(plan, identity)
    build.pivot()
    sysctl = os.open("/proc/sys", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    build.furnish()
    build.fill()
    build.close()
    child = os.fork()
    if child == 0:
        attempt(status, lambda: run_program(plan, identity, status, sysctl))
    identity.take()
    if identity.uid is None:
        set_capabilities(0)
    die_with(parent_alive)
    os.closerange(0, lifeline)
    os.closerange(lifeline + 1, 1 << 20)
    while True:
        ended, code = os.waitpid(-1, 0)
        if ended == child:
            os._exit(shell_code(code))


def shell_code(status: int) -> int:
    """A wait status as shells tell it: 128+N for signal N."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def namespaces(plan: dict[str, Any], status: int) -> NoReturn:
    """Build the sandbox with unshare(2); this process stays outside and waits for process 1."""
    identity = Identity(plan)
    uid, gid = os.getuid(), os.getgid()
    flags = NEW_MOUNTS | NEW_PIDS | NEW_IPC | NEW_UTS | (0 if plan["network"] else NEW_NET)
    check("unshare", libc.unshare(flags | (NEW_USER if identity.uid is None else 0)))
    if identity.uid is None:
        map_ids(identity.inner, uid, gid)
    lifeline, held = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(held)
        attempt(status, lambda: be_init(plan, identity, status, lifeline))
    os.close(status)
    _, code = os.waitpid(child, 0)
    os._exit(shell_code(code))


def stage(plan: dict[str, Any]) -> NoReturn:
    """Prepare what bubblewrap can't, and become bubblewrap."""
    identity = Identity(plan)
    if identity.uid is not None:
        check("unshare the mount namespace", libc.unshare(NEW_MOUNTS))
        check("mount", libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
        trees = [(target, identity.source(source, writable=writable)) for source, target, writable in plan["sources"]]
        mount(b"tmpfs", plan["stage_dir"], MS_NOSUID | MS_NODEV, b"size=1m,nr_inodes=4096,mode=755")
        root = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        for target, tree in trees:
            attach(tree, place(root, target, folder=is_folder(tree), owner=None))
        for target, *size in plan["tmpfs"]:
            tmpfs(root, target, tuple(size), identity.uid)
        os.close(root)
        parent = os.getppid()
        identity.take()
        libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
        die_with(lambda: os.getppid() == parent)
    limit(plan["limits"])
    usual_signals()
    os.umask(0o022)
    os.chdir("/")
    for fd, number in plan["descriptors"]:
        if fd >= 0:
            os.dup2(fd, number)
            os.set_inheritable(fd, False)
    options = os.memfd_create("options", 0)
    os.write(options, plan["options"])
    os.lseek(options, 0, os.SEEK_SET)
    program, *rest = plan["argv"]
    os.execve(program, [b"bwrap", b"--args", b"%d" % options, *rest], {})


def attempt(status: int, step: Callable[[], NoReturn]) -> NoReturn:
    """Run a step that does not return, and tell the status pipe why when it fails."""
    try:
        step()
    except (SetupError, OSError) as error:
        os.write(status, b"failed: " + str(error).encode("utf-8", "backslashreplace") + b"\n")
    os._exit(1)


def main() -> NoReturn:
    """Read the plan and go."""
    with open(int(sys.argv[1]), "rb") as file:
        plan = marshal.load(file)
    die_with(lambda: os.getppid() == plan["parent"])
    forget_keys()
    status = plan["status"]
    if plan["way"] == "stage":
        attempt(status, lambda: stage(plan))
    attempt(status, lambda: namespaces(plan, status))


main()
