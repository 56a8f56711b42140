"""Which node is found, and what of it a sandbox must be shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from casewright.errors import InfrastructureError
from execution.languages import javascript_runtime
from execution.languages.javascript_runtime import find_node, runtime_env, runtime_mounts


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home with two nodes of a version manager and another one on PATH; they tell a version and no more."""

    def node(folder: Path, version: str) -> None:
        folder.mkdir(parents=True)
        (folder / "node").write_text(f"#!/bin/sh\necho {version}\n")
        (folder / "node").chmod(0o755)

    node(tmp_path / "path/bin", "v20.1.0")
    node(tmp_path / ".nvm/versions/node/v18.9.0/bin", "v18.9.0")
    node(tmp_path / ".nvm/versions/node/v18.10.0/bin", "v18.10.0")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "path/bin"), prepend=":")
    javascript_runtime.installed_nodes.cache_clear()
    yield tmp_path
    javascript_runtime.installed_nodes.cache_clear()


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("wanted", "version"),
    [("", "20.1.0"), ("18", "18.10.0"), ("v18.9", "18.9.0"), ("18.9.0", "18.9.0"), ("1", None), ("22", None)],
)
def test_a_version_is_found_by_its_beginning(wanted: str, version: str | None) -> None:
    found = find_node(wanted)
    assert (found.version if found else None) == version


def test_a_path_names_its_node(home: Path) -> None:
    found = find_node(str(home / "path/bin/node"))
    assert found is not None
    assert found.prefix == home / "path"
    assert find_node(str(home / "no/node")) is None


def test_a_node_that_tells_no_version_is_a_fault_of_the_machine(home: Path) -> None:
    (home / "path/bin/node").write_text("#!/bin/sh\necho hello\n")
    with pytest.raises(InfrastructureError, match="does not tell its version"):
        find_node(str(home / "path/bin/node"))


def test_only_a_node_outside_of_the_system_has_to_be_shown(home: Path) -> None:
    found = find_node("18")
    assert found is not None
    assert [(mount.source, mount.target) for mount in runtime_mounts(found)] == [(found.prefix, "/opt/runtime")]
    assert runtime_env(found)["PATH"].split(":")[0] == "/opt/runtime/bin"
