"""How a judgement is shown: as a JSON object, as a row, and the funnel of many."""

from __future__ import annotations

from typing import Any, Final

from casewright.cli.output import fitted, one_line, shown, styled, table
from miner.funnel import Funnel
from miner.judgement import Judgement, Reached, Standing
from miner.reasons import EXPLANATIONS, Reason, Stage

SHORT_ID: Final = 10
_STYLES: Final = {
    Standing.ADMITTED: "good",
    Standing.REJECTED: "quiet",
    Standing.INFRASTRUCTURE: "bad",
    Standing.CANDIDATE: "strong",
}


def detail_of(judgement: Judgement) -> str:
    """Return the evidence, or, where a code says all there is, the code's sentence."""
    if judgement.detail or judgement.reason is None:
        return judgement.detail
    return EXPLANATIONS[judgement.reason].sentence


def judgement_object(judgement: Judgement) -> dict[str, Any]:
    """Return the object that ``--format json`` prints for one change (its keys are documented and stay)."""
    return {
        "repository": judgement.repository,
        "base": judgement.base,
        "head": judgement.head,
        "landing": judgement.landing,
        "subject": judgement.subject,
        "outcome": judgement.standing.value,
        "reason": None if judgement.reason is None else judgement.reason.value,
        "detail": detail_of(judgement),
        "graded_files": judgement.graded_files,
        "excluded_files": [
            {"path": row.path, "reason": row.reason.value, "detail": row.detail} for row in judgement.excluded_files
        ],
        "fail_to_pass": judgement.fail_to_pass,
        "pass_to_pass": judgement.pass_to_pass,
        "fails_by": [{"id": row.id, "how": row.how} for row in judgement.fails_by],
        "case": judgement.case,
        "seconds": judgement.milliseconds / 1000,
        "stage": judgement.reached.value,
    }


def judgement_row(judgement: Judgement, *, with_detail: bool = False) -> str:
    """Return the line that ``--format table`` prints for one change as soon as it is judged.

    ``with_detail`` adds the evidence below it; what was spoilt says by what without being asked.
    """
    outcome = styled(f"{judgement.standing.value:14}", _STYLES[judgement.standing])
    if judgement.standing is Standing.ADMITTED:
        said = f"{judgement.case or ''} ({_tests(judgement)})"
    else:
        said = "" if judgement.reason in (None, Reason.INFRASTRUCTURE) else judgement.reason.value
    lines = [fitted(f"{outcome}  {judgement.head[:SHORT_ID]}  {said:24}  ", one_line(judgement.subject))]
    if with_detail or judgement.standing is Standing.INFRASTRUCTURE:
        lines += [" " * 16 + shown(line) for line in judgement.detail.splitlines()]
    return "\n".join(lines)


def listed_text(judgement: Judgement) -> str:
    """Return one change of a listing by reason: which it is, and below it the evidence where there is any."""
    lines = [f"{judgement.head[:SHORT_ID]}  {one_line(judgement.subject)}"]
    lines += [" " * (SHORT_ID + 2) + shown(line) for line in judgement.detail.splitlines()]
    return "\n".join(lines)


def judgement_text(judgement: Judgement) -> str:
    """Return all that is known of one change, for a person who asked about that one."""
    rows = [
        ("outcome", judgement.standing.value + (f": {judgement.reason.value}" if judgement.reason else "")),
        ("detail", detail_of(judgement)),
        ("change", f"{judgement.head} {judgement.subject}"),
        ("base", judgement.base),
        ("landing", judgement.landing),
        ("graded files", ", ".join(judgement.graded_files)),
        ("left out", "; ".join(f"{row.path} ({row.reason.value})" for row in judgement.excluded_files)),
        ("fail to pass", "; ".join(judgement.fail_to_pass)),
        ("pass to pass", f"{len(judgement.pass_to_pass):,} tests" if judgement.pass_to_pass else ""),
        ("case", judgement.case or ""),
    ]
    return table([row for row in rows if row[1]])


def funnel_object(funnel: Funnel) -> dict[str, Any]:
    """Return the object that ``funnel --format json`` prints."""
    return {
        **{stage.value: count for stage, count in funnel.stages},
        "reasons": [
            {
                "stage": drop.reached.value,
                "reason": drop.reason.value,
                "count": drop.count,
                "sentence": EXPLANATIONS[drop.reason].sentence,
            }
            for drop in funnel.drops
        ],
        "infrastructure": funnel.infrastructure,
        "candidates": funnel.waiting,
    }


def funnel_text(funnel: Funnel) -> str:
    """Return the funnel as a table: each stage with its count, and below it what stopped the others there."""
    if not funnel.scanned:
        return "No change has been looked at yet; `casewright mine SOURCE` begins."
    rows: list[tuple[str, str, str]] = []
    for stage, count in funnel.stages:
        rows.append((stage.value, f"{count:,}", ""))
        rows += [
            (f"  {drop.reason.value}", f"{drop.count:,}", EXPLANATIONS[drop.reason].sentence)
            for drop in funnel.drops
            if drop.reached is stage
        ]
    if funnel.infrastructure:
        sentence = EXPLANATIONS[Reason.INFRASTRUCTURE].sentence
        rows.append((Reason.INFRASTRUCTURE.value, f"{funnel.infrastructure:,}", sentence))
    if funnel.waiting:
        rows.append((Standing.CANDIDATE.value, f"{funnel.waiting:,}", "Would be run; nothing was run."))
    text = table(rows, right=(1,))
    if not dict(funnel.stages)[Reached.ADMITTED] and not funnel.waiting:
        text += "\n\nNo case yet: the reasons above say why; `casewright funnel --reason CODE` lists the changes."
    if any(EXPLANATIONS[drop.reason].stage is Stage.ENVIRONMENT for drop in funnel.drops):
        text += (
            "\n\nWhere an environment is missing, `casewright environment SOURCE --commit REV --build` names the step"
            "\nthat failed and what casewright.yaml could say instead."
        )
    return text


def _tests(judgement: Judgement) -> str:
    count = len(judgement.fail_to_pass)
    return f"{count} test{'' if count == 1 else 's'}"
