"""casewright in a process of its own: for what can't be tried in the test's, such as signals, mounts and limits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from casewright.store import CACHE_VARIABLE

# The console script's own way in: what ``pip`` writes into it. An interrupt is ignored by whatever a shell without job
# control starts in the background, and by its children: tests that send one would wait for nothing.
_INTERRUPTIBLE = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
COMMAND = (sys.executable, "-c", f"{_INTERRUPTIBLE}; from casewright.cli.main import run; run()")


@dataclass(frozen=True, kw_only=True, slots=True)
class Process:
    """A casewright that was started; standard output and error go to files, so that nobody has to read them."""

    running: subprocess.Popen[bytes]
    folder: Path

    @property
    def out(self) -> str:
        """What it has written to standard output by now."""
        return (self.folder / "out").read_text(encoding="utf-8")

    @property
    def err(self) -> str:
        """What it has written to standard error by now."""
        return (self.folder / "err").read_text(encoding="utf-8")

    @property
    def rows(self) -> list[Any]:
        """Standard output as JSON Lines."""
        return [json.loads(line) for line in self.out.splitlines()]

    def end(self, seconds: float = 300) -> int:
        """Wait for its end and return the exit code."""
        return self.running.wait(seconds)


def start(folder: Path, *arguments: str | Path, cache: Path, before: tuple[str, ...] = ()) -> Process:
    """Start casewright with its streams in ``folder`` (made if need be); ``before`` stands before the command."""
    folder.mkdir(parents=True, exist_ok=True)
    words = (*before, *COMMAND, *(str(argument) for argument in arguments))
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        running = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=_environment(folder, cache)
        )
    return Process(running=running, folder=folder)


def _environment(folder: Path, cache: Path) -> Mapping[str, str]:
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    return {**os.environ, CACHE_VARIABLE: str(cache), "TMPDIR": str(temporary)}
