"""A folder of packages: what it holds, for which set-up, and whether it is still what it was when it was filled.

``packages.json`` in the folder names every file with its SHA-256, the set-up that it was filled for, and the variables
and files by which that set-up installs from it. A person can read it and do the same by hand.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from casewright.errors import PackagesError
from casewright.hashing import digest_bytes, digest_file
from execution.package_plan import PackagePlan
from execution.recipe import Runtime

MANIFEST: Final = "packages.json"
SCHEMA: Final = "casewright.packages/v1"
_FILL_ANEW: Final = "fill it again with `casewright cache wheels CASE`"
# More would hide the sentence that they stand in.
_MOST_NAMED: Final = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """One entry of a folder: a file's digest (``sha256:…``) and size in bytes, or where a symlink leads to."""

    sha256: str = ""
    bytes: int = 0
    link: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """What a folder says of itself. ``case`` is the first that it was filled for; paths are from the folder's root.

    ``key`` is ``folder_key`` of what decides the packages, so that another case with the same key may use it too.
    """

    key: str
    case: str
    record_digest: str
    language: str
    runtime: str
    platform: str
    setup: tuple[str, ...]
    variables: Mapping[str, str]
    laid: Mapping[str, str]
    files: Mapping[str, Content]

    @property
    def size(self) -> int:
        """The bytes of all files together."""
        return sum(content.bytes for content in self.files.values())


def folder_key(plan: PackagePlan, language: str, runtime: Runtime) -> str:
    """Return the name of the folder that a set-up needs: 64 hex digits over what decides the packages, and for whom."""
    lines = [SCHEMA, language, runtime.name, runtime.version, platform_name(), *plan.decided_by]
    return hashlib.sha256("\0".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def platform_name() -> str:
    """Return the platform that packages are fetched for, such as ``linux x86_64``."""
    return f"{sys.platform} {platform.machine()}"


def contents(folder: Path) -> dict[str, Content]:
    """Read every file and symlink below a folder but the manifest, in the order of their paths."""
    return dict(sorted(_contents(folder)))


def _contents(folder: Path) -> Iterator[tuple[str, Content]]:
    for parent, folders, names in os.walk(folder):
        linked = [name for name in folders if Path(parent, name).is_symlink()]
        for name in (*names, *linked):
            path = Path(parent, name)
            shown = path.relative_to(folder).as_posix()
            if path.is_symlink():
                yield shown, Content(link=str(path.readlink()))
            elif shown != MANIFEST:
                yield shown, Content(sha256=digest_file(path), bytes=path.stat().st_size)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write what a folder holds. Raises ``OSError``."""
    plain = {"schema": SCHEMA, **asdict(manifest)}
    plain["files"] = {path: _plain(content) for path, content in manifest.files.items()}
    # A name that is no UTF-8 is a lone surrogate here, which ASCII escapes keep.
    (folder / MANIFEST).write_text(json.dumps(plain, indent=1) + "\n", encoding="ascii")


def _plain(content: Content) -> dict[str, object]:
    return {"link": content.link} if content.link else {"sha256": content.sha256, "bytes": content.bytes}


def read_manifest(folder: Path) -> Manifest:
    """Read what a folder says of itself. Raises ``PackagesError`` when it says nothing that can be read."""
    place = folder / MANIFEST
    try:
        plain = json.loads(place.read_bytes())
        if plain.pop("schema") != SCHEMA:
            raise PackagesError(f"{place} was written by another version", _FILL_ANEW)
        files = {str(path): Content(**content) for path, content in plain.pop("files").items()}
        return Manifest(**{**plain, "setup": tuple(plain["setup"])}, files=files)
    except FileNotFoundError as error:
        raise PackagesError(f"{folder} is no folder of packages: it has no {MANIFEST}", _FILL_ANEW) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise PackagesError(f"{place} can't be read: {error}", _FILL_ANEW) from error


def check_folder(folder: Path, key: str) -> Manifest:
    """Return what a folder holds once every file has been held against its digest.

    Raises ``PackagesError`` that names what is missing, was changed or was added, or says that the folder is another
    set-up's.
    """
    manifest = read_manifest(folder)
    if manifest.key != key:
        raise PackagesError(
            f"{folder} holds the packages of another set-up ({manifest.case}, {manifest.runtime}, {manifest.platform})",
            "name another folder, or fill one with `casewright cache wheels CASE`",
        )
    here = contents(folder)
    faults = [
        *(f"{path} is missing" for path in manifest.files if path not in here),
        *(f"{path} is not what was fetched" for path, one in manifest.files.items() if here.get(path, one) != one),
        *(f"{path} was added" for path in here if path not in manifest.files),
    ]
    if faults:
        more = f" (and {len(faults) - _MOST_NAMED} more)" if len(faults) > _MOST_NAMED else ""
        raise PackagesError(f"the packages in {folder}: {'; '.join(faults[:_MOST_NAMED])}{more}", _FILL_ANEW)
    return manifest


def content_digest(files: Mapping[str, Content]) -> str:
    """Return one digest (``sha256:…``) over all that a folder holds."""
    lines = [f"{path}\0{content.sha256 or 'link ' + content.link}\n" for path, content in sorted(files.items())]
    return digest_bytes("".join(lines).encode("utf-8", "surrogateescape"))
