"""Watching one sandbox from outside: its output, its report, its memory, its time, and its end.

Both backends hand over a ``Launch``; all else is the same for them. What the program writes is read as it comes and
never held back, so no flood fills a disk; whatever happens, at the end nothing of the sandbox is left.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from casewright.errors import SandboxUnavailableError
from execution.sandbox import Ended, SandboxOutcome, SandboxRequest
from execution.sandboxes.bootstrap import command, content
from execution.sandboxes.launcher import LAUNCHER
from execution.sandboxes.network import blank, hidden
from execution.sandboxes.watch import descendants, usage

CHUNK_BYTES = 1 << 16
KEPT_BYTES = 4 << 20
SETUP_SECONDS = 300
LAST_WORDS_SECONDS = 5.0
KILL_SECONDS = 0.02
FIRST_LOOK_SECONDS = 0.02
LOOK_SECONDS = 0.1
MEMORY_BY = "rlimit-data and polled"
# Descriptors of ours are kept out of the way of those that the program is going to have.
FIRST_FD = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Pipes:
    """The write ends of pipes that a sandbox starts with, by number; ``report`` is -1 where there is none."""

    status: int
    report: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Launch:
    """How a backend starts: ``plan`` gives the set-up program's plan for the pipes, ``files`` are read by it.

    ``files`` maps names of the backend to bytes; ``plan`` gets the descriptor of each.
    """

    plan: Callable[[Pipes, Mapping[str, int]], Mapping[str, object]]
    files: Mapping[str, bytes]
    uid: int | None
    request: SandboxRequest


class _Kept:
    """First and last part of a stream, and how much there was of it."""

    def __init__(self, kept: int) -> None:
        self.total = 0
        self._kept = kept
        self._first = bytearray()
        self._last = bytearray()

    def add(self, chunk: bytes) -> None:
        self.total += len(chunk)
        room = self._kept - len(self._first)
        self._first += chunk[:room]
        self._last += chunk[room:]
        if len(self._last) > 2 * self._kept:
            del self._last[: -self._kept]

    def content(self) -> bytes:
        last = self._last[-self._kept :]
        left_out = self.total - len(self._first) - len(last)
        middle = b"\n[... %d bytes left out ...]\n" % left_out if left_out else b""
        return bytes(self._first + middle + last)


class Descriptors:
    """Descriptors that are closed together."""

    def __init__(self) -> None:
        self._open: set[int] = set()

    def keep(self, fd: int) -> int:
        """Take over a descriptor; return it under a number that is out of the way."""
        moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, FIRST_FD)
        os.close(fd)
        self._open.add(moved)
        return moved

    def pipe(self) -> tuple[int, int]:
        """Open a pipe: its read end and its write end."""
        read, write = os.pipe2(os.O_CLOEXEC)
        return self.keep(read), self.keep(write)

    def file(self, content: bytes) -> int:
        """Return a descriptor from which the content is read."""
        fd = self.keep(os.memfd_create("casewright"))
        os.write(fd, content)
        os.lseek(fd, 0, os.SEEK_SET)
        return fd

    def close(self, *fds: int) -> None:
        """Close some of them, or all."""
        for fd in fds or tuple(self._open):
            self._open.discard(fd)
            os.close(fd)


def supervise(launch: Launch) -> SandboxOutcome:
    """Start a sandbox, wait for its end and return how the program inside ended.

    Raises ``SandboxUnavailableError`` when the sandbox could not be set up.
    """
    descriptors = Descriptors()
    try:
        return _Run(launch, descriptors).wait()
    finally:
        descriptors.close()


class _Run:
    """One sandbox from its start to its end."""

    def __init__(self, launch: Launch, descriptors: Descriptors) -> None:
        self._launch = launch
        self._fds = descriptors
        self._output = _Kept(KEPT_BYTES)
        self._hidden = hidden(launch.request.env) if launch.request.network else ()
        self._report = bytearray()
        self._status = bytearray()
        self._ready = False
        self._peak_kb = 0
        self._stopped: Ended | None = None
        self._limit_bytes = launch.request.limits.output_mb << 20
        self._selector = selectors.DefaultSelector()
        self._streams: dict[int, Callable[[bytes], None]] = {}
        self._started = time.monotonic()
        self._milliseconds = 0
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        out, out_end = self._fds.pipe()
        status, status_end = self._fds.pipe()
        report, report_end = self._fds.pipe() if self._launch.request.report else (-1, -1)
        if self._launch.uid is not None:
            # Reporters open /dev/fd/3 by its path, which asks for the pipe's owner.
            for fd in (out_end, report_end):
                if fd >= 0:
                    os.fchown(fd, self._launch.uid, self._launch.uid)
        files = {name: self._fds.file(content) for name, content in self._launch.files.items()}
        plan = self._launch.plan(Pipes(status=status_end, report=report_end), files)
        plan_fd = self._fds.file(content({**plan, "parent": os.getpid(), "status": status_end, "report": report_end}))
        passed = [fd for fd in (plan_fd, status_end, report_end, *files.values()) if fd >= 0]

        def start() -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                command(plan_fd),
                stdin=subprocess.DEVNULL,
                stdout=out_end,
                stderr=out_end,
                env={},
                cwd="/",
                pass_fds=passed,
                start_new_session=True,
            )

        try:
            process = LAUNCHER.start(start)
        except OSError as error:
            raise SandboxUnavailableError(f"the set-up program of the sandbox can't be started: {error}") from error
        self._fds.close(out_end, *passed)
        self._streams = {out: self._output.add, status: self._add_status}
        if report >= 0:
            self._streams[report] = self._add_report
        for fd in self._streams:
            os.set_blocking(fd, False)
            self._selector.register(fd, selectors.EVENT_READ)
        return process

    def wait(self) -> SandboxOutcome:
        """Wait for the end, whichever comes first: the program's, or a limit's."""
        try:
            with self._selector:
                self._watch()
                self._milliseconds = round((time.monotonic() - self._started) * 1000)
                self._kill()
                self._drain()
        finally:
            self._kill()
            code, largest_kb = self._reap()
        if code < 0 and self._stopped is None:
            # The program's own signal comes as 128+N: this one hit the process that stands outside.
            raise SandboxUnavailableError(f"the sandbox itself was killed by signal {-code}", "run the command again")
        if not self._ready:
            raise SandboxUnavailableError(self._complaint(), self._remedy())
        return SandboxOutcome(
            ended=self._stopped or (Ended.SIGNALLED if 128 < code <= 128 + signal.NSIG else Ended.EXITED),
            exit_code=128 + signal.SIGKILL if self._stopped else code,
            output=blank(self._output.content(), self._hidden),
            output_bytes=self._output.total,
            report=blank(bytes(self._report), self._hidden),
            milliseconds=self._milliseconds,
            peak_memory_kb=max(self._peak_kb, largest_kb),
            memory_by=MEMORY_BY,
        )

    def _watch(self) -> None:
        pidfd = self._fds.keep(os.pidfd_open(self._process.pid))
        self._selector.register(pidfd, selectors.EVENT_READ)
        look = time.monotonic() + FIRST_LOOK_SECONDS
        while self._stopped is None:
            for key, _ in self._selector.select(max(0.0, min(look, self._deadline()) - time.monotonic())):
                if key.fd == pidfd:
                    self._selector.unregister(pidfd)
                    return
                self._read(key.fd)
            now = time.monotonic()
            if max(self._output.total, len(self._report)) > self._limit_bytes:
                self._stopped = Ended.OUTPUT_LIMIT
            elif now >= self._deadline():
                self._stopped = Ended.TIMEOUT
            elif now >= look and self._ready:
                self._look()
                # Looking may take a twentieth of one processor at most, however many processes there are.
                look = time.monotonic() + max(LOOK_SECONDS, 20 * (time.monotonic() - now))

    def _deadline(self) -> float:
        return self._started + (self._launch.request.limits.seconds if self._ready else SETUP_SECONDS)

    def _look(self) -> None:
        limit_kb = self._launch.request.limits.memory_mb << 10
        held = usage(self._process.pid, limit_kb=limit_kb).total
        self._peak_kb = max(self._peak_kb, held)
        if held > limit_kb:
            self._stopped = Ended.OUT_OF_MEMORY

    def _read(self, fd: int) -> None:
        try:
            chunk = os.read(fd, CHUNK_BYTES)
        except BlockingIOError:
            return
        if chunk:
            self._streams[fd](chunk)
        else:
            self._selector.unregister(fd)

    def _drain(self) -> None:
        # What was written before the end is still in the pipes; their end of file also tells that all writers are gone.
        until = time.monotonic() + LAST_WORDS_SECONDS
        while any(fd in self._selector.get_map() for fd in self._streams) and time.monotonic() < until:
            for key, _ in self._selector.select(LOOK_SECONDS):
                if key.fd in self._streams:
                    self._read(key.fd)

    def _add_report(self, chunk: bytes) -> None:
        if len(self._report) <= self._limit_bytes:
            self._report += chunk

    def _add_status(self, chunk: bytes) -> None:
        self._status += chunk
        if not self._ready and b"ok\n" in self._status:
            self._ready = True
            self._started = time.monotonic()

    def _kill(self) -> None:
        """Kill what the outer process waits for; it ends when all that is inside has, and its end is waited for."""
        if self._process.returncode is not None:
            return
        outer = os.pidfd_open(self._process.pid)
        try:
            until = time.monotonic() + LAST_WORDS_SECONDS
            while not has_ended(outer, KILL_SECONDS) and time.monotonic() < until:
                first = descendants(self._process.pid)[:1]
                # Before it has a child it can be killed itself.
                for pid in first or (() if self._ready else (self._process.pid,)):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(outer, signal.SIGKILL)
        finally:
            os.close(outer)

    def _reap(self) -> tuple[int, int]:
        """Return the exit code (-N when signal N hit the outer process) and the kilobytes of the largest process."""
        _, status, resources = os.wait4(self._process.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        self._process.returncode = code
        return code, resources.ru_maxrss

    def _complaint(self) -> str:
        said = self._status.decode("utf-8", "replace").rpartition("failed: ")
        output = blank(self._output.content(), self._hidden).decode("utf-8", "replace").strip()
        last = output.splitlines()[-1] if output else ""
        why = "; ".join(text for text in (said[2].strip() if said[1] else "", last) if text)
        if self._stopped is Ended.TIMEOUT:
            why = f"it took longer than {SETUP_SECONDS} seconds"
        return f"the sandbox could not be set up: {why or 'it ended without a word'}"

    def _remedy(self) -> str:
        if b"No space left" in self._output.content():
            return f"raise the limit disk_mb, now {self._launch.request.limits.disk_mb}"
        return "run `casewright doctor`"


def has_ended(pidfd: int, seconds: float) -> bool:
    """Whether the process of a pidfd has ended, now or within a time. Not select(2): it knows no fd above 1023."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(seconds * 1000))
