"""Where a workspace looks for a repository again."""

from __future__ import annotations

from pathlib import Path

import pytest

from authoring.sources import remember, source_of
from casewright.new_workspace import init_workspace
from casewright.workspace import Workspace

URL = "https://example.org/owner/name"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return init_workspace(tmp_path / "workspace")[0]


def test_a_local_place_is_found_again_while_it_is_there(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "a place"
    place.mkdir()
    monkeypatch.chdir(tmp_path)
    remember(workspace, "owner/name", "a place")
    assert source_of(workspace, "owner/name", URL) == str(place)
    place.rmdir()
    assert source_of(workspace, "owner/name", URL) == URL


def test_a_file_url_is_a_local_place_and_other_urls_are_not_kept(workspace: Workspace, tmp_path: Path) -> None:
    place = tmp_path / "a place"
    place.mkdir()
    remember(workspace, "owner/name", place.as_uri())
    remember(workspace, "owner/other", URL)
    assert source_of(workspace, "owner/name", URL) == str(place)
    assert source_of(workspace, "owner/other", URL) == URL


def test_a_file_that_a_hand_broke_costs_a_clone_and_no_verdict(workspace: Workspace) -> None:
    (workspace.state / "sources.json").write_text("[not json")
    assert source_of(workspace, "owner/name", URL) == URL
    remember(workspace, "owner/name", str(workspace.root))
    assert source_of(workspace, "owner/name", URL) == str(workspace.root)
