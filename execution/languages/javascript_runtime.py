"""The node of this machine: where it is, which version, and what of it a sandbox must be shown."""

from __future__ import annotations

import functools
import re
import shutil
from pathlib import Path
from typing import Final

from casewright import process
from casewright.errors import InfrastructureError
from execution.recipe import Runtime
from execution.sandbox import RUNTIME_DIR, Mount

_SYSTEM: Final = Path("/usr")


@functools.cache
def find_node(wanted: str = "") -> Runtime | None:
    """Return the node to use: the executable ``wanted`` names, else the one on PATH; None when there is none.

    Raises ``InfrastructureError`` when it does not tell its version.
    """
    found = wanted if "/" in wanted else shutil.which("node")
    if not found or not Path(found).is_file():
        return None
    executable = Path(found).resolve()
    told = process.run(process.CommandRequest(argv=(str(executable), "--version"), env={}, seconds=60))
    match = re.fullmatch(rb"v(\d+\.\d+\.\d+)\s*", told.stdout)
    if match is None:
        said = (told.stdout + told.stderr)[-200:].decode("utf-8", "replace").strip()
        raise InfrastructureError(f"{executable} does not tell its version: {said!r}", "repair node")
    return Runtime(name="node", version=match.group(1).decode(), executable=executable, prefix=executable.parent.parent)


def is_system(runtime: Runtime) -> bool:
    """Whether every sandbox shows this node already, because it lies below ``/usr``."""
    return runtime.prefix.is_relative_to(_SYSTEM)


def runtime_mounts(runtime: Runtime) -> tuple[Mount, ...]:
    """Return what shows the runtime inside: its prefix at a constant path, or nothing for a system's node."""
    return () if is_system(runtime) else (Mount(source=runtime.prefix, target=RUNTIME_DIR),)


def runtime_env(runtime: Runtime) -> dict[str, str]:
    """Return the PATH that finds the runtime inside."""
    system = "/usr/local/bin:/usr/bin:/bin"
    return {"PATH": system if is_system(runtime) else f"{RUNTIME_DIR}/bin:{system}"}
