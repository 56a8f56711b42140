"""Content screens: reasons that need patches, blobs or messages; only for changes that pass the tree screens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple

from casewright.repository import Repository
from miner.change import Change, Landing
from miner.history import Stretch, walk
from miner.inline_tests import joins
from miner.parts import Parts
from miner.patch_sections import changed_lines, sections
from miner.path_rules import LOCK_FILE
from miner.reasons import Reason
from miner.screen import SizeLimits, shown_path
from miner.statable import statable

_LFS_MARK = b"version https://git-lfs.github.com/spec/v1"
# A pointer is three short lines; its specification allows no more than this.
_LFS_BYTES = 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """A reason against a change with one sentence of evidence; None is a change that passes."""

    reason: Reason | None = None
    detail: str = ""


class _Past(NamedTuple):
    """One change of the walked history, as little as a comparison of patches needs."""

    base: str
    head: str
    time: int
    subject: bytes


class PastChanges:
    """The changes of one history by which files they touch and how, to find those that one repeats or takes back.

    ``tip`` names the newest commit of the history and ``all_commits`` how it is walked; the walk is made once, when
    first needed, and covers the whole history: what is repeated may lie before the stretch that is mined. A merge is
    compared with first-parent changes only: that its branch holds the same patch is how merges are.
    """

    def __init__(self, repository: Repository, tip: str, *, all_commits: bool = False) -> None:
        self._repository = repository
        self._stretch = Stretch(branch=tip, all_commits=all_commits)
        self._lock = Lock()
        self._walked = False
        self._changes: list[_Past] = []
        self._places: dict[str, int] = {}
        self._by_shape: dict[int, list[int]] = {}
        self._patch_ids: dict[tuple[str, str], str] = {}

    def relative(self, change: Change) -> Finding:
        """Say whether a change takes back (``revert``) or repeats (``duplicate-change``) one nearer to the root.

        Where there are both (a revert that is reverted, and so on), the one nearest to the root decides: to take a
        revert back is to repeat what was reverted.
        """
        with self._lock:
            self._walk()
            same = self._earlier(change, _shape(change.entries, backwards=False))
            back = self._earlier(change, _shape(change.entries, backwards=True))
            if not same and not back:
                return Finding()
            earlier = [self._changes[place] for place in sorted({*same, *back}, reverse=True)]
            wanted = [(change.base, change.head), (change.head, change.base)]
            ids = self._patches([*wanted, *((past.base, past.head) for past in earlier)])
        forward, backward = ids[:2]
        for past, patch_id in zip(earlier, ids[2:], strict=True):
            if patch_id and patch_id in {forward, backward}:
                subject = past.subject.decode("utf-8", "backslashreplace")
                reason = Reason.DUPLICATE_CHANGE if patch_id == forward else Reason.REVERT
                how = "repeats" if patch_id == forward else "is the exact reverse of"
                return Finding(reason=reason, detail=f"{how} {past.head} ({subject})")
        return Finding()

    def holds(self, change: Change) -> bool:
        """Say whether a change is one of the walked history."""
        with self._lock:
            self._walk()
            place = self._places.get(change.head)
            return place is not None and self._changes[place].base == change.base

    def _walk(self) -> None:
        if self._walked:
            return
        for change in walk(self._repository, self._stretch):
            place = len(self._changes)
            self._changes.append(_Past(change.base, change.head, change.committer_time, change.subject))
            self._places[change.head] = place
            if change.entries:
                self._by_shape.setdefault(_shape(change.entries, backwards=False), []).append(place)
        self._walked = True

    def _earlier(self, change: Change, shape: int) -> list[int]:
        here = self._places.get(change.head)
        if here is not None and self._changes[here].base == change.base:
            return [place for place in self._by_shape.get(shape, ()) if place > here]
        # Not a change of the walk: a commit of a side branch, or a pull request of several commits.
        return [
            place
            for place in self._by_shape.get(shape, ())
            if place != here and self._changes[place].time <= change.committer_time
        ]

    def _patches(self, pairs: Sequence[tuple[str, str]]) -> list[str]:
        unknown = [pair for pair in dict.fromkeys(pairs) if pair not in self._patch_ids]
        self._patch_ids.update(zip(unknown, self._repository.patch_ids(unknown), strict=True))
        return [self._patch_ids[pair] for pair in pairs]


def past_around(repository: Repository, change: Change, tip: str) -> PastChanges:
    """Return the history that a single named change is compared with, ``tip`` being the branch that is looked at.

    That is the first-parent line for what lies on it and for merges; for a commit of a side branch it is every commit,
    so that a cherry-pick is known although no merge's difference shows it.
    """
    line = PastChanges(repository, tip)
    if len(change.parents) > 1 or line.holds(change):
        return line
    return PastChanges(repository, tip, all_commits=True)


def _shape(entries: Sequence[bytes], *, backwards: bool) -> int:
    """Return a number for which files change and how their modes do: changes of one patch-id have the same."""
    swapped = {b"A": b"D", b"D": b"A"}
    words = []
    for raw, path in zip(entries[::2], entries[1::2], strict=True):
        old, new, status = raw[1:7], raw[8:14], raw[-1:]
        words += [new, old, swapped.get(status, status), path] if backwards else [old, new, status, path]
    return hash(tuple(words))


class ContentScreens:
    """The content screens of one history; threads may share them."""

    def __init__(self, repository: Repository, past: PastChanges, limits: SizeLimits) -> None:
        self._repository = repository
        self._past = past
        self._limits = limits

    def first_reason(self, change: Change, parts: Parts, texts: Sequence[str]) -> Finding:
        """Return the first reason against a change that passed the tree screens.

        ``texts`` are all texts at hand, see ``texts_of``.
        """
        checks: tuple[Callable[[], Finding], ...] = (
            lambda: too_many_lines(self._repository, change, parts, self._limits),
            lambda: lfs_pointer(self._repository, change),
            lambda: self._past.relative(change),
            lambda: pins_missing(self._repository, change),
            lambda: Finding() if statable(texts) else Finding(reason=Reason.NOT_STATABLE, detail=_said(texts)),
            lambda: round_trip(self._repository, change, parts),
        )
        for check in checks:
            finding = check()
            if finding.reason is not None:
                return finding
        return Finding()


def texts_of(repository: Repository, change: Change) -> tuple[str, ...]:
    """Return the messages that a change brings: its own, and for several commits those of all of them."""
    single = change.landing in {Landing.DIRECT, Landing.SQUASH} and change.parents[:1] == (change.base,)
    messages = (repository.commit(change.head).message,) if single else repository.messages(change.base, change.head)
    return tuple(message.decode("utf-8", "replace") for message in messages)


def too_many_lines(repository: Repository, change: Change, parts: Parts, limits: SizeLimits) -> Finding:
    """Refuse a rest part with more changed lines than a task may ask for."""
    lines = task_lines(repository, change, parts)
    if lines <= limits.lines:
        return Finding()
    return Finding(reason=Reason.TOO_LARGE, detail=f"the rest part changes {lines} lines")


def task_lines(repository: Repository, change: Change, parts: Parts) -> int:
    """Return the changed lines of the rest part, without lock files: a tool wrote those, and no candidate would."""
    rest = {path for path in parts.whole_rest if parts.decisions[path].rule != LOCK_FILE}
    counts = repository.numstat(change.base, change.head)
    whole = sum((count.added or 0) + (count.deleted or 0) for count in counts if count.path in rest)
    patch = repository.diff_patch(change.base, change.head, tuple(sorted(parts.inline.files)))
    return whole + sum(outside_lines(file.data, parts, file.path) for file in sections(patch))


def outside_lines(piece: bytes, parts: Parts, path: bytes) -> int:
    """Return how many lines of the rest of a split file its piece of a patch adds and removes."""
    split = parts.inline.files[path]
    gained, lost = changed_lines(piece)
    return len(gained & split.outside_head) + len(lost & split.outside_base)


def lfs_pointer(repository: Repository, change: Change) -> Finding:
    """Refuse a change of a file whose content is kept in Git LFS, before or after."""
    sides = {
        file_id: file.path
        for file in change.files
        for mode, file_id in ((file.old_mode, file.old_id), (file.new_mode, file.new_id))
        if mode.startswith("100")
    }
    small = repository.small_blobs(sides, _LFS_BYTES)
    pointers = sorted(sides[file_id] for file_id, content in small.items() if content.startswith(_LFS_MARK))
    if not pointers:
        return Finding()
    return Finding(reason=Reason.LFS_POINTER, detail=f"{shown_path(pointers[0])} is a Git LFS pointer")


def pins_missing(repository: Repository, change: Change) -> Finding:
    """Refuse pins that a plain clone does not bring."""
    for name, pin in (("base", change.base), ("head", change.head)):
        if not repository.reachable_in_plain_clone(pin):
            detail = f"no branch or tag leads to the {name}, {pin}"
            return Finding(reason=Reason.PINS_NOT_IN_PLAIN_CLONE, detail=detail)
    return Finding()


def round_trip(repository: Repository, change: Change, parts: Parts) -> Finding:
    """Refuse a change whose base, test part and rest part together do not give exactly the head's tree."""
    patches = [repository.diff_patch(change.base, change.head, side) for side in (parts.whole_test, parts.whole_rest)]
    head = repository.tree(change.head)
    for path in parts.inline.files:
        if not _joins(repository, change, parts, path):
            detail = f"the tests and the rest of {shown_path(path)} do not give the file"
            return Finding(reason=Reason.ROUND_TRIP_FAILED, detail=detail)
    split = {path: head.entries[path] for path in parts.inline.files}
    found = repository.tree_after(change.base, patches, change.paths, split)
    if found == head.id:
        return Finding()
    detail = f"the parts give {found}, the head is {head.id}" if found else "a part does not apply"
    return Finding(reason=Reason.ROUND_TRIP_FAILED, detail=detail)


def _joins(repository: Repository, change: Change, parts: Parts, path: bytes) -> bool:
    """Say whether a split file has the base's rest and the head's tests once its hunks are applied to the base."""
    base, head = (repository.tree(commit).read(path) for commit in (change.base, change.head))
    return base is not None and head is not None and joins(base, head, parts.inline.files[path])


def _said(texts: Sequence[str]) -> str:
    first = next((line.strip() for text in texts for line in text.splitlines() if line.strip()), "")
    return f"all that is said: {first[:100]!r}"
