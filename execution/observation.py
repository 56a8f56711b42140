"""What was seen of one run of the graded tests: one outcome for each test, and how the run ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Outcome(StrEnum):
    """The terminal outcome of one test."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"
    TODO = "todo"


class FailsBy(StrEnum):
    """How a test (or a whole state) fails, so that a reviewer can decide what a failure is worth."""

    ASSERTION = "assertion"
    ERROR = "error"
    COLLECTION = "collection"
    MISSING = "missing"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"
    CRASH = "crash"


# Of two outcomes of one id the worst counts.
SEVERITY: Mapping[Outcome, int] = {
    Outcome.PASSED: 0,
    Outcome.XPASSED: 1,
    Outcome.XFAILED: 2,
    Outcome.TODO: 3,
    Outcome.SKIPPED: 4,
    Outcome.FAILED: 5,
    Outcome.ERROR: 6,
}

RED = frozenset({Outcome.FAILED, Outcome.ERROR})


@dataclass(frozen=True, kw_only=True, slots=True)
class TestResult:
    """One test: ``id`` verbatim from the runner, ``file`` the graded file (path from the tree's root) it belongs to."""

    __test__ = False

    id: str
    file: str
    outcome: Outcome
    fails_by: FailsBy | None = None
    message: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportReading:
    """A report as read: tests with one outcome each, files that could not be loaded, and whether it is whole.

    ``broken_files`` maps a graded file to the one-line error that kept it from being collected. ``whole`` is False
    when the protocol was breached (no end, outcomes outside the collected set, a second terminal outcome, an end that
    does not agree with the exit code); ``breach`` says how.
    """

    tests: tuple[TestResult, ...] = ()
    broken_files: Mapping[str, str] = field(default_factory=dict)
    whole: bool = False
    breach: str = ""
    summary: str = ""
    runner_version: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """One run of the check command on one state."""

    reading: ReportReading
    exit_code: int
    ended: str
    milliseconds: int
    peak_memory_kb: int
    output_tail: str
    variation: str = ""
