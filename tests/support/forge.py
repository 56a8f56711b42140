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

import itertools
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from tests.support.forge_access import Access, Token
from tests.support.forge_answers import Seen
from tests.support.forge_content import (
    Comment,
    Content,
    HostedRepository,
    Issue,
    Place,
    Pull,
    PullCommit,
)
from tests.support.forge_faults import Fault, Plan, answering
from tests.support.forge_gate import Gate
from tests.support.forge_git import Reader, publish
from tests.support.forge_json import Json
from tests.support.forge_limits import Limits
from tests.support.forge_pulls import commits_of_pull, landed_beside
from tests.support.forge_server import Server

FIRST_TIME = 1_600_000_000
Closing = Sequence[tuple[str, str, int]]


class Forge:
    """A forge and its content. ``folder`` keeps its bare repositories; it is started by ``with`` or ``start()``.

    ``now`` gives the time in seconds since the epoch: the wall clock's, unless a test fixes it. ``host`` is the name by
    which it speaks of itself: it always listens on 127.0.0.1, and ``localhost`` makes it another host to a client.
    """

    def __init__(
        self, folder: Path, *, now: Callable[[], int] = lambda: int(time.time()), host: str = "127.0.0.1"
    ) -> None:
        self._folder = folder
        self._host = host
        self._now = now
        self._port = 0
        self._server: Server | None = None
        self._bugs: list[str] = []
        self._folders = itertools.count(1)
        self._lock = threading.Lock()
        self._readers: dict[int, Reader] = {}
        self._sources: dict[int, tuple[Path, Sequence[str] | None, str | None]] = {}
        self._content = Content()
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

    # -- what it holds

    def repository(
        self,
        owner: str,
        name: str,
        source: Path,
        *,
        private: bool = False,
        branches: Sequence[str] | None = None,
        default_branch: str | None = None,
    ) -> HostedRepository:
        """Serve a git repository, bare or with a worktree; it is read, now and later, and never written.

        ``branches`` are those that the forge shows (None: all of them): a branch that was deleted after its merge lives
        on in ``refs/pull/N/head`` alone. The default branch is the source's own unless it is named.
        """
        folder = self._folder / f"{next(self._folders)}.git"
        made = HostedRepository(
            id=self._content.next_id(),
            owner=owner,
            name=name,
            folder=folder,
            private=private,
            default_branch=publish(source, folder, branches=branches, default_branch=default_branch),
            created=FIRST_TIME,
        )
        self._sources[made.id] = (source, branches, default_branch)
        self._content.add(made)
        return made

    def refresh(self, repository: str | HostedRepository, *, branches: Sequence[str] | None = None) -> None:
        """Let branches and tags follow the source's, force-pushed and deleted ones too."""
        held = self._named(repository)
        source, before, default_branch = self._sources[held.id]
        shown = before if branches is None else branches
        self._sources[held.id] = (source, shown, default_branch)
        publish(source, held.folder, branches=shown, default_branch=held.default_branch)

    def rename(self, repository: str | HostedRepository, owner: str, name: str) -> HostedRepository:
        """Give a repository another name; the old one redirects."""
        renamed = replace(self._named(repository), owner=owner, name=name)
        self._content.add(renamed)
        return renamed

    def issue(
        self,
        repository: str | HostedRepository,
        *,
        number: int,
        title: str,
        body: str = "",
        labels: Sequence[str] = (),
        created: int = FIRST_TIME,
        state: str = "open",
        author: str = "reporter",
        closed_at: int | None = None,
        comments: Sequence[Comment] = (),
    ) -> Issue:
        """Add an issue, or put it in the place of the one with this number."""
        made = Issue(
            number=number,
            title=title,
            body=body,
            labels=tuple(labels),
            created=created,
            state=state,
            author=author,
            closed_at=closed_at if closed_at is not None or state == "open" else created,
            comments=tuple(comments),
        )
        self._content.set_issue(self._named(repository), made)
        return made

    def transfer(self, repository: str | HostedRepository, number: int, to: tuple[str, str, int]) -> None:
        """Move an issue to another repository of this forge, under another number."""
        held, place = self._held_issue(repository, number), Place(owner=to[0], name=to[1], number=to[2])
        self._content.set_issue(self._named(f"{place.owner}/{place.name}"), replace(held, number=place.number))
        self._content.set_issue(self._named(repository), replace(held, moved_to=place))

    def delete_issue(self, repository: str | HostedRepository, number: int) -> None:
        """Delete an issue: its number is gone for good (410)."""
        held = self._held_issue(repository, number)
        self._content.set_issue(self._named(repository), replace(held, deleted=True))

    def pull(
        self,
        repository: str | HostedRepository,
        *,
        number: int,
        title: str,
        head_sha: str,
        base_sha: str,
        body: str = "",
        base: str = "main",
        merge_commit_sha: str | None = None,
        merged_at: int | None = None,
        created: int = FIRST_TIME,
        commits: Sequence[str | PullCommit] | None = None,
        closing: Closing = (),
        fork: str | None = None,
        state: str | None = None,
        labels: Sequence[str] = (),
        author: str = "contributor",
        head_branch: str | None = None,
        comments: Sequence[Comment] = (),
        published: bool = True,
    ) -> Pull:
        """Add a pull request and its ``refs/pull/N/head``, or put it in the place of the one with this number.

        It is merged when ``merged_at`` is set. ``commits`` left out are read from git as GitHub would list them; a
        commit that the repository lacks is given as a ``PullCommit``, and ``published=False`` makes no ref for a head
        that it lacks. ``closing`` are the issues that the forge links, by owner, name and number. ``fork`` is None for
        a branch of the repository itself, ``owner/name``, or ``deleted``. A force-push is the same number again with
        another head.
        """
        held = self._named(repository)
        reader = self._reader(held)
        chosen = (
            commits_of_pull(reader, base_sha=base_sha, head_sha=head_sha, merge_commit_sha=merge_commit_sha)
            if commits is None
            else commits
        )
        own = tuple(self._own_commit(reader, commit) for commit in chosen)
        made = Pull(
            number=number,
            title=title,
            body=body,
            labels=tuple(labels),
            base=base,
            base_sha=base_sha,
            head_branch=head_branch or f"topic-{number}",
            head_sha=head_sha,
            merge_commit_sha=merge_commit_sha,
            merged_at=merged_at,
            closed_at=merged_at if merged_at is not None else created if state == "closed" else None,
            created=created,
            state=state or ("open" if merged_at is None else "closed"),
            author=author,
            fork=fork,
            commits=own,
            closing=tuple(Place(owner=owner, name=name, number=issue) for owner, name, issue in closing),
            landed=landed_beside(reader, own, merge_commit_sha) if merged_at is not None and merge_commit_sha else (),
            comments=tuple(comments),
        )
        if published:
            reader.set_ref(f"pull/{number}/head", head_sha)
        self._content.set_pull(held, made)
        return made

    def load_prs_json(self, repository: str | HostedRepository, path: Path, **more: Any) -> list[Pull]:
        """Add the merged pull requests that a ``prs.json`` of the shared oddities tells of; ``more`` goes to each.

        It has no titles and dates: the title is the merge commit's first line, the date its committer's.
        """
        reader = self._reader(self._named(repository))
        pulls = []
        for row in json.loads(path.read_text(encoding="utf-8")):
            landed = reader.commit(row["merge_commit_sha"])
            assert landed is not None, row
            said = {
                "title": landed.message.partition("\n")[0],
                "merged_at": landed.committer.time if row["merged"] else None,
                "created": landed.committer.time - 60,
            }
            pull = self.pull(
                repository,
                number=row["number"],
                base=row["base"]["ref"],
                base_sha=row["base"]["sha"],
                head_sha=row["head"]["sha"],
                merge_commit_sha=row["merge_commit_sha"],
                **{**said, **more},
            )
            assert len(pull.commits) == row["commits"], row
            pulls.append(pull)
        return pulls

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

    def _named(self, repository: str | HostedRepository) -> HostedRepository:
        name = repository if isinstance(repository, str) else repository.full_name
        found = self._content.find(*name.split("/", 1))
        if found is None:
            raise ValueError(f"the forge has no repository {name}")
        return found.repository

    def _held_issue(self, repository: str | HostedRepository, number: int) -> Issue:
        issue = self._content.issue(self._named(repository), number)
        if issue is None:
            raise ValueError(f"the forge has no issue {number} there")
        return issue

    def _reader(self, repository: HostedRepository) -> Reader:
        with self._lock:
            return self._readers.setdefault(repository.id, Reader(repository.folder))

    def _own_commit(self, reader: Reader, commit: str | PullCommit) -> PullCommit:
        if isinstance(commit, PullCommit):
            return commit
        read = reader.commit(commit)
        if read is None:
            raise ValueError(f"the repository has no commit {commit}: give it as a PullCommit, with its message")
        return PullCommit(id=read.id, message=read.message)


@pytest.fixture
def forge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forge]:
    """A forge that is running and empty; it stops with the test."""
    with Forge(tmp_path_factory.mktemp("forge")) as running:
        yield running
