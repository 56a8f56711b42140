"""Ctrl-C and kill -9 while sandboxes run: nothing is lost, nothing is left, and the same command goes on from there."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import signal
import socket
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from authoring.draft import load_drafts
from casewright.workspace import Workspace
from tests.support.own_process import Process, start
from tests.support.repos import RepoBuilder
from tests.support.sandbox import needs_sandbox

pytestmark = needs_sandbox

CONFIGURATION = """\
schema: casewright.workspace/v1
library: {id: odd, title: Odd suites}
defaults: {repeat: 1, limits: {seconds: 60}}
"""
WRONG = "def value():\n    return 1\n"
TEST = """\
import subprocess, unittest
import {module}

class {name}(unittest.TestCase):
    def test_value(self):
        {body}
        self.assertEqual({module}.value(), 2)
"""
# Nobody waits for these: a test that has to would hang. The process number keeps test runs apart.
FOREVER = f"{100_000 + os.getpid()}"
SHORT = f"2.{os.getpid()}"
PATIENCE_SECONDS = 120.0


class Bench:
    """A history whose newest change is proved at once and whose older one sleeps, and a workspace to mine it in."""

    def __init__(self, folder: Path, sleep: str, cache: Path) -> None:
        self.folder = folder
        self.cache = cache
        self.workspace = Workspace(root=folder / "bench")
        self.workspace.cases.mkdir(parents=True)
        self.workspace.configuration_path.write_text(CONFIGURATION, encoding="utf-8")
        self.repo = RepoBuilder(folder / "repo")
        self.repo.commit("Begin", {"slow.py": WRONG, "quick.py": WRONG})
        self.sleep = sleep
        self.slow = self._fix("slow", "Take the time that it takes", f"subprocess.run(['sleep', '{sleep}'])")
        self.quick = self._fix("quick", "Be quick about the value", "pass")
        self._runs = 0

    def _fix(self, module: str, subject: str, body: str) -> str:
        test = TEST.format(module=module, name=module.title(), body=body)
        return self.repo.commit(subject, {f"{module}.py": WRONG.replace("1", "2"), f"tests/test_{module}.py": test})

    def mine(self, *options: str) -> Process:
        """Start mining."""
        self._runs += 1
        return start(
            self.folder / f"run-{self._runs}",
            *("-C", self.workspace.root, "mine", self.repo.path, "--jobs", "1"),
            *options,
            cache=self.cache,
        )

    def rows(self) -> list[tuple[str, str]]:
        """Return head and standing of each judged attempt that the ledger holds."""
        if not self.workspace.ledger.exists():
            return []
        with contextlib.closing(sqlite3.connect(self.workspace.ledger)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            found = connection.execute("SELECT lower(hex(head)), standing FROM attempts WHERE record IS NOT NULL")
            return [(head, standing) for head, standing in found]

    def sleepers(self) -> list[int]:
        """Return the processes that the slow test has started."""
        found = []
        for place in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if place.read_bytes() == f"sleep\0{self.sleep}\0".encode():
                    found.append(int(place.parent.name))
        return found

    def left(self) -> list[Path]:
        """Return what lies where nothing may be after the end of a run."""
        folders = (self.cache / "staging", *self.folder.glob("run-*/tmp"))
        return [path for folder in folders for path in folder.iterdir()] + list(self.workspace.root.rglob("*.tmp"))


def wait_until(holds: Callable[[], object], process: Process | None = None) -> None:
    """Wait until something holds, as long as the process runs that it is expected of."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert process is None or process.running.poll() is None, process.err
        assert time.monotonic() < until
        time.sleep(0.02)


def mounts() -> int:
    return len(Path("/proc/self/mountinfo").read_bytes().splitlines())


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache for all tests here: they build the same environment, which costs most of their time."""
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_what_runs_and_keeps_what_was_reached(
    tmp_path: Path, cache: Path, number: signal.Signals
) -> None:
    bench = Bench(tmp_path, FOREVER, cache)
    process = bench.mine("-q")
    wait_until(bench.sleepers, process)
    second = bench.mine("-q")
    assert second.end() == 3
    assert second.out == ""
    assert f"another casewright (process {process.running.pid}) is working in" in second.err
    assert second.err.count("\n") == 1

    process.running.send_signal(number)
    assert process.end(PATIENCE_SECONDS) == 130
    assert process.err == "error: interrupted; what was reached is kept, the same command goes on from there\n"
    assert bench.sleepers() == []
    assert bench.left() == []
    assert bench.rows() == [(bench.quick, "admitted")]
    (draft,) = load_drafts(bench.workspace)
    assert draft.case.grading_commit == bench.quick


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_the_same_command_goes_on_from_there(tmp_path: Path, cache: Path, number: signal.Signals) -> None:
    bench = Bench(tmp_path, SHORT, cache)
    before = mounts()
    process = bench.mine()
    wait_until(bench.sleepers, process)
    process.running.send_signal(number)
    assert process.end(PATIENCE_SECONDS) in {130, -signal.SIGKILL}
    wait_until(lambda: not bench.sleepers())
    assert bench.rows() == [(bench.quick, "admitted")]
    # Such a file is there for a moment when a draft is written.
    half = bench.workspace.cases / f".x.yaml.{process.running.pid}-0123456789abcdef.tmp"
    half.write_bytes(b"schema: casewr")

    again = bench.mine()
    assert again.end() == 0, again.err
    assert bench.rows() == [(bench.quick, "admitted"), (bench.slow, "admitted")]
    assert {draft.case.grading_commit for draft in load_drafts(bench.workspace)} == {bench.quick, bench.slow}
    assert len(list(bench.workspace.cases.iterdir())) == 2
    assert [path for path in bench.left() if process.folder not in path.parents] == []
    assert mounts() == before


def test_an_interrupted_set_up_leaves_no_environment(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FOREVER, tmp_path / "cache")
    process = bench.mine("-q")
    wait_until(lambda: list(bench.cache.glob("staging/*/env/*")), process)
    process.running.send_signal(signal.SIGINT)
    assert process.end(PATIENCE_SECONDS) == 130
    assert list((bench.cache / "environments").iterdir()) == []
    assert bench.left() == []
    assert bench.rows() == []


def test_who_waits_for_another_process_can_be_interrupted(tmp_path: Path, cache: Path) -> None:
    bench = Bench(tmp_path, FOREVER, cache)
    assert bench.mine("-q", "--limit", "1").end() == 0
    (lock,) = bench.cache.glob("locks/environments-*")
    with lock.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        process = bench.mine("-q")
        # Linux marks who waits for a lock by an arrow.
        wait_until(lambda: re.search(rf"->.* {process.running.pid} ", Path("/proc/locks").read_text()), process)
        process.running.send_signal(signal.SIGINT)
        assert process.end(PATIENCE_SECONDS) == 130
    assert process.err.startswith("error: interrupted")
    assert process.err.count("\n") == 1


def test_a_killed_clone_leaves_no_git_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    bench = Bench(tmp_path, FOREVER, tmp_path / "cache")
    # A server that takes the question and never answers.
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}/o/box.git"
        process = start(tmp_path / "run-clone", "-C", bench.workspace.root, "mine", address, "-q", cache=bench.cache)
        connection, _ = server.accept()
        with connection:
            assert list((bench.cache / "staging").iterdir())
            clone, *helpers = children(process.running.pid)
            process.running.kill()
            process.end()
            # The git that writes is gone at once, its helper as soon as the server lets go of it.
            wait_until(lambda: not Path(f"/proc/{clone}").exists())
        wait_until(lambda: not [pid for pid in helpers if Path(f"/proc/{pid}").exists()])
    again = bench.mine("-q", "--dry-run")
    assert again.end() == 0, again.err
    assert bench.left() == []
    assert list((bench.cache / "clones").iterdir()) == []


def children(parent: int) -> list[int]:
    """Return the processes that one has started, and those that these have started."""
    found: list[int] = []
    for task in Path(f"/proc/{parent}/task").glob("*/children"):
        for pid in task.read_text(encoding="ascii").split():
            found += [int(pid), *children(int(pid))]
    return found
