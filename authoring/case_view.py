"""A whole case to look at: the case, what lint says of its texts, and its files where the history is at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from authoring.case import Case, Limits, ReviewState, Size
from authoring.change_files import ChangedFile
from authoring.findings import Judged


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseView:
    """What is shown of a case: ``origin`` says in words where it was read, ``entry`` is what stands there, plain.

    ``files`` is None where the history is not at hand, and then ``why_no_files`` says why not.
    """

    case: Case
    entry: Mapping[str, Any]
    state: ReviewState
    origin: str
    judged: Judged
    files: tuple[ChangedFile, ...] | None
    why_no_files: str = ""


def size_said(size: Size) -> str:
    """Return a change's size in words."""
    files, lines, tests = (_counted(size.files, "file"), _counted(size.lines, "line"), _counted(size.tests, "test"))
    return f"{files} and {lines} of the rest part, {tests} graded"


def limits_said(limits: Limits) -> str:
    """Return the envelope of a run in words."""
    return (
        f"{limits.seconds} s, {limits.memory_mb} MiB of memory, {limits.processes} processes, "
        f"{limits.output_mb} MiB of output, {limits.disk_mb} MiB of disk"
    )


def _counted(number: int, name: str) -> str:
    return f"{number} {name if number == 1 else name + 's'}"
