"""A Cargo package as its manifests tell it: which target a test file belongs to, and which packages lie together.

Pure: bytes of a tree in, facts out. Paths are text from the tree's root, folders are ``.`` at the root. What a manifest
of other make says (no table where one belongs, a key of another type) counts as not said.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any, Final

from execution.languages.base import TreeReader
from execution.languages.inline_item import UnsafeItemError
from execution.languages.rust_items import items_of_tests

MANIFEST: Final = "Cargo.toml"
_DEPENDENCIES: Final = ("dependencies", "dev-dependencies", "build-dependencies", "dev_dependencies")
# What a file of tests is called among the sources of a library or a program.
_TEST_MODULE: Final = re.compile(r"(?:.+_)?tests?|test_.+")
_TEST: Final = re.compile(r"#\[(?:\w+::)*(?:test|rstest|test_case|quickcheck)\b|\b(?:proptest|quickcheck)!")
# A whole file behind a feature tells that its tests exist with that feature only.
_FILE_FEATURE: Final = re.compile(r'^#!\[cfg\(feature\s*=\s*"([A-Za-z0-9_+.-]+)"\)\]', re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """What cargo compiles for a test file, and where in it the file's tests are.

    ``arguments`` name the target to cargo (``--test api``, ``--lib``); ``root`` is the file that it is compiled from,
    ``module`` the path of the file's module in it, such as ``codec::tests`` (empty for the root itself). ``selected``
    are the file's tests as the harness names them: ``codec::tests::`` for all of a module, a whole name for one test,
    and nothing where all of the target's are meant. Without ``harness`` the target has a ``main`` of its own and tells
    nothing of its tests.
    """

    manifest: str
    arguments: tuple[str, ...]
    root: str
    module: str
    selected: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    harness: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class _Root:
    arguments: tuple[str, ...]
    path: str
    features: tuple[str, ...]
    harness: bool


def read_manifest(tree: TreeReader, path: str) -> Mapping[str, Any] | None:
    """Return a manifest's tables, or None where there is no file that is TOML."""
    data = tree.read(path.encode("utf-8", "surrogateescape"))
    if data is None:
        return None
    try:
        return tomllib.loads(data.decode("utf-8", "replace"))
    except tomllib.TOMLDecodeError:
        return None


def find_target(path: str, tree: TreeReader) -> Target | None:
    """Return the target that cargo compiles a test file into, or None when cargo would not run its tests.

    A module counts where the root of a target declares the first part of its path; what only ``#[path]`` or a macro
    brings in is not found. Among sources a file of tests is one by its name, or by the items of tests at its top.
    """
    found = _package_of(path, tree)
    if found is None:
        return None
    folder, manifest = found
    for root in _roots(folder, manifest, tree):
        module = _module_in(path, root, tree)
        selected = _selected(path, module, root, tree) if module is not None else None
        if module is not None and selected is not None:
            text = _text(tree, path)
            features = (*root.features, *_FILE_FEATURE.findall(text))
            return Target(
                manifest=join(folder, MANIFEST),
                arguments=root.arguments,
                root=root.path,
                module=module,
                selected=selected,
                features=tuple(dict.fromkeys(features)),
                harness=root.harness,
            )
    return None


def is_only_in_tests(path: str, tree: TreeReader) -> bool:
    """Whether a source file is a module that only test builds have: declared so, or below a module that is."""
    found = _package_of(path, tree)
    if found is None or not path.endswith(".rs"):
        return False
    folder, _ = found
    module = path.removesuffix(".rs").removesuffix("/mod")
    while module.startswith(join(folder, "")) and "/" in module:
        above, _, name = module.rpartition("/")
        parents = [f"{above}.rs", *(f"{above}/{file}.rs" for file in ("mod", "lib", "main"))]
        if any(_declares_for_tests(parent, name, tree) for parent in parents if parent != path):
            return True
        module = above
    return False


def _declares_for_tests(parent: str, name: str, tree: TreeReader) -> bool:
    try:
        items = items_of_tests(tree.read(parent.encode("utf-8", "surrogateescape")) or b"")
    except UnsafeItemError:
        return False
    return any(item.label in {f"mod {name}", f"mod r#{name}"} and not item.selects for item in items)


def module_path(path: str, root: str) -> str | None:
    """Return the module of a file below the folder of a target's root, or None where it lies elsewhere.

    ``src/codec/tests.rs`` and ``src/codec/tests/mod.rs`` are ``codec::tests`` of ``src/lib.rs``.
    """
    if path == root:
        return ""
    folder = PurePosixPath(root).parent
    if not PurePosixPath(path).is_relative_to(folder) or not path.endswith(".rs"):
        return None
    parts = list(PurePosixPath(path.removesuffix(".rs")).relative_to(folder).parts)
    if parts[-1] == "mod":
        parts.pop()
    return "::".join(parts) or None


def workspace_root(manifest: str, tree: TreeReader) -> str:
    """Return the folder from which cargo is run: that of the workspace around a manifest, else the manifest's own."""
    own = _folder(manifest)
    for folder in (own, *_above(own)):
        tables = read_manifest(tree, join(folder, MANIFEST))
        if tables is None or "workspace" not in tables:
            continue
        excluded = _words(_table(tables, "workspace").get("exclude"))
        inside = _inside(own, folder)
        if not any(inside == entry or inside.startswith(f"{entry}/") for entry in excluded):
            return folder
    return own


def packages_around(root: str, manifests: tuple[str, ...], tree: TreeReader) -> tuple[str, ...]:
    """Return the manifests that cargo reads for some packages of a workspace: the root's, the members', by path too."""
    workspace = _table(read_manifest(tree, join(root, MANIFEST)) or {}, "workspace")
    patterns = [_normal(join(root, entry)) for entry in _words(workspace.get("members"))]
    excluded = {_normal(join(root, entry)) for entry in _words(workspace.get("exclude"))}
    members = [
        join(folder, MANIFEST)
        for folder in _package_folders(tree)
        if folder not in excluded and any(_fits(folder, pattern) for pattern in patterns)
    ]
    found: dict[str, None] = {}
    waiting = [join(root, MANIFEST), *manifests, *members]
    while waiting:
        manifest = waiting.pop()
        tables = read_manifest(tree, manifest)
        if manifest in found or tables is None:
            continue
        found[manifest] = None
        folder = _folder(manifest)
        named = [entry.get("path") for _, entry in dependencies_of(tables)]
        waiting += [join(_normal(join(folder, path)), MANIFEST) for path in named if isinstance(path, str)]
    return tuple(sorted(found))


def dependencies_of(tables: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give every dependency of a manifest by name, optional ones and those of some platforms too.

    One that is said to be the workspace's is left out: the workspace's own manifest says what it is.
    """
    places = [tables, *(row for row in _table(tables, "target").values() if isinstance(row, Mapping))]
    rows = [_table(place, name) for place in places for name in _DEPENDENCIES]
    rows += [_table(_table(tables, "workspace"), "dependencies"), *_tables(_table(tables, "patch"))]
    for row in rows:
        for name, value in row.items():
            entry = value if isinstance(value, Mapping) else {"version": value}
            if entry.get("workspace") is not True:
                yield name, entry


def needs_registry(manifests: tuple[str, ...], tree: TreeReader) -> bool:
    """Whether any of some manifests asks for a package that is not in the tree."""
    return bool(_from_outside(manifests, tree))


def only_in_bases_manifests(manifests: tuple[str, ...], head: TreeReader, base: TreeReader) -> tuple[str, ...]:
    """Return what some manifests ask for at the base and no longer at the head, sorted."""
    return tuple(sorted(_from_outside(manifests, base) - _from_outside(manifests, head)))


def _from_outside(manifests: tuple[str, ...], tree: TreeReader) -> set[str]:
    return {
        str(entry.get("package", name))
        for manifest in manifests
        for name, entry in dependencies_of(read_manifest(tree, manifest) or {})
        if "path" not in entry
    }


def package_name(manifest: str, tree: TreeReader) -> str:
    """Return the name of a manifest's package, empty for a manifest that only holds a workspace."""
    name = _table(read_manifest(tree, manifest) or {}, "package").get("name")
    return name if isinstance(name, str) else ""


def join(folder: str, name: str) -> str:
    """Join a folder of the tree and a relative path."""
    return name if folder in {".", ""} else f"{folder}/{name}"


def _package_of(path: str, tree: TreeReader) -> tuple[str, Mapping[str, Any]] | None:
    for folder in _above(path):
        tables = read_manifest(tree, join(folder, MANIFEST))
        if tables is not None and "package" in tables:
            return folder, tables
    return None


def _above(path: str) -> Iterator[str]:
    for parent in PurePosixPath(path).parents:
        yield str(parent)


def _folder(manifest: str) -> str:
    return str(PurePosixPath(manifest).parent)


def _inside(path: str, folder: str) -> str:
    return path if folder == "." else str(PurePosixPath(path).relative_to(folder))


def _normal(path: str) -> str:
    """Return a path without ``.`` and ``..``; one that leaves the tree stays as it is and names nothing."""
    parts: list[str] = []
    for part in PurePosixPath(path).parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts) or "."


def _fits(folder: str, pattern: str) -> bool:
    """Whether a folder is one of a member pattern's, whose ``*`` crosses no folder."""
    parts, wanted = folder.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))


def _package_folders(tree: TreeReader) -> Iterator[str]:
    for raw in sorted(tree.paths):
        if raw == b"Cargo.toml" or raw.endswith(b"/Cargo.toml"):
            yield _folder(raw.decode("utf-8", "surrogateescape"))


def _roots(folder: str, manifest: Mapping[str, Any], tree: TreeReader) -> Iterator[_Root]:
    """Give the roots of a package's targets, tests first: a file of ``tests`` is never a module of the library."""
    package = _table(manifest, "package")
    for name, path, row in _declared(manifest, "test", "tests"):
        yield _root(("--test", name), join(folder, path), row)
    # In the first edition, to declare one target of a kind means to find none by its place.
    declared = isinstance(manifest.get("test"), list) and "edition" not in package
    if package.get("autotests", not declared) is not False:
        for name, path in _found(folder, "tests", tree):
            yield _root(("--test", name), path, {})
    library = _table(manifest, "lib")
    place = library.get("path")
    yield _root(("--lib",), join(folder, place if isinstance(place, str) else "src/lib.rs"), library)
    for name, path, row in _declared(manifest, "bin", "src/bin"):
        yield _root(("--bin", name), join(folder, path), row)
    own = package.get("name")
    if isinstance(own, str):
        yield _root(("--bin", own), join(folder, "src/main.rs"), {})
    for name, path in _found(folder, "src/bin", tree):
        yield _root(("--bin", name), path, {})


def _root(arguments: tuple[str, ...], path: str, row: Mapping[str, Any]) -> _Root:
    return _Root(
        arguments=arguments,
        path=_normal(path),
        features=tuple(_words(row.get("required-features"))),
        harness=row.get("harness") is not False,
    )


def _declared(manifest: Mapping[str, Any], kind: str, folder: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    rows = manifest.get(kind)
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, Mapping) and isinstance(row.get("name"), str):
            path = row.get("path")
            yield row["name"], path if isinstance(path, str) else f"{folder}/{row['name']}.rs", row


def _found(folder: str, kind: str, tree: TreeReader) -> Iterator[tuple[str, str]]:
    """Give the targets that cargo finds by their place: ``tests/NAME.rs`` and ``tests/NAME/main.rs``."""
    start = join(folder, kind) + "/"
    for raw in sorted(tree.paths):
        path = raw.decode("utf-8", "surrogateescape")
        if not path.startswith(start) or not path.endswith(".rs"):
            continue
        parts = path.removeprefix(start).split("/")
        if len(parts) == 1:
            yield parts[0].removesuffix(".rs"), path
        elif len(parts) == 2 and parts[1] == "main.rs":
            yield parts[0], path


def _module_in(path: str, root: _Root, tree: TreeReader) -> str | None:
    module = module_path(path, root.path)
    if not module:
        return module
    declared = re.compile(rf"\bmod\s+(?:r#)?{re.escape(module.partition('::')[0])}\s*[;{{]")
    if not declared.search(_text(tree, root.path)):
        return None
    # What programs of a test folder share is seldom tests; a folder that is one program may make its tests by macros.
    shared = root.arguments[0] == "--test" and not root.path.endswith("/main.rs")
    return None if shared and not _TEST.search(_text(tree, path)) else module


def _selected(path: str, module: str, root: _Root, tree: TreeReader) -> tuple[str, ...] | None:
    """Return the names or beginnings of names of a file's tests; None where it is a source without any."""
    if root.arguments[0] == "--test" or _is_test_by_name(module):
        return (f"{module}::",) if module else ()
    if module and is_only_in_tests(path, tree):
        return (f"{module}::",) if _TEST.search(_text(tree, path)) else None
    try:
        items = items_of_tests(tree.read(path.encode("utf-8", "surrogateescape")) or b"")
    except UnsafeItemError:
        return None
    above = f"{module}::" if module else ""
    return tuple(f"{above}{item.selects}" for item in items if item.selects) or None


def _is_test_by_name(module: str) -> bool:
    return any(map(_TEST_MODULE.fullmatch, module.split("::")))


def _text(tree: TreeReader, path: str) -> str:
    return (tree.read(path.encode("utf-8", "surrogateescape")) or b"").decode("utf-8", "replace")


def _table(tables: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = tables.get(name)
    return value if isinstance(value, Mapping) else {}


def _tables(table: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from (value for value in table.values() if isinstance(value, Mapping))


def _words(value: object) -> tuple[str, ...]:
    return tuple(word for word in value if isinstance(word, str)) if isinstance(value, list) else ()
