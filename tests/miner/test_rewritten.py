"""Squashes and rebases told apart, where the branches below make it hard."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from miner.change import Landing
from miner.landing import NotLanded, Pins
from tests.support.landings import (
    NUMBER,
    TEXT,
    decided,
    landing_repository,
    own_commits,
    pins_of,
    pull_facts,
    two_commits,
)
from tests.support.repos import RepoBuilder


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    return landing_repository(tmp_path)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_a_pull_request_of_one_commit_is_a_rebase_where_it_kept_message_and_author_and_else_a_squash(
    repo: RepoBuilder, cache: Path
) -> None:
    repo.switch("topic", at="main")
    one = repo.commit("One", {"new.py": "x\n"})
    repo.switch("main")
    base = repo.commit("Main moves on", {"main.txt": TEXT})
    picked = repo.cherry_pick(one)
    facts = pull_facts(repo.path, head=one, merge_commit=picked, commits=[one])
    assert pins_of(decided(repo, cache, facts)) == (base, picked, Landing.REBASE)

    repo.git("reset", "-q", "--hard", base)
    squashed = repo.commit(f"One (#{NUMBER})", {"new.py": "x\n"})
    facts = replace(facts, merge_commit=squashed)
    assert pins_of(decided(repo, cache, facts)) == (base, squashed, Landing.SQUASH)


def test_a_squash_of_a_branch_on_top_of_a_branch_that_was_squashed_holds_its_own_part_only(
    repo: RepoBuilder, cache: Path
) -> None:
    repo.switch("below", at="main")
    below = repo.commit("Below", {"below.py": "x\n"})
    repo.switch("topic", at="below")
    above = repo.commit("Above", {"above.py": "x\n", "below.py": "x\ny\n"})
    repo.switch("main")
    base = repo.commit("Below all (#11)", {"below.py": "x\n"})
    squashed = repo.commit(f"Above all (#{NUMBER})", {"above.py": "x\n", "below.py": "x\ny\n"})

    found = decided(repo, cache, pull_facts(repo.path, head=above, merge_commit=squashed, commits=[below, above]))

    assert pins_of(found) == (base, squashed, Landing.SQUASH)


def test_a_branch_that_holds_a_commit_twice_is_no_rebase_of_it(repo: RepoBuilder, cache: Path) -> None:
    # Seen in unjs/ufo: the branch took main before and after main's last commit was amended.
    repo.switch("topic", at="main")
    own = repo.commit("Own", {"new.py": "x\n"})
    repo.switch("main")
    first = repo.commit("Build", {"build.txt": "x\n"})
    repo.switch("topic")
    repo.merge(first, message="Merge branch 'main' into topic")
    repo.git("checkout", "-q", "main")
    repo.git("reset", "-q", "--hard", f"{first}~1")
    amended = repo.commit("Build", {"build.txt": "x\n"})
    repo.switch("topic")
    head = repo.merge("main", message="Merge branch 'main' into topic")
    repo.switch("main")
    squashed = repo.commit(f"Own (#{NUMBER})", {"new.py": "x\n"})

    found = decided(repo, cache, pull_facts(repo.path, head=head, merge_commit=squashed, commits=[own, first, head]))

    assert pins_of(found) == (amended, squashed, Landing.SQUASH)


def test_commits_that_were_there_already_are_dropped_by_a_rebase(repo: RepoBuilder, cache: Path) -> None:
    repo.switch("topic", at="main")
    first, second, third = (repo.commit(f"Number {place}", {f"{place}.py": "x\n"}) for place in range(3))
    repo.switch("main")
    repo.cherry_pick(second)
    base = repo.commit("Main moves on", {"main.txt": TEXT})
    repo.cherry_pick(first)
    landing = repo.cherry_pick(third)

    found = decided(
        repo, cache, pull_facts(repo.path, head=third, merge_commit=landing, commits=[first, second, third])
    )

    assert pins_of(found) == (base, landing, Landing.REBASE)
    assert isinstance(found, Pins)
    assert "1 of the pull request's 3 were there already" in found.decided_by


def test_a_rebase_over_a_conflict_is_known_by_messages_and_authors(repo: RepoBuilder, cache: Path) -> None:
    repo.switch("topic", at="main")
    first = repo.commit("First", {"new.py": "x\n"})
    second = repo.commit("Second", {"main.txt": "mine\n"})
    times = [int(time) for time in repo.git("log", "--format=%at", f"{first}~1..{second}").split()]
    repo.switch("main")
    base = repo.commit("Main moves on", {"main.txt": "theirs\n"})
    repo.cherry_pick(first)
    repo.commit("Second", {"main.txt": "theirs, then mine\n"})
    repo.git("commit", "-q", "--amend", "--no-edit", f"--date=@{times[0]} +0000")

    found = decided(repo, cache, pull_facts(repo.path, head=second, merge_commit=repo.head(), commits=[first, second]))

    assert pins_of(found) == (base, repo.head(), Landing.REBASE)
    assert isinstance(found, Pins)
    assert "1 of them by message and author's time alone" in found.decided_by


def test_a_squash_that_was_edited_is_taken_from_the_forge_but_not_found_by_its_message(
    repo: RepoBuilder, cache: Path
) -> None:
    two_commits(repo)
    own, head = own_commits(repo), repo.git("rev-parse", "topic")
    repo.switch("main")
    base = repo.head()
    edited = repo.commit(f"Do it (#{NUMBER})", {"new.py": "half\nwhole\n", "tests/test_new.py": "test\nedited\n"})
    facts = pull_facts(repo.path, head=head, merge_commit=edited, commits=own)

    found = decided(repo, cache, facts)

    assert pins_of(found) == (base, edited, Landing.SQUASH)
    assert isinstance(found, Pins)
    assert "3 of its 4 changed lines" in found.decided_by
    assert isinstance(decided(repo, cache, replace(facts, merge_commit=None)), NotLanded)


def test_a_commit_that_has_nothing_of_the_pull_request_is_not_taken_for_it(repo: RepoBuilder, cache: Path) -> None:
    two_commits(repo)
    own, head = own_commits(repo), repo.git("rev-parse", "topic")
    repo.switch("main")
    wrong = repo.commit(f"Do it (#{NUMBER})", {"main.txt": "nothing of it\n"})

    found = decided(repo, cache, pull_facts(repo.path, head=head, merge_commit=wrong, commits=own))

    assert isinstance(found, NotLanded)
    assert wrong in found.message
    assert "dev/box#12" in found.message


def test_only_the_last_commit_of_a_rebase_is_never_taken_for_a_squash(repo: RepoBuilder, cache: Path) -> None:
    # The commit before is the pull request's too, though its patch and its files are others now.
    repo.switch("topic", at="main")
    own = [repo.commit(f"Number {place}", {f"{place}.py": "x\n"}) for place in range(3)]
    repo.switch("main")
    repo.commit("Something else", {"main.txt": TEXT})
    repo.cherry_pick(own[1])
    landing = repo.cherry_pick(own[2])

    found = decided(repo, cache, pull_facts(repo.path, head=own[2], merge_commit=landing, commits=own))

    assert isinstance(found, NotLanded)
    assert "only a part of its 3" in found.message


def test_a_squash_after_one_of_its_commits_was_picked_is_no_rebase(repo: RepoBuilder, cache: Path) -> None:
    repo.switch("topic", at="main")
    own = [repo.commit(f"Number {place}", {f"{place}.py": "x\n"}) for place in range(2)]
    repo.switch("main")
    base = repo.cherry_pick(own[0])
    squashed = repo.commit(f"Both (#{NUMBER})", {"1.py": "x\n"})

    found = decided(repo, cache, pull_facts(repo.path, head=own[1], merge_commit=squashed, commits=own))

    assert pins_of(found) == (base, squashed, Landing.SQUASH)
