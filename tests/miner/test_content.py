"""The content screens on real repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from casewright.repository import Repository, open_source
from miner.change import Change, Landing
from miner.content import ContentScreens, Finding, PastChanges, past_around, texts_of
from miner.history import change_between, change_of
from miner.parts import split
from miner.path_rules import PathRules
from miner.reasons import Reason
from miner.screen import SizeLimits
from tests.support.repos import Entry, RepoBuilder

FIX: dict[str | bytes, Entry] = {"box.py": "def area(a, b):\n    return a * b\n", "tests/test_box.py": "two\n"}
SAY = "Multiply the two sides"


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "repo")
    repo.commit("Start", {"box.py": "def area(a, b):\n    return a + b\n", "tests/test_box.py": "one\n"})
    return repo


def _judged(repository: Repository, change: Change, *, all_commits: bool = False, lines: int = 5000) -> Finding:
    past = PastChanges(repository, "HEAD", all_commits=all_commits)
    screens = ContentScreens(repository, past, SizeLimits(lines=lines))
    return screens.first_reason(change, split(change.entries, PathRules()), texts_of(repository, change))


def _finding(repo: RepoBuilder, cache: Path, revision: str = "HEAD", *, all_commits: bool = False) -> Finding:
    with open_source(str(repo.path), cache) as repository:
        return _judged(repository, change_of(repository, revision), all_commits=all_commits)


def test_an_ordinary_change_passes(repo: RepoBuilder, cache: Path) -> None:
    repo.commit(SAY, FIX)

    assert _finding(repo, cache) == Finding()


def test_what_is_undone_and_done_again_is_told_by_what_came_first(repo: RepoBuilder, cache: Path) -> None:
    fix = repo.commit(SAY, FIX)
    undone = repo.revert(fix)
    repo.commit("Something else between them", {"other.py": "x\n", "tests/test_other.py": "x\n"})
    again = repo.revert(undone)
    picked = repo.revert(again)

    assert _finding(repo, cache, fix) == Finding()
    assert _finding(repo, cache, undone).reason is Reason.REVERT
    assert fix in _finding(repo, cache, undone).detail
    assert _finding(repo, cache, again) == Finding(reason=Reason.DUPLICATE_CHANGE, detail=f"repeats {fix} ({SAY})")
    assert _finding(repo, cache, picked).reason is Reason.REVERT


def test_an_added_file_that_is_removed_again_is_a_revert(repo: RepoBuilder, cache: Path) -> None:
    added = repo.commit("Add a thing with its test", {"new.py": "x\n", "tests/test_new.py": "x\n", "box.py": "b\n"})
    repo.commit("Unrelated words in the readme", {"README.md": "x\n"})
    repo.revert(added)

    assert _finding(repo, cache).reason is Reason.REVERT


def test_a_change_of_mode_alone_is_told_from_its_reverse(repo: RepoBuilder, cache: Path) -> None:
    for number, mode in enumerate(("+x", "-x", "+x")):
        repo.git("update-index", f"--chmod={mode}", "box.py")
        repo.git("update-index", f"--chmod={mode}", "tests/test_box.py")
        repo.git("commit", "-q", "-m", f"Set the mode of two files {number}")

    assert _finding(repo, cache, "HEAD~2") == Finding()
    assert _finding(repo, cache, "HEAD~1").reason is Reason.REVERT
    assert _finding(repo, cache, "HEAD").reason is Reason.DUPLICATE_CHANGE


def test_equal_files_with_other_content_are_no_repetition(repo: RepoBuilder, cache: Path) -> None:
    repo.commit(SAY, FIX)
    repo.commit("Divide instead of that", {"box.py": "def area(a, b):\n    return a / b\n", "tests/test_box.py": "3\n"})

    assert _finding(repo, cache) == Finding()


def test_binary_files_that_differ_are_no_repetition(repo: RepoBuilder, cache: Path) -> None:
    for content in (b"\0one", b"\0two", b"\0three"):
        repo.commit("Draw the picture anew", {"box.png": content, "tests/test_pic.bin": content})

    assert _finding(repo, cache) == Finding()


def test_a_merge_of_one_commit_stands_on_its_line_and_repeats_it_among_all_commits(
    repo: RepoBuilder, cache: Path
) -> None:
    repo.switch("topic", at="main")
    repo.commit(SAY, FIX)
    repo.switch("main")
    repo.commit("Unrelated words in the readme", {"README.md": "x\n"})
    merge = repo.merge("topic", message="Merge topic")

    assert _finding(repo, cache, merge) == Finding()
    assert _finding(repo, cache, merge, all_commits=True).reason is Reason.DUPLICATE_CHANGE


def test_a_pick_onto_a_side_branch_repeats_the_main_line(repo: RepoBuilder, cache: Path) -> None:
    root = repo.head()
    fix = repo.commit(SAY, FIX)
    repo.switch("stable", at=root)
    picked = repo.cherry_pick(fix)
    repo.switch("main")

    assert _finding(repo, cache, picked).reason is Reason.DUPLICATE_CHANGE
    assert _finding(repo, cache, fix) == Finding()


def test_a_named_change_is_compared_with_the_line_or_with_every_commit(repo: RepoBuilder, cache: Path) -> None:
    root = repo.head()
    fix = repo.commit(SAY, FIX)
    repo.switch("stable", at=root)
    picked = repo.cherry_pick(fix)
    repo.switch("main")
    repo.merge("stable", strategy="ours")
    repo.switch("topic", at="main")
    single = repo.commit("Add one thing more", {"more.py": "x\n", "tests/test_more.py": "x\n"})
    repo.switch("main")
    merge = repo.merge("topic")

    with open_source(str(repo.path), cache) as repository:
        found = {
            revision: past_around(repository, change, "HEAD").relative(change).reason
            for revision in (fix, picked, single, merge)
            for change in (change_of(repository, revision),)
        }

    assert found == {fix: None, picked: Reason.DUPLICATE_CHANGE, single: None, merge: None}


def test_too_many_lines_of_the_rest_part_are_refused(repo: RepoBuilder, cache: Path) -> None:
    repo.commit(SAY, {**FIX, "tests/test_long.py": "x\n" * 50, "long.py": "y\n" * 9})
    with open_source(str(repo.path), cache) as repository:
        change = change_of(repository, "HEAD")
        refused = _judged(repository, change, lines=10)
        passed = _judged(repository, change, lines=11)

    assert refused == Finding(reason=Reason.TOO_LARGE, detail="the rest part changes 11 lines")
    assert passed == Finding()


@pytest.mark.parametrize("before", [True, False])
def test_a_pointer_to_large_storage_is_refused_on_either_side(repo: RepoBuilder, cache: Path, before: bool) -> None:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12345\n"
    repo.commit("First", {"tests/model.bin": pointer if before else "whole\n"})
    repo.commit(SAY, {**FIX, "tests/model.bin": "whole now\n" if before else pointer})

    assert _finding(repo, cache) == Finding(reason=Reason.LFS_POINTER, detail="tests/model.bin is a Git LFS pointer")


def test_pins_that_no_branch_leads_to_are_refused(repo: RepoBuilder, cache: Path) -> None:
    repo.switch("gone", at="main")
    hidden = repo.commit(SAY, FIX)
    repo.git("update-ref", "refs/pull/1/head", hidden)
    repo.switch("main")
    repo.git("branch", "-q", "-D", "gone")

    finding = _finding(repo, cache, hidden)

    assert finding.reason is Reason.PINS_NOT_IN_PLAIN_CLONE
    assert hidden in finding.detail


def test_a_change_that_says_nothing_is_refused_unless_its_commits_say_it(repo: RepoBuilder, cache: Path) -> None:
    base = repo.head()
    repo.switch("topic", at="main")
    repo.commit("Multiply the sides", FIX)
    repo.switch("main")
    merge = repo.merge("topic", message="Merge #1")
    head = repo.commit("fix", {"box.py": "z\n", "tests/test_box.py": "z\n"})

    assert _finding(repo, cache, head) == Finding(reason=Reason.NOT_STATABLE, detail="all that is said: 'fix'")
    with open_source(str(repo.path), cache) as repository:
        assert texts_of(repository, change_of(repository, merge)) == ("Multiply the sides", "Merge #1\n")
        whole = change_between(repository, base, head, Landing.REBASE, "by hand")
        assert len(texts_of(repository, whole)) == 3


def test_odd_entries_make_the_round_trip(repo: RepoBuilder, cache: Path) -> None:
    repo.commit("Set up an odd tree", {"place": "file\n", b"caf\xe9": "1\n", "crlf.txt": b"a\r\nb\n", "b.bin": b"\0a"})
    repo.commit(
        SAY,
        {**FIX, "place": None, "place/in": "x", b"caf\xe9": None, "crlf.txt": b"a\nb\r\n", "b.bin": b"\0b", "e": ""},
    )

    assert _finding(repo, cache) == Finding()
