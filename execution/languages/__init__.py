"""The languages that casewright can build and run, one module each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from execution.languages import javascript, python
from execution.languages.base import Language

# A literal, so that both type checkers hold every module against the contract.
LANGUAGES: Final[Mapping[str, Language]] = {"python": python, "javascript": javascript}
