"""What keeps a case's candidate-visible text from being published: what it lacks, gives away or leaves to be guessed.

Pure: what is known of the change comes as a record (``authoring.known_change`` finds it). Without one, the rules that
need it are not tried, and ``notes`` says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from authoring.case import UNCATEGORISED, Case
from authoring.change_words import ChangeWords
from authoring.completeness import incomplete
from authoring.contradictions import contradictions
from authoring.fairness import unfair
from authoring.finding import Code, Finding, Severity
from authoring.forge_marks import forge_marks
from authoring.leaks import finding_at, leaks
from authoring.prose import prose_of

__all__ = ["Code", "Finding", "Severity", "blocking", "lint", "notes"]

_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


def lint(case: Case, change: ChangeWords | None = None) -> tuple[Finding, ...]:
    """Return the findings of a case, errors first, then in the order of rules; waived ones are among them, marked."""
    found = sorted(set(_findings(case, change)), key=_place)
    return tuple(_with_waiver(case, finding) for finding in _outermost(found))


def blocking(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return the findings that keep a case out of a release: errors that nobody waived."""
    return tuple(found for found in findings if found.severity is Severity.ERROR and not found.waived)


def notes(case: Case, change: ChangeWords | None, why: str = "") -> tuple[str, ...]:
    """Return which rules could not be tried on a case, in sentences without a full stop; ``why`` says why not."""
    if change is None:
        because = f": {why}" if why else ""
        untried = f"{case.id}: nothing was held against the change itself (paths, names, code, tests){because}"
        return (f"{untried}; `casewright lint {case.id} --repo SOURCE` does, and `cut` waits for that",)
    if change.unread:
        languages = ", ".join(change.unread)
        told = "paths, lines of code and links were looked for"
        return (f"{case.id}: in {languages} files names can't be told apart; {told}",)
    return ()


_ORDER = {code: place for place, code in enumerate(Code)}


def _place(finding: Finding) -> tuple[bool, int, str, int, int, str]:
    warning = finding.severity is Severity.WARNING
    return warning, _ORDER[finding.code], finding.field, finding.start, finding.end, finding.text


def _findings(case: Case, change: ChangeWords | None) -> Iterator[Finding]:
    yield from incomplete(case.task)
    ids = (*case.grading.fail_to_pass, *case.grading.pass_to_pass)
    commits = change.commits if change else (case.base_commit, case.grading_commit)
    for field, text in (("task", case.task), ("hints", case.hints or "")):
        prose = prose_of(text)
        if change is not None:
            yield from leaks(field, prose, change, ids)
            yield from contradictions(field, text, change)
        yield from forge_marks(field, prose, commits)
        for found in _HIDDEN.finditer(text):
            name = f"U+{ord(found[0]):04X}"
            yield finding_at(
                Code.CONTROL_CHARACTER, Severity.ERROR, field, text, found.span(), f"is {name}, which can't be seen"
            )
    if change is not None:
        yield from unfair(case.task, case.hints or "", change)
    if case.category == UNCATEGORISED:
        yield Finding(
            code=Code.NO_CATEGORY,
            severity=Severity.WARNING,
            field="category",
            start=0,
            end=len(case.category),
            text=case.category,
            message="the case has no category",
            suggestion="set one, or give the repository `categories` in casewright.yaml",
        )


def _outermost(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Leave out what lies within another finding of the same code: a path is told once, by its longest form."""
    reach: dict[tuple[Code, str], tuple[int, int]] = {}
    inner: set[Finding] = set()
    for finding in sorted(findings, key=lambda each: (each.start, -each.end)):
        begin, end = reach.get((finding.code, finding.field), (0, 0))
        if finding.start < finding.end <= end and (finding.start, finding.end) != (begin, end):
            inner.add(finding)
        elif finding.end > end:
            reach[finding.code, finding.field] = (finding.start, finding.end)
    return (finding for finding in findings if finding not in inner)


def _with_waiver(case: Case, finding: Finding) -> Finding:
    """Mark a finding that a waiver names by its code and by the very text; a waiver of other text has lapsed."""
    for waiver in case.review.waivers:
        if waiver.code == finding.code and waiver.text == finding.text:
            return replace(finding, waived=waiver.reason)
    return finding
