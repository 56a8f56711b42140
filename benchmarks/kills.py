"""Whether `kill -9` loses or spoils anything: python benchmarks/kills.py [--kills N] [--seed N]

A small generated history (proved, refused and flaky changes; the suites are plain unittest, so nothing is downloaded)
is mined once undisturbed. Then it is mined again from nothing, killed at random moments and started with the same
command until it is done, as many rounds as it takes for all kills. Each round must end with what the undisturbed run
has: one final row for each change with the same outcome, reason and test lists, nothing judged again once its verdict
was kept, and drafts that are equal apart from dates, durations and summary lines. After each kill no process may be
left, after each round no mount, no staging folder, no temporary file. Exit code 1 tells of a difference.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from authoring.case import to_plain
from authoring.draft import parse_draft
from miner.judgement import Judgement, Standing
from miner.ledger import Ledger

_COMMAND = "from casewright.cli.main import run; run()"
_OPTIONS = ("--repeat", "2", "--jobs", "2", "-q")
_PR_SET_CHILD_SUBREAPER = 36
_SETTLE_SECONDS = 10.0
# So many kills at most before a round is let come to its end.
_A_ROUND = 6
_FIRST_TIME = 1_600_000_000

_TEST = """\
import time, unittest
import {module}

class {name}(unittest.TestCase):
    def test_{module}(self):
        {body}

    def test_that_it_is_there(self):
        self.assertTrue({module}.__doc__ is None)
"""


_WRONG = "def value():\n    return 1\n"
_RIGHT = "def value():\n    return 2\n"
# Each change makes a module right: its name, the commit's subject, and what the module's test says.
CHANGES: tuple[tuple[str, str, str], ...] = (
    ("area", "Return the area of two sides", "self.assertEqual(area.value(), 2)"),
    ("edge", "Count the last edge of a shape too", "self.assertEqual(edge.value(), 2)"),
    # Every repeat after the first runs in another time zone.
    ("clock", "Read the clock in the right zone", "self.assertEqual((clock.value(), time.timezone), (2, 0))"),
    ("noop", "Name the result for what it is", "self.assertTrue(noop.value())"),
    ("wrong", "Promise more than is kept", "self.assertEqual(wrong.value(), 3)"),
    ("slow", "Take the time that it takes", "time.sleep(1); self.assertEqual(slow.value(), 2)"),
    ("quiet", "x", "self.assertEqual(quiet.value(), 2)"),
    ("shape", "Know every shape by its name", "self.assertEqual(shape.value(), 2)"),
)


def build_history(folder: Path) -> None:
    """Write the history that is mined into a new folder: eight candidates, and two changes that no screen passes."""
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    env |= {f"GIT_{who}_{what}": "dev@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

    def git(*arguments: str, at: int = 0) -> None:
        date = f"@{_FIRST_TIME + 3600 * at} +0000"
        dated = {**env, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        subprocess.run(("git", *arguments), cwd=folder, env=dated, check=True, capture_output=True)

    def commit(number: int, subject: str, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        git("add", "-A", at=number)
        git("commit", "-q", "-m", subject, at=number)

    folder.mkdir()
    git("init", "-q", "-b", "main", "--template=", ".")
    commit(0, "Begin", {f"{module}.py": _WRONG for module, _, _ in CHANGES})
    for number, (module, subject, body) in enumerate(CHANGES, start=1):
        test = _TEST.format(module=module, name=module.title(), body=body)
        commit(number, subject, {f"{module}.py": _RIGHT, f"tests/test_{module}.py": test})
    commit(len(CHANGES) + 1, "Describe it", {"README.md": "Values.\n"})
    commit(len(CHANGES) + 2, "Describe it better", {"README.md": "Good values.\n"})


@dataclass(frozen=True, kw_only=True)
class Place:
    """Everything that one mining touches: a workspace, a cache and a folder for temporary files, all its own."""

    root: Path

    @property
    def workspace(self) -> Path:
        """Where the drafts and the ledger are."""
        return self.root / "workspace"

    @property
    def env(self) -> Mapping[str, str]:
        """The environment of a run."""
        return {**os.environ, "CASEWRIGHT_CACHE_DIR": str(self.root / "cache"), "TMPDIR": str(self.root / "tmp")}


@dataclass(kw_only=True)
class Figures:
    """What happened over all rounds."""

    rounds: int = 0
    kills: int = 0
    starts: int = 0
    kept: list[int] = field(default_factory=list)
    lingered: float = 0.0
    faults: list[str] = field(default_factory=list)


def start(place: Place, *arguments: str) -> subprocess.Popen[bytes]:
    """Start casewright in a place; what it prints goes to a file beside the workspace."""
    with (place.root / "output").open("ab") as output:
        return subprocess.Popen(
            (sys.executable, "-c", _COMMAND, *arguments), env=dict(place.env), stdout=output, stderr=output
        )


def fresh(root: Path) -> Place:
    """Make a new place with an empty workspace."""
    place = Place(root=root)
    (root / "tmp").mkdir(parents=True)
    done = start(place, "init", str(place.workspace)).wait()
    if done:
        raise SystemExit(f"casewright init ended with {done}")
    return place


def mining(place: Place, history: Path) -> subprocess.Popen[bytes]:
    """Start mining; always the same command."""
    return start(place, "-C", str(place.workspace), "mine", str(history), *_OPTIONS)


def orphans() -> Iterator[str]:
    """Yield the processes that a killed casewright left: as their subreaper we have inherited them."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")
            if rest.split()[0] != "Z" and int(rest.split()[1]) == os.getpid():
                yield f"{name.partition('(')[2]} ({stat.parent.name})"
        except (FileNotFoundError, ProcessLookupError):
            continue


def settle() -> tuple[float, tuple[str, ...]]:
    """Wait for all orphans to end; return how long it took, in seconds, and those that did not."""
    begun = time.monotonic()
    while time.monotonic() - begun < _SETTLE_SECONDS:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return time.monotonic() - begun, ()
        time.sleep(0.02)
    return time.monotonic() - begun, tuple(orphans())


def facts(place: Place) -> dict[str, Any]:
    """Return what a round is compared by: for each change what the ledger says of it at last, and each draft."""
    found: dict[str, Any] = {}
    with Ledger.open_to_read(place.workspace / ".casewright" / "ledger.db") or _nothing() as ledger:
        for judgement in ledger.latest():
            found[judgement.head] = _verdict(judgement)
    for path in sorted((place.workspace / "cases").iterdir()):
        plain = to_plain(parse_draft(path.read_bytes(), path.name))
        for state in (plain["verification"], plain["verification"]["base"], plain["verification"]["head"]):
            for key in ("date", "seconds", "summary", "record_digest"):
                state.pop(key, None)
        found[path.name] = plain
    return found


def _nothing() -> Ledger:
    raise SystemExit("there is no ledger after a run that ended well")


def _verdict(judgement: Judgement) -> tuple[object, ...]:
    return (
        judgement.subject, judgement.standing, judgement.reason, judgement.case, judgement.graded_files,
        judgement.fail_to_pass, judgement.pass_to_pass, judgement.fails_by,
    )  # fmt: skip


def verdicts_kept(place: Place) -> dict[tuple[bytes, bytes], int]:
    """Return how many verdicts (not: attempts that the machine spoilt) the ledger holds for each judged change."""
    path = place.workspace / ".casewright" / "ledger.db"
    if not path.exists():
        return {}
    with sqlite3.connect(path) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'attempts'").fetchone():
            return {}
        rows = connection.execute(
            "SELECT base, head, count(*) FROM attempts WHERE record IS NOT NULL AND standing IN (?, ?) GROUP BY 1, 2",
            (Standing.ADMITTED.value, Standing.REJECTED.value),
        ).fetchall()
    connection.close()
    return {(base, head): count for base, head, count in rows}


def leftovers(place: Place, mounts_before: int) -> Iterator[str]:
    """Yield what a finished run has left where nothing may be."""
    for folder in (place.root / "cache" / "staging", place.root / "tmp"):
        yield from (str(path) for path in folder.iterdir())
    yield from (str(path) for path in place.workspace.rglob("*.tmp"))
    mounts = mount_count()
    if mounts != mounts_before:
        yield f"{mounts - mounts_before} mounts"


def mount_count() -> int:
    """Return how many mounts this process sees."""
    return len(Path("/proc/self/mountinfo").read_bytes().splitlines())


def disturbed(place: Place, history: Path, kills: int, longest: float, moments: random.Random, told: Figures) -> None:
    """Mine with up to ``kills`` kills, each within ``longest`` seconds of a start, until a run ends by itself."""
    kept_before: dict[tuple[bytes, bytes], int] = {}
    killed = 0
    while True:
        process = mining(place, history)
        told.starts += 1
        try:
            code = process.wait(moments.uniform(0, longest) if killed < kills else None)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += 1
            told.kills += 1
            code = None
        lingered, left = settle()
        told.lingered = max(told.lingered, lingered)
        told.faults += [f"a process is left {_SETTLE_SECONDS:.0f} s after the end: {name}" for name in left]
        kept = verdicts_kept(place)
        told.kept.append(len(kept))
        told.faults += [f"a verdict is gone: {head.hex()}" for _, head in kept_before.keys() - kept.keys()]
        twice = {head: count for (_, head), count in kept.items() if count > 1}
        told.faults += [f"judged again: {head.hex()} ({count} verdicts)" for head, count in twice.items()]
        kept_before = kept
        if code is not None:
            if code:
                told.faults.append(f"a run ended with {code}")
            return


def differences(undisturbed: Mapping[str, Any], round_facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each change or draft in which a round differs from the undisturbed run."""
    for key in sorted(undisturbed.keys() | round_facts.keys()):
        if undisturbed.get(key) != round_facts.get(key):
            yield f"{key}: undisturbed {undisturbed.get(key)}, disturbed {round_facts.get(key)}"


def main() -> int:
    """Run it and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    # Not random: the figures of a seed can be had again, as far as the machine's pace allows.
    moments = random.Random(options.seed)  # noqa: S311
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    told = Figures()
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        root = Path(folder)
        history = root / "values"
        build_history(history)
        calm = fresh(root / "calm")
        begun = time.monotonic()
        code = mining(calm, history).wait()
        took = time.monotonic() - begun
        expected = facts(calm)
        print(f"undisturbed: exit code {code}, {took:.1f} s")
        for verdict in expected.values():
            if isinstance(verdict, tuple):
                print(f"  {verdict[1]:10} {verdict[2] or '':18} {verdict[0]}")
        mounts = mount_count()
        while told.kills < options.kills:
            told.rounds += 1
            place = fresh(root / f"round-{told.rounds}")
            if told.rounds % 2 == 0:
                # With an environment at hand, so that it is not mostly the set-up that is hit.
                shutil.copytree(calm.root / "cache", place.root / "cache", symlinks=True)
            # Half: some kills come early, some late, and some runs end before theirs comes.
            disturbed(place, history, min(_A_ROUND, options.kills - told.kills), took / 2, moments, told)
            told.faults += differences(expected, facts(place))
            told.faults += [f"left behind: {what}" for what in leftovers(place, mounts)]
    print(f"kills {told.kills}, rounds {told.rounds}, starts {told.starts}, seed {options.seed}")
    print(f"verdicts in the ledger after each start: {' '.join(str(count) for count in told.kept)}")
    print(f"longest life of a process after its casewright: {told.lingered:.2f} s")
    print("\n".join(told.faults) or "no difference, nothing judged twice, nothing left behind")
    return 1 if told.faults or code else 0


if __name__ == "__main__":
    raise SystemExit(main())
