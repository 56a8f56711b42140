"""Which words a tree holds."""

from __future__ import annotations

from pathlib import Path

from casewright.repository import Repository, open_source
from casewright.store import Store
from tests.support.repos import Entry, RepoBuilder


def opened(folder: Path, files: dict[str | bytes, Entry]) -> Repository:
    built = RepoBuilder(folder)
    built.commit("One", files)
    return open_source(str(folder), Store().root)


def test_words_are_whole_and_of_the_revision(tmp_path: Path) -> None:
    with opened(tmp_path / "r", {"a.py": "def find(): pass\n", "docs/b.md": "call --all now\n"}) as repository:
        asked = [b"find", b"fin", b"--all", b"call --all", b"absent", b"", b"a\nb"]
        assert repository.words_present("HEAD", asked) == {b"find", b"--all", b"call --all"}
        assert repository.words_present("HEAD", [b"absent"]) == set()
        assert repository.words_present("HEAD", []) == set()


def test_signs_of_patterns_stand_for_themselves(tmp_path: Path) -> None:
    with opened(tmp_path / "r", {"a.txt": "x [ARGS]... y a+b $x ^c {d} e|f \\d\n"}) as repository:
        asked = [b"[ARGS]...", b"a+b", b"$x", b"^c", b"{d}", b"e|f", b"\\d", b".", b"aab", b"(d)"]
        found = repository.words_present("HEAD", asked)
        assert found >= {b"[ARGS]...", b"a+b", b"$x", b"^c", b"{d}", b"e|f", b"\\d"}
        assert not found & {b"aab", b"(d)"}


def test_binary_files_and_other_folders_are_left_out(tmp_path: Path) -> None:
    files: dict[str | bytes, Entry] = {
        "a.bin": b"\0find me\0",
        "src/a.py": "open_shelf\n",
        "README.md": "shelf\n",
    }
    with opened(tmp_path / "r", files) as repository:
        assert repository.words_present("HEAD", [b"find"]) == set()
        assert repository.words_present("HEAD", [b"open_shelf", b"shelf"], ("*.md",)) == {b"shelf"}


def test_many_words_of_which_some_are_common_take_one_pass(tmp_path: Path) -> None:
    text = "".join(f"add the value_{number} and add\n" for number in range(3000))
    words = [b"add", b"value", *(b"value_%d" % number for number in range(0, 6000, 10))]
    with opened(tmp_path / "r", {"a.txt": text}) as repository:
        assert repository.words_present("HEAD", words) == {b"add", *(b"value_%d" % one for one in range(0, 3000, 10))}
