"""Mining from the command line, for real: suites that misbehave in every way, each judged in the sandbox.

One history holds them all and is mined once; its set-up is plain ``venv``, so nothing is downloaded.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from authoring.draft import load_drafts
from casewright.workspace import Workspace
from tests.support.own_process import Process, start
from tests.support.repos import RepoBuilder
from tests.support.sandbox import needs_sandbox

pytestmark = needs_sandbox

LIMITS = "{seconds: 4, memory_mb: 300, processes: 64, output_mb: 1, disk_mb: 64}"
CONFIGURATION = f"""\
schema: casewright.workspace/v1
library: {{id: odd, title: Odd suites}}
defaults:
  repeat: 1
  limits: {LIMITS}
"""
WRONG = "def value():\n    return 1\n"
TEST = """\
import os, subprocess, sys, time, unittest
import {module}

def right():
    return {module}.value() == 2

class {name}(unittest.TestCase):
    def test_value(self):
        {body}
        self.assertTrue(right())
"""
HANG = "while {when}: time.sleep(0.1)"
FLOOD = "while {when}: print('x' * 1000)"
EAT = (
    "eat = 'import time; held = b\"x\" * (120 << 20); time.sleep(60)'\n"
    "        for child in [subprocess.Popen([sys.executable, '-c', eat]) for _ in range(4) if {when}]: child.wait()"
)
DIE = "if {when}: os._exit(0)"
DAEMON = "subprocess.Popen(['sh', '-c', 'trap \"\" TERM HUP; sleep 321 & sleep 321'], start_new_session=True)"
# Each change makes its module right: what its test does before it asks, when, and how the commit is described.
CHANGES: Mapping[str, tuple[str, str, str]] = {
    "hang_head": (HANG, "right()", "Stop where the list ends at head"),
    "hang_base": (HANG, "not right()", "Stop where the list ends at base"),
    "flood_head": (FLOOD, "right()", "Print no more than asked at head"),
    "flood_base": (FLOOD, "not right()", "Print no more than asked at base"),
    "eat_head": (EAT, "right()", "Hold no more than needed at head"),
    "eat_base": (EAT, "not right()", "Hold no more than needed at base"),
    "die_head": (DIE, "right()", "Leave the process alone at head"),
    "die_base": (DIE, "not right()", "Leave the process alone at base"),
    "daemon": (DAEMON, "", "Leave a daemon behind everywhere"),
}
# As Latin-1 this is no UTF-8, and nothing in the commit says so.
LATIN = "Zähle die Kästen richtig, nicht doppelt\n"
NO_RUNNER = "const {v} = require('./odd')\ntest('v', () => { if (v !== 2) throw new Error() })\n"


@pytest.fixture(scope="module")
def suites(tmp_path_factory: pytest.TempPathFactory) -> RepoBuilder:
    """The history: one candidate for each misbehaviour, one with a message that is no UTF-8, one without a runner."""
    repo = RepoBuilder(tmp_path_factory.mktemp("suites") / "suites")
    begin: dict[str | bytes, str] = {f"{module}.py": WRONG for module in (*CHANGES, "latin")}
    begin["package.json"] = '{"name": "odd", "version": "1.0.0"}\n'
    begin["odd.js"] = "exports.v = 1\n"
    repo.commit("Begin", begin)
    for module, (behaviour, when, subject) in CHANGES.items():
        repo.commit(subject, _files(module, behaviour.format(when=when)))
    repo.commit("placeholder", _files("latin", "pass"))
    repo.git("commit", "-q", "--amend", "-F", "-", stdin=LATIN.encode("latin-1"))
    repo.commit("Return two where one was returned", {"odd.js": "exports.v = 2\n", "odd.test.js": NO_RUNNER})
    return repo


def _files(module: str, body: str) -> Mapping[str | bytes, str]:
    name = module.title().replace("_", "")
    return {
        f"{module}.py": WRONG.replace("1", "2"),
        f"tests/test_{module}.py": TEST.format(module=module, name=name, body=body),
    }


@pytest.fixture(scope="module")
def mined(suites: RepoBuilder, tmp_path_factory: pytest.TempPathFactory) -> Process:
    """The run over all of them, at its end."""
    folder = tmp_path_factory.mktemp("mined")
    bench = folder / "bench"
    (bench / "cases").mkdir(parents=True)
    (bench / "casewright.yaml").write_text(CONFIGURATION, encoding="utf-8")
    process = start(folder, "-C", bench, "mine", suites.path, "--format", "json", cache=folder / "cache")
    process.end()
    return process


@pytest.fixture(scope="module")
def rows(mined: Process) -> Mapping[str, Any]:
    """What became of each change, by its module (the last one by ``odd``)."""
    return {
        (row["graded_files"] or ["tests/test_odd.py"])[0].removeprefix("tests/test_").removesuffix(".py"): row
        for row in mined.rows
    }


@pytest.mark.parametrize(
    ("module", "reason", "detail"),
    [
        ("hang_head", "timeout", "did not end within 4 s"),
        ("flood_head", "report-missing", "more than the output limit"),
        ("eat_head", "out-of-memory", "reached the memory limit"),
        ("die_head", "report-missing", "the process ended before the runner did"),
        ("odd", "runner-missing", "no test runner"),
    ],
)
def test_a_suite_that_misbehaves_at_head_is_rejected_with_the_evidence(
    rows: Mapping[str, Any], module: str, reason: str, detail: str
) -> None:
    row = rows[module]
    assert (row["outcome"], row["reason"]) == ("rejected", reason)
    assert detail in row["detail"]
    assert "\n" not in row["detail"]


@pytest.mark.parametrize(
    ("module", "how"),
    [
        ("hang_base", "timeout"),
        ("flood_base", "crash"),
        ("eat_base", "out-of-memory"),
        ("die_base", "crash"),
        ("daemon", "assertion"),
        ("latin", "assertion"),
    ],
)
def test_a_suite_that_misbehaves_at_base_fails_there_and_the_case_says_how(
    rows: Mapping[str, Any], module: str, how: str
) -> None:
    row = rows[module]
    assert (row["outcome"], row["reason"]) == ("admitted", None)
    assert [test["how"] for test in row["fails_by"]] == [how]


def test_the_work_was_done_whatever_the_verdicts_are(mined: Process) -> None:
    assert mined.running.returncode == 0
    assert len(mined.rows) == len(CHANGES) + 2


def test_drafts_are_whole_and_those_of_the_admitted(mined: Process) -> None:
    drafts = load_drafts(Workspace(root=mined.folder / "bench"))
    admitted = {row["case"] for row in mined.rows if row["outcome"] == "admitted"}
    assert {draft.case.id for draft in drafts} == admitted
    assert all(draft.case.verification.reproduced for draft in drafts)
    assert len(list((mined.folder / "bench" / "cases").iterdir())) == len(drafts)


def test_a_message_that_is_no_utf_8_becomes_text_that_people_can_read(mined: Process, rows: Mapping[str, Any]) -> None:
    assert rows["latin"]["subject"] == "Zähle die Kästen richtig, nicht doppelt"
    (draft,) = (
        draft for draft in load_drafts(Workspace(root=mined.folder / "bench")) if draft.case.id == rows["latin"]["case"]
    )
    assert "Zähle die Kästen" in draft.case.task


def test_each_change_has_one_row_in_the_ledger(mined: Process) -> None:
    connection = sqlite3.connect(mined.folder / "bench" / ".casewright" / "ledger.db")
    try:
        count, heads = connection.execute("SELECT count(*), count(DISTINCT head) FROM attempts").fetchone()
    finally:
        connection.close()
    assert count == heads == len(mined.rows)


def test_neither_a_daemon_nor_a_folder_is_left(mined: Process) -> None:
    assert not [command for command in commands() if command[:2] == [b"sleep", b"321"]]
    assert list((mined.folder / "cache" / "staging").iterdir()) == []
    assert list((mined.folder / "tmp").iterdir()) == []


def commands() -> list[list[bytes]]:
    """Return the command line of every process that this one sees."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found.append(place.read_bytes().split(b"\0"))
    return found
