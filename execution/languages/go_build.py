"""A Go environment: the modules that the head asks for, and what they and Go's library compile to."""

from __future__ import annotations

from typing import Final

from execution.languages.base import Builder, BuildStep, Refusal
from execution.languages.go_command import compile_ahead, download, list_modules, setup_commands, take_files
from execution.languages.go_failure import refusal
from execution.languages.go_runtime import runtime_mounts
from execution.recipe import Environment, Recipe
from execution.sandbox import Ended, SandboxOutcome

_SECONDS: Final = 900
# What is compiled is a cache: a step that is cut short leaves less of it and nothing wrong.
_COMPILE_SECONDS: Final = 1800


def build_environment(recipe: Recipe, builder: Builder) -> Environment | Refusal:
    """Build what the recipe says. Raises ``InfrastructureError`` when the network or the disk failed."""
    for command in (take_files(recipe, "cat "), download(recipe)):
        if not command:
            continue
        outcome = _run(recipe, builder, command, network=True)
        if outcome.ended is not Ended.EXITED or outcome.exit_code != 0:
            return refusal(f"`{_shown(command)}`", outcome)
    outcome = _run(recipe, builder, list_modules(recipe), network=False)
    if outcome.ended is not Ended.EXITED or outcome.exit_code != 0:
        return refusal("`go list`", outcome)
    _run(recipe, builder, compile_ahead(recipe), network=False, seconds=_COMPILE_SECONDS)
    listed = (builder.folder / "env" / "modules.txt").read_text(encoding="utf-8")
    # A run copies it link by link, so it has to be there even where nothing was compiled.
    (builder.folder / "env" / "build").mkdir(exist_ok=True)
    return Environment(
        folder=builder.folder,
        era=recipe.era(),
        runtime=recipe.runtime,
        setup=setup_commands(recipe),
        dependencies=tuple(sorted(set(listed.split()))),
        runner_version=recipe.runtime.version,
    )


def _run(recipe: Recipe, builder: Builder, command: str, *, network: bool, seconds: int = _SECONDS) -> SandboxOutcome:
    step = BuildStep(command=command, network=network, mounts=runtime_mounts(recipe.runtime), seconds=seconds)
    return builder.run(step)


def _shown(command: str) -> str:
    """Return the part of a command that people would type."""
    return "go mod download" if "go mod download" in command else command
