"""When a forge is asked again: the rules alone."""

from __future__ import annotations

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miner import forge_waiting
from miner.forge_waiting import BUSY_ATTEMPTS, LONGEST_SECONDS, Failure, Wait, wait_for, wait_out

NOW = 1_700_000_000.0


def failure(status: int | None, message: str = "", **headers: str) -> Failure:
    return Failure(
        status=status, headers={name.replace("_", "-"): value for name, value in headers.items()}, message=message
    )


def seconds(found: Wait | None) -> int | None:
    return None if found is None else found.seconds


@pytest.mark.parametrize("status", [None, 500, 502, 503, 504])
def test_a_busy_forge_is_given_longer_and_longer_and_then_up(status: int | None) -> None:
    pauses = [seconds(wait_for(failure(status), attempt, NOW)) for attempt in range(1, BUSY_ATTEMPTS + 1)]
    assert pauses == [1, 2, 4, 8, 16, None]


@pytest.mark.parametrize("status", [400, 401, 404, 410, 422, 301])
def test_a_refusal_is_not_asked_again(status: int) -> None:
    assert wait_for(failure(status, "no"), 1, NOW) is None


def test_a_403_without_any_sign_of_a_limit_is_a_refusal() -> None:
    assert wait_for(failure(403, "Resource not accessible by integration"), 1, NOW) is None
    assert seconds(wait_for(failure(403, "You have exceeded a secondary rate limit."), 2, NOW)) == 120
    assert seconds(wait_for(failure(429), 1, NOW)) == 60


def test_retry_after_is_obeyed_as_seconds_and_as_a_date_by_the_forges_own_clock() -> None:
    assert seconds(wait_for(failure(403, retry_after="17"), 1, NOW)) == 17
    assert seconds(wait_for(failure(503, retry_after="17"), 1, NOW)) == 17
    theirs = NOW + 5000
    later, date = formatdate(theirs + 30, usegmt=True), formatdate(theirs, usegmt=True)
    assert seconds(wait_for(failure(429, retry_after=later, date=date), 1, NOW)) == 30


def test_an_empty_limit_is_waited_for_by_the_forges_own_clock() -> None:
    theirs = NOW - 7200
    found = failure(
        403, x_ratelimit_remaining="0", x_ratelimit_reset=str(round(theirs) + 90), date=formatdate(theirs, usegmt=True)
    )
    assert seconds(wait_for(found, 1, NOW)) == 91


def test_what_asks_for_more_than_any_limit_lasts_is_not_waited_for() -> None:
    assert wait_for(failure(429, retry_after=str(LONGEST_SECONDS + 1)), 1, NOW) is None
    assert wait_for(failure(403, x_ratelimit_remaining="0", x_ratelimit_reset="99999999999"), 1, NOW) is None


@given(
    st.one_of(st.none(), st.integers(100, 599)),
    st.dictionaries(
        st.sampled_from(["retry-after", "x-ratelimit-remaining", "x-ratelimit-reset", "date"]), st.text(max_size=30)
    ),
    st.integers(1, 50),
)
def test_whatever_a_forge_says_the_pause_is_whole_and_bounded(
    status: int | None, headers: dict[str, str], attempt: int
) -> None:
    found = wait_for(Failure(status=status, headers=headers, message="x"), attempt, NOW)
    assert found is None or 1 <= found.seconds <= LONGEST_SECONDS


def test_a_pause_is_told_second_by_second(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, str]] = []
    monkeypatch.setattr(forge_waiting, "let_a_second_pass", lambda: told.append((-1, "a second")))
    wait_out(Wait(seconds=2, why="limit"), lambda left, why: told.append((left, why)))
    assert told == [(2, "limit"), (-1, "a second"), (1, "limit"), (-1, "a second"), (0, "limit")]
