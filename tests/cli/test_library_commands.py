"""``lint``, ``cut``, ``withdraw``, ``check``, ``diff`` and ``cite``, from drafts on the disk to a citation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from casewright.workspace import Workspace
from miner.judgement import Judgement, Reached, Standing
from miner.ledger import Ledger, Refused
from miner.reasons import Reason
from tests.cli.test_mine_commands import snapshot
from tests.support.cases import plain_case
from tests.support.command_line import CommandLine
from tests.support.libraries import workspace_with
from tests.support.sandbox import needs_sandbox

UNREAD: dict[str, Any] = {"state": "auto", "by": None, "date": None, "task_digest": None, "waivers": []}
LINTY = "See commit 249689d816 for what to do here, and do it well so that all tests of the record search pass.\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return workspace_with(tmp_path / "bench", [plain_case(review=UNREAD)])


@pytest.fixture
def release(cli: CommandLine, workspace: Workspace) -> Path:
    assert cli("-C", workspace.root, "cut", "--include-auto").code == 0
    return workspace.releases / "ours-v1.json"


def edit(workspace: Workspace, old: str, new: str) -> None:
    (path,) = workspace.cases.glob("*.yaml")
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


class TestLint:
    def test_drafts_with_nothing_to_mend_are_listed(self, cli: CommandLine, workspace: Workspace) -> None:
        ran = cli("-C", workspace.root, "lint")
        assert (ran.code, ran.out) == (0, "cases/ledger-249689d816.yaml: auto, nothing to mend\n")

    def test_an_empty_workspace_says_what_makes_drafts(self, cli: CommandLine, tmp_path: Path) -> None:
        assert cli("-C", workspace_with(tmp_path / "w", []).root, "lint").err == (
            "there is no draft to look at; `casewright mine SOURCE` makes some\n"
        )

    def test_an_error_says_where_and_what_to_do(self, cli: CommandLine, tmp_path: Path) -> None:
        workspace = workspace_with(tmp_path / "w", [plain_case(task=LINTY)])
        ran = cli("-C", workspace.root, "lint", "ledger-249689d816")
        assert ran.code == 1
        assert "error commit-id in task" in ran.out
        (told,) = cli("-C", workspace.root, "lint", "--format", "json").json
        finding = told["findings"][0]
        assert LINTY[finding["start"] : finding["end"]] == finding["text"] == "249689d816"

    def test_a_draft_that_can_not_be_read_is_told_after_the_others(
        self, cli: CommandLine, workspace: Workspace
    ) -> None:
        (workspace.cases / "broken.yaml").write_text("id: [\n")
        ran = cli("-C", workspace.root, "lint")
        assert ran.code == 2
        assert "ledger-249689d816" in ran.out
        assert ran.err.startswith("error: cases/broken.yaml:")

    def test_an_unknown_draft_is_told(self, cli: CommandLine, workspace: Workspace) -> None:
        ran = cli("-C", workspace.root, "lint", "nothing-such")
        assert (ran.code, ran.out) == (2, "")
        assert "no draft 'nothing-such'" in ran.err


class TestReview:
    def test_a_draft_that_was_read_can_be_cut(self, cli: CommandLine, workspace: Workspace) -> None:
        ran = cli("-C", workspace.root, "review", "ledger-249689d816", "--by", "B. Reader")
        assert (ran.code, ran.out) == (0, "cases/ledger-249689d816.yaml: verified, nothing to mend\n")
        assert cli("-C", workspace.root, "cut").code == 0

    def test_a_task_with_errors_is_not_recorded_as_read(self, cli: CommandLine, tmp_path: Path) -> None:
        workspace = workspace_with(tmp_path / "w", [plain_case(task=LINTY, review=UNREAD)])
        ran = cli("-C", workspace.root, "review", "ledger-249689d816", "--by", "B. Reader", "--format", "json")
        assert (ran.code, ran.json["state"]) == (1, "auto")
        assert "--waive CODE=REASON" in ran.err
        assert cli("-C", workspace.root, "lint", "--format", "json").json[0]["state"] == "auto"

    def test_a_waiver_lets_the_text_stand_until_it_changes(self, cli: CommandLine, tmp_path: Path) -> None:
        workspace = workspace_with(tmp_path / "w", [plain_case(task=LINTY, review=UNREAD)])
        why = "the task is about this very id"
        ran = cli("-C", workspace.root, "review", "ledger-249689d816", "--by", "B", "--waive", f"commit-id={why}")
        assert ran.code == 0
        assert f"(waived: {why})" in ran.out
        # Read again without naming it: the waiver holds as long as its text stands there.
        assert cli("-C", workspace.root, "review", "ledger-249689d816", "--by", "C").code == 0
        assert cli("-C", workspace.root, "cut").code == 0
        edit(workspace, "See commit 249689d816", "See commit 249689d817")
        assert cli("-C", workspace.root, "review", "ledger-249689d816", "--by", "C").code == 1

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            (("--by", " "), "' ' is no name"),
            (("--by", "B", "--waive", "commit-id"), "is not CODE=REASON"),
            (("--by", "B", "--waive", "link=none is there"), "has no finding 'link' to waive"),
        ],
    )
    def test_what_can_not_be_recorded_is_told(
        self, cli: CommandLine, workspace: Workspace, options: tuple[str, ...], told: str
    ) -> None:
        ran = cli("-C", workspace.root, "review", "ledger-249689d816", *options)
        assert (ran.code, ran.out) == (2, "")
        assert told in ran.err


class TestVerify:
    def test_a_folder_of_packages_is_for_offline_alone(
        self, cli: CommandLine, workspace: Workspace, tmp_path: Path
    ) -> None:
        ran = cli("-C", workspace.root, "verify", "--from", tmp_path)
        assert (ran.code, ran.out) == (2, "")
        assert "--from DIR is for --offline" in ran.err

    @needs_sandbox
    def test_offline_nobody_is_asked_for_a_repository(self, cli: CommandLine, workspace: Workspace) -> None:
        ran = cli("-C", workspace.root, "verify", "--offline", "--format", "json", "-q")
        assert ran.code == 3
        (row,) = ran.rows
        assert row["outcome"] == "infrastructure"
        assert "was never cloned on this machine" in row["difference"]

    @needs_sandbox
    def test_a_repository_that_can_not_be_had_is_no_verdict(
        self, cli: CommandLine, workspace: Workspace, tmp_path: Path
    ) -> None:
        before = snapshot(workspace.cases)
        ran = cli("-C", workspace.root, "verify", "--repo", tmp_path / "absent", "--update", "--format", "json", "-q")
        assert ran.code == 3
        (row,) = ran.rows
        assert (row["case"], row["outcome"]) == ("ledger-249689d816", "infrastructure")
        assert snapshot(workspace.cases) == before

    def test_no_draft_is_nothing_to_do(self, cli: CommandLine, tmp_path: Path) -> None:
        workspace = workspace_with(tmp_path / "w", [])
        ran = cli("-C", workspace.root, "verify")
        assert (ran.code, ran.out) == (0, "")
        assert "no draft to verify" in ran.err


class TestCut:
    def test_a_draft_that_nobody_has_read_is_named_and_nothing_is_written(
        self, cli: CommandLine, workspace: Workspace
    ) -> None:
        ran = cli("-C", workspace.root, "cut")
        assert ran.code == 1
        assert "not ready: ledger-249689d816" in ran.out
        assert list(workspace.releases.iterdir()) == []

    def test_a_release_is_told_with_its_digest_counts_and_limits(self, cli: CommandLine, workspace: Workspace) -> None:
        told = cli("-C", workspace.root, "cut", "--include-auto", "--format", "json").json
        document = json.loads((workspace.releases / "ours-v1.json").read_text())
        assert told["path"] == "releases/ours-v1.json"
        assert told["entries_digest"] == document["entries_digest"]
        assert told["added"] == ["ledger-249689d816"]
        assert told["limits"] == document["limits"]

    def test_equal_entries_are_nothing_to_release(self, cli: CommandLine, workspace: Workspace, release: Path) -> None:
        before = release.read_bytes()
        ran = cli("-C", workspace.root, "cut", "--include-auto")
        assert (ran.code, ran.out) == (0, "nothing to release: the entries are those of version 1\n")
        assert release.read_bytes() == before
        assert len(list(workspace.releases.glob("*-v*.json"))) == 1

    def test_what_was_refused_stands_beside_the_release(self, cli: CommandLine, workspace: Workspace) -> None:
        refused = Refused(base="a" * 40, head="b" * 40, landing="direct", reason=Reason.TOO_LARGE, subject="A\x7f\x1b")
        flaky = Judgement(
            repository="o/r",
            base="c" * 40,
            head="d" * 40,
            landing="merge",
            subject="caf\udce9",
            reached=Reached.RAN,
            standing=Standing.REJECTED,
            reason=Reason.FLAKY,
            detail="t::x",
        )
        with Ledger.open(workspace.ledger, tool="t") as ledger:
            ledger.refused("o/r", "c", [refused])
            ledger.judged(flaky, configuration="c", started=0, finished=1)
        assert cli("-C", workspace.root, "cut", "--include-auto").code == 0
        rows = [json.loads(line) for line in (workspace.releases / "ours-v1.rejections.jsonl").read_text().splitlines()]
        assert [(row["subject"], row["reason"]) for row in rows] == [
            ("A\\x7f\\x1b", "too-large"),
            ("caf\\xe9", "flaky"),
        ]
        assert cli("check", workspace.releases / "ours-v1.json").code == 0

    @pytest.mark.parametrize(
        ("arguments", "what"),
        [
            (("--spread", "colour"), "'colour'"),
            (("--since", "2024"), "'2024' is not a day"),
            (("--seed", "x"), "'x' is not a whole number"),
        ],
    )
    def test_a_choice_that_makes_no_sense_is_refused(
        self, cli: CommandLine, workspace: Workspace, arguments: tuple[str, ...], what: str
    ) -> None:
        ran = cli("-C", workspace.root, "cut", *arguments)
        assert (ran.code, ran.out) == (2, "")
        assert what in ran.err


class TestWithdraw:
    @pytest.mark.usefixtures("release")
    def test_a_released_case_is_withdrawn(self, cli: CommandLine, workspace: Workspace) -> None:
        ran = cli("-C", workspace.root, "withdraw", "ledger-249689d816", "--reason", "The task gives it away.")
        assert ran.code == 0
        assert ran.out == "withdrew ledger-249689d816: The task gives it away.\n"

    @pytest.mark.usefixtures("release")
    def test_a_case_that_was_never_released_is_refused(self, cli: CommandLine, workspace: Workspace) -> None:
        ran = cli("-C", workspace.root, "withdraw", "nothing-such", "--reason", "x")
        assert (ran.code, ran.out) == (2, "")

    def test_a_reason_is_asked_for(self, cli: CommandLine, workspace: Workspace) -> None:
        assert "--reason" in cli("-C", workspace.root, "withdraw", "ledger-249689d816").err


class TestCheck:
    def test_a_whole_library_is_shown_with_counts_and_limits(self, cli: CommandLine, release: Path) -> None:
        ran = cli("check", release)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.startswith("ours-v1.json: whole\n  ours version 1, entries sha256:")
        assert "1 case" in ran.out
        assert "Limit: " in ran.out

    def test_every_fault_is_listed_and_the_answer_is_no(self, cli: CommandLine, release: Path) -> None:
        release.chmod(0o644)
        release.write_text(release.read_text().replace('"cases": 1,', '"cases": 2,', 1))
        ran = cli("check", release, "--format", "json")
        assert ran.code == 1
        assert ran.json["whole"] is False
        assert any(fault.startswith("/counts/cases: ") for fault in ran.json["faults"])
        assert "NOT WHOLE" in cli("check", release).out

    @pytest.mark.usefixtures("release")
    def test_a_history_is_checked_file_by_file(self, cli: CommandLine, workspace: Workspace) -> None:
        edit(workspace, "case_version: 1", "case_version: 2")
        assert cli("-C", workspace.root, "cut", "--include-auto").code == 0
        told = cli("check", "--history", workspace.releases, "--format", "json")
        assert told.code == 0
        assert [report["version"] for report in told.json] == [1, 2]

    def test_something_must_be_named(self, cli: CommandLine, release: Path) -> None:
        assert cli("check").code == 2
        assert cli("check", release, "--history", release.parent).code == 2

    def test_a_file_that_is_not_there_is_no_answer(self, cli: CommandLine, tmp_path: Path) -> None:
        ran = cli("check", tmp_path / "absent.json")
        assert (ran.code, ran.out) == (2, "")
        assert "absent.json can't be read" in ran.err


class TestDiffAndCite:
    @pytest.fixture
    def second(self, cli: CommandLine, workspace: Workspace, release: Path) -> Path:
        edit(workspace, "case_version: 1", "case_version: 2")
        assert cli("-C", workspace.root, "cut", "--include-auto").code == 0
        return release.with_name("ours-v2.json")

    def test_what_changed_is_told_by_case_and_field(self, cli: CommandLine, release: Path, second: Path) -> None:
        assert cli("diff", release, second, "--format", "json").json["revised"] == [
            {"id": "ledger-249689d816", "fields": ["case_version"]}
        ]
        assert "~ ledger-249689d816: case_version" in cli("diff", release, second).out

    def test_the_exit_code_answers_only_when_asked(self, cli: CommandLine, release: Path, second: Path) -> None:
        assert cli("diff", release, second).code == 0
        assert cli("diff", release, second, "--exit-code").code == 1
        assert cli("diff", release, release, "--exit-code").code == 0

    def test_a_library_is_cited_in_three_forms(self, cli: CommandLine, release: Path) -> None:
        digest = json.loads(release.read_text())["entries_digest"]
        assert digest in cli("cite", release).out
        assert cli("cite", release, "--bibtex").out.startswith("@")
        assert cli("cite", release, "--cff").out.startswith("cff-version: 1.2.0\n")
        assert cli("cite", release, "--cff", "--format", "json").json["form"] == "cff"
        assert cli("cite", release, "--cff", "--bibtex").code == 2

    def test_one_case_is_cited(self, cli: CommandLine, release: Path) -> None:
        assert "Case: ledger-249689d816, version 1" in cli("cite", release, "--case", "ledger-249689d816").out
        ran = cli("cite", release, "--case", "nothing-such")
        assert (ran.code, ran.out) == (2, "")

    def test_a_library_that_is_not_whole_is_not_cited(self, cli: CommandLine, release: Path) -> None:
        release.chmod(0o644)
        release.write_text(release.read_text() + " ")
        ran = cli("cite", release)
        assert (ran.code, ran.out) == (2, "")
        assert "is not whole" in ran.err
