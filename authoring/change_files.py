"""The files of a case's change with their patches, for people to look at: what is huge is told by its size alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from authoring.case import Case
from casewright.repository import Repository
from miner.change import SUBMODULE_MODE
from miner.patch_sections import sections

# Of a larger file nobody reads the patch on a page.
READABLE_BYTES: Final = 512 * 1024
_NO_FILE: Final = "000000"


class FilePart(StrEnum):
    """What a file is in a case: it grades, grading needs it, it was left out as a grader, or it is the fix's."""

    GRADED = "graded"
    SUPPORT = "support"
    EXCLUDED = "excluded"
    REST = "rest"


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangedFile:
    """One file of a change; one that holds tests beside source is there twice, each time with all of its patch.

    ``status`` is git's letter; ``added`` and ``deleted`` are None where git calls it binary.

    ``before`` and ``after`` are the file's bytes on each side, or None: there is none, or more than ``READABLE_BYTES``.
    ``patch`` is its piece of the patch, and empty for a binary file and for one with a side that is too large.
    """

    path: bytes
    part: FilePart
    status: str
    added: int | None
    deleted: int | None
    before: int | None
    after: int | None
    patch: bytes


def change_files(repository: Repository, case: Case) -> tuple[ChangedFile, ...]:
    """Return every file that differs between a case's pins, sorted by path. Raises ``RepositoryError``."""
    base, head = case.base_commit, case.grading_commit
    entries = repository.differences(base, head)
    raws = {path: raw[1:].decode("ascii").split(" ") for raw, path in zip(entries[::2], entries[1::2], strict=True)}
    counts = {count.path: count for count in repository.numstat(base, head)}
    sizes = _sizes(repository, list(raws.values()))
    textual = [
        path
        for path, facts in raws.items()
        if path in counts and counts[path].added is not None and _readable(facts, sizes)
    ]
    patches = {section.path: section.data for section in sections(repository.diff_patch(base, head, textual))}
    parts = _parts(case)
    split = {row.path.encode() for row in case.grading.test_hunks}
    found = []
    for path, facts in sorted(raws.items()):
        _, _, old, new, status = facts
        count = counts.get(path)
        file = ChangedFile(
            path=path,
            part=parts.get(path, FilePart.REST),
            status=status,
            added=count.added if count else None,
            deleted=count.deleted if count else None,
            before=sizes.get(old),
            after=sizes.get(new),
            patch=patches.get(path, b""),
        )
        found += [file, replace(file, part=FilePart.REST)] if path in split else [file]
    return tuple(found)


def _parts(case: Case) -> dict[bytes, FilePart]:
    grading = case.grading
    named = (
        (FilePart.GRADED, grading.files),
        (FilePart.SUPPORT, grading.support_files),
        (FilePart.EXCLUDED, tuple(row.path for row in grading.excluded_files)),
    )
    return {path.encode(): part for part, paths in named for path in paths}


def _sizes(repository: Repository, raws: Sequence[Sequence[str]]) -> dict[str, int]:
    """Return the sizes of the blobs that a page can show."""
    ids = {
        name
        for old_mode, new_mode, old, new, _ in raws
        for mode, name in ((old_mode, old), (new_mode, new))
        if mode not in {_NO_FILE, SUBMODULE_MODE.decode("ascii")}
    }
    return {name: len(content) for name, content in repository.small_blobs(ids, READABLE_BYTES).items()}


def _readable(facts: Sequence[str], sizes: Mapping[str, int]) -> bool:
    old_mode, new_mode, old, new, _ = facts
    without_a_size = {_NO_FILE, SUBMODULE_MODE.decode("ascii")}
    return all(mode in without_a_size or name in sizes for mode, name in ((old_mode, old), (new_mode, new)))
