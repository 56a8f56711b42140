"""What a case's record means on this machine: the module that runs it, its runtime, what a stranger would clone."""

from __future__ import annotations

from authoring.case import Case
from authoring.desk import UNPUBLISHED
from casewright.errors import InfrastructureError, InvalidInputError
from execution.languages import LANGUAGES, module_of
from execution.languages.base import Language
from execution.recipe import Runtime


def language_of(case: Case) -> Language:
    """Return the module that runs a case. Raises ``InvalidInputError`` when there is none."""
    module = module_of(case.language, runner_of(case))
    if module is None:
        raise InvalidInputError(f"case {case.id}: no module runs {case.language}", f"there are {', '.join(LANGUAGES)}")
    return module


def runner_of(case: Case) -> str:
    """Return the runner's name, without its version."""
    return case.verification.runner.split(" ")[0]


def runtime_of(case: Case, language: Language, *, offline: bool = False) -> Runtime:
    """Return the recorded runtime; with ``offline`` nobody is asked for it.

    Raises ``InfrastructureError`` when exactly that version can't be had.
    """
    wanted = case.environment.runtime
    runtime = language.runtime_at_hand(wanted.version) if offline else language.find_runtime(wanted.version)
    if runtime is None or runtime.name != wanted.name:
        raise InfrastructureError(
            f"case {case.id} was recorded with {wanted.name} {wanted.version}, which is not on this machine",
            "install exactly that version",
        )
    return runtime


def url_of(case: Case) -> str:
    """Return what a stranger clones; an empty text where nobody has said it."""
    return "" if case.repository_url.startswith(UNPUBLISHED) else case.repository_url
