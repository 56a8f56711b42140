"""``show``: which case is meant, and all that can be said of it on this machine."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from authoring.case import Case, ReviewState
from authoring.case_page.page import case_page
from authoring.case_view import CaseView
from authoring.change_files import ChangedFile, change_files
from authoring.consistency import effective_state
from authoring.draft import draft_path, load_draft
from authoring.findings import judged
from authoring.history_at_hand import history_at_hand
from casewright.cli.output import noted, printed
from casewright.cli.version import tool_version
from casewright.configuration import configuration_of
from casewright.errors import NoWorkspaceError, RepositoryError, UsageError
from casewright.files import replace_file
from casewright.workspace import Workspace, find_workspace
from library.check import load_library
from library.release import find_case, released


def released_view(folder: Path, case_id: str, file: Path, source: str | None) -> CaseView:
    """Return the view of a case of a released file. A workspace at ``folder`` may know the history; none is needed.

    Raises ``InvalidInputError`` when the file holds no such case, and what a file that is not whole raises.
    """
    try:
        workspace: Workspace | None = find_workspace(folder)
    except NoWorkspaceError:
        workspace = None
    document = load_library(file)
    return _view(workspace, find_case(document, case_id), _origin(document), source)


def workspace_view(folder: Path, case_id: str, source: str | None, *, draft: bool, verbosity: int = 0) -> CaseView:
    """Return the view of a case as the newest release has it; of its draft where none does, or when ``draft`` says so.

    Raises ``InvalidInputError`` and ``DocumentError`` for a case that there is neither way, or that can't be read.
    """
    workspace = find_workspace(folder)
    document = None if draft else _newest_with(workspace, case_id)
    if document is not None:
        entry = find_case(document, case_id)
        if draft_path(workspace, case_id).exists():
            note = f"shown as released in {_origin(document)}; --draft shows the draft"
            noted(note, verbosity=verbosity)
        return _view(workspace, entry, _origin(document), source)
    found = load_draft(workspace, case_id)
    return _view(workspace, found.plain, found.name, source)


def page_written(view: CaseView, place: str, *, verbosity: int = 0) -> None:
    """Write the page of a case to a file, whole or not at all; ``-`` is standard output.

    Raises ``UsageError`` for a place that no file can be at, ``WorkspaceError`` for one that can't be written.
    """
    page = case_page(view, tool_version())
    if place == "-":
        # Where the terminal's encoding lacks a character, HTML has another way to write it.
        encoding = sys.stdout.encoding or "utf-8"
        printed(page.removesuffix("\n").encode(encoding, "xmlcharrefreplace").decode(encoding))
        return
    path = Path(place)
    if path.is_dir():
        raise UsageError(f"{place} is a folder", "name a file, such as case.html")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{path.absolute().parent} is no folder", "make it first, or name another place")
    replace_file(path, page.encode())
    noted(f"wrote {place}", verbosity=verbosity)


def _newest_with(workspace: Workspace, case_id: str) -> Mapping[str, Any] | None:
    files = released(workspace.releases, configuration_of(workspace).library.id)
    if not files:
        return None
    document = load_library(files[-1].path)
    return document if any(case["id"] == case_id for case in document["cases"]) else None


def _origin(document: Mapping[str, Any]) -> str:
    return f"{document['library']['id']} version {document['version']}"


def _view(workspace: Workspace | None, entry: Mapping[str, Any], origin: str, source: str | None) -> CaseView:
    plain = {key: value for key, value in entry.items() if key != "case_digest"}
    case = Case.model_validate_json(json.dumps(plain), strict=True)
    files, why = _files(workspace, case, source)
    return CaseView(
        case=case,
        entry=entry,
        state=ReviewState(effective_state(plain)),
        origin=origin,
        judged=judged(workspace, case, source),
        files=files,
        why_no_files=why,
    )


def _files(workspace: Workspace | None, case: Case, source: str | None) -> tuple[tuple[ChangedFile, ...] | None, str]:
    with history_at_hand(workspace, case, source) as (repository, why):
        if repository is None:
            return None, why
        try:
            return change_files(repository, case), ""
        except RepositoryError as error:
            return None, f"its history can't be read: {error.message}"
