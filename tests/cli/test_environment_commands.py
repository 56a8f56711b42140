"""``environment``: what would be built, why, by which commands; built where asked for, refused with a remedy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from casewright.cli.environment_output import folded
from casewright.new_workspace import init_workspace
from casewright.store import CACHE_VARIABLE
from tests.support.command_line import CommandLine
from tests.support.repos import RepoBuilder
from tests.support.sandbox import needs_sandbox

KEYS = {
    "repository", "commit", "base", "outcome", "test_files", "test_files_are_of_the_change", "language", "runtime",
    "runner", "directory", "date", "era", "reasons", "commands", "check", "stored", "notes", "built", "refusal",
}  # fmt: skip
TEST = "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        pass\n"
PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "box"
version = "1"
requires-python = ">=3.9"
dependencies = ["attrs"]
[dependency-groups]
test = ["pytest>=7"]
docs = ["sphinx"]
[tool.pytest.ini_options]
addopts = "--cov=box"
"""


@pytest.fixture
def box(tmp_path: Path) -> RepoBuilder:
    """A project in three commits: without a test, with one, and one that touches no test."""
    repo = RepoBuilder(tmp_path / "box")
    repo.commit("Begin", {"pyproject.toml": PROJECT, "box.py": "size = 1\n"})
    repo.commit("Hold the size", {"tests/test_box.py": "def test_size(): pass\n"})
    repo.commit("Grow", {"box.py": "size = 2\n"})
    return repo


@pytest.fixture
def plain(tmp_path: Path) -> RepoBuilder:
    """A folder of unittests that needs nothing of any index."""
    repo = RepoBuilder(tmp_path / "plain")
    repo.commit("Begin", {"plain.py": "size = 1\n"})
    repo.commit("Test it", {"test_plain.py": TEST})
    return repo


def about(row: dict[str, Any], subject: str) -> str:
    """All that is said about a subject."""
    reasons = [reason for reason in row["reasons"] if reason["about"] == subject]
    return " | ".join(f"{reason['chosen']}, {reason['because']} {reason['passed_over']}" for reason in reasons)


class TestPlanned:
    def test_each_choice_is_told_with_its_evidence(self, cli: CommandLine, box: RepoBuilder) -> None:
        ran = cli("environment", box.path, "--commit", "HEAD~1", "--format", "json")
        assert ran.code == 0
        row = ran.json
        assert row.keys() >= KEYS
        assert (row["outcome"], row["language"], row["runner"]) == ("planned", "python", "pytest")
        assert (row["test_files"], row["test_files_are_of_the_change"]) == (["tests/test_box.py"], True)
        assert (row["stored"], row["built"], row["refusal"]) == (False, None, None)
        assert "requires-python >=3.9" in about(row, "interpreter")
        assert "dependency group test" in about(row, "dependencies")
        assert "docs: not named for tests" in about(row, "dependencies")
        assert "24 hours after the commit" in about(row, "versions")
        assert "pytest-cov (addopts of pyproject.toml has --cov=box)" in about(row, "additions")
        assert "built by hatchling" in about(row, "project")
        assert row["check"].endswith("tests/test_box.py")
        assert row["commands"][0].endswith("-m venv ../env")
        assert row["commands"][-1].endswith("-e .")
        dated = next(command for command in row["commands"] if command.startswith("uv pip compile"))
        assert row["date"] in dated

    def test_a_commit_without_tests_is_planned_for_those_of_its_tree(self, cli: CommandLine, box: RepoBuilder) -> None:
        row = cli("environment", box.path, "--format", "json").json
        assert (row["test_files"], row["test_files_are_of_the_change"]) == (["tests/test_box.py"], False)

    def test_the_first_commit_has_an_environment_too(self, cli: CommandLine, tmp_path: Path) -> None:
        repo = RepoBuilder(tmp_path / "one")
        repo.commit("Begin", {"test_one.py": TEST})
        row = cli("environment", repo.path, "--format", "json").json
        assert (row["base"], row["runner"]) == (None, "unittest")

    def test_people_get_eighty_columns_without_colour(self, cli: CommandLine, box: RepoBuilder) -> None:
        ran = cli("environment", box.path, "--commit", "HEAD~1")
        assert (ran.code, ran.err) == (0, "")
        assert "\x1b" not in ran.out
        assert max(map(len, ran.out.splitlines())) <= 80
        assert re.search(r"^interpreter +Python 3", ran.out, re.MULTILINE)
        assert "commands of its set-up" in ran.out

    def test_settings_of_a_workspace_count(self, cli: CommandLine, box: RepoBuilder, tmp_path: Path) -> None:
        init_workspace(tmp_path / "bench")
        settings = tmp_path / "bench" / "casewright.yaml"
        text = settings.read_text().replace("repositories: {}", "repositories:\n  box:\n    runner: unittest")
        settings.write_text(text)
        before = sorted(path.name for path in (tmp_path / "bench" / ".casewright").iterdir())
        row = cli("-C", tmp_path / "bench", "environment", box.path, "--format", "json").json
        assert row["runner"] == "unittest"
        assert sorted(path.name for path in (tmp_path / "bench" / ".casewright").iterdir()) == before

    def test_commands_of_the_user_s_own_are_told(self, cli: CommandLine, plain: RepoBuilder) -> None:
        own = ("--test-cmd", "run {files} > {report}", "--setup-cmd", "make deps")
        row = cli("environment", plain.path, *own, "--format", "json").json
        assert (row["language"], row["commands"]) == ("generic", ["make deps"])
        assert "run test_plain.py" in row["check"]


class TestRefused:
    def test_a_tree_without_tests(self, cli: CommandLine, box: RepoBuilder) -> None:
        ran = cli("environment", box.path, "--commit", "HEAD~2", "--format", "json")
        assert (ran.code, ran.json["outcome"], ran.json["refusal"]["reason"]) == (1, "refused", "unknown-language")
        assert "tests.graded" in ran.json["refusal"]["remedy"]

    def test_an_interpreter_that_is_not_here(self, cli: CommandLine, tmp_path: Path) -> None:
        repo = RepoBuilder(tmp_path / "old")
        text = '[project]\nname = "old"\nversion = "1"\nrequires-python = "==3.4.*"\n'
        repo.commit("Begin", {"pyproject.toml": text, "test_old.py": TEST})
        ran = cli("environment", repo.path)
        assert ran.code == 1
        assert "no environment: runtime-unavailable" in ran.out
        assert "what helps" in ran.out

    def test_an_unknown_commit_is_wrong_usage(self, cli: CommandLine, box: RepoBuilder) -> None:
        assert cli("environment", box.path, "--commit", "nowhere").code == 2


@needs_sandbox
class TestBuilt:
    @pytest.fixture(autouse=True)
    def a_cache_of_its_own(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The tests of others build the same empty environment."""
        monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))

    def test_it_is_built_once_and_found_again(self, cli: CommandLine, plain: RepoBuilder) -> None:
        first = cli("environment", plain.path, "--build", "--format", "json").json
        assert (first["outcome"], first["stored"], first["built"]["reused"]) == ("built", True, False)
        assert first["built"]["setup"] == first["commands"]
        second = cli("environment", plain.path, "--build", "--format", "json").json
        assert second["built"]["reused"]
        assert cli("environment", plain.path, "--format", "json").json["stored"]

    def test_a_failed_build_says_the_step_and_what_helps(self, cli: CommandLine, plain: RepoBuilder) -> None:
        own = ("--test-cmd", "true {files} > {report}", "--setup-cmd", "echo telling words >&2; exit 3")
        ran = cli("environment", plain.path, *own, "--build", "--format", "json")
        assert (ran.code, ran.json["outcome"]) == (1, "refused")
        refusal = ran.json["refusal"]
        assert (refusal["reason"], refusal["lines"]) == ("environment-failed", ["telling words"])
        assert refusal["step"].startswith("set-up command 1")
        assert not ran.json["stored"]

    def test_the_workspace_keeps_the_era_s_date_for_mine(
        self, cli: CommandLine, plain: RepoBuilder, tmp_path: Path
    ) -> None:
        init_workspace(tmp_path / "bench")
        newer = cli("-C", tmp_path / "bench", "environment", plain.path, "--build", "--format", "json").json
        plain.commit("Test more", {"test_more.py": TEST})
        again = cli("-C", tmp_path / "bench", "environment", plain.path, "--commit", "HEAD~1", "--format", "json").json
        assert (again["date"], again["stored"]) == (newer["date"], True)


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("a b", ["a b"]),
        ("pip install --one --two three", ["pip install --one \\", "    --two three"]),
        ("echo 'a long quoted word' x", ["echo \\", "    'a long quoted word' \\", "    x"]),
        (
            "cat > f <<'EOF'\nlong line that is left as it is\nEOF",
            ["cat > f <<'EOF'", "long line that is left as it is", "EOF"],
        ),
        ("one\ntwo", ["one", "two"]),
    ],
)
def test_commands_are_folded_so_that_they_can_be_typed(command: str, lines: list[str]) -> None:
    assert folded(command, 20) == lines
