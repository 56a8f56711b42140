"""Clones of urls in the cache, over real HTTP: without file contents first, contents in batches, whole when needed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from casewright.errors import InfrastructureError, RepositoryError
from casewright.repository import open_kept, open_source
from tests.support.forge import Forge
from tests.support.repos import RepoBuilder, git


@pytest.fixture
def built(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "box")
    repo.commit("Start", {"box.py": "0\n", "tests/test_box.py": "0\n", "big.txt": "never looked at\n" * 1000})
    for number in range(1, 6):
        repo.commit(f"Change {number}", {"box.py": f"{number}\n", "tests/test_box.py": f"{number}\n"})
    return repo


@pytest.fixture
def forge(tmp_path: Path, built: RepoBuilder) -> Iterator[Forge]:
    with Forge(tmp_path / "forge") as server:
        server.repository("o", "box", built.path)
        yield server


def _clones(cache: Path) -> list[Path]:
    return sorted((cache / "clones").iterdir())


def _lacks(clone: Path, revision: str) -> bool:
    return git(clone, "rev-list", "--objects", "--missing=print", revision).count(b"\n?") > 0


def test_a_url_is_cloned_without_contents_and_those_of_many_changes_come_in_one_go(
    tmp_path: Path, forge: Forge, built: RepoBuilder
) -> None:
    cache = tmp_path / "cache"
    with open_source(forge.clone_url("o/box"), cache) as repository:
        clone = _clones(cache)[0]
        assert repository.owes_contents()
        assert _lacks(clone, "HEAD")
        heads = [repository.resolve(f"HEAD~{back}") for back in range(4)]
        before = forge.calls("git-upload-pack", method="POST")
        repository.bring_contents((repository.commit(head).parents[0], head) for head in heads)
        assert forge.calls("git-upload-pack", method="POST") == before + 1
        patches = [repository.diff_patch(repository.commit(head).parents[0], head, [b"box.py"]) for head in heads]
        assert all(b"+" in patch for patch in patches)
        assert forge.calls("git-upload-pack", method="POST") == before + 1

    # The next run finds them in the cached clone.
    with open_source(forge.clone_url("o/box"), cache) as repository:
        before = forge.calls("git-upload-pack", method="POST")
        assert repository.diff_patch(f"{heads[0]}~1", heads[0], [b"box.py"]) == patches[0]
        assert forge.calls("git-upload-pack", method="POST") == before
    assert _clones(cache) == [clone]


def test_a_strangers_clone_is_made_from_one_whole_clone_that_is_fetched_once(
    tmp_path: Path, forge: Forge, built: RepoBuilder
) -> None:
    cache, url = tmp_path / "cache", forge.clone_url("o/box")
    with open_source(url, cache) as repository:
        repository.plain_clone(tmp_path / "first", url)
        asked = forge.calls("git-upload-pack", method="POST")
        repository.plain_clone(tmp_path / "second", url)
        assert forge.calls("git-upload-pack", method="POST") == asked

    for folder in ("first", "second"):
        assert git(tmp_path / folder, "rev-parse", "HEAD").decode().strip() == built.head()
        assert git(tmp_path / folder, "config", "remote.origin.url").decode().strip() == url
        assert not _lacks(tmp_path / folder, "HEAD")
    # A whole clone serves later runs, since there is one.
    with open_source(url, cache) as repository:
        assert not repository.owes_contents()


def test_a_server_that_can_not_filter_gives_a_whole_clone(tmp_path: Path, forge: Forge, built: RepoBuilder) -> None:
    served = tmp_path / "served.git"
    git(tmp_path, "clone", "-q", "--bare", built.path.as_uri(), str(served))
    hosted = forge.repository("o", "old", served)
    git(hosted.folder, "config", "uploadpack.allowFilter", "false")
    with open_source(forge.clone_url("o/old"), tmp_path / "cache") as repository:
        assert not repository.owes_contents()
        assert not _lacks(_clones(tmp_path / "cache")[0], "HEAD")


def test_user_info_of_a_url_reaches_the_server_and_no_file(tmp_path: Path, forge: Forge, built: RepoBuilder) -> None:
    cache = tmp_path / "cache"
    url = forge.clone_url("o/box").replace("://", "://user:secret-of-mine@")
    for _ in range(2):
        with open_source(url, cache) as repository:
            repository.diff_patch("HEAD~1", "HEAD", [b"box.py"])
            assert "secret" not in repository.remote_url + repository.source
    kept = [path for path in cache.rglob("*") if path.is_file() and b"secret-of-mine" in path.read_bytes()]
    assert kept == []


def test_what_the_url_has_gained_is_there_the_next_time(tmp_path: Path, forge: Forge, built: RepoBuilder) -> None:
    cache, url = tmp_path / "cache", forge.clone_url("o/box")
    with open_source(url, cache) as repository:
        first = repository.resolve("HEAD")
    later = built.commit("Later", {"later.py": "x\n"})
    forge.refresh("o/box")
    with open_source(url, cache) as repository:
        assert repository.resolve("HEAD") == later
        assert repository.owes_contents()
        assert b"later.py" in repository.diff_patch(first, later, [b"later.py"])


def test_a_ref_of_its_own_comes_whole_into_a_clone_without_contents(
    tmp_path: Path, forge: Forge, built: RepoBuilder
) -> None:
    built.switch("topic", at="HEAD~1")
    # A change to a file that both sides have is sent as the difference to it, unless the server is told nothing.
    head = built.commit("Look at it", {"big.txt": "never looked at\n" * 999 + "looked at\n"})
    built.switch("main")
    forge.refresh("o/box", branches=["main"])
    forge.pull("o/box", number=7, title="Look", head_sha=head, base_sha=built.git("rev-parse", "main"))
    with open_source(forge.clone_url("o/box"), tmp_path / "cache") as repository:
        assert repository.owes_contents()
        assert repository.known(head) is None
        assert repository.fetch_ref("refs/pull/7/head") == head
        assert repository.fetch_ref("refs/pull/8/head") is None
        assert not repository.reachable_in_plain_clone(head)
        assert b"+looked at" in repository.diff_patch(f"{head}~1", head, [b"big.txt"])


def test_a_ref_that_can_not_be_asked_for_is_no_missing_ref(tmp_path: Path, forge: Forge) -> None:
    with open_source(forge.clone_url("o/box"), tmp_path / "cache") as repository:
        forge.stop()
        with pytest.raises(InfrastructureError, match=r"refs/pull/7/head of .* can't be fetched"):
            repository.fetch_ref("refs/pull/7/head")
        forge.start()


def test_a_kept_clone_is_opened_as_it_is_and_asks_nobody(tmp_path: Path, forge: Forge, built: RepoBuilder) -> None:
    url, cache = forge.clone_url("o/box"), tmp_path / "cache"
    assert open_kept(url, cache) is None
    head = built.head()
    with open_source(url, cache) as repository:
        patch = repository.diff_patch("HEAD~1", "HEAD", [b"box.py"])
        clone = _clones(cache)[0]
    built.commit("Later", {"box.py": "later\n"})
    forge.forget_requests()

    kept = open_kept(url, cache)
    assert kept is not None
    with kept:
        assert kept.resolve("main") == head
        assert kept.remote_url == url
        assert kept.diff_patch("HEAD~1", "HEAD", [b"box.py"]) == patch
        with pytest.raises(RepositoryError, match=r"^2 of its files are not at hand on this machine"):
            kept.diff_patch("HEAD~3", "HEAD~2", [b"box.py"])
        with pytest.raises(RepositoryError, match=r"^1 of its files is not at hand on this machine"):
            kept.tree("HEAD~5").read(b"big.txt")
    assert forge.requests == ()
    assert _clones(cache) == [clone]
    assert _lacks(clone, "HEAD")


def test_of_two_kept_clones_the_whole_one_is_opened(tmp_path: Path, forge: Forge) -> None:
    url, cache = forge.clone_url("o/box"), tmp_path / "cache"
    with open_source(url, cache) as repository:
        repository.plain_clone(tmp_path / "theirs", url)
    assert len(_clones(cache)) == 2
    forge.stop()
    kept = open_kept(url, cache)
    assert kept is not None
    with kept:
        assert not kept.owes_contents()
        assert kept.tree("HEAD~5").read(b"big.txt") == b"never looked at\n" * 1000
    forge.start()
