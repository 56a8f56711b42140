"""When a forge that did not answer is asked again: rate limits and faults are waited out, refusals are not.

Rules of GitHub's REST documentation ("Best practices", "Rate limits"): ``Retry-After`` first; else, with nothing left
of the limit, until it is set back; else, for a secondary limit, a minute and then longer and longer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Final

BUSY: Final = frozenset({500, 502, 503, 504})
LIMITED: Final = frozenset({403, 429})
BUSY_ATTEMPTS: Final = 6
LIMITED_ATTEMPTS: Final = 8
SECONDARY_SECONDS: Final = 60
# GitHub's own limits are set back within the hour; what asks for more is no rate limit.
LONGEST_SECONDS: Final = 2 * 3600

# Called each second while we wait with the seconds left (0: it is over) and why.
Waiting = Callable[[int, str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """An answer that is none. ``status`` is None where the connection failed; header names are lowercase."""

    status: int | None
    headers: Mapping[str, str]
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Wait:
    """Ask again after so many whole seconds."""

    seconds: int
    why: str


def wait_for(failure: Failure, attempt: int, now: float) -> Wait | None:
    """Return how long to wait before asking again, or None when asking again would be of no use.

    ``attempt`` counts from 1; ``now`` is seconds since the epoch, for where the forge does not tell its own time.
    """
    if failure.status is None or failure.status in BUSY:
        if attempt >= BUSY_ATTEMPTS:
            return None
        pause = _retry_after(failure.headers, now) or 2 ** (attempt - 1)
        return _bounded(pause, failure.message)
    if failure.status in LIMITED and attempt < LIMITED_ATTEMPTS:
        pause = _retry_after(failure.headers, now)
        if pause is not None:
            return _bounded(pause, f"rate limit: {failure.message}")
        if failure.headers.get("x-ratelimit-remaining") == "0":
            return _bounded(_until_reset(failure.headers, now), f"rate limit: {failure.message}")
        if failure.status == 429 or "rate limit" in failure.message.lower() or "abuse" in failure.message.lower():
            return _bounded(SECONDARY_SECONDS * 2 ** (attempt - 1), f"rate limit: {failure.message}")
    return None


def wait_out(wait: Wait, waiting: Waiting) -> None:
    """Let the time pass, telling each second what is left."""
    for left in range(wait.seconds, 0, -1):
        waiting(left, wait.why)
        let_a_second_pass()
    waiting(0, wait.why)


def let_a_second_pass() -> None:
    """Sleep for a second."""
    time.sleep(1)


def _bounded(seconds: int, why: str) -> Wait | None:
    return Wait(seconds=max(seconds, 1), why=why) if seconds <= LONGEST_SECONDS else None


def _retry_after(headers: Mapping[str, str], now: float) -> int | None:
    """Read ``Retry-After``: whole seconds, or a date (RFC 9110, 10.2.3)."""
    said = headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit():
        return int(said[:9])
    moment = _moment(said)
    return None if moment is None else max(round(moment - _their_now(headers, now)), 0)


def _until_reset(headers: Mapping[str, str], now: float) -> int:
    said = headers.get("x-ratelimit-reset", "").strip()
    if not (said.isascii() and said.isdigit()):
        return SECONDARY_SECONDS
    # One more second: the limit is set back within it.
    return max(round(int(said[:12]) - _their_now(headers, now)), 0) + 1


def _their_now(headers: Mapping[str, str], now: float) -> float:
    """The forge's own time: a clock that is wrong here must not make us wait an hour too long."""
    moment = _moment(headers.get("date", ""))
    return now if moment is None else moment


def _moment(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        return None
