"""``lint``, ``review`` and ``cut`` as an author meets them, where the change is known and where it is not."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from authoring.known_change import words_path
from casewright.workspace import Workspace
from tests.support.cases import as_case, plain_case, sealed
from tests.support.command_line import CommandLine
from tests.support.libraries import know, workspace_with
from tests.support.repos import RepoBuilder

UNREAD: dict[str, Any] = {"state": "auto", "by": None, "date": None, "task_digest": None, "waivers": []}
TASK = """\
The search leaves out records that git does not know yet, and it takes a while to see why: one has to read the whole
of src/ledger/search.py, and `_merge_all` above all.

It is resolved when the search shows them.
"""
ID = "ledger-249689d816"
REST = ({"path": "src/ledger/search.py", "source": True, "new": False, "shown": False},)
NEED = {"kind": "option", "text": "--untracked", "path": "tests/unit/test_record_search.py", "elsewhere": False}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    plain = plain_case(task=TASK, review=UNREAD)
    made = workspace_with(tmp_path / "bench", [plain])
    know(made, plain, rest_paths=REST, fix_names=("_merge_all",), needs=(NEED,))
    return made


def test_the_text_is_shown_with_what_is_wrong_underlined(cli: CommandLine, workspace: Workspace) -> None:
    ran = cli("-C", workspace.root, "lint")
    assert ran.code == 1
    lines = ran.out.splitlines()
    place = next(number for number, line in enumerate(lines) if "src/ledger/search.py" in line)
    marks = lines[place + 1]
    assert lines[place].index("src/ledger/search.py") == marks.index("~" * len("src/ledger/search.py"))
    assert all(len(line) <= 80 for line in lines[: place + 3])
    assert "1 error rest-path in task: 'src/ledger/search.py' is a file that the fix changes; describe" in ran.out
    assert "2 error rest-name in task: '_merge_all'" in ran.out
    assert "3 error needed-option in task: '--untracked'" in ran.out
    assert "\x1b" not in ran.out
    assert ran.err == ""


def test_json_has_the_spans(cli: CommandLine, workspace: Workspace) -> None:
    (told,) = cli("-C", workspace.root, "lint", "--format", "json").json
    assert told.keys() >= {"case", "state", "findings", "notes"}
    assert [each["code"] for each in told["findings"]] == ["rest-path", "rest-name", "needed-option"]
    for each in told["findings"]:
        assert TASK[each["start"] : each["end"]] in {each["text"], ""}


def test_a_terminal_gets_colours_unless_they_are_unwanted(workspace: Workspace) -> None:
    for unwanted in (False, True):
        out = on_a_terminal(["-C", str(workspace.root), "lint"], {"NO_COLOR": "1"} if unwanted else {})
        assert ("\x1b[31m" in out) is not unwanted
        assert "~~~~" in out


def on_a_terminal(arguments: list[str], extra: dict[str, str]) -> str:
    """Run the command line with a terminal of 80 columns as its standard output; return what was written there."""
    ours, theirs = pty.openpty()
    code = "import sys; from casewright.cli.main import main; sys.exit(main(sys.argv[1:]))"
    kept = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "TERM"}}
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
        env={**kept, "TERM": "xterm", "COLUMNS": "80", **extra},
    ) as process:
        os.close(theirs)
        pieces = []
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                # The way Linux says that nobody holds the other end any more.
                break
            if not piece:
                break
            pieces.append(piece)
        assert process.wait() == 1
    os.close(ours)
    return b"".join(pieces).decode()


def test_a_waiver_of_each_code_lets_the_draft_be_read_and_released(cli: CommandLine, workspace: Workspace) -> None:
    codes = ("rest-path", "rest-name", "needed-option")
    waived = [word for code in codes for word in ("--waive", f"{code}=it is what the task is about")]
    assert cli("-C", workspace.root, "review", ID, "--by", "B. Reader", *waived[:4]).code == 1
    assert cli("-C", workspace.root, "review", ID, "--by", "B. Reader", *waived).code == 0
    assert cli("-C", workspace.root, "cut").code == 0


def test_what_is_not_known_is_noted_and_not_released(cli: CommandLine, tmp_path: Path) -> None:
    plain = plain_case(review=UNREAD)
    workspace = workspace_with(tmp_path / "bench", [plain])
    words_path(workspace, as_case(plain)).unlink()
    ran = cli("-C", workspace.root, "lint")
    assert ran.code == 0
    assert ran.err.startswith(f"note: {ID}: nothing was held against the change itself")
    assert cli("-C", workspace.root, "lint", "--format", "json").json[0]["notes"] != []
    ran = cli("-C", workspace.root, "cut", "--include-auto")
    assert ran.code == 1
    assert f"casewright lint {ID} --repo SOURCE" in ran.out + ran.err
    assert list(workspace.releases.glob("*.json")) == []


def test_a_history_that_is_named_makes_it_known(cli: CommandLine, tmp_path: Path) -> None:
    built = RepoBuilder(tmp_path / "history")
    base = built.commit("Before", {"search.py": "def search():\n    return []\n", "tests/test_a.py": "\n"})
    head = built.commit(
        "After",
        {"search.py": "def search(*, untracked=False):\n    return [1]\n", "tests/test_a.py": "search(untracked=1)\n"},
    )
    plain = plain_case(base_commit=base, grading_commit=head, review=UNREAD)
    files = {"files": ["tests/test_a.py"], "support_files": [], "excluded_files": []}
    plain = sealed({**plain, "grading": {**plain["grading"], **files}})
    workspace = workspace_with(tmp_path / "bench", [plain])
    words_path(workspace, as_case(plain)).unlink()
    ran = cli("-C", workspace.root, "lint", ID, "--repo", built.path)
    assert ran.code == 1
    assert "error needed-keyword in task: 'untracked'" in ran.out
    # It is kept: the next look needs no history.
    assert cli("-C", workspace.root, "lint", ID).out == ran.out
    assert cli("-C", workspace.root, "lint", ID, "--repo", tmp_path / "nowhere").code == 2
