"""Differences between two commits: patches, counts of lines, patch-ids. Paths and patches are bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from casewright.git_command import Git

# The command that a case records (``grading.apply``): prefixes, context and ids forced, renames off.
DIFF_COMMAND = (
    "--literal-pathspecs", "diff-tree", "-r", "-p", "--binary", "--full-index", "--no-renames", "--no-ext-diff",
    "--no-textconv", "--no-color", "-U3", "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip
# Well below what Linux lets one command line hold.
_ARGUMENT_BYTES = 1 << 20
# Their patches are held in memory together.
_PATCHES_AT_ONCE = 100


class LineCount(NamedTuple):
    """Lines added and deleted in one file; both None where git calls the file binary."""

    path: bytes
    added: int | None
    deleted: int | None


def raw_entries(git: Git, base: str, head: str) -> tuple[bytes, ...]:
    """Return git's raw line (``:OLDMODE NEWMODE OLDID NEWID STATUS``) and path by turns, sorted by path."""
    found = git.run("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", base, head)
    return tuple(found.split(b"\0")[:-1])


def patch_of(git: Git, base: str, head: str, paths: Sequence[bytes]) -> bytes:
    """Return the patch over exactly these paths; no paths give no patch."""
    return b"".join(git.run(*DIFF_COMMAND, base, head, "--", *group) for group in _groups(sorted(paths)))


def line_counts(git: Git, base: str, head: str, paths: Sequence[bytes]) -> tuple[LineCount, ...]:
    """Return added and deleted lines of each changed file, of all files when no paths are given."""
    wanted = set(paths)
    found = []
    for line in git.run("diff-tree", "-r", "-z", "--numstat", "--no-renames", base, head).split(b"\0")[:-1]:
        added, deleted, path = line.split(b"\t", 2)
        if not wanted or path in wanted:
            binary = added == b"-"
            found.append(LineCount(path, None if binary else int(added), None if binary else int(deleted)))
    return tuple(found)


def stable_patch_ids(git: Git, pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Return ``git patch-id --stable`` of each (base commit, head commit); an empty text where nothing differs."""
    answers: dict[tuple[str, str], str] = {}
    waiting = list(dict.fromkeys(pairs))
    while waiting:
        # diff-tree names each answer by the head alone, so pairs that share one are asked in rounds.
        asked = {head: base for base, head in reversed(waiting[:_PATCHES_AT_ONCE])}
        question = "".join(f"{head} {base}\n" for head, base in asked.items()).encode()
        patches = git.run("diff-tree", "--stdin", *DIFF_COMMAND[2:], stdin=question)
        found = git.run("patch-id", "--stable", stdin=patches).decode("ascii")
        by_head = {head: patch_id for patch_id, head in (line.split() for line in found.splitlines())}
        answers.update({(base, head): by_head.get(head, "") for head, base in asked.items()})
        waiting = [pair for pair in waiting if pair not in answers]
    return [answers[pair] for pair in pairs]


def _groups(paths: Sequence[bytes]) -> Iterator[list[bytes]]:
    group: list[bytes] = []
    size = 0
    for path in paths:
        if group and size + len(path) > _ARGUMENT_BYTES:
            yield group
            group, size = [], 0
        group.append(path)
        size += len(path) + 9
    if group:
        yield group
