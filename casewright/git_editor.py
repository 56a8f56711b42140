"""Which editor git would open for this user: the one answer that has to come from the user's own configuration."""

from __future__ import annotations

import os

from casewright.errors import UsageError
from casewright.process import CommandRequest, run


def editor_of_git() -> str:
    """Return the command, which may have arguments. Raises ``UsageError`` where git knows none for this terminal."""
    outcome = run(CommandRequest(argv=("git", "var", "GIT_EDITOR"), seconds=30))
    command = os.fsdecode(outcome.stdout).strip()
    if not outcome.succeeded or not command:
        raise UsageError("no editor is set", "set EDITOR to the one that you use")
    return command
