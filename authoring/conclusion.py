"""One candidate to its end: judged, reproduced, composed, written."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from pydantic import ValidationError

from authoring.candidate import Prepared
from authoring.case import Case, new_id
from authoring.compose import Naming, compose, language_name
from authoring.desk import Desk
from authoring.draft import (
    draft_path,
    draft_text,
    list_drafts,
    load_draft,
    parse_draft,
    update_record,
    write_draft,
)
from authoring.known_change import keep_change, words_of
from authoring.known_texts import keep_texts
from authoring.lint import lint
from authoring.proposal import Declined, propose, with_proposal
from authoring.reproduce import Recorded, Reproduction, expected_of, reproduce
from authoring.statement import SourceText
from casewright.errors import DocumentError
from execution.languages import LANGUAGES
from miner.admission import Evidence, Tools, admit
from miner.judgement import Judgement, Reached, Standing
from miner.reasons import Reason


@dataclass(frozen=True, kw_only=True, slots=True)
class Concluded:
    """A judged candidate; ``reproduction`` is None when it was not admitted."""

    prepared: Prepared
    evidence: Evidence
    reproduction: Reproduction | None


def judge(prepared: Prepared, tools: Tools, say: Callable[[str], None]) -> Concluded:
    """Judge a candidate and, when it is admitted, run its recorded commands in a plain clone. Writes nothing.

    Raises ``InfrastructureError``, ``SandboxUnavailableError`` and ``RepositoryError``: none is a verdict.
    """
    evidence = admit(prepared.request, tools, say)
    reproduction = None
    if evidence.reason is None:
        say("reproducing")
        reproduction = reproduce(
            recorded(prepared, evidence),
            tools.repository,
            LANGUAGES[prepared.request.recipe.language],
            tools.sandbox,
            tools.store,
            pass_env=tools.pass_env,
        )
        if reproduction.difference:
            tools.store.require_room()
            evidence = replace(evidence, reason=Reason.REPRODUCTION_DIFFERS, detail=reproduction.difference)
    return Concluded(prepared=prepared, evidence=evidence, reproduction=reproduction)


def recorded(prepared: Prepared, evidence: Evidence) -> Recorded:
    """Return the commands of an admitted change and what was seen when it was admitted."""
    trial, built, check = evidence.trial, evidence.environment, evidence.check
    if trial is None or built is None or check is None:
        raise ValueError("only an admitted change has commands to record")
    return Recorded(
        repository=prepared.repository_id,
        url=prepared.repository_url,
        base=prepared.request.base,
        grading=prepared.request.head,
        setup=evidence.setup,
        apply=prepared.apply,
        check=check,
        directory=prepared.request.recipe.directory,
        runtime=built.runtime,
        limits=trial.limits,
        base_seen=expected_of(trial.bases),
        head_seen=expected_of(trial.heads),
        by_exit_code=evidence.by_exit_code,
    )


def conclude(concluded: Concluded, desk: Desk, *, deleted: bool = False) -> Judgement:
    """Write an admitted candidate's draft and return what became of the change.

    A draft of the same change that is there already gets the new record and keeps what people wrote. Raises
    ``WorkspaceError`` when a draft can't be written.
    """
    judgement = _judgement(concluded)
    if judgement.standing is not Standing.ADMITTED:
        return judgement
    try:
        case = _case(concluded, desk, _id(concluded.prepared, desk))
        parse_draft(draft_text(case).encode(), case.id)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return _not_representable(judgement, f"{place}: {first['msg']}")
    except DocumentError as error:
        # Such as a base whose process ends with 0 although tests failed there: its failing can't be shown.
        return _not_representable(judgement, "; ".join(error.faults))
    if deleted:
        return replace(judgement, detail=f"{judgement.detail}; its draft was deleted, and only --again writes it again")
    case, note = _with_proposed_task(case, concluded.prepared, desk)
    told = replace(judgement, case=case.id, detail=f"{judgement.detail}; {note}" if note else judgement.detail)
    if desk.dry_run:
        return replace(told, draft=draft_text(case))
    _write(case, concluded.prepared.texts, desk)
    return told


def _with_proposed_task(case: Case, prepared: Prepared, desk: Desk) -> tuple[Case, str]:
    """Return the case with the task that the user's own command proposes, and why there is none where it fails.

    Only for a new draft: in one that is there the task is a person's.
    """
    if desk.statement is None or draft_path(desk.workspace, case.id).exists():
        return case, ""
    findings = lint(case, words_of(desk.tools.repository, case))
    answer = propose(desk.statement, case, prepared.texts, findings, desk.workspace.root)
    if isinstance(answer, Declined):
        return case, f"no task was proposed: {answer.reason}"
    return with_proposal(case, answer), ""


def _not_representable(judgement: Judgement, detail: str) -> Judgement:
    return replace(
        judgement,
        standing=Standing.REJECTED,
        reached=Reached.RAN,
        reason=Reason.CASE_NOT_REPRESENTABLE,
        detail=detail,
    )


def _judgement(concluded: Concluded) -> Judgement:
    prepared, evidence = concluded.prepared, concluded.evidence
    admitted = evidence.reason is None
    ran = evidence.trial is not None
    return Judgement(
        repository=prepared.repository_id,
        base=prepared.request.base,
        head=prepared.request.head,
        landing=prepared.change.landing.value,
        subject=prepared.subject,
        reached=Reached.ADMITTED
        if admitted
        else Reached.RAN
        if ran
        else Reached.BUILT
        if evidence.built
        else Reached.SHAPED,
        standing=Standing.ADMITTED if admitted else Standing.REJECTED,
        reason=evidence.reason,
        detail=evidence.detail,
        graded_files=evidence.files,
        excluded_files=evidence.excluded,
        fail_to_pass=evidence.lists.fail_to_pass,
        pass_to_pass=evidence.lists.pass_to_pass,
        fails_by=evidence.lists.fails_by,
        test_milliseconds=evidence.trial.milliseconds if evidence.trial else 0,
        build_milliseconds=evidence.environment.build_milliseconds if evidence.environment else 0,
        reproduction_milliseconds=concluded.reproduction.milliseconds if concluded.reproduction else 0,
    )


def _case(concluded: Concluded, desk: Desk, case_id: str) -> Case:
    prepared, evidence = concluded.prepared, concluded.evidence
    naming = Naming(
        id=case_id,
        repository_id=prepared.repository_id,
        repository_url=prepared.repository_url,
        licence=prepared.licence,
        language=language_name(prepared.request.recipe, evidence.files),
        category=prepared.category,
        proposed_by=desk.proposed_by,
        tool=desk.tool,
    )
    return compose(
        prepared.facts,
        naming,
        prepared.text,
        prepared.told,
        prepared.request.recipe,
        evidence,
        today=round(time.time()),
        reproduced=True,
    )


def _id(prepared: Prepared, desk: Desk) -> str:
    """Return the case's id: the one that was asked for, that of the same change's draft, or a new one."""
    if desk.case_id:
        return desk.case_id
    taken = frozenset(list_drafts(desk.workspace))
    told = prepared.told
    number = told.pull.reference.number if told.pull is not None and told.whole else None
    # The change may have been judged before anybody knew of its pull request: it keeps the draft that it has.
    for pull_request in dict.fromkeys((number, None)):
        plain = new_id(prepared.repository_id, prepared.request.head, pull_request)
        owned = new_id(prepared.repository_id, prepared.request.head, pull_request, frozenset({plain}))
        for name in (plain, owned):
            if name in taken and _same_change(name, prepared, desk):
                return name
    return new_id(prepared.repository_id, prepared.request.head, number, taken)


def _same_change(case_id: str, prepared: Prepared, desk: Desk) -> bool:
    try:
        case = load_draft(desk.workspace, case_id).case
    except DocumentError:
        # A draft that a hand broke is not ours to overwrite: the case gets another id, and `lint` tells of that one.
        return False
    return case.repository_id == prepared.repository_id and case.grading_commit == prepared.request.head


def _write(case: Case, texts: tuple[SourceText, ...], desk: Desk) -> None:
    # First: a draft without it would be judged by half of the rules where the history is not at hand.
    keep_change(desk.workspace, case, desk.tools.repository)
    keep_texts(desk.workspace, case, texts)
    if draft_path(desk.workspace, case.id).exists():
        update_record(load_draft(desk.workspace, case.id), case)
    else:
        write_draft(desk.workspace, case)
