"""What eras save: python benchmarks/eras.py SOURCE [--changes 200] [--jobs 2]

Takes the newest candidate changes of a history, plans the environment of each as `mine` does, and builds every
environment once, from an empty cache. Prints how many changes share one, what a build takes, and the disk it fills.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from admission import desk_for

from authoring.candidate import Prepared, prepare
from authoring.desk import Desk
from casewright.store import Store, tree_size
from execution.build import environment_key
from execution.recipe import Environment
from miner.environment import build_environment
from miner.history import Stretch
from miner.judgement import Judgement
from miner.ledger import Ledger
from miner.scan import scan


def planned(desk: Desk, limit: int, date: Callable[..., int]) -> tuple[list[Prepared], Counter[str]]:
    """Return the newest candidates with a recipe, and the reasons of those that have none, ``limit`` in all."""
    ready: list[Prepared] = []
    refused: Counter[str] = Counter()
    for found in scan(desk.tools.repository, Stretch(), desk.rules, desk.size_limits):
        if found.screened.reason is None:
            outcome = prepare(found.change, desk, date)
            if isinstance(outcome, Judgement):
                refused[str(outcome.reason)] += 1
            else:
                ready.append(outcome)
        if len(ready) + refused.total() == limit:
            break
    return ready, refused


def main() -> int:
    """Plan, build, print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("source")
    arguments.add_argument("--changes", type=int, default=200)
    arguments.add_argument("--jobs", type=int, default=2)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = Store(folder / "cache")
        with (
            desk_for(chosen.source, folder / "workspace", store) as desk,
            Ledger.open(folder / "ledger.db", tool="benchmark") as ledger,
        ):
            started = time.monotonic()
            changes, refused = planned(desk, chosen.changes, ledger.era_date)
            spent = time.monotonic() - started
            total = len(changes) + refused.total()
            print(f"{total} candidates, planned in {spent:.1f} s; without a recipe: {dict(refused)}")
            shared = Counter(environment_key(change.request.recipe) for change in changes)
            print(
                f"{len(shared)} environments for {len(changes)} changes: each serves {len(changes) / len(shared):.1f}"
            )
            first = {environment_key(change.request.recipe): change for change in reversed(changes)}
            with ThreadPoolExecutor(chosen.jobs) as pool:
                ended = list(
                    pool.map(
                        lambda one: build_environment(one.request.recipe, one.request.head, desk.tools), first.values()
                    )
                )
            built = [one.ended for one in ended if isinstance(one.ended, Environment)]
            print(f"built {len(built)}, refused {len(ended) - len(built)}")
            seconds = [one.build_milliseconds / 1000 for one in built]
            disk = [tree_size(one.folder) / 1e6 for one in built]
            print(f"a build: median {statistics.median(seconds):.1f} s, largest {max(seconds):.1f} s")
            print(f"its disk: median {statistics.median(disk):.0f} MB, largest {max(disk):.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
