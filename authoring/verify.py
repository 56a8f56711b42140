"""A draft's record looked at again: its recorded commands, run in a fresh plain clone on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from authoring.case import Case, Mode
from authoring.desk import UNPUBLISHED
from authoring.reproduce import Expected, Recorded, reproduce
from casewright.errors import InfrastructureError, InvalidInputError
from casewright.repository import Repository
from casewright.store import Store
from execution.languages import LANGUAGES, module_of
from execution.languages.base import Language
from execution.observation import FailsBy
from execution.sandbox import Ended, Limits, Sandbox

_ENDED: Final = {FailsBy.TIMEOUT: Ended.TIMEOUT, FailsBy.OUT_OF_MEMORY: Ended.OUT_OF_MEMORY}


@dataclass(frozen=True, kw_only=True, slots=True)
class Verified:
    """What came of verifying one case; ``difference`` is empty when the record held."""

    case: str
    difference: str
    milliseconds: int


def verify(case: Case, repository: Repository, sandbox: Sandbox, store: Store) -> Verified:
    """Run a case's recorded commands in a fresh plain clone and compare with its record. Changes nothing.

    Raises ``InvalidInputError`` for a language that no module runs, ``InfrastructureError`` when a pin, the runtime or
    the network can't be had: neither says that the record is wrong.
    """
    language = language_of(case)
    outcome = reproduce(_recorded(case, language), repository, language, sandbox, store)
    return Verified(case=case.id, difference=outcome.difference, milliseconds=outcome.milliseconds)


def language_of(case: Case) -> Language:
    """Return the module that runs a case. Raises ``InvalidInputError`` when there is none."""
    module = module_of(case.language, _runner(case))
    if module is None:
        raise InvalidInputError(f"case {case.id}: no module runs {case.language}", f"there are {', '.join(LANGUAGES)}")
    return module


def _runner(case: Case) -> str:
    return case.verification.runner.split(" ")[0]


def _recorded(case: Case, language: Language) -> Recorded:
    grading = case.grading
    wanted = case.environment.runtime
    runtime = language.find_runtime(wanted.version)
    if runtime is None or runtime.name != wanted.name:
        raise InfrastructureError(
            f"case {case.id} was recorded with {wanted.name} {wanted.version}, which is not on this machine",
            "install exactly that version",
        )
    limits = grading.limits
    return Recorded(
        url="" if case.repository_url.startswith(UNPUBLISHED) else case.repository_url,
        base=case.base_commit,
        grading=case.grading_commit,
        setup=case.environment.setup,
        apply=grading.apply,
        check=language.recorded_check(_runner(case), grading.check),
        directory=grading.directory,
        runtime=runtime,
        limits=Limits(
            seconds=limits.seconds,
            memory_mb=limits.memory_mb,
            processes=limits.processes,
            output_mb=limits.output_mb,
            disk_mb=limits.disk_mb,
        ),
        base_seen=_base_of(case),
        head_seen=_head_of(case),
        by_exit_code=grading.mode is Mode.EXIT_CODE,
    )


def _head_of(case: Case) -> Expected:
    grading = case.grading
    passed = dict.fromkeys((*grading.fail_to_pass, *grading.pass_to_pass, *grading.unstable_at_base), "passed")
    return Expected(
        exit_code=case.verification.head.exit_code,
        ended=Ended.EXITED,
        outcomes={**passed, **dict.fromkeys(grading.skipped_at_head, "neither")},
        summary=case.verification.head.summary,
        whole=True,
    )


def _base_of(case: Case) -> Expected:
    """Return what to expect of the base: what is missing there is red for the record, and in no report."""
    grading = case.grading
    red = dict.fromkeys(grading.fail_to_pass, "red")
    how = {row.how for row in grading.fails_by}
    ended = next((_ENDED[kind] for kind in _ENDED if how == {kind}), Ended.EXITED)
    whole = not how & {FailsBy.CRASH, FailsBy.TIMEOUT, FailsBy.OUT_OF_MEMORY}
    return Expected(
        exit_code=case.verification.base.exit_code,
        ended=ended,
        outcomes={**red, **dict.fromkeys(grading.pass_to_pass, "passed")},
        # Counts can't be expected where a test comes out now so, now so.
        summary="" if grading.unstable_at_base else case.verification.base.summary,
        whole=whole,
    )
