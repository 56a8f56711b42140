"""Arguments in, an exit code out; every error is one line on standard error, whatever went wrong."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from casewright.cli import command_line
from casewright.cli.application import GROUPS, application, command_named
from casewright.cli.options import Common, new_app, register
from casewright.errors import DocumentError, ExitCode, InfrastructureError, RefusedError, UsageError, WorkspaceError
from tests.support.command_line import CommandLine, Ran

ROOT = Path(__file__).parents[2]


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> dict[str, BaseException]:
    """A command ``fail`` that raises what the test puts into the mapping."""
    app = new_app("Help.")
    raised: dict[str, BaseException] = {}

    @register(app, "fail")
    def fail(common: Common) -> int:
        """Fail."""
        raise raised["error"]

    @register(app, "other")
    def other(common: Common) -> int:
        """Do nothing."""
        return ExitCode.NO

    monkeypatch.setattr(command_line, "application", lambda _: app)
    return raised


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (UsageError("no such branch 'x'", "see git branch"), 2, "error: no such branch 'x'; see git branch\n"),
        (WorkspaceError("it is locked"), 3, "error: it is locked\n"),
        (InfrastructureError("disk\nfull"), 3, "error: disk full\n"),
        (RefusedError("one draft is not ready"), 1, "error: one draft is not ready\n"),
        (DocumentError(("a.yaml:1:2: x", "a.yaml:3:4: y")), 2, "error: a.yaml:1:2: x\nerror: a.yaml:3:4: y\n"),
        (WorkspaceError("steered \x1b[2J"), 3, "error: steered \\x1b[2J\n"),
    ],
)
def test_an_error_is_its_line_and_its_code(
    cli: CommandLine, failing: dict[str, BaseException], error: Exception, code: int, line: str
) -> None:
    failing["error"] = error
    assert cli("fail") == Ran(code, "", line)


def test_a_bug_is_one_line_that_says_how_to_report_it(cli: CommandLine, failing: dict[str, BaseException]) -> None:
    failing["error"] = ZeroDivisionError("division by zero")
    ran = cli("fail")
    assert ran.code == 70
    assert ran.err.count("\n") == 1
    assert ran.err.startswith("error: ZeroDivisionError: division by zero; this is a bug in casewright: run it again")


@pytest.mark.parametrize("arguments", [("-vv", "fail"), ("fail", "-v", "-v"), ("-v", "fail", "--verbose")])
def test_a_traceback_comes_only_when_asked_for(
    cli: CommandLine, failing: dict[str, BaseException], arguments: tuple[str, ...]
) -> None:
    failing["error"] = WorkspaceError("it is locked")
    ran = cli(*arguments)
    assert ran.code == 3
    assert ran.err.startswith("Traceback")
    assert ran.err.endswith("error: it is locked\n")


def test_an_interrupt_says_that_nothing_is_lost(cli: CommandLine, failing: dict[str, BaseException]) -> None:
    failing["error"] = KeyboardInterrupt()
    ran = cli("fail")
    assert ran.code == 130
    assert "what was reached is kept" in ran.err


def test_a_command_s_answer_is_the_exit_code(cli: CommandLine, failing: dict[str, BaseException]) -> None:
    assert cli("other") == Ran(1)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("lint", "--nope"), "No such option: --nope; `casewright lint --help`"),
        (("explin",), "No such command 'explin'. Did you mean 'explain'"),
        (("lint", "--format", "xml"), "'xml' is not one of 'table', 'json'; `casewright lint --help`"),
        (("doctor", "surplus"), "`casewright doctor --help`"),
    ],
)
def test_wrong_usage_is_one_line_that_names_the_help(cli: CommandLine, arguments: tuple[str, ...], what: str) -> None:
    ran = cli(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert what in ran.err


def test_common_options_are_taken_before_and_after_the_command(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = new_app("Help.")
    seen: list[Common] = []

    @register(app, "look", jobs=True)
    def look(common: Common) -> int:
        """Look."""
        seen.append(common)
        return ExitCode.DONE

    monkeypatch.setattr(command_line, "application", lambda _: app)
    assert cli("-C", "a", "--format", "json", "-v", "--jobs", "3", "look") == Ran(0)
    assert cli("look", "-C", "a", "--format", "json", "-v", "--jobs", "3") == Ran(0)
    after = ("look", "-C", "a", "--format", "json", "-v", "--jobs=3")
    assert cli("-C", "b", "--format", "table", "--jobs", "4", *after) == Ran(0)
    assert seen[0] == seen[1] == seen[2]
    assert (seen[0].directory, seen[0].json, seen[0].verbosity, seen[0].jobs) == (Path("a"), True, 1, 3)
    assert cli("-q", "look").code == 0
    assert seen[3].verbosity == -1


def test_version_is_the_result(cli: CommandLine) -> None:
    ran = cli("--version")
    assert ran.code == 0
    assert re.fullmatch(r"casewright (\d+\.\d+\.\S+|unknown)\n", ran.out)


def test_no_command_is_wrong_usage_and_shows_the_help(cli: CommandLine) -> None:
    ran = cli()
    assert (ran.code, ran.out) == (2, "")
    assert "A first run" in ran.err


def every_command() -> list[str]:
    return [str(command.name) for command in application().registered_commands]


@pytest.mark.parametrize("command", every_command())
def test_every_command_explains_itself_within_80_columns(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ran = cli(command, "--help")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0].startswith(f"Usage: casewright {command} ")
    assert len(lines[2].strip()) > 20
    assert [line for line in lines if len(line) > 80] == []
    # An option whose help is missing is a line with nothing after the name.
    options = ran.out.partition("Options:\n")[2]
    assert re.findall(r"^  (-\S+(?: [A-Z.]+)?)$(?!\n {4})", options, re.MULTILINE) == []


def test_a_terminated_process_ends_as_an_interrupted_one() -> None:
    program = """
import signal, sys, time
from casewright.cli import command_line, main
# A shell without job control starts what runs in the background with interrupts ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
from casewright.cli.options import new_app, register
app = new_app("Help.")
@register(app, "wait")
def wait(common):
    print("ready", flush=True)
    time.sleep(60)
command_line.application = lambda arguments: app
main.run()
"""
    for number in (signal.SIGTERM, signal.SIGINT):
        process = subprocess.Popen(
            [sys.executable, "-c", program, "wait"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        os.kill(process.pid, number)
        _, err = process.communicate()
        assert process.returncode == 130
        assert err.count(b"\n") == 1


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys; from casewright.cli.main import main; main(['--help']);"
        "print([m for m in ('pydantic', 'ruamel', 'sqlite3', 'rich', 'execution', 'miner') if m in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, cwd=ROOT, check=True)
    assert ended.stdout.splitlines()[-1] == b"[]"


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (("check", "mine"), "check"),
        (("-C", "check", "mine", "x"), "mine"),
        (("-v", "--format", "json", "cite"), "cite"),
        (("--format=json", "cache", "list"), "cache"),
        (("nothing-such", "check"), None),
        (("--help",), None),
        (("-C",), None),
        ((), None),
    ],
)
def test_the_command_of_a_command_line_is_found_past_the_common_options(
    arguments: tuple[str, ...], command: str | None
) -> None:
    assert command_named(arguments) == command


def test_the_table_of_groups_is_the_application_s(cli: CommandLine) -> None:
    app = application()
    names = [command.name for command in app.registered_commands] + [group.name for group in app.registered_groups]
    assert sorted(map(str, names)) == sorted(command for commands in GROUPS.values() for command in commands)
