"""The options that every command takes, before its name or after it, and how a command is registered with them."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from casewright.cli.output import noted, printed
from casewright.cli.version import tool_version
from casewright.errors import ExitCode


class Format(StrEnum):
    """How a result is written to standard output."""

    TABLE = "table"
    JSON = "json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Common:
    """The common options as given: ``verbosity`` is -1 with ``-q``, 1 with ``-v``, 2 with ``-vv``."""

    directory: Path
    format: Format
    verbosity: int
    jobs: int | None

    @property
    def json(self) -> bool:
        """Whether the result is wanted as JSON."""
        return self.format is Format.JSON


# One row each: name, annotation, and the value that means "not given".
_DIRECTORY: Final = (
    "directory",
    Annotated[Path | None, typer.Option("-C", metavar="DIR", help="Work in the workspace DIR.", show_default=False)],
    None,
)
_FORMAT: Final = (
    "format",
    Annotated[
        Format | None,
        typer.Option("--format", help="How the result is written (table).", show_default=False),
    ],
    None,
)
_VERBOSE: Final = (
    "verbose",
    Annotated[
        int,
        typer.Option(
            "--verbose", "-v", count=True, metavar="", help="Say more; twice: tracebacks too.", show_default=False
        ),
    ],
    0,
)
_QUIET: Final = ("quiet", Annotated[bool, typer.Option("--quiet", "-q", help="Print the result only.")], False)
_JOBS: Final = (
    "jobs",
    Annotated[
        int | None,
        typer.Option("--jobs", metavar="N", help="Judge N changes at once (one a processor).", show_default=False),
    ],
    None,
)
# What stands before a command's name and has a value after it.
TAKE_A_VALUE: Final = frozenset({"-C", "--format", "--jobs"})
_ALWAYS: Final = (_DIRECTORY, _FORMAT, _VERBOSE, _QUIET)


def _parameters(rows: tuple[tuple[str, Any, Any], ...]) -> list[inspect.Parameter]:
    return [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
        for name, annotation, default in rows
    ]


def _given(values: dict[str, Any], before: dict[str, Any]) -> Common:
    """Put together what was given after the command's name and before it; after wins, ``-v`` adds up."""

    def last(name: str) -> Any:
        after = values.pop(name, None)
        return before.get(name) if after is None else after

    verbose = values.pop("verbose") + before.get("verbose", 0)
    quiet = values.pop("quiet") or before.get("quiet", False)
    return Common(
        directory=last("directory") or Path(),
        format=last("format") or Format.TABLE,
        verbosity=-1 if quiet else verbose,
        jobs=last("jobs"),
    )


def register(app: typer.Typer, name: str, *, jobs: bool = False) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Return a decorator that makes a function the command ``name``: it gets ``Common`` first and returns an exit code.

    The function's other parameters are options and arguments as typer reads them; its docstring is the help.
    """

    def decorate(function: Callable[..., int]) -> Callable[..., int]:
        def invoke(context: typer.Context, **values: Any) -> int:
            common = _given(values, context.obj if isinstance(context.obj, dict) else {})
            if not gc.isenabled():
                gc.freeze()
                gc.enable()
            return function(common, **values)

        signature = inspect.signature(function, eval_str=True)
        own = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for parameter in list(signature.parameters.values())[1:]
        ]
        shared = _parameters((*_ALWAYS, _JOBS) if jobs else _ALWAYS)
        context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
        _shape(invoke, [context, *own, *shared], function.__doc__)
        app.command(name)(invoke)
        return function

    return decorate


def new_app(help_text: str) -> typer.Typer:
    """Return the application without commands; ``help_text`` is what ``casewright --help`` begins with."""
    # Plain help costs half the start-up of the boxed one, and reads the same in a pipe, a log and a narrow terminal.
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)

    def casewright(context: typer.Context, **values: Any) -> int:
        if values.pop("version"):
            printed(tool_version())
            return ExitCode.DONE
        if context.invoked_subcommand is None:
            noted(context.get_help())
            return ExitCode.USAGE
        context.obj = values
        return ExitCode.DONE

    asked = (
        "version",
        Annotated[bool, typer.Option("--version", help="Print the version and stop.", show_default=False)],
        False,
    )
    context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    _shape(casewright, [context, *_parameters((*_ALWAYS, _JOBS, asked))], help_text)
    app.callback(invoke_without_command=True)(casewright)
    return app


def group(app: typer.Typer, name: str, help_text: str) -> typer.Typer:
    """Return a group of commands, added to the application as ``name``."""
    commands = typer.Typer(rich_markup_mode=None)

    def alone(context: typer.Context) -> int:
        if context.invoked_subcommand is None:
            noted(context.get_help())
            return ExitCode.USAGE
        return ExitCode.DONE

    alone.__doc__ = help_text
    commands.callback(invoke_without_command=True)(alone)
    app.add_typer(commands, name=name)
    return commands


def _shape(function: Callable[..., int], parameters: list[inspect.Parameter], doc: str | None) -> None:
    """Give a function the parameters and the help that typer reads: it reads them from signature and docstring."""
    function.__dict__["__signature__"] = inspect.Signature(parameters)
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    function.__doc__ = doc
