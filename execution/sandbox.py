"""The sandbox contract: what a run may see, write and use, and what is told of it afterwards.

Source of the rules: the project's verdict specification, section 5. Backends are in ``execution/sandboxes``; all of
them are held to this contract by ``tests/contracts/test_sandboxes.py``. A failure of the sandbox itself is an exception
(``SandboxUnavailableError``); how the program inside ended is a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

# Constant paths inside, so that nothing recorded names the host. ``../env`` seen from the tree is a stranger's
# virtual environment beside his clone, so one and the same command serves admission, reproduction and a reader.
CASE_DIR = "/srv/case"
TREE_DIR = "/srv/case/repo"
ENVIRONMENT_DIR = "/srv/case/env"
CACHE_DIR = "/srv/case/cache"
RUNTIME_DIR = "/opt/runtime"
TOOLS_DIR = "/opt/casewright"
REPORT_FD = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Mount:
    """A host file or folder seen at an absolute path inside; read-only unless ``writable``."""

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Scratch:
    """A private tmpfs; ``megabytes`` bounds what it can hold, and its inodes are bounded in proportion."""

    target: str
    megabytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Copy:
    """A host folder whose content is copied to ``target`` (inside a scratch) before the program starts.

    The copy is made inside, by the user that the program runs as, in the order given; later copies win. What lies where
    something is to be mounted, or on the way to it and is no folder, is left out: a tree can't move a mount point.
    """

    source: Path
    target: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """The envelope of one run; the same when a case is admitted and when a candidate is graded.

    ``disk_mb`` bounds CASE_DIR and, once more, /tmp; ``memory_mb`` all processes together, and half of it /dev/shm.
    The time counts from the program's start, not from the sandbox's.
    """

    seconds: int = 1800
    memory_mb: int = 4096
    processes: int = 512
    output_mb: int = 64
    disk_mb: int = 2048


@dataclass(frozen=True, kw_only=True, slots=True)
class SandboxRequest:
    """One program to run inside.

    ``env`` is the whole environment (nothing is inherited; HOME, PATH and TMPDIR get defaults when absent). Host
    system libraries (``/usr``, ``/bin``, ``/lib*``) and a synthetic ``/etc`` are always there; everything else is in
    ``mounts``, ``scratch`` and ``copies``. ``CASE_DIR`` is always a scratch of ``limits.disk_mb``. With ``report`` the
    write end of a pipe is open as ``REPORT_FD`` and what is written there comes back in ``SandboxOutcome.report``.
    """

    argv: tuple[str, ...]
    cwd: str = TREE_DIR
    env: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    scratch: tuple[Scratch, ...] = ()
    copies: tuple[Copy, ...] = ()
    network: bool = False
    limits: Limits = field(default_factory=Limits)
    report: bool = False


class Ended(StrEnum):
    """How the program inside came to its end."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"
    OUTPUT_LIMIT = "output-limit"


@dataclass(frozen=True, kw_only=True, slots=True)
class SandboxOutcome:
    """What is known of a run that took place.

    ``exit_code`` is the program's own (128+N for signal N, and 137 where a limit ended it). Signals are told from the
    code, as shells do, so a program that exits with more than 128 by itself counts as ``SIGNALLED``. ``output`` holds
    standard output and error together, the first and last part when there was more than is kept (``output_bytes``
    counts all of it). ``milliseconds`` count from the program's start to its end.
    """

    ended: Ended
    exit_code: int
    output: bytes
    output_bytes: int
    report: bytes
    milliseconds: int
    peak_memory_kb: int
    memory_by: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """What a program inside saw when it tried to reach out: ``denied`` must hold before anything is admitted."""

    sandbox: str
    denied: bool
    detail: str


class Sandbox(Protocol):
    """A backend: a way to run a program under the contract."""

    @property
    def name(self) -> str: ...

    def unavailable(self) -> str | None:
        """Why this backend can't be used here, with the setting that blocks it and what to do; None if it works."""
        ...

    def run(self, request: SandboxRequest) -> SandboxOutcome:
        """Run one program and wait for it and all that it started to be gone.

        Raises ``SandboxUnavailableError`` when the sandbox itself could not be set up.
        """
        ...
