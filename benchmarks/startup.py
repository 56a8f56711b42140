"""How long commands take to start, against ``--help`` of a typer application without commands.

The bounds are the project's own: ``--help`` and ``cite`` 1.3 times, ``check`` 1.7 times. Processor time (user and
system) is measured, medians of interleaved rounds, so that a busy machine moves the ratio little. Give a released
library to measure ``check`` and ``cite`` too:

    python benchmarks/startup.py releases/ours-v1.json

Exit code 1 means that a bound is broken.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

ROUNDS = 15
EMPTY = """
import typer
app = typer.Typer()
@app.callback()
def empty() -> None:
    "Nothing."
@app.command()
def nothing() -> None:
    "Nothing."
app()
"""
OURS = "from casewright.cli.main import run; run()"
BOUNDS = {"--help": 1.3, "cite": 1.3, "check": 1.7}


def processor_seconds(program: str, arguments: list[str]) -> float:
    """Return the user and system time of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program, *arguments], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def main(library: str | None) -> int:
    """Measure, print a table, and say whether all bounds hold."""
    commands = {"--help": ["--help"]}
    if library is not None:
        commands |= {"cite": ["cite", library], "check": ["check", library]}
    empty: list[float] = []
    ours: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        empty.append(processor_seconds(EMPTY, ["--help"]))
        for name, arguments in commands.items():
            ours[name].append(processor_seconds(OURS, arguments))
    base = statistics.median(empty)
    print(f"{'an empty typer application --help':36} {base:6.3f} s")
    broken = 0
    for name, seconds in ours.items():
        ratio = statistics.median(seconds) / base
        broken += ratio > BOUNDS[name]
        verdict = "holds" if ratio <= BOUNDS[name] else "BROKEN"
        measured = f"{statistics.median(seconds):6.3f} s  {ratio:4.2f}x (<= {BOUNDS[name]})"
        print(f"{'casewright ' + name:36} {measured} {verdict}")
    return 1 if broken else 0


if __name__ == "__main__":
    os.chdir(Path(__file__).parents[1])
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else None))
