"""Which distributions a test part imports that no chosen place names, and who else in the tree names them. Pure.

A suite often needs more than the group that is called ``test``: the extra that its project offers, a pinned line of a
requirements file for everything. What its files import without a guard says which.
"""

from __future__ import annotations

import ast
import functools
import posixpath
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from packaging.utils import canonicalize_name

from execution.languages.base import TreeReader
from execution.languages.python_arguments import parse_requirement, read_requirements
from execution.languages.python_project import Project, PytestConfiguration, read_text, texts
from execution.languages.python_requirements import Needs, distribution_names
from execution.languages.python_runner import is_test_name
from execution.languages.python_scripts import parse
from execution.languages.python_sources import Source

# Modules whose distribution has another name. Facts of the package index.
_DISTRIBUTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "PIL": ("pillow",), "yaml": ("pyyaml",), "cv2": ("opencv-python", "opencv-python-headless"),
    "sklearn": ("scikit-learn",), "skimage": ("scikit-image",), "bs4": ("beautifulsoup4",),
    "dateutil": ("python-dateutil",), "attr": ("attrs",), "jwt": ("pyjwt",), "git": ("gitpython",),
    "OpenSSL": ("pyopenssl",), "Crypto": ("pycryptodome", "pycrypto"), "serial": ("pyserial",), "zmq": ("pyzmq",),
    "dotenv": ("python-dotenv",), "docx": ("python-docx",), "pptx": ("python-pptx",), "google": ("protobuf",),
    "pkg_resources": ("setuptools",), "magic": ("python-magic",), "nacl": ("pynacl",), "socks": ("pysocks",),
    "MySQLdb": ("mysqlclient",), "psycopg2": ("psycopg2-binary", "psycopg2"), "slugify": ("python-slugify",),
    "jose": ("python-jose",), "multipart": ("python-multipart",), "websocket": ("websocket-client",),
    "rest_framework": ("djangorestframework",), "ruamel": ("ruamel-yaml",), "snappy": ("python-snappy",),
    "lz4": ("lz4",), "Xlib": ("python-xlib",), "gi": ("pygobject",), "fitz": ("pymupdf",), "usb": ("pyusb",),
    "memcache": ("python-memcached",), "ldap": ("python-ldap",), "pythonjsonlogger": ("python-json-logger",),
}  # fmt: skip
# Tools for tests alone, so well known that projects import them without writing them down.
_TEST_TOOLS: Final = frozenset(
    {"mock", "six", "hypothesis", "parameterized", "freezegun", "responses", "pytest-mock", "pytest-asyncio", "nose",
     "unittest2", "ddt", "testfixtures", "pretend", "toml", "pyyaml", "requests", "numpy", "psutil"}
)  # fmt: skip
# Gigabytes that a suite can mostly do without: taken only where a graded file itself imports them.
_HEAVY: Final = frozenset({"torch", "tensorflow", "jax", "jaxlib", "pyspark", "paddle", "mxnet", "cupy", "vllm"})
_MOST_FILES: Final = 400
_REQUIREMENTS_FILE: Final = re.compile(
    r"(?:[\w./-]*/)?[\w.-]*requirements?[\w.-]*\.(?:txt|in)|requirements/[\w.-]+\.(?:txt|in)"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Missing:
    """A requirement that tests need besides the chosen ones: the line, the file that imports it, and who names it."""

    line: str
    importer: str
    named_by: str


def suite_needs(
    tree: TreeReader,
    project: Project,
    configuration: PytestConfiguration,
    graded: Sequence[str],
    needs: Needs,
    chosen: Sequence[Source],
    found: Sequence[Source],
) -> tuple[Missing, ...]:
    """Return what the tree's test files import that ``chosen`` and ``needs`` don't name and another place does.

    The whole suite is asked and not the graded files alone, so that all changes of an era have one environment.
    """
    at = "" if project.directory == "." else project.directory + "/"
    names = (path.decode("utf-8", "surrogateescape") for path in sorted(tree.paths))
    suite = [name for name in names if name.startswith(at) and is_test_name(name, configuration)]
    imported = dict(imported_from_outside(tree, suite, project.directory))
    imported = {module: path for module, path in imported.items() if module not in _HEAVY}
    imported |= imported_from_outside(tree, graded, project.directory)
    stated = texts(project.table("project").get("dependencies"))
    taken = (line for source in chosen for line in source.lines)
    have = distribution_names((*needs.lines, *stated, *taken, project.name or "-"))
    return missing_requirements(imported, have, tuple(_offers(tree, project, found)))


def _offers(tree: TreeReader, project: Project, found: Sequence[Source]) -> Iterator[tuple[str, Iterable[str]]]:
    yield from ((source.label, source.lines) for source in found)
    at = "" if project.directory == "." else project.directory + "/"
    for raw in sorted(tree.paths):
        path = raw.decode("utf-8", "surrogateescape")
        if path.startswith(at) and _REQUIREMENTS_FILE.fullmatch(path.removeprefix(at)):
            yield f"file {path}", read_requirements(tree, path).lines


def missing_requirements(
    imported: Mapping[str, str], chosen: frozenset[str], offers: Sequence[tuple[str, Iterable[str]]]
) -> tuple[Missing, ...]:
    """Return what is imported, is not ``chosen`` (canonical names), and is offered by a place of the tree.

    ``imported`` maps modules to the file that imports each; ``offers`` are places in words with their requirement
    lines, the first that names a distribution is taken.
    """
    found: list[Missing] = []
    for module, importer in sorted(imported.items()):
        names = _DISTRIBUTIONS.get(module, (canonicalize_name(module),))
        if not chosen.isdisjoint(names):
            continue
        offered = next(((place, line) for place, lines in offers for line in lines if _names_one(line, names)), None)
        if offered is not None:
            found.append(Missing(line=offered[1], importer=importer, named_by=offered[0]))
        elif names[0] in _TEST_TOOLS:
            found.append(Missing(line=names[0], importer=importer, named_by=""))
    return tuple(found)


def _names_one(line: str, names: tuple[str, ...]) -> bool:
    requirement = parse_requirement(line)
    return requirement is not None and canonicalize_name(requirement.name) in names


def imported_from_outside(tree: TreeReader, graded: Iterable[str], directory: str) -> Mapping[str, str]:
    """Return the modules that graded files and what they take in of their own folders import, each with one importer.

    ``directory`` is the project's folder. Left out are the standard library, modules of the tree, and imports that may
    fail: those below ``try``, and those for type checkers.
    """
    found: dict[str, str] = {}
    seen: set[str] = set()
    waiting = list(_with_conftests(tree, graded))
    folders = _folders(tree)
    while waiting and len(seen) < _MOST_FILES:
        path = waiting.pop(0)
        if path in seen:
            continue
        seen.add(path)
        for name in _imports_of(read_text(tree, path) or ""):
            roots = (posixpath.dirname(path), *_roots(path, directory))
            own = _own_files(tree, folders, name, roots)
            first = name.lstrip(".").partition(".")[0]
            if own is not None:
                # The project's own code says in its manifest what it needs; helpers of the tests say it here.
                waiting += [one for one in own if _is_of_tests(one)]
            elif not name.startswith(".") and first not in sys.stdlib_module_names:
                found.setdefault(first, path)
    return found


def _with_conftests(tree: TreeReader, graded: Iterable[str]) -> Iterator[str]:
    for path in graded:
        yield path
        folder = path
        while folder:
            folder = posixpath.dirname(folder)
            conftest = posixpath.join(folder, "conftest.py")
            if conftest.encode("utf-8", "surrogateescape") in tree.paths:
                yield conftest


def _roots(path: str, directory: str) -> Iterator[str]:
    """Give the folders that a module may be found from: those above the file, and the project's usual ones."""
    folder = posixpath.dirname(path)
    while folder:
        folder = posixpath.dirname(folder)
        yield folder
    base = "" if directory == "." else directory
    for inner in ("", "src", "lib", "python"):
        yield posixpath.join(base, inner)


def _own_files(tree: TreeReader, folders: frozenset[str], name: str, roots: Sequence[str]) -> tuple[str, ...] | None:
    """Return the files of the tree that a dotted name stands for; () for a package without code, None for neither."""
    level = len(name) - len(name.lstrip("."))
    parts = name.lstrip(".").split(".")
    if level:
        folder = roots[0]
        for _ in range(level - 1):
            folder = posixpath.dirname(folder)
        roots = (folder,)
    for root in dict.fromkeys(roots):
        top = posixpath.join(root, parts[0])
        inner = posixpath.join(root, *parts)
        candidates = (f"{top}.py", f"{top}/__init__.py", f"{inner}.py", f"{inner}/__init__.py")
        files = tuple(one for one in candidates if one.encode("utf-8", "surrogateescape") in tree.paths)
        if files or top in folders:
            return files
    return None


def _folders(tree: TreeReader) -> frozenset[str]:
    """Return the folders of the tree that hold Python code, directly or further below."""
    found: set[str] = set()
    for raw in tree.paths:
        if raw.endswith((b".py", b".pyi", b".pyx", b".c", b".so")):
            folder = posixpath.dirname(raw.decode("utf-8", "surrogateescape"))
            while folder and folder not in found:
                found.add(folder)
                folder = posixpath.dirname(folder)
    return frozenset(found)


def _is_of_tests(path: str) -> bool:
    return any(part in {"test", "tests", "testing", "t"} or part.startswith("test_") for part in path.split("/")[:-1])


@functools.lru_cache(maxsize=4096)
def _imports_of(source: str) -> tuple[str, ...]:
    """Return the dotted names that a file imports without a guard, cached: most files stay as they are for long."""
    module = parse(source)
    if module is None:
        return ()
    skipping = {
        argument.value.partition(".")[0]
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "importorskip"
        for argument in node.args[:1]
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    }
    return tuple(name for name in dict.fromkeys(_unguarded(module.body)) if name.partition(".")[0] not in skipping)


def _unguarded(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Give the dotted names that statements import whatever happens, those of functions included."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            if node.module:
                yield base
            dot = "." if node.module else ""
            yield from (f"{base}{dot}{alias.name}" for alias in node.names if alias.name != "*")
        elif isinstance(node, ast.Try):
            if node.handlers and all(_fails(handler) for handler in node.handlers):
                yield from _unguarded(node.body)
        elif isinstance(node, ast.If):
            if not _is_for_types(node.test):
                yield from _unguarded(node.body)
            yield from _unguarded(node.orelse)
        elif isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.With | ast.AsyncWith | ast.For | ast.While
        ):
            yield from _unguarded(node.body)


def _fails(handler: ast.ExceptHandler) -> bool:
    """Whether a handler only says in other words that the import is needed."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and "skip" not in ast.dump(last).lower()


def _is_for_types(test: ast.expr) -> bool:
    return any(getattr(node, "id", getattr(node, "attr", "")) == "TYPE_CHECKING" for node in ast.walk(test))
