"""How long a change takes when both of its states run at once, against one after the other.

python benchmarks/states.py SOURCE [--limit 4] [--rounds 3] [--processors 2]

Both ways judge the same changes, one at a time, in the same environments, in turns and in one run, so that a busy
machine weighs on both alike. Environments are built before anything is measured. Prints seconds of each way, their
ratio, and whether verdicts, tests, excluded files and counts of runs are the same.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from authoring.candidate import Prepared
from authoring.desk import Desk
from benchmarks.admission import desk_for, prepared_changes
from casewright.store import Store
from miner.admission import Evidence, admit
from miner.ledger import Ledger
from miner.processors import Processors


def judged(change: Prepared, desk: Desk, processors: int) -> tuple[float, Evidence]:
    tools = replace(desk.tools, processors=Processors(processors))
    started = time.monotonic()
    evidence = admit(change.request, tools, lambda stage: None)  # noqa: ARG005 - nobody listens here
    return time.monotonic() - started, evidence


def said(evidence: Evidence) -> tuple[object, ...]:
    """Return all of a verdict that does not tell durations."""
    trial = evidence.trial
    seconds = (trial.runs, trial.limits) if trial else ()
    return (evidence.reason, evidence.detail, evidence.files, evidence.excluded, evidence.lists, seconds)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("source")
    arguments.add_argument("--limit", type=int, default=4)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--processors", type=int, default=2)
    chosen = arguments.parse_args()
    same = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = Store(folder / "cache")
        with (
            desk_for(chosen.source, folder / "workspace", store) as desk,
            Ledger.open(folder / "ledger.db", tool="benchmark") as ledger,
        ):
            for change in prepared_changes(desk, chosen.limit, ledger):
                _, evidence = judged(replace(change, request=replace(change.request, repeat=1)), desk, 1)
                spent: dict[int, list[float]] = {1: [], chosen.processors: []}
                verdicts = set()
                for number in range(chosen.rounds):
                    for processors in sorted(spent, reverse=bool(number % 2)):
                        seconds, evidence = judged(change, desk, processors)
                        spent[processors].append(seconds)
                        verdicts.add(repr(said(evidence)))
                one, both = (statistics.median(spent[processors]) for processors in (1, chosen.processors))
                agreed = len(verdicts) == 1
                same = same and agreed
                print(
                    f"{change.request.head[:10]}  {evidence.reason or 'admitted'}: one after the other {one:.1f} s,"
                    f" at once {both:.1f} s, ratio {both / one:.2f}, same verdict: {agreed}",
                    flush=True,
                )
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
