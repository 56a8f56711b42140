"""A task text that a command of the user's own proposes: JSON goes in, text comes out, nothing of ours writes it.

The command stands in ``casewright.yaml`` (``statement``), so it is trusted as the user's shell is: it runs outside the
sandbox, by ``sh -c``, in the user's environment. What it says is judged by ``lint`` like any other text. When it fails
in any way, the text that was drafted stays, and the caller is told why: a proposal is a help, never a condition.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from authoring.candidate_text import read_candidate_text, settled
from authoring.case import Case, TextFrom
from authoring.findings import Finding
from authoring.sentences import sentences
from authoring.statement import SourceText, TextKind
from casewright.configuration import StatementSection
from casewright.errors import InfrastructureError, InvalidInputError
from casewright.process import CommandOutcome, CommandRequest, Stream

PROPOSAL_SCHEMA: Final = "casewright.proposal/v1"
# What `source.text_from` says of a text that came this way.
PROPOSED: Final = "proposed by command"
USUAL_SECONDS: Final = 120
OUTPUT_BYTES: Final = 256 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposed:
    """A proposed task: LF text that says something and ends with a newline."""

    task: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Declined:
    """Why there is no proposal, in one sentence for a note; it may hold what the command itself complained of."""

    reason: str


def propose(
    statement: StatementSection,
    case: Case,
    sources: Sequence[SourceText],
    findings: Sequence[Finding],
    folder: Path,
) -> Proposed | Declined:
    """Ask the user's command for the task of ``case``, whose own task is the drafted one; ``findings`` are about that.

    The command runs in ``folder`` (the workspace) and is ended after its seconds, or when it writes more than 256 KiB.
    """
    request = CommandRequest(
        argv=("sh", "-c", statement.command),
        cwd=folder,
        stdin=json.dumps(proposal_object(case, sources, findings)).encode(),
        seconds=statement.seconds or USUAL_SECONDS,
        until_our_end=True,
    )
    try:
        outcome, said = _asked(request)
    except InfrastructureError as error:
        return Declined(reason=str(error))
    if outcome is None:
        return Declined(reason=f"the proposing command wrote more than {OUTPUT_BYTES // 1024} KiB")
    if outcome.timed_out:
        return Declined(reason=f"the proposing command took longer than {request.seconds} s")
    if outcome.code != 0:
        complaint = f": {outcome.complaint}" if outcome.complaint else ""
        return Declined(reason=f"the proposing command ended with exit code {outcome.code}{complaint}")
    try:
        task = settled(read_candidate_text(said, "the proposed text"))
    except InvalidInputError as error:
        return Declined(reason=error.message)
    return Proposed(task=task) if task else Declined(reason="the proposing command said nothing")


def proposal_object(case: Case, sources: Sequence[SourceText], findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the object that the command reads; keys may be added to it, these stay (docs/guide.md lists them)."""
    return {
        "schema": PROPOSAL_SCHEMA,
        "case": case.id,
        "repository": case.repository_id,
        "language": case.language,
        "base_commit": case.base_commit,
        "grading_commit": case.grading_commit,
        "sources": [
            {"kind": each.kind.value, "source": each.source, "title": each.title, "text": each.text} for each in sources
        ],
        "task": case.task,
        "hints": case.hints,
        "findings": [
            {
                "code": str(finding.code),
                "severity": str(finding.severity),
                "field": finding.field,
                "start": finding.start,
                "end": finding.end,
                "text": finding.text,
                "message": finding.message,
                "suggestion": finding.suggestion,
            }
            for finding in findings
        ],
    }


def with_proposal(case: Case, proposed: Proposed) -> Case:
    """Return a case that has the proposed task and says where it came from, besides the sources that it had."""
    rows = tuple(row for row in case.source.text_from if row.source != PROPOSED)
    row = TextFrom(source=PROPOSED, sentences=sentences(proposed.task))
    source = case.source.model_copy(update={"text_from": (*rows, row)})
    return case.model_copy(update={"task": proposed.task, "source": source})


def sources_of(case: Case, message: str) -> tuple[SourceText, ...]:
    """Return what a draft alone still knows of its texts, and the commit's message where that is at hand.

    For where ``authoring.known_texts`` has nothing: of a pull request a draft keeps the title alone.
    """
    issues = tuple(
        SourceText(
            kind=TextKind.ISSUE,
            source=f"issue #{issue.number}",
            title=issue.title,
            text=issue.body.replace("\r\n", "\n"),
        )
        for issue in case.source.issues
    )
    pull = case.source.pull_request
    pulls = (
        (SourceText(kind=TextKind.PULL_REQUEST, source=f"pull request #{pull.number}", title=pull.title, text=""),)
        if pull is not None
        else ()
    )
    commits = (
        (SourceText(kind=TextKind.COMMIT, source="commit message", title="", text=message.strip()),)
        if message.strip()
        else ()
    )
    return (*issues, *pulls, *commits)


def _asked(request: CommandRequest) -> tuple[CommandOutcome | None, bytes]:
    """Run the command; return how it ended and what it wrote. None stands for one that wrote too much and was ended."""
    said = bytearray()
    with Stream(request) as stream:
        for chunk in stream:
            said += chunk
            if len(said) > OUTPUT_BYTES:
                return None, bytes(said)
        return stream.finish(), bytes(said)
