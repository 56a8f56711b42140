"""The round trip over arbitrary pairs of trees: odd names, every kind of entry, files that become folders."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from casewright.repository import open_source
from miner.content import Finding, round_trip
from miner.history import change_of
from miner.parts import split
from miner.path_rules import PathRules
from tests.support.repos import git

_NAMES = (
    b"tests",
    b"test_a.py",
    b"src",
    b"a.py",
    b"spec",
    b"caf\xe9",
    b"x b",
    b'q"\t',
    b":(top)m",
    b"new\nline",
    b"-d",
)
_CONTENTS = (b"", b"one\n", b"one\r\ntwo\n", b"one\ntwo\nthree", b"\0\1\2", b"../away", b"  \n\t\n")
_MODES = (b"100644", b"100755", b"120000")

_PATHS = st.lists(st.sampled_from(_NAMES), min_size=1, max_size=3).map(b"/".join)
_FILES = st.tuples(st.sampled_from(_MODES), st.sampled_from(_CONTENTS))


def _without_conflicts(files: dict[bytes, tuple[bytes, bytes]]) -> dict[bytes, tuple[bytes, bytes]]:
    return {path: file for path, file in files.items() if not any(other.startswith(path + b"/") for other in files)}


_TREES = st.dictionaries(_PATHS, _FILES, max_size=7).map(_without_conflicts)


def _import(folder: Path, trees: tuple[Mapping[bytes, tuple[bytes, bytes]], ...]) -> None:
    lines = []
    for number, tree in enumerate(trees):
        lines += [b"commit refs/heads/main\n", b"committer D <d@e> %d +0000\n" % (1_600_000_000 + number)]
        lines += [b"data 1\nx\n", b"deleteall\n"]
        for path, (mode, content) in tree.items():
            # No file system holds a symlink to an empty name.
            data = content.strip(b"\0") or b"nowhere" if mode == b"120000" else content
            quoted = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n").replace(b"\t", b"\\t")
            lines += [b'M %s inline "%s"\ndata %d\n' % (mode, quoted, len(data)), data, b"\n"]
    git(folder, "fast-import", "--quiet", stdin=b"".join(lines))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_TREES, _TREES)
def test_any_two_trees_make_the_round_trip(
    base: dict[bytes, tuple[bytes, bytes]], head: dict[bytes, tuple[bytes, bytes]]
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        git(folder, "init", "-q", "--bare", "-b", "main", "--template=", "repo.git")
        _import(folder / "repo.git", (base, head))
        with open_source(str(folder / "repo.git"), folder / "cache") as repository:
            change = change_of(repository, "main")
            parts = split(change.entries, PathRules())

            assert round_trip(repository, change, parts) == Finding()
            assert sorted((*parts.test, *parts.rest)) == sorted(change.paths)
            test_part = repository.diff_patch(change.base, change.head, parts.test)
            repository.export(change.base, folder / "tree")
            if test_part:
                assert repository.apply(test_part, folder / "tree") == ""
