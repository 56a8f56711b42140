"""Both states of a repeat at once: what is seen, counted and recorded is what it is one after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execution.observation import Observation
from execution.sandbox import Ended, Limits
from miner.observe import SHORTEST_SECONDS, RunRequest, State, Trial, try_change
from miner.processors import Processors
from tests.support.observations import seen

Answer = Callable[[RunRequest], Observation]


def test_a_processor_is_spare_only_when_nobody_holds_it() -> None:
    processors = Processors(2)
    with processors.one(), processors.spare() as first, processors.spare() as second:
        assert (first, second) == (True, False)
    with processors.spare() as first, processors.spare() as second:
        assert (first, second) == (True, True)


def test_both_states_run_at_once_where_two_processors_are_free() -> None:
    meeting = threading.Barrier(2, timeout=30)

    def run(request: RunRequest) -> Observation:
        meeting.wait()
        return seen("a.py::n=p" if request.state is State.HEAD else "a.py::n=f")

    found = try_change(run, ("a.py",), 3, Limits(), Processors(1))
    assert (found.verdict.reason, found.runs) == (None, 6)


def _trial(answers: dict[State, list[Observation]], processors: Processors | None, longest: int) -> Trial:
    """Try a change whose runs come out by what was asked for: another variation, other files, another outcome."""

    def run(request: RunRequest) -> Observation:
        listed = answers[request.state]
        asked = int(request.variation.get("hash_seed", "0")) + len(request.files) + request.network
        found = listed[asked % len(listed)]
        if found.milliseconds > request.limits.seconds * 1000:
            # What takes longer than it may is ended there, and what it would have said is lost.
            return replace(seen("", ended=Ended.TIMEOUT, exit_code=137), milliseconds=request.limits.seconds * 1000)
        return found

    return try_change(run, ("a.py", "b.py"), 3, Limits(seconds=longest), processors)


_TEXTS = st.sampled_from(
    ["a.py::n=p b.py::o=p", "a.py::n=f b.py::o=p", "a.py::n=f b.py::o=f", "a.py::n=p", "a.py::n=s b.py::o=p"]
)
_SEEN = st.builds(
    lambda text, seconds: replace(seen(text), milliseconds=seconds * 1000),
    _TEXTS,
    st.sampled_from([1, 7, 30, SHORTEST_SECONDS + 5, 2000]),
)


@settings(deadline=None)
@given(
    head=st.lists(_SEEN, min_size=1, max_size=4),
    base=st.lists(_SEEN, min_size=1, max_size=4),
    longest=st.sampled_from([20, 100, 1800]),
)
def test_the_trial_is_the_same_one_after_the_other(
    head: list[Observation], base: list[Observation], longest: int
) -> None:
    answers = {State.HEAD: head, State.BASE: base}
    assert _trial(answers, Processors(1), longest) == _trial(answers, None, longest)


def test_a_base_that_hangs_gets_the_time_that_the_head_has_earned() -> None:
    asked: list[tuple[State, int]] = []

    def run(request: RunRequest) -> Observation:
        asked.append((request.state, request.limits.seconds))
        if request.state is State.HEAD:
            return replace(seen("a.py::n=p"), milliseconds=20_000)
        return replace(seen("", ended=Ended.TIMEOUT, exit_code=137), milliseconds=request.limits.seconds * 1000)

    found = try_change(run, ("a.py",), 1, Limits(), Processors(1))
    assert sorted(asked) == [(State.BASE, 60), (State.BASE, 200), (State.HEAD, 1800)]
    # The first attempt was cut short, so it is none of the runs that are told of.
    assert (found.runs, [base.milliseconds for base in found.bases]) == (2, [200_000])


class _BrokenError(Exception):
    pass


@pytest.mark.parametrize("broken", list(State))
def test_a_run_that_can_not_be_made_is_told_whichever_state_it_was(broken: State) -> None:
    def run(request: RunRequest) -> Observation:
        if request.state is broken:
            raise _BrokenError
        return seen("a.py::n=p")

    with pytest.raises(_BrokenError):
        try_change(run, ("a.py",), 3, Limits(), Processors(1))
