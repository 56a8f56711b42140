"""``environment``: which environment a commit would get, why, by which commands; ``--build`` builds it."""

# Each command imports what it works with when it runs: `--help` and `cite` must not wait for it.

from __future__ import annotations

from typing import Annotated

import typer

from casewright.cli.mine_commands import SetupCommand, Source, TestCommand
from casewright.cli.options import Common, register


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    register(app, "environment")(environment)


def environment(
    common: Common,
    source: Source,
    commit: Annotated[str, typer.Option("--commit", metavar="REV", help="The commit, by any name.")] = "HEAD",
    build: Annotated[bool, typer.Option("--build", help="Build it, into the cache, and say how that ended.")] = False,
    test_command: TestCommand = None,
    setup_command: SetupCommand = None,
) -> int:
    """Tell which environment a commit would get, and why; build it if asked to.

    Shows what was chosen by which evidence, what was passed over, and the commands that would set it up and run the
    tests. It is planned for the test files that the commit changes, else for those of its tree. With --build it is
    built as `mine` builds it, in the sandbox with the network, and kept in the cache for `mine` to use; where that
    fails, the step, the package and the telling lines are shown, and what to add to casewright.yaml. Exit code 1 means
    that there is no environment, 3 that the machine or the network kept one from being built.
    """
    from casewright.cli.environment_session import EnvironmentRequest, run_environment

    return run_environment(
        common,
        EnvironmentRequest(
            source=source, commit=commit, build=build, test=test_command or "", setup=setup_command or ""
        ),
    )
