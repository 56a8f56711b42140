"""The pins of landed pull requests: every style of landing on every shape of branch, and merges of more than one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from casewright.repository import open_source
from miner.change import Landing
from miner.landing import NotLanded, Pins, landed
from tests.support.landings import (
    NUMBER,
    TEXT,
    Landed,
    by_evil_merge,
    by_fast_forward,
    by_merge,
    by_rebase,
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
from tests.support.repos import Executable, RepoBuilder, git, oddity


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    return landing_repository(tmp_path)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def _back_merge(repo: RepoBuilder) -> None:
    stale(repo)
    repo.switch("topic")
    repo.merge("main", message="Merge branch 'main' into topic")
    repo.commit("After it", {"new.py": "half\nwhole\nmore\n"})


def _back_merge_last(repo: RepoBuilder) -> None:
    stale(repo)
    repo.switch("topic")
    repo.merge("main", message="Merge branch 'main' into topic")


def _back_merge_then_stale(repo: RepoBuilder) -> None:
    _back_merge(repo)
    repo.switch("main")
    repo.commit("Main moves on again", {"main.txt": TEXT + "again\n"})


def _criss_cross(repo: RepoBuilder) -> None:
    # The branch takes main, then main takes the branch as it was before, then both go on.
    two_commits(repo)
    repo.git("branch", "early", "topic")
    repo.switch("main")
    first = repo.commit("Main moves on", {"main.txt": TEXT + "after\n"})
    repo.merge("early", message="Merge branch 'early'")
    repo.switch("topic")
    repo.merge(first, message="Merge main as it was")
    repo.commit("After it", {"new.py": "half\nwhole\nmore\n"})
    repo.commit("Last", {"tests/test_new.py": "test\ntest\n"})


def _empty_commit(repo: RepoBuilder) -> None:
    repo.switch("topic", at="main")
    repo.commit("Half", {"new.py": "half\n"})
    repo.commit("Trigger the tests")
    repo.commit("Whole", {"new.py": "whole\n"})


def _revert_inside(repo: RepoBuilder) -> None:
    repo.switch("topic", at="main")
    wrong = repo.commit("Wrong", {"new.py": "wrong\n"})
    repo.revert(wrong)
    repo.commit("Right", {"new.py": "right\n"})


def _rename(repo: RepoBuilder) -> None:
    repo.switch("topic", at="main")
    repo.git("mv", "old.py", "renamed.py")
    repo.commit("Rename")
    repo.commit("Use it", {"renamed.py": TEXT + "more\n"})


def _binary(repo: RepoBuilder) -> None:
    repo.switch("topic", at="main")
    repo.commit("Another picture", {"pic": b"\0\2\3"})
    repo.commit("And another", {"pic": b"\0\4\5", "pic2": b"\0"})


def _mode_only(repo: RepoBuilder) -> None:
    repo.switch("topic", at="main")
    repo.commit("Let it run", {"run.sh": Executable(b"exit 0\n")})
    repo.commit("And this", {"old.py": Executable(TEXT.encode())})


def _moved_context(repo: RepoBuilder) -> None:
    # Two lines lie between the hunks of the two sides: git merges them, and their patches differ in what stands around.
    repo.switch("topic", at="main")
    repo.commit("One line", {"both.txt": TEXT.replace("line 20\n", "mine\n")})
    repo.commit("Another line", {"both.txt": TEXT.replace("line 20\n", "mine\n").replace("line 5\n", "mine too\n")})
    repo.switch("main")
    repo.commit("Near it", {"both.txt": TEXT.replace("line 23\n", "theirs\n").replace("line 8\n", "theirs\n")})


def _own_root(repo: RepoBuilder) -> None:
    repo.git("checkout", "-q", "--orphan", "topic")
    repo.git("rm", "-q", "-rf", ".")
    repo.commit("Another root", {"lib/a.py": "a\n"})
    repo.commit("And more", {"lib/b.py": "b\n"})


SHAPES: list[Callable[[RepoBuilder], None]] = [
    two_commits,
    stale,
    _back_merge,
    _back_merge_last,
    _back_merge_then_stale,
    _criss_cross,
    _empty_commit,
    _revert_inside,
    _rename,
    _binary,
    _mode_only,
    _moved_context,
    _own_root,
]
STYLES: list[Callable[[RepoBuilder], Landed]] = [by_merge, by_evil_merge, by_squash, by_rebase, by_fast_forward]


def _combinations() -> Iterator[tuple[Callable[[RepoBuilder], None], Callable[[RepoBuilder], Landed]]]:
    # git itself refuses these: main has moved on, or there is nothing to fast-forward from.
    no_fast_forward = {stale, _back_merge_then_stale, _criss_cross, _moved_context, _own_root}
    for shape in SHAPES:
        for style in STYLES:
            if not (style is by_fast_forward and shape in no_fast_forward):
                yield shape, style


@pytest.mark.parametrize(("shape", "style"), list(_combinations()))
def test_every_style_on_every_shape_of_branch(
    repo: RepoBuilder,
    cache: Path,
    shape: Callable[[RepoBuilder], None],
    style: Callable[[RepoBuilder], Landed],
) -> None:
    shape(repo)
    made = style(repo)
    repo.commit("Later", {"later.txt": "x\n"})

    found = decided(repo, cache, made.facts)

    assert isinstance(found, Pins), found
    assert (found.base, found.head, found.landing) == (made.base, made.head, made.style), found
    assert found.decided_by
    assert "\n" not in found.decided_by


def test_all_ways_to_merge_of_the_oddity_are_told_apart(tmp_path: Path, cache: Path) -> None:
    built = oddity("14-ways-to-merge", tmp_path / "oddity")
    styles = {2: Landing.SQUASH, 3: Landing.REBASE, 6: Landing.DIRECT, 8: Landing.SQUASH}
    pulls = json.loads((built.folder / "prs.json").read_text(encoding="utf-8"))

    with open_source(str(built.folder / "repo"), cache) as repository:
        for said in pulls:
            number = said["number"]
            found = landed(repository, oddity_pull_facts(built.folder / "repo", said, {}))
            assert isinstance(found, Pins), (number, found)
            wanted = (built.facts[f"PR{number}_BASE"], built.facts[f"PR{number}_HEAD"])
            assert (found.base, found.head) == wanted, (number, found)
            assert found.landing == styles.get(number, Landing.MERGE), (number, found)
    assert len(pulls) == 8


def test_a_merge_inside_another_merge_is_the_pull_requests_own(repo: RepoBuilder, cache: Path) -> None:
    two_commits(repo)
    own, head = own_commits(repo), repo.git("rev-parse", "topic")
    repo.switch("rollup", at="main")
    base = repo.commit("Another", {"another.py": "x\n"})
    inner = repo.merge("topic", message=f"Rollup merge of #{NUMBER}")
    repo.commit("And another", {"third.py": "x\n"})
    repo.switch("main")
    outer = repo.merge("rollup", message="Auto merge of #99")

    found = decided(repo, cache, pull_facts(repo.path, head=head, merge_commit=outer, commits=own))

    assert pins_of(found) == (base, inner, Landing.MERGE)


def test_a_merge_that_continues_the_head_is_its_landing_unless_it_is_another_pull_requests(
    repo: RepoBuilder, cache: Path
) -> None:
    two_commits(repo)
    own, head = own_commits(repo), repo.git("rev-parse", "topic")
    base = repo.git("rev-parse", "main")
    repo.switch("more", at="topic")
    repo.commit("A last touch", {"new.py": "touched\n"})
    repo.switch("main")
    merged = repo.merge("more", message="Merge topic with a last touch")
    facts = pull_facts(repo.path, head=head, merge_commit=merged, commits=own)
    found = decided(repo, cache, facts)
    assert pins_of(found) == (base, merged, Landing.MERGE)
    assert isinstance(found, Pins)
    assert "continues the pull request's head" in found.decided_by

    repo.git("reset", "-q", "--hard", base)
    merged = repo.merge("more", message="Merge pull request #13 from dev/more")
    other = decided(repo, cache, replace(facts, merge_commit=merged))
    assert isinstance(other, NotLanded)
    assert f"together with others (#13) in merge {merged}" in other.message


def test_an_octopus_of_several_pull_requests_is_said_to_be_one(repo: RepoBuilder, cache: Path) -> None:
    root = repo.head()
    heads = []
    for name in ("one", "two"):
        repo.switch(name, at=root)
        heads.append(repo.commit(name, {f"{name}.py": "x\n"}))
    repo.switch("main")
    merged = repo.merge("one", "two", message="Merge #12 #13")

    found = decided(repo, cache, pull_facts(repo.path, head=heads[0], merge_commit=merged, commits=heads[:1]))

    assert isinstance(found, NotLanded)
    assert "(#13)" in found.message


def test_a_pull_request_that_came_with_a_whole_branch_is_between_its_own_commits(
    repo: RepoBuilder, cache: Path
) -> None:
    repo.switch("develop", at="main")
    base = repo.commit("Of develop", {"develop.py": "x\n"})
    own = [repo.commit("Half", {"new.py": "half\n"}), repo.commit("Whole", {"new.py": "whole\n"})]
    repo.commit("Later", {"develop.py": "y\n"})
    repo.switch("main")
    merged = repo.merge("develop", message="Release")

    found = decided(repo, cache, pull_facts(repo.path, head=own[1], merge_commit=merged, commits=own))

    assert pins_of(found) == (base, own[1], Landing.DIRECT)


def test_a_list_of_commits_that_the_forge_cut_is_completed_from_git(repo: RepoBuilder, cache: Path) -> None:
    base = repo.head()
    own = [repo.commit(f"Number {place}", {"new.py": f"{place}\n"}) for place in range(5)]
    facts = pull_facts(repo.path, head=own[-1], merge_commit=own[-1], commits=own[:2])
    assert pins_of(decided(repo, cache, facts)) == (base, own[-1], Landing.DIRECT)

    nothing = decided(repo, cache, replace(facts, commits=()))
    assert isinstance(nothing, NotLanded)
    assert "which of its commits are dev/box#12's is not known" in nothing.message


def test_a_head_is_fetched_where_the_clone_has_it_not(repo: RepoBuilder, cache: Path, tmp_path: Path) -> None:
    stale(repo)
    made = by_squash(repo)
    repo.git("update-ref", f"refs/pull/{NUMBER}/head", made.facts.head_commit)
    git(tmp_path, "clone", "-q", "--bare", "--single-branch", "--branch", "main", repo.path.as_uri(), "clone.git")

    with open_source(str(tmp_path / "clone.git"), cache) as repository:
        assert repository.known(made.facts.head_commit) is None
        found = landed(repository, made.facts)

    assert pins_of(found) == (made.base, made.head, Landing.SQUASH)
    assert isinstance(found, Pins)
    assert "patch-id" in found.decided_by


def test_what_was_not_merged_has_no_pins(repo: RepoBuilder, cache: Path) -> None:
    facts = replace(pull_facts(repo.path, head=repo.head(), merge_commit=repo.head(), commits=[]), merged_at=None)
    found = decided(repo, cache, facts)
    assert isinstance(found, NotLanded)
    assert found.message == "pull request dev/box#12 was not merged"


def test_a_merge_of_a_branch_that_was_rebased_on_the_way_is_a_merge(repo: RepoBuilder, cache: Path) -> None:
    stale(repo)
    own, head = own_commits(repo), repo.git("rev-parse", "topic")
    repo.switch("rebased", at="main")
    for commit in own:
        repo.cherry_pick(commit)
    repo.switch("main")
    base = repo.head()
    merged = repo.merge("rebased", message=f"Merge pull request #{NUMBER} from dev/topic")
    facts = pull_facts(repo.path, head=head, merge_commit=merged, commits=own)

    assert pins_of(decided(repo, cache, facts)) == (base, merged, Landing.MERGE)
    assert pins_of(decided(repo, cache, replace(facts, merge_commit=None))) == (base, merged, Landing.MERGE)


def test_a_root_and_the_boundary_of_a_shallow_clone_have_no_base(
    repo: RepoBuilder, cache: Path, tmp_path: Path
) -> None:
    root = repo.git("rev-list", "--max-parents=0", "main")
    found = decided(repo, cache, pull_facts(repo.path, head="e" * 40, merge_commit=root, commits=[]))
    assert isinstance(found, NotLanded)
    assert root in found.message

    git(tmp_path, "clone", "-q", "--depth=1", repo.path.as_uri(), "shallow")
    git(tmp_path / "shallow", "remote", "remove", "origin")
    with open_source(str(tmp_path / "shallow"), cache) as repository:
        facts = pull_facts(repo.path, head="e" * 40, merge_commit=repo.head(), commits=[])
        shallow = landed(repository, facts)
    assert isinstance(shallow, NotLanded)
    assert "--unshallow" in shallow.hint
