"""The shared oddities, judged for real in the sandbox: verdicts, and the tests that flip, by the runner's own ids."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import CommandLine
from tests.support.repos import Oddity, oddity
from tests.support.sandbox import needs_sandbox

pytestmark = needs_sandbox


def judge(cli: CommandLine, tmp_path: Path, repository: Path, head: str) -> dict[str, Any]:
    """Judge one commit by ``add-case`` in a workspace of its own; return what it prints."""
    workspace = tmp_path / "workspace"
    if not workspace.exists():
        assert cli("init", str(workspace)).code == 0
    ran = cli("-C", str(workspace), "--format", "json", "add-case", "--commit", head, "--repo", str(repository))
    assert ran.code in {0, 1}, ran.err
    found = json.loads(ran.out)
    assert isinstance(found, dict)
    return found


def pins(built: Oddity, case: Mapping[str, Any]) -> str:
    return str(built.facts[case["head"]])


@pytest.mark.parametrize(
    "name",
    [
        "01-rename-across-split",
        "02-test-word-in-path",
        "03-odd-path-names",
        "07-line-endings",
        "10-changes-without-hunks",
        "11-binary-files",
        "13-submodule-pointer",
        "14-ways-to-merge",
        "15-commits-that-are-no-task",
    ],
)
def test_every_case_is_judged_as_expected(name: str, cli: CommandLine, tmp_path: Path) -> None:
    built = oddity(name, tmp_path / "oddity")
    for case in built.cases:
        if case["name"].startswith(("PR 3", "PR 6")):
            # Several commits that landed without a merge: one commit alone is not the change (that takes the forge).
            continue
        seen = judge(cli, tmp_path, built.folder / case.get("repo", "repo"), pins(built, case))
        admitted = case["verdict"] == "admit"
        assert (seen["outcome"] == "admitted") is admitted, (case["name"], seen["reason"], seen["detail"])
        if admitted:
            assert seen["fail_to_pass"] == sorted(case["fail_to_pass"]), case["name"]
            if "pass_to_pass" in case:
                wanted = sorted(test for test in case["pass_to_pass"] if graded(test, seen))
                assert seen["pass_to_pass"] == wanted, case["name"]


def graded(test: str, seen: dict[str, Any]) -> bool:
    """Say whether a unittest id belongs to a graded file: others of the repository are not run."""
    return any(test.startswith(path.removesuffix(".py").replace("/", ".") + ".") for path in seen["graded_files"])


def test_hostile_configuration_changes_nothing_and_starts_nothing(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = oddity("04-hostile-git-config", tmp_path / "oddity")
    case = built.cases[0]
    plain = judge(cli, tmp_path / "plain", built.folder / "plain", pins(built, case))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(built.folder / "gitconfig"))
    hostile = judge(cli, tmp_path / "hostile", built.folder / "repo", pins(built, case))
    same = ("outcome", "reason", "base", "head", "graded_files", "fail_to_pass", "pass_to_pass", "fails_by")
    assert {key: hostile[key] for key in same} == {key: plain[key] for key in same}
    assert hostile["outcome"] == "admitted"
    assert hostile["fail_to_pass"] == case["fail_to_pass"]
    assert list(built.folder.rglob("MARK-*")) == []


@pytest.mark.network
def test_pytest_ids_and_outcomes(cli: CommandLine, tmp_path: Path) -> None:
    built = oddity("19-pytest-ids", tmp_path / "oddity")
    case = built.cases[0]
    seen = judge(cli, tmp_path, built.folder / "repo", pins(built, case))
    # Every graded file but one keeps a test that fails at the head, so by the whole-file rule nothing is left to grade.
    assert seen["reason"] == "red-at-both"
    assert seen["fail_to_pass"] == sorted(case["fail_to_pass"])
    # test_truth.py is no file of the change, so it is not run.
    assert seen["pass_to_pass"] == sorted(set(case["pass_to_pass"]) - {"tests/test_truth.py::test_truth"})


def test_node_test_ids_and_outcomes(cli: CommandLine, tmp_path: Path) -> None:
    built = oddity("21-node-test-ids", tmp_path / "oddity")
    case = built.cases[0]
    seen = judge(cli, tmp_path, built.folder / "repo", pins(built, case))
    assert [row["path"] for row in seen["excluded_files"]] == ["test/a.test.js"]
    assert seen["excluded_files"][0]["reason"] == "red-at-both"
    kept = ("test/b.test.js", "test/exits.test.js", "test/mul.test.js")
    assert seen["outcome"] == "admitted"
    assert seen["fail_to_pass"] == sorted(test for test in case["fail_to_pass"] if test.startswith(kept))
