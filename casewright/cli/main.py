"""The way in: the console script, and the same as a function.

Nothing of the application is imported before ``run`` says how: what start-up makes is no garbage, and looking for some
in it would take a tenth of the time that ``check`` takes.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Final

# ``casewright.errors.ExitCode.INTERRUPTED``, needed also when nothing could be imported yet.
INTERRUPTED: Final = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (without the program's name; default: that of this process) and return its exit code."""
    from casewright.cli.command_line import execute

    return execute(argv)


def run() -> None:
    """Run as the console script: never returns."""
    # The command itself runs with the collector on (``casewright.cli.options``).
    gc.disable()
    # A scheduler that ends us gets the same orderly end as Ctrl-C.
    signal.signal(signal.SIGTERM, _interrupt)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that can't show a character gets its number, not a traceback.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    try:
        code = main()
        sys.stdout.flush()
    except KeyboardInterrupt:
        # Before the command began, or while the first interrupt was being told of.
        sys.stderr.write("error: interrupted\n")
        code = INTERRUPTED
    if code == INTERRUPTED:
        sys.stderr.flush()
        # Not sys.exit, which waits for threads: one that waits for another process can't be asked to end. What it
        # leaves behind is swept by the next run, like that of a killed process.
        os._exit(code)
    sys.exit(code)


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature that signal calls
    raise KeyboardInterrupt
