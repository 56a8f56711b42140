"""The sandbox with bubblewrap: it makes the namespaces and the root, from an unprivileged start.

bubblewrap is never run by root: a user namespace of root's would leave the real uid 0 inside. A stage of ours makes
sources reachable, gives root up and sets what bubblewrap has no option for; then bubblewrap runs a few lines of sh,
which make the copies and become the program. Its options come by a file descriptor, its environment is empty: both can
be read as /proc/1 inside.
"""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from casewright.errors import SandboxUnavailableError
from casewright.process import CommandRequest, run
from execution.sandbox import CASE_DIR, Mount, SandboxOutcome, SandboxRequest, Scratch
from execution.sandboxes.copying import PlannedCopy, copy_command, plan_copies, quoted
from execution.sandboxes.ground import (
    ground,
    is_below,
    private_scratches,
    program_environment,
    resource_limits,
    shared_pages,
    size,
)
from execution.sandboxes.identity import hand_over_once, real_uid
from execution.sandboxes.supervision import Launch, Pipes, supervise
from execution.sandboxes.system import HOME, HOSTNAME, INNER_UID, account_files, resolver, system
from execution.sandboxes.trial import why_not

# Where root's stage puts what bubblewrap is to mount. bubblewrap works below /tmp itself, so the folder is there.
STAGE_DIR = "/tmp"  # noqa: S108 - a tmpfs in a mount namespace of its own
STATUS_FD = 4
CLOSED_IN_PROC = ("/proc/sys", "/proc/irq", "/proc/bus")


class Bubblewrap:
    """The backend of the name ``bubblewrap``."""

    @property
    def name(self) -> str:
        """The name in records and on the command line."""
        return "bubblewrap"

    def unavailable(self) -> str | None:
        """Why it can't be used here; None if it works. Tried once per process."""
        return _unavailable()

    def run(self, request: SandboxRequest) -> SandboxOutcome:
        """Run one program (see ``execution.sandbox.Sandbox``)."""
        return _run(request)


BUBBLEWRAP = Bubblewrap()


@functools.cache
def _unavailable() -> str | None:
    if shutil.which("bwrap") is None:
        return "bwrap is not installed"
    return why_not(_run)


@functools.cache
def _offers(option: str) -> bool:
    """Whether the installed bubblewrap knows an option (``--disable-userns`` came with 0.8)."""
    outcome = run(
        CommandRequest(argv=("bwrap", "--help"), env={"PATH": os.environ.get("PATH", os.defpath)}, seconds=10)
    )
    return option.encode() in outcome.stdout + outcome.stderr


@dataclass(kw_only=True, slots=True)
class _Sources:
    """Where bubblewrap finds what it mounts: on the host, or, started by root, in the stage."""

    staged: bool
    trees: list[tuple[bytes, bytes, bool]] = field(default_factory=list)
    rooms: list[tuple[bytes, int, int, int]] = field(default_factory=list)

    def bind(self, source: Path | bytes, target: bytes, *, writable: bool) -> tuple[bytes, ...]:
        """Return the options that show a host folder or file."""
        option = b"--bind" if writable else b"--ro-bind"
        if not self.staged:
            return option, os.fsencode(source), target
        place = f"{STAGE_DIR}/m{len(self.trees)}".encode()
        self.trees.append((os.fsencode(source), place, writable))
        return option, place, target

    def tmpfs(self, target: str, room: tuple[int, int, int]) -> tuple[bytes, ...]:
        """Return the options of a private tmpfs. bubblewrap can't bound its inodes, the stage can."""
        size_, inodes, mode = room
        if not self.staged:
            return b"--perms", b"%o" % mode, b"--size", b"%d" % size_, b"--tmpfs", target.encode()
        place = f"{STAGE_DIR}/t{len(self.rooms)}".encode()
        self.rooms.append((place, size_, inodes, mode))
        return b"--bind", place, target.encode()


def _run(request: SandboxRequest) -> SandboxOutcome:
    program = shutil.which("bwrap")
    if program is None:
        raise SandboxUnavailableError("bwrap is not installed", "install the package bubblewrap")
    for mount in request.mounts:
        if mount.writable:
            hand_over_once(mount.source)
    uid = real_uid()
    layout = ground(request)
    copies = plan_copies(request, layout.after)
    sources = _Sources(staged=uid is not None)
    files = account_files(network=request.network) | (resolver() if request.network else {})
    options = [
        *_namespaces(request),
        *_folders(request, copies),
        *_skeleton(request, sources),
        *_content(layout.before, layout.after, copies, sources),
    ]
    script = _script(request, copies)

    def plan(pipes: Pipes, fds: Mapping[str, int]) -> Mapping[str, object]:
        late: list[bytes] = []
        for path in files:
            late += [b"--perms", b"0644", b"--file", b"%d" % fds[path], path.encode()]
        late += [b"--remount-ro", b"/dev", b"--remount-ro", b"/"]
        return {
            "way": "stage",
            "uid": uid,
            "inner_uid": INNER_UID,
            "sources": sources.trees,
            "tmpfs": sources.rooms,
            "stage_dir": STAGE_DIR.encode(),
            "limits": resource_limits(request.limits),
            "shared_pages": shared_pages(request.limits),
            "descriptors": [(pipes.report, 3), (pipes.status, STATUS_FD)],
            "options": b"".join(option + b"\0" for option in (*options, *late)),
            "argv": [
                os.fsencode(program),
                *(b"--", b"/bin/sh", b"-c", script, b"sh"),
                *(os.fsencode(word) for word in request.argv),
            ],
        }

    return supervise(Launch(plan=plan, files=files, uid=uid, request=request))


def _namespaces(request: SandboxRequest) -> Iterable[bytes]:
    uid = b"%d" % INNER_UID
    yield from (b"--unshare-user", b"--unshare-pid", b"--unshare-uts")
    if real_uid() is None:
        # Root's stage makes the IPC namespace, since only root can bound what is in it.
        yield b"--unshare-ipc"
    if not request.network:
        yield b"--unshare-net"
    yield from (b"--uid", uid, b"--gid", uid, b"--hostname", HOSTNAME.encode())
    yield from (b"--die-with-parent", b"--new-session", b"--clearenv", b"--cap-drop", b"ALL")
    if _offers("--disable-userns"):
        yield b"--disable-userns"
    for name, value in program_environment(request.env).items():
        yield from (b"--setenv", name, value)


def _folders(request: SandboxRequest, copies: tuple[PlannedCopy, ...]) -> Iterable[bytes]:
    """Every folder of the root on the way to a mount point: what bubblewrap makes by itself is closed to others."""
    targets = [*system().shown, CASE_DIR, *(mount.target for mount in request.mounts)]
    targets += [scratch.target for scratch in request.scratch]
    targets += [os.fsdecode(copy.seen_at) for copy in copies]
    parents = {parent for target in targets for parent in PurePosixPath(target).parents}
    for parent in sorted(parents, key=lambda path: len(path.parts))[1:]:
        if not is_below(str(parent), CASE_DIR) and str(parent) != CASE_DIR:
            yield from (b"--perms", b"0755", b"--dir", os.fsencode(parent))


def _skeleton(request: SandboxRequest, sources: _Sources) -> Iterable[bytes]:
    """System folders, /proc, /dev and temporary folders. What is shown of the system is readable by everybody."""
    host = system()
    for path in host.shown:
        yield from (b"--ro-bind", path.encode(), path.encode())
    for path, points_to in host.links:
        yield from (b"--symlink", points_to.encode(), path.encode())
    yield from (b"--proc", b"/proc", b"--dev", b"/dev")
    for path in CLOSED_IN_PROC:
        if Path(path).exists():
            yield from (b"--ro-bind", path.encode(), path.encode())
    for target, *room in private_scratches(request.limits):
        yield from sources.tmpfs(target, (room[0], room[1], room[2]))
    yield from (b"--perms", b"0755", b"--dir", HOME.encode())


def _content(
    before: tuple[Mount | Scratch, ...],
    after: tuple[Mount | Scratch, ...],
    copies: tuple[PlannedCopy, ...],
    sources: _Sources,
) -> Iterable[bytes]:
    """Mounts and scratches. bubblewrap mounts all of them before the copies are made, so copies leave them out."""
    for entry in (*before, *after):
        if isinstance(entry, Scratch):
            yield from sources.tmpfs(entry.target, size(entry.megabytes))
        else:
            yield from sources.bind(entry.source, os.fsencode(entry.target), writable=entry.writable)
    for copy in copies:
        yield from sources.bind(copy.source, copy.seen_at, writable=False)


def _script(request: SandboxRequest, copies: tuple[PlannedCopy, ...]) -> bytes:
    """Return what sh does inside before it becomes the program, whose words are its arguments."""
    # A process limit counts in the user namespace in which it is set. dash and bash name the option differently.
    number = b"%d" % request.limits.processes
    lines = [b'fail() { echo "failed: $1" >&4; exit 1; }']
    lines += [copy_command(copy) + b" || fail " + quoted(b"copy into " + copy.target) for copy in copies]
    lines.append(b"cd -- " + quoted(os.fsencode(request.cwd)) + b" || fail 'enter the folder of the program'")
    lines.append(b"ulimit -u " + number + b" 2>/dev/null || ulimit -p " + number + b" || fail 'limit processes'")
    lines.append(b"echo ok >&4")
    lines.append(b"exec 4>&-")
    # The shell's own variables are none of the request's.
    lines.append(b"unset PWD OLDPWD SHLVL")
    lines.append(b'exec "$@"')
    return b"\n".join(lines)
