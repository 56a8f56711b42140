"""Where a pull request may have landed, by the messages of a history: suspects only, which git then has to confirm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from casewright.repository import Commit, Repository
from miner.forge_facts import PullFacts

# Clocks of forges and of people who merge by hand differ.
_CLOCKS_DIFFER: Final = 86_400


def searched_branch(repository: Repository, pull: PullFacts) -> tuple[str, str]:
    """Return the branch that a landing is looked for in, for a person, and its tip: its base, else the default one."""
    for name in (f"refs/heads/{pull.base_branch}", f"refs/remotes/origin/{pull.base_branch}"):
        if tip := repository.known(name):
            return f"branch {pull.base_branch}", tip
    return f"the default branch (there is no branch {pull.base_branch})", repository.resolve("HEAD")


def candidates(repository: Repository, pull: PullFacts, tip: str, head: str | None) -> Iterator[Commit]:
    """Yield the commits that say they landed a pull request, newest first.

    These are merges that begin ``Merge pull request #N from`` and commits whose subject ends in ``(#N)``, whatever
    their title, as git can compare them with ``head``. Where there is no head to compare with, a commit of one parent
    has to carry the pull request's very title, and none may be older than the pull request is: a fork has the numbers
    of another repository in its history.
    """
    number = pull.reference.number
    for commit_id in repository.mentioning(tip, f"#{number}"):
        commit = repository.commit(commit_id)
        subject = commit.message.split(b"\n", 1)[0].strip()
        ending = f"(#{number})".encode()
        merge = len(commit.parents) > 1 and subject.startswith(f"Merge pull request #{number} from ".encode())
        if not commit.parents or not (merge or subject.endswith(ending)):
            continue
        if head is None:
            old = commit.committer_time + _CLOCKS_DIFFER < pull.created_at
            titled = subject.removesuffix(ending).strip() == pull.title.strip().encode("utf-8", "surrogateescape")
            if old or not (merge or titled):
                continue
        yield commit
