"""The Python interpreters on this machine, and the choice of one for a tree and a date.

What is on the machine is asked once (``installed``); the choice (``choose``) is pure. An interpreter that lacks
``venv`` or
``ensurepip`` is left out: a stranger could not repeat the recorded set-up with it.
"""

from __future__ import annotations

import functools
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from casewright.errors import InfrastructureError
from casewright.process import CommandRequest, run
from execution.languages.base import Refusal
from execution.recipe import Runtime

PROBE_SECONDS = 30
# A season after its first release a minor version has wheels of what tests need, and projects test on it: a suite of
# early 2023 skips what it holds for 3.11 when it is run on 3.10.
SETTLED_AFTER = 90 * 24 * 3600
# No setuptools that runs on an older one can install a project in place without leaving its metadata in the tree.
OLDEST = (3, 7)

# The day of each minor version's first release. A version that is not listed is newer than this table.
FIRST_RELEASES = {
    (3, 7): datetime(2018, 6, 27, tzinfo=UTC),
    (3, 8): datetime(2019, 10, 14, tzinfo=UTC),
    (3, 9): datetime(2020, 10, 5, tzinfo=UTC),
    (3, 10): datetime(2021, 10, 4, tzinfo=UTC),
    (3, 11): datetime(2022, 10, 24, tzinfo=UTC),
    (3, 12): datetime(2023, 10, 2, tzinfo=UTC),
    (3, 13): datetime(2024, 10, 7, tzinfo=UTC),
    (3, 14): datetime(2025, 10, 7, tzinfo=UTC),
}

_PROBE = """
import json, platform, sys
try:
    import ensurepip, venv
    complete = sys.implementation.name == "cpython" and not hasattr(sys, "gettotalrefcount")
except ImportError:
    complete = False
gil = getattr(sys, "_is_gil_enabled", lambda: True)()
prefix = getattr(sys, "base_prefix", sys.prefix)
print(json.dumps({"version": platform.python_version(), "prefix": prefix, "complete": complete and gil}))
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wishes:
    """What a tree says of its interpreter.

    ``requires`` is ``requires-python`` (empty without one), ``classified`` the minor versions that its classifiers
    name, ``tested`` those that CI or tox runs the tests on with the file that says so, ``pinned`` the versions that
    ``.python-version`` lists (``3.11``, ``3.11.4``), ``asked`` the user's own choice.
    """

    requires: str = ""
    classified: frozenset[tuple[int, int]] = frozenset()
    tested: Mapping[tuple[int, int], str] = field(default_factory=dict)
    pinned: tuple[str, ...] = ()
    asked: str = ""


@functools.cache
def installed() -> tuple[Runtime, ...]:
    """Return the usable interpreters of this machine, one for each exact version, newest first."""
    found: dict[str, Runtime] = {}
    seen: set[Path] = set()
    for path in _candidates():
        try:
            real = path.resolve(strict=True)
        except OSError:
            continue
        if real in seen:
            continue
        seen.add(real)
        runtime = _probe(path)
        if runtime is not None:
            found.setdefault(runtime.version, runtime)
    return tuple(sorted(found.values(), key=lambda runtime: Version(runtime.version), reverse=True))


def _candidates() -> Iterator[Path]:
    """Yield what may be an interpreter: the managed ones first, since they are whole and move as one folder."""
    home = Path.home()
    roots = [
        Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or home / ".local/share/uv/python"),
        Path(os.environ.get("PYENV_ROOT") or home / ".pyenv") / "versions",
        home / ".pyenv/versions",
    ]
    for root in roots:
        for folder in sorted(root.iterdir()) if root.is_dir() else ():
            yield from sorted(folder.glob("bin/python3.[0-9]*"))
    for folder_name in os.environ.get("PATH", os.defpath).split(os.pathsep):
        folder = Path(folder_name)
        # A shim decides by the working folder and the environment which interpreter it is.
        if folder_name and folder.name != "shims" and folder.is_dir():
            yield from sorted(folder.glob("python3.[0-9]*"))
    yield Path(sys.executable)


def _probe(path: Path) -> Runtime | None:
    """Ask an interpreter what it is; None when it does not answer or can't make a virtual environment."""
    if not re.fullmatch(r"python(3(\.\d+)?)?", path.name) or not os.access(path, os.X_OK):
        return None
    request = CommandRequest(argv=(str(path), "-I", "-S", "-c", _PROBE), env={}, seconds=PROBE_SECONDS)
    try:
        facts = json.loads(run(request).stdout)
        version, prefix, complete = str(facts["version"]), Path(facts["prefix"]), bool(facts["complete"])
        minor = Version(version).release[:2]
    except (InfrastructureError, ValueError, KeyError, TypeError):
        # An interpreter that is broken on this machine is one that is not there.
        return None
    executable = prefix / "bin" / f"python{minor[0]}.{minor[1]}"
    if not complete or minor < OLDEST or Version(version).is_prerelease or not executable.exists():
        return None
    return Runtime(name="python", version=version, executable=executable, prefix=prefix)


def choose(available: Iterable[Runtime], wishes: Wishes, date: int) -> tuple[Runtime, str] | Refusal:
    """Choose an interpreter for a date (seconds, UTC) and say why in one sentence.

    The user's choice goes first, then ``.python-version`` where it names something that is here; then, within the
    bounds of ``requires-python`` and the classifiers, the newest minor version that had been out for a season at the
    date. A version that ends in ``.0`` gives way to an older minor that has had fixes.
    """
    runtimes = sorted(available, key=lambda runtime: Version(runtime.version), reverse=True)
    if wishes.asked:
        for runtime in runtimes:
            if _names(wishes.asked, runtime.version):
                return runtime, f"Python {runtime.version}, as asked"
        return _unavailable(f"Python {wishes.asked} was asked for", runtimes)
    bound = _bound(wishes)
    allowed = [runtime for runtime in runtimes if bound.contains(runtime.version, prereleases=True)]
    if not allowed:
        return _unavailable(f"`requires-python` is {wishes.requires!r}", runtimes)
    for pin in wishes.pinned:
        for runtime in allowed:
            if _names(pin, runtime.version):
                return runtime, f"Python {runtime.version}, since .python-version names {pin}"
    named, within = _named_by_tree(allowed, wishes)
    settled = [runtime for runtime in named if _age(runtime, date) >= SETTLED_AFTER]
    if not settled:
        oldest = min(named, key=lambda runtime: (_minor(runtime), -_micro(runtime)))
        return oldest, f"Python {oldest.version}, the oldest one here{within}; none had settled by {_day(date)}"
    best = max(settled, key=lambda runtime: (_micro(runtime) > 0, Version(runtime.version)))
    return best, f"Python {best.version}, the newest here{within} that had settled by {_day(date)}"


def _named_by_tree(allowed: list[Runtime], wishes: Wishes) -> tuple[list[Runtime], str]:
    """Return those that the tree names, and what names them, to be read after "here".

    Classifiers and CI bound the choice where they name something that is here; what both name is best.
    """
    named = allowed
    parts = [f"requires-python {wishes.requires}"] if wishes.requires else []
    for minors, told in ((wishes.classified, "the classifiers"), (wishes.tested, "what CI tests on")):
        kept = [runtime for runtime in named if _minor(runtime) in minors]
        if kept:
            named = kept
            parts.append(f"{told} ({_span(minors)})")
    return named, f" within {', '.join(parts[:-1])}{' and ' if parts[1:] else ''}{parts[-1]}" if parts else ""


def passed_over(available: Iterable[Runtime], wishes: Wishes, date: int, chosen: Runtime) -> tuple[str, ...]:
    """Return one line for each minor version here that is newer than the chosen one: why it was not taken. Pure."""
    bound = _bound(wishes)
    told: dict[tuple[int, int], str] = {}
    runtimes = sorted(available, key=lambda runtime: Version(runtime.version), reverse=True)
    allowed = [runtime for runtime in runtimes if bound.contains(runtime.version, prereleases=True)]
    named = {_minor(runtime) for runtime in _named_by_tree(allowed, wishes)[0]}
    for runtime in runtimes:
        minor = _minor(runtime)
        if minor <= _minor(chosen) or minor in told:
            continue
        released = FIRST_RELEASES.get(minor)
        if not bound.contains(runtime.version, prereleases=True):
            why = f"requires-python is {wishes.requires}"
        elif minor not in named:
            why = "CI doesn't test on it" if minor in wishes.classified else "the project doesn't name it"
        elif released is None or _age(runtime, date) < SETTLED_AFTER:
            since = f"out since {released:%Y-%m-%d}" if released else "newer than the table of releases"
            why = f"{since}, not settled by {_day(date)}"
        elif not _micro(runtime):
            why = "a first release that has had no fixes"
        else:
            why = "something that goes before newness names another"
        told[minor] = f"Python {runtime.version}: {why}"
    return tuple(told.values())


def _bound(wishes: Wishes) -> SpecifierSet:
    try:
        return SpecifierSet(wishes.requires)
    except InvalidSpecifier:
        return SpecifierSet()


def _span(minors: Iterable[tuple[int, int]]) -> str:
    """Return minor versions in words; those that follow each other as a span."""
    spans: list[list[tuple[int, int]]] = []
    for minor in sorted(minors):
        if spans and minor == (spans[-1][-1][0], spans[-1][-1][1] + 1):
            spans[-1].append(minor)
        else:
            spans.append([minor])
    ends = [dict.fromkeys((f"{span[0][0]}.{span[0][1]}", f"{span[-1][0]}.{span[-1][1]}")) for span in spans]
    return ", ".join(" to ".join(end) for end in ends)


def _day(date: int) -> str:
    return datetime.fromtimestamp(date, tz=UTC).strftime("%Y-%m-%d")


def _unavailable(wanted: str, runtimes: list[Runtime]) -> Refusal:
    here = ", ".join(runtime.version for runtime in runtimes) or "none"
    return Refusal(
        code="runtime-unavailable",
        detail=f"{wanted}; the interpreters on this machine are: {here}",
        remedy="install one that fits (for example: uv python install 3.9; 3.7 is the oldest that can be used),"
        " or name one of those that are here as python",
    )


def _names(wish: str, version: str) -> bool:
    wish = wish.strip().removeprefix("cpython-").removeprefix("python").removeprefix("-").strip()
    return version == wish or version.startswith(wish + ".")


def _minor(runtime: Runtime) -> tuple[int, int]:
    release = Version(runtime.version).release
    return release[0], release[1]


def _micro(runtime: Runtime) -> int:
    return Version(runtime.version).micro


def _age(runtime: Runtime, date: int) -> float:
    """Return how long a minor version had been out at a date, in seconds; one that is not in the table is newborn."""
    released = FIRST_RELEASES.get(_minor(runtime))
    return date - released.timestamp() if released else 0.0
