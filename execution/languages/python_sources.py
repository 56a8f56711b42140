"""Every place in a tree where a Python project writes down what its tests need. Pure reading, no choice.

Each place is a ``Source`` with the name that its author gave it (``tests``, ``dev``); ``python_requirements`` chooses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from packaging.utils import canonicalize_name

from execution.languages.base import TreeReader
from execution.languages.python_arguments import (
    Arguments,
    LocalPath,
    parse_requirement,
    read_arguments,
    read_requirements,
)
from execution.languages.python_poetry import requirements as poetry_requirements
from execution.languages.python_project import Project, read_sections, read_text, read_toml, table, texts
from execution.languages.python_scripts import installs_of_sessions, read_setup_script
from execution.languages.python_tox import lines_for_tests, referred

# A requirements file is named by its author's habit; the word that says what it is for stands in one of these places.
_FILE_NAMES = (
    "requirements/{}.txt", "requirements-{}.txt", "requirements_{}.txt", "requirements.{}.txt", "{}-requirements.txt",
    "{}_requirements.txt", "reqs/{}.txt", "requirements/requirements-{}.txt", "requirements/{}.in",
    "requirements-{}.in",
)  # fmt: skip
_FILE_WORDS = ("tests", "test", "testing", "unittest", "pytest", "dev", "develop", "development", "ci")
_FOLDER_FILES = ("tests/requirements.txt", "test/requirements.txt")


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """One place: its kind and name, and the requirements in it, those of the files that it names included.

    ``constraints`` bound versions without asking for anything, ``paths`` are folders of the tree that it installs;
    ``extras`` and ``groups`` are the project's own that it asks for, ``files`` the requirements files that were read.
    """

    kind: str
    name: str
    lines: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    paths: tuple[LocalPath, ...] = ()

    @property
    def label(self) -> str:
        """The place in words."""
        return f"{self.kind} {self.name}"


def sources(tree: TreeReader, project: Project) -> tuple[Source, ...]:
    """Return every place, in the order in which they are asked: standards first, then tools, then files and CI."""
    return (
        *_groups(project),
        *_extras(project),
        *_tool_groups(tree, project),
        *_requirement_files(tree, project),
        *_tox(tree, project),
        *_nox(tree, project),
    )


def sources_beside(tree: TreeReader, project: Project) -> tuple[Source, ...]:
    """Return every place of a project that is not the main one, with what it asks of its own extras written out."""
    return tuple(
        replace(
            source,
            lines=(
                *source.lines,
                *(line for extra in source.extras for line in extra_lines(project, extra)),
                *(line for group in source.groups for line in group_lines(project.table("dependency-groups"), group)),
            ),
        )
        for source in sources(tree, project)
    )


def group_lines(groups: Mapping[str, object], name: str, seen: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Return the requirements of a PEP 735 group with those that it includes."""
    wanted = canonicalize_name(name)
    found = next((value for key, value in groups.items() if canonicalize_name(key) == wanted), None)
    if wanted in seen or not isinstance(found, list):
        return ()
    lines: list[str] = []
    for item in found:
        if isinstance(item, str):
            lines.append(item)
        elif isinstance(item, dict) and isinstance(item.get("include-group"), str):
            lines += group_lines(groups, item["include-group"], seen | {wanted})
    return tuple(lines)


def extra_lines(project: Project, extra: str, seen: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Return the requirements of an extra; where the project asks for extras of its own, theirs."""
    wanted = canonicalize_name(extra)
    if wanted in seen:
        return ()
    lines: list[str] = []
    for line in _extras_table(project).get(wanted, ()):
        requirement = parse_requirement(line)
        if requirement is not None and canonicalize_name(requirement.name) == canonicalize_name(project.name or "-"):
            for inner in sorted(requirement.extras):
                lines += extra_lines(project, inner, seen | {wanted})
        else:
            lines.append(line)
    return tuple(lines)


def _groups(project: Project) -> Iterator[Source]:
    groups = project.table("dependency-groups")
    for name in groups:
        yield Source(kind="dependency group", name=name, lines=group_lines(groups, name))


def _extras_table(project: Project) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, value in project.table("project", "optional-dependencies").items():
        found[canonicalize_name(name)] = texts(value)
    for name, text in project.setup_cfg.get("options.extras_require", {}).items():
        found.setdefault(canonicalize_name(name), _lines(text))
    if project.setup_py is not None:
        for name, lines in read_setup_script(project.setup_py).extras.items():
            found.setdefault(canonicalize_name(name), lines)
    return found


def _extras(project: Project) -> Iterator[Source]:
    for name in _extras_table(project):
        yield Source(kind="extra", name=name, lines=extra_lines(project, name), extras=(name,))


def _tool_groups(tree: TreeReader, project: Project) -> Iterator[Source]:
    tool = project.table("tool")
    for name, value in table(tool, "pdm", "dev-dependencies").items():
        yield Source(kind="pdm group", name=name, lines=texts(value))
    if old := table(tool, "poetry", "dev-dependencies"):
        yield Source(kind="poetry group", name="dev", lines=poetry_requirements(old))
    for name, value in table(tool, "poetry", "group").items():
        yield Source(
            kind="poetry group", name=name, lines=poetry_requirements(table({"_": value}, "_", "dependencies"))
        )
    if dev := texts(table(tool, "uv").get("dev-dependencies")):
        yield Source(kind="uv group", name="dev", lines=dev)
    environments = table(tool, "hatch", "envs") or table(read_toml(tree, project.path("hatch.toml")), "envs")
    for name, value in environments.items():
        one = value if isinstance(value, dict) else {}
        yield Source(
            kind="hatch environment",
            name={"default": "dev", "hatch-test": "test"}.get(name, name),
            lines=(*texts(one.get("dependencies")), *texts(one.get("extra-dependencies"))),
            extras=texts(one.get("features")),
            groups=texts(one.get("dependency-groups")),
        )
    for text in (project.setup_cfg.get("options", {}).get("tests_require", ""),):
        yield Source(kind="tests_require of", name="tests", lines=_lines(text))
    if project.setup_py is not None:
        yield Source(
            kind="tests_require of",
            name="tests",
            lines=read_setup_script(project.setup_py).requires.get("tests_require", ()),
        )
    pipfile = table(read_toml(tree, project.path("Pipfile")), "dev-packages")
    if pipfile:
        yield Source(kind="Pipfile group", name="dev", lines=poetry_requirements(pipfile))


def _requirement_files(tree: TreeReader, project: Project) -> Iterator[Source]:
    for word in _FILE_WORDS:
        for shape in _FILE_NAMES:
            path = project.path(shape.format(word))
            # A compiled list stands for the loose one that it was made from.
            compiled = path.removesuffix(".in") + ".txt"
            if path.endswith(".in") and compiled.encode("utf-8", "surrogateescape") in tree.paths:
                continue
            found = read_requirements(tree, path)
            if found.lines or found.paths:
                yield _source(found, project, f"file {path} for", word)
    # Where one file pins everything that its authors work with, the runner stands among it.
    plain = read_requirements(tree, project.path("requirements.txt"))
    if project.is_package and any(re.match(r"pytest\b", line) for line in plain.lines):
        yield _source(plain, project, f"file {project.path('requirements.txt')} for", "dev")
    for name in _FOLDER_FILES:
        found = read_requirements(tree, project.path(name))
        if found.lines or found.paths:
            yield _source(found, project, f"file {project.path(name)} for", "tests")


def _tox(tree: TreeReader, project: Project) -> Iterator[Source]:
    native = table(project.pyproject, "tool", "tox") or read_toml(tree, project.path("tox.toml"))
    base = table(native, "env_run_base") or table(native, "env", "py")
    if base:
        yield source_of_install(tree, project, "tox environment", texts(base.get("deps")), base)
    legacy = table(project.pyproject, "tool", "tox").get("legacy_tox_ini")
    sections = project.tox_ini or _sections_of(legacy) or project.setup_cfg
    for name in ("testenv", "testenv:test", "testenv:tests", "testenv:py"):
        section = sections.get(name, sections.get("tox:" + name, {}))
        if section:
            options = {
                key: _words(lines_for_tests(_lines(referred(sections, section.get(key, "")))))
                for key in ("extras", "dependency_groups")
            }
            deps = lines_for_tests(_lines(referred(sections, section.get("deps", ""))))
            yield source_of_install(tree, project, "tox environment", deps, options)


def _sections_of(text: object) -> Mapping[str, Mapping[str, str]]:
    return read_sections(_OneFile(text.encode()), "tox.ini") if isinstance(text, str) else {}


@dataclass(frozen=True, slots=True)
class _OneFile:
    """A tree of one file, for an INI file that is written inside another one."""

    data: bytes

    @property
    def paths(self) -> frozenset[bytes]:
        return frozenset({b"tox.ini"})

    def read(self, path: bytes) -> bytes | None:
        return self.data if path in self.paths else None


def _nox(tree: TreeReader, project: Project) -> Iterator[Source]:
    source = read_text(tree, project.path("noxfile.py"))
    for name, words in installs_of_sessions(source).items() if source else ():
        yield source_of_install(tree, project, f"nox session {name} for", words, {}, name=name)


def source_of_install(
    tree: TreeReader,
    project: Project,
    kind: str,
    words: tuple[str, ...],
    options: Mapping[str, object],
    name: str = "tests",
) -> Source:
    """Return the source that an installer's arguments are: requirements, files after ``-r``, extras of ``.[extra]``."""
    found = read_arguments(tree, project.directory, words)
    asked = tuple(texts(options.get("extras")))
    groups = (*texts(options.get("dependency_groups")), *found.groups)
    return _source(found, project, kind, name, asked, groups)


def _source(
    found: Arguments,
    project: Project,
    kind: str,
    name: str,
    extras: tuple[str, ...] = (),
    groups: tuple[str, ...] = (),
) -> Source:
    own = [path for path in found.paths if project.path(path.path) == project.directory]
    return Source(
        kind=kind,
        name=name,
        lines=tuple(found.lines),
        extras=tuple(dict.fromkeys((*extras, *(extra for path in own for extra in path.extras)))),
        groups=groups,
        files=tuple(found.files),
        constraints=tuple(found.constraints),
        paths=tuple(path for path in found.paths if path not in own),
    )


def _words(lines: tuple[str, ...]) -> list[str]:
    return [word for line in lines for word in re.split(r"[,\s]+", line) if word]


def _lines(text: str) -> tuple[str, ...]:
    stripped = (re.sub(r"(^|\s)#.*$", "", line).strip() for line in text.splitlines())
    return tuple(line for line in stripped if line)
