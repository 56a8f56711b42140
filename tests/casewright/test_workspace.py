"""Workspaces are found, made once, and worked in by one process at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from casewright.configuration import configuration_digest, configuration_of, overrides, read_configuration
from casewright.errors import DocumentError, WorkspaceError
from casewright.new_workspace import init_workspace
from casewright.workspace import find_workspace, locked

FULL = """\
schema: casewright.workspace/v1
library:
  id: our-library
  title: "Ours: {cases} cases"
defaults:
  repeat: 5
  limits: {memory_mb: 8192, seconds: 90}
repositories:
  pallets/click:
    licence: BSD-3-Clause
    python: "3.12"
    setup: {commands: [pip install -e .], pass_env: [HTTPS_PROXY]}
    limits: {seconds: 300}
    categories: [{category: parser, paths: ["src/click/parser.py"]}]
"""


def test_a_new_workspace_can_be_read_and_found_from_inside(tmp_path: Path) -> None:
    workspace, written = init_workspace(tmp_path / "My Cases")
    assert [path.name for path in written] == [".gitignore", "README.md", "casewright.yaml"]
    configuration = configuration_of(workspace)
    assert configuration.library.id == "my-cases"
    assert configuration.repositories == {}
    assert find_workspace(workspace.cases) == workspace
    assert workspace.shown(workspace.cases / "a.yaml") == "cases/a.yaml"


def test_a_workspace_is_never_made_over_another(tmp_path: Path) -> None:
    workspace, _ = init_workspace(tmp_path)
    workspace.configuration_path.write_text("mine\n")
    with pytest.raises(WorkspaceError, match="is there already"):
        init_workspace(tmp_path)
    assert workspace.configuration_path.read_text() == "mine\n"


def test_a_readme_that_is_there_stays(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine\n")
    _, written = init_workspace(tmp_path)
    assert (tmp_path / "README.md").read_text() == "mine\n"
    assert "README.md" not in [path.name for path in written]


def test_no_workspace_is_said_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="casewright init"):
        find_workspace(tmp_path)
    with pytest.raises(WorkspaceError, match="is not a folder"):
        find_workspace(tmp_path / "absent")


def test_the_configuration_joins_defaults_and_overrides(tmp_path: Path) -> None:
    (tmp_path / "casewright.yaml").write_text(FULL)
    configuration = read_configuration(tmp_path / "casewright.yaml")
    assert configuration.limits("pallets/click") == {"memory_mb": 8192, "seconds": 300}
    assert configuration.limits("other/one") == {"memory_mb": 8192, "seconds": 90}
    assert overrides(configuration.repository("pallets/click")) == {"python": "3.12", "setup": "pip install -e ."}
    assert overrides(configuration.repository("other/one")) == {}


def test_faults_of_the_configuration_have_places(tmp_path: Path) -> None:
    path = tmp_path / "casewright.yaml"
    path.write_text(FULL.replace("our-library", "Our Library").replace('"3.12"', "3.12").replace("repeat", "repeats"))
    with pytest.raises(DocumentError) as caught:
        read_configuration(path)
    assert [fault.partition(" ")[0] for fault in caught.value.faults] == [
        "casewright.yaml:3:7:",
        "casewright.yaml:6:12:",
        "casewright.yaml:11:13:",
    ]
    assert "library.id: 'Our Library' is not a slug of lowercase letters" in caught.value.faults[0]
    assert "defaults.repeats: is not a key that stands here" in caught.value.faults[1]
    assert "repositories.pallets/click.python: YAML reads '3.12' as a number" in caught.value.faults[2]


def test_only_what_may_change_a_verdict_changes_the_digest(tmp_path: Path) -> None:
    def digest_of(text: str, options: dict[str, object] | None = None, rules: str = "1") -> str:
        (tmp_path / "casewright.yaml").write_text(text)
        configuration = read_configuration(tmp_path / "casewright.yaml")
        return configuration_digest(configuration, "pallets/click", options or {}, rules)

    first = digest_of(FULL)
    assert digest_of(FULL.replace("parser}", "cli}").replace("our-library", "theirs")) == first
    assert digest_of(FULL + "  other/one: {python: '3.9'}\n") == first
    changed = {
        digest_of(FULL.replace('"3.12"', '"3.11"')),
        digest_of(FULL.replace("8192", "4096")),
        digest_of(FULL.replace("repeat: 5", "repeat: 3")),
        digest_of(FULL, {"test_cmd": "make test"}),
        digest_of(FULL, rules="2"),
    }
    assert len(changed | {first}) == 6


def test_a_second_process_is_refused_with_the_first_one_s_id(tmp_path: Path) -> None:
    workspace, _ = init_workspace(tmp_path)
    program = (
        "import sys\nfrom pathlib import Path\nfrom casewright.errors import WorkspaceError\n"
        "from casewright.workspace import Workspace, locked\n"
        "try:\n    with locked(Workspace(root=Path(sys.argv[1]))):\n        print('got it')\n"
        "except WorkspaceError as error:\n    print(error)\n"
    )
    run = [sys.executable, "-c", program, str(tmp_path)]
    with locked(workspace):
        refused = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    assert f"process {os.getpid()}" in refused
    assert subprocess.run(run, check=True, capture_output=True, text=True).stdout == "got it\n"


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    workspace, _ = init_workspace(tmp_path)
    program = (
        "import os, sys\nfrom pathlib import Path\nfrom casewright.workspace import Workspace, locked\n"
        "with locked(Workspace(root=Path(sys.argv[1]))):\n    os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False).returncode == -9
    with locked(workspace):
        assert (workspace.state / "workspace.holder").read_text() == f"{os.getpid()}\n"
