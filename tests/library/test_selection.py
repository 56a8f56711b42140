"""A choice of cases is spread, bounded and repeatable."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from library.selection import Selection, Spread, select


def case(number: int, repository: str, category: str = "x", lines: int = 5, day: str = "2026-01-01") -> dict[str, Any]:
    return {
        "id": f"c{number:03}",
        "repository_id": repository,
        "category": category,
        "size": {"lines": lines},
        "source": {"committed": f"{day}T00:00:00Z"},
    }


def test_all_are_taken_when_nothing_is_chosen() -> None:
    cases = [case(2, "a"), case(1, "b")]
    assert [one["id"] for one in select(cases, Selection())] == ["c001", "c002"]
    assert Selection().plain() is None


def test_since_takes_the_day_itself() -> None:
    cases = [case(1, "a", day="2026-01-01"), case(2, "a", day="2026-01-02"), case(3, "a", day="2026-01-03")]
    assert [one["id"] for one in select(cases, Selection(since="2026-01-02"))] == ["c002", "c003"]


def test_a_spread_takes_each_value_before_any_twice() -> None:
    cases = [case(number, "big") for number in range(50)] + [case(98, "small"), case(99, "tiny")]
    for seed in range(5):
        chosen = select(cases, Selection(limit=3, spread=(Spread.REPOSITORY,), seed=seed))
        assert {one["repository_id"] for one in chosen} == {"big", "small", "tiny"}


def test_size_and_month_are_values_too() -> None:
    cases = [case(number, "a", lines=3, day="2026-01-05") for number in range(20)]
    cases += [case(90, "a", lines=3000, day="2026-01-07"), case(91, "a", lines=3, day="2026-02-01")]
    chosen = select(cases, Selection(limit=3, spread=(Spread.SIZE, Spread.MONTH)))
    assert {"c090", "c091"} <= {one["id"] for one in chosen}


@given(st.lists(st.integers(0, 30), unique=True), st.integers(0, 12), st.integers(0, 3), st.randoms())
def test_a_seed_gives_one_choice_whatever_the_order(numbers: list[int], limit: int, seed: int, random: Any) -> None:
    cases = [case(number, f"r{number % 3}", category=f"k{number % 4}") for number in numbers]
    selection = Selection(limit=limit, spread=(Spread.REPOSITORY, Spread.CATEGORY), seed=seed)
    first = select(cases, selection)
    random.shuffle(cases)
    assert select(cases, selection) == first
    assert len(first) == min(limit, len(cases))
    assert [one["id"] for one in first] == sorted(one["id"] for one in first)


def test_another_seed_gives_another_choice() -> None:
    cases = [case(number, "a") for number in range(40)]
    choices = {tuple(one["id"] for one in select(cases, Selection(limit=5, seed=seed))) for seed in range(4)}
    assert len(choices) == 4
