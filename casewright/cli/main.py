"""The way in and out of the command line: arguments in, an exit code out, every error as one line on standard error."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Sequence
from types import FrameType
from typing import Final

import typer

from casewright.cli import draft_commands, library_commands, mine_commands, workspace_commands
from casewright.cli.options import new_app
from casewright.cli.output import OutputClosedError, one_line
from casewright.errors import CasewrightError, DocumentError, ExitCode

# What a shell reports of a program whose reader went away (128 + SIGPIPE).
READER_GONE: Final = 141

OVERVIEW: Final = """Benchmark cases for coding agents, proven from a repository's own history.

A first run, step by step:

\b
  casewright doctor                      what this machine can do
  casewright init bench && cd bench      make a workspace
  casewright mine URL --limit 20         judge the newest changes
  casewright funnel                      what became of each, by reason
  casewright lint                        what keeps a draft unreleased
  casewright cut                         release the drafts as a library
  casewright check releases/FILE.json    prove that a release is whole

Every command explains itself: casewright COMMAND --help.
"""

app = new_app(OVERVIEW)
for group in (workspace_commands, mine_commands, draft_commands, library_commands):
    group.add_to(app)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (without the program's name; default: that of this process) and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = int(app(args=arguments, prog_name="casewright", standalone_mode=False) or ExitCode.DONE)
        sys.stdout.flush()
    except (OutputClosedError, BrokenPipeError):
        _forget_output()
        return READER_GONE
    except SystemExit as end:
        # Typer ends the process itself for shell completion, and when its help can't be written.
        return end.code if isinstance(end.code, int) else ExitCode.DONE
    except (KeyboardInterrupt, typer.Abort):
        code = ExitCode.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - whatever it is, the user gets one line and an exit code
        return _failed(error, arguments)
    if code == ExitCode.INTERRUPTED:
        _complain("interrupted; what was reached is kept, the same command goes on from there")
    return code


def run() -> None:
    """Run as the console script: never returns."""
    # A scheduler that ends us gets the same orderly end as Ctrl-C.
    signal.signal(signal.SIGTERM, _interrupt)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that can't show a character gets its number, not a traceback.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    sys.exit(main())


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature that signal calls
    raise KeyboardInterrupt


def _verbosity(arguments: Sequence[str]) -> int:
    """How often ``-v`` was given; read from the raw arguments, because parsing them may be what failed."""
    count = 0
    for argument in arguments:
        if argument == "--verbose":
            count += 1
        elif argument.startswith("-v") and set(argument[1:]) == {"v"}:
            count += len(argument) - 1
    return count


def _command(arguments: Sequence[str]) -> str:
    known = {command.name for command in app.registered_commands}
    known |= {group.name for group in app.registered_groups}
    return next((f"casewright {argument}" for argument in arguments if argument in known), "casewright")


def _complain(line: str) -> None:
    print(f"error: {line}", file=sys.stderr)  # noqa: T201 - the one place that errors are printed


def _failed(error: Exception, arguments: Sequence[str]) -> int:
    """Say in one line (a document: one for each fault) what went wrong, and return the exit code of it."""
    if isinstance(error, typer.TyperException):
        what = one_line(error.format_message()).rstrip(".")
        _complain(f"{what}; `{_command(arguments)} --help` shows what is possible")
        return ExitCode.USAGE
    traces = _verbosity(arguments) > 1
    if traces:
        traceback.print_exception(error)
    if isinstance(error, DocumentError):
        for fault in (*error.faults, *((error.hint,) if error.hint else ())):
            _complain(one_line(fault))
        return error.exit_code
    if isinstance(error, CasewrightError):
        _complain(one_line(str(error)))
        return error.exit_code
    what = one_line(f"{type(error).__name__}: {error}")
    advice = "report it with the lines above" if traces else "run it again with -vv and report what it prints"
    _complain(f"{what}; this is a bug in casewright: {advice}")
    return ExitCode.BUG


def _forget_output() -> None:
    """Let the interpreter's own flush at exit go nowhere, instead of failing a second time."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(devnull, sys.stdout.fileno())
    finally:
        os.close(devnull)
