"""The two parts of a change: what its tests need, and everything else.

Each file is on exactly one side; of a file that holds source and tests each line is (``miner.inline_tests``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from miner.inline_tests import NO_INLINE_TESTS, InlineTests
from miner.path_rules import Decision, PathRules, Side

INLINE = "inline-tests"
DECLARED = "test-module"
_GIVES_WAY = "file-and-folder"


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """The paths of a change by side, each sorted by bytes, and the decision on every path.

    ``graded`` holds deleted test files too; ``graded_at_head`` are those that a run can be given, ``test_at_head`` all
    of the test part that is there at the head: a runner's configuration may collect more than names tell.
    A file that is split (``inline``) is in ``graded`` or ``support``, and in ``rest`` too where the rest of it differs.
    """

    graded: tuple[bytes, ...]
    support: tuple[bytes, ...]
    rest: tuple[bytes, ...]
    graded_at_head: tuple[bytes, ...]
    test_at_head: tuple[bytes, ...]
    source: tuple[bytes, ...]
    decisions: Mapping[bytes, Decision]
    inline: InlineTests = NO_INLINE_TESTS

    @property
    def test(self) -> tuple[bytes, ...]:
        """The whole test part, sorted by bytes."""
        return tuple(sorted((*self.graded, *self.support)))

    @property
    def whole_test(self) -> tuple[bytes, ...]:
        """The files that the test part holds whole, sorted by bytes."""
        return tuple(path for path in self.test if path not in self.inline.files)

    @property
    def whole_rest(self) -> tuple[bytes, ...]:
        """The files that the rest part holds whole, sorted by bytes."""
        return tuple(path for path in self.rest if path not in self.inline.files)


def split(entries: Sequence[bytes], rules: PathRules, inline: InlineTests = NO_INLINE_TESTS) -> Parts:
    """Split the files of a change (raw lines and paths by turns) by the rules; those of ``inline`` by lines."""
    paths = entries[1::2]
    statuses = [raw[-1:] for raw in entries[::2]]
    deleted = {path for path, status in zip(paths, statuses, strict=True) if status == b"D"}
    decisions = {path: rules.decide(path) for path in paths}
    decisions.update(dict.fromkeys(inline.declared, Decision(Side.SUPPORT, DECLARED)))
    if deleted and len(deleted) < len(paths):
        decisions.update(_one_side(decisions, deleted))
    for path, file in inline.files.items():
        decisions[path] = Decision(Side.GRADED if file.holds_tests else Side.SUPPORT, INLINE, file.source_differs)
    ordered = sorted(paths)
    sides = {side: tuple(path for path in ordered if decisions[path].side is side) for side in Side}
    left = {path for path, file in inline.files.items() if file.rest_differs}
    rest = tuple(sorted((*sides[Side.REST], *left)))
    return Parts(
        graded=sides[Side.GRADED],
        support=sides[Side.SUPPORT],
        rest=rest,
        graded_at_head=tuple(path for path in sides[Side.GRADED] if path not in deleted),
        test_at_head=tuple(path for path in ordered if decisions[path].side is not Side.REST and path not in deleted),
        source=tuple(path for path in rest if decisions[path].source),
        decisions=decisions,
        inline=inline,
    )


def _one_side(decisions: Mapping[bytes, Decision], deleted: set[bytes]) -> dict[bytes, Decision]:
    """Return new decisions for paths of which one is a file where others have a folder.

    A part that adds ``tests/x`` can't be applied while another part still has to remove the file ``tests``: what
    goes, goes with what takes its place.
    """
    folders = {path[:cut] for path in decisions for cut in _cuts(path)}
    moved: dict[bytes, Decision] = {}
    for path in folders.intersection(decisions):
        below = [other for other in decisions if other.startswith(path + b"/")]
        if path not in deleted:
            moved.update({other: _moved(decisions[other], decisions[path].side) for other in below})
            continue
        arriving = {decisions[other].side for other in below if other not in deleted}
        if arriving and Side.REST in arriving:
            # To git a path names all below it too, so the whole folder goes where its source is.
            moved.update({other: _moved(decisions[other], Side.REST) for other in (path, *below)})
        elif arriving:
            moved[path] = _moved(decisions[path], Side.SUPPORT)
    return moved


def _cuts(path: bytes) -> list[int]:
    return [position for position, letter in enumerate(path) if letter == ord("/")]


def _moved(decision: Decision, side: Side) -> Decision:
    if (decision.side is Side.REST) == (side is Side.REST):
        return decision
    # What only gives way is neither a test to run nor source that a task could be about.
    return Decision(Side.REST if side is Side.REST else Side.SUPPORT, _GIVES_WAY)
