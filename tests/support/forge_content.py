"""What a forge on loopback holds: repositories, issues, pull requests, comments; how a name or a number finds them.

Times are whole seconds since the epoch, texts are as a person would have typed them, commit ids are full.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

DELETED_FORK = "deleted"

Numbered = TypeVar("Numbered", "Issue", "Pull")


@dataclass(frozen=True, kw_only=True, slots=True)
class HostedRepository:
    """A repository as the forge serves it; ``folder`` is the forge's own bare copy."""

    id: int
    owner: str
    name: str
    folder: Path
    private: bool
    default_branch: str
    created: int

    @property
    def full_name(self) -> str:
        """The repository as ``owner/name``."""
        return f"{self.owner}/{self.name}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """An issue of any repository of the forge: what a pull request says that it closes."""

    owner: str
    name: str
    number: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Comment:
    """A comment under an issue or a pull request."""

    author: str
    body: str
    created: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Issue:
    """An issue. ``moved_to`` is set where it was transferred, ``deleted`` where only its number is left."""

    number: int
    title: str
    body: str
    labels: tuple[str, ...]
    created: int
    state: str
    author: str
    closed_at: int | None = None
    moved_to: Place | None = None
    deleted: bool = False
    comments: tuple[Comment, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class PullCommit:
    """A commit of a pull request's own branch that the served repository need not have: id and message."""

    id: str
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Pull:
    """A pull request. It counts as merged when ``merged_at`` is set: an open one may have a test merge commit.

    ``fork`` is None for a branch of the same repository, ``owner/name`` for a fork, or ``deleted``. ``landed`` are the
    commits of the base branch that the forge would link to it besides ``commits`` and the merge commit.
    """

    number: int
    title: str
    body: str
    labels: tuple[str, ...]
    base: str
    base_sha: str
    head_branch: str
    head_sha: str
    merge_commit_sha: str | None
    merged_at: int | None
    closed_at: int | None
    created: int
    state: str
    author: str
    fork: str | None
    commits: tuple[PullCommit, ...]
    closing: tuple[Place, ...]
    landed: tuple[str, ...] = ()
    comments: tuple[Comment, ...] = ()

    @property
    def merged(self) -> bool:
        """Whether it was merged."""
        return self.merged_at is not None

    @property
    def associated(self) -> frozenset[str]:
        """Every commit that the forge links to this pull request."""
        own = frozenset(commit.id for commit in self.commits) | frozenset(self.landed)
        return own | {self.merge_commit_sha} if self.merged and self.merge_commit_sha else own


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A repository that a name led to, and whether that name is an old one."""

    repository: HostedRepository
    renamed: bool


class Content:
    """Everything that a forge holds; safe for several threads. Names are compared as GitHub does, without case."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._repositories: dict[int, HostedRepository] = {}
        self._names: dict[str, int] = {}
        self._issues: dict[tuple[int, int], Issue] = {}
        self._pulls: dict[tuple[int, int], Pull] = {}

    def add(self, repository: HostedRepository) -> None:
        """Add a repository or put it in the place of the one with its id; names that led to it still do."""
        with self._lock:
            self._repositories[repository.id] = repository
            self._names[repository.full_name.lower()] = repository.id

    def next_id(self) -> int:
        """Return an id that no repository has."""
        with self._lock:
            return 1001 + len(self._repositories)

    def find(self, owner: str, name: str) -> Found | None:
        """Return the repository that ``owner/name`` is or was, or None."""
        with self._lock:
            full_name = f"{owner}/{name}".lower()
            number = self._names.get(full_name)
            if number is None:
                return None
            repository = self._repositories[number]
            return Found(repository=repository, renamed=repository.full_name.lower() != full_name)

    def by_id(self, number: int) -> HostedRepository | None:
        """Return the repository with an id, or None."""
        with self._lock:
            return self._repositories.get(number)

    def set_issue(self, repository: HostedRepository, issue: Issue) -> None:
        """Add an issue, or put it in the place of the one with its number."""
        with self._lock:
            self._issues[repository.id, issue.number] = issue

    def set_pull(self, repository: HostedRepository, pull: Pull) -> None:
        """Add a pull request, or put it in the place of the one with its number."""
        with self._lock:
            self._pulls[repository.id, pull.number] = pull

    def issue(self, repository: HostedRepository, number: int) -> Issue | None:
        """Return an issue (moved and deleted ones too), or None."""
        with self._lock:
            return self._issues.get((repository.id, number))

    def pull(self, repository: HostedRepository, number: int) -> Pull | None:
        """Return a pull request, or None."""
        with self._lock:
            return self._pulls.get((repository.id, number))

    def issues(self, repository: HostedRepository) -> tuple[Issue, ...]:
        """Return the issues of a repository that are there to be seen, by number."""
        with self._lock:
            held = [issue for (id_, _), issue in self._issues.items() if id_ == repository.id]
        return _by_number(issue for issue in held if issue.moved_to is None and not issue.deleted)

    def pulls(self, repository: HostedRepository) -> tuple[Pull, ...]:
        """Return the pull requests of a repository, by number."""
        with self._lock:
            held = [pull for (id_, _), pull in self._pulls.items() if id_ == repository.id]
        return _by_number(held)

    def pulls_of_commit(self, repository: HostedRepository, commit: str) -> tuple[Pull, ...]:
        """Return the pull requests that a commit is linked to, by number."""
        return tuple(pull for pull in self.pulls(repository) if commit in pull.associated)

    def settle(self, place: Place) -> tuple[HostedRepository, Issue] | None:
        """Follow renames and transfers to where an issue is now; None where it is gone or never was."""
        seen: set[Place] = set()
        while place not in seen:
            seen.add(place)
            found = self.find(place.owner, place.name)
            issue = found and self.issue(found.repository, place.number)
            if not found or not issue or issue.deleted:
                return None
            if issue.moved_to is None:
                return found.repository, issue
            place = issue.moved_to
        return None


def _by_number(items: Iterable[Numbered]) -> tuple[Numbered, ...]:
    return tuple(sorted(items, key=lambda item: item.number))
