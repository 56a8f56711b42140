"""What a stranger's run leaves behind, read back into the ids of the record.

pytest's JUnit XML names a test by the dotted path of its file and classes, so two tests of different files can have one
name; such names are left out. A plain pass and an unexpected one look the same there: the lines that ``-rX`` adds to
what is printed tell them apart, and where they don't, passes are left out.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter

from execution.languages.base import Check
from execution.observation import RED, SEVERITY, Outcome, ReportReading, TestResult
from execution.reports import unittest_text
from execution.reports.junit import JUnitCase, read_cases
from execution.reports.pytest_events import summary_line

_XPASSED = re.compile(r"(?:^|, )(\d+) xpassed")


def read_pytest(check: Check, report: bytes, output: bytes) -> ReportReading:
    """Read the JUnit XML of a pytest run. Raises ``InvalidInputError`` when it is not XML."""
    files = graded_arguments(check)
    found: dict[str, TestResult] = {}
    unsure: set[str] = set()
    broken: dict[str, str] = {}
    for case in read_cases(report):
        if not case.classname and case.outcome is Outcome.ERROR:
            owners = _owners(case.name, files)
            broken.update({file: case.message or "the file can't be collected" for file, _path in owners})
            continue
        owners = _owners(case.classname, files)
        # A character that XML can't hold is written as `#x1B`: the name can't be told from one that says so itself.
        if len(owners) != 1 or "#x" in case.name:
            unsure.update(_node_id(case, path) for _file, path in owners)
            continue
        result = _result(case, *owners[0])
        known = found.get(result.id)
        if known is None or SEVERITY[result.outcome] > SEVERITY[known.outcome]:
            found[result.id] = result
    tests = _mark_unexpected_passes(tuple(result for name, result in found.items() if name not in unsure), output)
    return ReportReading(tests=tests, broken_files=broken, whole=True, summary=summary_line(output), runner_version="")


def read_unittest(check: Check, output: bytes) -> ReportReading:
    """Read what ``python -m unittest -v`` printed."""
    files = graded_arguments(check)
    modules = {_dotted(file): file for file in files}
    broken: dict[str, str] = {}
    for name in unittest_text.read_broken_modules(output):
        # Below a folder that is no package the loader names the last part only.
        owners = [file for module, file in modules.items() if f".{module}".endswith(f".{name}")]
        broken.update(dict.fromkeys(owners if len(owners) == 1 else (), "the module can't be imported"))
    tests: list[TestResult] = []
    for name, outcome in unittest_text.read_outcomes(output).items():
        owners = [file for module, file in modules.items() if name.startswith(module + ".")]
        if len(owners) == 1:
            tests.append(TestResult(id=name, file=owners[0], outcome=outcome))
    summary = unittest_text.summary_line(output)
    return ReportReading(
        tests=tuple(tests),
        broken_files=broken,
        whole=bool(summary),
        breach="" if summary else "the runner printed no summary",
        summary=summary,
    )


def graded_arguments(check: Check) -> tuple[str, ...]:
    """Return the files that stand last in a check command, as they are given there."""
    words = shlex.split(check.command)
    names: list[str] = []
    for word in reversed(words):
        if word.startswith("-") or not word.endswith(".py"):
            break
        names.append(word)
    return tuple(reversed(names))


def _owners(classname: str, files: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the graded files that a class name may belong to, each with its path as pytest names it.

    pytest may name from a folder below the working one; a file that matches with its whole path goes first.
    """
    owners = [(file, path) for file in files if (path := _named_path(classname, file))]
    whole = [(file, path) for file, path in owners if file == path]
    return whole or owners


def _named_path(classname: str, file: str) -> str:
    path = file
    while path:
        dotted = _dotted(path)
        if classname == dotted or classname.startswith(dotted + "."):
            return path
        path = path.partition("/")[2]
    return ""


def _dotted(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def _node_id(case: JUnitCase, path: str) -> str:
    classes = [part for part in case.classname.removeprefix(_dotted(path)).split(".") if part]
    return "::".join([path, *classes, case.name])


def _result(case: JUnitCase, file: str, path: str) -> TestResult:
    outcome = case.outcome
    if outcome is Outcome.SKIPPED and case.kind == "pytest.xfail":
        outcome = Outcome.XFAILED
    message = case.message.split("\n", 1)[0] if outcome in RED else ""
    return TestResult(id=_node_id(case, path), file=file, outcome=outcome, message=message)


def _mark_unexpected_passes(tests: tuple[TestResult, ...], output: bytes) -> tuple[TestResult, ...]:
    counted = _XPASSED.search(summary_line(output))
    if not counted:
        return tests
    lines = [line for line in output.decode("utf-8", "replace").splitlines() if line.startswith("XPASS ")]
    announced = Counter(
        test.id
        for line in lines
        for test in tests
        if test.outcome is Outcome.PASSED and f"{line.removeprefix('XPASS ')} - ".startswith(f"{test.id} - ")
    )
    if len(lines) != int(counted.group(1)) or len(announced) != len(lines):
        return tuple(test for test in tests if test.outcome is not Outcome.PASSED)
    return tuple(
        TestResult(id=test.id, file=test.file, outcome=Outcome.XPASSED) if test.id in announced else test
        for test in tests
    )
