"""A command that a person works in, such as an editor: it has the terminal, and Ctrl-C is its own while it runs."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from casewright.errors import InfrastructureError

_STANDARD_ERROR: Final = 2


def run_attended(command: str, file: Path, folder: Path) -> int:
    """Run a command of the user's by ``sh`` with a file as its last argument, in ``folder``; return its exit code.

    The command may have arguments of its own (``code --wait``), as git allows it. -N, or 128 + N from the shell, means
    that signal N ended it. Raises ``InfrastructureError`` when there is no shell.
    """
    # Our standard output is a result that somebody may be reading in a pipe: what an editor says there is none of it.
    output = None if sys.stdout.isatty() else _STANDARD_ERROR
    try:
        process = subprocess.Popen(["sh", "-c", f'{command} "$@"', command, str(file)], cwd=folder, stdout=output)
    except OSError as error:
        raise InfrastructureError(f"sh can't be run: {error.strerror or error}") from error
    with process, _interrupts_are_theirs():
        return process.wait()


@contextmanager
def _interrupts_are_theirs() -> Iterator[None]:
    """Leave Ctrl-C and Ctrl-\\ to the command: an editor means something else by them than the end of its work."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
