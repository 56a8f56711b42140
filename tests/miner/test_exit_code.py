"""A change judged by exit codes alone: what is run, when it stops, and what is decided."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from execution.observation import Observation
from execution.sandbox import Limits
from miner.exit_code import try_by_exit_code
from miner.observe import RunRequest, State, Trial
from miner.reasons import Reason
from tests.support.observations import seen

Answer = Callable[[RunRequest], Observation]


def ends(*codes: int | str) -> Answer:
    """Answer one run after another with these exit codes (or ends, such as ``timeout``), the last one for ever."""
    left = list(codes)

    def answer(request: RunRequest) -> Observation:
        code = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(code, str):
            return seen(exit_code=137, ended=code)
        return seen(exit_code=code, output=f"ended with {code}\n")

    return answer


def trial(head: Answer, base: Answer, repeat: int = 3) -> tuple[Trial, list[RunRequest]]:
    asked: list[RunRequest] = []

    def run(request: RunRequest) -> Observation:
        asked.append(request)
        return (head if request.state is State.HEAD else base)(request)

    return try_by_exit_code(run, ("a.t", "b.t"), repeat, Limits()), asked


def test_base_red_and_head_green_in_every_repeat_is_admitted() -> None:
    judged, asked = trial(ends(0), ends(1))
    assert judged.verdict.reason is None
    assert judged.verdict.lists.fail_to_pass == ()
    assert [request.state for request in asked] == [State.HEAD, State.BASE] * 3
    assert (asked[0].variation, asked[1].variation) == ({}, {})
    assert (asked[2].files, asked[4].files) == (("b.t", "a.t"), ("a.t", "b.t"))
    assert (judged.runs, len(judged.heads), len(judged.bases)) == (6, 3, 3)


def test_a_base_that_times_out_has_failed_and_is_not_run_a_third_time() -> None:
    judged, asked = trial(ends(0), ends("timeout"))
    assert judged.verdict.reason is None
    assert [request.state for request in asked].count(State.BASE) == 2


@pytest.mark.parametrize(
    ("head", "base", "reason", "evidence"),
    [
        (ends(0), ends(0), Reason.BASE_PASSES, "the base ends with 0"),
        (ends(0), ends(1, 0), Reason.FLAKY, "ended with 1 in some runs and with 0 in others"),
        (ends(0, 4), ends(1), Reason.FLAKY, "ended with 0, then with 4 (as recorded)"),
        (ends(0, "timeout"), ends(1), Reason.FLAKY, "then with 137"),
        (ends(2), ends(1), Reason.RED_AT_BOTH, "the head ended with 2: ended with 2"),
        (ends(2), ends(0), Reason.HEAD_FAILS, "the head ended with 2"),
        (ends("timeout"), ends(1), Reason.TIMEOUT, "ended by timeout"),
        (ends("out-of-memory"), ends(1), Reason.OUT_OF_MEMORY, "ended by out-of-memory"),
        (ends(2, 0), ends(1), Reason.NEEDS_NETWORK, "with the network denied"),
    ],
)
def test_anything_else_is_refused_with_its_reason(head: Answer, base: Answer, reason: Reason, evidence: str) -> None:
    judged, _ = trial(head, base)
    assert judged.verdict.reason is reason
    assert evidence in judged.verdict.detail


def test_only_a_head_that_fails_is_run_with_the_network_and_once() -> None:
    _, asked = trial(ends(2), ends(1))
    assert [(request.state, request.network) for request in asked] == [
        (State.HEAD, False),
        (State.BASE, False),
        (State.HEAD, True),
    ]


def test_runs_stop_when_the_verdict_stands() -> None:
    assert len(trial(ends(0), ends(0))[1]) == 2
    assert len(trial(ends(0, 1), ends(1))[1]) == 4
    assert len(trial(ends(0), ends(1), repeat=1)[1]) == 2
