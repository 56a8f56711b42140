"""A package index on loopback that can be seen as it was on any day: releases are made here, with the day of each file.

It speaks the JSON of PEP 691 and 700, so that a resolver can ask for what was there at a date.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FIRST_DAY = datetime(2025, 1, 1, tzinfo=UTC)
JSON = "application/vnd.pypi.simple.v1+json"
# A build back-end in a dozen lines: it packs the one module of a source, with the version of the back-end in it.
_BACKEND = """
import base64, hashlib, pathlib, zipfile
VERSION = {version!r}
def build_wheel(folder, config_settings=None, metadata_directory=None):
    name, version = pathlib.Path("NAME").read_text().split()
    wheel = f"{{name}}-{{version}}-py3-none-any.whl"
    info = f"{{name}}-{{version}}.dist-info"
    files = {{
        f"{{name}}.py": f"built_by = {{VERSION!r}}\\n",
        f"{{info}}/METADATA": f"Metadata-Version: 2.1\\nName: {{name}}\\nVersion: {{version}}\\n",
        f"{{info}}/WHEEL": "Wheel-Version: 1.0\\nGenerator: lathe\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }}
    with zipfile.ZipFile(pathlib.Path(folder, wheel), "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
        archive.writestr(f"{{info}}/RECORD", "".join(f"{{path}},,\\n" for path in [*files, f"{{info}}/RECORD"]))
    return wheel
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexFile:
    """One file of a release, uploaded on a day counted from ``FIRST_DAY``."""

    project: str
    name: str
    day: int
    data: bytes


def wheel(
    project: str, version: str, day: int, *, tag: str = "py3-none-any", requires: tuple[str, ...] = (), code: str = ""
) -> IndexFile:
    """Make a wheel that holds one module."""
    module = project.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {one}\n" for one in requires)
    files = {
        f"{module}.py": code or f"version = {version!r}\ntag = {tag!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    record = [f"{path},{_digest(text)},{len(text)}" for path, text in files.items()]
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for path, text in files.items():
            archive.writestr(zipfile.ZipInfo(path), text)
        archive.writestr(zipfile.ZipInfo(f"{info}/RECORD"), "\n".join([*record, f"{info}/RECORD,,"]) + "\n")
    return IndexFile(project=project, name=f"{module}-{version}-{tag}.whl", day=day, data=made.getvalue())


def backend(project: str, version: str, day: int) -> IndexFile:
    """Make a build back-end that leaves its own version in what it builds."""
    return wheel(project, version, day, code=_BACKEND.format(version=version))


def source(project: str, version: str, day: int, *, built_by: str) -> IndexFile:
    """Make a source distribution that a back-end of the index builds."""
    module = project.replace("-", "_")
    root = f"{module}-{version}"
    system = f'[build-system]\nrequires = ["{built_by}"]\nbuild-backend = "{built_by.replace("-", "_")}"\n'
    files = {
        "PKG-INFO": f"Metadata-Version: 2.2\nName: {project}\nVersion: {version}\n",
        "pyproject.toml": f'[project]\nname = "{project}"\nversion = "{version}"\n{system}',
        "NAME": f"{module} {version}",
    }
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for path, text in files.items():
            entry = tarfile.TarInfo(f"{root}/{path}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return IndexFile(project=project, name=f"{root}.tar.gz", day=day, data=made.getvalue())


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


@dataclass(slots=True)
class Index:
    """The index: all its files, and the day as of which it is seen."""

    files: tuple[IndexFile, ...]
    today: int = 0
    url: str = ""
    asked: list[str] = field(default_factory=list)

    def page(self, project: str) -> bytes | None:
        """Return what the index says of a project today, None where it does not know it."""
        known = [one for one in self.files if one.project == project and one.day <= self.today]
        rows = [
            {
                "filename": one.name,
                "url": f"{self.url}/files/{one.name}",
                "hashes": {"sha256": hashlib.sha256(one.data).hexdigest()},
                "upload-time": (FIRST_DAY + timedelta(days=one.day)).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "size": len(one.data),
            }
            for one in known
        ]
        page = {"meta": {"api-version": "1.1"}, "name": project, "versions": [], "files": rows}
        return json.dumps(page).encode() if known else None

    def env(self) -> Mapping[str, str]:
        """Return what points uv at this index."""
        return {"UV_DEFAULT_INDEX": f"{self.url}/simple", "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


@contextlib.contextmanager
def serving(*files: IndexFile) -> Iterator[Index]:
    """Give an index that answers until the end of the block."""
    index = Index(files=files)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            index.asked.append(self.path)
            kind, _, name = self.path.strip("/").partition("/")
            if kind == "simple":
                body = index.page(name)
            else:
                body = next((one.data for one in files if one.name == name and one.day <= index.today), None)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", JSON if kind == "simple" else "application/octet-stream")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body or b"")

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    index.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield index
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
