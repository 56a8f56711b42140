"""One way to run an ordinary command that we trust (git, uv, npm): a request goes in, an outcome comes out.

Code of strangers never runs here; it runs in ``execution.sandboxes``. A command gets a session and process group of its
own, which is killed as a whole when time is up, when the caller is interrupted, or when a stream is left early. Streams
are bytes: decoding is the caller's. A command that is not installed, or can't be started, is an
``InfrastructureError``; a non-zero exit code is a value.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from casewright.errors import InfrastructureError

CHUNK_BYTES = 1 << 16
# A daemon that a command left behind may hold its pipes open: after the command itself is gone we wait no longer.
LINGER_SECONDS = 0.5
# What is kept of standard error when standard output is streamed.
ERROR_TAIL_BYTES = 1 << 16


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandRequest:
    """A command to run.

    ``env`` is the whole environment; None passes ours on. ``stdin`` is given as it is and ends there. ``seconds``
    bounds the time (None: no bound). ``output_limit`` bounds the bytes that are kept of each stream; a command that
    writes more is read to its end, and what exceeds the limit is dropped and reported as ``truncated``.

    ``until_our_end`` has the kernel kill the command when the thread that started it ends, however it ends: for what
    may take long and would go on writing after a ``kill -9`` of ours. Without util-linux's ``setpriv`` it goes on.
    """

    argv: tuple[str | bytes, ...]
    cwd: Path | None = None
    env: Mapping[str, str] | None = None
    stdin: bytes = b""
    seconds: float | None = None
    output_limit: int | None = None
    until_our_end: bool = False

    @property
    def words(self) -> str:
        """The command as one line for messages."""
        return " ".join(os.fsdecode(word) for word in self.argv)


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandOutcome:
    """How a command ended. ``code`` is the exit code, or -N when signal N ended it (ours, after a time-out)."""

    code: int
    stdout: bytes
    stderr: bytes
    milliseconds: int
    timed_out: bool = False
    truncated: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether the command exited with zero in time."""
        return self.code == 0 and not self.timed_out

    @property
    def complaint(self) -> str:
        """The last line of standard error that says something, for a one-line message; may be empty."""
        lines = [line.strip() for line in self.stderr.decode("utf-8", "backslashreplace").splitlines()]
        return next((line for line in reversed(lines) if line), "")


class _Kept:
    """The bytes of one stream, up to a limit."""

    def __init__(self, limit: int | None, *, tail: bool = False) -> None:
        self.content = bytearray()
        self.truncated = False
        self._limit = limit
        self._tail = tail

    def add(self, chunk: bytes) -> None:
        self.content += chunk
        if self._limit is None or len(self.content) <= self._limit:
            return
        self.truncated = True
        if self._tail:
            del self.content[: len(self.content) - self._limit]
        else:
            del self.content[self._limit :]


def run(request: CommandRequest) -> CommandOutcome:
    """Run a command to its end and return what it wrote.

    Raises ``InfrastructureError`` when it can't be started.
    """
    with Stream(request, error_limit=request.output_limit, keep_error_tail=False) as stream:
        kept = _Kept(request.output_limit)
        for chunk in stream:
            kept.add(chunk)
        end = stream.finish()
    return CommandOutcome(
        code=end.code,
        stdout=bytes(kept.content),
        stderr=end.stderr,
        milliseconds=end.milliseconds,
        timed_out=end.timed_out,
        truncated=end.truncated or kept.truncated,
    )


class Stream:
    """A running command whose standard output is read in chunks as it comes.

    Use it as a context manager and iterate over it; ``finish`` then tells how the command ended (``stdout`` is empty,
    of standard error the last part is kept). Leaving the block early kills the command. When ``seconds`` are over, the
    command is killed and the iteration ends; ``finish`` says ``timed_out``.
    """

    def __init__(
        self, request: CommandRequest, *, error_limit: int | None = ERROR_TAIL_BYTES, keep_error_tail: bool = True
    ) -> None:
        self._request = request
        self._errors = _Kept(error_limit, tail=keep_error_tail)
        self._timed_out = False
        self._started = time.monotonic()
        self._deadline = None if request.seconds is None else self._started + request.seconds
        self._process = _start(request)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[bytes]:
        """Yield chunks of standard output until its end."""
        out, err = self._pipes()
        with selectors.DefaultSelector() as selector:
            selector.register(out, selectors.EVENT_READ)
            selector.register(err, selectors.EVENT_READ)
            while selector.get_map():
                events = selector.select(self._patience())
                if not events and self._must_stop():
                    return
                for key, _ in events:
                    chunk = os.read(key.fd, CHUNK_BYTES)
                    if not chunk:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is err:
                        self._errors.add(chunk)
                    else:
                        yield chunk
                # A command that never stops writing must not outlive its time either.
                if self._expired():
                    return

    def finish(self) -> CommandOutcome:
        """Wait for the command and tell how it ended; standard output that was not read is dropped."""
        for _ in self:
            pass
        try:
            code = self._process.wait(None if self._deadline is None else max(0.0, self._deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._timed_out = True
            self._kill()
            code = self._process.wait()
        return CommandOutcome(
            code=code,
            stdout=b"",
            stderr=bytes(self._errors.content),
            milliseconds=round((time.monotonic() - self._started) * 1000),
            timed_out=self._timed_out,
            truncated=self._errors.truncated,
        )

    def close(self) -> None:
        """Kill what still runs of the command and release its pipes."""
        if self._process.poll() is None:
            self._kill()
            self._process.wait()
        for pipe in self._pipes():
            pipe.close()

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        out, err = self._process.stdout, self._process.stderr
        if out is None or err is None:
            raise InfrastructureError(f"the pipes of {self._request.words} were not opened")
        return out, err

    def _patience(self) -> float:
        left = LINGER_SECONDS if self._deadline is None else self._deadline - time.monotonic()
        return max(0.0, min(LINGER_SECONDS, left))

    def _expired(self) -> bool:
        if self._deadline is None or time.monotonic() < self._deadline:
            return False
        if self._process.poll() is None:
            self._timed_out = True
            self._kill()
        return True

    def _must_stop(self) -> bool:
        return self._expired() or self._process.poll() is not None

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


def _followed(request: CommandRequest) -> tuple[str | bytes, ...]:
    # A missing program has to fail by its own name, not by that of setpriv.
    if request.until_our_end and shutil.which("setpriv") and shutil.which(request.argv[0]):
        return ("setpriv", "--pdeathsig", "KILL", "--", *request.argv)
    return request.argv


def _start(request: CommandRequest) -> subprocess.Popen[bytes]:
    with contextlib.ExitStack() as stack:
        stdin: int | IO[bytes] = subprocess.DEVNULL
        if request.stdin:
            # A file instead of a pipe: nobody has to write while somebody reads, so nothing can wait for the other.
            stdin = stack.enter_context(tempfile.TemporaryFile())
            stdin.write(request.stdin)
            stdin.seek(0)
        try:
            return subprocess.Popen(
                _followed(request),
                cwd=request.cwd,
                env=None if request.env is None else dict(request.env),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            program = os.fsdecode(request.argv[0])
            if request.cwd is not None and not request.cwd.is_dir():
                raise InfrastructureError(f"{program} can't be run in {request.cwd}: no such folder") from error
            raise InfrastructureError(
                f"{program} can't be run: {error.strerror or error}", f"install {program} and see that PATH finds it"
            ) from error
