"""A history as git prints it with ``git log --raw -z``, read field by field.

Fields are counted, never recognised by a mark: a subject and a path may hold anything but NUL.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

# Dates that no calendar holds are clocks gone wrong; what comes after must be able to add a day and print it.
LAST_SECOND = 253_370_764_800

_FIELDS = 6
_FORMAT = "%H%x00%P%x00%T%x00%at%x00%ct%x00%s"


class RawCommit(NamedTuple):
    """One commit of a walk.

    ``entries`` alternates git's raw line (``:100644 100644 OLD NEW M``) and the path it is about, sorted by path;
    times are seconds since the epoch, 0 where git can't read the date, never beyond the year 9998.
    """

    id: bytes
    parents: bytes
    tree: bytes
    author_time: int
    committer_time: int
    subject: bytes
    entries: list[bytes]


def log_arguments(
    tip: str, exclude: tuple[str, ...], *, all_commits: bool, paths: Sequence[bytes]
) -> list[str | bytes]:
    """Return the arguments of the one ``git log`` behind a walk."""
    # A path may have been lost in a merge and still be somebody's change: history is not simplified away.
    which = ["--no-merges", "--full-history"] if all_commits else ["--first-parent", "-m"]
    chosen: list[str | bytes] = [
        "--literal-pathspecs", "log", "-z", "--raw", "--no-abbrev", "--no-renames", "--encoding=UTF-8", "--full-diff",
        "--no-show-signature", "--no-color", "--no-notes", "--no-decorate", f"--format={_FORMAT}", *which, tip,
        *(f"^{name}" for name in exclude), "--", *paths,
    ]  # fmt: skip
    return chosen


def read_log(pieces: Iterable[bytes]) -> Iterator[RawCommit]:
    """Read commits from the pieces of git's output, wherever they are cut."""
    fields: list[bytes] = []
    rest = b""
    end = 0
    for piece in pieces:
        fresh = (rest + piece).split(b"\0")
        rest = fresh.pop()
        fields += fresh
        start, count = 0, len(fields)
        # A commit is whole only when the first field of the next one is here; till then ``end`` is how far we looked.
        while (end := _end_of_commit(fields, max(end, start + _FIELDS))) < count:
            yield _record(fields, start, end)
            start = end
        del fields[:start]
        end -= start
    if fields:
        yield _record(fields, 0, len(fields))


def _end_of_commit(fields: list[bytes], end: int) -> int:
    count = len(fields)
    while end < count and fields[end].startswith((b":", b"\n:")):
        end += 2
    return end


def _record(fields: list[bytes], start: int, end: int) -> RawCommit:
    commit, parents, tree, authored, committed, subject = fields[start : start + _FIELDS]
    entries = fields[start + _FIELDS : end]
    if entries:
        # git sets the difference off from the header by a line end.
        entries[0] = entries[0][1:]
    return RawCommit(commit, parents, tree, read_seconds(authored), read_seconds(committed), subject, entries)


def read_seconds(text: bytes) -> int:
    """Return a time as git prints it, 0 for one that git can't read, and at most ``LAST_SECOND``."""
    try:
        return min(int(text), LAST_SECOND)
    except ValueError:
        return 0
