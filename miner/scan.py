"""The scan: a stretch of history, each change with the answer of the tree screens, streamed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from casewright.repository import Repository
from miner.change import Change
from miner.history import Stretch, walk
from miner.judgement import Judgement, Reached, Standing
from miner.path_rules import PathRules
from miner.screen import Screened, SizeLimits, screen, sentence, shown_path


class Found(NamedTuple):
    """A change and what the screens say of it; a ``screened.reason`` of None is a candidate."""

    change: Change
    screened: Screened


def scan(
    repository: Repository, stretch: Stretch, rules: PathRules, limits: SizeLimits, most: int | None = None
) -> Iterator[Found]:
    """Yield every change of a stretch, newest first, and stop after ``most`` candidates.

    Raises ``UsageError`` for a branch or a range that is unknown.
    """
    candidates = 0
    for change in walk(repository, stretch):
        if candidates == most:
            return
        screened = screen(change.entries, rules, limits)
        candidates += screened.reason is None
        yield Found(change, screened)


def scanned(found: Found, repository_id: str) -> Judgement:
    """Return what the screens alone say of a change: rejected, or a candidate."""
    change, screened = found
    candidate = screened.reason is None
    return Judgement(
        repository=repository_id,
        base=change.base,
        head=change.head,
        landing=change.landing.value,
        subject=shown_path(change.subject),
        reached=Reached.SHAPED if candidate else Reached.SCANNED,
        standing=Standing.CANDIDATE if candidate else Standing.REJECTED,
        reason=screened.reason,
        detail=sentence(screened),
    )
