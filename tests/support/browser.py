"""A real browser without a window, and a web server on loopback that writes down what is asked of it."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")


@dataclass(slots=True)
class Site:
    """Pages by path, and the paths that were asked for, in order."""

    pages: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    port: int = 0

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.port}{path}"


@contextmanager
def served() -> Iterator[Site]:
    """Serve a site on loopback; pages may be put into it at any time."""
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append(self.path)
            page = site.pages.get(self.path)
            self.send_response(200 if page is not None else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write((page or "").encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
            """Say nothing: what was asked is in the site."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def rendered(url: str, folder: Path, *options: str) -> str:
    """Open a page in the browser and return its document as it stands after loading; ``folder`` is the profile's."""
    assert CHROMIUM is not None
    # Tests may run as root, and in containers, where its own sandbox refuses to start.
    flags = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run")
    done = subprocess.run(
        [CHROMIUM, *flags, f"--user-data-dir={folder}", "--virtual-time-budget=2000", *options, "--dump-dom", url],
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.decode()


@dataclass(slots=True)
class Element:
    """An element of a document: its name, attributes, and all the text inside it."""

    name: str
    attributes: Mapping[str, str]
    text: str = ""


class _Reader(HTMLParser):
    VOID = frozenset({"meta", "br", "link", "img", "input", "hr"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[Element] = []
        self.open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.found.append(element)
        if tag not in self.VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        names = [element.name for element in self.open]
        if tag in names:
            del self.open[len(names) - 1 - names[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data


def elements(document: str) -> list[Element]:
    """Return every element of a document in order."""
    reader = _Reader()
    reader.feed(document)
    reader.close()
    return reader.found
