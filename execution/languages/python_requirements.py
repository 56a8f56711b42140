"""What an environment is made of: of all places where dependencies stand, the narrowest that serves. Pure."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from packaging.utils import canonicalize_name

from execution.languages.base import TreeReader
from execution.languages.python_arguments import parse_requirement, read_requirements
from execution.languages.python_backends import (
    Installed,
    able_to_install_in_place,
    build_requirements,
    installed_project,
    untranslated,
)
from execution.languages.python_members import members, workspace_of
from execution.languages.python_poetry import requirements as poetry_requirements
from execution.languages.python_project import Project, read_text, read_toml, table, texts
from execution.languages.python_sources import Source, extra_lines, group_lines

TEST_NAMES = frozenset(
    {"test", "tests", "testing", "pytest", "unittest", "unittests", "unit", "unit-test", "unit-tests", "testsuite"}
)
DEV_NAMES = frozenset(
    {"dev", "develop", "development", "dev-test", "dev-tests", "devel", "ci", "test-all", "tests-all", "all"}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Needs:
    """The chosen requirements.

    ``lines`` are PEP 508 requirements of tests and projects; ``manifests`` are the files that the resolver must build
    metadata from, empty when all is written down, with ``extras`` of them.
    ``lock`` is a ``uv.lock`` that is exported with ``groups`` and ``extras``, of ``everything`` in a workspace where no
    single project is meant; ``constraints`` bound versions: those of another tool's lock file, or of a file that a
    requirements file names. ``build`` are the build requirements; ``installed`` are the projects of the tree that are
    installed, in this order; ``cython`` are the files that are translated to C before.
    """

    lines: tuple[str, ...] = ()
    manifests: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    lock: str = ""
    everything: bool = False
    constraints: tuple[str, ...] = ()
    build: tuple[str, ...] = ()
    installed: tuple[Installed, ...] = ()
    cython: tuple[str, ...] = ()
    why: tuple[str, ...] = ()

    @property
    def install(self) -> bool:
        """Whether a project of the tree is installed."""
        return bool(self.installed)

    @property
    def nothing(self) -> bool:
        """Whether nothing at all is installed: a plain folder whose tests need the standard library alone."""
        asked = (self.lines, self.manifests, self.extras, self.groups, self.lock, self.build)
        return not self.install and not any(asked)

    def text(self) -> str:
        """Return the needs as one line of JSON, for a recipe's settings."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> Needs:
        """Read back what ``text`` wrote."""
        plain = json.loads(text)
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()
        }
        values["installed"] = tuple(
            Installed(**{**one, "backend_path": tuple(one["backend_path"])}) for one in plain["installed"]
        )
        return cls(**values)


def distribution_names(lines: Iterable[str]) -> frozenset[str]:
    """Return the canonical names of the distributions that requirement lines ask for."""
    parsed = (parse_requirement(line) for line in lines)
    return frozenset(canonicalize_name(requirement.name) for requirement in parsed if requirement is not None)


def names_runner(source: Source) -> bool:
    """Tell whether a place names pytest or a plugin of it."""
    return any(name == "pytest" or name.startswith("pytest-") for name in distribution_names(source.lines))


def choose_sources(found: tuple[Source, ...], hints: tuple[Source, ...] = ()) -> tuple[tuple[Source, ...], str]:
    """Return the places to install from, and why.

    All places that are named for tests serve together, and what tox or nox installs to run them: an extra that the
    tests need beside their own stands there alone. Where none of them names the runner, the first place for development
    that does is added; it brings linters along and therefore goes last. The first of ``hints`` (what CI installs before
    it runs the tests) serves where no manifest names the runner.
    """
    filled = [source for source in found if source.lines or source.extras or source.groups]
    by_tools = [source for source in filled if source.kind.startswith(("tox", "nox")) and _is_for_tests(source)]
    tests = [source for source in filled if _named(source, TEST_NAMES) and not source.kind.startswith(("tox", "nox"))]
    chosen = [*tests, *by_tools[:1]]
    if any(names_runner(source) for source in chosen):
        return _chosen(chosen)
    development = [source for source in filled if _named(source, DEV_NAMES)]
    for source in (*by_tools[1:], *development):
        if names_runner(source):
            return _chosen([*chosen, source])
    if hints:
        return _chosen([*chosen, hints[0]])
    if chosen:
        chosen_all, why = _chosen(chosen)
        return chosen_all, f"{why}, which name no runner"
    return (), "no test dependencies are written down"


def _chosen(places: list[Source]) -> tuple[tuple[Source, ...], str]:
    told = ", ".join(source.label for source in places)
    return without_contradictions(tuple(places)), f"test dependencies from {told}"


def without_contradictions(chosen: tuple[Source, ...]) -> tuple[Source, ...]:
    """Leave out the lines that an exact version elsewhere contradicts: of two places one was forgotten.

    What tox or nox installs to run the tests goes first, then requirements files, then what is only declared.
    """
    ranked = sorted(
        chosen, key=lambda source: 0 if source.kind.startswith(("tox", "nox")) else 1 if source.files else 2
    )
    pins: dict[str, str] = {}
    for source in ranked:
        for line in source.lines:
            requirement = parse_requirement(line)
            exact = re.fullmatch(r"==([^*,]+)", str(requirement.specifier)) if requirement is not None else None
            if requirement is not None and exact and requirement.marker is None:
                pins.setdefault(canonicalize_name(requirement.name), exact[1])
    return tuple(
        replace(source, lines=tuple(line for line in source.lines if not _contradicts(line, pins))) for source in chosen
    )


def _contradicts(line: str, pins: Mapping[str, str]) -> bool:
    requirement = parse_requirement(line)
    pin = pins.get(canonicalize_name(requirement.name)) if requirement is not None else None
    return requirement is not None and pin is not None and not requirement.specifier.contains(pin, prereleases=True)


def serves(chosen: tuple[Source, ...]) -> bool:
    """Tell whether the chosen places name the runner, so that no hint is needed."""
    return any(names_runner(source) for source in chosen)


def _named(source: Source, names: frozenset[str]) -> bool:
    return canonicalize_name(source.name) in names


def _is_for_tests(source: Source) -> bool:
    return source.kind.startswith("tox") or bool(re.match(r"^(unit_?)?tests?|pytest", source.kind.split(" ")[2]))


def collect_needs(
    tree: TreeReader,
    project: Project,
    chosen: tuple[Source, ...],
    added: tuple[str, ...],
    others: tuple[Project, ...] = (),
) -> Needs:
    """Return what must be installed for the chosen places and the ``added`` requirements (a runner, its plugins).

    ``others`` are further projects whose tests are graded; what they all need of the tree comes along.
    """
    extras = tuple(dict.fromkeys(canonicalize_name(extra) for source in chosen for extra in source.extras))
    groups = tuple(dict.fromkeys(group for source in chosen for group in source.groups))
    inline = [line for source in chosen for line in source.lines]
    inline += [line for group in groups for line in group_lines(project.table("dependency-groups"), group)]
    own, manifests = _own_dependencies(tree, project)
    own = (*own, *(line for extra in extras for line in extra_lines(project, extra)))
    paths = [path for source in chosen for path in source.paths]
    beside = _beside(tree, (*members(tree, project, (*own, *inline), paths),), others)
    projects = [*(member for member, _ in beside), *([project] if project.is_package else [])]
    names = frozenset(canonicalize_name(one.name or "-") for one in (project, *projects))
    cython = tuple(path for one in projects for path in untranslated(tree, one))
    build = [line for one in projects for line in build_requirements(one)]
    needs = Needs(
        build=tuple(dict.fromkeys((*build, *(["cython"] if cython else [])))),
        installed=tuple(installed_project(one) for one in projects),
        cython=cython,
    )
    lock = _lock_of(tree, project)
    if lock:
        kinds = {"dependency group", "uv group"}
        named = [source.name for source in chosen if source.kind in kinds]
        return replace(
            needs,
            lock=lock,
            everything=bool(others) or not _is_stated(project),
            extras=extras,
            groups=tuple(dict.fromkeys((*named, *groups))),
            lines=tuple(line for line in _unlocked(chosen, added) if _is_foreign(line, names)),
        )
    for member, asked in beside:
        more, member_manifests = _own_dependencies(tree, member)
        manifests = (*manifests, *member_manifests)
        own = (*own, *more, *(line for extra in asked for line in extra_lines(member, extra)))
    lines = (*own, *inline, *added)
    bounds = (line for source in chosen for line in source.constraints)
    return replace(
        needs,
        lines=tuple(dict.fromkeys(able_to_install_in_place(line) for line in lines if _is_foreign(line, names))),
        manifests=tuple(dict.fromkeys(manifests)),
        extras=extras if manifests else (),
        constraints=tuple(
            line
            for line in locked_versions(tree, project) or dict.fromkeys(bounds)
            if able_to_install_in_place(line) == line
        ),
    )


def _beside(
    tree: TreeReader, needed: tuple[tuple[Project, tuple[str, ...]], ...], others: tuple[Project, ...]
) -> tuple[tuple[Project, tuple[str, ...]], ...]:
    """Return the projects that are installed besides the main one, with the extras asked of each."""
    found = {member.directory: (member, asked) for member, asked in needed}
    for other in others:
        for member, asked in members(tree, other, _own_dependencies(tree, other)[0], ()):
            found.setdefault(member.directory, (member, asked))
        found.setdefault(other.directory, (other, ()))
    return tuple(found.values())


def _is_stated(project: Project) -> bool:
    return bool(project.pyproject.get("project"))


def _lock_of(tree: TreeReader, project: Project) -> str:
    """Return the ``uv.lock`` of a project or of the workspace that it belongs to, empty where there is none."""
    places = [project.directory] if _is_stated(project) else []
    if workspace := workspace_of(tree, project.directory):
        places.append(workspace)
    locks = (posixpath.normpath(posixpath.join(place, "uv.lock")) for place in places)
    return next((lock for lock in locks if lock.encode("utf-8", "surrogateescape") in tree.paths), "")


def _unlocked(chosen: tuple[Source, ...], added: tuple[str, ...]) -> tuple[str, ...]:
    """Return the requirements that a uv.lock does not hold: those of other tools, and those that we add."""
    kinds = {"dependency group", "uv group", "extra"}
    loose = [line for source in chosen if source.kind not in kinds for line in source.lines]
    return tuple(dict.fromkeys([*loose, *added]))


def _is_foreign(line: str, ours: frozenset[str]) -> bool:
    """Leave out the tree's own projects, and what is no requirement (an option, a path)."""
    requirement = parse_requirement(line)
    return requirement is not None and canonicalize_name(requirement.name) not in ours


def _own_dependencies(tree: TreeReader, project: Project) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what the project itself needs at run time, or the manifest that a build back-end must be asked about."""
    stated = project.table("project")
    if stated and "dependencies" not in texts(stated.get("dynamic")):
        return texts(stated.get("dependencies")), ()
    poetry = project.table("tool", "poetry")
    if poetry and not stated:
        return poetry_requirements(table(poetry, "dependencies")), ()
    if stated:
        return (), (project.path("pyproject.toml"),)
    if project.setup_py is not None:
        return (), (project.path("setup.py"),)
    if project.is_package:
        return (), (project.path("setup.cfg" if "metadata" in project.setup_cfg else "pyproject.toml"),)
    return tuple(read_requirements(tree, project.path("requirements.txt")).lines), ()


def locked_versions(tree: TreeReader, project: Project) -> tuple[str, ...]:
    """Return exact versions from poetry.lock, pdm.lock or Pipfile.lock; a name with two versions is left free."""
    found: dict[str, set[str]] = {}
    for name in ("poetry.lock", "pdm.lock"):
        packages = read_toml(tree, project.path(name)).get("package")
        for package in packages if isinstance(packages, list) else ():
            if isinstance(package, dict) and not {"source", "git", "path", "url"} & package.keys():
                found.setdefault(str(package.get("name")), set()).add(str(package.get("version")))
    try:
        pipfile = json.loads(read_text(tree, project.path("Pipfile.lock")) or "{}")
    except ValueError:
        pipfile = {}
    for section in ("default", "develop"):
        for name, package in table(pipfile, section).items():
            version = package.get("version") if isinstance(package, dict) else None
            if isinstance(version, str):
                found.setdefault(name, set()).add(version.removeprefix("=="))
    return tuple(sorted(f"{name}=={next(iter(versions))}" for name, versions in found.items() if len(versions) == 1))
