"""Withdrawals: why a case of an earlier version is left out of the next. They stand in ``casewright.yaml``.

That file is the workspace's own and goes with it into version control, so whoever cuts the next version sees them.
"""

from __future__ import annotations

from casewright.configuration import PHRASES, Configuration, configuration_of
from casewright.document_edits import updated
from casewright.documents import parse_model
from casewright.errors import InvalidInputError, UsageError
from casewright.files import replace_file
from casewright.workspace import CONFIGURATION, Workspace
from library.cut import newest
from library.release import find_case


def withdraw(workspace: Workspace, case_id: str, reason: str) -> None:
    """Record that a released case is withdrawn, and why (one line). A second reason replaces the first.

    Raises ``InvalidInputError`` when no version has been released or the newest does not hold the case, ``UsageError``
    for an empty reason or one of several lines.
    """
    line = reason.strip()
    if not line or "\n" in line:
        raise UsageError("--reason needs one line of text", "say why the case is withdrawn")
    configuration = configuration_of(workspace)
    library = newest(workspace.releases, configuration.library.id)
    if library is None:
        raise InvalidInputError(
            f"no version of {configuration.library.id} has been released", "delete the draft instead"
        )
    find_case(library, case_id)
    rows = [{"id": row.id, "reason": row.reason} for row in configuration.withdrawals if row.id != case_id]
    data = workspace.configuration_path.read_bytes()
    edited = updated(data, CONFIGURATION, {"withdrawals": [*rows, {"id": case_id, "reason": line}]})
    parse_model(edited, CONFIGURATION, Configuration, PHRASES)
    replace_file(workspace.configuration_path, edited)
