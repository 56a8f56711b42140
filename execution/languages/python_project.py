"""What a tree says of its Python project: where it lies, its manifests, and pytest's configuration. Pure reading.

A manifest that can't be parsed counts as absent: the tool that needs it will say so when the environment is built.
"""

from __future__ import annotations

import configparser
import posixpath
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from execution.languages.base import TreeReader

MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg")
# Folders whose projects serve something else than themselves.
_NOT_PROJECTS = frozenset(
    """tests test testing testdata fixtures examples example samples docs doc benchmarks benchmark data templates
    template vendor vendored third_party node_modules""".split()
)
Sections = Mapping[str, Mapping[str, str]]

# Where pytest looks in each folder, in its order; the first file that has the section wins.
_PYTEST_FILES = (
    ("pytest.toml", "pytest"),
    (".pytest.toml", "pytest"),
    ("pytest.ini", "pytest"),
    (".pytest.ini", "pytest"),
    ("pyproject.toml", "tool.pytest"),
    ("tox.ini", "pytest"),
    ("setup.cfg", "tool:pytest"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Project:
    """The project that graded files belong to. ``directory`` is its folder from the tree's root (``.``: the root)."""

    directory: str
    pyproject: Mapping[str, Any] = field(default_factory=dict)
    setup_cfg: Sections = field(default_factory=dict)
    setup_py: str | None = None
    tox_ini: Sections = field(default_factory=dict)

    def table(self, *names: str) -> Mapping[str, Any]:
        """Return a table of pyproject.toml, empty when it is absent or something else."""
        return table(self.pyproject, *names)

    @property
    def is_package(self) -> bool:
        """Whether a build back-end would install it."""
        poetry = self.table("tool", "poetry")
        if poetry and poetry.get("package-mode") is False:
            return False
        if self.table("tool", "uv").get("package") is False:
            return False
        packaged = bool(self.pyproject.get("build-system")) or self.setup_py is not None or bool(poetry.get("name"))
        return packaged or "metadata" in self.setup_cfg

    @property
    def name(self) -> str:
        """The distribution's name as its metadata states it, empty when that is not written down plainly."""
        named = self.table("project").get("name") or self.table("tool", "poetry").get("name")
        return str(named or self.setup_cfg.get("metadata", {}).get("name", ""))

    def path(self, name: str) -> str:
        """Return the path from the tree's root of a file that the project names from its own folder."""
        return posixpath.normpath(posixpath.join(self.directory, name))


@dataclass(frozen=True, kw_only=True, slots=True)
class PytestConfiguration:
    """pytest's configuration file and its options as written there; lists are joined by newlines."""

    path: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def addopts(self) -> tuple[str, ...]:
        """The options that every run is given, as words."""
        text = self.options.get("addopts", "")
        try:
            return tuple(shlex.split(text, comments=False))
        except ValueError:
            return tuple(text.split())

    def words(self, name: str) -> tuple[str, ...]:
        """Return an option that holds a list, split as pytest splits it."""
        return tuple(self.options.get(name, "").split())


def table(data: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """Return the table at a path of keys, empty when one of them is absent or no table."""
    for name in names:
        value = data.get(name)
        if not isinstance(value, dict):
            return {}
        data = value
    return data


def texts(value: object) -> tuple[str, ...]:
    """Return the strings of a list, and nothing of anything else."""
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def read_text(tree: TreeReader, path: str) -> str | None:
    """Return a file as text (bytes that are not UTF-8 become replacement signs), or None when it is absent."""
    data = tree.read(path.encode("utf-8", "surrogateescape"))
    return None if data is None else data.decode("utf-8-sig", "replace")


def read_toml(tree: TreeReader, path: str) -> Mapping[str, Any]:
    """Return a TOML file, empty when it is absent or can't be parsed."""
    try:
        return tomllib.loads(read_text(tree, path) or "")
    except tomllib.TOMLDecodeError:
        return {}


def read_sections(tree: TreeReader, path: str) -> Sections:
    """Return an INI file section by section, empty when it is absent or can't be parsed."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, inline_comment_prefixes=None)
    try:
        parser.read_string(read_text(tree, path) or "")
    except configparser.Error:
        return {}
    return {section: {name: value or "" for name, value in parser.items(section)} for section in parser.sections()}


def read_project(tree: TreeReader, graded: tuple[str, ...]) -> Project:
    """Return the project that graded files belong to: the nearest one that holds them all."""
    return project_at(tree, _directory(tree, graded))


def project_at(tree: TreeReader, directory: str) -> Project:
    """Return the project of a folder (``.`` is the root), whatever manifests it has."""
    at = "" if directory == "." else f"{directory}/"
    return Project(
        directory=directory,
        pyproject=read_toml(tree, f"{at}pyproject.toml"),
        setup_cfg=read_sections(tree, f"{at}setup.cfg"),
        setup_py=read_text(tree, f"{at}setup.py"),
        tox_ini=read_sections(tree, f"{at}tox.ini"),
    )


def _directory(tree: TreeReader, graded: tuple[str, ...]) -> str:
    if not graded:
        return "."
    inside = common_folder(graded)
    for folder in project_folders(tree, inside):
        return folder
    if _is_packaged(tree, ""):
        return "."
    while inside:
        if _is_packaged(tree, inside + "/"):
            return inside
        inside = posixpath.dirname(inside)
    return "."


def project_folders(tree: TreeReader, folder: str) -> Iterator[str]:
    """Yield the folders below the root, from one upwards, that hold a project of their own.

    It has a name and is neither a package of a larger project, which may have a ``setup.py`` as well (numpy's did), nor
    something that tests, examples or documentation keep for themselves.
    """
    while folder:
        if is_own_project(tree, folder):
            yield folder
        folder = posixpath.dirname(folder)


def is_own_project(tree: TreeReader, folder: str) -> bool:
    """Tell whether a folder below the root holds a project that could be installed and tested for itself."""
    if _NOT_PROJECTS & {part.lower() for part in folder.split("/")}:
        return False
    if f"{folder}/__init__.py".encode("utf-8", "surrogateescape") in tree.paths or not _is_packaged(tree, folder + "/"):
        return False
    project = project_at(tree, folder)
    return bool(project.name) or (project.setup_py is not None and "name" in project.setup_py)


def _is_packaged(tree: TreeReader, at: str) -> bool:
    pyproject = read_toml(tree, f"{at}pyproject.toml")
    if "project" in pyproject or "build-system" in pyproject or table(pyproject, "tool", "poetry"):
        return True
    return any(f"{at}{name}".encode("utf-8", "surrogateescape") in tree.paths for name in ("setup.py", "setup.cfg"))


def common_folder(paths: tuple[str, ...]) -> str:
    """Return the deepest folder that holds all paths, empty for the root."""
    return posixpath.commonpath([posixpath.dirname(path) for path in paths]) if paths else ""


def read_pytest_configuration(tree: TreeReader, files: tuple[str, ...]) -> PytestConfiguration:
    """Return the configuration that pytest would use when it is given these files."""
    folder = common_folder(files)
    while True:
        at = f"{folder}/" if folder else ""
        for name, section in _PYTEST_FILES:
            options = _pytest_options(tree, at + name, section)
            if options is not None:
                return PytestConfiguration(path=at + name, options=options)
        if not folder:
            return PytestConfiguration()
        folder = posixpath.dirname(folder)


def _pytest_options(tree: TreeReader, path: str, section: str) -> Mapping[str, str] | None:
    if path.encode("utf-8", "surrogateescape") not in tree.paths:
        return None
    if path.endswith(".toml"):
        pyproject = read_toml(tree, path)
        found = table(pyproject, *section.split("."))
        found = table(found, "ini_options") or found
        if not found and section != "pytest":
            return None
        return {name: _joined(value) for name, value in found.items()}
    sections = read_sections(tree, path)
    if section not in sections:
        return {} if path.endswith("pytest.ini") else None
    return sections[section]


def _joined(value: object) -> str:
    if isinstance(value, list):
        # addopts is a list of words there, and is split again as a shell would.
        return "\n".join(shlex.quote(str(item)) if " " in str(item) else str(item) for item in value)
    return str(value).lower() if isinstance(value, bool) else str(value)
