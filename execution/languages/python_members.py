"""The projects of a tree that are installed together: the graded files' own, and those of the tree that it needs. Pure.

A workspace, a path instead of a version, ``-e ./other`` in a requirements file: what stands in the tree is installed
from the tree, in place, and never taken from an index.
"""

from __future__ import annotations

import fnmatch
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from packaging.utils import canonicalize_name

from execution.languages.base import TreeReader
from execution.languages.python_arguments import LocalPath, parse_requirement
from execution.languages.python_project import (
    MANIFESTS,
    Project,
    is_own_project,
    project_at,
    project_folders,
    read_project,
    read_toml,
    table,
    texts,
)

_POETRY_GROUPS = ("dependencies", "dev-dependencies")


def graded_projects(tree: TreeReader, graded: tuple[str, ...]) -> tuple[Project, ...]:
    """Return the other projects whose tests are among the graded files, where no single project holds them all.

    Where the root is no project and holds the tests of the only one that the tree has, that one is returned.
    """
    main = read_project(tree, graded)
    if main.directory != ".":
        return ()
    own = {next(project_folders(tree, posixpath.dirname(file)), "") for file in graded} - {""}
    folders = tuple(sorted(own)) or (() if main.is_package else _only_project(tree))
    return tuple(project_at(tree, folder) for folder in folders)


def _only_project(tree: TreeReader) -> tuple[str, ...]:
    found: set[str] = set()
    for path in tree.paths:
        folder, _, name = path.decode("utf-8", "surrogateescape").rpartition("/")
        if name in MANIFESTS and folder and is_own_project(tree, folder):
            found.add(folder)
    return tuple(found) if len(found) == 1 else ()


def members(
    tree: TreeReader, project: Project, lines: Iterable[str], paths: Iterable[LocalPath]
) -> tuple[tuple[Project, tuple[str, ...]], ...]:
    """Return the projects of the tree that a project needs beside itself with the extras asked of each.

    What another one needs comes before it. ``lines`` are all requirements that count, ``paths`` the folders that
    requirements name.
    """
    found: dict[str, tuple[Project, tuple[str, ...]]] = {}
    _visit(tree, project, lines, paths, found, frozenset({project.directory}))
    return tuple(found.values())


def _visit(
    tree: TreeReader,
    project: Project,
    lines: Iterable[str],
    paths: Iterable[LocalPath],
    found: dict[str, tuple[Project, tuple[str, ...]]],
    above: frozenset[str],
) -> None:
    for folder, extras in _wanted(tree, project, lines, paths):
        if folder in above or not any(_is_there(tree, posixpath.join(folder, name)) for name in MANIFESTS):
            continue
        if folder in found:
            known, asked = found[folder]
            found[folder] = (known, tuple(dict.fromkeys((*asked, *extras))))
            continue
        member = project_at(tree, folder)
        if not member.is_package:
            continue
        _visit(tree, member, stated_dependencies(member), (), found, above | {folder})
        found[folder] = (member, extras)


def stated_dependencies(project: Project) -> tuple[str, ...]:
    """Return the names that a project's own manifest depends on, as requirements where they are written so."""
    stated = project.table("project")
    extras = [line for value in table(stated, "optional-dependencies").values() for line in texts(value)]
    poetry = project.table("tool", "poetry")
    groups = [table({"_": value}, "_", "dependencies") for value in table(poetry, "group").values()]
    named = [name for part in (*(table(poetry, name) for name in _POETRY_GROUPS), *groups) for name in part]
    return (*texts(stated.get("dependencies")), *extras, *named)


def _wanted(
    tree: TreeReader, project: Project, lines: Iterable[str], paths: Iterable[LocalPath]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for local in paths:
        inner = posixpath.normpath(posixpath.join(project.directory, local.path))
        yield (inner if _is_project(tree, inner) else posixpath.normpath(local.path)), local.extras
    places = dict(_uv_places(tree, project))
    for line in lines:
        requirement = parse_requirement(line)
        if requirement is None:
            continue
        folder = places.get(canonicalize_name(requirement.name))
        if folder is not None:
            yield folder, tuple(sorted(requirement.extras))
    for path, extras in _poetry_paths(project):
        yield posixpath.normpath(posixpath.join(project.directory, path)), extras


def _is_project(tree: TreeReader, folder: str) -> bool:
    return not folder.startswith("..") and any(_is_there(tree, posixpath.join(folder, name)) for name in MANIFESTS)


def _is_there(tree: TreeReader, path: str) -> bool:
    return posixpath.normpath(path).encode("utf-8", "surrogateescape") in tree.paths


def _uv_places(tree: TreeReader, project: Project) -> Iterator[tuple[str, str]]:
    """Yield (canonical name, folder) of each dependency that uv is told to take from the tree."""
    workspace = workspace_of(tree, project.directory)
    tables: list[tuple[str, Mapping[str, Any]]] = [(project.directory, project.table("tool", "uv", "sources"))]
    if workspace not in {"", project.directory}:
        root = read_toml(tree, posixpath.normpath(posixpath.join(workspace, "pyproject.toml")))
        tables.insert(0, (workspace, table(root, "tool", "uv", "sources")))
    names = workspace_names(tree, workspace) if workspace else {}
    for folder, sources in tables:
        for name, value in sources.items():
            for one in value if isinstance(value, list) else [value]:
                if not isinstance(one, dict):
                    continue
                if one.get("workspace") is True and canonicalize_name(name) in names:
                    yield canonicalize_name(name), names[canonicalize_name(name)]
                elif isinstance(one.get("path"), str):
                    yield canonicalize_name(name), posixpath.normpath(posixpath.join(folder, one["path"]))


def workspace_of(tree: TreeReader, directory: str) -> str:
    """Return the folder of the uv workspace that a project belongs to, empty when it belongs to none."""
    folder = directory
    while True:
        manifest = read_toml(tree, posixpath.normpath(posixpath.join(folder, "pyproject.toml")))
        if table(manifest, "tool", "uv", "workspace"):
            return folder
        if folder in {".", ""}:
            return ""
        folder = posixpath.dirname(folder) or "."


def workspace_names(tree: TreeReader, workspace: str) -> Mapping[str, str]:
    """Return the folder of each member of a uv workspace by its canonical name, the root included."""
    root = read_toml(tree, posixpath.normpath(posixpath.join(workspace, "pyproject.toml")))
    patterns = texts(table(root, "tool", "uv", "workspace").get("members"))
    found: dict[str, str] = {}
    for path in sorted(tree.paths):
        name = path.decode("utf-8", "surrogateescape")
        folder, _, base = name.rpartition("/")
        inner = posixpath.relpath(folder or ".", workspace)
        if base != "pyproject.toml" or not (inner == "." or any(_matches(inner, one) for one in patterns)):
            continue
        stated = table(read_toml(tree, name), "project").get("name")
        if isinstance(stated, str):
            found[canonicalize_name(stated)] = folder or "."
    return found


def _matches(path: str, pattern: str) -> bool:
    parts, wanted = path.split("/"), pattern.rstrip("/").removeprefix("./").split("/")
    if wanted[-1] == "**":
        return len(parts) >= len(wanted) and _matches("/".join(parts[: len(wanted) - 1]), "/".join(wanted[:-1]))
    return len(parts) == len(wanted) and all(map(fnmatch.fnmatchcase, parts, wanted))


def _poetry_paths(project: Project) -> Iterator[tuple[str, tuple[str, ...]]]:
    poetry = project.table("tool", "poetry")
    groups = [table({"_": value}, "_", "dependencies") for value in table(poetry, "group").values()]
    for part in (*(table(poetry, name) for name in _POETRY_GROUPS), *groups):
        for wish in part.values():
            for one in wish if isinstance(wish, list) else [wish]:
                if isinstance(one, dict) and isinstance(one.get("path"), str) and not one.get("optional"):
                    yield one["path"], texts(one.get("extras"))
