"""What builds a project of the tree in place: its back-end, what that needs, and what must be done before. Pure.

Projects are installed in place by back-ends that know PEP 660, whatever their own day knew.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from packaging.specifiers import Specifier
from packaging.utils import canonicalize_name
from packaging.version import Version

from execution.languages.base import TreeReader
from execution.languages.python_arguments import parse_requirement
from execution.languages.python_project import Project, texts
from execution.languages.python_scripts import read_setup_script

# Back-ends that ask for nothing more once they see the project.
_PLAIN_BACKENDS = frozenset({"hatchling", "poetry", "flit_core", "flit", "pdm"})
# The releases of back-ends that can install a project in place first.
_FIRST_IN_PLACE: Mapping[str, str] = {
    "setuptools": "64.0.0", "flit-core": "3.4.0", "flit": "3.4.0", "poetry-core": "1.0.8", "pdm-pep517": "1.0.0",
    "hatchling": "0.10.0", "pip": "21.3",
}  # fmt: skip
# What poetry's back-end was called before it became a distribution of its own.
OLD_POETRY = "poetry.masonry.api"
DEFAULT_BACKEND = "setuptools.build_meta:__legacy__"
# What each back-end asks for at build time besides what a project declares: without build isolation it must be there.
_BACKEND_NEEDS: Mapping[str, tuple[str, ...]] = {
    "setuptools": ("setuptools", "wheel"),
    "hatchling": ("hatchling", "editables"),
    "poetry": ("poetry-core>=1.0.8",),
    "flit_core": ("flit_core",),
    "flit": ("flit",),
    # It asks for editables by the kind of layout that it finds, and for nothing else.
    "pdm": ("pdm-backend", "editables"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Installed:
    """A project of the tree that is installed in place, by its folder.

    ``backend`` (with ``backend_path``) is the back-end to ask for more build requirements, empty when it has no more.
    """

    directory: str
    backend: str = ""
    backend_path: tuple[str, ...] = ()


def build_requirements(project: Project) -> tuple[str, ...]:
    """Return what building the project needs when the build is not isolated; empty for what is not installed."""
    if not project.is_package:
        return ()
    system = project.table("build-system")
    backend = str(system.get("build-backend") or DEFAULT_BACKEND)
    needs = _BACKEND_NEEDS.get(re.split(r"[.:]", backend)[0], ())
    script = read_setup_script(project.setup_py or "")
    old = (*script.requires.get("setup_requires", ()), *_cfg_lines(project, "setup_requires"))
    declared = [able_to_install_in_place(line) for line in texts(system.get("requires"))]
    if backend == OLD_POETRY:
        declared = [line for line in declared if _name(line) != "poetry"]
    return tuple(dict.fromkeys((*declared, *(line for line in old if parse_requirement(line)), *needs)))


def untranslated(tree: TreeReader, project: Project) -> tuple[str, ...]:
    """Return the Cython files whose C the ``setup.py`` compiles although nothing in the tree holds it.

    Its authors translate them by a command of their own (``make cythonize``) before they build.
    """
    script = read_setup_script(project.setup_py or "")
    found: list[str] = []
    for word in script.strings:
        stem, dot, ending = word.rpartition(".")
        if not dot or ending not in {"c", "cpp", "cxx"} or "\n" in word:
            continue
        made, written = (project.path(name).encode("utf-8", "surrogateescape") for name in (word, f"{stem}.pyx"))
        if made not in tree.paths and written in tree.paths:
            found.append(project.path(f"{stem}.pyx") if ending == "c" else f"--cplus {project.path(f'{stem}.pyx')}")
    return tuple(dict.fromkeys(found))


def preparations(
    minor: tuple[int, int], installed: tuple[Installed, ...], cython: tuple[str, ...], env: str = "../env"
) -> tuple[tuple[str, str], ...]:
    """Return what has to be done before projects can be installed: steps in words with their commands.

    ``minor`` is the interpreter's version, ``env`` the environment's folder. poetry of 2020 can't install in place, and
    a later one would bring all that a package manager needs along: so poetry-core is made known by the name that it had
    inside of poetry. C that is not in the tree is made from Cython.
    """
    found: list[tuple[str, str]] = []
    if any(one.backend == OLD_POETRY for one in installed):
        folder = f"{env}/lib/python{minor[0]}.{minor[1]}/site-packages/poetry/masonry"
        text = "import sys, poetry.core.masonry.api as api; sys.modules[__name__] = api"
        command = f"mkdir -p {folder} && echo '{text}' > {folder}/api.py"
        found.append(("give poetry's back-end its old name", command))
    for path in cython:
        name = path.removeprefix("--cplus ")
        options = ["--cplus"] if path != name else []
        words = [f"{env}/bin/python", "-m", "cython", "-3", *options, name]
        found.append((f"translate {name} to C", shlex.join(words)))
    return tuple(found)


def able_to_install_in_place(line: str) -> str:
    """Return a build requirement without its upper bound where that keeps out every release that knows PEP 660.

    A project of 2020 that says ``flit_core<3`` means "not what breaks me", and the first release that can install it in
    place reads its metadata as well.
    """
    requirement = parse_requirement(line)
    first = _FIRST_IN_PLACE.get(_name(line))
    if requirement is None or first is None:
        return line
    if not any(_keeps_out(one, Version(first)) for one in requirement.specifier):
        return line
    return f"{requirement.name}{f' ; {requirement.marker}' if requirement.marker else ''}"


def _keeps_out(bound: Specifier, first: Version) -> bool:
    """Tell whether a bound keeps out a release and every later one."""
    if bound.operator not in {"<", "<=", "==", "~="}:
        return False
    top = Version(bound.version.removesuffix(".*"))
    return top <= first if bound.operator == "<" else top < first and not bound.contains(first)


def installed_project(project: Project) -> Installed:
    """Return how a project is installed, with the back-end that may ask for more when it sees the project."""
    system = project.table("build-system")
    backend = str(system.get("build-backend") or DEFAULT_BACKEND)
    root = re.split(r"[.:]", backend)[0]
    plain = root in _PLAIN_BACKENDS or (root == "setuptools" and project.setup_py is None)
    if plain and backend != OLD_POETRY and not system.get("backend-path"):
        return Installed(directory=project.directory)
    return Installed(directory=project.directory, backend=backend, backend_path=texts(system.get("backend-path")))


def _name(line: str) -> str:
    requirement = parse_requirement(line)
    return canonicalize_name(requirement.name) if requirement is not None else ""


def _cfg_lines(project: Project, name: str) -> tuple[str, ...]:
    text = project.setup_cfg.get("options", {}).get(name, "")
    return tuple(line.strip() for line in text.splitlines() if line.strip())
