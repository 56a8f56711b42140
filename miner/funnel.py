"""What became of every change that was looked at: how many reached each stage, and what stopped the others there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from miner.judgement import Reached, Standing
from miner.reasons import Reason


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """So many changes whose latest attempt ended in the same way."""

    reached: Reached
    standing: Standing
    reason: Reason | None
    count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Drop:
    """So many changes that came as far as ``reached`` and no further, for one reason."""

    reached: Reached
    reason: Reason
    count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Funnel:
    """``stages`` counts the changes that came at least so far, in the order of ``Reached``.

    ``drops`` are in the order of stages, the most frequent reason first. ``infrastructure`` and ``waiting`` (known as
    candidates, not judged yet) have no verdict: they are in no drop.
    """

    stages: tuple[tuple[Reached, int], ...]
    drops: tuple[Drop, ...]
    infrastructure: int
    waiting: int

    @property
    def scanned(self) -> int:
        """How many changes were looked at."""
        return self.stages[0][1]


def funnel(tallies: Iterable[Tally]) -> Funnel:
    """Add tallies up.

    An admitted change counts as having come all the way whatever stage its row names, and no other does: a row can't
    make the funnel promise a case that does not exist.
    """
    order = tuple(Reached)
    stopped_at: Counter[Reached] = Counter()
    drops: Counter[tuple[Reached, Reason]] = Counter()
    infrastructure = waiting = 0
    for tally in tallies:
        admitted = tally.standing is Standing.ADMITTED
        short_of_admitted = Reached.RAN if tally.reached is Reached.ADMITTED else tally.reached
        reached = Reached.ADMITTED if admitted else short_of_admitted
        stopped_at[reached] += tally.count
        if tally.standing is Standing.INFRASTRUCTURE:
            infrastructure += tally.count
        elif tally.standing is Standing.CANDIDATE:
            waiting += tally.count
        elif not admitted and tally.reason is not None:
            drops[reached, tally.reason] += tally.count
    stages = tuple((stage, sum(stopped_at[later] for later in order[place:])) for place, stage in enumerate(order))
    codes = tuple(Reason)
    ranked = sorted(drops.items(), key=lambda item: (order.index(item[0][0]), -item[1], codes.index(item[0][1])))
    return Funnel(
        stages=stages,
        drops=tuple(Drop(reached=reached, reason=reason, count=count) for (reached, reason), count in ranked),
        infrastructure=infrastructure,
        waiting=waiting,
    )
