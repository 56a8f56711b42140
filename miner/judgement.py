"""What became of one change: the pure-data outcome that the ledger keeps and the command line prints."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from miner.reasons import Reason


class Standing(StrEnum):
    """The outcome of a change, as ``mine`` prints it."""

    ADMITTED = "admitted"
    REJECTED = "rejected"
    INFRASTRUCTURE = "infrastructure"
    CANDIDATE = "candidate"


class Reached(StrEnum):
    """The last stage that a change reached; the funnel counts them."""

    SCANNED = "scanned"
    SHAPED = "shaped"
    BUILT = "built"
    RAN = "ran"
    ADMITTED = "admitted"


@dataclass(frozen=True, kw_only=True, slots=True)
class ExcludedFile:
    """A graded file that is left out as a grader, and why."""

    path: str
    reason: Reason
    detail: str


@dataclass(frozen=True, kw_only=True, slots=True)
class FailsByRow:
    """How one fail-to-pass test fails at the base."""

    id: str
    how: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """One change and what became of it. Times are whole milliseconds; ids are full lowercase object ids.

    ``draft`` is the text of the draft that a dry run would have written; nobody keeps it.
    """

    repository: str
    base: str
    head: str
    landing: str
    subject: str
    reached: Reached
    standing: Standing
    reason: Reason | None = None
    detail: str = ""
    graded_files: tuple[str, ...] = ()
    excluded_files: tuple[ExcludedFile, ...] = ()
    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    fails_by: tuple[FailsByRow, ...] = ()
    case: str | None = None
    milliseconds: int = 0
    test_milliseconds: int = 0
    build_milliseconds: int = 0
    reproduction_milliseconds: int = 0
    draft: str = ""
