"""Whether two differences are one change: by lines, by overlap, by what a merge would give."""

from __future__ import annotations

from pathlib import Path

import pytest

from casewright.repository import open_source
from miner.same_change import Overlap, merge_gives, overlap, same_lines
from tests.support.repos import Executable, RepoBuilder, Symlink

TEXT = "".join(f"line {number}\n" for number in range(20))


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "repo")
    repo.commit("Root", {"a.txt": TEXT, "b.txt": TEXT, "pic": b"\0\1", "link": "link\n"})
    return repo


def _commit(repo: RepoBuilder, files: dict[str | bytes, str | bytes | Executable | Symlink | None], at: str) -> str:
    repo.git("checkout", "-q", "--detach", at)
    return repo.commit("Change", files)


def test_lines_are_compared_without_what_stands_around_them(repo: RepoBuilder, tmp_path: Path) -> None:
    root = repo.head()
    near = TEXT.replace("line 8\n", "near\n")
    moved = _commit(repo, {"a.txt": near}, root)
    one = _commit(repo, {"a.txt": TEXT.replace("line 10\n", "new\n")}, root)
    same = _commit(repo, {"a.txt": near.replace("line 10\n", "new\n")}, moved)
    other = _commit(repo, {"a.txt": TEXT.replace("line 10\n", "newer\n")}, root)
    elsewhere = _commit(repo, {"b.txt": TEXT.replace("line 10\n", "new\n")}, root)

    with open_source(str(repo.path), tmp_path / "cache") as repository:
        assert repository.patch_id(root, one) != repository.patch_id(moved, same)
        assert same_lines(repository, (root, one), (moved, same))
        assert not same_lines(repository, (root, one), (root, other))
        assert not same_lines(repository, (root, one), (root, elsewhere))
        assert not same_lines(repository, (one, root), (root, one))
        assert not same_lines(repository, (root, root), (one, one))


def test_contents_that_are_no_lines_count_whole_and_modes_count(repo: RepoBuilder, tmp_path: Path) -> None:
    root = repo.head()
    picture, another = _commit(repo, {"pic": b"\0\2"}, root), _commit(repo, {"pic": b"\0\3"}, root)
    run, read = _commit(repo, {"a.txt": Executable(TEXT.encode())}, root), _commit(repo, {"a.txt": None}, root)
    changed = _commit(repo, {"a.txt": Executable(b"x\n")}, root)
    plain = _commit(repo, {"a.txt": "x\n"}, root)
    link, file = _commit(repo, {"link": Symlink("a.txt")}, root), _commit(repo, {"link": "a.txt"}, root)
    beside = _commit(repo, {"b.txt": "x\n"}, root)
    again = _commit(repo, {"pic": b"\0\2"}, beside)

    with open_source(str(repo.path), tmp_path / "cache") as repository:
        assert same_lines(repository, (root, picture), (beside, again))
        for first, second in ((picture, another), (run, read), (run, changed), (changed, plain), (link, file)):
            assert not same_lines(repository, (root, first), (root, second))
            assert same_lines(repository, (root, first), (root, first))


def test_shared_lines_are_counted_with_their_files(repo: RepoBuilder, tmp_path: Path) -> None:
    root = repo.head()
    one = _commit(repo, {"new.txt": "x\nx\ny\n"}, root)
    other = _commit(repo, {"new.txt": "x\ny\nz\n", "else.txt": "x\n"}, root)

    with open_source(str(repo.path), tmp_path / "cache") as repository:
        found = overlap(repository, (root, one), (root, other))
    assert found == Overlap(shared=2, first=3, second=4)
    assert not found.mostly
    assert Overlap(shared=3, first=3, second=4).mostly


def test_a_merge_by_files_gives_what_git_gives(repo: RepoBuilder, tmp_path: Path) -> None:
    fork = repo.head()
    theirs = _commit(repo, {"a.txt": TEXT.replace("line 2\n", "their\n"), "new.txt": "x\n", "pic": None}, fork)
    ours = _commit(repo, {"a.txt": TEXT.replace("line 15\n", "our\n"), "pic": None, "our.txt": "x\n"}, fork)
    both = TEXT.replace("line 2\n", "their\n").replace("line 15\n", "our\n")
    result = _commit(repo, {"a.txt": both, "new.txt": "x\n"}, ours)
    wrong = [
        _commit(repo, {"a.txt": both}, ours),
        _commit(repo, {"a.txt": both, "new.txt": "y\n"}, ours),
        _commit(repo, {"a.txt": both + "more\n", "new.txt": "x\n"}, ours),
        _commit(repo, {"a.txt": both, "new.txt": "x\n", "b.txt": "more\n"}, ours),
        _commit(repo, {"a.txt": both, "new.txt": "x\n", "pic": b"\0\1"}, ours),
        _commit(repo, {}, ours),
    ]

    with open_source(str(repo.path), tmp_path / "cache") as repository:
        assert merge_gives(repository, fork, ours, theirs, result)
        assert merge_gives(repository, fork, fork, theirs, theirs)
        for commit in wrong:
            assert not merge_gives(repository, fork, ours, theirs, commit)
