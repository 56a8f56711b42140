"""What ``lint`` found in drafts, and how it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from authoring.draft import Draft, load_draft, readable_drafts
from authoring.lint import Finding, lint
from casewright.cli.output import one_line, styled
from casewright.errors import DocumentError
from casewright.workspace import Workspace


@dataclass(frozen=True, kw_only=True, slots=True)
class Linted:
    """A draft and its findings, waived ones among them."""

    draft: Draft
    findings: tuple[Finding, ...]


def linted(workspace: Workspace, cases: Sequence[str]) -> tuple[tuple[Linted, ...], tuple[str, ...]]:
    """Lint the drafts named, or all; return them and the faults of those that can't be read.

    Raises ``InvalidInputError`` for a case that there is no draft of.
    """
    found: list[Linted] = []
    faults: list[str] = []
    for each in _drafts(workspace, cases):
        if isinstance(each, DocumentError):
            faults += each.faults
        else:
            found.append(Linted(draft=each, findings=lint(each.case)))
    return tuple(found), tuple(faults)


def linted_object(each: Linted) -> dict[str, Any]:
    """Return the object that ``lint --format json`` prints for one draft."""
    return {
        "case": each.draft.case.id,
        "state": each.draft.state.value,
        "findings": [
            {
                "code": finding.code.value,
                "severity": finding.severity.value,
                "field": finding.field,
                "start": finding.start,
                "end": finding.end,
                "text": finding.text,
                "message": finding.message,
                "suggestion": finding.suggestion,
                "waived": finding.waived or None,
            }
            for finding in each.findings
        ],
    }


def linted_text(each: Linted) -> str:
    """Return the same for people: the draft's name, and one line for each finding."""
    lines = [f"{each.draft.name}: {each.draft.state.value}" + ("" if each.findings else ", nothing to mend")]
    for finding in each.findings:
        said = f"  {finding.severity.value} {finding.code.value} in {finding.field}: {one_line(finding.message)}"
        if finding.waived:
            lines.append(styled(f"{said} (waived: {one_line(finding.waived)})", "quiet"))
        else:
            lines.append(f"{said}; {one_line(finding.suggestion)}")
    return "\n".join(lines)


def _drafts(workspace: Workspace, cases: Sequence[str]) -> list[Draft | DocumentError]:
    if not cases:
        return list(readable_drafts(workspace))
    drafts: list[Draft | DocumentError] = []
    for case in cases:
        try:
            drafts.append(load_draft(workspace, case))
        except DocumentError as error:
            drafts.append(error)
    return drafts
