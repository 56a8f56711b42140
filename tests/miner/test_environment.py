"""For which tests an environment is planned, and what a refusal offers."""

from __future__ import annotations

from pathlib import Path

import pytest

from casewright.repository import open_source
from execution.languages.base import Refusal
from execution.recipe import Recipe
from miner.environment import MOST_TEST_FILES, EnvironmentExplanation, explain_environment, with_remedy
from miner.path_rules import PathRules
from tests.support.repos import Entry, RepoBuilder

TEST = "import unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n"


def explained(
    repo: RepoBuilder, tmp_path: Path, commit: str = "HEAD", date: int | None = None
) -> EnvironmentExplanation:
    with open_source(str(repo.path), tmp_path / "cache") as repository:
        return explain_environment(
            repository, commit, PathRules(), {}, lambda recipe: recipe.date if date is None else date
        )


def test_a_change_of_fixtures_alone_is_planned_for_the_tests_of_its_tree(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "box")
    repo.commit("Begin", {"box.py": "x = 1\n", "tests/test_box.py": TEST})
    repo.commit("Grow", {"box.py": "x = 2\n", "tests/data/box.json": "{}\n"})
    found = explained(repo, tmp_path)
    assert (found.graded, found.of_change, found.tests_in_tree) == (("tests/test_box.py",), False, 1)


def test_a_deleted_test_is_no_reason_to_look_for_it(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "box")
    repo.commit("Begin", {"tests/test_box.py": TEST, "tests/test_lid.py": TEST})
    repo.commit("Take the lid off", {"tests/test_lid.py": None})
    assert explained(repo, tmp_path).graded == ("tests/test_box.py",)


def test_where_no_file_is_a_test_by_name_those_that_hold_tests_stand_for_the_suite(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "box")
    module = "fn a() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {}\n}\n"
    files: dict[str | bytes, Entry] = {
        "Cargo.toml": "[package]\n",
        "src/lib.rs": "mod box;\n",
        "src/box.rs": module,
        "src/lid.rs": "(\n",
    }
    repo.commit("Begin", files)
    found = explained(repo, tmp_path)
    assert (found.tests_in_tree, found.of_change) == (1, False)
    assert found.graded == ("src/box.rs",)


def test_of_a_large_suite_the_first_files_stand_for_all(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "box")
    repo.commit("Begin", {f"tests/test_{number:03}.py": TEST for number in range(MOST_TEST_FILES + 5)})
    found = explained(repo, tmp_path)
    assert (len(found.graded), found.tests_in_tree) == (MOST_TEST_FILES, MOST_TEST_FILES + 5)


def test_the_era_s_date_is_the_plan_s_and_makes_no_other_era(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "box")
    repo.commit("Begin", {"tests/test_box.py": TEST})
    plain, dated = explained(repo, tmp_path).planned, explained(repo, tmp_path, date=1_700_000_000).planned
    assert isinstance(plain, Recipe)
    assert isinstance(dated, Recipe)
    assert (dated.date, dated.era()) == (1_700_000_000, plain.era())


@pytest.mark.parametrize(
    ("remedy", "settings", "offered"),
    [
        ("", (), {"setup.commands", "check"}),
        ("else say it in setup.commands", (), {"setup.commands", "check"}),
        ("name it under setup.pass_env", (), {"setup.pass_env"}),
        ("install it (apt install libpq-dev)", (), set()),
        ("an older one; else setup.commands", (("python", "3.9"),), {"python"}),
    ],
)
def test_every_refusal_offers_something(remedy: str, settings: tuple[tuple[str, str], ...], offered: set[str]) -> None:
    refusal = with_remedy(Refusal(code="environment-failed", detail="x", remedy=remedy, settings=settings))
    assert refusal.remedy
    assert {name for name, _ in refusal.settings} == offered
