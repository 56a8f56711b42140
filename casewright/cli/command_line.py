"""A command line carried out: arguments in, an exit code out, every error as one line on standard error."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Final

import typer

from casewright.cli.application import application, command_named
from casewright.cli.output import OutputClosedError, one_line
from casewright.errors import CasewrightError, DocumentError, ExitCode, machine_error

# What a shell reports of a program whose reader went away (128 + SIGPIPE).
READER_GONE: Final = 141


def execute(argv: Sequence[str] | None = None) -> int:
    """Run one command line (without the program's name; default: that of this process) and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        app = application(arguments)
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


def _verbosity(arguments: Sequence[str]) -> int:
    """How often ``-v`` was given; read from the raw arguments, because parsing them may be what failed."""
    count = 0
    for argument in arguments:
        if argument == "--verbose":
            count += 1
        elif argument.startswith("-v") and set(argument[1:]) == {"v"}:
            count += len(argument) - 1
    return count


def _complain(line: str) -> None:
    print(f"error: {line}", file=sys.stderr)  # noqa: T201 - the one place that errors are printed


def _failed(error: Exception, arguments: Sequence[str]) -> int:
    """Say in one line (a document: one for each fault) what went wrong, and return the exit code of it."""
    if isinstance(error, typer.TyperException):
        what = one_line(error.format_message()).replace(": Value error, ", ": ").rstrip(".")
        command = command_named(arguments)
        name = f"casewright {command}" if command else "casewright"
        _complain(f"{what}; `{name} --help` shows what is possible")
        return ExitCode.USAGE
    traces = _verbosity(arguments) > 1
    if traces:
        traceback.print_exception(error)
    if isinstance(error, OSError):
        error = machine_error(error) or error
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
