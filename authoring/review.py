"""A person's reading of a draft: recorded only where nothing stands against its task, or where the person waives it."""

from __future__ import annotations

from collections.abc import Mapping

from authoring.case import Waiver
from authoring.change_words import ChangeWords
from authoring.draft import Draft, mark_reviewed
from authoring.lint import Finding, blocking, lint
from casewright.errors import UsageError


def review(
    draft: Draft, by: str, day: str, waive: Mapping[str, str], change: ChangeWords | None = None
) -> tuple[Draft, tuple[Finding, ...]]:
    """Record in a draft that ``by`` has read its task on ``day`` (YYYY-MM-DD).

    ``waive`` gives the reason for each code of ``authoring.finding`` that may stand; ``change`` is what is known of the
    change. Returns the draft as it then is and its findings; with one that still blocks, nothing was written. Raises
    ``UsageError`` for a code that was not found in the draft: a waiver of nothing is a mistake.
    """
    findings = lint(draft.case, change)
    for code in waive:
        if code not in {finding.code for finding in findings}:
            raise UsageError(
                f"{draft.case.id} has no finding {code!r} to waive", f"`casewright lint {draft.case.id}` lists them"
            )
    if any(finding.code not in waive for finding in blocking(findings)):
        return draft, findings
    written = mark_reviewed(draft, by, day, _waivers(draft, findings, waive, change))
    return written, lint(written.case, change)


def _waivers(
    draft: Draft, findings: tuple[Finding, ...], waive: Mapping[str, str], change: ChangeWords | None
) -> tuple[Waiver, ...]:
    """The waivers that count: the new ones, and of the old ones those whose text still stands in the draft.

    Where the change is not at hand, old waivers of findings that need it can't be told from lapsed ones: all stay.
    """
    reasons = {(str(finding.code), finding.text): waive.get(finding.code) or finding.waived for finding in findings}
    kept = {(old.code, old.text): old.reason for old in draft.case.review.waivers} if change is None else {}
    return tuple(
        Waiver(code=code, text=text, reason=reason) for (code, text), reason in {**kept, **reasons}.items() if reason
    )
