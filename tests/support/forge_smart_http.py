"""git over smart HTTP: one request handed to ``git http-backend`` as a CGI, read only."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from email.parser import BytesHeaderParser
from pathlib import Path
from typing import IO

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
        )
    assert running.stdout is not None
    head = b"".join(iter(lambda: _line(running.stdout), b""))
    headers = dict(BytesHeaderParser().parsebytes(head).items())
    status = int(headers.pop("Status", "200").split()[0])
    return Answer(status=status, headers=headers, stream=_chunks(running, running.stdout))


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


def _line(stream: IO[bytes] | None) -> bytes:
    """Return the next line of the CGI's head, b"" at its end."""
    line = stream.readline() if stream is not None else b""
    return b"" if line in (b"\r\n", b"\n") else line


def _chunks(running: subprocess.Popen[bytes], stream: IO[bytes]) -> Iterator[bytes]:
    try:
        while chunk := stream.read(_CHUNK):
            yield chunk
    finally:
        # A client that went away leaves a git that writes to nobody.
        running.kill()
        stream.close()
        running.wait()


def _plain(status: int, text: str) -> Answer:
    return Answer(status=status, headers={"Content-Type": "text/plain; charset=utf-8"}, body=text.encode())
