"""The application: every command, from the module of its group; only what a command line needs is imported."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Final

import typer

from casewright.cli.options import TAKE_A_VALUE, new_app

# In the order in which the help lists them.
GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "workspace_commands": ("init", "doctor", "schema", "cache"),
    "mine_commands": ("mine", "add-case", "explain", "funnel"),
    "environment_commands": ("environment",),
    "draft_commands": ("lint", "verify", "review"),
    "case_commands": ("edit", "show"),
    "library_commands": ("cut", "withdraw", "check", "diff", "cite"),
}

OVERVIEW: Final = """Benchmark cases for coding agents, proven from a repository's own history.

A first run, step by step:

\b
  casewright doctor                      what this machine can do
  casewright init bench && cd bench      make a workspace
  casewright mine URL --limit 20         judge the newest changes
  casewright funnel                      what became of each, by reason
  casewright lint                        what keeps a draft unreleased
  casewright show CASE                   look at a whole draft
  casewright edit CASE                   write its task in your editor
  casewright review CASE --by NAME       you have read its task
  casewright cut                         release the drafts as a library
  casewright check releases/FILE.json    prove that a release is whole

Every command explains itself: casewright COMMAND --help.
"""


def application(arguments: Sequence[str] = ()) -> typer.Typer:
    """Return the application; it has the whole group of the command that ``arguments`` name, else all commands."""
    named = command_named(arguments)
    app = new_app(OVERVIEW)
    for module, commands in GROUPS.items():
        if named is None or named in commands:
            import_module(f"casewright.cli.{module}").add_to(app)
    return app


def command_named(arguments: Sequence[str]) -> str | None:
    """Return the command that a command line names, or None where it names none that there is."""
    known = {command for commands in GROUPS.values() for command in commands}
    rest = iter(arguments)
    for argument in rest:
        if argument in TAKE_A_VALUE:
            next(rest, None)
        elif not argument.startswith("-"):
            return argument if argument in known else None
    return None
