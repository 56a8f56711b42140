"""Which of the ready cases go into a release, when not all do. Pure, and the same on every machine for one seed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any

from casewright.errors import UsageError


class Spread(StrEnum):
    """What a choice is spread over: no value of it is taken twice while another is waiting."""

    REPOSITORY = "repository"
    CATEGORY = "category"
    SIZE = "size"
    MONTH = "month"


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """How to choose: committed on or after ``since`` (YYYY-MM-DD), at most ``limit`` cases, spread, by ``seed``."""

    since: str | None = None
    limit: int | None = None
    spread: tuple[Spread, ...] = ()
    seed: int = 0

    @property
    def chooses(self) -> bool:
        return self.since is not None or self.limit is not None

    def refuse_nonsense(self) -> None:
        """Raise ``UsageError`` for a day that is none, or a limit below one."""
        if self.since is not None and not _is_day(self.since):
            raise UsageError(f"{self.since!r} is not a day", "write it as 2026-08-29")
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"a release of {self.limit} cases can't be", "choose at least one")

    def plain(self) -> dict[str, Any] | None:
        """Return what the header says of the choice; None when every ready case went in."""
        if not self.chooses:
            return None
        return {
            "since": self.since,
            "limit": self.limit,
            "spread": [one.value for one in self.spread],
            "seed": self.seed,
        }


def select(cases: Sequence[Mapping[str, Any]], selection: Selection) -> list[Mapping[str, Any]]:
    """Return the chosen cases, sorted by id.

    Each step takes the case whose repository, category, … have been taken least so far; the seed orders equals.
    """
    waiting = [case for case in cases if selection.since is None or case["source"]["committed"][:10] >= selection.since]
    waiting.sort(key=lambda case: _lot(selection.seed, case["id"]))
    if selection.limit is None or selection.limit >= len(waiting):
        return sorted(waiting, key=_id)
    chosen: list[Mapping[str, Any]] = []
    taken: Counter[tuple[Spread, str]] = Counter()
    while len(chosen) < selection.limit:
        case = min(waiting, key=lambda one: sum(taken[value] for value in _values(one, selection.spread)))
        waiting.remove(case)
        chosen.append(case)
        taken.update(_values(case, selection.spread))
    return sorted(chosen, key=_id)


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _values(case: Mapping[str, Any], spread: tuple[Spread, ...]) -> list[tuple[Spread, str]]:
    return [(one, _value(case, one)) for one in spread]


def _value(case: Mapping[str, Any], spread: Spread) -> str:
    match spread:
        case Spread.REPOSITORY:
            return str(case["repository_id"])
        case Spread.CATEGORY:
            return str(case["category"])
        case Spread.SIZE:
            lines = case["size"]["lines"]
            return next((str(bound) for bound in (20, 100, 500) if lines <= bound), "more")
        case Spread.MONTH:
            return str(case["source"]["committed"][:7])


def _lot(seed: int, case_id: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{case_id}".encode()).digest()


def _id(case: Mapping[str, Any]) -> str:
    return str(case["id"])
