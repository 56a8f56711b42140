"""Observations written as short texts, for the tests of what decides over them."""

from __future__ import annotations

from collections.abc import Mapping

from execution.observation import FailsBy, Observation, Outcome, ReportReading, TestResult

_LETTERS = {
    "p": Outcome.PASSED,
    "f": Outcome.FAILED,
    "e": Outcome.ERROR,
    "s": Outcome.SKIPPED,
    "x": Outcome.XFAILED,
    "X": Outcome.XPASSED,
}


def seen(
    outcomes: str = "",
    *,
    broken: Mapping[str, str] | None = None,
    exit_code: int | None = None,
    ended: str = "exited",
    whole: bool = True,
    milliseconds: int = 100,
    output: str = "",
) -> Observation:
    """Return an observation from words such as ``t/a.py::one=p t/a.py::two=f``; the file is what is before ``::``."""
    tests = []
    for word in outcomes.split():
        name, _, letter = word.rpartition("=")
        outcome = _LETTERS[letter]
        fails_by = {Outcome.FAILED: FailsBy.ASSERTION, Outcome.ERROR: FailsBy.ERROR}.get(outcome)
        tests.append(TestResult(id=name, file=name.split("::")[0], outcome=outcome, fails_by=fails_by))
    red = bool(broken) or any(test.outcome in {Outcome.FAILED, Outcome.ERROR} for test in tests)
    return Observation(
        reading=ReportReading(
            tests=tuple(tests), broken_files=dict(broken or {}), whole=whole, breach="" if whole else "no end"
        ),
        exit_code=exit_code if exit_code is not None else int(red),
        ended=ended,
        milliseconds=milliseconds,
        peak_memory_kb=1000,
        output_tail=output,
    )
