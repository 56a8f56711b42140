"""Rust from a history to a draft and its verification: real toolchain, real sandbox, tests inside of source files."""

from __future__ import annotations

from pathlib import Path

import pytest

from authoring.case import to_plain
from authoring.consistency import faults
from authoring.known_change import words_of
from authoring.verify import verify
from casewright.new_workspace import init_workspace
from casewright.repository import open_source
from casewright.store import Store
from casewright.workspace import Workspace
from execution.languages.rust_toolchain import installed_toolchains
from execution.sandboxes import choose
from tests.support.command_line import CommandLine
from tests.support.judging import Files, admitted, history, judged
from tests.support.repos import RepoBuilder
from tests.support.sandbox import needs_sandbox

pytestmark = [
    needs_sandbox,
    pytest.mark.skipif(not installed_toolchains(), reason="no Rust toolchain is on this machine"),
]

MESSAGE = "Add the two numbers instead of subtracting one from the other"
MANIFEST = '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n'
WRONG = "pub mod deep;\n\npub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n\n"
CARRIED = "fn carried(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n"
RIGHT = WRONG.replace("a - b", "carried(a, b)") + CARRIED
ADDS = "    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n    }\n"
ZERO = "    #[test]\n    fn zero() {\n        assert_eq!(add(0, 0), 0);\n    }\n"


def _tests(*bodies: str, name: str = "tests") -> str:
    return f"#[cfg(test)]\nmod {name} {{\n    use super::*;\n\n{''.join(bodies)}}}\n"


# Its name holds that of the graded module, and it is red at both states: it may not weigh on the graded one.
DEEP = "pub fn two() -> i32 {\n    2\n}\n\n" + _tests("    #[test]\n    fn red() {\n        panic!();\n    }\n")
BEFORE: Files = {"Cargo.toml": MANIFEST, "src/lib.rs": WRONG + _tests(ZERO), "src/deep.rs": DEEP}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return init_workspace(tmp_path / "bench")[0]


def _history(folder: Path, before: Files, after: Files) -> RepoBuilder:
    return history(folder, before, after, MESSAGE)


def test_the_tests_of_a_source_file_grade_and_no_others(cli: CommandLine, workspace: Workspace, tmp_path: Path) -> None:
    repo = _history(tmp_path / "calc", BEFORE, {"src/lib.rs": RIGHT + _tests(ZERO, ADDS)})
    case = admitted(cli, workspace, repo)
    assert case.grading.files == ("src/lib.rs",)
    assert case.grading.fail_to_pass == ("src/lib.rs::tests::adds",)
    assert case.grading.pass_to_pass == ("src/lib.rs::tests::zero",)
    assert [row.how.value for row in case.grading.fails_by] == ["assertion"]
    assert [(row.path, row.item) for row in case.grading.test_hunks] == [("src/lib.rs", "mod tests")]
    assert (case.size.files, case.size.lines) == (1, 6)
    assert list(faults(to_plain(case))) == []
    with open_source(str(repo.path), Store().root) as repository:
        assert verify(case, repository, choose(), Store()).difference == ""
        words = words_of(repository, case)
    # The lint sees the fix without its tests, and the tests without the fix.
    assert words.offered_names == ("carried",)
    assert [(path.path, path.source) for path in words.rest_paths] == [("src/lib.rs", True)]
    assert words.test_paths == ("src/lib.rs",)


def test_modules_of_several_files_and_whole_test_files_go_together(
    cli: CommandLine, workspace: Workspace, tmp_path: Path
) -> None:
    doubled = "pub fn two() -> i32 {\n    2\n}\npub fn four() -> i32 {\n    4\n}\n\n"
    after: Files = {
        "src/lib.rs": RIGHT + _tests(ADDS, name="sums") + _tests(ZERO),
        "src/deep.rs": doubled
        + _tests("    #[test]\n    fn four_is_four() {\n        assert_eq!(four(), 4);\n    }\n"),
        "tests/whole.rs": "#[test]\nfn whole() {\n    assert_eq!(calc::add(2, 2), 4);\n}\n",
    }
    case = admitted(cli, workspace, _history(tmp_path / "calc", BEFORE, after))
    assert case.grading.files == ("src/deep.rs", "src/lib.rs", "tests/whole.rs")
    assert case.grading.fail_to_pass == (
        "src/deep.rs::deep::tests::four_is_four",
        "src/lib.rs::sums::adds",
        "src/lib.rs::tests::zero",
        "tests/whole.rs::whole",
    )
    # The library does not compile at the base: its tests call what the fix brings. The program of its own does.
    assert {row.id: row.how.value for row in case.grading.fails_by} == {
        "src/deep.rs::deep::tests::four_is_four": "collection",
        "src/lib.rs::sums::adds": "collection",
        "src/lib.rs::tests::zero": "collection",
        "tests/whole.rs::whole": "assertion",
    }


def test_a_change_of_the_module_alone_is_no_source_change(
    cli: CommandLine, workspace: Workspace, tmp_path: Path
) -> None:
    repo = _history(tmp_path / "calc", BEFORE, {"src/lib.rs": WRONG + _tests(ZERO, ZERO.replace("zero", "again"))})
    assert judged(cli, workspace, repo)["reason"] == "no-source-change"


def test_a_source_file_without_tests_has_no_test_change(cli: CommandLine, workspace: Workspace, tmp_path: Path) -> None:
    repo = _history(tmp_path / "calc", BEFORE, {"src/lib.rs": RIGHT + _tests(ZERO)})
    assert judged(cli, workspace, repo)["reason"] == "no-test-change"


def test_tests_of_a_program_are_run_as_its_own(cli: CommandLine, workspace: Workspace, tmp_path: Path) -> None:
    main = 'fn main() {\n    println!("{}", add(1, 2));\n}\n\n'
    wrong, right = (main + text.removeprefix("pub mod deep;\n\n") for text in (WRONG, RIGHT))
    before: Files = {"Cargo.toml": MANIFEST, "src/main.rs": wrong}
    case = admitted(cli, workspace, _history(tmp_path / "calc", before, {"src/main.rs": right + _tests(ADDS)}))
    assert case.grading.fail_to_pass == ("src/main.rs::tests::adds",)
    assert "--bin calc" in case.grading.check
