"""The handed-out oddities: parts, screens, round trip and application, as their expectations say."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from casewright.repository import Repository, open_source
from miner.change import Change, Landing
from miner.content import ContentScreens, PastChanges, round_trip, texts_of
from miner.history import change_between, change_of
from miner.parts import Parts, split
from miner.path_rules import PathRules
from miner.reasons import Reason
from miner.screen import SizeLimits, screen, sentence
from tests.support.repos import Oddity, git, oddity

NAMES = (
    "01-rename-across-split", "02-test-word-in-path", "03-odd-path-names", "04-hostile-git-config", "07-line-endings",
    "10-changes-without-hunks", "11-binary-files", "13-submodule-pointer", "14-ways-to-merge",
    "15-commits-that-are-no-task",
)  # fmt: skip
# Our codes for what the expectations say in words, of what is known before anything runs.
REFUSED = {
    ("03-odd-path-names", "bytes"): Reason.PATH_NOT_REPRESENTABLE,
    ("13-submodule-pointer", "bump"): Reason.SUBMODULE_CHANGE,
    ("15-commits-that-are-no-task", "REVERT"): Reason.REVERT,
    ("15-commits-that-are-no-task", "REAPPLY"): Reason.DUPLICATE_CHANGE,
    ("15-commits-that-are-no-task", "CHERRY"): Reason.DUPLICATE_CHANGE,
    ("15-commits-that-are-no-task", "EMPTY"): Reason.EMPTY_CHANGE,
    ("15-commits-that-are-no-task", "MERGE_OURS"): Reason.EMPTY_CHANGE,
    ("15-commits-that-are-no-task", "DOCS"): Reason.NO_TEST_CHANGE,
    ("15-commits-that-are-no-task", "SOURCE_ONLY"): Reason.NO_TEST_CHANGE,
    ("15-commits-that-are-no-task", "TESTS_ONLY"): Reason.NO_SOURCE_CHANGE,
}


@pytest.fixture(scope="module", params=NAMES)
def odd(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Oddity]:
    return request.param, oddity(request.param, tmp_path_factory.mktemp("odd"))


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def _cases(odd: Oddity, cache: Path) -> Iterator[tuple[Mapping[str, Any], Repository, Change, Parts]]:
    for case in odd.cases:
        with open_source(str(odd.folder / case.get("repo", "repo")), cache) as repository:
            head = odd.facts[case["head"]]
            base = odd.facts.get(case["base"], "")
            change = change_of(repository, head)
            if base and base != change.base:
                change = change_between(repository, base, head, Landing.REBASE, "the oddity")
            yield case, repository, change, split(change.entries, PathRules())


def test_parts_are_as_expected_and_give_the_head_again(odd: tuple[str, Oddity], cache: Path) -> None:
    for case, repository, change, parts in _cases(odd[1], cache):
        if "test_part" in case:
            assert [path.decode() for path in parts.test] == sorted(case["test_part"], key=str.encode), case["name"]
            assert [path.decode() for path in parts.rest] == sorted(case["source_part"], key=str.encode), case["name"]
        assert round_trip(repository, change, parts).reason is None, case["name"]


def test_reasons_that_need_no_run_are_found_and_no_others(odd: tuple[str, Oddity], cache: Path) -> None:
    name, built = odd
    for case, repository, change, parts in _cases(built, cache):
        reason = screen(change.entries, PathRules(), SizeLimits()).reason
        if reason is None:
            past = PastChanges(repository, "HEAD", all_commits=True)
            # Some of these subjects are shorter than a task may be made from; that is not what they are about.
            texts = (*texts_of(repository, change), "with a few words more")
            reason = ContentScreens(repository, past, SizeLimits()).first_reason(change, parts, texts).reason
        assert reason is REFUSED.get((name, case["name"])), case["name"]


def test_the_test_part_reaches_the_disk_on_the_base(odd: tuple[str, Oddity], cache: Path, tmp_path: Path) -> None:
    for number, (case, repository, change, parts) in enumerate(_cases(odd[1], cache)):
        if not parts.test:
            continue
        folders = {name: tmp_path / f"{number}-{name}" for name in ("base", "head")}
        repository.export(change.base, folders["base"])
        repository.export(change.head, folders["head"])
        patch = repository.diff_patch(change.base, change.head, parts.test)
        assert repository.apply(patch, folders["base"]) == "", case["name"]
        for path in parts.test:
            got, wanted = (Path(os.fsdecode(os.fsencode(folder) + b"/" + path)) for folder in folders.values())
            assert got.exists() == wanted.exists(), path
            if wanted.exists():
                assert got.read_bytes() == wanted.read_bytes(), path
                assert os.access(got, os.X_OK) == os.access(wanted, os.X_OK), path


def test_hostile_configuration_runs_nothing_and_changes_no_byte(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = oddity("04-hostile-git-config", tmp_path / "odd")
    base, head = built.facts["BASE"], built.facts["HEAD"]
    seen = []
    for number, (name, user) in enumerate((("plain", None), ("repo", None), ("repo", built.folder / "gitconfig"))):
        if user is not None:
            monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(user))
            monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(built.folder / "leak.sh"))
            monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
        source = built.folder / name
        with (
            open_source(str(source), cache) as repository,
            open_source(source.as_uri(), tmp_path / f"cache-{number}") as cloned,
        ):
            change = change_of(repository, head)
            paths = list(change.paths)
            folder = tmp_path / f"tree-{number}"
            repository.export(base, folder)
            patch = repository.diff_patch(base, head, paths)
            assert repository.apply(patch, folder) == ""
            repository.plain_clone(tmp_path / f"clone-{number}", "https://host.example/indent")
            files = {path: (folder / os.fsdecode(path)).read_bytes() for path in paths}
            seen.append((patch, files, change, repository.patch_id(base, head), cloned.diff_patch(base, head, paths)))

    assert seen[0] == seen[1] == seen[2]
    assert seen[0][1][b"tests/data/space.txt"] == b"alpha  \n\tbeta\t\n\n  \ngamma\t \n"
    assert sorted(place.name for place in built.folder.glob("MARK-*")) == []


def test_line_endings_on_disk_follow_the_tree_alone(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = oddity("07-line-endings", tmp_path / "odd")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(built.folder / "gitconfig"))
    with open_source(str(built.folder / "repo"), cache) as repository:
        repository.export(built.facts["HEAD"], tmp_path / "tree")
        source = repository.tree(built.facts["HEAD"]).read(b"pkg/lines.py")

    assert b"\r\n" in (tmp_path / "tree/run.bat").read_bytes()
    assert (tmp_path / "tree/pkg/lines.py").read_bytes() == source
    assert b"\r\n" in (tmp_path / "tree/tests/test_lines.py").read_bytes()


def test_binary_parts_apply_where_nothing_newer_is_known(cache: Path, tmp_path: Path) -> None:
    built = oddity("11-binary-files", tmp_path / "odd")
    with open_source(str(built.folder / "repo"), cache) as repository:
        change = change_of(repository, built.facts["HEAD"])
        patch = repository.diff_patch(change.base, change.head, list(change.paths))

    git(built.folder / "base-only", "apply", "--index", "--whitespace=nowarn", "-", stdin=patch)
    assert git(built.folder / "base-only", "write-tree") == git(built.folder / "repo", "rev-parse", "HEAD^{tree}")


def test_a_refusal_shows_the_name_escaped(cache: Path, tmp_path: Path) -> None:
    built = oddity("03-odd-path-names", tmp_path / "odd")
    with open_source(str(built.folder / "repo"), cache) as repository:
        change = change_of(repository, built.facts["HEAD_BYTES"])

    assert sentence(screen(change.entries, PathRules(), SizeLimits())).endswith(": tests/data/latin-\\xe9.txt")


def test_a_submodule_is_an_empty_folder(cache: Path, tmp_path: Path) -> None:
    built = oddity("13-submodule-pointer", tmp_path / "odd")
    with open_source(str(built.folder / "repo"), cache) as repository:
        repository.export(built.facts["HEAD_PLAIN"], tmp_path / "tree")

    assert list((tmp_path / "tree/vendor/lib").iterdir()) == []
