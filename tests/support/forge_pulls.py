"""What git tells of a pull request that a test did not spell out: its commits, and what landed for it."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.forge_content import Pull, PullCommit
from tests.support.forge_git import HostedCommit, Reader


def commits_of_pull(reader: Reader, *, base_sha: str, head_sha: str, merge_commit_sha: str | None) -> list[str]:
    """Return the commits that a pull request would list, oldest first.

    GitHub compares the branch with what it was merged into, not with the recorded base, which may be stale: a branch
    that had merged main into itself does not list main's commits. After a squash or a rebase that is the parent of
    what landed; after a fast-forward only the recorded base tells.
    """
    landed = reader.commit(merge_commit_sha) if merge_commit_sha else None
    if landed and len(landed.parents) > 1:
        return reader.listed(*landed.parents[1:], f"^{landed.parents[0]}")
    if landed and landed.parents and not reader.is_ancestor(head_sha, landed.id):
        return reader.listed(head_sha, f"^{base_sha}", f"^{landed.parents[0]}")
    return reader.listed(head_sha, f"^{base_sha}")


def landed_beside(reader: Reader, commits: Sequence[PullCommit], merge_commit_sha: str) -> tuple[str, ...]:
    """Return the copies on the base branch that a rebase made, known by their messages; () after anything else."""
    chain: list[HostedCommit] = []
    commit = reader.commit(merge_commit_sha)
    while commit and len(chain) < len(commits) and len(commit.parents) == 1:
        chain.append(commit)
        commit = reader.commit(commit.parents[0])
    chain.reverse()
    if [made.message for made in chain] != [own.message for own in commits]:
        return ()
    return tuple(made.id for made in chain)


def base_of_diff(reader: Reader, pull: Pull) -> str:
    """Return the commit that a pull request's files are shown against: where its branch left what it was merged into.

    As with its commits, that is not the recorded base once the branch has merged main into itself.
    """
    landed = reader.commit(pull.merge_commit_sha) if pull.merged and pull.merge_commit_sha else None
    into = pull.base_sha
    if landed and landed.parents and (len(landed.parents) > 1 or not reader.is_ancestor(pull.head_sha, landed.id)):
        into = landed.parents[0]
    return reader.merge_base(into, pull.head_sha) or pull.base_sha
