"""Which features a test file is run with: its own attributes, its target, and what the project's CI asks for. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from execution.languages.base import TreeReader
from execution.languages.rust_package import Target, read_manifest

_MENTIONED: Final = re.compile(r'\bfeature\s*=\s*"([A-Za-z0-9_+.-]+)"')
# What a line of a CI file or a script says; a line that asks for another toolchain is no word on this one.
_TEST_LINE: Final = re.compile(r"\bcargo\s+(?:test|t|nextest\s+run)\b[^\n#|;&]*")
_NAMED: Final = re.compile(r"--features[ =]+(?:\"([^\"]*)\"|'([^']*)'|(\S+))")
_CI_FILE: Final = re.compile(rb"\.github/workflows/[^/]+\.ya?ml|\.(?:travis|gitlab-ci)\.yml|\.cirrus\.yml|ci/[^/]+\.sh")
_UNSETTLED: Final = re.compile(r"nightly|unstable", re.IGNORECASE)


def feature_arguments(path: str, target: Target, tree: TreeReader) -> tuple[str, ...]:
    """Return cargo's arguments for the features of one test file, empty for the default ones.

    A file that speaks of features is run with all of them where CI does so too, else with those that it and CI name:
    with the default ones alone its tests might not be there. What only a nightly compiler takes is left alone.
    """
    text = (tree.read(path.encode("utf-8", "surrogateescape")) or b"").decode("utf-8", "replace")
    mentioned = frozenset(_MENTIONED.findall(text))
    lines = tuple(_ci_lines(tree)) if mentioned else ()
    if any("--all-features" in line for line in lines) and not _has_unsettled(target, tree):
        return ("--all-features",)
    named = {name for line in lines for name in _named(line)}
    wanted = [*target.features, *sorted(name for name in mentioned & named if not _UNSETTLED.search(name))]
    return ("--features", ",".join(dict.fromkeys(wanted))) if wanted else ()


def _ci_lines(tree: TreeReader) -> Iterator[str]:
    for path in sorted(tree.paths):
        if _CI_FILE.fullmatch(path):
            yield from _TEST_LINE.findall((tree.read(path) or b"").decode("utf-8", "replace"))


def _named(line: str) -> Iterator[str]:
    for quoted, single, bare in _NAMED.findall(line):
        yield from re.split(r"[,\s]+", quoted or single or bare)


def _has_unsettled(target: Target, tree: TreeReader) -> bool:
    features = (read_manifest(tree, target.manifest) or {}).get("features")
    return isinstance(features, dict) and any(map(_UNSETTLED.search, features))
