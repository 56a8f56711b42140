"""Landings of pull requests whose own commits are nowhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from casewright.repository import open_source
from miner.change import Landing
from miner.landing import NotLanded, Pins, landed
from tests.support.landings import (
    Landed,
    by_fast_forward,
    by_merge,
    by_rebase,
    by_squash,
    landing_repository,
    pins_of,
    stale,
    two_commits,
    without_topic,
)
from tests.support.repos import RepoBuilder


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    return landing_repository(tmp_path)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.mark.parametrize("style", [by_merge, by_squash, by_rebase, by_fast_forward])
def test_a_head_that_is_gone_leaves_the_weaker_evidence(
    repo: RepoBuilder, cache: Path, tmp_path: Path, style: Callable[[RepoBuilder], Landed]
) -> None:
    (two_commits if style is by_fast_forward else stale)(repo)
    made = style(repo)
    gone = style in {by_squash, by_rebase}

    with open_source(str(without_topic(repo, tmp_path)), cache) as repository:
        found = landed(repository, made.facts)

    assert pins_of(found) == (made.base, made.head, made.style)
    assert isinstance(found, Pins)
    assert ("no patch was compared" in found.decided_by) == gone


def test_a_head_that_is_gone_and_a_message_that_fits_in_part_are_no_ground_for_pins(
    repo: RepoBuilder, cache: Path, tmp_path: Path
) -> None:
    stale(repo)
    made = by_rebase(repo)
    first, last = made.facts.commits
    edited = replace(made.facts, commits=(replace(first, message="Reworded"), last))

    with open_source(str(without_topic(repo, tmp_path)), cache) as repository:
        found = landed(repository, edited)

    assert isinstance(found, NotLanded)
    assert made.facts.head_commit in found.message


def test_the_merges_of_a_branch_that_was_rebased_are_left_aside(repo: RepoBuilder, cache: Path, tmp_path: Path) -> None:
    stale(repo)
    repo.switch("topic")
    repo.merge("main", message="Merge branch 'main' into topic")
    repo.commit("After it", {"new.py": "half\nwhole\nmore\n"})
    made = by_rebase(repo)

    with open_source(str(without_topic(repo, tmp_path)), cache) as repository:
        found = landed(repository, made.facts)

    assert len(made.facts.commits) == 4
    assert pins_of(found) == (made.base, made.head, Landing.REBASE)


def test_a_list_that_was_cut_shows_no_squash_unless_the_landing_has_the_number(
    repo: RepoBuilder, cache: Path, tmp_path: Path
) -> None:
    stale(repo)
    made = by_rebase(repo)
    cut = replace(made.facts, commits=made.facts.commits[:1])
    with open_source(str(without_topic(repo, tmp_path)), cache) as repository:
        assert isinstance(landed(repository, cut), NotLanded)

    base = repo.head()
    numbered = repo.commit("Do it all (#12)", {"more.py": "x\n"})
    cache_again, folder = tmp_path / "again", tmp_path / "second"
    folder.mkdir()
    with open_source(str(without_topic(repo, folder)), cache_again) as repository:
        found = landed(repository, replace(cut, merge_commit=numbered))
    assert pins_of(found) == (base, numbered, Landing.SQUASH)
