"""The errors that a user can meet, with the exit code of each.

An error is one line that says what was wrong, with what value, and what to do. A candidate that is refused is
not an error: it is a value with a reason (see ``miner.reasons``).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from enum import IntEnum
from typing import Final


class ExitCode(IntEnum):
    """What a process of ours ends with (``docs/reference.md`` lists them)."""

    DONE = 0
    NO = 1
    USAGE = 2
    COULD_NOT = 3
    BUG = 70
    INTERRUPTED = 130


class CasewrightError(Exception):
    """Base of every error that is shown to a user as one line.

    ``message`` says what was wrong and with what value; ``hint`` says what to do next, or is empty.
    """

    exit_code = ExitCode.COULD_NOT

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class UsageError(CasewrightError):
    """The command was used wrongly: an unknown value, a combination that makes no sense."""

    exit_code = ExitCode.USAGE


class InvalidInputError(CasewrightError):
    """A file or a name that we were given can't be read as what it should be."""

    exit_code = ExitCode.USAGE


class DocumentError(InvalidInputError):
    """A YAML or JSON document is wrong; all its faults are listed, each with its place."""

    def __init__(self, faults: tuple[str, ...], hint: str = "") -> None:
        super().__init__("\n".join(faults), hint)
        self.faults = faults


class RefusedError(CasewrightError):
    """A single question was answered no (``cut`` left something out, ``check`` found a fault)."""

    exit_code = ExitCode.NO


class RepositoryError(CasewrightError):
    """git could not do what was asked of a repository: a fault of the machine or of the repository, no verdict."""


class SourceError(InvalidInputError):
    """SOURCE is not a repository that can be mined: missing, empty, unborn, not git."""


class SandboxUnavailableError(CasewrightError):
    """No sandbox backend works on this machine, or one broke: nothing may be judged."""


class InfrastructureError(CasewrightError):
    """The machine, the network or a registry failed: retried on the next run, never a verdict."""


class PackagesError(InfrastructureError):
    """The packages that a case installs can't be fetched, or are not at hand as they were fetched."""


class ForgeError(InfrastructureError):
    """A forge can't be asked, refuses, or answers something unreadable: all that follows would fail alike."""


class WorkspaceError(CasewrightError):
    """The workspace can't be used: read-only, locked by another process, its ledger damaged."""


class NoWorkspaceError(WorkspaceError):
    """There is no workspace where one was asked for: the wrong folder, or none made yet."""

    exit_code = ExitCode.USAGE


_FREE_SPACE: Final = "free some disk space and run again"
# What the operating system says of the machine; all else that it says is a fault of ours.
_OF_THE_MACHINE: Final[Mapping[int, str]] = {
    errno.ENOSPC: _FREE_SPACE,
    errno.EDQUOT: _FREE_SPACE,
    errno.EROFS: "make it writable, or choose another place",
    errno.EACCES: "see who may read and write it",
    errno.EIO: "check that disk",
    errno.ENOMEM: "free some memory and run again",
    errno.EAGAIN: "raise the limit of processes (ulimit -u) and run again",
    errno.EMFILE: "raise the limit of open files (ulimit -n) and run again",
    errno.ENFILE: "raise the limit of open files (sysctl fs.file-max) and run again",
}


def machine_error(error: OSError) -> InfrastructureError | None:
    """Return what to tell of an error of the operating system that is the machine's fault; None for any other."""
    hint = _OF_THE_MACHINE.get(error.errno or 0)
    if hint is None:
        return None
    place = error.filename2 or error.filename
    where = f" at {os.fsdecode(place)}" if isinstance(place, str | bytes) else ""
    return InfrastructureError(f"the operating system refused a step{where}: {error.strerror}", hint)
