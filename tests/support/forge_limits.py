"""Rate limits as the forge keeps them: so many requests (REST) or points (GraphQL) a window, for each visitor."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

CORE = "core"
GRAPHQL = "graphql"


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """How a visitor stands with one resource; ``reset`` is when the window ends (seconds since the epoch)."""

    resource: str
    limit: int
    used: int
    reset: int
    refused: bool = False

    @property
    def remaining(self) -> int:
        """How much is left."""
        return max(0, self.limit - self.used)

    @property
    def headers(self) -> dict[str, str]:
        """The headers that every answer of the API carries."""
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(self.reset),
            "X-RateLimit-Used": str(self.used),
            "X-RateLimit-Resource": self.resource,
        }


@dataclass(slots=True)
class _Window:
    used: int
    reset: int


class Limits:
    """Who has used how much; safe for several threads. ``now`` gives the time in seconds since the epoch."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._windows: dict[tuple[str, str], _Window] = {}
        # What GitHub itself allows: 60 requests an hour without a token, 5000 with one.
        self.anonymous = 60
        self.authenticated = 5000
        self.points = 5000
        # Nodes that one query may ask for.
        self.nodes = 500_000
        self.window = 3600
        self._exhausted_until = 0

    def charge(self, visitor: str, resource: str, cost: int, *, known: bool) -> Standing:
        """Take ``cost`` from a visitor and return how it stands then; refused, and nothing taken, if nothing is left.

        A cost of nothing only looks. ``known`` visitors sent a token that was good.
        """
        with self._lock:
            window = self._current(visitor, resource)
            limit = self.points if resource == GRAPHQL else self.authenticated if known else self.anonymous
            refused = cost > 0 and window.used >= limit
            if not refused:
                window.used += cost
            return Standing(
                resource=resource, limit=limit, used=min(window.used, limit), reset=window.reset, refused=refused
            )

    def exhaust(self, seconds: int) -> None:
        """Leave nothing to anybody seen so far, and nothing to whoever comes, until ``seconds`` from now."""
        with self._lock:
            self._windows.clear()
            self._exhausted_until = self._now() + seconds

    def _current(self, visitor: str, resource: str) -> _Window:
        now = self._now()
        window = self._windows.get((visitor, resource))
        if window is None or window.reset <= now:
            window = _Window(used=0, reset=now + self.window)
            if self._exhausted_until > now:
                window = _Window(used=10**9, reset=self._exhausted_until)
            self._windows[visitor, resource] = window
        return window
