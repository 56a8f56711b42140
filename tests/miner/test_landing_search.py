"""Landings that no commit of the forge's leads to, looked for in the history."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from casewright.repository import open_source
from miner.change import Landing
from miner.landing import NotLanded, Pins, landed
from tests.support.landings import (
    NUMBER,
    TEXT,
    by_merge,
    by_squash,
    decided,
    landing_repository,
    oddity_pull_facts,
    own_commits,
    pins_of,
    pull_facts,
    stale,
    two_commits,
)
from tests.support.repos import Entry, RepoBuilder, oddity


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    return landing_repository(tmp_path)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.mark.parametrize("with_head", [True, False])
def test_the_history_of_the_oddity_alone_gives_what_its_messages_say_and_guesses_nothing(
    tmp_path: Path, cache: Path, with_head: bool
) -> None:
    built = oddity("14-ways-to-merge", tmp_path / "oddity")
    titles = {2: "Add twenty in m2", 8: "Add eighty in m8"}
    # With the head at hand, the fast-forward is there for everybody to see: it is found, and not by a message.
    missing = {3} if with_head else {3, 6}

    with open_source(str(built.folder / "repo"), cache) as repository:
        for said in json.loads((built.folder / "prs.json").read_text(encoding="utf-8")):
            number = said["number"]
            facts = oddity_pull_facts(built.folder / "repo", said, titles)
            facts = replace(facts, merge_commit="f" * 40 if number % 2 else None)
            found = landed(repository, facts if with_head else replace(facts, head_commit="e" * 40, commits=()))
            if number in missing:
                assert isinstance(found, NotLanded), (number, found)
                assert f"dev/box#{number}" in found.message
                assert "add-case --commit" in found.hint
            else:
                assert isinstance(found, Pins), (number, found)
                wanted = (built.facts[f"PR{number}_BASE"], built.facts[f"PR{number}_HEAD"])
                assert (found.base, found.head) == wanted, (number, found)


def test_a_branch_that_was_rewritten_holds_the_landing_elsewhere(repo: RepoBuilder, cache: Path) -> None:
    stale(repo)
    made = by_squash(repo)
    repo.git("reset", "-q", "--hard", "HEAD~1")
    base = repo.commit("Rewritten", {"main.txt": TEXT + "rewritten\n"})
    again = repo.commit(f"Do it (#{NUMBER})", {"new.py": "half\nwhole\n", "tests/test_new.py": "test\n"})

    assert pins_of(decided(repo, cache, made.facts)) == (base, again, Landing.SQUASH)

    # Where nothing took its place, the commit that the forge names is still what it was.
    repo.git("reset", "-q", "--hard", base)
    assert pins_of(decided(repo, cache, made.facts)) == (made.base, made.head, Landing.SQUASH)


def test_a_base_branch_that_is_gone_is_looked_for_on_the_default_branch(repo: RepoBuilder, cache: Path) -> None:
    stale(repo)
    made = by_merge(repo)
    lost = replace(made.facts, base_branch="gone", merge_commit="f" * 40)
    assert pins_of(decided(repo, cache, lost)) == (made.base, made.head, Landing.MERGE)

    unknown = decided(repo, cache, replace(lost, head_commit="e" * 40, commits=()))
    assert isinstance(unknown, NotLanded)
    assert "there is no branch gone" in unknown.message
    assert "f" * 40 in unknown.message


def test_two_commits_that_may_both_be_it_are_named(repo: RepoBuilder, cache: Path) -> None:
    two_commits(repo)
    own, head = own_commits(repo), repo.git("rev-parse", "topic")
    repo.switch("main")
    files: dict[str | bytes, Entry] = {"new.py": "half\nwhole\n", "tests/test_new.py": "test\n"}
    first = repo.commit(f"Do it (#{NUMBER})", files)
    repo.revert(first)
    second = repo.commit(f"Do it again (#{NUMBER})", files)

    found = decided(repo, cache, pull_facts(repo.path, head=head, merge_commit=None, commits=own))

    assert isinstance(found, NotLanded)
    assert first in found.message
    assert second in found.message


def test_a_merge_of_another_repositorys_number_is_not_taken_for_it(repo: RepoBuilder, cache: Path) -> None:
    two_commits(repo)
    repo.switch("main")
    repo.merge("topic", message=f"Merge pull request #{NUMBER} from upstream/topic")
    facts = pull_facts(repo.path, head="e" * 40, merge_commit=None, commits=[])

    assert isinstance(decided(repo, cache, replace(facts, created_at=2_000_000_000)), NotLanded)
    assert isinstance(decided(repo, cache, facts), Pins)
