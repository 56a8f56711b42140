"""Where changes come from: the history of a branch, newest first, or one commit that somebody names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from casewright.errors import UsageError
from casewright.git_log import RawCommit
from casewright.repository import Repository
from miner.change import Change, Landing

_BY_PARENTS = "one parent"
_BY_MERGE = "more than one parent: the difference to the first"


@dataclass(frozen=True, kw_only=True, slots=True)
class Stretch:
    """Which part of a history is walked.

    ``branch`` is any name of a commit; ``commit_range`` (``A..B``) takes its place. ``since`` and ``until`` bound the
    committer's time (seconds since the epoch, both included). ``paths`` choose changes that touch one of them.
    ``all_commits`` walks every non-merge commit instead of the first-parent line.
    """

    branch: str = "HEAD"
    commit_range: str = ""
    since: int | None = None
    until: int | None = None
    paths: tuple[bytes, ...] = ()
    all_commits: bool = False


def walk(repository: Repository, stretch: Stretch) -> Iterator[Change]:
    """Yield the changes of a stretch, newest first, as git finds them.

    On the first-parent line a merge (of any number of parents) is one change against its first parent. A commit without
    a parent is no change: nothing is there to run its tests on. Raises ``UsageError`` naming a branch or an end of the
    range that is unknown.
    """
    tip, exclude = _ends(stretch)
    records = repository.walk(
        tip,
        exclude=exclude,
        all_commits=stretch.all_commits,
        since=stretch.since,
        until=stretch.until,
        paths=stretch.paths,
    )
    for record in records:
        if record.parents:
            yield _change(record)


def change_of(repository: Repository, revision: str) -> Change:
    """Return the change that one commit makes against its first parent. Raises ``UsageError`` for a root commit."""
    head = repository.resolve(revision)
    record = next(repository.walk(head))
    if not record.parents:
        hint = "it is the boundary of a shallow clone" if repository.shallow else "choose a later commit"
        raise UsageError(f"commit {head} has no parent, so there is no base to run its tests on", hint)
    return _change(record)


def change_between(repository: Repository, base: str, head: str, landing: Landing, decided_by: str) -> Change:
    """Return the change from ``base`` to ``head`` (full ids), such as a pull request of several commits."""
    commit = repository.commit(head)
    return Change(
        base=base,
        head=commit.id,
        parents=commit.parents,
        landing=landing,
        landing_by=decided_by,
        author_time=commit.author_time,
        committer_time=commit.committer_time,
        subject=b" ".join(commit.message.split(b"\n\n", 1)[0].split(b"\n")),
        entries=repository.differences(base, commit.id),
    )


def _ends(stretch: Stretch) -> tuple[str, Sequence[str]]:
    if not stretch.commit_range:
        return stretch.branch, ()
    first, dots, second = stretch.commit_range.partition("..")
    if not dots or second.startswith("."):
        raise UsageError(f"{stretch.commit_range!r} is no range of commits", "write it as A..B: after A, up to B")
    return second or "HEAD", (first or "HEAD",)


def _change(record: RawCommit) -> Change:
    parents = tuple(record.parents.decode("ascii").split(" "))
    merge = len(parents) > 1
    return Change(
        base=parents[0],
        head=record.id.decode("ascii"),
        parents=parents,
        landing=Landing.MERGE if merge else Landing.DIRECT,
        landing_by=_BY_MERGE if merge else _BY_PARENTS,
        author_time=record.author_time,
        committer_time=record.committer_time,
        subject=record.subject,
        entries=tuple(record.entries),
    )
