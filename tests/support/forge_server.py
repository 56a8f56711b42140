"""The HTTP side of a forge: sockets, the order in which things are looked at, and how an answer is delivered."""

from __future__ import annotations

import contextlib
import hashlib
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.forge_answers import Answer, Request, Stream
from tests.support.forge_faults import Delivery, Fault


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """An answer and the fault, if any, that decides how it reaches the client."""

    answer: Answer
    fault: Fault | None = None


class Server(ThreadingHTTPServer):
    """Listens on loopback; ``respond`` turns a request into a reply, ``now`` gives the time for ``Date``."""

    daemon_threads = False
    block_on_close = True
    # Killed and back on the same port, at once.
    allow_reuse_address = True

    def __init__(self, port: int, respond: Callable[[Request], Reply], now: Callable[[], int]) -> None:
        self.respond = respond
        self.now = now
        self.stopping = threading.Event()
        self.bugs: list[str] = []
        self._connections: set[socket.socket] = set()
        self._streams: set[Stream] = set()
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", port), Handler)
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, name="forge")
        self._thread.start()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self.server_address[1])

    def stop(self) -> None:
        """Stop as a killed server does: no new connection, and those that are open are closed, whatever they carry."""
        self.stopping.set()
        self.shutdown()
        self._thread.join()
        with self._lock:
            for connection in self._connections:
                self._end(connection)
            for stream in self._streams:
                stream.cut()
        self.server_close()

    def keep(self, stream: Stream) -> None:
        """Remember a body that is being sent; one that is begun while the server is being stopped ends at once."""
        with self._lock:
            self._streams.add(stream)
            if self.stopping.is_set():
                stream.cut()

    def drop(self, stream: Stream) -> None:
        """Forget a body that was sent."""
        with self._lock:
            self._streams.discard(stream)

    @staticmethod
    def _end(connection: socket.socket) -> None:
        # Its client may have closed it just now.
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)

    def hold(self, connection: socket.socket) -> None:
        """Remember an open connection; one that came in while the server was being stopped ends at once."""
        with self._lock:
            self._connections.add(connection)
            if self.stopping.is_set():
                self._end(connection)

    def let_go(self, connection: socket.socket) -> None:
        """Forget a connection."""
        with self._lock:
            self._connections.discard(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - the base class's signature
        """Keep what went wrong in our own code; a client that went away is nothing wrong."""
        error = sys.exception()
        if not isinstance(error, OSError):
            self.bugs.append(traceback.format_exc())


class Handler(BaseHTTPRequestHandler):
    """One connection; HTTP/1.1, kept alive."""

    protocol_version = "HTTP/1.1"
    # Head and body are two writes: with Nagle's algorithm the second would wait for the client's delayed ACK.
    disable_nagle_algorithm = True
    server: Server

    def setup(self) -> None:
        """Make the connection known, so that a stop can end it."""
        super().setup()
        self.server.hold(self.connection)

    def finish(self) -> None:
        """End the connection."""
        self.server.let_go(self.connection)
        super().finish()

    def do_GET(self) -> None:
        """Answer a GET."""
        self._serve()

    def do_HEAD(self) -> None:
        """Answer a HEAD: what a GET would, without the body."""
        self._serve()

    def do_POST(self) -> None:
        """Answer a POST."""
        self._serve()

    def __getattr__(self, name: str) -> Callable[[], None]:
        """Answer every other method too: what a client must not do is refused by the API, not by the server."""
        if name.startswith("do_"):
            return self._serve
        raise AttributeError(name)

    def version_string(self) -> str:
        """Name the server as GitHub does."""
        return "GitHub.com"

    def date_time_string(self, timestamp: float | None = None) -> str:
        """Return the forge's time for ``Date``."""
        return formatdate(self.server.now() if timestamp is None else timestamp, usegmt=True)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Say nothing: requests are recorded, not logged."""

    def _serve(self) -> None:
        path, _, query = self.path.partition("?")
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(method=self.command, path=path, query=query, headers=headers, body=self._body())
        try:
            reply = self.server.respond(request)
        except Exception as error:
            # The client must not wait for ever, and the test must hear of it.
            self._deliver(Answer(status=500, body=b"the forge itself has a bug"), None)
            raise RuntimeError("the forge could not answer") from error
        self._deliver(reply.answer, reply.fault)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline() not in (b"\r\n", b"\n", b""):
            pass
        return b"".join(parts)

    def _deliver(self, answer: Answer, fault: Fault | None) -> None:
        if answer.stream is not None:
            self.server.keep(answer.stream)
        try:
            self._write(answer, fault)
        finally:
            if answer.stream is not None:
                self.server.drop(answer.stream)
                answer.stream.close()

    def _write(self, answer: Answer, fault: Fault | None) -> None:
        delivery = fault.delivery if fault else Delivery.WHOLE
        stopped = bool(fault and fault.delay) and self.server.stopping.wait(fault.delay if fault else 0)
        if stopped or delivery is Delivery.DROPPED:
            return self._hang_up()
        if delivery is Delivery.TRUNCATED and answer.stream is None:
            answer = replace(answer, body=answer.body[: len(answer.body) // 2])
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.stream is not None:
            return self._write_stream(answer, delivery)
        if answer.status != 304:
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command == "HEAD" or answer.status == 304:
            return None
        if delivery is Delivery.CUT:
            self.wfile.write(answer.body[: len(answer.body) // 2])
            return self._hang_up()
        self.wfile.write(answer.body)
        return None

    def _write_stream(self, answer: Answer, delivery: Delivery) -> None:
        """Write a stream in chunks; one that is to be cut or truncated ends in the middle of its first chunk."""
        assert answer.stream is not None
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in answer.stream:
            if delivery is not Delivery.WHOLE:
                half = chunk[: len(chunk) // 2]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(half) or 1, half or b"0"))
                if delivery is Delivery.CUT:
                    return self._hang_up()
                break
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        self.wfile.write(b"0\r\n\r\n")
        return None

    def _hang_up(self) -> None:
        self.close_connection = True
        self.wfile.flush()
        # The client may have been quicker.
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


def with_entity_tag(request: Request, answer: Answer) -> Answer:
    """Return the answer with its ETag, or 304 where the client has it already (``If-None-Match``)."""
    if answer.status != 200 or request.method not in ("GET", "HEAD"):
        return answer
    tag = f'W/"{hashlib.sha256(answer.body).hexdigest()}"'
    kept = {**answer.headers, "ETag": tag, "Cache-Control": "private, max-age=60, s-maxage=60"}
    held = {word.strip().removeprefix("W/") for word in request.headers.get("if-none-match", "").split(",")}
    if tag.removeprefix("W/") in held:
        return Answer(status=304, headers=kept)
    return replace(answer, headers=kept)
