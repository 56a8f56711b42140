"""A package index on loopback for pip: hand-made wheels and source archives, and a list of what was asked of it."""

from __future__ import annotations

import base64
import hashlib
import http.server
import io
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

# A build back-end in one module: an sdist is built by what the list, or an isolated build, brings as ``tinybuild``.
_BACKEND = """
import os, zipfile

def _wheel(folder, module):
    name = f"{module}-1.0-py3-none-any.whl"
    info = f"{module}-1.0.dist-info"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as archive:
        archive.writestr(f"{module}.py", "value = 1\\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: {module}\\nVersion: 1.0\\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr(f"{info}/RECORD", "")
    return name

def build_wheel(folder, config_settings=None, metadata_directory=None):
    return _wheel(folder, "rough")

def build_sdist(folder, config_settings=None):
    raise NotImplementedError
"""


def wheel(module: str, source: str = "value = 1\n") -> bytes:
    """Return a wheel of one module, version 1.0."""
    packed = io.BytesIO()
    info = f"{module}-1.0.dist-info"
    files = {
        f"{module}.py": source,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = []
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={digest},{len(text)}\n")
            archive.writestr(name, text)
        archive.writestr(f"{info}/RECORD", "".join(rows) + f"{info}/RECORD,,\n")
    return packed.getvalue()


def source_archive() -> bytes:
    """Return the source archive of ``rough``, which ``tinybuild`` builds."""
    packed = io.BytesIO()
    files = {
        "pyproject.toml": '[build-system]\nrequires = ["tinybuild"]\nbuild-backend = "tinybuild"\n',
        "PKG-INFO": "Metadata-Version: 2.1\nName: rough\nVersion: 1.0\n",
    }
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"rough-1.0/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


@dataclass(frozen=True, kw_only=True, slots=True)
class Index:
    """What an index holds, by file name, and what it was asked for, in order."""

    url: str
    files: dict[str, bytes]
    asked: list[str] = field(default_factory=list)

    def hashed(self, *names: str) -> str:
        """Return a list of requirements with the hashes of these files."""
        rows = []
        for name in names:
            distribution = name.partition("-")[0]
            rows.append(f"{distribution}==1.0 \\\n    --hash=sha256:{hashlib.sha256(self.files[name]).hexdigest()}\n")
        return "".join(rows)


def usual_files() -> dict[str, bytes]:
    """Return a wheel, a source archive, and the build tool that it asks for."""
    return {
        "plain-1.0-py3-none-any.whl": wheel("plain"),
        "rough-1.0.tar.gz": source_archive(),
        "tinybuild-1.0-py3-none-any.whl": wheel("tinybuild", _BACKEND),
    }


@contextmanager
def served(files: Mapping[str, bytes]) -> Iterator[Index]:
    """Serve files as an index of the simple kind, at ``Index.url``."""
    held = dict(files)
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            asked.append(self.path)
            kind, _, name = self.path.strip("/").partition("/")
            if kind == "simple":
                names = [file for file in held if file.partition("-")[0] == name]
                links = "".join(
                    f'<a href="/files/{file}#sha256={hashlib.sha256(held[file]).hexdigest()}">{file}</a>\n'
                    for file in names
                )
                self._answer(f"<!DOCTYPE html><html><body>{links}</body></html>".encode() if names else None)
            else:
                self._answer(held.get(name))

        def _answer(self, body: bytes | None) -> None:
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body or b"")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield Index(url=f"http://127.0.0.1:{server.server_port}/simple", files=held, asked=asked)
        finally:
            server.shutdown()
