"""A GitHub on loopback: a real HTTP server with the REST API, GraphQL and git, and with failures on demand.

    with Forge(tmp_path) as forge:
        forge.repository("o", "r", path_of_a_git_repository)
        forge.issue("o/r", number=12, title="It breaks")
        forge.pull("o/r", number=13, title="Mend it", head_sha=..., base_sha=..., merge_commit_sha=..., merged_at=...)
        forge.fail_when(r"/pulls/13", secondary_limit(retry_after=1))
        Github(base_url=forge.api, auth=...)      # or: git clone {forge.origin}/o/r.git

It is a GitHub Enterprise by its addresses: REST under ``/api/v3``, GraphQL under ``/api/graphql``. The repositories
that it is given are only read. Without an Authorization header 60 requests an hour are allowed, as by the real one
(``forge.limits.anonymous``).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from tests.support.forge_access import Access, Token
from tests.support.forge_answers import Seen
from tests.support.forge_content import HostedRepository
from tests.support.forge_faults import Fault, Plan, answering
from tests.support.forge_gate import Gate
from tests.support.forge_json import Json
from tests.support.forge_limits import Limits
from tests.support.forge_server import Server
from tests.support.forge_shelf import Shelf


class Forge(Shelf):
    """A forge and its content. ``folder`` keeps its bare repositories; it is started by ``with`` or ``start()``.

    ``now`` gives the time in seconds since the epoch: the wall clock's, unless a test fixes it. ``host`` is the name by
    which it speaks of itself: it always listens on 127.0.0.1, and ``localhost`` makes it another host to a client.
    """

    def __init__(
        self, folder: Path, *, now: Callable[[], int] = lambda: int(time.time()), host: str = "127.0.0.1"
    ) -> None:
        super().__init__(folder)
        self._host = host
        self._now = now
        self._port = 0
        self._server: Server | None = None
        self._bugs: list[str] = []
        self._access = Access()
        self._plan = Plan()
        self._gate: Gate | None = None
        self.limits = Limits(now)

    # -- its life

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        assert not self._bugs or error, "\n".join(self._bugs)

    def start(self) -> None:
        """Listen; after a stop, on the same port as before."""
        if self._server is None:
            self._server = Server(self._port, lambda request: self._opened().respond(request), self._now)
            self._port = self._server.port
            self._opened()

    def stop(self) -> None:
        """Go as if killed: open connections break, new ones are refused. Content and plans are kept."""
        if self._server is not None:
            self._server.stop()
            self._bugs += self._server.bugs
            self._server = None

    @property
    def origin(self) -> str:
        """Scheme, host and port: ``http://127.0.0.1:40123``."""
        assert self._port, "the forge was never started"
        return f"http://{self._host}:{self._port}"

    @property
    def host(self) -> str:
        """Host and port, as a reference to a forge has it."""
        return self.origin.removeprefix("http://")

    @property
    def api(self) -> str:
        """The address of the REST API."""
        return f"{self.origin}/api/v3"

    @property
    def graphql(self) -> str:
        """The address of the GraphQL API."""
        return f"{self.origin}/api/graphql"

    def clone_url(self, repository: str | HostedRepository) -> str:
        """Return the address to clone from."""
        return f"{self.origin}/{self._named(repository).full_name}.git"

    def pull_url(self, repository: str | HostedRepository, number: int) -> str:
        """Return the web address of a pull request."""
        return f"{self.origin}/{self._named(repository).full_name}/pull/{number}"

    # -- who may see what

    def token(
        self,
        value: str,
        *,
        login: str = "dev",
        sees: Sequence[str] | None = None,
        expires_after: int | None = None,
        signed_on: Sequence[str] = (),
        scopes: str = "repo",
    ) -> str:
        """Make a token known and return it; from the first one on, those that aren't known are bad credentials.

        ``sees`` names the private repositories it may read (None: all). It is bad after ``expires_after`` requests.
        ``signed_on`` are the organisations for which it was authorised (see ``require_sign_on``).
        """
        self._access.add(
            Token(
                value=value,
                login=login,
                sees=None if sees is None else frozenset(name.lower() for name in sees),
                expires_after=expires_after,
                signed_on=frozenset(owner.lower() for owner in signed_on),
                scopes=scopes,
            )
        )
        return value

    def revoke(self, token: str) -> None:
        """Let a token end now."""
        self._access.revoke(token)

    def require_sign_on(self, owner: str) -> None:
        """Let an organisation demand single sign-on: 403 for tokens that were not authorised for it."""
        self._access.require_sign_on(owner)

    # -- what goes wrong

    def fail_next(
        self,
        fault: Fault | None = None,
        *,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        body: str | bytes | None = None,
        times: int | None = 1,
        after: int = 0,
    ) -> None:
        """Let the next ``times`` requests go wrong (None: all), whatever they ask for, once ``after`` others are done.

        Either a ``fault`` of ``forge_faults`` or a status, with headers and a body (left out: the API's own words).
        """
        self._fail(None, fault, status, headers, body, method=None, after=after, times=times)

    def fail_when(
        self,
        pattern: str,
        fault: Fault | None = None,
        *,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        body: str | bytes | None = None,
        method: str | None = None,
        times: int | None = 1,
        after: int = 0,
    ) -> None:
        """Let requests go wrong whose path and query a regular expression is found in; else as ``fail_next``."""
        self._fail(pattern, fault, status, headers, body, method=method, after=after, times=times)

    def fail_no_more(self) -> None:
        """Forget the failures that are still to come."""
        self._plan.clear()

    def exhaust(self, *, seconds: int) -> None:
        """Leave nobody a request or a point until ``seconds`` from now."""
        self.limits.exhaust(seconds)

    # -- what was asked

    @property
    def requests(self) -> tuple[Seen, ...]:
        """Every request so far with the status of its answer; each is there before its answer is sent."""
        return self._opened().seen

    def calls(self, pattern: str = "", *, method: str | None = None) -> int:
        """Return how many requests there were whose path and query a regular expression is found in."""
        gate = self._opened()
        return sum(
            bool(re.search(pattern, seen.request.target) or re.search(pattern, gate.canonical(seen.request.path)))
            for seen in gate.seen
            if method in (None, seen.request.method)
        )

    def forget_requests(self) -> None:
        """Forget the requests so far."""
        self._opened().forget()

    def _fail(
        self,
        pattern: str | None,
        fault: Fault | None,
        status: int | None,
        headers: Mapping[str, str] | None,
        body: str | bytes | None,
        *,
        method: str | None,
        after: int,
        times: int | None,
    ) -> None:
        if (fault is None) == (status is None):
            raise ValueError("a failure is either a fault or a status")
        planned = fault if fault is not None else answering(status or 500, headers, body)
        self._plan.add(planned, pattern=pattern, method=method, after=after, times=times)

    def _opened(self) -> Gate:
        with self._lock:
            if self._gate is None:
                self._gate = Gate(
                    self._content,
                    self._access,
                    self.limits,
                    self._plan,
                    self._reader,
                    Json(self.origin),
                    self._now,
                )
            return self._gate


@pytest.fixture
def forge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forge]:
    """A forge that is running and empty; it stops with the test."""
    with Forge(tmp_path_factory.mktemp("forge")) as running:
        yield running
