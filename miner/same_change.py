"""Whether two differences are one change: by patch-id, by the lines alone, or by what a merge of them would give.

A patch-id counts the lines around a change too, so it differs where only these have moved on; the lines alone don't.
Neither sees that a part of the change was there already, which a merge by files does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from casewright.repository import Repository
from miner.patch_sections import sections

_DELETED = ("000000", "")


@dataclass(frozen=True, kw_only=True, slots=True)
class Overlap:
    """How many changed lines two differences share, and how many each of them has."""

    shared: int
    first: int
    second: int

    @property
    def mostly(self) -> bool:
        """More than half of the lines of either side are lines of the other."""
        return 2 * self.shared > self.first and 2 * self.shared > self.second


def same_lines(repository: Repository, first: tuple[str, str], second: tuple[str, str]) -> bool:
    """Say whether two differences (base, head) add and remove the same lines of the same files, in the same order.

    What stands around the lines does not count; modes do, and a binary file counts by its content before and after.
    A difference without any file equals no other.
    """
    lines = _lines(repository, *first)
    return bool(lines) and lines == _lines(repository, *second)


def overlap(repository: Repository, first: tuple[str, str], second: tuple[str, str]) -> Overlap:
    """Count the lines (with their files) that two differences share."""
    one, other = (_counted(_lines(repository, *pair)) for pair in (first, second))
    return Overlap(shared=(one & other).total(), first=one.total(), second=other.total())


def merge_gives(repository: Repository, fork: str, ours: str, theirs: str, result: str) -> bool:
    """Say whether ``result`` is what merging ``theirs`` into ``ours`` gives, ``fork`` being where they parted.

    File by file: where only ``theirs`` changed a file, the result has its version; where both did alike, nothing
    changes. A file that both changed differently is compared by lines: each one that the result changes must be one
    that ``theirs`` changes. That writes nothing, which git's own merge would, and is strict enough for a commit that is
    suspected already. A result that changes nothing is no evidence.
    """
    their_files, our_files = _after(repository, fork, theirs), _after(repository, fork, ours)
    landed = _after(repository, ours, result)
    if not landed or not landed.keys() <= their_files.keys():
        return False
    contested = set()
    for path, entry in their_files.items():
        if path in our_files and our_files[path] != entry:
            contested.add(path)
        elif landed.get(path) != (None if path in our_files else entry):
            return False
    if not contested & landed.keys():
        return True
    wanted, found = (_counted(_lines(repository, *pair)) for pair in ((fork, theirs), (ours, result)))
    return all(wanted[line] >= count for line, count in found.items() if line[0] in contested)


def _after(repository: Repository, base: str, head: str) -> dict[bytes, tuple[str, str]]:
    """Return mode and blob at ``head`` of each file that differs from ``base``."""
    entries = repository.differences(base, head)
    found = {}
    for raw, path in zip(entries[::2], entries[1::2], strict=True):
        _, mode, _, blob, status = raw[1:].decode("ascii").split(" ")
        found[path] = _DELETED if status == "D" else (mode, blob)
    return found


def _lines(repository: Repository, base: str, head: str) -> dict[bytes, tuple[bytes, ...]]:
    """Return for each path what changes in it: its modes, then added and removed lines, or its contents' ids."""
    entries = repository.differences(base, head)
    facts = dict(zip(entries[1::2], entries[::2], strict=True))
    found: dict[bytes, tuple[bytes, ...]] = {}
    for section in sections(repository.diff_patch(base, head, tuple(facts))):
        _, hunk, hunks = section.data.partition(b"\n@@ ")
        old_mode, new_mode, old_id, new_id, _ = facts[section.path][1:].split(b" ")
        # What stands before the first line end is the rest of a hunk's header, which begins with a minus sign.
        changed = tuple(line for line in hunks.split(b"\n")[1:] if line[:1] in {b"+", b"-"})
        content = changed if hunk else (old_id + b" " + new_id,)
        # A file that becomes a symbolic link comes in two sections.
        before = found.get(section.path, (old_mode + b" " + new_mode,))
        found[section.path] = (*before, *content)
    return found


def _counted(lines: Mapping[bytes, tuple[bytes, ...]]) -> Counter[tuple[bytes, bytes]]:
    return Counter((path, line) for path, found in lines.items() for line in found[1:])
