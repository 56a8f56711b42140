"""Where a project's version comes from: a literal, a file of the tree, or the tags of its repository. Pure.

A version from tags changes with every commit, so what is pretended is the next version after the last tag: it is the
same for all commits between two tags, it lies above the released one, and a stranger's set-up states it too.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterator, Mapping

from packaging.version import InvalidVersion, Version

from execution.languages.base import TreeReader
from execution.languages.python_project import Project, read_text, table
from execution.languages.python_scripts import SetupScript, module_value, read_setup_script

NO_TAGS = "0.1.dev0"
_DESCRIBED = re.compile(r"^(?P<tag>.+)-(?P<distance>\d+)-g[0-9a-f]+$")
_VERSION = re.compile(r"\d+(?:\.\d+)*(?:[-_.]?(?:a|b|c|rc|alpha|beta|pre|post|dev)[-_.]?\d*)*")
_ASSIGNED = re.compile(
    r"""^\s*_*version_*\s*(?::[^=]+)?=\s*["'](?P<version>[^"']+)["']""", re.MULTILINE | re.IGNORECASE
)
# A changelog names the newest version in its first heading that names one.
_HEADED = re.compile(r"(?<![\w.])v?\d+\.\d+(?:\.\d+)*(?:[-_.]?(?:a|b|rc|dev|post)\d*)*(?![\w.]*\w)")
_STATED = re.compile(r'"version"\s*:\s*"(?P<version>[^"]+)"')
_DOCUMENTS = (".md", ".rst", ".markdown")
_VERSION_MODULES = (
    "__init__.py",
    "__version__.py",
    "_version.py",
    "version.py",
    "__about__.py",
    "_about.py",
    "about.py",
)

# The variable by which each tool is told the version instead of asking git.
_VARIABLES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "setuptools-scm": (("SETUPTOOLS_SCM_PRETEND_VERSION", "{}"),),
    "hatch-vcs": (("SETUPTOOLS_SCM_PRETEND_VERSION", "{}"),),
    "vcs-versioning": (("SETUPTOOLS_SCM_PRETEND_VERSION", "{}"),),
    "pdm-backend": (("PDM_BUILD_SCM_VERSION", "{}"),),
    "pbr": (("PBR_VERSION", "{}"),),
    "poetry-dynamic-versioning": (("POETRY_DYNAMIC_VERSIONING_BYPASS", "{}"),),
    "uv-dynamic-versioning": (("UV_DYNAMIC_VERSIONING_BYPASS", "{}"),),
}


def pretended_version(described: str) -> str:
    """Return the version to pretend for what ``git describe --tags --long`` says; ``0.1.dev0`` without a usable tag."""
    match = _DESCRIBED.match(described)
    tag, distance = (match["tag"], int(match["distance"])) if match else (described, 0)
    found = _VERSION.search(tag)
    try:
        version = Version(found.group(0)) if found else None
    except InvalidVersion:
        version = None
    if version is None:
        return NO_TAGS
    if not distance:
        return str(version)
    release = list(version.release)
    if not version.is_prerelease:
        release[-1] += 1
    return ".".join(str(number) for number in release) + ".dev0"


def version_variables(project: Project, build_names: frozenset[str], described: str) -> Mapping[str, str]:
    """Return the environment variables that state the version, empty when it does not come from tags."""
    script = read_setup_script(project.setup_py or "")
    names = set(build_names)
    if table(project.table("tool", "pdm"), "version").get("source") != "scm":
        names.discard("pdm-backend")
    if script.uses_scm or "setuptools_scm" in project.table("tool"):
        # Other back-ends take the version from it too (flit_scm, scikit-build-core).
        names.add("setuptools-scm")
    if script.uses_pbr:
        names.add("pbr")
    version = pretended_version(described)
    return {
        variable: form.format(version)
        for name in sorted(names & _VARIABLES.keys())
        for variable, form in _VARIABLES[name]
    }


def version_inputs(tree: TreeReader, project: Project) -> tuple[tuple[str, str], ...]:
    """Return (name, digest) of what dynamic metadata reads from the tree besides the manifests.

    Of a module only its version counts, not its code: the code changes with every commit and is not installed but
    pointed to.
    """
    found: dict[str, str] = {}
    for path in _version_files(tree, project):
        text = read_text(tree, path)
        if text is not None:
            found[f"version:{path}"] = hashlib.sha256(_version_of(path, text).encode("utf-8", "replace")).hexdigest()
    return tuple(sorted(found.items()))


def _version_of(path: str, text: str) -> str:
    """Return what of a file can be the version: of a long description and of data no more than that is installed."""
    if path.endswith(_DOCUMENTS):
        first = _HEADED.search(text)
        return first.group(0) if first else ""
    if path.endswith(".json"):
        stated = _STATED.search(text)
        return stated["version"] if stated else ""
    if not path.endswith(".py"):
        return text
    for name in ("__version__", "version", "VERSION", "__VERSION__", "version_info", "__version_info__"):
        if value := module_value(text, name):
            return value
    assigned = _ASSIGNED.search(text)
    return assigned["version"] if assigned else ""


def _version_files(tree: TreeReader, project: Project) -> Iterator[str]:
    dynamic = project.table("tool", "setuptools", "dynamic", "version")
    if isinstance(dynamic.get("attr"), str):
        yield from _modules(project, dynamic["attr"])
    for value in dynamic.get("file", []) if isinstance(dynamic.get("file"), list) else [dynamic.get("file")]:
        if isinstance(value, str):
            yield project.path(value)
    stated = project.setup_cfg.get("metadata", {}).get("version", "")
    if stated.startswith("attr:"):
        yield from _modules(project, stated.removeprefix("attr:").strip())
    if stated.startswith("file:"):
        yield from (project.path(part.strip()) for part in stated.removeprefix("file:").split(","))
    for tool in (("hatch", "version"), ("pdm", "version")):
        path = project.table("tool", *tool).get("path")
        if isinstance(path, str):
            yield project.path(path)
    backend = str(project.table("build-system").get("build-backend", ""))
    if backend.startswith("flit") and project.name:
        module = project.table("tool", "flit", "module").get("name") or project.name.replace("-", "_")
        yield from _modules(project, f"{module}.__version__")
    if project.setup_py is not None:
        yield from _named_by_script(tree, project, read_setup_script(project.setup_py))


def _modules(project: Project, attribute: str) -> Iterator[str]:
    """Yield the files that a dotted attribute may live in, in a flat or a ``src`` layout or a mapped package folder."""
    parts = attribute.split(".")[:-1]
    roots = {"", "src", "lib"}
    mapped = project.table("tool", "setuptools", "package-dir")
    roots.update(str(value) for key, value in mapped.items() if key == "")
    for root in sorted(roots):
        for depth in range(len(parts), 0, -1):
            base = posixpath.join(root, *parts[:depth])
            yield project.path(f"{base}/__init__.py")
            yield project.path(f"{base}.py")


def _named_by_script(tree: TreeReader, project: Project, script: SetupScript) -> Iterator[str]:
    """Yield the files that a ``setup.py`` names: as one string, or as the last two parts of a joined path."""
    if script.version:
        return
    words = {word.strip("/") for word in script.strings if 0 < len(word) < 100 and "\n" not in word}
    at = "" if project.directory == "." else project.directory + "/"
    for path in sorted(tree.paths):
        name = path.decode("utf-8", "surrogateescape")
        if not name.startswith(at) or name.endswith("setup.py"):
            continue
        inner = name.removeprefix(at)
        folder, _, base = inner.rpartition("/")
        joined = base in words and (not folder or set(folder.split("/")) <= words)
        shallow = base in _VERSION_MODULES and inner.count("/") <= 2
        if inner in words or joined or (shallow and folder.split("/")[0] not in {"tests", "docs"}):
            yield name
