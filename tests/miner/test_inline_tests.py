"""Files split by their lines: the hunks give the base's source with the head's tests, or the file stays whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casewright.repository import open_source
from miner.content import Finding, round_trip, task_lines
from miner.explanation import explain_commit, explain_patch
from miner.history import change_of
from miner.hunks import lines_of, with_hunks
from miner.inline_tests import SplitFile, inline_tests, may_hold_tests, split_file
from miner.parts import split
from miner.path_rules import Globs, PathRules
from miner.reasons import Reason
from miner.screen import SizeLimits, screen
from tests.support.repos import Entry, RepoBuilder

LIB = b"src/lib.rs"


def _module(name: str, *tests: str) -> str:
    return f"#[cfg(test)]\nmod {name} {{\n" + "".join(f"    #[test]\n    fn {test}() {{}}\n" for test in tests) + "}\n"


def _split(base: str, head: str) -> SplitFile:
    found = split_file(LIB, base.encode(), head.encode())
    assert isinstance(found, SplitFile), found
    return found


def _state(base: str, head: str) -> str:
    return with_hunks(base.encode(), head.encode(), _split(base, head).hunks).decode()


def test_the_bases_source_stands_with_the_heads_tests() -> None:
    base = "fn a() { 1 }\n\n" + _module("tests", "one")
    head = "fn a() { 2 }\nfn b() {}\n\n" + _module("tests", "one", "two")
    assert _state(base, head) == "fn a() { 1 }\n\n" + _module("tests", "one", "two")
    (hunk,) = _split(base, head).hunks
    assert (hunk.item, hunk.base_line, hunk.base_lines, hunk.grading_line, hunk.grading_lines) == (
        "mod tests", 3, 5, 4, 7,
    )  # fmt: skip


def test_modules_in_the_middle_keep_their_places_and_new_ones_go_to_the_end() -> None:
    base = "fn a() { 1 }\n" + _module("one", "x") + "fn b() {}\n" + _module("two", "y") + "fn c() {}\n"
    head = (
        "fn a() { 2 }\n" + _module("three", "z") + _module("one", "x", "w") + "fn b() {}\n" + _module("two", "y")
    )  # fmt: skip
    wanted = "fn a() { 1 }\n" + _module("one", "x", "w") + "fn b() {}\n" + _module("two", "y") + "fn c() {}\n"
    assert _state(base, head) == wanted + _module("three", "z")


def test_first_tests_come_to_the_end_and_last_ones_go() -> None:
    bare, tested = "fn a() {}\n", "fn a() {}\n\n" + _module("tests", "one")
    assert _state(bare, tested) == "fn a() {}\n" + _module("tests", "one")
    assert _state(tested, bare) == "fn a() {}\n\n"
    assert not _split(tested, bare).holds_tests


def test_a_declaration_of_tests_in_another_file_is_of_the_test_part() -> None:
    base, head = "fn a() { 1 }\n", "fn a() { 2 }\n#[cfg(test)]\nmod tests;\n"
    found = _split(base, head)
    assert _state(base, head) == "fn a() { 1 }\n#[cfg(test)]\nmod tests;\n"
    assert not found.holds_tests


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_last_line_without_a_newline_stays_as_it_is(end: str) -> None:
    base = "fn a() { 1 }\n" + _module("tests", "one")
    head = "fn a() { 2 }\n" + _module("tests", "two").rstrip("\n") + end
    assert _state(base, head) == "fn a() { 1 }\n" + _module("tests", "two").rstrip("\n") + end


@pytest.mark.parametrize(
    ("base", "head", "why"),
    [
        ("fn a() {}", "fn a() {}\n" + _module("tests", "one"), "newline"),
        (_module("tests", "one") + "fn b() {}\n", "fn b() {}\n" + _module("tests", "two").rstrip("\n"), "newline"),
        ("mod tests {\n}\n", _module("tests", "one"), "another mod tests"),
        ("fn a() {}\n", "#[cfg(test)]\n#[macro_use]\nmod m {}\nfn a() {}\n", "place"),
        ("fn a() {\n", "fn a() {}\n" + _module("tests", "one"), "never closed"),
    ],
)
def test_what_can_not_be_split_says_why(base: str, head: str, why: str) -> None:
    found = split_file(LIB, base.encode(), head.encode())
    assert isinstance(found, str)
    assert why in found


def test_without_a_change_in_tests_there_is_nothing_to_split() -> None:
    assert (
        split_file(LIB, b"fn a() { 1 }\n" + _module("tests").encode(), b"fn a() {}\n" + _module("tests").encode()) == ""
    )
    assert split_file(b"src/lib.py", b"a\n", b"b\n") == ""


def test_blank_lines_around_tests_are_no_source() -> None:
    found = _split("fn a() {}\n", "fn a() {}\n\n" + _module("tests", "one"))
    assert (found.source_differs, found.rest_differs) == (False, True)


_ITEMS = st.lists(st.tuples(st.sampled_from(["one", "two", "three", ""]), st.integers(0, 2)), max_size=5)


@given(_ITEMS, _ITEMS)
def test_any_two_files_split_into_what_gives_both_back(
    base: list[tuple[str, int]], head: list[tuple[str, int]]
) -> None:
    def text(items: list[tuple[str, int]]) -> str:
        return "".join(
            _module(name, *(f"t{number}" for number in range(value))) if name else f"fn f() {{ {value} }}\n"
            for name, value in items
        )

    before, after = text(base), text(head)
    found = split_file(LIB, before.encode(), after.encode())
    if not isinstance(found, SplitFile):
        assert found == ""
        return
    spliced = with_hunks(before.encode(), after.encode(), found.hunks).decode()
    assert _tests_in(spliced) == _tests_in(after)
    assert _rest_of(spliced) == _rest_of(before)
    assert found.source_differs is (_rest_of(before) != _rest_of(after))


def _tests_in(text: str) -> list[str]:
    return sorted(part.partition("\n}\n")[0] for part in text.split("#[cfg(test)]\n")[1:])


def _rest_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("fn f()")]


@given(st.binary(max_size=40))
def test_lines_are_a_files_bytes(content: bytes) -> None:
    assert b"".join(lines_of(content)) == content


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "repo")
    files: dict[str | bytes, Entry] = {
        "Cargo.toml": "[package]\n",
        "src/lib.rs": "fn a() { 1 }\n" + _module("tests", "one"),
    }
    repo.commit("Begin with a function that gives one", files)
    return repo


def test_a_change_of_one_source_file_with_its_tests_has_both_parts(repo: RepoBuilder, tmp_path: Path) -> None:
    repo.commit("Give two, not one", {"src/lib.rs": "fn a() { 2 }\n" + _module("tests", "one", "two")})
    with open_source(str(repo.path), tmp_path / "cache") as repository:
        change = change_of(repository, "HEAD")
        parts = split(change.entries, PathRules(), inline_tests(repository, change, PathRules()))
        assert (parts.graded, parts.rest, parts.source) == ((LIB,), (LIB,), (LIB,))
        assert (parts.whole_test, parts.whole_rest) == ((), ())
        assert task_lines(repository, change, parts) == 2
        assert round_trip(repository, change, parts) == Finding()
        explained = explain_commit(repository, "HEAD", PathRules(), SizeLimits())
        assert (explained.screens, explained.round_trip) == ((), True)


def test_a_patch_is_split_as_the_commit_is_that_it_became(repo: RepoBuilder, tmp_path: Path) -> None:
    repo.commit(
        "Give two, not one", {"src/lib.rs": "fn a() { 2 }\n" + _module("tests", "one", "two"), "README.md": "2\n"}
    )
    with open_source(str(repo.path), tmp_path / "cache") as repository:
        change = change_of(repository, "HEAD")
        patch = repository.diff_patch(change.base, change.head, change.paths)
        told = explain_patch(repository, patch, change.base, PathRules(), SizeLimits())
        commit = explain_commit(repository, "HEAD", PathRules(), SizeLimits())
        assert (told.parts, told.screens, told.round_trip) == (commit.parts, (), True)
        small = explain_patch(repository, patch, change.base, PathRules(), SizeLimits(lines=2))
        assert small.screens == (Reason.TOO_LARGE,)


def test_the_trip_fails_for_hunks_of_another_change(repo: RepoBuilder, tmp_path: Path) -> None:
    repo.commit("Give two, not one", {"src/lib.rs": "fn a() { 2 }\n" + _module("tests", "one", "two")})
    with open_source(str(repo.path), tmp_path / "cache") as repository:
        change = change_of(repository, "HEAD")
        inline = inline_tests(repository, change, PathRules())
        wrong = split_file(LIB, b"fn a() {}\n\n\n" + _module("tests").encode(), b"\n" + _module("tests", "x").encode())
        assert isinstance(wrong, SplitFile)
        parts = split(change.entries, PathRules(), type(inline)(files={LIB: wrong}))
        assert round_trip(repository, change, parts).reason is Reason.ROUND_TRIP_FAILED


@pytest.mark.parametrize(
    ("after", "reasons"),
    [
        ("fn a() { 1 }\n" + _module("tests", "one", "two"), {Reason.NO_SOURCE_CHANGE}),
        ("fn a() { 2 }\n" + _module("tests", "one"), {Reason.NO_TEST_CHANGE}),
        ("fn a() { 2 }\n", {Reason.NO_RUNNABLE_TEST_FILE}),
    ],
)
def test_screens_look_into_the_file(repo: RepoBuilder, tmp_path: Path, after: str, reasons: set[Reason]) -> None:
    repo.commit("Change what the function gives", {"src/lib.rs": after})
    with open_source(str(repo.path), tmp_path / "cache") as repository:
        change = change_of(repository, "HEAD")
        # By names alone nobody can tell, so the change is looked at.
        assert screen(change.entries, PathRules(), SizeLimits()).reason is None
        assert set(explain_commit(repository, "HEAD", PathRules(), SizeLimits()).screens) == reasons


def test_only_a_source_that_changes_its_content_may_hold_tests() -> None:
    raw = b":100644 100644 " + b"1" * 40 + b" " + b"2" * 40 + b" "
    assert may_hold_tests(raw + b"M", LIB, PathRules())
    assert not may_hold_tests(raw + b"A", LIB, PathRules())
    assert not may_hold_tests(raw + b"M", b"tests/a.rs", PathRules())
    assert not may_hold_tests(raw + b"M", b"examples/a.rs", PathRules())
    assert not may_hold_tests(raw + b"M", b"src/lib.py", PathRules())
    assert not may_hold_tests(raw + b"M", LIB, PathRules(Globs(rest=("src/**",))))


def test_a_module_that_only_test_builds_have_is_no_source(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "repo")
    library = "#[cfg(test)]\nmod given;\nmod kept;\n"
    repo.commit("Begin", {"Cargo.toml": "[package]\n", "src/lib.rs": library, "src/given.rs": "", "src/kept.rs": "1\n"})
    after: dict[str | bytes, Entry] = {"src/given.rs": "2\n", "src/given/more.rs": "2\n", "src/kept.rs": "2\n"}
    repo.commit("Change all of it", after)
    with open_source(str(repo.path), tmp_path / "cache") as repository:
        change = change_of(repository, "HEAD")
        parts = split(change.entries, PathRules(), inline_tests(repository, change, PathRules()))
    assert (parts.support, parts.rest) == ((b"src/given.rs", b"src/given/more.rs"), (b"src/kept.rs",))
    assert parts.decisions[b"src/given.rs"].rule == "test-module"
