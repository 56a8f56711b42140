"""The Rust toolchains of this machine, and which of them a tree asks for."""

from __future__ import annotations

import functools
import os
import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from casewright import process
from casewright.errors import InfrastructureError
from execution.languages.base import Refusal, TreeReader
from execution.languages.rust_package import MANIFEST, join, read_manifest
from execution.recipe import Runtime, Why
from execution.sandbox import RUNTIME_DIR, Mount

_SYSTEM: Final = Path("/usr")
# Cargo takes `--config` on its command line from here on, and the check names its runner with it.
_OLDEST: Final = (1, 63)
_EDITIONS: Final = {"2018": (1, 31), "2021": (1, 56), "2024": (1, 85)}
_FILES: Final = ("rust-toolchain", "rust-toolchain.toml")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


@functools.cache
def installed_toolchains() -> tuple[Runtime, ...]:
    """Return the toolchains of this machine, the one to take first at the front: stable before beta before nightly.

    A toolchain's version is what ``rustc`` says, with the day of its commit where it is no release
    (``1.97.0-nightly+2026-05-19``). Raises ``InfrastructureError`` when a compiler does not tell its version.
    """
    found = {compiler.resolve(): None for compiler in _compilers() if compiler.is_file()}
    # A proxy of rustup stands for whatever a folder asks for: never itself a toolchain.
    read = [_read(path) for path in found if path.name == "rustc" and (path.parent / "cargo").exists()]
    return tuple(sorted(read, key=lambda runtime: (_channel(runtime), *(-part for part in _numbers(runtime.version)))))


def choose_toolchain(head: TreeReader, folders: tuple[str, ...], wish: str = "") -> tuple[Runtime, Why] | Refusal:
    """Return the toolchain for a tree with its reason, or why there is none on this machine.

    ``wish`` is the user's own (a version, the beginning of one, or a channel) and goes first. ``folders`` are those in
    which cargo and rustup look: the package's, the workspace's, the root. A toolchain file decides; else the newest
    release that ``rust-version`` and the editions allow.
    """
    toolchains = installed_toolchains()
    asked = (wish, "casewright.yaml") if wish else next(_asked(head, folders), None)
    needed, why = ((), "") if wish else _oldest_allowed(head, folders)
    passed_over: list[str] = []
    for runtime in toolchains:
        if asked is not None and not _is_channel(runtime, asked[0]):
            passed_over.append(f"{runtime.version}: {asked[1]} asks for {asked[0]}")
        elif asked is None and _channel(runtime) > 0:
            passed_over.append(f"{runtime.version}: no release, and nothing asks for it")
        elif _numbers(runtime.version) < needed:
            passed_over.append(f"{runtime.version}: older than {why}")
        else:
            because = f"which {asked[1]} asks for ({asked[0]})" if asked else "the newest release on this machine"
            chosen = f"rust {runtime.version}"
            return runtime, Why(about="toolchain", chosen=chosen, because=because, passed_over=tuple(passed_over))
    wanted = f"{asked[1]} asks for {asked[0]}" if asked else f"it takes {why}"
    there = ", ".join(runtime.version for runtime in toolchains)
    name = asked[0] if asked else ".".join(map(str, needed)) if toolchains else "stable"
    releases = [runtime.version for runtime in toolchains if _channel(runtime) == 0]
    # What a toolchain file asks for is often a habit; what a manifest needs is not.
    other = (("rust", releases[0]),) if asked and not wish and releases else ()
    return Refusal(
        code="runtime-unavailable",
        detail=f"{wanted}, and this machine has {there}" if there else "there is no Rust toolchain on this machine",
        step="choosing a toolchain",
        package=f"rust {name}",
        remedy=f"install it (for example: rustup toolchain install {name})" + (", or try another one" if other else ""),
        settings=other,
    )


def find_toolchain(version: str) -> Runtime | None:
    """Return the toolchain of exactly this version, or None."""
    return next((runtime for runtime in installed_toolchains() if runtime.version == version), None)


def runtime_mounts(runtime: Runtime) -> tuple[Mount, ...]:
    """Return the toolchain alone at a constant path, or nothing for the system's own, which is seen anyway."""
    if runtime.prefix.is_relative_to(_SYSTEM):
        return ()
    return (Mount(source=runtime.prefix, target=RUNTIME_DIR),)


def runtime_env(runtime: Runtime) -> dict[str, str]:
    """Return the PATH that finds the toolchain inside."""
    system = "/usr/local/bin:/usr/bin:/bin"
    return {"PATH": f"{RUNTIME_DIR}/bin:{system}" if runtime_mounts(runtime) else system}


def _compilers() -> Iterator[Path]:
    home = Path(os.environ.get("RUSTUP_HOME") or Path.home() / ".rustup")
    yield from sorted(home.glob("toolchains/*/bin/rustc"))
    on_path = shutil.which("rustc")
    if on_path:
        yield Path(on_path)


def _read(path: Path) -> Runtime:
    told = process.run(process.CommandRequest(argv=(str(path), "-vV"), env={}, seconds=60))
    text = told.stdout.decode("utf-8", "replace")
    release = re.search(r"^release: (\d+\.\d+\.\d+(\S*))", text, re.MULTILINE)
    day = re.search(r"^commit-date: (\d{4}-\d{2}-\d{2})", text, re.MULTILINE)
    if release is None:
        said = (told.stdout + told.stderr)[-200:].decode("utf-8", "replace").strip()
        raise InfrastructureError(f"{path} does not tell its version: {said!r}", "repair or remove this toolchain")
    version = release[1] + (f"+{day[1]}" if release[2] and day else "")
    return Runtime(name="rust", version=version, executable=path.parent / "cargo", prefix=path.parent.parent)


def _numbers(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version; ``1.70`` is below ``1.70.1``."""
    match = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in match[0].split(".")) if match else ()


def _channel(runtime: Runtime) -> int:
    """Return 0 for a release, more for what is less settled."""
    return next((place for place, word in ((2, "-nightly"), (1, "-beta")) if word in runtime.version), 0)


def _is_channel(runtime: Runtime, channel: str) -> bool:
    """Whether a toolchain is what a channel of a toolchain file names; a dated one must be of that very day."""
    day = _DATE.search(channel)
    if day is not None and day[0] not in f"{runtime.prefix.name} {runtime.version}":
        return False
    name = channel.partition("-")[0]
    if name in {"stable", "beta", "nightly"}:
        return _channel(runtime) == ("stable", "beta", "nightly").index(name)
    wanted = _numbers(name)
    return bool(wanted) and _channel(runtime) == 0 and _numbers(runtime.version)[: len(wanted)] == wanted


def _asked(head: TreeReader, folders: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for path in (join(folder, name) for folder in folders for name in _FILES):
        data = head.read(path.encode("utf-8", "surrogateescape"))
        if data is None:
            continue
        text = data.decode("utf-8", "replace").strip()
        try:
            table = tomllib.loads(text).get("toolchain")
            channel = table.get("channel") if isinstance(table, dict) else None
        except tomllib.TOMLDecodeError:
            # The older form is the bare name of a channel.
            channel = text.splitlines()[0].strip() if text else None
        if isinstance(channel, str):
            yield channel, path


def _oldest_allowed(head: TreeReader, folders: tuple[str, ...]) -> tuple[tuple[int, ...], str]:
    """Return the oldest version that manifests allow, and what says so."""
    needed: tuple[int, ...] = _OLDEST
    why = "cargo 1.63 or later"
    for folder in folders:
        tables = read_manifest(head, join(folder, MANIFEST)) or {}
        workspace = tables.get("workspace")
        rows = [tables.get("package"), workspace.get("package") if isinstance(workspace, dict) else None]
        for row in (row for row in rows if isinstance(row, dict)):
            said, edition = row.get("rust-version"), row.get("edition")
            minimum = _numbers(said) if isinstance(said, str) else ()
            if minimum > needed:
                needed, why = minimum, f"rust-version {said}"
            at_least = _EDITIONS.get(edition, needed) if isinstance(edition, str) else needed
            if at_least > needed:
                needed, why = at_least, f"edition {edition}"
    return needed, why
