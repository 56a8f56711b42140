"""Which parts of a tree an environment depends on, digested, so that commits that agree in them share it. Pure.

Lint and test configuration is left out: it changes what a run does, not what is installed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from execution.languages.base import TreeReader
from execution.languages.python_lock import closure
from execution.languages.python_project import Project, project_at, read_toml, table
from execution.languages.python_requirements import Needs
from execution.languages.python_version import version_inputs

# The tables of pyproject.toml that a build back-end reads.
_BACKEND_TABLES = (
    ("setuptools",), ("setuptools_scm",), ("hatch", "version"), ("hatch", "build"), ("hatch", "metadata"), ("flit",),
    ("poetry", "packages"), ("poetry", "include"), ("poetry", "version"), ("poetry", "scripts"), ("poetry", "plugins"),
    ("poetry", "build"), ("poetry", "extras"), ("poetry-dynamic-versioning",), ("uv-dynamic-versioning",), ("pdm",
    "build"),
    ("pdm", "version"), ("uv", "build-backend"), ("uv", "sources"), ("uv", "workspace"), ("maturin",),
    ("scikit-build",),
    ("meson-python",), ("cython",), ("versioneer",), ("vcs-versioning",), ("distutils",),
)  # fmt: skip
_SETUP_CFG_SECTIONS = (
    "metadata",
    "options",
    "build",
    "build_ext",
    "egg_info",
    "versioneer",
    "bdist_wheel",
    "pbr",
    "files",
)


def inputs(
    tree: TreeReader, project: Project, needs: Needs, variables: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """Return (name, digest) pairs of all that decides the environment besides interpreter and rules, sorted."""
    found: dict[str, str] = {
        "needs": _digest({**json.loads(needs.text()), "why": None}),
        "version-variables": _digest(dict(variables)),
    }
    beside = (one.directory for one in needs.installed if one.directory != project.directory)
    for one in (project, *(project_at(tree, directory) for directory in beside)):
        found |= _manifest_inputs(tree, one)
    if needs.lock:
        lock = closure(read_toml(tree, needs.lock), project.name, needs.groups, needs.extras)
        found[needs.lock] = _digest(list(lock))
    return tuple(sorted(found.items()))


def _manifest_inputs(tree: TreeReader, project: Project) -> dict[str, str]:
    """Return the digests of what a project's manifests, and the files that they read, say to its build back-end."""
    found = dict(version_inputs(tree, project))
    if project.pyproject:
        found[project.path("pyproject.toml")] = _digest(_packaging_part(project))
    if project.setup_py is not None:
        found[project.path("setup.py")] = _digest(project.setup_py)
    if project.setup_cfg:
        kept = {
            name: section
            for name, section in project.setup_cfg.items()
            if name in _SETUP_CFG_SECTIONS or name.startswith("options.")
        }
        if kept:
            found[project.path("setup.cfg")] = _digest({name: dict(section) for name, section in kept.items()})
    return found


def _packaging_part(project: Project) -> dict[str, Any]:
    """Return what a build back-end reads of pyproject.toml; the extras that count are among the needs."""
    stated = {name: value for name, value in project.table("project").items() if name != "optional-dependencies"}
    part: dict[str, Any] = {"project": stated, "build-system": dict(project.table("build-system"))}
    for names in _BACKEND_TABLES:
        value = table(project.pyproject, "tool", *names[:-1]).get(names[-1])
        if value is not None:
            part[".".join(names)] = value
    return part


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
