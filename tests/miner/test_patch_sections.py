"""A patch is taken apart as git itself sees it, whatever the names in it, and put together it is the patch again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miner.patch_sections import changed_lines, sections
from tests.support.repos import Entry, Executable, RepoBuilder, Symlink, git

NAMES: list[str | bytes] = [
    "plain.txt",
    "with space.txt",
    "tab\tand\nline.txt",
    'quote".txt',
    "ünïcode.txt",
    b"latin-\xe9.txt",
    "a/b/c.txt",
]


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "r")
    repo.commit("Begin", files("one\ntwo\nthree\n"))
    return repo


def files(content: str) -> Mapping[str | bytes, Entry]:
    chosen: dict[str | bytes, Entry] = {}
    for name in NAMES:
        chosen[name] = content
    return chosen


def diff(repo: RepoBuilder, *options: str) -> bytes:
    return git(repo.path, "diff", "--binary", "--full-index", *options, "HEAD~1", "HEAD")


def raw(repo: RepoBuilder) -> list[tuple[bytes, bytes, bytes, bytes]]:
    """What git says: path, old mode, new mode, status."""
    fields = git(repo.path, "diff-tree", "-r", "-z", "--raw", "--no-renames", "HEAD~1", "HEAD").split(b"\0")[:-1]
    return sorted((path, raw[1:7], raw[8:14], raw[-1:]) for raw, path in zip(fields[::2], fields[1::2], strict=True))


def told(patch: bytes) -> list[tuple[bytes, bytes, bytes, bytes]]:
    entries = [entry for section in sections(patch) for entry in section.entries]
    return sorted((path, raw[1:7], raw[8:14], raw[-1:]) for raw, path in zip(entries[::2], entries[1::2], strict=True))


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_changed_a_removed_and_an_added_file_of_any_name(repo: RepoBuilder, name: str | bytes) -> None:
    repo.commit("Change", {name: "one\n2\nthree\n"})
    assert told(diff(repo)) == raw(repo)
    repo.commit("Remove", {name: None})
    assert told(diff(repo)) == raw(repo)
    repo.commit("Add", {name: "again\n"})
    assert told(diff(repo)) == raw(repo)


def test_modes_links_binaries_and_empty_files(repo: RepoBuilder) -> None:
    repo.commit(
        "Change kinds",
        {
            "plain.txt": Executable(b"one\ntwo\nthree\n"),
            "link": Symlink("plain.txt"),
            "empty": "",
            "data.bin": b"\0\1\2\ndiff --git a/x b/x\n",
            "with space.txt": None,
        },
    )
    assert told(diff(repo)) == raw(repo)


def test_a_rename_is_one_file_gone_and_one_come(repo: RepoBuilder) -> None:
    repo.commit("Move", {"plain.txt": None, "moved.txt": "one\ntwo\nthree\n"})
    assert b"rename from" in diff(repo, "-M")
    assert [(path, status) for path, _, _, status in told(diff(repo, "-M"))] == [
        (path, status) for path, _, _, status in raw(repo)
    ]


def test_a_hunk_that_looks_like_a_patch_is_content(repo: RepoBuilder) -> None:
    repo.commit("Quote a patch", {"quoted.patch": "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"})
    assert told(diff(repo)) == raw(repo)


def test_the_pieces_are_the_patch(repo: RepoBuilder) -> None:
    repo.commit("Change", files("changed\n"))
    patch = diff(repo)
    assert b"".join(section.data for section in sections(b"From: somebody\n\n" + patch)) == patch


def test_changed_lines_are_counted_without_the_headers(repo: RepoBuilder) -> None:
    repo.commit("Change", {"plain.txt": "one\n--- two\n+++ three\nfour\n"})
    (section,) = sections(diff(repo))
    assert section.lines == 5


def test_changed_lines_have_the_numbers_of_their_sides(repo: RepoBuilder) -> None:
    repo.commit("Begin", {"a.txt": "".join(f"{number}\n" for number in range(1, 21))})
    kept = [f"{number}\n" for number in range(1, 21) if number not in {3, 17}]
    repo.commit("Change", {"a.txt": "".join([*kept[:1], "new\n", *kept[1:], "--- end"])})
    (section,) = sections(diff(repo))
    assert changed_lines(section.data) == (frozenset({2, 20}), frozenset({3, 17}))


def test_a_patch_of_plain_diff_is_read_too() -> None:
    patch = b"--- old/box.py\t2024-01-01\n+++ new/box.py\t2024-01-02\n@@ -1 +1 @@\n-a\n+b\n"
    (section,) = sections(patch)
    assert (section.path, section.old_mode, section.new_mode) == (b"box.py", b"100644", b"100644")


def test_a_plain_hunk_that_looks_like_a_file_is_content() -> None:
    hunk = b"@@ -1,2 +1,2 @@\n a\n--- b\n+++ c\n"
    patch = b"--- a/one\n+++ b/one\n" + hunk + b"--- a/two\n+++ b/two\n" + hunk
    assert [section.path for section in sections(patch)] == [b"one", b"two"]


@given(st.binary(max_size=200))
def test_anything_else_is_taken_apart_without_an_error(junk: bytes) -> None:
    sections(junk)
    sections(b"diff --git " + junk)
