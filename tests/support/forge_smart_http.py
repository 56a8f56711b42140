"""git over smart HTTP: one request handed to ``git http-backend`` as a CGI, read only."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from email.parser import BytesHeaderParser
from pathlib import Path

from tests.support.forge_answers import Answer, Request
from tests.support.repos import plain_env

_CHUNK = 64 * 1024


def serve(request: Request, folder: Path, rest: str) -> Answer:
    """Return the answer to a git client; ``rest`` is what it asks of the repository, ``/info/refs`` say."""
    if rest == "/git-receive-pack" or "service=git-receive-pack" in request.query:
        return _plain(403, "This forge is read only.\n")
    if rest == "/info/refs" and "service=git-upload-pack" not in request.query:
        return _plain(403, "Please upgrade your git client: there is no git over dumb HTTP here.\n")
    with tempfile.TemporaryFile() as body:
        # From a file: a pipe could block both sides when the request is as long as the answer.
        body.write(request.body)
        body.seek(0)
        running = subprocess.Popen(
            ["git", "http-backend"],
            stdin=body,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(request, folder, rest),
            # A group of its own: git starts others, and all of them end with the answer.
            start_new_session=True,
        )
    stream = _Output(running)
    head = stream.head()
    headers = dict(BytesHeaderParser().parsebytes(head).items())
    status = int(headers.pop("Status", "200").split()[0])
    return Answer(status=status, headers=headers, stream=stream)


def _environment(request: Request, folder: Path, rest: str) -> dict[str, str]:
    return {
        **plain_env(),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_TRANSLATED": f"{folder}{rest}",
        "PATH_INFO": rest,
        "REQUEST_METHOD": request.method,
        "QUERY_STRING": request.query,
        "CONTENT_TYPE": request.headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(request.body)),
        "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
        "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
        "REMOTE_ADDR": "127.0.0.1",
    }


class _Output:
    """What a running git writes: the CGI's head, then the body by the chunk."""

    def __init__(self, running: subprocess.Popen[bytes]) -> None:
        assert running.stdout is not None
        self._running = running
        self._pipe = running.stdout

    def head(self) -> bytes:
        """Return the lines before the first empty one."""
        lines = []
        while (line := self._pipe.readline()) not in (b"\r\n", b"\n", b""):
            lines.append(line)
        return b"".join(lines)

    def __iter__(self) -> Iterator[bytes]:
        while chunk := self._pipe.read(_CHUNK):
            yield chunk

    def cut(self) -> None:
        """End the git and those that it started; whoever reads comes to the end of what there is."""
        if self._running.returncode is None:
            # It may have ended by itself just now; its number is ours until it is waited for.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._running.pid, signal.SIGKILL)

    def close(self) -> None:
        """End what still runs: a client that went away leaves a git that writes to nobody."""
        self.cut()
        self._pipe.close()
        self._running.wait()


def _plain(status: int, text: str) -> Answer:
    return Answer(status=status, headers={"Content-Type": "text/plain; charset=utf-8"}, body=text.encode())
