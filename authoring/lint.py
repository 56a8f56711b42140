"""What is still missing from a case's candidate-visible text before a person can publish it. Pure.

These are rules of completeness: nothing, too little, or something in the text that a candidate must not be given (a
commit id, a link, an invisible character). Whether the text gives the fix away is for a reviewer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from authoring.case import UNCATEGORISED, Case
from miner.statable import statable


class Severity(StrEnum):
    """An error keeps a case out of a release unless a person waives it; a warning does not."""

    ERROR = "error"
    WARNING = "warning"


class Code(StrEnum):
    """The rules, in the order in which they are tried."""

    EMPTY = "task-empty"
    TOO_SHORT = "task-too-short"
    COMMIT_ID = "commit-id"
    LINK = "link"
    CONTROL_CHARACTER = "control-character"
    NO_CATEGORY = "no-category"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing to mend. ``start`` and ``end`` are character indices into the field; ``text`` is what stands there.

    ``waived`` is the reason that a person gave for letting it stand, or empty.
    """

    code: Code
    severity: Severity
    field: str
    start: int
    end: int
    text: str
    message: str
    suggestion: str
    waived: str = ""


_HEX = re.compile(r"(?<![\w./-])[0-9a-f]{7,64}(?![\w/-])", re.IGNORECASE)
_LINK = re.compile(r"\b(?:https?|ftp|git|ssh)://[^\s<>)\]]+|\bwww\.[^\s<>)\]]+", re.IGNORECASE)
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


def lint(case: Case) -> tuple[Finding, ...]:
    """Return the findings of a case in the order of rules; waived ones are among them, marked."""
    return tuple(_with_waiver(case, finding) for finding in _findings(case))


def blocking(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return the findings that keep a case out of a release: errors that nobody waived."""
    return tuple(found for found in findings if found.severity is Severity.ERROR and not found.waived)


def _findings(case: Case) -> Iterator[Finding]:
    yield from _emptiness(case.task)
    fields = {"task": case.task, "hints": case.hints or ""}
    for field, text in fields.items():
        for found in _HEX.finditer(text):
            if _names_a_commit(found[0].lower(), case):
                yield _at(
                    Code.COMMIT_ID,
                    field,
                    found,
                    "names a commit",
                    "leave it out: a candidate has no history to look in",
                )
    for field, text in fields.items():
        for found in _LINK.finditer(text):
            yield _at(Code.LINK, field, found, "is a link", "say here what stands behind it")
    for field, text in fields.items():
        for found in _HIDDEN.finditer(text):
            name = f"U+{ord(found[0]):04X}"
            yield _at(Code.CONTROL_CHARACTER, field, found, f"is {name}, which can't be seen", "take it out")
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


def _emptiness(task: str) -> Iterator[Finding]:
    if statable([task]):
        return
    empty = not any(letter.isalnum() for letter in task)
    yield Finding(
        code=Code.EMPTY if empty else Code.TOO_SHORT,
        severity=Severity.ERROR,
        field="task",
        start=0,
        end=len(task),
        text=task,
        message="the task is empty" if empty else "the task says too little to be a task",
        suggestion="say what should happen and when it is resolved",
    )


def _names_a_commit(token: str, case: Case) -> bool:
    mixed = any(letter.isdigit() for letter in token) and any(letter.isalpha() for letter in token)
    return mixed or any(pin.startswith(token) for pin in (case.base_commit, case.grading_commit))


def _at(code: Code, field: str, found: re.Match[str], message: str, suggestion: str) -> Finding:
    return Finding(
        code=code,
        severity=Severity.ERROR,
        field=field,
        start=found.start(),
        end=found.end(),
        text=found[0],
        message=f"{found[0]!a} {message}",
        suggestion=suggestion,
    )


def _with_waiver(case: Case, finding: Finding) -> Finding:
    """Mark a finding that a waiver names by its code and by the very text; a waiver of other text has lapsed."""
    for waiver in case.review.waivers:
        if waiver.code == finding.code and waiver.text == finding.text:
            return replace(finding, waived=waiver.reason)
    return finding
