"""What a trial runs, when it stops, and what it decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from execution.observation import Observation
from execution.sandbox import Limits
from miner.observe import RunRequest, State, Trial, time_limit, try_change, variation
from miner.reasons import Reason
from tests.support.observations import seen

Answer = Callable[[RunRequest], Observation]


def keep(observation: Observation, files: Iterable[str]) -> Observation:
    """Return what is left of an observation when only ``files`` are asked for."""
    wanted = set(files)
    words = " ".join(
        f"{test.id}={_letter(test.outcome.value)}" for test in observation.reading.tests if test.file in wanted
    )
    broken = {path: why for path, why in observation.reading.broken_files.items() if path in wanted}
    return seen(words, broken=broken)


def _letter(outcome: str) -> str:
    return {"passed": "p", "failed": "f", "error": "e", "skipped": "s", "xfailed": "x", "xpassed": "X"}[outcome]


def trial(
    head: Observation | Answer, base: Observation | Answer, files: str = "a.py", repeat: int = 3
) -> tuple[Trial, list[RunRequest]]:
    """Try a made-up change; return the trial and the runs that it asked for."""
    asked: list[RunRequest] = []

    def run(request: RunRequest) -> Observation:
        asked.append(request)
        answer = head if request.state is State.HEAD else base
        return answer(request) if callable(answer) else answer

    return try_change(run, tuple(files.split()), repeat, Limits()), asked


def test_a_clear_change_is_admitted_after_all_repeats() -> None:
    seen_trial, asked = trial(seen("a.py::new=p a.py::old=p"), seen("a.py::new=f a.py::old=p"))
    assert seen_trial.verdict.reason is None
    assert seen_trial.verdict.lists.fail_to_pass == ("a.py::new",)
    assert seen_trial.verdict.lists.pass_to_pass == ("a.py::old",)
    assert [row.how for row in seen_trial.verdict.lists.fails_by] == ["assertion"]
    assert [request.state.value for request in asked] == ["head", "base", "head", "base", "head", "base"]
    assert asked[0].variation == {}
    assert asked[1].variation == {}
    assert all(request.variation for request in asked[2:])
    assert not any(request.network for request in asked)


def test_the_order_of_files_is_varied_and_the_first_run_is_as_recorded() -> None:
    _, asked = trial(seen("a.py::n=p b.py::n=p"), seen("a.py::n=f b.py::n=p"), files="a.py b.py")
    assert asked[0].files == ("a.py", "b.py")
    assert asked[2].files == ("b.py", "a.py")


def test_a_green_base_stops_at_once() -> None:
    seen_trial, asked = trial(seen("a.py::old=p"), seen("a.py::old=p"))
    assert seen_trial.verdict.reason is Reason.BASE_PASSES
    assert len(asked) == 2


def test_a_file_that_is_red_at_both_is_left_out_and_the_rest_is_seen_again() -> None:
    seen_trial, asked = trial(
        lambda request: keep(seen("a.py::n=p b.py::bad=f"), request.files),
        lambda request: keep(seen("a.py::n=f b.py::bad=f"), request.files),
        files="a.py b.py",
    )
    assert seen_trial.verdict.reason is None
    assert [(row.path, row.reason) for row in seen_trial.verdict.excluded] == [("b.py", Reason.RED_AT_BOTH)]
    assert seen_trial.verdict.files == ("a.py",)
    assert all(request.files == ("a.py",) for request in asked[3:])
    assert len(asked) == 9


def test_red_at_both_everywhere_keeps_the_lists_of_single_tests() -> None:
    seen_trial, _ = trial(seen("a.py::n=p a.py::bad=f"), seen("a.py::n=f a.py::bad=f"))
    assert seen_trial.verdict.reason is Reason.RED_AT_BOTH
    assert "a.py::bad" in seen_trial.verdict.detail
    assert seen_trial.verdict.lists.fail_to_pass == ("a.py::n",)


def test_a_head_that_is_red_alone_fails() -> None:
    seen_trial, asked = trial(seen("a.py::n=f"), seen("a.py::n=p"))
    assert seen_trial.verdict.reason is Reason.HEAD_FAILS
    assert len(asked) == 3


def test_a_head_that_passes_with_the_network_needs_it() -> None:
    seen_trial, asked = trial(lambda request: seen("a.py::n=p" if request.network else "a.py::n=f"), seen("a.py::n=f"))
    assert seen_trial.verdict.reason is Reason.NEEDS_NETWORK
    assert [request.network for request in asked] == [False, False, True, False]


def test_a_head_that_passes_with_the_network_and_then_without_is_flaky() -> None:
    runs: list[bool] = []

    def head(request: RunRequest) -> Observation:
        runs.append(request.network)
        return seen("a.py::n=p" if len(runs) > 1 else "a.py::n=f")

    seen_trial, _ = trial(head, seen("a.py::n=f"))
    assert seen_trial.verdict.reason is Reason.FLAKY
    assert runs == [False, True, False]


def test_a_head_whose_runner_needs_the_network_to_start() -> None:
    seen_trial, _ = trial(
        lambda request: seen("a.py::n=p") if request.network else seen(whole=False, exit_code=1),
        seen(whole=False, exit_code=1),
    )
    assert seen_trial.verdict.reason is Reason.NEEDS_NETWORK


def test_a_flaky_head_file_is_left_out() -> None:
    def head(request: RunRequest) -> Observation:
        shaky = "p" if not request.variation else "f"
        return keep(seen(f"a.py::n=p b.py::shaky={shaky}"), request.files)

    seen_trial, _ = trial(head, lambda request: keep(seen("a.py::n=f b.py::shaky=f"), request.files), files="a.py b.py")
    assert seen_trial.verdict.reason is None
    assert [(row.path, row.reason) for row in seen_trial.verdict.excluded] == [("b.py", Reason.FLAKY)]


def test_a_flaky_head_without_another_file_is_the_reason() -> None:
    seen_trial, _ = trial(lambda request: seen("a.py::n=f" if request.variation else "a.py::n=p"), seen("a.py::n=f"))
    assert seen_trial.verdict.reason is Reason.FLAKY
    assert "a.py::n: passed, then failed" in seen_trial.verdict.detail


def test_no_single_test_fails_in_every_base_run() -> None:
    def base(request: RunRequest) -> Observation:
        return seen("a.py::n=f a.py::m=p" if not request.variation else "a.py::n=p a.py::m=f")

    seen_trial, _ = trial(seen("a.py::n=p a.py::m=p"), base)
    assert seen_trial.verdict.reason is Reason.FLAKY
    assert seen_trial.verdict.lists.unstable_at_base == ("a.py::m", "a.py::n")


def test_a_test_that_changes_at_base_only_is_in_neither_list() -> None:
    seen_trial, _ = trial(
        seen("a.py::n=p a.py::m=p"), lambda request: seen("a.py::n=f a.py::m=" + ("p" if request.variation else "f"))
    )
    assert seen_trial.verdict.reason is None
    assert seen_trial.verdict.lists.fail_to_pass == ("a.py::n",)
    assert seen_trial.verdict.lists.unstable_at_base == ("a.py::m",)


@pytest.mark.parametrize(
    ("base", "how"),
    [
        (seen(broken={"a.py": "ImportError: new"}), "collection"),
        (seen(whole=False, exit_code=137, ended="timeout"), "timeout"),
        (seen(whole=False, exit_code=137, ended="out-of-memory"), "out-of-memory"),
        (seen(whole=False, exit_code=0), "crash"),
        (seen(whole=False, exit_code=139, ended="signalled"), "crash"),
        (seen("a.py::old=p"), "missing"),
        (seen("a.py::new=e a.py::old=p"), "error"),
    ],
)
def test_how_a_base_fails_is_told(base: Observation, how: str) -> None:
    seen_trial, _ = trial(seen("a.py::new=p a.py::old=p"), base)
    assert seen_trial.verdict.reason is None
    assert {row.id: row.how for row in seen_trial.verdict.lists.fails_by}["a.py::new"] == how


def test_a_base_that_hangs_twice_is_not_run_a_third_time() -> None:
    _, asked = trial(seen("a.py::n=p"), seen(whole=False, ended="timeout", exit_code=137), repeat=4)
    assert sum(request.state is State.BASE for request in asked) == 2
    assert sum(request.state is State.HEAD for request in asked) == 4


@pytest.mark.parametrize(
    ("head", "base", "reason"),
    [
        (seen(exit_code=5), seen(exit_code=5), Reason.COLLECTS_NOTHING),
        (seen(whole=False, ended="timeout", exit_code=137), seen("a.py::n=p"), Reason.TIMEOUT),
        (seen(whole=False, ended="out-of-memory", exit_code=137), seen("a.py::n=p"), Reason.OUT_OF_MEMORY),
        (seen("a.py::n=p", whole=False), seen("a.py::n=p"), Reason.REPORT_MISSING),
        (seen(whole=False, exit_code=1), seen(whole=False, exit_code=1), Reason.ENVIRONMENT_FAILED),
        (seen("a.py::n=p", exit_code=1), seen("a.py::n=f"), Reason.HEAD_FAILS),
    ],
)
def test_a_head_that_can_not_be_judged(head: Observation, base: Observation, reason: Reason) -> None:
    seen_trial, _ = trial(head, base)
    assert seen_trial.verdict.reason is reason


def test_skipped_and_expected_failures_are_recorded_and_never_graded() -> None:
    seen_trial, _ = trial(
        seen("a.py::n=p a.py::s=s a.py::x=x a.py::y=X"), seen("a.py::n=f a.py::s=f a.py::x=x a.py::y=x")
    )
    assert seen_trial.verdict.lists.fail_to_pass == ("a.py::n",)
    assert seen_trial.verdict.lists.pass_to_pass == ()
    assert seen_trial.verdict.lists.skipped_at_head == ("a.py::s", "a.py::x", "a.py::y")


def test_a_file_without_tests_at_head_is_left_out() -> None:
    seen_trial, _ = trial(
        lambda request: keep(seen("a.py::n=p"), request.files),
        lambda request: keep(seen("a.py::n=f"), request.files),
        files="a.py types.py",
    )
    assert seen_trial.verdict.reason is None
    assert [(row.path, row.reason) for row in seen_trial.verdict.excluded] == [("types.py", Reason.COLLECTS_NOTHING)]


def test_what_was_left_out_is_the_reason_when_the_rest_grades_nothing() -> None:
    seen_trial, _ = trial(
        lambda request: keep(seen("a.py::n=f b.py::s=s"), request.files),
        lambda request: keep(seen("a.py::n=f b.py::s=s"), request.files),
        files="a.py b.py",
    )
    assert seen_trial.verdict.reason is Reason.RED_AT_BOTH
    assert "a.py::n" in seen_trial.verdict.detail


def test_tests_that_flip_in_a_file_left_out_are_told_and_are_the_reason() -> None:
    seen_trial, _ = trial(
        lambda request: keep(seen("a.py::n=p a.py::bad=f b.py::old=p"), request.files),
        lambda request: keep(seen("a.py::n=f a.py::bad=f b.py::old=p"), request.files),
        files="a.py b.py",
    )
    assert seen_trial.verdict.reason is Reason.RED_AT_BOTH
    assert seen_trial.verdict.lists.fail_to_pass == ("a.py::n",)
    assert seen_trial.verdict.lists.pass_to_pass == ("b.py::old",)


def test_a_head_that_skips_everything_collects_nothing() -> None:
    seen_trial, _ = trial(seen("a.py::s=s"), seen(broken={"a.py": "ImportError"}))
    assert seen_trial.verdict.reason is Reason.COLLECTS_NOTHING


def test_the_time_limit_follows_the_slowest_head() -> None:
    assert time_limit((seen(milliseconds=100),), 1800) == 60
    assert time_limit((seen(milliseconds=7001), seen(milliseconds=10)), 1800) == 71
    assert time_limit((seen(milliseconds=500_000),), 1800) == 1800


def test_variations_differ_from_the_record_and_from_one_another() -> None:
    assert variation(0) == {}
    assert len({tuple(sorted(variation(number).items())) for number in range(4)}) == 4
    assert variation(4) == variation(1)
