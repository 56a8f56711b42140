"""What ``lint`` says of a case with all that is known of its change: one place for those who show or edit it."""

from __future__ import annotations

from dataclasses import dataclass

from authoring.case import Case
from authoring.known_change import KnownChange, known_change
from authoring.lint import Finding, Severity, blocking, lint, notes
from casewright.workspace import Workspace

__all__ = ["Finding", "Judged", "Severity", "blocking", "judged"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """The findings of a case, waived ones among them, and which rules could not be tried, in sentences."""

    findings: tuple[Finding, ...]
    notes: tuple[str, ...]


def judged(workspace: Workspace | None, case: Case, source: str | None = None) -> Judged:
    """Judge a case as it stands, by its change where a workspace knows it; ``source`` as in ``known_change``.

    Without a workspace the rules that need the change are not tried.
    """
    known = known_change(workspace, case, source) if workspace is not None else KnownChange(words=None)
    return Judged(findings=lint(case, known.words), notes=notes(case, known.words, known.why))
