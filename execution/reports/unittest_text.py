"""From what ``python -m unittest -v`` prints to its counts and to the outcomes that can't be mistaken.

The text is shared with whatever the tests print, so a result is taken only from a line that is whole; what is printed
between a test's name and its verdict makes that test unreadable, and it is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from execution.observation import Outcome

# `test_two (tests.test_box.BoxTest) ... ok` until Python 3.10, `test_two (tests.test_box.BoxTest.test_two) ... ok`
# since.
_RESULT = re.compile(
    r"^(?P<method>[\w.]+) \((?P<owner>[\w.<>]+)\) \.\.\. "
    r"(?P<verdict>ok|FAIL|ERROR|expected failure|unexpected success|skipped .*)$"
)
_RAN = re.compile(r"^Ran (\d+) tests? in [\d.]+s$")
_VERDICT = re.compile(r"^(?:OK|FAILED|NO TESTS RAN)(?: \(([a-z]+(?: [a-z]+)*=\d+(?:, [a-z]+(?: [a-z]+)*=\d+)*)\))?$")
_OUTCOMES = {
    "ok": Outcome.PASSED,
    "FAIL": Outcome.FAILED,
    "ERROR": Outcome.ERROR,
    "expected failure": Outcome.XFAILED,
    "unexpected success": Outcome.FAILED,
}
_FAILED_TEST = "unittest.loader._FailedTest"


def read_outcomes(output: bytes) -> Mapping[str, Outcome]:
    """Return the outcome of each id that stands on a line of its own with one verdict."""
    found: dict[str, Outcome] = {}
    twice: set[str] = set()
    for line in _lines(output):
        match = _RESULT.match(line)
        if not match or match["owner"].startswith(_FAILED_TEST):
            continue
        name = _id(match["method"], match["owner"])
        if name in found:
            twice.add(name)
        found[name] = _OUTCOMES.get(match["verdict"], Outcome.SKIPPED)
    return {name: outcome for name, outcome in found.items() if name not in twice}


def read_broken_modules(output: bytes) -> tuple[str, ...]:
    """Return the dotted names of the modules that could not be imported."""
    names: list[str] = []
    for line in _lines(output):
        match = _RESULT.match(line)
        if match and match["owner"].startswith(_FAILED_TEST):
            inner = match["owner"].removeprefix(_FAILED_TEST).removeprefix(".")
            names.append(inner or match["method"])
    return tuple(names)


def summary_line(output: bytes) -> str:
    """Return the verdict with the number of tests, such as ``Ran 3 tests: FAILED (failures=1)``; no duration."""
    verdict = ""
    for line in reversed(_lines(output)):
        if not verdict and _VERDICT.match(line):
            verdict = line
        elif verdict and (ran := _RAN.match(line)):
            return f"Ran {ran.group(1)} {'test' if ran.group(1) == '1' else 'tests'}: {verdict}"
    return ""


def read_counts(output: bytes) -> Mapping[str, int]:
    """Return the numbers of the last lines: ``tests`` and whatever the verdict lists (``failures``, ``skipped`` …)."""
    counts: dict[str, int] = {}
    listed: str | None = None
    for line in reversed(_lines(output)):
        if listed is None and (verdict := _VERDICT.match(line)):
            listed = verdict.group(1) or ""
            counts = {
                name: int(number) for name, _, number in (part.partition("=") for part in listed.split(", ") if part)
            }
        elif listed is not None and (ran := _RAN.match(line)):
            return {"tests": int(ran.group(1)), **counts}
    return {}


def _id(method: str, owner: str) -> str:
    return owner if owner.rpartition(".")[2] == method else f"{owner}.{method}"


def _lines(output: bytes) -> list[str]:
    return [line.rstrip("\r") for line in output.decode("utf-8", "replace").split("\n")]
