"""The nodes of this machine and of the cache: where they are, which versions, what of one a sandbox must be shown."""

from __future__ import annotations

import functools
import re
import shutil
from pathlib import Path
from typing import Final

from casewright import process
from casewright.errors import InfrastructureError
from execution.languages.javascript_manifest import version_tuple
from execution.languages.javascript_registry import bring, is_brought, why_not
from execution.recipe import Runtime
from execution.sandbox import RUNTIME_DIR, Mount

_SYSTEM: Final = Path("/usr")


# Where version managers keep what they installed, below the user's home.
_MANAGERS: Final = (
    ".nvm/versions/node/*/bin/node",
    ".local/share/fnm/node-versions/*/installation/bin/node",
    ".fnm/node-versions/*/installation/bin/node",
    ".volta/tools/image/node/*/bin/node",
    ".asdf/installs/nodejs/*/bin/node",
    ".local/share/mise/installs/node/*/bin/node",
    ".nodenv/versions/*/bin/node",
)


def find_node(wanted: str = "") -> Runtime | None:
    """Return the node to use, or None when there is none.

    ``wanted`` is an executable's path, a version or its beginning (``20``, ``20.11``), or empty for the one on PATH.
    Raises ``InfrastructureError`` when an executable does not tell its version.
    """
    if "/" in wanted:
        return _read_node(Path(wanted)) if Path(wanted).is_file() else None
    parts = wanted.removeprefix("v").split(".") if wanted else []
    fitting = (node for node in installed_nodes() if node.version.split(".")[: len(parts)] == parts)
    return next(fitting, None)


@functools.cache
def installed_nodes() -> tuple[Runtime, ...]:
    """Return the nodes of this machine: the one on PATH first, then those of version managers, the newest first."""
    first = shutil.which("node")
    others = {path.resolve() for pattern in _MANAGERS for path in Path.home().glob(pattern) if path.is_file()}
    found = [] if first is None else [_read_node(Path(first))]
    managed = [_read_node(path) for path in others]
    managed.sort(key=lambda node: version_tuple(node.version), reverse=True)
    return (*found, *(node for node in managed if node not in found))


def find_exactly(version: str) -> Runtime | None:
    """Return the node of exactly this version: of this machine, else of the registry, brought into the cache; or None.

    Raises ``InfrastructureError`` when the registry does not answer.
    """
    found = next((node for node in installed_nodes() if node.version == version), None)
    if found is not None or not re.fullmatch(r"\d+\.\d+\.\d+", version) or why_not(version):
        return found
    return bring(version)


def _read_node(path: Path) -> Runtime:
    executable = path.resolve()
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
    """Return what shows the runtime inside: its prefix at a constant path, or nothing for a system's node.

    One that belongs to the cache is brought there first. Raises ``InfrastructureError`` when it can't be.
    """
    if is_system(runtime):
        return ()
    here = bring(runtime.version) if is_brought(runtime) else runtime
    return (Mount(source=here.prefix, target=RUNTIME_DIR),)


def runtime_env(runtime: Runtime) -> dict[str, str]:
    """Return the PATH that finds the runtime inside."""
    system = "/usr/local/bin:/usr/bin:/bin"
    return {"PATH": system if is_system(runtime) else f"{RUNTIME_DIR}/bin:{system}"}


def headers(runtime: Runtime) -> str:
    """Return the folder, as seen inside, whose ``include/node`` native modules are built with; empty without one."""
    place = runtime.prefix / "include/node/node.h"
    return (str(runtime.prefix) if is_system(runtime) else RUNTIME_DIR) if place.is_file() else ""
