"""``cache wheels CASE`` and ``verify --offline`` as they are typed, on cases that need no index."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

import pytest

from casewright.cli.opened import Opened
from casewright.errors import InfrastructureError
from casewright.new_workspace import init_workspace
from casewright.repository import open_source
from casewright.store import Store
from tests.cli.test_mine_commands import snapshot
from tests.support.command_line import CommandLine
from tests.support.repos import RepoBuilder
from tests.support.sandbox import needs_sandbox

TEST = (
    "import unittest\nfrom box import area\n\n\nclass BoxTest(unittest.TestCase):\n    def test_area(self):\n"
    "        self.assertEqual(area(2, 3), 6)\n"
)


@pytest.fixture
def box(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "box")
    repo.commit("Begin", {"box.py": "def area(a, b):\n    return a + b\n"})
    repo.commit(
        "Multiply the sides of the box, do not add them",
        {"box.py": "def area(a, b):\n    return a * b\n", "tests/test_box.py": TEST},
    )
    return repo


@needs_sandbox
def test_packages_are_fetched_once_and_a_case_is_verified_from_them(
    cli: CommandLine, tmp_path: Path, box: RepoBuilder
) -> None:
    workspace = init_workspace(tmp_path / "bench")[0].root
    case = cli(
        "-C", workspace, "add-case", "--repo", box.path, "--commit", "HEAD", "--format", "json", "-q", "--repeat", "1"
    ).json["case"]
    before = snapshot(workspace)
    place = tmp_path / "packages"
    ran = cli("-C", workspace, "cache", "wheels", case, "--to", place, "--format", "json", "-q")
    assert ran.code == 0
    (row,) = ran.rows
    assert (row["case"], row["folder"], row["fresh"], row["files"]) == (case, str(place), True, 0)
    assert row["variables"] == {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": place.as_uri()}
    assert json.loads((place / "packages.json").read_text())["setup"]
    again = cli("-C", workspace, "cache", "wheels", case, "--to", place)
    assert (again.code, again.out.startswith("at hand  ")) == (0, True)
    for options in ((), ("--from", place)):
        verified = cli("-C", workspace, "verify", "--offline", *options, case, "--format", "json", "-q")
        assert (verified.code, verified.rows[0]["outcome"]) == (0, "reproduced"), verified.rows
    assert snapshot(workspace) == before


@pytest.mark.parametrize("option", [("--to", "x"), ("--library", "x.json"), ("--repo", "x")])
def test_options_of_a_case_need_one(cli: CommandLine, option: tuple[str, str]) -> None:
    ran = cli("cache", "wheels", *option)
    assert (ran.code, ran.out) == (2, "")
    assert "name a CASE" in ran.err


def test_a_case_that_there_is_none_is_told_before_anything_is_fetched(cli: CommandLine, tmp_path: Path) -> None:
    workspace = init_workspace(tmp_path / "bench")[0].root
    ran = cli("-C", workspace, "cache", "wheels", "nothing-here")
    assert (ran.code, ran.out) == (2, "")
    assert "nothing-here" in ran.err


def test_offline_a_url_is_read_from_its_clone_in_the_cache_alone(tmp_path: Path, box: RepoBuilder) -> None:
    store, url = Store(tmp_path / "cache"), f"file://{box.path}"
    with ExitStack() as stack, pytest.raises(InfrastructureError, match="was never cloned"):
        Opened(stack, offline=True)(url, store)
    with open_source(url, store.root):
        pass
    head = box.git("rev-parse", "HEAD").strip()
    box.path.rename(tmp_path / "moved away")
    with ExitStack() as stack:
        opened = Opened(stack, offline=True)
        repository = opened(url, store)
        assert repository.commit(head).id == head
        assert opened(url, store) is repository
        repository.plain_clone(tmp_path / "clone", url)
    assert (tmp_path / "clone" / "tests" / "test_box.py").read_text() == TEST
