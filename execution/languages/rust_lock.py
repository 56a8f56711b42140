"""``Cargo.lock``: which packages a tree is locked to, and how a case hands a lock file of ours to a stranger. Pure."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import Final

LOCK: Final = "Cargo.lock"


@dataclass(frozen=True, kw_only=True, slots=True)
class Locked:
    """One package of a lock file that is not in the tree. ``source`` is the registry or repository it comes from."""

    name: str
    version: str
    source: str


def read_lock(data: bytes | None) -> frozenset[Locked] | None:
    """Return what a lock file takes from outside of the tree, or None where there is none that can be read."""
    if data is None:
        return None
    try:
        rows = tomllib.loads(data.decode("utf-8", "replace")).get("package", [])
    except tomllib.TOMLDecodeError:
        return None
    return frozenset(
        Locked(name=str(row.get("name")), version=str(row.get("version")), source=row["source"])
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict) and isinstance(row.get("source"), str)
    )


def only_in_base(head: bytes | None, base: bytes | None) -> tuple[Locked, ...]:
    """Return what the base is locked to and the head is not, sorted: an environment of the head does not hold it."""
    theirs, ours = read_lock(base), read_lock(head)
    if theirs is None or ours is None:
        return ()
    return tuple(sorted(theirs - ours, key=lambda package: (package.name, package.version)))
