"""What can go wrong between a client and a forge, made to happen when a test says so."""

from __future__ import annotations

import enum
import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

_DOCUMENTATION = "https://docs.github.com/rest"


class Delivery(enum.Enum):
    """How much of an answer reaches the client."""

    WHOLE = "whole"
    # A proper answer whose body is half of what it should be.
    TRUNCATED = "truncated"
    # The head and half of the body, then the connection is gone.
    CUT = "cut"
    # Not a byte: the connection is closed as soon as the request was read.
    DROPPED = "dropped"


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """One thing that goes wrong.

    Without a ``status`` the forge's real answer is what is delayed (seconds) or delivered badly; with one, ``headers``
    and ``body`` stand for it. ``limit_resets_in`` makes the rate limit's headers say that nothing is left, and when it
    will be again (seconds from now).
    """

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    delay: float = 0.0
    delivery: Delivery = Delivery.WHOLE
    limit_resets_in: int | None = None


def answering(status: int, headers: Mapping[str, str] | None = None, body: str | bytes | None = None) -> Fault:
    """Return an answer with this status; a body left out is what the API says in such a case, as JSON."""
    if body is None:
        body = json.dumps({"message": _MESSAGES.get(status, "Error"), "documentation_url": _DOCUMENTATION})
    raw = body.encode() if isinstance(body, str) else body
    kind = "application/json; charset=utf-8" if raw[:1] in (b"{", b"[") else "text/html; charset=utf-8"
    return Fault(status=status, headers={"Content-Type": kind, **(headers or {})}, body=raw)


def primary_limit(*, seconds: int, status: int = 403) -> Fault:
    """Return the refusal of a client that has no request left until ``seconds`` from now (403, or 429)."""
    said = answering(status, body=json.dumps({"message": PRIMARY_MESSAGE, "documentation_url": _DOCUMENTATION}))
    return Fault(status=status, headers=said.headers, body=said.body, limit_resets_in=seconds)


def secondary_limit(*, retry_after: int | None = 1, status: int = 403) -> Fault:
    """Return the refusal of a client that asks too fast; real ones come with and without ``Retry-After``."""
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return answering(status, headers, json.dumps({"message": SECONDARY_MESSAGE, "documentation_url": _DOCUMENTATION}))


def query_limited(*, seconds: int) -> Fault:
    """Return how GraphQL refuses a client that has no point left: an error with status 200."""
    body = json.dumps({"errors": [{"type": "RATE_LIMITED", "message": PRIMARY_MESSAGE}]})
    said = answering(200, body=body)
    return Fault(status=200, headers=said.headers, body=said.body, limit_resets_in=seconds)


def query_timeout() -> Fault:
    """Return how GraphQL gives up on a query that takes it too long: 502 with JSON."""
    return answering(502, body=json.dumps({"data": None, "errors": [{"message": TIMEOUT_MESSAGE}]}))


def proxy_page(status: int = 502) -> Fault:
    """Return the HTML page of something that stands between; with 200 it is a captive portal's."""
    page = f"<html><head><title>{status}</title></head><body><h1>{status}</h1>proxy</body></html>"
    return answering(status, body=page)


def redirected(to: str, status: int = 302) -> Fault:
    """Return a redirect to an address that need not be ours."""
    return answering(status, {"Location": to}, json.dumps({"message": "Moved", "url": to}))


def slow(seconds: float) -> Fault:
    """Return the real answer after a while; a stop of the forge ends the wait."""
    return Fault(delay=seconds)


def truncated() -> Fault:
    """Return the first half of the real body as if it were all."""
    return Fault(delivery=Delivery.TRUNCATED)


def cut_short() -> Fault:
    """Return the real head and half of the body, then drop the connection."""
    return Fault(delivery=Delivery.CUT)


def dropped() -> Fault:
    """Drop the connection without an answer."""
    return Fault(delivery=Delivery.DROPPED)


PRIMARY_MESSAGE = (
    "API rate limit exceeded for user ID 1. If you reach out to GitHub Support for help, please include the request ID."
)
SECONDARY_MESSAGE = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
TIMEOUT_MESSAGE = (
    "Something went wrong while executing your query. This may be the result of a timeout, or it could be a GitHub bug."
)
_MESSAGES = {
    401: "Bad credentials",
    403: "Forbidden",
    404: "Not Found",
    410: "Gone",
    429: SECONDARY_MESSAGE,
    500: "Server Error",
    502: "Server Error",
    503: "Service unavailable",
    504: "We couldn't respond to your request in time. Sorry about that.",
}


@dataclass(slots=True)
class _Planned:
    """A fault that waits: where, how many requests to let by first, how often (None: for ever)."""

    fault: Fault
    pattern: re.Pattern[str] | None
    method: str | None
    after: int
    times: int | None


class Plan:
    """The faults that are still to come; safe for several threads. The first one planned that fits is taken."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._planned: list[_Planned] = []

    def add(self, fault: Fault, *, pattern: str | None, method: str | None, after: int, times: int | None) -> None:
        """Plan a fault for requests whose address ``pattern`` is found in (None: any)."""
        compiled = None if pattern is None else re.compile(pattern)
        with self._lock:
            self._planned.append(_Planned(fault, compiled, method, after, times))

    def take(self, method: str, *addresses: str) -> Fault | None:
        """Return the fault for a request, or None; ``addresses`` are the ways to write what it asks for."""
        with self._lock:
            for planned in self._planned:
                if not _fits(planned, method, addresses):
                    continue
                if planned.after:
                    planned.after -= 1
                    continue
                if planned.times is not None:
                    planned.times -= 1
                    if not planned.times:
                        self._planned.remove(planned)
                return planned.fault
        return None

    def clear(self) -> None:
        """Forget every fault that is still to come."""
        with self._lock:
            self._planned.clear()


def _fits(planned: _Planned, method: str, addresses: tuple[str, ...]) -> bool:
    if planned.method not in (None, method):
        return False
    return planned.pattern is None or any(planned.pattern.search(address) for address in addresses)
