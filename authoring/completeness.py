"""Whether a task says enough to be acted on: something, what behaves how, and when it is resolved. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from authoring.condition import PLAIN_CONDITION, has_resolved_condition
from authoring.finding import RULES, Code, Finding, Severity
from miner.statable import statable, words

# "Fix readonly issues" can be stated, and no stranger could act on it.
_FEWEST_WORDS: Final = 6
# A text of this length says how things are to be, whatever its last line says.
_ENOUGH_WORDS: Final = 20
_RESOLVED: Final = re.compile(r"^resolved (?:when|if|once)\b[^\n]*", re.IGNORECASE | re.MULTILINE)
# What a tool proposes where it could make no condition of the title.
_EMPTY_CONDITION: Final = re.compile(
    rf"{re.escape(PLAIN_CONDITION)}|Resolved when this (?:is (?:done|settled)|holds as described):[^\n]*"
)
_WORK_ON_CODE: Final = re.compile(
    r"(?:[-*] )?(?:refactor|rename|move|extract|simplify|clean ?up|reorgani[sz]e|restructure|rewrite|inline|dedup\w*"
    r"|unify|annotate|type|reformat|bump|upgrade|migrate|switch|port|split|merge|convert|tidy|factor out|get rid of"
    r"|rework)\b",
    re.IGNORECASE,
)
_BEHAVES: Final = re.compile(
    r"\b(?:when|should|must|can(?:not|['\u2019]t)?|does|do(?:n['\u2019]t| not)|now|no longer|raises?|returns?|fails?"
    r"|crash\w*|errors?|wrong|instead of|bugs?|broken|ignore[sd]?|allows?|supports?|prints?|shows?|accepts?|if"
    r"|so that)\b",
    re.IGNORECASE,
)


def incomplete(task: str) -> Iterator[Finding]:
    """Yield what a task lacks; an empty one lacks nothing else."""
    whole = (0, len(task))
    if not statable([task]):
        empty = not any(letter.isalnum() for letter in task)
        code = Code.EMPTY if empty else Code.TOO_SHORT
        said = "the task is empty" if empty else "the task says too little to be a task"
        yield _missing(code, Severity.ERROR, task, whole, said)
        return
    told = _RESOLVED.sub("", task)
    if len(words(told)) < _FEWEST_WORDS:
        yield _missing(Code.TOO_SHORT, Severity.WARNING, task, whole, "the task says too little to act on")
    elif _WORK_ON_CODE.match(told.lstrip()) and not _BEHAVES.search(told):
        yield _missing(Code.NO_BEHAVIOUR, Severity.WARNING, task, whole, "the task speaks of code and of no behaviour")
    if not has_resolved_condition(task):
        yield _missing(
            Code.NO_CONDITION,
            Severity.WARNING,
            task,
            (len(task), len(task)),
            "no sentence says when the task is resolved",
        )
        return
    if len(words(told)) > _ENOUGH_WORDS:
        return
    for found in _EMPTY_CONDITION.finditer(task):
        yield _missing(
            Code.NO_CONDITION, Severity.WARNING, task, found.span(), "the proposed condition says no more than the task"
        )


def _missing(code: Code, severity: Severity, task: str, span: tuple[int, int], message: str) -> Finding:
    mend = RULES[code].mend
    return Finding(
        code=code,
        severity=severity,
        field="task",
        start=span[0],
        end=span[1],
        text=task[slice(*span)],
        message=message,
        suggestion=mend[:1].lower() + mend[1:].rstrip("."),
    )
