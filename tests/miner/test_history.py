"""The walk of a history: which commits are changes, against what, in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from casewright.errors import UsageError
from casewright.git_log import LAST_SECOND
from casewright.repository import open_source
from miner.change import Change, FileChange, Landing
from miner.history import Stretch, change_between, change_of, walk
from tests.support.repos import RepoBuilder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    return RepoBuilder(tmp_path / "repo")


def _walked(repo: RepoBuilder, cache: Path, stretch: Stretch | None = None) -> list[Change]:
    with open_source(str(repo.path), cache) as repository:
        return list(walk(repository, stretch or Stretch()))


def test_the_first_parent_line_is_walked_newest_first_and_a_merge_is_one_change(repo: RepoBuilder, cache: Path) -> None:
    root = repo.commit("Root", {"a": "0\n"})
    repo.switch("topic", at="main")
    repo.commit("Half", {"b": "1\n"})
    topic = repo.commit("Whole", {"b": "2\n", "c": "1\n"})
    repo.switch("main")
    direct = repo.commit("Direct", {"a": "1\n"})
    merged = repo.merge("topic", message="Merge topic")

    changes = _walked(repo, cache)

    assert [(change.head, change.base, change.landing) for change in changes] == [
        (merged, direct, Landing.MERGE),
        (direct, root, Landing.DIRECT),
    ]
    assert changes[0].paths == (b"b", b"c")
    assert changes[0].parents == (direct, topic)
    assert changes[1].subject == b"Direct"


def test_all_commits_are_every_reachable_one_that_is_no_merge(repo: RepoBuilder, cache: Path) -> None:
    repo.commit("Root", {"a": "0\n"})
    repo.switch("topic", at="main")
    half = repo.commit("Half", {"b": "1\n"})
    repo.switch("main")
    direct = repo.commit("Direct", {"a": "1\n"})
    repo.merge("topic")

    assert {change.head for change in _walked(repo, cache, Stretch(all_commits=True))} == {half, direct}


def test_an_octopus_is_compared_with_its_first_parent(repo: RepoBuilder, cache: Path) -> None:
    root = repo.commit("Root", {"a": "0\n"})
    for name in ("one", "two"):
        repo.switch(name, at=root)
        repo.commit(name, {f"{name}.py": "x\n"})
    repo.switch("main")
    octopus = repo.merge("one", "two")

    (change,) = _walked(repo, cache)

    assert (change.head, change.base, len(change.parents)) == (octopus, root, 3)
    assert change.paths == (b"one.py", b"two.py")


def test_empty_commits_and_merges_that_keep_ours_are_changes_without_files(repo: RepoBuilder, cache: Path) -> None:
    root = repo.commit("Root", {"a": "0\n"})
    repo.switch("old", at=root)
    repo.commit("Old", {"b": "1\n"})
    repo.switch("main")
    empty = repo.commit("Empty")
    ours = repo.merge("old", strategy="ours")
    last = repo.commit("Last", {"c": "1\n"})

    changes = _walked(repo, cache)

    assert [(change.head, change.entries == ()) for change in changes] == [(last, False), (ours, True), (empty, True)]


def test_every_root_is_left_out(repo: RepoBuilder, cache: Path) -> None:
    repo.commit("Root", {"a": "0\n"})
    repo.git("checkout", "-q", "--orphan", "other")
    repo.git("rm", "-q", "-rf", ".")
    other = repo.commit("Another root", {"b": "0\n"})
    repo.switch("main")
    repo.git("merge", "-q", "--allow-unrelated-histories", "-m", "Join", "other")

    assert [change.subject for change in _walked(repo, cache)] == [b"Join"]
    assert _walked(repo, cache, Stretch(all_commits=True)) == []
    with open_source(str(repo.path), cache) as repository, pytest.raises(UsageError, match="has no parent"):
        change_of(repository, other)


def test_ranges_dates_and_paths_choose(repo: RepoBuilder, cache: Path) -> None:
    repo.commit("Root", {"a": "0\n"}, time=1000)
    one = repo.commit("One", {"a": "1\n"}, time=2000)
    two = repo.commit("Two", {"b/c": "1\n", "d": "1\n"}, time=3000)
    three = repo.commit("Three", {"a": "2\n"}, time=4000)

    def heads(stretch: Stretch) -> list[str]:
        return [change.head for change in _walked(repo, cache, stretch)]

    assert heads(Stretch(commit_range=f"{one}..main")) == [three, two]
    assert heads(Stretch(commit_range=f"{one}..")) == [three, two]
    assert heads(Stretch(since=3000)) == [three, two]
    assert heads(Stretch(since=2000, until=3000)) == [two, one]
    assert heads(Stretch(paths=(b"b",))) == [two]
    assert _walked(repo, cache, Stretch(paths=(b"b",)))[0].paths == (b"b/c", b"d")
    assert heads(Stretch(branch=two)) == [two, one]


def test_unknown_ends_are_named(repo: RepoBuilder, cache: Path) -> None:
    repo.commit("Root", {"a": "0\n"})

    for stretch, named in (
        (Stretch(branch="nowhere"), "'nowhere'"),
        (Stretch(commit_range="gone..main"), "'gone'"),
        (Stretch(commit_range="main..lost"), "'lost'"),
        (Stretch(commit_range="main"), "no range"),
        (Stretch(commit_range="a...b"), "no range"),
    ):
        with pytest.raises(UsageError, match=named):
            _walked(repo, cache, stretch)


def test_clocks_gone_wrong_do_not_end_a_walk(repo: RepoBuilder, cache: Path) -> None:
    parent = repo.commit("Root", {"a": "0\n"})
    tree = repo.tree()
    heads = []
    for date in ("-100 +0000", "0 +0000", "99999999999999999999 +0000", "word +0000", "1600000000 +9999"):
        text = f"tree {tree}\nparent {parent}\nauthor D <d@e> {date}\ncommitter D <d@e> {date}\n\nSay {date}\n"
        parent = repo.git("hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=text.encode())
        heads.append(parent)
    repo.git("reset", "-q", "--hard", parent)

    changes = _walked(repo, cache)

    assert [change.head for change in changes] == heads[::-1]
    assert [change.committer_time for change in changes] == [1_600_000_000, 0, LAST_SECOND, 0, 0]
    with open_source(str(repo.path), cache) as repository:
        assert repository.commit(heads[2]).committer_time == LAST_SECOND


def test_subjects_and_paths_hold_anything_but_nul(repo: RepoBuilder, cache: Path) -> None:
    repo.commit("Root", {"a": "0\n"})
    odd = (b"\nnew\nline", b":100644 100644 x", b"caf\xe9", b"tab\there", "é".encode(), b" lead")
    repo.commit("\x01:100644 not a raw line\n\nbody", dict.fromkeys(odd, "x\n"))

    (change,) = _walked(repo, cache)

    assert change.subject == b"\x01:100644 not a raw line"
    assert change.paths == tuple(sorted(odd))


def test_a_file_is_told_with_modes_ids_and_status(repo: RepoBuilder, cache: Path) -> None:
    repo.commit("Root", {"gone": "x\n", "kept": "1\n"})
    repo.commit("Change", {"gone": None, "kept": "2\n"})

    (change,) = _walked(repo, cache)

    assert [(file.path, file.old_mode, file.new_mode, file.status) for file in change.files] == [
        (b"gone", "100644", "000000", "D"),
        (b"kept", "100644", "100644", "M"),
    ]
    assert isinstance(change.files[0], FileChange)
    assert change.files[1].new_id == repo.git("rev-parse", "HEAD:kept")


def test_a_pull_request_of_several_commits_is_one_change(repo: RepoBuilder, cache: Path) -> None:
    base = repo.commit("Root", {"a": "0\n"})
    repo.commit("One", {"a": "1\n"})
    head = repo.commit("Two\nlines\n\nbody", {"b": "1\n"})

    with open_source(str(repo.path), cache) as repository:
        change = change_between(repository, base, head, Landing.REBASE, "patch-ids")
        single = change_of(repository, "HEAD")

    assert change.paths == (b"a", b"b")
    assert change.subject == b"Two lines"
    assert single.paths == (b"b",)
    assert single.landing is Landing.DIRECT
