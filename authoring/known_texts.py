"""What people wrote of a change, whole, kept when its draft is written, for whoever edits the task later.

A draft keeps the issues and the sentences that were taken. Losing a file here costs the rest, and nothing else.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from authoring.case import Case
from authoring.statement import SourceText
from casewright.errors import WorkspaceError
from casewright.files import replace_file
from casewright.workspace import Workspace

_TEXTS: Final = TypeAdapter(tuple[SourceText, ...])


def keep_texts(workspace: Workspace, case: Case, texts: tuple[SourceText, ...]) -> None:
    """Keep the texts of a case's change. Raises ``WorkspaceError``."""
    path = _path(workspace, case)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkspaceError(f"{path.parent} can't be made: {error.strerror}", "is it read-only?") from error
    # A lone surrogate, which some forges let through, has no UTF-8.
    replace_file(path, _TEXTS.dump_json(tuple(map(_fit, texts))))


def known_texts(workspace: Workspace, case: Case) -> tuple[SourceText, ...]:
    """Return the texts that were kept of a case's change; none where there are none that can be read."""
    try:
        return _TEXTS.validate_json(_path(workspace, case).read_bytes())
    except (OSError, ValidationError):
        return ()


def _path(workspace: Workspace, case: Case) -> Path:
    return workspace.state / "changes" / f"{case.base_commit}-{case.grading_commit}.texts.json"


def _fit(text: SourceText) -> SourceText:
    title, body = (part.encode("utf-8", "replace").decode() for part in (text.title, text.text))
    return SourceText(kind=text.kind, source=text.source, title=title, text=body)
