"""How long a scan takes beside git alone, and beside PyDriller: python benchmarks/scan.py SOURCE [OPTIONS]

One run measures all by turns and prints the ratios: machines differ, ratios of one run hardly do. git alone is
`git log --raw -z --no-abbrev --no-renames` over the same commits, every one that is no merge. Ours is measured with
its start-up: the scan as a function, and with `--command` the whole `casewright mine --all --dry-run`. With
`--pydriller PYTHON --flask SOURCE` (an interpreter that has PyDriller, a second repository) both list the changed paths
of every commit that is no merge.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_PYDRILLER = """
import sys
from pydriller import Repository
count = 0
for commit in Repository(sys.argv[1], only_no_merge=True).traverse_commits():
    count += len({file.new_path or file.old_path for file in commit.modified_files})
print(count)
"""
_COMMAND = "import sys; from casewright.cli.main import run; sys.exit(run())"


def child_scan(source: str) -> None:
    """Scan one repository in this process and print what was found, as the parent reads it."""
    from casewright.repository import open_source  # noqa: PLC0415 - importing is part of what is measured
    from casewright.store import cache_root  # noqa: PLC0415
    from miner.history import Stretch, walk  # noqa: PLC0415
    from miner.path_rules import PathRules  # noqa: PLC0415
    from miner.screen import SizeLimits, screen  # noqa: PLC0415

    rules, limits = PathRules(), SizeLimits()
    reasons: Counter[str] = Counter()
    paths = 0
    with open_source(source, cache_root()) as repository:
        for change in walk(repository, Stretch(all_commits=True)):
            paths += len(change.entries) // 2
            reasons[str(screen(change.entries, rules, limits).reason or "candidate")] += 1
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"changes": reasons.total(), "paths": paths, "peak_kb": peak, "reasons": dict(reasons)}))


def timed(argv: list[str]) -> tuple[float, bytes]:
    """Run a command and return its seconds and its output; what it says beside that is dropped."""
    env = {**os.environ, "PYTHONPATH": str(_ROOT)}
    started = time.perf_counter()
    done = subprocess.run(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started, done.stdout


def git_alone(source: str) -> float:
    """Return the seconds of git with its output thrown away."""
    argv = ["git", "-C", source, "log", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-merges", "HEAD"]
    started = time.perf_counter()
    subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def ours(source: str) -> tuple[float, dict[str, object]]:
    """Return the seconds of our scan as a function, start-up included, and what it found."""
    seconds, output = timed([sys.executable, str(Path(__file__).resolve()), "--child", source])
    found: dict[str, object] = json.loads(output)
    return seconds, found


def command(source: str) -> float:
    """Return the seconds of the whole command, in a folder of its own."""
    with tempfile.TemporaryDirectory() as place:
        timed([sys.executable, "-c", _COMMAND, "-C", place, "init"])
        argv = ["-C", place, "mine", str(Path(source).resolve()), "--all", "--dry-run", "--format", "json"]
        return timed([sys.executable, "-c", _COMMAND, *argv])[0]


def by_turns(rounds: int, *tasks: Callable[[], float]) -> list[float]:
    """Run the tasks by turns and return the median seconds of each."""
    seconds = [[task() for task in tasks] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*seconds, strict=True)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="a local repository with a long history")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--command", action="store_true", help="measure the whole command too")
    parser.add_argument("--pydriller", metavar="PYTHON", help="an interpreter that has PyDriller")
    parser.add_argument("--flask", metavar="SOURCE", help="the repository that PyDriller is measured on")
    chosen = parser.parse_args()
    if chosen.child:
        child_scan(chosen.source)
        return 0

    found = ours(chosen.source)[1]
    tasks: list[Callable[[], float]] = [lambda: git_alone(chosen.source), lambda: ours(chosen.source)[0]]
    if chosen.command:
        tasks.append(lambda: command(chosen.source))
    names = ("git log --raw", "our scan", "casewright mine --dry-run")
    seconds = by_turns(chosen.rounds, *tasks)
    print(f"{found['changes']} changes, {found['paths']} paths, own process {found['peak_kb']} kB, {found['reasons']}")
    for name, value in zip(names, seconds, strict=False):
        print(f"{name:28} {value:8.2f} s   {value / seconds[0]:6.2f} x git")
    if chosen.pydriller and chosen.flask:
        with tempfile.TemporaryDirectory() as place:
            # PyDriller wants a work tree.
            subprocess.run(["git", "clone", "-q", chosen.flask, f"{place}/clone"], check=True)
            theirs = timed([chosen.pydriller, "-c", _PYDRILLER, f"{place}/clone"])[0]
        mine = by_turns(chosen.rounds, lambda: ours(chosen.flask)[0])[0]
        print(f"{'PyDriller':28} {theirs:8.2f} s   {theirs / mine:6.1f} x our scan ({mine:.2f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
