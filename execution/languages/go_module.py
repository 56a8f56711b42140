"""Where a Go file belongs: its module or workspace, read from ``go.mod`` and ``go.work``. Pure."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from execution.languages.base import Refusal, TreeReader

_COMMENT: Final = re.compile(r"//[^\n]*")
# Modules that are C with a Go face: without a C compiler they build to something that fails when it is used.
C_MODULES: Final = frozenset({"github.com/mattn/go-sqlite3", "github.com/DataDog/zstd", "github.com/go-gl/gl"})


class Mode(StrEnum):
    """Where the modules that a build needs come from."""

    MODULE = "module"
    VENDOR = "vendor"
    WORKSPACE = "workspace"
    BARE = "bare"


@dataclass(frozen=True, kw_only=True, slots=True)
class Module:
    """What a ``go.mod`` says. ``directory`` is its folder (``.`` is the root), ``local`` the folders that it replaces
    modules by; ``go`` and ``toolchain`` are versions as written, without ``go`` before them, or empty."""

    path: str
    directory: str
    go: str = ""
    toolchain: str = ""
    requires: frozenset[str] = frozenset()
    local: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """Where graded files are built: the folder that ``go`` is started in, and the modules that it sees there."""

    directory: str
    mode: Mode
    modules: tuple[Module, ...]

    def package(self, folder: str) -> str:
        """Return the import path of a folder of the tree; the innermost module counts."""
        best = max(
            (module for module in self.modules if is_below(folder, module.directory)),
            key=lambda module: 0 if module.directory == "." else module.directory.count("/") + 1,
        )
        inner = posixpath.relpath(folder, best.directory)
        return best.path if inner == "." else f"{best.path}/{inner}"

    def manifests(self) -> tuple[str, ...]:
        """Return the paths of the files that decide which versions are used; some may not exist."""
        names = {join(module.directory, name) for module in self.modules for name in ("go.mod", "go.sum")}
        names |= {join(folder, "go.mod") for module in self.modules for folder in module.local}
        if self.mode is Mode.WORKSPACE:
            names |= {join(self.directory, name) for name in ("go.work", "go.work.sum")}
        if self.mode is Mode.VENDOR:
            names.add(join(self.directory, "vendor/modules.txt"))
        return tuple(sorted(names))


def read_text(tree: TreeReader, path: str) -> str | None:
    """Return a file of the tree as text, or None where there is none."""
    content = tree.read(path.encode("utf-8", "surrogateescape"))
    return None if content is None else content.decode("utf-8", "surrogateescape")


def exists(tree: TreeReader, path: str) -> bool:
    """Whether the tree holds a file."""
    return path.encode("utf-8", "surrogateescape") in tree.paths


def join(directory: str, name: str) -> str:
    """Return the path of ``name`` in a folder of the tree."""
    return name if directory == "." else f"{directory}/{name}"


def folder_of(path: str) -> str:
    """Return the folder of a file of the tree, ``.`` for the root."""
    return path.rpartition("/")[0] or "."


def is_below(folder: str, above: str) -> bool:
    """Whether a folder is ``above`` or lies below it."""
    return above in {".", folder} or folder.startswith(above + "/")


def home(tree: TreeReader, path: str) -> str | None:
    """Return the folder that ``go`` has to be started in for a file: its workspace's, else its module's, else None."""
    module = next((folder for folder in _upwards(folder_of(path)) if exists(tree, join(folder, "go.mod"))), None)
    if module is None:
        return None
    workspace = next((folder for folder in _upwards(module) if exists(tree, join(folder, "go.work"))), None)
    return workspace if workspace is not None and module in _used(tree, workspace) else module


def together(tree: TreeReader, files: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files that one ``go`` can build: those of the module or workspace that most of them are in."""
    groups: dict[str | None, list[str]] = defaultdict(list)
    for path in files:
        groups[home(tree, path)].append(path)
    best = max(groups, key=lambda folder: (len(groups[folder]), folder is not None, -len(folder or "")), default=None)
    return tuple(groups.get(best, ()))


def read_layout(tree: TreeReader, directory: str) -> Layout | Refusal:
    """Read the modules that ``go`` sees when it is started in a folder (``home`` of a file)."""
    if exists(tree, join(directory, "go.work")):
        found = [read_module(tree, folder) for folder in _used(tree, directory)]
        members = tuple(module for module in found if module is not None)
        if members:
            version = _value(_statements(read_text(tree, join(directory, "go.work")) or ""), "go")
            return Layout(
                directory=directory, mode=Mode.WORKSPACE, modules=(_at_least(members[0], version), *members[1:])
            )
    module = read_module(tree, directory)
    if module is None or not module.path:
        return Refusal(code="environment-failed", detail=f"{join(directory, 'go.mod')} names no module")
    vendored = exists(tree, join(directory, "vendor/modules.txt"))
    return Layout(directory=directory, mode=Mode.VENDOR if vendored else Mode.MODULE, modules=(module,))


def read_module(tree: TreeReader, directory: str) -> Module | None:
    """Read the ``go.mod`` of a folder, or None where there is none."""
    text = read_text(tree, join(directory, "go.mod"))
    if text is None:
        return None
    statements = list(_statements(text))
    replaced = [words[words.index("=>") + 1] for words in statements if words[0] == "replace" and "=>" in words[:-1]]
    inside = (posixpath.normpath(join(directory, path)) for path in replaced if path.startswith("."))
    return Module(
        path=_value(statements, "module"),
        directory=directory,
        go=_value(statements, "go"),
        toolchain=_value(statements, "toolchain").removeprefix("go"),
        requires=frozenset(words[1] for words in statements if words[0] == "require" and len(words) > 1),
        local=tuple(sorted(path for path in inside if not path.startswith(".."))),
    )


def digests(tree: TreeReader, layout: Layout) -> tuple[tuple[str, str], ...]:
    """Return (path, SHA-256) of the manifests that exist."""
    texts = ((path, tree.read(path.encode("utf-8", "surrogateescape"))) for path in layout.manifests())
    return tuple((path, hashlib.sha256(text).hexdigest()) for path, text in texts if text is not None)


def _used(tree: TreeReader, directory: str) -> tuple[str, ...]:
    words = _statements(read_text(tree, join(directory, "go.work")) or "")
    used = (posixpath.normpath(join(directory, line[1])) for line in words if line[0] == "use" and len(line) > 1)
    return tuple(sorted(set(used)))


def _at_least(module: Module, version: str) -> Module:
    """Return a module that asks for its workspace's version of Go too, which the ``go`` command holds it to."""
    asked = max((version, module.go), key=_numbers)
    return Module(
        path=module.path,
        directory=module.directory,
        go=asked,
        toolchain=module.toolchain,
        requires=module.requires,
        local=module.local,
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def _statements(text: str) -> Iterator[list[str]]:
    """Give each directive of a ``go.mod`` or ``go.work`` as words; one in a block begins with the block's word."""
    block = ""
    for raw in text.splitlines():
        line = _COMMENT.sub("", raw).strip()
        words = [word.strip('"`') for word in line.split()]
        if block and line == ")":
            block = ""
        elif block and words:
            yield [block, *words]
        elif words and words[-1] == "(":
            block = words[0]
        elif words:
            yield words


def _value(statements: Iterator[list[str]] | list[list[str]], name: str) -> str:
    return next((words[1] for words in statements if words[0] == name and len(words) > 1), "")


def _upwards(folder: str) -> Iterator[str]:
    while folder != ".":
        yield folder
        folder = folder_of(folder)
    yield "."
