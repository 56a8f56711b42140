"""Commands of the user's own: any language, set up and tested as the user says, judged by a report or the exit code.

This module is an instance of ``execution.languages.base.Language``. It takes a change only where a test command was
given (``--test-cmd``, or ``check`` in ``casewright.yaml``); the graded files are the test files of the change by name.
In the command ``{files}`` stands for them and ``{report}`` for the place of a report in JUnit XML or TAP. Set-up
commands run with the network in the tree; what they leave in the tree or in ``../env`` is what the tests find.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from pathlib import Path

from casewright.errors import UsageError
from execution.languages import generic_setup
from execution.languages.base import Builder, Check, PlanRequest, Refusal, TreeReader
from execution.languages.generic_command import REPORT_FILE, filled, observed, wants_report
from execution.languages.generic_inputs import borrowed_files, inputs
from execution.languages.generic_report import read_report
from execution.observation import ReportReading
from execution.package_plan import PackagePlan
from execution.recipe import Environment, Recipe, Runtime, Why, why_of
from execution.sandbox import ENVIRONMENT_DIR, Mount, SandboxOutcome

name = "generic"

# What a case of ours names as its runner, whatever language its files are in.
RUNNER = "own-command"


def graded_files(candidates: tuple[str, ...], head: TreeReader) -> tuple[str, ...]:  # noqa: ARG001 - the contract
    """Return all candidates, sorted by bytes: the user's command is trusted to run what it is given."""
    return tuple(sorted(candidates, key=lambda path: path.encode("utf-8", "surrogateescape")))


def plan(request: PlanRequest) -> Recipe | Refusal:
    """Plan the user's own commands. The runtime is this system; the era is set-up and the root's manifests.

    Nothing is pinned to a date (``date`` is 0): what a command of the user's fetches is for the user to pin.
    """
    runtime = _system()
    if runtime is None:
        return Refusal(code="runtime-unavailable", detail="this system has no os-release file that says what it is")
    commands = tuple(line for line in request.overrides.get("setup", "").splitlines() if line.strip())
    command = request.overrides.get("test", "")
    needed = inputs(request.head, commands)
    reasons = (
        why_of("system", f"{runtime.name} {runtime.version}, this machine's own"),
        Why(about="test command", chosen=command, because="as given"),
        Why(
            about="set-up",
            chosen=f"{len(commands)} commands" if commands else "none",
            because="as given" if commands else "since no command was given",
        ),
    )
    return Recipe(
        language=name,
        runtime=runtime,
        runner=RUNNER,
        date=0,
        inputs=needed,
        settings=(
            ("test", command),
            ("setup", json.dumps(commands)),
            ("borrowed", json.dumps(borrowed_files(needed, inputs(request.base, commands)), sort_keys=True)),
            ("head_commit", request.head_commit),
        ),
        why=tuple(reason.sentence for reason in reasons),
        reasons=reasons,
    )


def build(recipe: Recipe, builder: Builder) -> Environment | Refusal:
    """Run the set-up commands on the head's tree and keep what they made; see ``generic_setup``.

    Raises ``InfrastructureError`` when the network or the disk failed.
    """
    return generic_setup.build(recipe, builder)


def setup(recipe: Recipe, environment: Environment) -> tuple[str, ...]:
    """Return the set-up of one change: the user's commands, on the head's manifests where the base's differ."""
    return generic_setup.setup_commands(recipe, environment.setup)


def failed_set_up(step: str, outcome: SandboxOutcome) -> str:
    """Return why a recorded command of a set-up failed; raises as ``generic_setup.failure`` does."""
    return generic_setup.failure(step, outcome).detail


def packages(setup: tuple[str, ...], base: str) -> PackagePlan:  # noqa: ARG001 - the contract's signature
    """Return that nothing is needed where there is no set-up. Raises ``UsageError`` for commands of the user's own."""
    if setup:
        raise UsageError(
            "the set-up is made of the user's own commands, and nobody can tell what those download",
            "only cases whose set-up was found by rules have a folder of packages",
        )
    return PackagePlan(decided_by=(), filling=(), variables={})


def mounts(environment: Environment) -> tuple[Mount, ...]:
    """Return the environment, read-only: the system's own commands are there in any case."""
    return (Mount(source=environment.folder / "env", target=ENVIRONMENT_DIR),)


def find_runtime(version: str) -> Runtime | None:
    """Return this system if it is of exactly this version, or None."""
    found = _system()
    return found if found is not None and found.version == version else None


# It is looked for on this machine alone.
runtime_at_hand = find_runtime


def runtime_mounts(runtime: Runtime) -> tuple[Mount, ...]:  # noqa: ARG001 - the contract's signature
    """Return nothing: the system is visible inside already."""
    return ()


def env(environment: Environment, variation: Mapping[str, str]) -> Mapping[str, str]:  # noqa: ARG001 - the contract
    """Return a stranger's clean shell. The hash seed is varied for whatever Python the commands start."""
    variables = {"LC_ALL": "C.UTF-8"}
    if "hash_seed" in variation:
        variables["PYTHONHASHSEED"] = variation["hash_seed"]
    if "time_zone" in variation:
        variables["TZ"] = variation["time_zone"]
    return variables


def check(recipe: Recipe, files: tuple[str, ...]) -> Check:
    """Return the user's command over graded files, in the order given."""
    template = recipe.setting("test")
    command = filled(template, files)
    return Check(
        command=command,
        report_file=REPORT_FILE if wants_report(template) else "",
        report_format="",
        observed=observed(command, with_report=wants_report(template)),
    )


def recorded_check(runner: str, command: str) -> Check:  # noqa: ARG001 - the contract's signature
    """Return the check that a recorded command stands for."""
    return Check(
        command=command, report_file=REPORT_FILE if REPORT_FILE in command else "", report_format="", observed=()
    )


def read(report: bytes, exit_code: int, files: tuple[str, ...], output: bytes) -> ReportReading:  # noqa: ARG001
    """Read the report that the command wrote; its first bytes tell the format."""
    return read_report(report, exit_code, files)


def read_recorded(check: Check, report: bytes, output: bytes) -> ReportReading:  # noqa: ARG001 - the contract
    """Read the report that the recorded command left; no test is attributed to a file."""
    return read_report(report, None, ())


def _system() -> Runtime | None:
    """Return this system by the names of its os-release file; a rolling release has no number and says so."""
    try:
        facts = platform.freedesktop_os_release()
    except OSError:
        return None
    version = facts.get("VERSION_ID") or facts.get("BUILD_ID") or "rolling"
    return Runtime(name=facts["ID"], version=version, executable=Path("/bin/sh"), prefix=Path("/usr"))
