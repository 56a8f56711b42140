"""Where a workspace has found each repository on this machine, so that a draft can be verified without a clone url.

Kept in the workspace's own state folder: a path of this machine never reaches a draft or a release.
"""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import unquote, urlsplit

from casewright.files import replace_file
from casewright.git_source import is_url
from casewright.workspace import Workspace

_FILE = "sources.json"


def remember(workspace: Workspace, repository_id: str, source: str) -> None:
    """Keep where on this machine a repository was opened; needs the workspace's lock. Other urls are in the drafts."""
    place = unquote(urlsplit(source).path) if source.startswith("file://") else source
    if is_url(place):
        return
    known = _read(workspace)
    absolute = str(Path(place).expanduser().absolute())
    if known.get(repository_id) != absolute:
        known[repository_id] = absolute
        replace_file(workspace.state / _FILE, (json.dumps(known, indent=1, sort_keys=True) + "\n").encode())


def source_of(workspace: Workspace, repository_id: str, url: str) -> str:
    """Return where to open a repository: the local place that is remembered and still there, else its url."""
    known = _read(workspace).get(repository_id, "")
    return known if known and Path(known).exists() else url


def _read(workspace: Workspace) -> dict[str, str]:
    try:
        found = json.loads((workspace.state / _FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        # Losing it costs a clone, no verdict: it is written again by the next run.
        return {}
    return {str(name): str(place) for name, place in found.items()} if isinstance(found, dict) else {}
