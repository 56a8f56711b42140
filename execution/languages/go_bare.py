"""A tree from before modules, without ``go.mod``: the name that it must have, and whether that is all it lacks. Pure.

Set-up then writes a ``go.mod`` of one line. That does where the graded packages import nothing but Go's own library and
the tree itself; of anything else no file says which version is meant.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Final

from execution.languages.base import Refusal, TreeReader
from execution.languages.go_module import Layout, Mode, Module, folder_of
from execution.languages.go_sources import Built, constraint, imports, is_met

# The name where no import of the tree's own tells it.
NAMELESS: Final = "repository"
_IMPORT_COMMENT: Final = re.compile(r'^package \w+[ \t]*//[ \t]*import "([^"\s]+)"', re.MULTILINE)
# Constraints are asked for this system and a release that has everything: here only imports matter.
_BUILT: Final = Built(tags=frozenset({"linux", "amd64", "unix", "gc"}), release=(1, 999))


def guess_layout(tree: TreeReader, graded: tuple[str, ...]) -> Layout | Refusal:
    """Return the layout of a tree without ``go.mod``, or why it can't be built."""
    folders = _folders(tree)
    name = _name(tree, folders)
    others = sorted(_others(name, folders, {folder_of(path) for path in graded}))
    if others:
        words = f"there is no go.mod, so nothing says which version of {others[0]} is meant"
        return Refusal(code="environment-failed", detail=words)
    return Layout(directory=".", mode=Mode.BARE, modules=(Module(path=name, directory="."),))


def _folders(tree: TreeReader) -> Mapping[str, list[tuple[str, frozenset[str]]]]:
    """Return, for each folder with Go files, their paths with what each imports from outside of Go's library."""
    found: dict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)
    for raw in tree.paths:
        path = raw.decode("utf-8", "surrogateescape")
        *above, last = path.split("/")
        if not last.endswith(".go") or any(part in {"vendor", "testdata"} or part[:1] in {"_", "."} for part in above):
            continue
        text = (tree.read(raw) or b"").decode("utf-8", "surrogateescape")
        if last[:1] not in {"_", "."} and is_met(constraint(text, last), _BUILT):
            foreign = frozenset(name for name in imports(text) if "." in name.partition("/")[0])
            found[folder_of(path)].append((path, foreign))
    return found


def _name(tree: TreeReader, folders: Mapping[str, list[tuple[str, frozenset[str]]]]) -> str:
    """Return the import path of the root: as a comment says it, else as the tree's own imports use it most."""
    votes: Counter[str] = Counter()
    for folder, files in folders.items():
        for path, foreign in files:
            text = (tree.read(path.encode("utf-8", "surrogateescape")) or b"").decode("utf-8", "surrogateescape")
            if (comment := _IMPORT_COMMENT.search(text)) and folder == ".":
                return comment[1]
            votes.update(name for one in foreign for name in _roots(one, folders))
            # A test from outside imports the package beside it, and nothing else tells a tree of one package.
            if path.endswith("_test.go") and re.search(r"^package \w+_test\b", text, re.MULTILINE) and folder == ".":
                votes.update(one for one in foreign if one.count("/") >= 1 and not _roots(one, folders))
    return max(sorted(votes), key=votes.__getitem__) if votes else NAMELESS


def _roots(name: str, folders: Mapping[str, object]) -> list[str]:
    """Return what the root would be called if an import path meant a folder of the tree."""
    inner = (folder for folder in folders if folder != "." and name.endswith(f"/{folder}"))
    return [name.removesuffix(f"/{folder}") for folder in inner]


def _others(name: str, folders: Mapping[str, list[tuple[str, frozenset[str]]]], start: set[str]) -> frozenset[str]:
    """Return what the graded folders, and what they import of the tree, import from elsewhere."""
    seen: set[str] = set()
    waiting = sorted(start)
    others: set[str] = set()
    while waiting:
        folder = waiting.pop()
        if folder in seen:
            continue
        seen.add(folder)
        for path, foreign in folders.get(folder, ()):
            if path.endswith("_test.go") and folder not in start:
                continue
            for one in foreign:
                inner = "." if one == name else one.removeprefix(f"{name}/")
                if inner != one and inner in folders:
                    waiting.append(inner)
                else:
                    others.add(one)
    return frozenset(others)
