"""The funnel adds up: every change is at exactly one place, and a row can't promise a case that does not exist."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from miner.funnel import Tally, funnel
from miner.judgement import Reached, Standing
from miner.reasons import Reason

rejections = st.builds(
    Tally,
    reached=st.sampled_from(Reached),
    standing=st.just(Standing.REJECTED),
    reason=st.sampled_from(Reason),
    count=st.integers(1, 50),
)
others = st.builds(
    Tally,
    reached=st.sampled_from(Reached),
    standing=st.sampled_from([Standing.ADMITTED, Standing.INFRASTRUCTURE, Standing.CANDIDATE]),
    reason=st.none(),
    count=st.integers(1, 50),
)


@given(st.lists(rejections | others))
def test_every_change_is_counted_at_one_place(tallies: list[Tally]) -> None:
    sums = funnel(tallies)
    admitted = dict(sums.stages)[Reached.ADMITTED]
    dropped = sum(drop.count for drop in sums.drops)
    assert sums.scanned == sum(tally.count for tally in tallies)
    assert sums.scanned == admitted + dropped + sums.infrastructure + sums.waiting
    assert admitted == sum(tally.count for tally in tallies if tally.standing is Standing.ADMITTED)


@given(st.lists(rejections | others))
def test_no_stage_has_more_changes_than_the_one_before(tallies: list[Tally]) -> None:
    counts = [count for _, count in funnel(tallies).stages]
    assert counts == sorted(counts, reverse=True)


def test_the_most_frequent_reason_of_a_stage_comes_first() -> None:
    def tally(reason: Reason, count: int, reached: Reached = Reached.SCANNED) -> Tally:
        return Tally(reached=reached, standing=Standing.REJECTED, reason=reason, count=count)

    sums = funnel(
        [
            tally(Reason.BASE_PASSES, 90, Reached.RAN),
            tally(Reason.TOO_LARGE, 2),
            tally(Reason.NO_TEST_CHANGE, 7),
            tally(Reason.REVERT, 2),
        ]
    )
    assert [drop.reason for drop in sums.drops] == [
        Reason.NO_TEST_CHANGE,
        Reason.TOO_LARGE,
        Reason.REVERT,
        Reason.BASE_PASSES,
    ]


def test_nothing_looked_at_is_a_funnel_of_zeros() -> None:
    assert [count for _, count in funnel([]).stages] == [0, 0, 0, 0, 0]
