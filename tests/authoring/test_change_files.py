"""The files of a change for a page: every one is named with its part, and what is huge or binary by its size alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from authoring.change_files import ChangedFile, FilePart, change_files
from casewright.repository import open_source
from tests.support.cases import as_case, split_case
from tests.support.hostile import GRADED, hostile_case, hostile_history
from tests.support.repos import RepoBuilder


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[bytes, ChangedFile]:
    folder: Path = tmp_path_factory.mktemp("history")
    repo = hostile_history(folder / "repo", 9)
    case = as_case(hostile_case(repo, 9))
    with open_source(str(repo.path), folder / "cache") as repository:
        return {file.path: file for file in change_files(repository, case)}


def test_every_file_has_its_part(files: dict[bytes, ChangedFile]) -> None:
    parts = {path: file.part for path, file in files.items() if file.part is not FilePart.REST}
    assert parts == {
        GRADED.encode(): FilePart.GRADED,
        b"tests/conftest.py": FilePart.SUPPORT,
        b"tests/unit/test_old.py": FilePart.EXCLUDED,
    }
    assert len(files) == 11
    assert list(files) == sorted(files)


def test_a_text_comes_with_its_patch(files: dict[bytes, ChangedFile]) -> None:
    file = files[b"src/caf\xe9.py"]
    assert (file.status, file.added, file.deleted, file.before, file.after) == ("A", 1, 0, None, 5)
    assert file.patch.endswith(b"@@ -0,0 +1 @@\n+pass\n")
    assert files[b"latin.txt"].patch.endswith(b"-caf\xe9\n+caf\xe9s\n")
    assert (files[b"gone.py"].status, files[b"gone.py"].after) == ("D", None)


def test_a_binary_and_a_huge_file_come_with_their_sizes(files: dict[bytes, ChangedFile]) -> None:
    binary, huge = files[b"data.bin"], files[b"big.txt"]
    assert (binary.added, binary.before, binary.after, binary.patch) == (None, 150, 180, b"")
    assert (huge.added, huge.before, huge.after, huge.patch) == (300_000, None, None, b"")


def test_a_file_that_holds_source_and_tests_is_there_for_both(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "repo")
    base = repo.commit("Begin", {"src/lib.rs": "fn a() { 1 }\n#[cfg(test)]\nmod tests {}\n"})
    head = repo.commit("Change", {"src/lib.rs": "fn a() { 2 }\n#[cfg(test)]\nmod tests { }\n"})
    case = as_case({**split_case(), "base_commit": base, "grading_commit": head})
    with open_source(str(repo.path), tmp_path / "cache") as repository:
        found = change_files(repository, case)
    assert [(file.path, file.part) for file in found] == [
        (b"src/lib.rs", FilePart.GRADED),
        (b"src/lib.rs", FilePart.REST),
    ]
