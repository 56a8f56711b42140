"""The recorded shell commands, run by ``sh`` in a fresh plain clone: set-up, apply and check at base, check at head.

Source of the rule: the project's verdict specification, section 7. What is published is what was run here.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from authoring.clone_run import CACHING, CloneRun, how, last_lines, with_cache
from authoring.package_folder import PackageFolder
from casewright.errors import InvalidInputError, PackagesError
from casewright.repository import Repository
from casewright.store import DOWNLOADS, Store
from execution.build import BUILD_LIMITS, download_key
from execution.languages.base import Check, Language
from execution.observation import Observation, Outcome, ReportReading
from execution.recipe import Runtime
from execution.sandbox import TREE_DIR, Ended, Limits, Sandbox, SandboxOutcome

_PRISTINE = "../.pristine"
# The set-up's state is copied, since neither `git clean` nor a second set-up gives it back byte for byte.
_KEEP = f"cp -a . {_PRISTINE}"
_LARGEST_REPORT = 256 * 1024**2
_COUNT = re.compile(r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed|todo|pending|not loaded)\b")
_NAMED_COUNT = re.compile(r"\b(failures|errors|skipped|expected failures|unexpected successes)=(\d+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Expected:
    """What the record says of one state; ``outcomes`` maps ids to ``passed``, ``red`` or ``neither`` (see ``kind``)."""

    exit_code: int
    ended: str
    outcomes: Mapping[str, str]
    summary: str
    whole: bool


def expected_of(runs: Sequence[Observation]) -> Expected:
    """Return what the observed runs of one state lead to expect of the recorded one.

    What differed between the runs (a test that is unstable at the base) can't be expected to come out in any one way.
    """
    first = runs[0]
    outcomes = {test.id: kind(test.outcome) for test in first.reading.tests}
    for run in runs[1:]:
        seen = {test.id: kind(test.outcome) for test in run.reading.tests}
        outcomes = {name: outcome for name, outcome in outcomes.items() if seen.get(name) == outcome}
    stable = all(counts_in(run.reading.summary) == counts_in(first.reading.summary) for run in runs)
    return Expected(
        exit_code=first.exit_code,
        ended=first.ended,
        outcomes=outcomes,
        summary=first.reading.summary if stable else "",
        whole=first.reading.whole,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Recorded:
    """The commands of a case and what was seen when it was admitted; ``directory`` is where the check runs.

    ``repository`` is the id that its download cache goes by; ``url`` (empty where nobody has one) is cloned.
    With ``by_exit_code`` nothing but the exit codes of the two checks is compared.
    """

    repository: str
    url: str
    base: str
    grading: str
    setup: tuple[str, ...]
    apply: str
    check: Check
    directory: str
    runtime: Runtime
    limits: Limits
    base_seen: Expected
    head_seen: Expected
    by_exit_code: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Reproduction:
    """``difference`` is empty when both states gave what was recorded, else one sentence with the evidence."""

    difference: str
    milliseconds: int


def reproduce(
    recorded: Recorded,
    repository: Repository,
    language: Language,
    sandbox: Sandbox,
    store: Store,
    *,
    pass_env: tuple[str, ...] = (),
    packages: PackageFolder | None = None,
) -> Reproduction:
    """Run a case's commands in a fresh plain clone and compare with the record.

    With ``packages`` its set-up has no network either, and installs from there. Raises ``InfrastructureError``,
    ``SandboxUnavailableError`` and ``RepositoryError``: none is a difference.
    """
    with ExitStack() as stack:
        case = stack.enter_context(store.scratch()) / "case"
        case.mkdir()
        repository.plain_clone(case / "repo", recorded.url)
        if packages is None:
            mount = with_cache(stack.enter_context(store.shared(DOWNLOADS, download_key(recorded.repository))))
        else:
            mount = stack.enter_context(packages.laid_out(case))
        clone = CloneRun(
            language=language,
            runtime=recorded.runtime,
            sandbox=sandbox,
            case=case,
            mounts=(mount,),
            pass_env=pass_env,
        )
        steps = _Steps(recorded=recorded, clone=clone, packages=packages)
        difference = steps.set_up() or steps.base() or steps.head()
    return Reproduction(difference=difference, milliseconds=steps.milliseconds)


class _Steps:
    """The steps of one reproduction; each returns a difference, or an empty text."""

    def __init__(self, *, recorded: Recorded, clone: CloneRun, packages: PackageFolder | None) -> None:
        self._recorded = recorded
        self._clone = clone
        self._packages = packages
        self.milliseconds = 0

    def set_up(self) -> str:
        outcome = self._counted(self._clone.check_out(self._recorded.base, BUILD_LIMITS))
        if outcome.exit_code != 0:
            return f"the base commit could not be checked out: {how(outcome)}"
        online = self._packages is None
        env = CACHING if self._packages is None else self._packages.variables
        for number, command in enumerate((*self._recorded.setup, _KEEP), start=1):
            outcome = self._counted(self._clone.run(command, BUILD_LIMITS, network=online, env=env))
            if outcome.ended == Ended.EXITED and outcome.exit_code == 0:
                continue
            if online:
                return self._clone.language.failed_set_up(f"set-up command {number}", outcome)
            # Without the network it may fail for want of it alone, and that is no difference.
            raise PackagesError(
                f"set-up command {number} failed with the network denied: {how(outcome)}",
                "see whether it works without --offline",
            )
        return ""

    def base(self) -> str:
        outcome = self._run(self._recorded.apply, TREE_DIR, self._recorded.limits)
        if outcome.exit_code != 0:
            return f"the apply command failed: {how(outcome)}"
        return self._check("base", self._recorded.base_seen)

    def head(self) -> str:
        # The old tree stays the working directory of nobody: each step is a sandbox of its own.
        swap = f"cd .. && rm -rf repo && mv {PurePosixPath(_PRISTINE).name} repo && cd repo"
        checkout = (
            f"git -c advice.detachedHead=false checkout -q --force --detach {shlex.quote(self._recorded.grading)}"
        )
        outcome = self._run(f"{swap} && {checkout}", TREE_DIR, self._recorded.limits)
        if outcome.exit_code != 0:
            return f"the grading commit could not be checked out: {how(outcome)}"
        return self._check("head", self._recorded.head_seen)

    def _check(self, state: str, seen: Expected) -> str:
        check = self._recorded.check
        # By name alone: a test may have put a link where the tree was.
        report = Path(os.path.normpath(self._clone.case / "repo" / check.report_file))
        directory = str(PurePosixPath(TREE_DIR) / self._recorded.directory)
        outcome = self._run(check.command, directory, self._recorded.limits)
        if self._recorded.by_exit_code:
            difference = compare_exit_codes(seen, outcome)
            return f"{state}: {difference}" if difference else ""
        data = read_report(report) if check.report_file else b""
        try:
            reading = self._clone.language.read_recorded(check, data, outcome.output)
        except InvalidInputError as error:
            reading = ReportReading(breach=error.message)
        difference = compare(seen, outcome, reading)
        return f"{state}: {difference}" if difference else ""

    def _run(self, command: str, cwd: str, limits: Limits) -> SandboxOutcome:
        return self._counted(self._clone.run(command, limits, cwd=cwd))

    def _counted(self, outcome: SandboxOutcome) -> SandboxOutcome:
        self.milliseconds += outcome.milliseconds
        return outcome


def read_report(path: Path) -> bytes:
    """Return a report's bytes; nothing when it is no plain file (a link would lead out) or absurdly large."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode) or state.st_size > _LARGEST_REPORT:
            return b""
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(_LARGEST_REPORT)
    finally:
        os.close(handle)


def compare(expected: Expected, outcome: SandboxOutcome, reading: ReportReading) -> str:
    """Return in one sentence how a recorded run differs from what the record says; empty when it does not.

    Exit codes, counts by outcome and the outcome of each id that the report carries unambiguously must be equal;
    durations never matter.
    """
    if outcome.ended != expected.ended:
        return f"the run ended by {outcome.ended.value}, recorded is {expected.ended}"
    if outcome.ended != Ended.EXITED:
        return ""
    return compare_exit_codes(expected, outcome) or next(_different(expected, reading), "")


def compare_exit_codes(expected: Expected, outcome: SandboxOutcome) -> str:
    """Return in one sentence that a run's exit code is not the recorded one; empty when it is."""
    if outcome.exit_code == expected.exit_code:
        return ""
    return f"exit code {outcome.exit_code}, recorded is {expected.exit_code}: {last_lines(outcome.output)}"


def _different(expected: Expected, reading: ReportReading) -> Iterator[str]:
    # Where no test ended there may be no report: pytest writes none when a conftest can't be loaded.
    if expected.whole and expected.outcomes and not reading.whole:
        yield f"the report is not whole: {reading.breach}"
    for test in reading.tests:
        recorded = expected.outcomes.get(test.id)
        if recorded is not None and kind(test.outcome) != recorded:
            yield f"{test.id} {test.outcome.value}, recorded is {recorded}: {test.message}"
    seen, recorded_counts = counts_in(reading.summary), counts_in(expected.summary)
    if seen and recorded_counts and seen != recorded_counts:
        yield f"{reading.summary!r}, recorded is {expected.summary!r}"


def counts_in(summary: str) -> dict[str, int]:
    """Return the counts by outcome that a runner's summary line states, such as ``{"failed": 2, "passed": 5}``.

    Warnings and durations are not outcomes. An empty mapping means that it states none.
    """
    counts: dict[str, int] = {}
    for number, word in _COUNT.findall(summary):
        counts[word.rstrip("s")] = int(number)
    for word, number in _NAMED_COUNT.findall(summary):
        counts[word] = int(number)
    return counts


def kind(outcome: Outcome) -> str:
    """Return what a report of any format can tell of an outcome: passed, red or neither."""
    if outcome in {Outcome.FAILED, Outcome.ERROR}:
        return "red"
    return "passed" if outcome is Outcome.PASSED else "neither"
