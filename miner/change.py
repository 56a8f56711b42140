"""A change: a base commit, a later head commit, and which files differ between them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

SUBMODULE_MODE = b"160000"
NO_FILE_MODE = b"000000"


class Landing(StrEnum):
    """How a change came onto its branch."""

    MERGE = "merge"
    SQUASH = "squash"
    REBASE = "rebase"
    DIRECT = "direct"


class FileChange(NamedTuple):
    """One file of a change; modes are six octal digits, ``000000`` and an id of zeros where there is no file.

    ``status`` is git's letter: ``A`` added, ``D`` deleted, ``M`` content or mode, ``T`` another kind of entry.
    """

    path: bytes
    old_mode: str
    new_mode: str
    old_id: str
    new_id: str
    status: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One change, kept lean: a scan makes many of them.

    ``entries`` alternates git's raw line and the path that it is about, sorted by path, as ``casewright.git_log`` reads
    them; ``files`` makes records of them. Times are seconds since the epoch. ``landing_by`` says how the landing was
    decided.
    """

    base: str
    head: str
    parents: tuple[str, ...]
    landing: Landing
    landing_by: str
    author_time: int
    committer_time: int
    subject: bytes
    entries: tuple[bytes, ...]

    @property
    def paths(self) -> tuple[bytes, ...]:
        """Every path of the change, sorted by bytes as git sorts them."""
        return self.entries[1::2]

    @property
    def files(self) -> tuple[FileChange, ...]:
        """Every file of the change."""
        return tuple(map(file_change, self.entries[::2], self.entries[1::2]))


def file_change(raw: bytes, path: bytes) -> FileChange:
    """Return the record of one raw line (``:OLDMODE NEWMODE OLD NEW STATUS``) and its path."""
    old_mode, new_mode, old_id, new_id, status = raw[1:].decode("ascii").split(" ")
    return FileChange(path, old_mode, new_mode, old_id, new_id, status)
