"""Drafts are written once and keep what a person changed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from authoring.case import ReviewState, Waiver, to_plain
from authoring.consistency import effective_state
from authoring.draft import (
    draft_text,
    drafts_held,
    edit_draft,
    list_drafts,
    load_draft,
    load_drafts,
    mark_reviewed,
    parse_draft,
    readable_drafts,
    update_record,
    write_draft,
)
from authoring.lint import lint
from casewright.errors import DocumentError, InvalidInputError, WorkspaceError
from casewright.new_workspace import init_workspace
from casewright.workspace import Workspace, locked
from tests.support.cases import as_case, plain_case, sealed
from tests.support.libraries import cases


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return init_workspace(tmp_path)[0]


def test_a_new_draft_is_read_back_and_holds_its_task_as_a_block(workspace: Workspace) -> None:
    case = as_case(plain_case())
    path = write_draft(workspace, case)
    assert load_draft(workspace, case.id).case == case
    text = path.read_text()
    assert "task: |\n  Search results" in text
    assert '\nbase_commit: "d78903c79a1cb3f0664815079f6e7e15bb4fb990"\n' in text
    assert text.startswith("# A casewright draft.")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases())
def test_any_case_is_written_and_read_back(plain: dict[str, Any]) -> None:
    text = draft_text(as_case(plain))
    case = parse_draft(text.encode(), "x.yaml")
    assert to_plain(case) == plain
    assert draft_text(case) == text


def test_a_draft_is_never_overwritten(workspace: Workspace) -> None:
    path = write_draft(workspace, as_case(plain_case()))
    path.write_text(path.read_text() + "# mine\n")
    before = path.read_bytes()
    with pytest.raises(InvalidInputError, match="is there already"):
        write_draft(workspace, as_case(plain_case(category="other")))
    assert path.read_bytes() == before


def test_a_case_that_contradicts_itself_is_not_written(workspace: Workspace) -> None:
    with pytest.raises(DocumentError, match="edited by hand"):
        write_draft(workspace, as_case({**plain_case(), "repository_url": "https://example.org/other"}))
    assert list_drafts(workspace) == ()


def test_a_later_run_changes_its_own_fields_alone(workspace: Workspace) -> None:
    write_draft(workspace, as_case(plain_case()))
    draft = load_draft(workspace, "ledger-249689d816")
    edited = draft.data.decode().replace("category: backend", "category: 'backend'   # or search?")
    edited = edited.replace("task: |\n", "\n# I wrote this\ntask: |\n").replace("  files:\n", "  # checked\n  files:\n")
    draft.path.write_text(edited)
    again = plain_case(category="tool's", task="Tool's task.\n")
    again["environment"]["dependencies"] = ["pluggy==1.5.0", "pytest==9.1.1"]
    kept = update_record(load_draft(workspace, draft.case.id), as_case(sealed(again)))
    assert kept.case.environment.dependencies == ("pluggy==1.5.0", "pytest==9.1.1")
    digests = (draft.case.verification.record_digest, kept.case.verification.record_digest)
    expected = edited.replace("    - pytest==9.1.1\n", "    - pluggy==1.5.0\n    - pytest==9.1.1\n").replace(*digests)
    assert draft.path.read_text() == expected


def test_an_update_that_changes_nothing_leaves_the_bytes(workspace: Workspace) -> None:
    case = as_case(plain_case())
    path = write_draft(workspace, case)
    before = path.stat()
    update_record(load_draft(workspace, case.id), case)
    assert path.stat() == before


def test_faults_of_all_drafts_are_told_together(workspace: Workspace) -> None:
    write_draft(workspace, as_case(plain_case()))
    good = draft_text(as_case(plain_case(id="b")))
    (workspace.cases / "b.yaml").write_text(
        good.replace('base_commit: "d7', 'base_commit: "D7').replace("size:", "sizes:")
    )
    (workspace.cases / "c.yaml").write_text(good)
    (workspace.cases / "d.yaml").write_text(good.replace("id: b\n", "id: d\nid: e\n"))
    with pytest.raises(DocumentError) as caught:
        load_drafts(workspace)
    told = str(caught.value)
    assert "base_commit: 'D78903c79a1cb3f0664815079f6e7e15bb4fb990' is not a full lowercase object id" in told
    assert "size: is missing" in told
    assert "sizes: is not a key that stands here" in told
    assert "cases/c.yaml: id: is 'b'; a draft is named after its id" in told
    assert "cases/d.yaml:4:5: id: the key 'id' stands twice (again at line 5)" in told
    assert [type(one).__name__ for one in readable_drafts(workspace)] == ["DocumentError"] * 3 + ["Draft"]


def test_an_edit_by_hand_of_the_record_is_seen_and_can_be_verified_again(workspace: Workspace) -> None:
    path = write_draft(workspace, as_case(plain_case()))
    path.write_text(path.read_text().replace("seconds: 60", "seconds: 61"))
    with pytest.raises(
        DocumentError, match=r"cases/.*:\d+:\d+: verification\.record_digest: the record was edited by hand"
    ):
        load_draft(workspace, path.stem)
    assert load_draft(workspace, path.stem, edited_record=True).case.grading.limits.seconds == 61


def test_a_review_holds_until_the_task_changes(workspace: Workspace) -> None:
    plain = plain_case()
    plain["review"] = {"state": "auto", "by": None, "date": None, "task_digest": None, "waivers": []}
    write_draft(workspace, as_case(plain))
    draft = load_draft(workspace, plain["id"])
    assert draft.state is ReviewState.AUTO
    waiver = Waiver(code="too-short", text="x", reason="It is enough.")
    read = mark_reviewed(draft, "A. Reviewer", "2026-08-30", (waiver,))
    assert read.state is ReviewState.VERIFIED
    assert read.case.review.waivers == (waiver,)
    assert edit_draft(read, {"task": "Another task.\n"}).state is ReviewState.AUTO


class TestTwoAtOnce:
    """Two who change one draft: neither loses what the other wrote."""

    # Writes a count into one key of a draft again and again, each time from the draft as it reads it.
    WRITER = (
        "import sys\nfrom pathlib import Path\nfrom authoring.draft import edit_draft, load_draft\n"
        "from casewright.workspace import Workspace\n"
        "root, case, key, count = sys.argv[1:]\n"
        "for number in range(1, int(count) + 1):\n"
        "    edit_draft(load_draft(Workspace(root=Path(root)), case), {key: f'{number} of {count}\\n'})\n"
    )

    @pytest.fixture
    def case_id(self, workspace: Workspace) -> str:
        case = as_case(plain_case())
        write_draft(workspace, case)
        return case.id

    def test_processes_that_write_all_the_time(self, workspace: Workspace, case_id: str) -> None:
        writers = [
            subprocess.Popen([sys.executable, "-c", self.WRITER, str(workspace.root), case_id, key, "15"])
            for key in ("task", "hints")
        ]
        assert [writer.wait() for writer in writers] == [0, 0]
        case = load_draft(workspace, case_id).case
        assert (case.task, case.hints) == ("15 of 15\n", "15 of 15\n")

    def test_what_was_written_since_the_draft_was_read_stays(self, workspace: Workspace, case_id: str) -> None:
        read = load_draft(workspace, case_id)
        edit_draft(read, {"task": "By hand.\n"})
        read.path.write_text(read.path.read_text() + "# by hand\n")
        again = plain_case()
        again["environment"]["dependencies"] = ["pluggy==1.5.0"]
        kept = update_record(read, as_case(sealed(again)))
        assert kept == load_draft(workspace, case_id)
        assert (kept.case.task, kept.case.environment.dependencies) == ("By hand.\n", ("pluggy==1.5.0",))
        assert kept.data.endswith(b"# by hand\n")

    def test_what_both_have_changed_is_not_overwritten(self, workspace: Workspace, case_id: str) -> None:
        read = load_draft(workspace, case_id)
        first = edit_draft(read, {"hints": "First.\n"})
        with pytest.raises(WorkspaceError, match=rf"has changed hints of cases/{case_id}\.yaml meanwhile"):
            edit_draft(read, {"category": "parser", "hints": "Second.\n"})
        assert load_draft(workspace, case_id) == first

    def test_a_review_of_another_text_is_not_recorded(self, workspace: Workspace, case_id: str) -> None:
        read = load_draft(workspace, case_id)
        other = edit_draft(read, {"task": "Another task.\n"})
        with pytest.raises(WorkspaceError, match="has changed task"):
            mark_reviewed(read, "A. Reviewer", "2026-08-30")
        assert load_draft(workspace, case_id) == other

    def test_a_write_waits_for_another_one(self, workspace: Workspace, case_id: str) -> None:
        arguments = [sys.executable, "-c", self.WRITER, str(workspace.root), case_id, "task", "1"]
        with drafts_held(workspace):
            before = load_draft(workspace, case_id)
            writer = subprocess.Popen(arguments)
            with pytest.raises(subprocess.TimeoutExpired):
                writer.wait(1.5)
            assert load_draft(workspace, case_id) == before
        assert writer.wait() == 0
        assert load_draft(workspace, case_id).case.task == "1 of 1\n"

    def test_who_holds_the_workspace_keeps_nobody_from_a_draft(self, workspace: Workspace, case_id: str) -> None:
        arguments = [sys.executable, "-c", self.WRITER, str(workspace.root), case_id, "task", "1"]
        with locked(workspace):
            assert subprocess.run(arguments, check=False).returncode == 0
            assert load_draft(workspace, case_id).case.task == "1 of 1\n"


def test_a_missing_draft_is_named(workspace: Workspace) -> None:
    with pytest.raises(InvalidInputError, match="there is no draft 'absent'"):
        load_draft(workspace, "absent")


def test_a_draft_from_the_future_is_refused() -> None:
    text = draft_text(as_case(plain_case())).replace("casewright.case/v1", "casewright.case/v9")
    with pytest.raises(DocumentError, match=r"schema: .*casewright\.case/v1"):
        parse_draft(text.encode(), "x.yaml")


def test_the_example_in_the_docs_is_a_whole_draft() -> None:
    path = Path(__file__).parents[2] / "docs" / "example-draft.yaml"
    case = parse_draft(path.read_bytes(), path.name)
    assert path.read_text().endswith(draft_text(case))
    assert lint(case) == ()
    plain = to_plain(case)
    assert effective_state(plain) == "verified"
    empty = {key for key, value in plain["source"].items() if not value} | {
        key for key, value in plain.items() if not value
    }
    assert empty == set()
