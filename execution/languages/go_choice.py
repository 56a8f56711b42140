"""Which Go files are graded, with which build tags, with or without C. Pure but for the look for a C compiler."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from execution.languages.base import TreeReader
from execution.languages.go_module import C_MODULES, Layout, exists, read_text
from execution.languages.go_runtime import minor
from execution.languages.go_sources import Built, constraint, declared_tests, is_met, needs_c, tags_of
from execution.recipe import Runtime

_COMPILERS: Final = (Path("/usr/bin/gcc"), Path("/usr/bin/clang"), Path("/usr/bin/cc"))
_HERE: Final = frozenset({"linux", "amd64", "unix", "gc"})
# Where projects write down how their tests are started.
_CI_FILE: Final = re.compile(
    r"\.github/workflows/[^/]+\.ya?ml|\.gitlab-ci\.yml|\.circleci/config\.yml|\.travis\.yml|azure-pipelines\.yml"
    r"|(?:GNU)?[Mm]akefile|Taskfile\.ya?ml|justfile|magefile\.go|(?:scripts?/)?(?:test|ci)\.sh"
)
_TAGS: Final = re.compile(r"-tags(?:=|[ \t]+)(\"[^\"\n]*\"|'[^'\n]*'|[\w.,]+)")


def is_compiled(path: str, tree: TreeReader) -> bool:
    """Whether ``go test`` compiles a file of the tree into its tests, build constraints aside."""
    *folders, last = path.split("/")
    if not last.endswith("_test.go") or last.startswith(("_", ".")) or not exists(tree, path):
        return False
    return not any(part in {"testdata", "vendor"} or part.startswith(("_", ".")) for part in folders)


def collected(candidates: tuple[str, ...], tree: TreeReader) -> tuple[str, ...]:
    """Return the files that declare tests; where none does, all that are compiled, so that this is what is said."""
    compiled = tuple(path for path in candidates if is_compiled(path, tree))
    return tuple(path for path in compiled if declared_tests(read_text(tree, path) or "")) or compiled


def choose_c(tree: TreeReader, layout: Layout) -> tuple[bool, str]:
    """Return whether C is compiled too, and why: only where the tree or a module asks for it and a compiler is here."""
    asked = sorted({path for module in layout.modules for path in module.requires} & C_MODULES)
    for raw in tree.paths if not asked else ():
        parts = raw.split(b"/")
        if raw.endswith(b".go") and b"vendor" not in parts and b"testdata" not in parts and not asked:
            source = tree.read(raw) or b""
            if b'"C"' in source and needs_c(source.decode("utf-8", "replace")):
                asked = [raw.decode("utf-8", "replace")]
    if not asked:
        return False, "without C (CGO_ENABLED=0): nothing asks for it"
    if not any(compiler.exists() for compiler in _COMPILERS):
        return False, f"without C (CGO_ENABLED=0): {asked[0]} asks for it, and there is no compiler"
    return True, f"with C (CGO_ENABLED=1), which {asked[0]} asks for"


def built_for(runtime: Runtime, tags: tuple[str, ...], *, c: bool) -> Built:
    """Return what a build is for: this system, a toolchain's release and chosen tags."""
    own = _HERE | ({"cgo"} if c else frozenset())
    return Built(tags=own | frozenset(tags), release=minor(runtime))


def met_files(
    tree: TreeReader, graded: tuple[str, ...], runtime: Runtime, tags: tuple[str, ...], *, c: bool
) -> frozenset[str]:
    """Return the graded files whose build constraints hold."""
    built = built_for(runtime, tags, c=c)
    return frozenset(path for path in graded if is_met(_constraint(tree, path), built))


def choose_tags(tree: TreeReader, graded: tuple[str, ...], runtime: Runtime) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the build tags to test with, and why: what a graded file asks for and a CI file names."""
    plain = built_for(runtime, (), c=True)
    asked = {path: _constraint(tree, path) for path in graded}
    wanted = frozenset(tag for text in asked.values() if not is_met(text, plain) for tag in tags_of(text))
    named = ci_tags(tree) if wanted else {}
    chosen = tuple(sorted(wanted & named.keys()))
    return chosen, tuple(f"the build tag {tag}, which {named[tag]} names" for tag in chosen)


def ci_tags(tree: TreeReader) -> dict[str, str]:
    """Return the build tags that the files of a CI, make or shell name, each with the first file that does."""
    found: dict[str, str] = {}
    for path in sorted(raw.decode("utf-8", "surrogateescape") for raw in tree.paths):
        if not _CI_FILE.fullmatch(path):
            continue
        for words in _TAGS.findall(read_text(tree, path) or ""):
            for tag in re.split(r"[\s,]+", words.strip("\"'")):
                if re.fullmatch(r"[\w.]+", tag):
                    found.setdefault(tag, path)
    return found


def _constraint(tree: TreeReader, path: str) -> str:
    return constraint(read_text(tree, path) or "", path.rpartition("/")[2])
