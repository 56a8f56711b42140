"""What a forge says of a pull request and an issue.

Times are seconds since the epoch; texts are as people wrote them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class ForgeReference:
    """A numbered thing of a repository on a forge; ``host`` is lowercase and may have a port, ``github.com`` say."""

    host: str
    owner: str
    name: str
    number: int

    @property
    def repository(self) -> str:
        """The repository as ``owner/name``."""
        return f"{self.owner}/{self.name}"

    @property
    def short(self) -> str:
        """The way people write it: ``owner/name#12``."""
        return f"{self.repository}#{self.number}"


@dataclass(frozen=True, kw_only=True, slots=True)
class PullCommit:
    """A commit of a pull request's own branch: full id and whole message."""

    id: str
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PullFacts:
    """A pull request. ``commits`` are oldest first, as the forge lists them (it may list fewer than there are).

    It is merged when ``merged_at`` is set. ``merge_commit`` is what the forge takes for the commit that landed it,
    where it knows one. ``linked`` are the issues that the forge itself says it closes, in its order.
    """

    reference: ForgeReference
    url: str
    title: str
    body: str
    base_branch: str
    head_commit: str
    merge_commit: str | None
    merged_at: int | None
    created_at: int
    commits: tuple[PullCommit, ...]
    linked: tuple[ForgeReference, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class IssueFacts:
    """An issue."""

    reference: ForgeReference
    url: str
    title: str
    body: str
    labels: tuple[str, ...]
    created_at: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ForgeTexts:
    """What a forge says of one change: the pull request that brought it and the issues that this one closes.

    ``whole`` says whether the change is all of the pull request: only then do its texts describe the change. ``notes``
    say what was looked for and left out, in one sentence each.
    """

    pull: PullFacts | None = None
    issues: tuple[IssueFacts, ...] = ()
    whole: bool = True
    notes: tuple[str, ...] = ()
