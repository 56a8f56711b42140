"""``mine`` and ``add-case`` from a history to drafts, for real: an environment is built, tests run, drafts appear."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from casewright.cli.judgement_output import funnel_text
from casewright.cli.scanning import candidates
from casewright.configuration import RepositorySection
from casewright.new_workspace import init_workspace
from casewright.repository import open_source
from miner.funnel import Tally, funnel
from miner.history import Stretch
from miner.judgement import Judgement, Reached, Standing
from miner.ledger import Refused
from miner.observer import Unheard
from miner.reasons import Reason
from miner.scan import scan
from miner.shape_rules import rules_of
from tests.cli.test_mine_commands import snapshot
from tests.support.command_line import CommandLine
from tests.support.repos import RepoBuilder
from tests.support.sandbox import needs_sandbox

TEST = (
    "import unittest\nfrom box import area\n\n\nclass BoxTest(unittest.TestCase):\n    def test_area(self):\n"
    "        self.assertEqual(area(2, {}), {})\n"
)


@pytest.fixture
def box(tmp_path: Path) -> RepoBuilder:
    """A fix that can be proved, a change that its own test does not grade, and a document; newest last."""
    repo = RepoBuilder(tmp_path / "box")
    repo.commit("Begin", {"box.py": "def area(a, b):\n    return a + b\n"})
    repo.commit(
        "Multiply the sides of the box, do not add them",
        {"box.py": "def area(a, b):\n    return a * b\n", "tests/test_box.py": TEST.format(3, 6)},
    )
    repo.commit(
        "Name the parameters of area better than before",
        {"box.py": "def area(width, height):\n    return width * height\n", "tests/test_box.py": TEST.format(4, 8)},
    )
    repo.commit("Describe it", {"README.md": "A box.\n"})
    return repo


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return init_workspace(tmp_path / "bench")[0].root


@needs_sandbox
class TestForReal:
    def test_a_draft_that_was_deleted_stays_deleted_until_again(
        self, cli: CommandLine, box: RepoBuilder, workspace: Path
    ) -> None:
        assert cli("-C", workspace, "mine", box.path).code == 0
        (draft,) = (workspace / "cases").iterdir()
        draft.unlink()
        # Judged under another configuration, so known verdicts don't count; what a person deleted does.
        ran = cli("-C", workspace, "--format", "json", "mine", box.path, "--repeat", "2")
        admitted = next(row for row in ran.rows if row["outcome"] == "admitted")
        assert admitted["case"] is None
        assert "its draft was deleted" in admitted["detail"]
        assert not draft.exists()
        assert cli("-C", workspace, "mine", box.path, "--again").code == 0
        assert draft.exists()

    def test_a_history_becomes_drafts_and_a_second_run_judges_nothing_again(
        self, cli: CommandLine, box: RepoBuilder, workspace: Path
    ) -> None:
        ran = cli("-C", workspace, "mine", box.path, "--format", "json", "-q", "--repeat", "2")
        assert ran.code == 0
        assert [(row["subject"], row["outcome"], row["reason"]) for row in sorted(ran.rows, key=_place(box))] == [
            ("Describe it", "rejected", "no-test-change"),
            ("Name the parameters of area better than before", "rejected", "base-passes"),
            ("Multiply the sides of the box, do not add them", "admitted", None),
        ]
        admitted = next(row for row in ran.rows if row["outcome"] == "admitted")
        assert admitted["fail_to_pass"] == ["tests.test_box.BoxTest.test_area"]
        (draft,) = (workspace / "cases").iterdir()
        assert draft.stem == admitted["case"]

        before = snapshot(workspace / "cases")
        draft.unlink()
        again = cli("-C", workspace, "mine", box.path, "--format", "json", "-q", "--repeat", "2")
        # A draft that a person deleted stays deleted, and the verdict is the ledger's own, its time included.
        assert [row for row in again.rows if row["outcome"] == "admitted"] == [admitted]
        assert list((workspace / "cases").iterdir()) == []

        added = cli("-C", workspace, "add-case", "--repo", box.path, "--commit", admitted["head"], "-q")
        assert added.code == 0
        assert snapshot(workspace / "cases").keys() == before.keys()
        assert "admitted" in cli("-C", workspace, "funnel").out

    def test_a_rehearsal_judges_and_writes_nothing(self, cli: CommandLine, box: RepoBuilder, workspace: Path) -> None:
        before = snapshot(workspace)
        ran = cli(
            "-C", workspace, "add-case", "--repo", box.path, "--commit", "HEAD~1", "--dry-run", "--format", "json", "-q"
        )
        assert (ran.code, ran.json["outcome"], ran.json["reason"]) == (1, "rejected", "base-passes")
        assert snapshot(workspace) == before


def _place(box: RepoBuilder) -> Callable[[dict[str, str]], int]:
    order = box.git("rev-list", "HEAD").split()
    return lambda row: order.index(row["head"])


def test_where_no_sandbox_works_the_funnel_of_the_screens_is_still_told(
    cli: CommandLine, box: RepoBuilder, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refusing:
        name = "refusing"

        def unavailable(self) -> str:
            return "user namespaces are off"

    monkeypatch.setattr("execution.sandboxes.SANDBOXES", {"refusing": Refusing()})
    ran = cli("-C", workspace, "mine", box.path)
    assert ran.code == 3
    assert "no-test-change" in ran.out
    assert "user namespaces are off" in ran.err
    assert "casewright doctor" in ran.err
    told = cli("-C", workspace, "funnel", "--format", "json").json
    assert told["scanned"] == 1


def test_a_scan_hands_refused_changes_on_as_rows_and_returns_the_candidates(box: RepoBuilder, tmp_path: Path) -> None:
    rows: list[Refused] = []
    seen: list[Judgement] = []
    rules, limits = rules_of(RepositorySection())
    with open_source(str(box.path), tmp_path / "cache") as repository:
        changes = candidates(
            scan(repository, Stretch(branch="HEAD"), rules, limits),
            "box",
            observer=Unheard(),
            refused=rows.extend,
            seen=seen.append,
        )
    assert [change.head for change in changes] == [box.git("rev-parse", "HEAD~1"), box.git("rev-parse", "HEAD~2")]
    assert [(row.head, row.reason) for row in rows] == [(box.head(), Reason.NO_TEST_CHANGE)]
    assert [judgement.head for judgement in seen] == [box.head()]


def test_the_funnel_says_what_is_waiting_and_what_the_machine_spoilt() -> None:
    text = funnel_text(
        funnel(
            [
                Tally(reached=Reached.SHAPED, standing=Standing.CANDIDATE, reason=None, count=3),
                Tally(
                    reached=Reached.SHAPED, standing=Standing.INFRASTRUCTURE, reason=Reason.INFRASTRUCTURE, count=1200
                ),
            ]
        )
    )
    lines = text.splitlines()
    assert lines[0].split() == ["scanned", "1,203"]
    assert lines[5].split()[:2] == ["infrastructure", "1,200"]
    assert lines[6].split()[:2] == ["candidate", "3"]


@pytest.mark.parametrize(
    ("reason", "advised"), [(Reason.ENVIRONMENT_FAILED, True), (Reason.RUNNER_MISSING, True), (Reason.FLAKY, False)]
)
def test_the_funnel_says_where_the_reason_of_a_missing_environment_is_told(reason: Reason, *, advised: bool) -> None:
    row = Tally(reached=Reached.SHAPED, standing=Standing.REJECTED, reason=reason, count=1)
    assert ("casewright environment SOURCE --commit REV --build" in funnel_text(funnel([row]))) is advised
