"""How a test fills a forge: repositories, issues and pull requests, told by what the test is about."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.support.forge_content import Comment, Content, HostedRepository, Issue, Place, Pull, PullCommit
from tests.support.forge_git import Reader, publish
from tests.support.forge_pulls import commits_of_pull, landed_beside

FIRST_TIME = 1_600_000_000
HOUR = 3600
Closing = Sequence[tuple[str, str, int]]


class Shelf:
    """The content of a forge as a test writes it; ``folder`` keeps the bare repositories that are served.

    Times are seconds since the epoch. A repository is named by ``owner/name``, by an old name, or by what
    ``repository`` returned.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._folders = itertools.count(1)
        self._lock = threading.Lock()
        self._readers: dict[int, Reader] = {}
        self._sources: dict[int, tuple[Path, Sequence[str] | None]] = {}
        self._content = Content()

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
        self._sources[made.id] = (source, branches)
        self._content.add(made)
        return made

    def refresh(self, repository: str | HostedRepository, *, branches: Sequence[str] | None = None) -> None:
        """Let branches and tags follow the source's, force-pushed and deleted ones too."""
        held = self._named(repository)
        source, before = self._sources[held.id]
        shown = before if branches is None else branches
        self._sources[held.id] = (source, shown)
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
        created: int = FIRST_TIME + HOUR,
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

        It is merged when ``merged_at`` is set, and an hour younger than an issue unless ``created`` says else.
        ``commits`` left out are read from git as GitHub would list them; a commit that the repository lacks is given as
        a ``PullCommit``, and ``published=False`` makes no ref for a head that it lacks. ``closing`` are the issues that
        the forge links, by owner, name and number. ``fork`` is None for a branch of the repository itself,
        ``owner/name``, or ``deleted``. A force-push is the same number again with another head.
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
