"""A draft's record looked at again: its recorded commands, run in a fresh plain clone on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from authoring.case import Case, Mode
from authoring.package_folder import PackageFolder
from authoring.recorded_case import language_of, runner_of, runtime_of, url_of
from authoring.reproduce import Expected, Recorded, reproduce
from casewright.repository import Repository
from casewright.store import Store
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


def verify(
    case: Case,
    repository: Repository,
    sandbox: Sandbox,
    store: Store,
    *,
    pass_env: tuple[str, ...] = (),
    packages: PackageFolder | None = None,
) -> Verified:
    """Run a case's recorded commands in a fresh plain clone and compare with its record. Changes nothing.

    With ``packages`` (see ``authoring.package_folder.kept_folder``) set-up has no network either. Raises
    ``InvalidInputError`` for a language that no module runs, ``InfrastructureError`` when a pin, the runtime, a package
    or the network can't be had: neither says that the record is wrong.
    """
    language = language_of(case)
    recorded = _recorded(case, language, offline=packages is not None)
    outcome = reproduce(recorded, repository, language, sandbox, store, pass_env=pass_env, packages=packages)
    return Verified(case=case.id, difference=outcome.difference, milliseconds=outcome.milliseconds)


def _recorded(case: Case, language: Language, *, offline: bool) -> Recorded:
    grading = case.grading
    limits = grading.limits
    return Recorded(
        repository=case.repository_id,
        url=url_of(case),
        base=case.base_commit,
        grading=case.grading_commit,
        setup=case.environment.setup,
        apply=grading.apply,
        check=language.recorded_check(runner_of(case), grading.check),
        directory=grading.directory,
        runtime=runtime_of(case, language, offline=offline),
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
