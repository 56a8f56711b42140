"""Where lint's knowledge of a change comes from: a file in the workspace, else a history at hand, else nowhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from authoring.case import Case
from authoring.draft import write_draft
from authoring.known_change import keep_change, known_change, words_path
from authoring.sources import remember
from casewright.errors import SourceError
from casewright.new_workspace import init_workspace
from casewright.repository import open_source
from casewright.store import Store
from casewright.workspace import Workspace
from tests.support.cases import as_case, plain_case, sealed
from tests.support.repos import RepoBuilder


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made, _ = init_workspace(tmp_path / "workspace")
    return made


@pytest.fixture
def history(tmp_path: Path) -> Path:
    built = RepoBuilder(tmp_path / "history")
    built.commit("Before", {"search.py": "def search():\n    return []\n", "tests/test_search.py": "\n"})
    built.commit(
        "After",
        {
            "search.py": "def search():\n    return _every_record()\n\n\ndef _every_record():\n    return [1]\n",
            "tests/test_search.py": "from search import search\n\n\ndef test_new():\n    assert search()\n",
        },
    )
    return built.path


@pytest.fixture
def case(history: Path) -> Case:
    built = RepoBuilder.__new__(RepoBuilder)
    built.path, built._time = history, 0
    base, head = built.git("rev-parse", "HEAD^"), built.git("rev-parse", "HEAD")
    plain: dict[str, Any] = plain_case(base_commit=base, grading_commit=head)
    files = {"files": ["tests/test_search.py"], "support_files": [], "excluded_files": []}
    return as_case(sealed({**plain, "grading": {**plain["grading"], **files}}))


def test_what_a_history_says_is_kept_and_needs_no_history_later(
    workspace: Workspace, history: Path, case: Case
) -> None:
    remember(workspace, case.repository_id, str(history))
    known = known_change(workspace, case)
    assert known.words is not None
    assert known.words.fix_names == ("_every_record",)
    history.rename(history.with_name("gone"))
    assert known_change(workspace, case) == known


def test_without_file_and_history_it_says_why(workspace: Workspace, case: Case) -> None:
    known = known_change(workspace, case)
    assert known.words is None
    assert known.why
    assert not words_path(workspace, case).exists()


def test_a_history_without_the_pins_is_no_help(workspace: Workspace, tmp_path: Path, case: Case) -> None:
    other = RepoBuilder(tmp_path / "other")
    other.commit("Other", {"a": "b\n"})
    remember(workspace, case.repository_id, str(other.path))
    known = known_change(workspace, case)
    assert known.words is None
    assert case.base_commit in known.why


@pytest.mark.parametrize("damage", [b"", b"{", b"null", b"\xff\xfe", b'{"schema": "casewright.change-words/v9"}'])
def test_a_damaged_file_is_made_anew(workspace: Workspace, history: Path, case: Case, damage: bytes) -> None:
    with open_source(str(history), Store().root) as repository:
        keep_change(workspace, case, repository)
    whole = words_path(workspace, case).read_bytes()
    words_path(workspace, case).write_bytes(damage)
    assert known_change(workspace, case).words is None
    remember(workspace, case.repository_id, str(history))
    assert known_change(workspace, case).words is not None
    assert words_path(workspace, case).read_bytes() == whole


def test_another_test_part_is_another_change(workspace: Workspace, history: Path, case: Case) -> None:
    with open_source(str(history), Store().root) as repository:
        keep_change(workspace, case, repository)
    wider = case.grading.model_copy(update={"support_files": ("search.py",)})
    assert known_change(workspace, case.model_copy(update={"grading": wider})).words is None


def test_a_source_that_the_user_names_is_read_whatever_is_kept(
    workspace: Workspace, history: Path, tmp_path: Path, case: Case
) -> None:
    assert known_change(workspace, case, str(history)).words is not None
    with pytest.raises(SourceError):
        known_change(workspace, case, str(tmp_path / "nowhere"))


def test_a_workspace_that_can_not_be_written_is_linted_all_the_same(
    workspace: Workspace, history: Path, case: Case
) -> None:
    write_draft(workspace, case)
    # A file where the folder would be: no user, root neither, can make it.
    words_path(workspace, case).parent.write_text("in the way")
    assert known_change(workspace, case, str(history)).words is not None
