"""Locked distributions: what a lock file holds for the chosen groups, and the hashed list that a case records. Pure."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from casewright.errors import InvalidInputError
from execution.languages.python_project import table, texts


@dataclass(frozen=True, kw_only=True, slots=True)
class Locked:
    """One distribution at an exact version. ``hashes`` are those of the wheel for this platform and of the source.

    ``built`` tells that there is a wheel for this platform, so that nothing has to be compiled.
    """

    name: str
    version: str
    hashes: tuple[str, ...]
    built: bool

    @property
    def pin(self) -> str:
        """The distribution as a requirement."""
        return f"{self.name}=={self.version}"


def read_pylock(text: str, minor: tuple[int, int]) -> tuple[tuple[Locked, ...], tuple[str, ...]]:
    """Read a ``pylock.toml`` that was resolved for one interpreter, whose minor version is given.

    Returns the distributions sorted by name, and the names that come from somewhere else than an index, which no hash
    can pin. Raises ``InvalidInputError`` for a text that is no such file.
    """
    try:
        packages = tomllib.loads(text)["packages"]
        tags = {tag: place for place, tag in enumerate(_tags(minor))}
        locked = [_locked(package, tags) for package in packages if "version" in package and _is_indexed(package)]
        elsewhere = [
            str(package["name"]) for package in packages if not _is_indexed(package) and "directory" not in package
        ]
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInputError(f"the resolver's lock can't be read: {error!r}", "try another version of uv") from error
    return tuple(sorted(locked, key=lambda one: one.name)), tuple(elsewhere)


def hashed_list(locked: Iterable[Locked]) -> str:
    """Return the distributions as a requirements file with hashes, one name a line, ending in a newline."""
    return "".join(
        " \\\n    ".join([one.pin, *(f"--hash=sha256:{digest}" for digest in one.hashes)]) + "\n" for one in locked
    )


def merge(*lists: Iterable[Locked]) -> tuple[Locked, ...]:
    """Join lists of distributions; of one name the first list's version counts."""
    found: dict[str, Locked] = {}
    for locked in lists:
        for one in locked:
            found.setdefault(one.name, one)
    return tuple(found[name] for name in sorted(found))


def _tags(minor: tuple[int, int]) -> list[Tag]:
    """Return the wheel tags that the interpreter takes on this machine, the most telling one first."""
    interpreter = f"cp{minor[0]}{minor[1]}"
    return [*cpython_tags(minor), *compatible_tags(minor, interpreter)]


def _is_indexed(package: Mapping[str, Any]) -> bool:
    return bool(package.get("wheels") or package.get("sdist"))


def _locked(package: Mapping[str, Any], places: Mapping[Tag, int]) -> Locked:
    ranked: list[tuple[int, str]] = []
    for wheel in package.get("wheels", []):
        name = str(wheel.get("name") or wheel.get("url", "")).rpartition("/")[2]
        try:
            fits = [places[tag] for tag in parse_wheel_filename(name)[3] if tag in places]
        except InvalidWheelFilename:
            continue
        if fits:
            ranked.append((min(fits), wheel["hashes"]["sha256"]))
    hashes = [min(ranked)[1]] if ranked else []
    sdist = package.get("sdist")
    if sdist:
        hashes.append(sdist["hashes"]["sha256"])
    return Locked(
        name=canonicalize_name(package["name"]),
        version=str(package["version"]),
        hashes=tuple(hashes),
        built=bool(ranked),
    )


def closure(lock: Mapping[str, Any], project: str, groups: Sequence[str], extras: Sequence[str]) -> tuple[str, ...]:
    """Return ``name==version`` of all that a ``uv.lock`` holds for a project with these groups and extras.

    What other groups pull in (linters, documentation) is left out, so that their updates begin no new era. Markers
    are not evaluated: too much rather than too little.
    """
    packages: dict[str, list[Mapping[str, Any]]] = {}
    for package in lock.get("package", []):
        packages.setdefault(canonicalize_name(str(package.get("name"))), []).append(package)
    names = frozenset(canonicalize_name(group) for group in groups)
    waiting: list[tuple[str, frozenset[str]]] = [(canonicalize_name(project), frozenset(extras))]
    for root in packages.get(canonicalize_name(project), []):
        for group, dependencies in table(root, "dev-dependencies").items():
            if canonicalize_name(group) in names:
                waiting += _named(dependencies)
    found: set[str] = set()
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        for package in packages.get(one[0], []):
            found.add(f"{one[0]}=={package.get('version', '')}")
            waiting += _named(package.get("dependencies"))
            for extra in one[1]:
                waiting += _named(table(package, "optional-dependencies").get(extra))
    return tuple(sorted(found))


def _named(dependencies: object) -> list[tuple[str, frozenset[str]]]:
    rows = dependencies if isinstance(dependencies, list) else []
    return [
        (canonicalize_name(str(row.get("name"))), frozenset(texts(row.get("extra"))))
        for row in rows
        if isinstance(row, dict)
    ]
