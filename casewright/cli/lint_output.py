"""What ``lint`` found in drafts, and how it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from authoring.draft import Draft, load_draft, readable_drafts
from authoring.lint import Finding, lint, notes
from casewright.cli.marked_text import marked_lines
from casewright.cli.output import one_line, styled
from casewright.errors import DocumentError
from casewright.workspace import Workspace

# Two less than a screen of 80 has: the texts are set in.
_COLUMNS: Final = 78


@dataclass(frozen=True, kw_only=True, slots=True)
class Linted:
    """A draft and its findings, waived ones among them; ``notes`` say which rules could not be tried."""

    draft: Draft
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()


def linted(
    workspace: Workspace, cases: Sequence[str], source: str | None = None
) -> tuple[tuple[Linted, ...], tuple[str, ...]]:
    """Lint the drafts named, or all; return them and the faults of those that can't be read.

    ``source`` is where the user says that the history is. Raises ``InvalidInputError`` for a case that there is no
    draft of, and what opening the source raises.
    """
    found: list[Linted] = []
    faults: list[str] = []
    for each in _drafts(workspace, cases):
        if isinstance(each, DocumentError):
            faults += each.faults
        else:
            found.append(linted_draft(workspace, each, source))
    return tuple(found), tuple(faults)


def linted_draft(workspace: Workspace, draft: Draft, source: str | None = None) -> Linted:
    """Lint one draft by what is known of its change."""
    # It reads git and grammars: a process that only shows what others found does without.
    from authoring.known_change import known_change

    known = known_change(workspace, draft.case, source)
    return Linted(draft=draft, findings=lint(draft.case, known.words), notes=notes(draft.case, known.words, known.why))


def linted_object(each: Linted) -> dict[str, Any]:
    """Return the object that ``lint --format json`` prints for one draft."""
    return {
        "case": each.draft.case.id,
        "state": each.draft.state.value,
        "findings": [finding_object(finding) for finding in each.findings],
        "notes": list(each.notes),
    }


def finding_object(finding: Finding) -> dict[str, Any]:
    """Return the JSON object of one finding."""
    return {
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


def linted_text(each: Linted) -> str:
    """Return the same for people: the draft's name, its texts with what is wrong underlined, one line for each finding.

    The number below an underline is that of the finding's line.
    """
    lines = [f"{each.draft.name}: {each.draft.state.value}" + ("" if each.findings else ", nothing to mend")]
    case = each.draft.case
    for field, text in (("task", case.task), ("hints", case.hints or "")):
        # What is about a whole text underlines nothing: all of it would be.
        partial = [
            replace(one, start=0, end=0) if one.start == 0 and one.end == len(text) else one for one in each.findings
        ]
        if any(one.field == field and one.start < one.end for one in partial):
            lines += [f"  {line}".rstrip() for line in marked_lines(text, field, partial, _COLUMNS)]
    for number, finding in enumerate(each.findings, 1):
        said = (
            f"  {number} {finding.severity.value} {finding.code.value} in {finding.field}: {one_line(finding.message)}"
        )
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
