"""The languages that casewright can build and run, one module each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from execution.languages import generic, go, javascript, python, rust
from execution.languages.base import Language

# A literal, so that both type checkers hold every module against the contract.
LANGUAGES: Final[Mapping[str, Language]] = {
    "python": python,
    "javascript": javascript,
    "go": go,
    "rust": rust,
    "generic": generic,
}

# The module for commands of the user's own: it takes any file, so it never competes with the others.
OWN_COMMANDS: Final = "generic"

# A case names its language as people do; the module that runs it may serve several.
_SERVED_BY: Final[Mapping[str, str]] = {"typescript": "javascript"}


def module_of(language: str, runner: str) -> Language | None:
    """Return the module that runs a case of this language and runner (the first word of what a case names), or None.

    A case with commands of the user's own names the language of its files, whatever runs them.
    """
    name = OWN_COMMANDS if runner == generic.RUNNER else _SERVED_BY.get(language, language)
    return LANGUAGES.get(name)
