"""The set-up program of a sandbox, which runs by itself: of ours it needs ``execution.sandboxes.kernel`` alone.

``execution.sandboxes.bootstrap`` starts it with a plan: a dict of plain values, with paths as bytes, made by a backend.
Two ways lead on from it:

- ``stage``: what bubblewrap can't do for itself. Started by root, sources get reachable and the real uid is given up;
  limits are set, and bubblewrap takes over.
- ``namespaces``: the whole sandbox is built here with unshare(2) and mount(2).

The status pipe tells how it went: ``ok`` just before the program starts, or ``failed: <why>``. Whatever happens to the
parent, this program and all that it started die with it.
"""

# The rules that are off ask for pathlib, whose import costs more than all that is done here, and warn of starting
# programs, which is what this is for.
# ruff: noqa: PTH102, PTH106, PTH110, PTH120, PTH211, S108, S606

from __future__ import annotations

import errno
import os
import select
import signal
import stat
from collections.abc import Callable

from execution.sandboxes.kernel import (
    AMBIENT_RAISE,
    ATTR_IDMAP,
    ATTR_NODEV,
    ATTR_NOEXEC,
    ATTR_NOSUID,
    ATTR_RDONLY,
    DAC_READ_SEARCH,
    MNT_DETACH,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_PRIVATE,
    MS_REC,
    NEW_IPC,
    NEW_MOUNTS,
    NEW_NET,
    NEW_PIDS,
    NEW_USER,
    NEW_UTS,
    PR_CAP_AMBIENT,
    PR_CAPBSET_DROP,
    PR_SET_CHILD_SUBREAPER,
    PR_SET_DUMPABLE,
    PR_SET_KEEPCAPS,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    SetupError,
    attach,
    bound_shared_memory,
    check,
    children,
    die_with,
    forget_command_line,
    forget_keys,
    is_folder,
    libc,
    limit,
    loopback_up,
    map_ids,
    mount,
    open_tree,
    protect,
    put,
    set_attributes,
    set_capabilities,
    shell_code,
    shown,
    usual_signals,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    # Importing typing takes longer than building the sandbox's root; annotations alone need it.
    from typing import Any, NoReturn


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
        # While we hold the end that the child writes to, its death would never be read.
        os.close(ready[1])
        try:
            if not os.read(ready[0], 1):
                raise SetupError("map the ids of a mount: the helper was killed")
            for name in ("uid_map", "gid_map"):
                put(f"/proc/{child}/{name}".encode(), b"0 %d 1" % self.uid)
            return os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise SetupError(f"map the ids of a mount: {error.strerror}") from error
        finally:
            for fd in (ready[0], *written):
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


def start_program(plan: dict[str, Any], status: int, *, report: int) -> NoReturn:
    """Become the program: file descriptors, signals, and nothing else of ours."""
    usual_signals()
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
    name, env = plan["argv"][0], plan["env"]
    # os.execvpe would import from a standard library that is out of sight by now.
    folders = [b""] if b"/" in name else [folder + b"/" for folder in env[b"PATH"].split(b":")]
    failure = errno.ENOENT
    for folder in folders:
        try:
            os.execve(folder + name, plan["argv"], env)
        except OSError as error:
            if error.errno not in {errno.ENOENT, errno.ENOTDIR}:
                failure = error.errno or failure
    os.write(2, f"{shown(name)}: {os.strerror(failure)}\n".encode())
    os._exit(127 if failure == errno.ENOENT else 126)


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
    if identity.uid is not None:
        bound_shared_memory(plan["shared_pages"])
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
    _, ended = os.waitpid(child, 0)
    end_alike(ended)


def end_alike(status: int) -> NoReturn:
    """End as what we waited for: with its code, or by a signal, which tells that the sandbox itself was hit."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(code)


def stage(plan: dict[str, Any], status: int, casewright: int) -> NoReturn:
    """Prepare what bubblewrap can't, start it, and see to it that nothing of it is left.

    bubblewrap's own death with the parent has a gap: killed between making process 1 and waking it, it leaves that one
    asleep for ever. So this process outlives casewright for a moment, and orphans come to it.
    """
    identity = Identity(plan)
    if identity.uid is not None:
        check("unshare", libc.unshare(NEW_MOUNTS | NEW_IPC))
        bound_shared_memory(plan["shared_pages"])
        check("mount", libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
        trees = [(target, identity.source(source, writable=writable)) for source, target, writable in plan["sources"]]
        mount(b"tmpfs", plan["stage_dir"], MS_NOSUID | MS_NODEV, b"size=1m,nr_inodes=4096,mode=755")
        root = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        for target, tree in trees:
            attach(tree, place(root, target, folder=is_folder(tree), owner=None))
        for target, *size in plan["tmpfs"]:
            tmpfs(root, target, tuple(size), identity.uid)
        os.close(root)
        identity.take()
        libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
    check("prctl", libc.prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0))
    check("prctl", libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
    keeper = os.getpid()
    child = os.fork()
    if child == 0:
        die_with(lambda: os.getppid() == keeper)
        attempt(status, lambda: become_bubblewrap(plan))
    keep(child, casewright)


def become_bubblewrap(plan: dict[str, Any]) -> NoReturn:
    """Limits, descriptors, options, and bubblewrap's own name."""
    limit(plan["limits"])
    usual_signals()
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


def keep(child: int, casewright: int) -> NoReturn:
    """Wait for a child or for the end of casewright, kill all that is left, and end as the child did."""
    watched = os.pidfd_open(child)
    os.closerange(0, min(watched, casewright))
    poll = select.poll()
    for fd in (watched, casewright):
        poll.register(fd, select.POLLIN)
    poll.poll()
    libc.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    while True:
        for orphan in children():
            libc.kill(orphan, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            end_alike(status)


def attempt(status: int, step: Callable[[], NoReturn]) -> NoReturn:
    """Run a step that does not return, and tell the status pipe why when it fails."""
    try:
        step()
    except (SetupError, OSError) as error:
        os.write(status, b"failed: " + str(error).encode("utf-8", "backslashreplace") + b"\n")
    os._exit(1)


def main(plan: dict[str, Any]) -> NoReturn:
    """Do as the plan says."""
    casewright = os.pidfd_open(plan["parent"])
    die_with(lambda: os.getppid() == plan["parent"])
    # Folders on the way to a mount point must be open to the user that we become, whatever our caller's umask is.
    os.umask(0o022)
    # When the machine runs out of memory, a stranger's test goes before anything else.
    put(b"/proc/self/oom_score_adj", b"900")
    forget_keys()
    status = plan["status"]
    if plan["way"] == "stage":
        attempt(status, lambda: stage(plan, status, casewright))
    attempt(status, lambda: namespaces(plan, status))
