"""Files that hold source and tests together: the lines of the tests are of the test part, all else is of the rest part.

The test part of such a file is a list of hunks (``miner.hunks``); applied to the base they give the file as a case's
base state has it: the base's source with the head's tests. Pure, except for ``inline_tests``, which reads a change's
files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import Final

from casewright.git_tree import SUBMODULE, SYMLINK
from casewright.repository import Repository
from execution.languages.base import TreeReader
from execution.languages.inline_item import InlineItem, UnsafeItemError
from execution.languages.inline_tests import ENDINGS, is_declared_for_tests, reader_of
from miner.change import Change
from miner.hunks import TestHunk, lines_of, pieces_of, with_hunks
from miner.path_rules import PathRules

_LARGEST: Final = 1024**2


@dataclass(frozen=True, kw_only=True, slots=True)
class SplitFile:
    """One file with a test part and a rest part.

    ``holds_tests`` tells whether there are tests in it at the head, not only what tests use. ``outside_base`` and
    ``outside_head`` are the numbers of the lines that are no test's; ``source_differs`` and ``rest_differs`` tell
    whether those differ, blank ones aside or not.
    """

    path: bytes
    hunks: tuple[TestHunk, ...]
    holds_tests: bool
    outside_base: frozenset[int]
    outside_head: frozenset[int]
    source_differs: bool
    rest_differs: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class InlineTests:
    """The files of a change that are split, why others with tests in them are not, and those that are tests alone."""

    files: Mapping[bytes, SplitFile] = field(default_factory=dict)
    whole: Mapping[bytes, str] = field(default_factory=dict)
    declared: frozenset[bytes] = frozenset()

    @property
    def hunks(self) -> tuple[TestHunk, ...]:
        """Every hunk, sorted by path and place."""
        return tuple(hunk for path in sorted(self.files) for hunk in self.files[path].hunks)


NO_INLINE_TESTS: Final = InlineTests()


def may_hold_tests(raw: bytes, path: bytes, rules: PathRules) -> bool:
    """Say by name and status (git's raw line) alone whether a changed file may be source and tests in one."""
    return raw.endswith(b"M") and _is_source(path, rules)


def inline_tests(repository: Repository, change: Change, rules: PathRules) -> InlineTests:
    """Read the files of a change that may hold tests, and split them. Raises ``RepositoryError`` when git fails."""
    sources = [file for file in change.files if _is_source(file.path, rules)]
    declared = frozenset(
        one.path
        for one in sources
        if is_declared_for_tests(one.path, repository.tree(change.base if one.status == "D" else change.head))
    )
    regular = [
        one
        for one in sources
        if one.status == "M" and one.path not in declared and not {one.old_mode, one.new_mode} & {SYMLINK, SUBMODULE}
    ]
    blobs = repository.small_blobs({name for one in regular for name in (one.old_id, one.new_id)}, _LARGEST)
    before = {one.path: blobs[one.old_id] for one in regular if one.old_id in blobs}
    after = {one.path: blobs[one.new_id] for one in regular if one.new_id in blobs}
    found = split_contents(before, after)
    large = {
        one.path: f"it is larger than {_LARGEST} bytes"
        for one in regular
        if not {one.old_id, one.new_id} <= blobs.keys()
    }
    return replace(found, whole={**found.whole, **large}, declared=declared)


def declared_at(tree: TreeReader, paths: Iterable[bytes], rules: PathRules) -> frozenset[bytes]:
    """Return those of some paths that by name are source, and of tests alone by what a tree says of them."""
    return frozenset(path for path in paths if _is_source(path, rules) and is_declared_for_tests(path, tree))


def _is_source(path: bytes, rules: PathRules) -> bool:
    return path.endswith(ENDINGS) and rules.decide(path).rule == "source"


def split_contents(before: Mapping[bytes, bytes], after: Mapping[bytes, bytes]) -> InlineTests:
    """Split those of some files that hold tests, given by their contents at both commits."""
    files: dict[bytes, SplitFile] = {}
    whole: dict[bytes, str] = {}
    for path in sorted(before.keys() & after.keys()):
        found = split_file(path, before[path], after[path])
        if isinstance(found, SplitFile):
            files[path] = found
        elif found:
            whole[path] = found
    return InlineTests(files=files, whole=whole)


def split_file(path: bytes, base: bytes, head: bytes) -> SplitFile | str:
    """Split one file; a text tells why it can't be split, an empty one that there is nothing to split."""
    reader = reader_of(path)
    if reader is None:
        return ""
    try:
        old, new = reader(base), reader(head)
    except UnsafeItemError as error:
        return str(error)
    base_lines, head_lines = lines_of(base), lines_of(head)
    hunks = tuple(_hunks(path, (old, base_lines), (new, head_lines)))
    if not hunks:
        return ""
    fault = _fault(hunks, (old, base_lines), (new, head_lines))
    if fault:
        return fault
    outside_base, outside_head = _outside(old, base_lines), _outside(new, head_lines)
    split = SplitFile(
        path=path,
        hunks=hunks,
        holds_tests=any(item.selects for item in new),
        outside_base=outside_base,
        outside_head=outside_head,
        source_differs=_said(base_lines, outside_base) != _said(head_lines, outside_head),
        rest_differs=with_hunks(base, head, hunks) != head,
    )
    return split if joins(base, head, split) else "the base with the tests of the head does not read as both together"


def joins(base: bytes, head: bytes, split: SplitFile) -> bool:
    """Say whether a file's base with its hunks has the tests of the head, byte for byte, and all else of the base.

    Then what is left to do is what the head has outside of its tests, and both parts together give the head's file.
    """
    reader = reader_of(split.path)
    if reader is None:
        return False
    spliced = lines_of(with_hunks(base, head, split.hunks))
    try:
        both, wanted = reader(b"".join(spliced)), reader(head)
    except UnsafeItemError:
        return False
    rest = [spliced[number - 1] for number in sorted(_outside(both, spliced))]
    base_lines = lines_of(base)
    kept = [base_lines[number - 1] for number in sorted(split.outside_base)]
    return rest == kept and _contents(both, spliced) == _contents(wanted, lines_of(head))


_Side = tuple[tuple[InlineItem, ...], list[bytes]]


def _hunks(path: bytes, base: _Side, head: _Side) -> Iterator[TestHunk]:
    old, new = base[0], head[0]
    labels = [item.label for item in old], [item.label for item in new]
    added: list[InlineItem] = []
    # Items whose names agree take each other's place. What is new goes to the end: at the top of a file the order
    # means nothing, and there everything that it may use stands before it.
    for tag, start, stop, first, last in SequenceMatcher(None, *labels, autojunk=False).get_opcodes():
        if tag == "equal":
            for before, after in zip(old[start:stop], new[first:last], strict=True):
                if _text(before, base[1]) != _text(after, head[1]):
                    yield _hunk(path, after.label, (before.first, before.lines), after)
        else:
            for gone in old[start:stop]:
                yield _hunk(path, gone.label, (gone.first, gone.lines), None)
            added += new[first:last]
    for item in added:
        yield _hunk(path, item.label, (len(base[1]) + 1, 0), item)


def _hunk(path: bytes, label: str, place: tuple[int, int], item: InlineItem | None) -> TestHunk:
    return TestHunk(
        path=path,
        item=label,
        base_line=place[0],
        base_lines=place[1],
        grading_line=item.first if item else 1,
        grading_lines=item.lines if item else 0,
    )


def _fault(hunks: Sequence[TestHunk], base: _Side, head: _Side) -> str:
    """Say why the hunks would not give what they should; empty when they would."""
    for hunk in hunks:
        moved = [item for item in (*base[0], *head[0]) if item.label == hunk.item and item.bound]
        if moved and not (hunk.base_lines and hunk.grading_lines):
            return f"{hunk.item} comes or goes, and its place in the file matters"
        if not hunk.base_lines and _is_outside(hunk.item, base):
            return f"the base has another {hunk.item}, which is no test's"
    pieces = [piece for piece in pieces_of(base[1], head[1], hunks) if piece]
    if any(not piece.endswith(b"\n") for piece in pieces[:-1]):
        return "a last line without a newline would run into the next one"
    return ""


def _is_outside(label: str, side: _Side) -> bool:
    """Say whether a name of an item stands at the beginning of a line that is no test's."""
    words = [re.escape(word).encode() for word in label.split(" ")]
    wanted = re.compile(rb"(?:pub(?:\([^)]*\))?\s+)?" + rb"\s+".join(words) + rb"\b")
    lines = side[1]
    return len(words) > 1 and any(wanted.match(lines[number - 1]) for number in _outside(side[0], lines))


def _text(item: InlineItem, lines: Sequence[bytes]) -> bytes:
    return b"".join(lines[item.first - 1 : item.first - 1 + item.lines])


def _contents(items: Iterable[InlineItem], lines: Sequence[bytes]) -> Counter[tuple[str, bytes]]:
    return Counter((item.label, _text(item, lines)) for item in items)


def _outside(items: Iterable[InlineItem], lines: Sequence[bytes]) -> frozenset[int]:
    inside = {line for item in items for line in range(item.first, item.first + item.lines)}
    return frozenset(range(1, len(lines) + 1)) - inside


def _said(lines: Sequence[bytes], numbers: Iterable[int]) -> list[bytes]:
    return [line for number in sorted(numbers) if (line := lines[number - 1].strip())]
