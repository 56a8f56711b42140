"""The file that an author edits: task and hints, and below a line that cuts all else off, what is known of them.

What stands above the cut comes back exactly: a text that was left alone is the draft's own, to the byte, and one that
was changed is as the author wrote it but for blank lines at its ends and blanks at the ends of its lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from authoring.candidate_text import read_candidate_text, settled
from authoring.draft import Draft
from authoring.findings import Finding, Judged
from authoring.statement import SourceText
from casewright.cli.output import one_line, shown
from casewright.errors import InvalidInputError

HINTS_LINE: Final = "# ---- The task is above. Hints, for the candidate too, may follow. Keep this line. ----"
CUT_LINE: Final = "# ---- 8< ---- Whatever is below this line is for you and is left out. Keep this line. ----"

# Editors take it for a sign of the encoding and hide or drop it, wherever a file begins with it.
_BYTE_ORDER_MARK: Final = "\ufeff"


@dataclass(frozen=True, kw_only=True, slots=True)
class Texts:
    """A draft's two candidate-visible texts."""

    task: str
    hints: str | None


def form_text(texts: Texts, below: str) -> str:
    """Return the whole file for two texts and what the author is told below them.

    Raises ``InvalidInputError`` for a text that holds one of the two lines by which the file is read back.
    """
    for text in (texts.task, texts.hints or ""):
        if any(line.rstrip() in {HINTS_LINE, CUT_LINE} for line in text.split("\n")):
            raise InvalidInputError("the text holds a line that `casewright edit` needs for itself", "edit the draft")
    return f"{_block(texts.task)}\n{HINTS_LINE}\n{_block(texts.hints or '')}\n{CUT_LINE}\n{below}"


def read_form(data: bytes, name: str, before: Texts) -> Texts:
    """Return the texts of an edited file; ``before`` are the draft's, which a text that was left alone stays.

    Raises ``InvalidInputError`` for what is no such text, and where one of the two lines is gone or stands twice.
    """
    above, cut, _ = _whole_lines(data).partition(b"\n" + CUT_LINE.encode() + b"\n")
    if not cut:
        raise InvalidInputError(f"{name} has lost the line that begins with {CUT_LINE[:13]!r}", "put it back")
    lines = read_candidate_text(above[1:], name).split("\n")
    places = [number for number, line in enumerate(lines) if line.rstrip() == HINTS_LINE]
    if len(places) != 1:
        what = "has lost" if not places else "holds more than once"
        raise InvalidInputError(f"{name} {what} the line that begins with {HINTS_LINE[:26]!r}", "it stands there once")
    return Texts(
        task=_as_it_was("\n".join(lines[: places[0]]), before.task) or "",
        hints=_as_it_was("\n".join(lines[places[0] + 1 :]), before.hints),
    )


def begin_with(data: bytes, name: str, before: Texts) -> Texts:
    """Return the texts that an author's own file begins the work with: a kept form, or plain text for the task.

    Raises ``InvalidInputError`` as ``read_form`` does.
    """
    if HINTS_LINE.encode() in data:
        return read_form(data, name, before)
    return Texts(task=settled(read_candidate_text(data, name)), hints=before.hints)


def below_the_cut(draft: Draft, judged: Judged, sources: Sequence[SourceText], notes: Sequence[str]) -> str:
    """Return what the author is told: how to go on, what ``lint`` finds, where the text comes from, the sources."""
    case = draft.case
    opening = (
        f"{draft.name}, {draft.state.value}. Save and close to keep the texts; an emptied task changes nothing.\n"
        "Say what should happen and when it is resolved; don't say where in the code.\n"
        f"`casewright show {case.id}` shows the change and its tests."
    )
    blocks = [opening, *(one_line(note) for note in notes)]
    if judged.findings:
        rows = [f"  {number}. {_finding_line(case.task, each)}" for number, each in enumerate(judged.findings, 1)]
        blocks.append("\n".join(["What lint finds in the text as it was:", *rows]))
    else:
        blocks.append("Lint finds nothing in the text as it was.")
    blocks += [f"Note: {one_line(note)}." for note in judged.notes]
    for source in sources:
        body = shown(source.text.replace("\r\n", "\n")).rstrip()
        heading = f"== {source.source}" + (f": {one_line(source.title)}" if source.title else "")
        blocks.append(heading + (f"\n\n{body}" if body else ""))
    return "\n\n".join(blocks) + "\n"


def _finding_line(task: str, finding: Finding) -> str:
    # What is missing from a text stands in no line of it.
    placed = finding.field == "task" and finding.start < finding.end
    line = f", line {task.count(chr(10), 0, finding.start) + 1}" if placed else ""
    waived = f" (waived: {one_line(finding.waived)})" if finding.waived else ""
    return (
        f"{finding.severity.value} {finding.code} in {finding.field}{line}: {one_line(finding.message)}; "
        f"{one_line(finding.suggestion)}{waived}"
    )


def _block(text: str) -> str:
    return text if text.endswith("\n") or not text else f"{text}\n"


def _whole_lines(data: bytes) -> bytes:
    """The bytes with LF line ends, one before and one after, so that a first or last line is like any other."""
    return b"\n" + data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n") + b"\n"


def _as_it_was(text: str, before: str | None) -> str | None:
    """Return what a section holds: the old value where it is what that value looks like in the file."""
    shown_before = _block(before or "")
    if text in {shown_before, shown_before.removeprefix(_BYTE_ORDER_MARK)}:
        return before
    return settled(text) or None
