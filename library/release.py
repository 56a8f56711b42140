"""A released library as a plain document: its digests, its bytes, its file names. Nothing here reads models.

The bytes of a release are its JSON with two spaces of indent, keys in the order of the format, UTF-8, and a newline at
the end; a file in any other form is not the one that was released. Digests are over canonical bytes
(``casewright.hashing``), so that ``jq -cjS '.cases' FILE | sha256sum`` gives ``entries_digest``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from casewright.errors import InvalidInputError
from casewright.hashing import digest

LIBRARY_SCHEMA: Final = "casewright.library/v1"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReleaseFile:
    """A released file by name: which library, which version."""

    path: Path
    library: str
    version: int


def case_digest(case: Mapping[str, Any]) -> str:
    """Return the digest of one entry: over the case without its ``case_digest``."""
    return digest({key: value for key, value in case.items() if key != "case_digest"})


def entries_digest(cases: Sequence[Mapping[str, Any]]) -> str:
    """Return the digest of all entries, ``case_digest`` of each included."""
    return digest(list(cases))


def header_digest(document: Mapping[str, Any]) -> str:
    """Return the digest of all that is not an entry: a changed word in a note shows, too."""
    return digest({key: value for key, value in document.items() if key not in {"cases", "header_digest"}})


def release_bytes(document: Mapping[str, Any]) -> bytes:
    """Return the bytes of a release; its keys must stand in the order of the format."""
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()


def library_name(library: str, version: int) -> str:
    """Return the file name of a version."""
    return f"{library}-v{version}.json"


def rejections_name(library: str, version: int) -> str:
    """Return the name of the file beside it that lists what was looked at and refused."""
    return f"{library}-v{version}.rejections.jsonl"


def released(folder: Path, library: str | None = None) -> tuple[ReleaseFile, ...]:
    """Return the released files of a folder (of one library), by library and version. Nothing is read."""
    found: list[ReleaseFile] = []
    for path in folder.glob("*-v*.json"):
        named = re.fullmatch(r"([a-z0-9][a-z0-9-]*)-v([1-9][0-9]*)\.json", path.name)
        if named and library in (None, named[1]):
            found.append(ReleaseFile(path=path, library=named[1], version=int(named[2])))
    return tuple(sorted(found, key=lambda file: (file.library, file.version)))


def find_case(document: Mapping[str, Any], case_id: str) -> Mapping[str, Any]:
    """Return the entry of an id. Raises ``InvalidInputError`` that names the nearest ids there are."""
    for case in document["cases"]:
        if case["id"] == case_id:
            entry: Mapping[str, Any] = case
            return entry
    known = [case["id"] for case in document["cases"]]
    near = [one for one in known if case_id.split("-", maxsplit=1)[0] in one][:3] or known[:3]
    name = f"{document['library']['id']} v{document['version']}"
    raise InvalidInputError(f"there is no case {case_id!r} in {name}", f"it has {', '.join(near)}" if near else "")
