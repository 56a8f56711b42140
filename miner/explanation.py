"""What can be said of one change without running anything: its pins, its parts and their rules, its screens."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from casewright.errors import InvalidInputError
from casewright.repository import Repository
from miner.change import Change
from miner.content import PastChanges, lfs_pointer, outside_lines, pins_missing, round_trip, texts_of, too_many_lines
from miner.history import change_of
from miner.inline_tests import declared_at, inline_tests, joins, may_hold_tests, split_contents
from miner.parts import Parts, split
from miner.patch_sections import sections
from miner.path_rules import LOCK_FILE, PathRules
from miner.reasons import Reason
from miner.screen import SizeLimits, all_reasons
from miner.statable import statable


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangeExplanation:
    """One change explained. ``head`` and ``landing`` are None for a patch, which is no commit of the repository.

    ``screens`` are all codes that speak against the change, in the order in which they are tried. ``round_trip`` tells
    whether base, test part and rest part give the head's tree id.
    """

    base: str
    head: str | None
    landing: str | None
    landing_by: str
    subject: bytes
    parts: Parts
    screens: tuple[Reason, ...]
    round_trip: bool


def explain_commit(repository: Repository, revision: str, rules: PathRules, limits: SizeLimits) -> ChangeExplanation:
    """Explain the change that one commit makes against its first parent. Raises ``UsageError`` for a root commit."""
    return explain_change(repository, change_of(repository, revision), rules, limits)


def explain_change(
    repository: Repository, change: Change, rules: PathRules, limits: SizeLimits, texts: tuple[str, ...] = ()
) -> ChangeExplanation:
    """Explain a change that is at hand; ``texts`` are what was written of it besides its commits' messages."""
    parts = split(change.entries, rules, inline_tests(repository, change, rules))
    findings = (
        too_many_lines(repository, change, parts, limits),
        lfs_pointer(repository, change),
        PastChanges(repository, change.head).relative(change),
        pins_missing(repository, change),
        round_trip(repository, change, parts),
    )
    found = {finding.reason for finding in findings} | set(all_reasons(change.entries, parts, limits))
    if not statable((*texts_of(repository, change), *texts)):
        found.add(Reason.NOT_STATABLE)
    return _explanation(change, parts, found)


def explain_patch(
    repository: Repository, patch: bytes, base: str, rules: PathRules, limits: SizeLimits
) -> ChangeExplanation:
    """Explain a patch as if it were the commit after ``base`` (any name of a commit).

    Raises ``InvalidInputError`` when the patch does not apply there, whole.
    """
    pinned = repository.resolve(base)
    files = sections(patch)
    if not files:
        raise InvalidInputError("the patch changes no file", "give the output of git diff")
    entries = tuple(itertools.chain.from_iterable(file.entries for file in files))
    touched = entries[1::2]
    tree = repository.tree_after(pinned, (patch,), touched)
    if tree is None:
        raise InvalidInputError(f"the patch does not apply to {pinned}", "name the commit that it was made on")
    before, after = _contents(repository, pinned, patch, _suspects(entries, rules))
    # What a patch itself declares for tests is not seen: there is no tree to look into.
    declared = declared_at(repository.tree(pinned), touched, rules)
    inline = replace(
        split_contents(_without(before, declared), _without(after, declared)),
        declared=declared,
    )
    parts = split(entries, rules, inline)
    rest = set(parts.whole_rest)
    sides = [
        b"".join(file.data for file in files if file.path not in inline.files and (file.path in rest) is side)
        for side in (False, True)
    ]
    # Of a split file the parts are joined by lines; the patch says what both together are.
    both = b"".join(file.data for file in files if file.path in inline.files)
    joined = all(joins(before[path], after[path], split_file) for path, split_file in inline.files.items())
    whole = joined and repository.tree_after(pinned, (*sides, both), touched) == tree
    found = set(all_reasons(entries, parts, limits))
    written = {path for path in rest if parts.decisions[path].rule != LOCK_FILE}
    lines = sum(file.lines for file in files if file.path in written)
    lines += sum(outside_lines(file.data, parts, file.path) for file in files if file.path in inline.files)
    if lines > limits.lines:
        found.add(Reason.TOO_LARGE)
    if not whole:
        found.add(Reason.ROUND_TRIP_FAILED)
    return ChangeExplanation(
        base=pinned,
        head=None,
        landing=None,
        landing_by="a patch has not landed",
        subject=b"",
        parts=parts,
        screens=tuple(reason for reason in Reason if reason in found),
        round_trip=whole,
    )


def _without(contents: Mapping[bytes, bytes], paths: frozenset[bytes]) -> dict[bytes, bytes]:
    return {path: content for path, content in contents.items() if path not in paths}


def _suspects(entries: Sequence[bytes], rules: PathRules) -> list[bytes]:
    return [path for raw, path in zip(entries[::2], entries[1::2], strict=True) if may_hold_tests(raw, path, rules)]


def _contents(
    repository: Repository, base: str, patch: bytes, paths: Sequence[bytes]
) -> tuple[dict[bytes, bytes], dict[bytes, bytes]]:
    """Return some regular files of a commit as they are, and as a patch that applies there leaves them."""
    if not paths:
        return {}, {}
    tree = repository.tree(base)
    before = {path: content for path in paths if (content := tree.read(path)) is not None}
    with TemporaryDirectory() as folder:
        repository.export(base, Path(folder))
        complaint = repository.apply(patch, Path(folder))
        if complaint:
            return {}, {}
        places = {path: Path(folder) / os.fsdecode(path) for path in before}
        # A patch may have made a link of it, which leads anywhere.
        after = {
            path: place.read_bytes() for path, place in places.items() if place.is_file() and not place.is_symlink()
        }
    return before, after


def _explanation(change: Change, parts: Parts, found: set[Reason | None]) -> ChangeExplanation:
    return ChangeExplanation(
        base=change.base,
        head=change.head,
        landing=change.landing.value,
        landing_by=change.landing_by,
        subject=change.subject,
        parts=parts,
        screens=tuple(reason for reason in Reason if reason in found),
        round_trip=Reason.ROUND_TRIP_FAILED not in found,
    )
