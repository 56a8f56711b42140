"""Whether a task says enough to be acted on. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from authoring.finding import RULES, Code, Finding, Severity
from miner.statable import statable, words

# "Fix readonly issues" can be stated, and no stranger could act on it.
_FEWEST_WORDS = 8


def incomplete(task: str) -> Iterator[Finding]:
    """Yield what a task lacks; an empty one lacks nothing else."""
    if not statable([task]):
        empty = not any(letter.isalnum() for letter in task)
        yield _whole(
            Code.EMPTY if empty else Code.TOO_SHORT,
            Severity.ERROR,
            task,
            "the task is empty" if empty else "the task says too little to be a task",
        )
        return
    if len(words(task)) < _FEWEST_WORDS:
        yield _whole(Code.TOO_SHORT, Severity.WARNING, task, "the task says too little to act on")


def _whole(code: Code, severity: Severity, task: str, message: str) -> Finding:
    mend = RULES[code].mend
    return Finding(
        code=code,
        severity=severity,
        field="task",
        start=0,
        end=len(task),
        text=task,
        message=message,
        suggestion=mend[:1].lower() + mend[1:].rstrip("."),
    )
