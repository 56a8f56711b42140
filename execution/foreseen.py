"""What a build of a recipe would run, for people who want to know it before it runs. Pure."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from typing import Final

from execution.languages import go_command, python_foreseen
from execution.languages.javascript_installer import dated
from execution.recipe import Recipe


def _javascript(recipe: Recipe) -> tuple[str, ...]:
    command = dated(recipe.setting("install"), recipe.date)
    folder = recipe.setting("install_directory", ".")
    if not command:
        return ()
    return (command if folder == "." else f"(cd {shlex.quote(folder)} && {command})",)


def _own_commands(recipe: Recipe) -> tuple[str, ...]:
    return tuple(json.loads(recipe.setting("setup", "[]")))


_FORESEEN: Final[Mapping[str, Callable[[Recipe], tuple[str, ...]]]] = {
    "python": python_foreseen.foreseen,
    "javascript": _javascript,
    "go": go_command.setup_commands,
    "generic": _own_commands,
}


def foreseen_commands(recipe: Recipe) -> tuple[str, ...]:
    """Return the shell commands of a build, in order, as one would type them at a plain clone's root.

    Empty where nothing is installed, and for a language whose build says what it does only when it has run.
    """
    foresee = _FORESEEN.get(recipe.language)
    return foresee(recipe) if foresee else ()
