"""``init``, ``doctor``, ``cache`` and ``schema``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from casewright.cli import machine
from casewright.cli.machine import Finding, Standing
from casewright.store import CACHE_VARIABLE, ENVIRONMENTS, Store
from tests.support.command_line import CommandLine


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    return Store()


def put(store: Store, key: str, dependencies: list[str]) -> None:
    def make(folder: Path) -> None:
        (folder / "environment.json").write_text(json.dumps({"schema": 1, "dependencies": dependencies}))

    with store.entry(ENVIRONMENTS, key, make):
        pass


class TestInit:
    def test_a_workspace_is_made_and_says_what_to_do_next(self, cli: CommandLine, tmp_path: Path) -> None:
        ran = cli("init", tmp_path / "bench")
        assert ran.code == 0
        assert "wrote casewright.yaml" in ran.out
        assert "README.md says what to do next" in ran.err
        assert (tmp_path / "bench" / "cases").is_dir()

    def test_the_folder_of_minus_c_is_meant_when_none_is_named(self, cli: CommandLine, tmp_path: Path) -> None:
        told = cli("-C", tmp_path, "init", "--format", "json", "-q")
        assert told.err == ""
        assert told.json["workspace"] == str(tmp_path)

    def test_a_second_time_is_refused_and_changes_nothing(self, cli: CommandLine, tmp_path: Path) -> None:
        cli("init", tmp_path)
        (tmp_path / "casewright.yaml").write_text("mine\n")
        ran = cli("init", tmp_path)
        assert (ran.code, ran.out) == (3, "")
        assert (tmp_path / "casewright.yaml").read_text() == "mine\n"


class TestDoctor:
    def test_a_machine_that_can_do_all_gives_0(self, cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            machine, "examine", lambda: (Finding(subject="git", standing=Standing.GOOD, detail="2.39.5"),)
        )
        ran = cli("doctor")
        assert (ran.code, ran.out, ran.err) == (0, "good  git  2.39.5\n", "")

    def test_what_blocks_gives_3_with_the_line_that_mends_it(
        self, cli: CommandLine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        finding = Finding(subject="sandbox", standing=Standing.BLOCKS, detail="refused", remedy="sysctl -w x=1")
        monkeypatch.setattr(machine, "examine", lambda: (finding,))
        ran = cli("doctor")
        assert ran.code == 3
        assert "-> sysctl -w x=1" in ran.out
        assert "no case can be admitted" in ran.err
        told = cli("doctor", "--format", "json")
        assert told.code == 3
        assert told.json["able"] is False

    def test_the_real_machine_is_looked_at(self, cli: CommandLine) -> None:
        told = cli("doctor", "--format", "json")
        subjects = [finding["subject"] for finding in told.json["findings"]]
        assert {"git", "python", "uv", "node", "go", "rust", "network denied", "cache"} <= set(subjects)
        assert told.code == (0 if told.json["able"] else 3)


class TestFindings:
    @pytest.mark.parametrize(
        ("told", "standing"),
        [
            ("git version 2.39.5", Standing.GOOD),
            ("git version 2.25.0", Standing.GOOD),
            ("git version 2.50.1 (Apple Git-155)", Standing.GOOD),
            ("git version 2.24.9", Standing.BLOCKS),
            ("git version 1.8", Standing.BLOCKS),
            (None, Standing.BLOCKS),
        ],
    )
    def test_git_must_be_recent(self, told: str | None, standing: Standing) -> None:
        assert machine.git_finding(told).standing is standing

    def test_a_missing_runtime_is_a_lack_and_blocks_nothing(self) -> None:
        assert machine.node_finding(None).standing is Standing.LACKS
        assert machine.python_finding(()).standing is Standing.LACKS
        assert machine.go_finding(()).standing is Standing.LACKS
        assert machine.rust_finding(()).standing is Standing.LACKS
        assert machine.rust_finding(("1.95.0", "1.70.0")).detail == "1.95.0, 1.70.0"

    @pytest.mark.parametrize("denied", [False, None])
    def test_a_network_that_is_not_denied_blocks(self, denied: bool | None) -> None:
        assert machine.network_finding(denied, "TCP got through").standing is Standing.BLOCKS

    def test_a_backend_that_does_not_work_blocks_only_where_it_is_needed(self) -> None:
        assert machine.backend_finding("unshare", "refused; do this", needed=True).standing is Standing.BLOCKS
        spare = machine.backend_finding("unshare", "refused; do this", needed=False)
        assert (spare.standing, spare.detail, spare.remedy) == (Standing.LACKS, "refused", "do this")

    def test_a_cache_that_is_not_there_yet_is_judged_by_the_folder_above(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "a" / "b"))
        assert machine.cache_finding().standing in {Standing.GOOD, Standing.LACKS}
        assert not (tmp_path / "a").exists()


class TestCache:
    def test_an_empty_cache_lists_nothing(self, cli: CommandLine, store: Store) -> None:
        ran = cli("cache", "list")
        assert (ran.code, ran.out) == (0, "")
        assert f"0 entries, 0 B in {store.root}" in ran.err

    def test_entries_are_listed_and_pruned(self, cli: CommandLine, store: Store) -> None:
        put(store, "a" * 64, [])
        assert [entry["key"] for entry in cli("cache", "list", "--format", "json").json["entries"]] == ["a" * 64]
        assert cli("cache", "prune").out.startswith("removed 0 entries")
        assert cli("cache", "prune", "--keep", "0").out.startswith("removed 1 entries")
        assert store.entries() == ()

    def test_packages_are_counted_over_environments(self, cli: CommandLine, store: Store) -> None:
        put(store, "a" * 64, ["pytest==8.0 --hash=sha256:0", "attrs==23.1"])
        put(store, "b" * 64, ["pytest==8.0"])
        assert cli("cache", "wheels", "--format", "json").json == [
            {"package": "attrs==23.1", "environments": 1},
            {"package": "pytest==8.0", "environments": 2},
        ]

    @pytest.mark.parametrize(
        ("arguments", "what"),
        [(("--keep", "much"), "'much' is not a size"), (("--keep", "1G", "--all"), "can't both")],
    )
    @pytest.mark.usefixtures("store")
    def test_wrong_bounds_are_refused(self, cli: CommandLine, arguments: tuple[str, ...], what: str) -> None:
        ran = cli("cache", "prune", *arguments)
        assert ran.code == 2
        assert what in ran.err

    def test_cache_alone_shows_its_commands(self, cli: CommandLine) -> None:
        ran = cli("cache")
        assert (ran.code, ran.out) == (2, "")
        assert "prune" in ran.err


class TestSchema:
    @pytest.mark.parametrize("name", ["draft", "library", "configuration"])
    def test_each_format_has_one(self, cli: CommandLine, name: str) -> None:
        assert cli("schema", name).json["$schema"].startswith("https://json-schema.org/")
        assert set(cli("schema").json) == {"draft", "library", "configuration"}

    def test_an_unknown_format_names_the_known_ones(self, cli: CommandLine) -> None:
        ran = cli("schema", "recipe")
        assert ran.code == 2
        assert "choose one of" in ran.err
