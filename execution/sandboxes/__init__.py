"""The sandbox backends, one module each; which one is taken, and the proof that it denies the network."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Final

from casewright.errors import SandboxUnavailableError, UsageError
from execution.sandbox import Probe, Sandbox
from execution.sandboxes.bubblewrap import BUBBLEWRAP
from execution.sandboxes.reach import try_to_reach_out
from execution.sandboxes.unshare import UNSHARE

# In the order in which they are tried.
SANDBOXES: Final[Mapping[str, Sandbox]] = {"bubblewrap": BUBBLEWRAP, "unshare": UNSHARE}

_LOCK = threading.Lock()
_PROBES: dict[str, Probe] = {}


def choose(name: str | None = None) -> Sandbox:
    """Return the first backend that works here, or the named one.

    Raises ``UsageError`` for an unknown name, ``SandboxUnavailableError`` with every backend's reason when none works.
    """
    if name is not None and name not in SANDBOXES:
        raise UsageError(f"there is no sandbox {name}", f"take one of {', '.join(SANDBOXES)}")
    reasons = []
    for sandbox in SANDBOXES.values() if name is None else (SANDBOXES[name],):
        why = sandbox.unavailable()
        if why is None:
            return sandbox
        reasons.append(f"{sandbox.name}: {why}")
    raise SandboxUnavailableError(f"no sandbox works here ({'; '.join(reasons)})", "run `casewright doctor`")


def probe(sandbox: Sandbox) -> Probe:
    """Return what a program inside meets when it tries to reach out; tried once per process and backend.

    Raises ``SandboxUnavailableError`` when it can't be told.
    """
    with _LOCK:
        if sandbox.name not in _PROBES:
            _PROBES[sandbox.name] = try_to_reach_out(sandbox)
        return _PROBES[sandbox.name]
