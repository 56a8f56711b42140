"""The git door on real repositories: what is opened, what is read, and that the source is left alone."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from casewright.errors import InfrastructureError, RepositoryError, SourceError, UsageError
from casewright.git_source import is_url, public_url, repository_name
from casewright.git_tree import TreeEntry
from casewright.repository import Repository, open_source
from tests.support.repos import Executable, RepoBuilder, Submodule, Symlink, git

TOUCHED = (b"a.py", b"box.py", b"tests/test_box.py", b"place", b"place/inside")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def built(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "box")
    repo.commit("Start", {"box.py": "def area(a, b):\n    return a + b\n", "tests/test_box.py": "one\n"})
    repo.commit("Multiply, do not add", {"box.py": "def area(a, b):\n    return a * b\n", "tests/test_box.py": "two\n"})
    return repo


@pytest.fixture
def opened(built: RepoBuilder, cache: Path) -> Iterator[Repository]:
    with open_source(str(built.path), cache) as repository:
        yield repository


def _fingerprint(folder: Path) -> str:
    digest = hashlib.sha256()
    for place in sorted(folder.rglob("*")):
        digest.update(os.fsencode(place) + b"\0" + str(place.lstat().st_mtime_ns).encode())
        if place.is_file():
            digest.update(place.read_bytes())
    return digest.hexdigest()


def test_the_builder_gives_the_same_ids_every_time(tmp_path: Path) -> None:
    first, second = (RepoBuilder(tmp_path / name).commit("Start", {"a.txt": "a\n"}) for name in ("one", "two"))

    assert first == second


def test_a_commit_is_read_with_its_tree_and_its_blobs(built: RepoBuilder, opened: Repository) -> None:
    head = opened.resolve("HEAD")
    commit = opened.commit(head)
    tree = opened.tree(head)

    assert head == built.head()
    assert commit.parents == (built.git("rev-parse", "HEAD~1"),)
    assert commit.message == b"Multiply, do not add"
    assert commit.committer_time - opened.commit(commit.parents[0]).committer_time == 3600
    assert tree.paths == {b"box.py", b"tests/test_box.py"}
    assert tree.read(b"tests/test_box.py") == b"two\n"
    assert tree.read(b"tests") is None
    assert tree.read(b"nothing") is None


def test_every_spelling_of_a_local_repository_is_opened(tmp_path: Path, built: RepoBuilder, cache: Path) -> None:
    built.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"), "HEAD~1")
    git(tmp_path, "clone", "-q", "--bare", str(built.path), "bare.git")
    git(tmp_path, "clone", "-q", "--shared", str(built.path), "borrower")
    places = {
        str(built.path): "HEAD",
        str(tmp_path / "linked"): "HEAD~1",
        str(tmp_path / "bare.git"): "HEAD",
        str(tmp_path / "borrower"): "HEAD",
        (tmp_path / "bare.git").as_uri(): "HEAD",
    }

    for source, revision in places.items():
        with open_source(source, cache) as repository:
            assert repository.resolve("HEAD") == built.git("rev-parse", revision), source
            assert repository.tree("HEAD").read(b"box.py"), source


def test_what_is_no_repository_is_said_clearly(tmp_path: Path, built: RepoBuilder, cache: Path) -> None:
    (tmp_path / "plain").mkdir()
    RepoBuilder(tmp_path / "empty")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / ".git").write_text("gitdir: /nowhere\n")

    with pytest.raises(SourceError, match="does not exist"):
        open_source(str(tmp_path / "missing"), cache)
    with pytest.raises(SourceError, match="not a git repository"):
        open_source(str(tmp_path / "plain"), cache)
    with pytest.raises(SourceError, match="empty repository"):
        open_source(str(tmp_path / "empty"), cache)
    with pytest.raises(SourceError, match="does not lead to a repository"):
        open_source(str(tmp_path / "broken"), cache)
    with pytest.raises(SourceError, match=f"its repository is {built.path}"):
        open_source(str(built.path / "tests"), cache)


def test_a_head_without_commits_names_the_branches_there_are(built: RepoBuilder, cache: Path) -> None:
    built.git("symbolic-ref", "HEAD", "refs/heads/nothing-yet")

    with open_source(str(built.path), cache) as repository:
        assert repository.resolve("main")
        with pytest.raises(SourceError, match="leads to no commit; choose a branch; there are: main"):
            repository.resolve("HEAD")


def test_unknown_names_are_usage_errors(opened: Repository) -> None:
    with pytest.raises(UsageError, match="'nowhere' names no commit"):
        opened.resolve("nowhere")
    with pytest.raises(UsageError, match="--upload-pack=x"):
        opened.resolve("--upload-pack=x")
    with pytest.raises(UsageError, match="'gone' names no commit"):
        list(opened.walk("HEAD", exclude=("gone",)))


def test_a_branch_of_the_remote_is_known_by_its_bare_name(tmp_path: Path, built: RepoBuilder, cache: Path) -> None:
    built.switch("topic", at="main")
    topic = built.commit("On the topic", {"topic.py": "x\n"})
    built.switch("main")
    git(tmp_path, "clone", "-q", str(built.path), "clone")

    with open_source(str(tmp_path / "clone"), cache) as repository:
        assert repository.resolve("topic") == topic
        assert not repository.reachable_in_plain_clone(topic)


def test_the_source_is_never_written(built: RepoBuilder, cache: Path, tmp_path: Path) -> None:
    before = _fingerprint(built.path)
    with open_source(str(built.path), cache) as repository:
        head, base = repository.resolve("HEAD"), repository.resolve("HEAD~1")
        patch = repository.diff_patch(base, head, [b"box.py"])
        repository.tree_after(base, [patch], TOUCHED)
        repository.export(base, tmp_path / "tree")
        repository.apply(patch, tmp_path / "tree")
        repository.plain_clone(tmp_path / "clone", "https://example.invalid/box")
        repository.patch_id(base, head)

    assert _fingerprint(built.path) == before
    assert list((cache / "staging").iterdir()) == []


def test_replace_refs_and_grafts_show_nothing_false(built: RepoBuilder, cache: Path) -> None:
    head, base = built.head(), built.git("rev-parse", "HEAD~1")
    built.git("replace", head, base)
    (built.path / ".git/info").mkdir(exist_ok=True)
    (built.path / ".git/info/grafts").write_text(f"{head}\n")

    with open_source(str(built.path), cache) as repository:
        assert repository.commit("HEAD").parents == (base,)
        assert repository.tree("HEAD").read(b"tests/test_box.py") == b"two\n"


def test_a_repository_of_sha256_is_read_alike(tmp_path: Path, cache: Path) -> None:
    repo = RepoBuilder(tmp_path / "modern", object_format="sha256")
    base = repo.commit("Start", {"a.py": "a\n"})
    head = repo.commit("Change", {"a.py": "b\n"})

    with open_source(str(repo.path), cache) as repository:
        assert len(repository.resolve("HEAD")) == 64
        patch = repository.diff_patch(base, head, [b"a.py"])
        assert repository.tree_after(base, [patch], TOUCHED) == repo.tree()
        assert [commit.id.decode() for commit in repository.walk("HEAD")] == [head, base]
        assert repository.tree_with(base, {b"a.py": None}) == repository.empty_tree


def test_a_shallow_clone_ends_at_its_boundary_and_says_so(tmp_path: Path, built: RepoBuilder, cache: Path) -> None:
    built.commit("Third", {"third.py": "3\n"})
    git(tmp_path, "clone", "-q", "--depth", "2", built.path.as_uri(), "shallow")

    with open_source(str(tmp_path / "shallow"), cache) as repository:
        walked = list(repository.walk("HEAD"))
        assert [bool(commit.parents) for commit in walked] == [True, False]
        assert len(repository.notes) == 1
        assert "shallow clone" in repository.notes[0]
        with pytest.raises(UsageError, match="unshallow"):
            repository.resolve(built.git("rev-parse", "HEAD~2"))


def test_a_partial_clone_gets_the_blobs_it_owes_in_one_go(tmp_path: Path, built: RepoBuilder, cache: Path) -> None:
    built.git("config", "uploadpack.allowFilter", "true")
    built.git("config", "uploadpack.allowAnySHA1InWant", "true")
    git(tmp_path, "clone", "-q", "--bare", "--filter=blob:none", built.path.as_uri(), "partial.git")
    objects = tmp_path / "partial.git/objects"
    before = _fingerprint(objects)

    with open_source(str(tmp_path / "partial.git"), cache) as repository:
        head, base = repository.resolve("HEAD"), repository.resolve("HEAD~1")
        patch = repository.diff_patch(base, head, [b"box.py", b"tests/test_box.py"])
        assert repository.tree_after(base, [patch], TOUCHED) == built.tree()
        repository.export(head, tmp_path / "tree")

    assert (tmp_path / "tree/tests/test_box.py").read_text() == "two\n"
    assert _fingerprint(objects) == before


def test_a_partial_clone_without_its_remote_says_what_is_missing(
    tmp_path: Path, built: RepoBuilder, cache: Path
) -> None:
    built.git("config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--bare", "--filter=blob:none", built.path.as_uri(), "partial.git")
    built.path.rename(tmp_path / "moved")

    with (
        open_source(str(tmp_path / "partial.git"), cache) as repository,
        pytest.raises(RepositoryError, match="partial clone"),
    ):
        repository.diff_patch("HEAD~1", "HEAD", [b"box.py"])


def test_a_url_is_cloned_once_and_refreshed_later(built: RepoBuilder, cache: Path) -> None:
    url = built.path.as_uri()
    with open_source(url, cache) as repository:
        first = repository.resolve("HEAD")
    later = built.commit("Later", {"later.py": "x\n"})
    built.switch("other", at="HEAD")
    built.git("branch", "-q", "-m", "main", "trunk")
    with open_source(url, cache) as repository:
        assert repository.resolve("trunk") == later
        assert repository.name == "box"
        assert set(repository.branches()) == {"other", "trunk"}

    assert first != later
    assert len(list((cache / "clones").iterdir())) == 1


def test_a_url_that_is_gone_leaves_nothing_or_falls_back_on_the_cache(
    tmp_path: Path, built: RepoBuilder, cache: Path
) -> None:
    with pytest.raises(InfrastructureError, match="can't be cloned"):
        open_source((tmp_path / "nowhere").as_uri(), cache)
    assert list((cache / "clones").iterdir()) == []
    assert list((cache / "staging").iterdir()) == []

    url = built.path.as_uri()
    open_source(url, cache).close()
    built.path.rename(tmp_path / "moved")
    with open_source(url, cache) as repository:
        assert repository.resolve("HEAD")
        assert "the copy in the cache is used" in repository.notes[0]


def test_an_error_shows_no_password(cache: Path) -> None:
    with pytest.raises(InfrastructureError) as caught:
        open_source("https://user:p@ss@127.0.0.1:1/o/n.git", cache)

    assert "ss@" not in str(caught.value)
    assert "https://127.0.0.1:1/o/n.git" in str(caught.value)


def test_a_clone_without_trees_is_refused(tmp_path: Path, built: RepoBuilder, cache: Path) -> None:
    built.git("config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--bare", "--filter=tree:0", built.path.as_uri(), "treeless.git")

    with pytest.raises(SourceError, match="without trees"):
        open_source(str(tmp_path / "treeless.git"), cache)


def test_a_ref_that_a_clone_does_not_bring_is_fetched_when_asked_for(
    tmp_path: Path, built: RepoBuilder, cache: Path
) -> None:
    git(tmp_path, "clone", "-q", "--bare", built.path.as_uri(), "clone.git")
    hidden = built.git("commit-tree", "-m", "hidden", "HEAD^{tree}")
    built.git("update-ref", "refs/pull/1/head", hidden)

    with open_source(str(tmp_path / "clone.git"), cache) as repository:
        assert repository.fetch_ref("refs/pull/1/head") == hidden
        assert repository.fetch_ref("refs/pull/2/head") is None
        assert not repository.reachable_in_plain_clone(hidden)


def test_a_shallow_clone_stands_in_for_a_url(tmp_path: Path, built: RepoBuilder, cache: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", built.path.as_uri(), "shallow")

    with open_source(str(tmp_path / "shallow"), cache) as repository:
        repository.plain_clone(tmp_path / "clone", "https://host.example/box")

    assert git(tmp_path / "clone", "rev-parse", "HEAD").decode().strip() == built.head()


@pytest.mark.parametrize("name", ['we"ird\nname', '"quoted', "#hash", "sp ace", "caf\udce9"])
def test_a_repository_may_lie_anywhere(tmp_path: Path, cache: Path, name: str) -> None:
    repo = RepoBuilder(tmp_path / name)
    head = repo.commit("Start", {"a": "1\n"})

    for source in (str(repo.path), repo.path.as_uri()):
        with open_source(source, cache) as repository:
            assert repository.resolve("HEAD") == head
            assert repository.tree(head).read(b"a") == b"1\n"


def test_several_threads_read_one_repository(opened: Repository) -> None:
    seen: list[bytes | None] = []

    def look() -> None:
        seen.extend(opened.tree("HEAD").read(b"box.py") for _ in range(20))

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert seen == [b"def area(a, b):\n    return a * b\n"] * 80


def test_a_commit_that_may_be_missing_is_asked_for_without_an_error(built: RepoBuilder, opened: Repository) -> None:
    assert opened.known("main") == built.head()
    assert opened.known(built.head()) == built.head()
    assert opened.known("a" * 40) is None
    assert opened.known("refs/heads/gone") is None
    assert opened.known(built.tree()) is None


def test_the_first_parent_line_and_the_messages_of_all_commits_are_read(built: RepoBuilder, cache: Path) -> None:
    first, second = built.git("rev-parse", "HEAD~1"), built.head()
    built.switch("topic", at=first)
    topic = built.commit("Side .* (#7)\n\nwith a body", {"a": "1\n"})
    built.switch("main")
    merged = built.merge("topic", message="Merge (#8)\n\nof (#7)")

    with open_source(str(built.path), cache) as repository:
        assert repository.first_parents("main") == (merged, second, first)
        assert repository.first_parents(merged, 2) == (merged, second)
        assert repository.mentioning("main", "(#7)") == (merged, topic)
        assert repository.mentioning("main", ".* (") == (topic,)
        assert repository.mentioning("main", "--all") == ()


def test_describe_counts_from_the_nearest_tag(built: RepoBuilder, cache: Path) -> None:
    with open_source(str(built.path), cache) as repository:
        assert repository.describe("HEAD") == ""
    built.git("tag", "v1.0", "HEAD~1")
    with open_source(str(built.path), cache) as repository:
        assert repository.describe("HEAD") == f"v1.0-1-g{built.head()[:7]}"


def test_pins_are_reachable_by_branches_and_tags_only(built: RepoBuilder, cache: Path) -> None:
    built.switch("gone", at="main")
    tagged = built.commit("Tagged", {"a": "1\n"})
    built.git("tag", "kept")
    hidden = built.commit("Known by its pull request only", {"a": "2\n"})
    built.git("update-ref", "refs/pull/1/head", hidden)
    built.switch("main")
    built.git("branch", "-q", "-D", "gone")

    with open_source(str(built.path), cache) as repository:
        assert repository.resolve("refs/pull/1/head") == hidden
        assert repository.reachable_in_plain_clone(built.head())
        assert repository.reachable_in_plain_clone(tagged)
        assert not repository.reachable_in_plain_clone(hidden)


def test_a_plain_clone_brings_no_object_that_no_branch_leads_to(
    tmp_path: Path, built: RepoBuilder, cache: Path
) -> None:
    hidden = built.git("commit-tree", "-m", "hidden", "HEAD^{tree}")
    built.git("update-ref", "refs/pull/1/head", hidden)
    url = "https://user.example.invalid/box.git"
    with open_source(str(built.path), cache) as repository:
        repository.plain_clone(tmp_path / "clone", url)

    assert git(tmp_path / "clone", "config", "remote.origin.url").decode().strip() == url
    assert git(tmp_path / "clone", "rev-parse", "HEAD").decode().strip() == built.head()
    assert hidden not in git(tmp_path / "clone", "cat-file", "--batch-all-objects", "--batch-check").decode()


def test_an_export_is_what_a_clone_has_on_disk(tmp_path: Path, cache: Path) -> None:
    repo = RepoBuilder(tmp_path / "odd")
    attributes = "*.bat text eol=crlf\nsecret.txt export-ignore\n*.up filter=shout\n"
    repo.commit(
        "Start",
        {
            ".gitattributes": attributes,
            "run.bat": "echo one\n",
            "secret.txt": "kept\n",
            "word.up": "quiet\n",
            "bin/hello": Executable(b"#!/bin/sh\n"),
            "link": Symlink("/absolute/place"),
            "vendor/lib": Submodule("1" * 40),
            b"caf\xe9.txt": "latin\n",
        },
    )
    with open_source(str(repo.path), cache) as repository:
        repository.export("HEAD", tmp_path / "tree")
        assert b"vendor/lib" not in repository.tree("HEAD").paths
        assert repository.tree("HEAD").read(b"link") is None
        with pytest.raises(RepositoryError, match="not empty"):
            repository.export("HEAD", tmp_path / "tree")

    tree = tmp_path / "tree"
    assert (tree / "run.bat").read_bytes() == b"echo one\r\n"
    assert (tree / "secret.txt").read_text() == "kept\n"
    assert (tree / "word.up").read_text() == "quiet\n"
    assert os.access(tree / "bin/hello", os.X_OK)
    assert not os.access(tree / "run.bat", os.X_OK)
    assert (tree / "link").readlink() == Path("/absolute/place")
    assert list((tree / "vendor/lib").iterdir()) == []
    assert (Path(os.fsdecode(os.fsencode(tree) + b"/caf\xe9.txt"))).read_text() == "latin\n"
    assert not (tree / ".git").exists()


def test_a_patch_is_applied_even_below_another_worktree(tmp_path: Path, built: RepoBuilder, cache: Path) -> None:
    outer = RepoBuilder(tmp_path / "outer")
    folder = outer.path / "below" / "tree"
    with open_source(str(built.path), cache) as repository:
        patch = repository.diff_patch("HEAD~1", "HEAD", [b"tests/test_box.py"])
        repository.export("HEAD~1", folder)
        assert repository.apply(patch, folder) == ""
        assert "patch does not apply" in repository.apply(patch, folder)

    assert (folder / "tests/test_box.py").read_text() == "two\n"
    assert "a + b" in (folder / "box.py").read_text()


def test_patches_and_entries_give_the_same_tree(built: RepoBuilder, opened: Repository) -> None:
    head, base = opened.resolve("HEAD"), opened.resolve("HEAD~1")
    test = opened.diff_patch(base, head, [b"tests/test_box.py"])
    rest = opened.diff_patch(base, head, [b"box.py"])
    entries: dict[bytes, TreeEntry | None] = {b"tests/test_box.py": opened.tree(head).entries[b"tests/test_box.py"]}

    assert opened.tree_after(base, [test], TOUCHED) == opened.tree_with(base, entries)
    assert opened.tree_after(base, [test, rest], TOUCHED) == built.tree()
    assert opened.tree_after(base, [test, b""], TOUCHED) == opened.tree_after(base, [test], TOUCHED)
    assert opened.tree_after(base, [test, test], TOUCHED) is None
    assert opened.diff_patch(base, head, []) == b""


def test_a_file_gives_way_to_a_folder(tmp_path: Path, cache: Path) -> None:
    repo = RepoBuilder(tmp_path / "swap")
    base = repo.commit("File", {"place": "file\n"})
    head = repo.commit("Folder", {"place": None, "place/inside": "x\n"})
    with open_source(str(repo.path), cache) as repository:
        inside = repository.tree(head).entries[b"place/inside"]
        assert repository.tree_with(base, {b"place": None, b"place/inside": inside}) == repo.tree()
        patch = repository.diff_patch(base, head, [b"place", b"place/inside"])
        assert repository.tree_after(base, [patch], TOUCHED) == repo.tree()


def test_patch_ids_follow_content_and_direction(built: RepoBuilder, cache: Path) -> None:
    fix = built.head()
    base = built.git("rev-parse", "HEAD~1")
    undone = built.revert(fix)
    picked = built.cherry_pick(fix)
    with open_source(str(built.path), cache) as repository:
        ids = repository.patch_ids([(base, fix), (fix, undone), (undone, picked), (fix, base), (base, undone)])

    assert ids[0] == ids[2]
    assert ids[1] == ids[3] != ids[0]
    assert ids[4] == ""


def test_lines_are_counted_and_binary_files_are_not(tmp_path: Path, cache: Path) -> None:
    repo = RepoBuilder(tmp_path / "count")
    repo.commit("Start", {"a.txt": "1\n2\n", "b.bin": b"\0\1"})
    repo.commit("Change", {"a.txt": "1\n3\n4\n", "b.bin": b"\0\2"})
    with open_source(str(repo.path), cache) as repository:
        assert repository.numstat("HEAD~1", "HEAD") == ((b"a.txt", 2, 1), (b"b.bin", None, None))
        assert repository.numstat("HEAD~1", "HEAD", [b"b.bin"]) == ((b"b.bin", None, None),)


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("https://user:secret@host.example/o/n.git", "https://host.example/o/n.git"),
        ("https://token@host.example:8443/o/n", "https://host.example:8443/o/n"),
        ("git@github.com:owner/name.git", "https://github.com/owner/name.git"),
        ("ssh://git@gitlab.com/owner/name.git", "https://gitlab.com/owner/name.git"),
        ("git@git.example:owner/name.git", "git.example:owner/name.git"),
        ("/home/somebody/name", ""),
        ("../name", ""),
    ],
)
def test_a_url_is_stored_without_user_info(given: str, stored: str) -> None:
    assert public_url(given) == stored


def test_urls_and_folders_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a:b").mkdir()

    assert is_url("https://host.example/o/n")
    assert is_url("git@host.example:o/n")
    assert not is_url("a:b")
    assert not is_url("./x:y")
    assert not is_url("folder")
    assert repository_name("https://host.example/o/na%20me.git/") == "na me"
    assert repository_name("/srv/name/.git") == "name"
