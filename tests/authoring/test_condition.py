"""When a task counts as resolved."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from authoring.condition import PLAIN_CONDITION, has_resolved_condition, resolved_condition


@pytest.mark.parametrize(
    "text",
    [
        "An empty list should be accepted.",
        "It must not change the order.",
        "Return an empty list instead of None.",
        "It is resolved when both are accepted.",
        "Names are no longer lost.",
        "## Expected behavior\n\nThe list is accepted.",
        "**Expected result**\nBoth are printed.",
        "Expected output:\n\n```\n1\n```",
        "I'd expect the list to be accepted.",
        "It would be nice if blanks were allowed.",
    ],
)
def test_a_condition_is_seen(text: str) -> None:
    assert has_resolved_condition(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "TypeError when default is a list",
        '`TypeError: expected str` is raised, "must be str" is printed.',
        "```\nassert x, 'should be true'\n```",
        "Should this be allowed?",
        "This should fix the problem.",
        "Works as expected.",
        "The index route works as expected:\n\n```\nx\n```",
        "This updates the regex to use `x` instead of `y`.",
        "It gets this wrong and passes `self.a` instead of just `self.b`.",
        "A tuple is returned instead of a list.",
        "An unexpected error is raised.",
        "## Expected behavior\n\n## Actual behavior\n\nIt fails.",
    ],
)
def test_no_condition_is_seen(text: str) -> None:
    assert not has_resolved_condition(text)


@pytest.mark.parametrize(
    ("title", "proposed"),
    [
        ("TypeError when default is a list", "Resolved when this no longer happens: TypeError when default is a list."),
        ("Allow blanks between parts.", "Resolved when the project allows blanks between parts."),
        ("Apply defaults", "Resolved when the project applies defaults."),
        ("Don't restart containers", "Resolved when the project does not restart containers."),
        ("Fix crash on empty input", "Resolved when this no longer happens: crash on empty input."),
        ("Fix the return type", "Resolved when this is fixed: the return type."),
        ("Ensure that names are kept", "Resolved when names are kept."),
        ("Add a way to list names", "Resolved when it is possible to list names."),
        ("Is it possible to list names?", "Resolved when it is possible to list names."),
        ("Support for Python 3.13", "Resolved when there is support for Python 3.13."),
        ("Add cache_info() to caches", PLAIN_CONDITION),
        ("Add Python 3.15 to test matrix", PLAIN_CONDITION),
        ("Merge pull request from dev/one", PLAIN_CONDITION),
        ("Merge defaults into options", "Resolved when the project merges defaults into options."),
        ("Add an option for names", "Resolved when there is an option for names."),
        ("Remove the old loader", "Resolved when this is gone: the old loader."),
        ("Improve error messages", "Resolved when this is done: Improve error messages."),
        ("Rounding on Windows", "Resolved when this is settled: Rounding on Windows."),
        ("Allowed blanks between parts", "Resolved when the project allows blanks between parts."),
        ("nfa: massively simplify failure states", "Resolved when this is done: massively simplify failure states."),
        ("parser: only reject wrong names", "Resolved when the project only rejects wrong names."),
        ("cache: load fails on disks", "Resolved when this no longer happens: cache: load fails on disks."),
        ("Deduplicate wrong names", "Resolved when the project deduplicates wrong names."),
        ("* Update the table", "Resolved when this is done: Update the table."),
        ("[core] support blanks", "Resolved when the project supports blanks."),
        ("parser: support blanks", "Resolved when the project supports blanks."),
        ("Corrected the week", "Resolved when this is fixed: the week."),
        ("Updated the table", "Resolved when this is done: Updated the table."),
        ("kubelet: restarts twice", "Resolved when this no longer happens: kubelet: restarts twice."),
        ("Validate colors, fix the default", "Resolved when this is done: Validate colors, fix the default."),
        ("", PLAIN_CONDITION),
        ("x" * 500, PLAIN_CONDITION),
    ],
)
def test_a_condition_is_worded_from_the_title(title: str, proposed: str) -> None:
    assert resolved_condition([title]) == proposed


def test_several_titles_give_a_sentence_each_and_many_give_a_plain_one() -> None:
    assert resolved_condition(["Allow blanks", "Keep names"]) == (
        "Resolved when the project allows blanks. Resolved when the project keeps names."
    )
    assert resolved_condition(["Allow blanks"] * 4) == PLAIN_CONDITION


def test_a_title_that_another_holds_is_said_once() -> None:
    assert resolved_condition(["Keep names", "Keep `names` of users"]) == (
        "Resolved when the project keeps `names` of users."
    )
    assert resolved_condition(["Keep name", "Keep names"]).count("Resolved when") == 2
    assert resolved_condition(["Keep `names`", "Keep names"]) == "Resolved when the project keeps `names`."


@example(["? A"])
@given(st.lists(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=60), max_size=4))
def test_a_proposal_is_one_line_and_counts_as_a_condition(titles: list[str]) -> None:
    proposed = resolved_condition(titles)
    assert "\n" not in proposed
    assert has_resolved_condition(f"{proposed}\n")
