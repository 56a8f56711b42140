"""Whether a backend works on this machine: the only proof is a run."""

from __future__ import annotations

import platform
from collections.abc import Callable

from casewright.errors import SandboxUnavailableError
from execution.sandbox import CASE_DIR, Limits, SandboxOutcome, SandboxRequest

TRIAL = SandboxRequest(argv=("/bin/true",), cwd=CASE_DIR, limits=Limits(seconds=30, memory_mb=256, disk_mb=16))


def why_not(run: Callable[[SandboxRequest], SandboxOutcome]) -> str | None:
    """Return why a backend can't run the simplest program, in one line; None when it can."""
    if platform.system() != "Linux":
        return f"this is {platform.system()}, and namespaces are Linux's"
    try:
        outcome = run(TRIAL)
    except SandboxUnavailableError as error:
        return error.message
    except OSError as error:
        # An old kernel that lacks a call which all of this is built on.
        return f"the kernel refused: {error}"
    if outcome.exit_code != 0:
        last = outcome.output.decode("utf-8", "replace").strip().rpartition("\n")[2]
        return f"a trial run ended with {outcome.exit_code}: {last}"
    return None
