"""The Go toolchains of this machine: where they are, which serves a module, and what of one a sandbox must be shown."""

from __future__ import annotations

import functools
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from casewright.errors import InfrastructureError
from casewright.process import CommandRequest, run
from execution.languages.base import Refusal
from execution.recipe import Runtime
from execution.sandbox import RUNTIME_DIR, Mount

# `-modfile` and `-modcacherw`, which set-up stands on, are of this release.
OLDEST: Final = (1, 14)
# Before this release `go.mod` need not say what it asks for; it then means this one.
_UNSAID: Final = (1, 16)
# What finds `go` where nothing is mounted, in the order of a sandbox's PATH.
_SYSTEM_COMMANDS: Final = (Path("/usr/local/bin/go"), Path("/usr/bin/go"))
_SYSTEM: Final = Path("/usr")
_PLACES: Final = ("/usr/lib/go-*/bin/go", "/usr/lib/golang/bin/go", "/usr/local/go/bin/go", "/opt/go*/bin/go")
# Where people and version managers keep toolchains, below the user's home; the third is Go's own download of another.
_AT_HOME: Final = (
    "sdk/go*/bin/go",
    "go/sdk/go*/bin/go",
    "go/pkg/mod/golang.org/toolchain@*/bin/go",
    ".gvm/gos/*/bin/go",
    ".goenv/versions/*/bin/go",
    ".asdf/installs/golang/*/go/bin/go",
    ".local/share/mise/installs/go/*/bin/go",
)
_VERSION: Final = re.compile(rb"go version go(\d+\.\d+(?:\.\d+)?) ")
# A release is used from its first fixes on.
_SETTLED_SECONDS: Final = 30 * 24 * 3600


@functools.cache
def installed() -> tuple[Runtime, ...]:
    """Return the usable toolchains of this machine, one for each exact version, newest first."""
    found: dict[str, Runtime] = {}
    seen: set[Path] = set()
    for path in _candidates():
        if not path.is_file() or path.resolve() in seen:
            continue
        seen.add(path.resolve())
        runtime = _probe(path)
        if runtime is not None:
            found.setdefault(runtime.version, runtime)
    return tuple(sorted(found.values(), key=lambda runtime: numbers(runtime.version), reverse=True))


def _candidates() -> Iterator[Path]:
    first = shutil.which("go")
    if first is not None:
        yield Path(first)
    for pattern in _PLACES:
        yield from sorted(Path("/").glob(pattern.removeprefix("/")))
    for pattern in _AT_HOME:
        yield from sorted(Path.home().glob(pattern))


def _probe(path: Path) -> Runtime | None:
    """Ask a ``go`` what it is; None when it does not answer, is no release, or is too old."""
    with tempfile.TemporaryDirectory() as home:
        # Nothing of the user's is asked, and nothing is downloaded in its place.
        env = {"HOME": home, "GOENV": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "", "PATH": "/usr/bin:/bin"}
        try:
            told = run(CommandRequest(argv=(str(path), "version"), env=env, seconds=60)).stdout
            root = run(CommandRequest(argv=(str(path), "env", "GOROOT"), env=env, seconds=60)).stdout
        except InfrastructureError:
            # A toolchain that is broken on this machine is one that is not there.
            return None
    match = _VERSION.match(told)
    prefix = Path(root.decode("utf-8", "surrogateescape").strip() or "/nowhere")
    if match is None or not (prefix / "bin" / "go").is_file():
        return None
    version = match[1].decode()
    if numbers(version) < OLDEST:
        return None
    return Runtime(name="go", version=version, executable=prefix / "bin" / "go", prefix=prefix)


def choose(
    available: Iterable[Runtime], *, needed: str, toolchain: str, asked: str, date: int
) -> tuple[Runtime, str] | Refusal:
    """Choose a toolchain for a date (seconds, UTC) and say why in one sentence.

    ``needed`` and ``toolchain`` are the versions of the ``go`` and ``toolchain`` lines (empty without), ``asked`` the
    user's own choice. The user's choice goes first, then the ``toolchain`` line where that very version is here; then
    the newest that had been out for a month at the date, since Go keeps what once compiled; else the oldest that will
    do.
    """
    runtimes = sorted(available, key=lambda runtime: numbers(runtime.version), reverse=True)
    if asked:
        parts = asked.removeprefix("go").split(".")
        fitting = [runtime for runtime in runtimes if runtime.version.split(".")[: len(parts)] == parts]
        return (fitting[0], f"go {fitting[0].version}, as asked") if fitting else _unavailable(asked, runtimes)
    least = numbers(needed) or _UNSAID
    allowed = [runtime for runtime in runtimes if numbers(runtime.version) >= least]
    if not allowed:
        return _unavailable(f"{needed or '1.16'} or later, which go.mod asks for", runtimes)
    for runtime in allowed:
        if runtime.version == toolchain:
            return runtime, f"go {runtime.version}, which the toolchain line names"
    settled = [runtime for runtime in allowed if released(runtime.version) + _SETTLED_SECONDS <= date]
    if settled:
        return settled[0], f"go {settled[0].version}, the newest here that had settled at the date"
    minor = numbers(allowed[-1].version)[:2]
    oldest = next(runtime for runtime in allowed if numbers(runtime.version)[:2] == minor)
    return oldest, f"go {oldest.version}, the oldest release here that go.mod allows"


def _unavailable(wanted: str, runtimes: list[Runtime]) -> Refusal:
    here = ", ".join(runtime.version for runtime in runtimes) or "none"
    return Refusal(
        code="runtime-unavailable",
        detail=f"it needs Go {wanted}; the Go toolchains on this machine are: {here}",
        step="choosing a toolchain",
        package=f"go {wanted.partition(' ')[0]}",
        remedy="install it (in ~/sdk, or where your system keeps toolchains)",
    )


def passed_over(
    available: Iterable[Runtime], chosen: Runtime, *, needed: str, asked: str, date: int
) -> tuple[str, ...]:
    """Return the other toolchains of this machine, newest first, each with why it was not taken; see ``choose``."""
    least = numbers(needed) or _UNSAID
    told: list[str] = []
    for runtime in available:
        if runtime.version == chosen.version:
            continue
        if asked:
            why = f"go {asked} is asked for"
        elif numbers(runtime.version) < least:
            why = f"older than {needed or '1.16'}, which go.mod asks for"
        elif released(runtime.version) + _SETTLED_SECONDS > date:
            why = "had not settled at the date"
        else:
            why = f"go {chosen.version} goes first"
        told.append(f"{runtime.version}: {why}")
    return tuple(told)


def numbers(version: str) -> tuple[int, ...]:
    """Return a version as numbers, for comparing; ``1.21rc1`` counts as ``1.21``."""
    match = re.match(r"(?:go)?(\d+(?:\.\d+)*)", version)
    return tuple(int(part) for part in match[1].split(".")) if match else ()


def minor(runtime: Runtime) -> tuple[int, int]:
    """Return the release that a toolchain is of, such as ``(1, 19)``."""
    first, second = numbers(runtime.version)[:2]
    return first, second


def released(version: str) -> float:
    """Return when a release came out (seconds, UTC): every February and August since 1.14, in February 2020."""
    months = (numbers(version)[1] - OLDEST[1]) * 6 + 1
    return datetime(2020 + months // 12, months % 12 + 1, 1, tzinfo=UTC).timestamp()


def find_exactly(version: str) -> Runtime | None:
    """Return the toolchain of exactly this version, or None."""
    return next((runtime for runtime in installed() if runtime.version == version), None)


def runtime_mounts(runtime: Runtime) -> tuple[Mount, ...]:
    """Return what makes ``go`` this toolchain inside: nothing where a system's command is it already.

    A distribution's toolchain holds relative links into ``/usr/share`` and knows its own place, so its command alone is
    shown; any other is whole in one folder, wherever that lies.
    """
    first = next((command for command in _SYSTEM_COMMANDS if command.exists()), None)
    if first is not None and first.resolve() == runtime.executable.resolve():
        return ()
    if runtime.prefix.is_relative_to(_SYSTEM) and (runtime.prefix / "src").is_symlink():
        return (Mount(source=runtime.prefix / "bin", target=f"{RUNTIME_DIR}/bin"),)
    return (Mount(source=runtime.prefix.resolve(), target=RUNTIME_DIR),)
