"""A JavaScript package as its manifests tell it: ``package.json``, workspaces, lock files, and what an era depends on.

Pure: bytes of a tree in, facts out. Paths are text relative to the tree's root; a path that is not UTF-8 can't be named
in a ``package.json`` and is left out of sight.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from execution.languages.base import TreeReader

DEPENDENCY_FIELDS: Final = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
# What an install reads of a package.json; name, version and scripts change from commit to commit and decide nothing.
_INSTALL_FIELDS: Final = (
    *DEPENDENCY_FIELDS,
    "peerDependenciesMeta",
    "bundleDependencies",
    "bundledDependencies",
    "overrides",
    "resolutions",
    "pnpm",
    "packageManager",
    "engines",
    "workspaces",
    "dependenciesMeta",
    "bin",
)
_SETTINGS_FILES: Final = (".npmrc", ".yarnrc", ".yarnrc.yml", "pnpm-workspace.yaml", ".pnpmfile.cjs", "bunfig.toml")
LOCK_FILES: Final[Mapping[str, str]] = {
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
    "bun.lock": "bun",
    "bun.lockb": "bun",
}


class ManifestError(ValueError):
    """A ``package.json`` that is not a JSON object; the message names the path."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """One ``package.json``: the folder that it lies in (``.`` for the root) and the parts of it that rules read."""

    directory: str
    dependencies: Mapping[str, str]
    scripts: Mapping[str, str]
    engines: Mapping[str, str]
    package_manager: str
    raw: Mapping[str, Any]

    @property
    def path(self) -> str:
        return join(self.directory, "package.json")


@dataclass(frozen=True, kw_only=True, slots=True)
class Lock:
    """A lock file: where it lies, which package manager reads it, its bytes."""

    path: str
    manager: str
    content: bytes


def join(directory: str, name: str) -> str:
    """Join a folder of the tree (``.`` is the root) and a relative path."""
    return name if directory in {".", ""} else f"{directory}/{name}"


def parent(directory: str) -> str:
    """Return the folder above, ``.`` at the top."""
    return directory.rpartition("/")[0] or "."


def ancestors(directory: str) -> tuple[str, ...]:
    """Return a folder and all above it, the root ``.`` last."""
    found = [directory]
    while found[-1] != ".":
        found.append(parent(found[-1]))
    return tuple(found)


def read_text(tree: TreeReader, path: str) -> str | None:
    """Return a file of the tree as text, or None where there is none."""
    content = tree.read(path.encode("utf-8", "surrogateescape"))
    return None if content is None else content.decode("utf-8-sig", "replace")


def exists(tree: TreeReader, path: str) -> bool:
    """Whether the tree holds a file of this path."""
    return path.encode("utf-8", "surrogateescape") in tree.paths


def _strings(value: object) -> dict[str, str]:
    return {key: text for key, text in value.items() if isinstance(text, str)} if isinstance(value, dict) else {}


def read_manifest(tree: TreeReader, directory: str) -> Manifest | None:
    """Return the ``package.json`` of a folder, or None without one. Raises ``ManifestError``."""
    path = join(directory, "package.json")
    text = read_text(tree, path)
    if text is None:
        return None
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ManifestError(f"{path} is not JSON: {error}") from error
    if not isinstance(raw, dict):
        raise ManifestError(f"{path} is not a JSON object")
    dependencies: dict[str, str] = {}
    for field in reversed(DEPENDENCY_FIELDS):
        dependencies.update(_strings(raw.get(field)))
    manager = raw.get("packageManager")
    return Manifest(
        directory=directory,
        dependencies=dependencies,
        scripts=_strings(raw.get("scripts")),
        engines=_strings(raw.get("engines")),
        package_manager=manager if isinstance(manager, str) else "",
        raw=raw,
    )


def nearest_package(tree: TreeReader, path: str) -> str | None:
    """Return the folder of the ``package.json`` nearest above a file, or None without any."""
    return next((folder for folder in ancestors(parent(path)) if exists(tree, join(folder, "package.json"))), None)


def install_root(tree: TreeReader, package: str) -> str:
    """Return the folder that an install is started in: of the lock file or the workspace, else ``package``."""
    for folder in ancestors(package):
        if any(exists(tree, join(folder, lock)) for lock in LOCK_FILES):
            return folder
    for folder in ancestors(package):
        manifest = read_manifest(tree, folder)
        if exists(tree, join(folder, "pnpm-workspace.yaml")) or (manifest and manifest.raw.get("workspaces")):
            return folder
    return package


def find_lock(tree: TreeReader, folder: str, manager: str) -> Lock | None:
    """Return the lock file of a folder: that of ``manager`` (may be empty), else the first known."""
    locks = [
        Lock(path=join(folder, name), manager=reader, content=content)
        for name, reader in LOCK_FILES.items()
        if (content := tree.read(join(folder, name).encode("utf-8", "surrogateescape"))) is not None
    ]
    return next((lock for lock in locks if lock.manager == manager), locks[0] if locks else None)


def workspace_folders(tree: TreeReader, root: str) -> tuple[str, ...]:
    """Return every folder below ``root`` with a ``package.json``, ``root`` first: what a workspace may have.

    Which of them the workspace's globs take is the package manager's business; to name one too many only makes an era a
    little finer. Folders of fixtures and of examples are left out unless the globs name them.
    """
    prefix = b"" if root == "." else root.encode("utf-8", "surrogateescape") + b"/"
    found = set()
    for path in tree.paths:
        if not path.startswith(prefix) or not path.endswith(b"package.json"):
            continue
        inner = path[len(prefix) :]
        if inner == b"package.json" or b"node_modules" in inner.split(b"/") or not inner.endswith(b"/package.json"):
            continue
        found.add(path.rpartition(b"/")[0].decode("utf-8", "surrogateescape"))
    return (root, *sorted(found))


def is_workspace(tree: TreeReader, root: str) -> bool:
    """Whether an install in ``root`` installs for more than one package."""
    manifest = read_manifest(tree, root)
    return exists(tree, join(root, "pnpm-workspace.yaml")) or bool(manifest and manifest.raw.get("workspaces"))


def environment_files(tree: TreeReader, root: str, lock: Lock | None) -> tuple[str, ...]:
    """Return the files of the tree that decide an install in ``root``, sorted."""
    folders = workspace_folders(tree, root) if is_workspace(tree, root) else (root,)
    found = {join(folder, "package.json") for folder in folders}
    found |= {join(root, name) for name in _SETTINGS_FILES}
    found |= {join(folder, ".npmrc") for folder in folders}
    found |= set(_patches(tree, root))
    if lock is not None:
        found.add(lock.path)
    return tuple(sorted(path for path in found if exists(tree, path)))


def _patches(tree: TreeReader, root: str) -> Iterable[str]:
    for folder in ("patches", ".yarn/patches", ".yarn/releases", ".yarn/plugins"):
        prefix = join(root, folder).encode("utf-8", "surrogateescape") + b"/"
        yield from (path.decode("utf-8", "surrogateescape") for path in tree.paths if path.startswith(prefix))


def environment_inputs(tree: TreeReader, files: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return (path, digest) of each file that decides an install; of a ``package.json`` only the fields that do."""
    rows = []
    for path in files:
        content = tree.read(path.encode("utf-8", "surrogateescape")) or b""
        if path.rpartition("/")[2] == "package.json":
            content = _install_fields(content)
        rows.append((path, hashlib.sha256(content).hexdigest()))
    return tuple(rows)


def _install_fields(content: bytes) -> bytes:
    try:
        raw = json.loads(content.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return content
    if not isinstance(raw, dict):
        return content
    kept = {field: raw[field] for field in _INSTALL_FIELDS if field in raw}
    return json.dumps(kept, sort_keys=True).encode()


def locked_version(lock: Lock | None, package: str) -> str:
    """Return the newest version of ``package`` that a lock file holds, or an empty string."""
    if lock is None:
        return ""
    name = re.escape(package.encode())
    version = rb"(\d+\.\d+\.\d+(?:-[0-9A-Za-z.]+)?)"
    patterns = (
        rb"""^\s*['"]?/?%s[@/]%s""" % (name, version),
        rb"""^['"]?%s@[^\n]*:\n\s+version:? "?%s""" % (name, version),
        rb"""^\s*"(?:[^"\n]*/)?node_modules/%s": \{\s*"version": "%s""" % (name, version),
        rb"""^\s*"%s": \{\s*"version": "%s""" % (name, version),
        rb"""^\s*"%s": \["%s@%s""" % (name, name, version),
    )
    found = {match.decode() for pattern in patterns for match in re.findall(pattern, lock.content, re.MULTILINE)}
    return max(found, key=version_tuple, default="")


def version_tuple(text: str) -> tuple[int, int, int]:
    """Return major, minor and patch of the first version in a text or range; zeros without one."""
    match = re.search(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?", text)
    if match is None:
        return (0, 0, 0)
    major, minor, patch = match.groups(default="0")
    return (int(major), int(minor), int(patch))


def lowest_version(requirement: str) -> tuple[int, int, int]:
    """Return the lowest version that an npm range takes: of its alternatives the least lower bound.

    ``>=14 <21`` gives 14.0.0, ``^12 || >=18`` 12.0.0; ``*``, ``<20`` and what can't be read give 0.0.0.
    """
    alternatives = []
    for alternative in requirement.split("||"):
        floor = (0, 0, 0)
        text = re.sub(r"(>=|<=|[<>^~=v])\s+", r"\1", alternative.strip())
        for part in text.split(" - ")[0].split():
            if part[0].isdigit() or part[0] in "^~=v" or part.startswith(">"):
                floor = max(floor, version_tuple(part))
        alternatives.append(floor)
    return min(alternatives)
