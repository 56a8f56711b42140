"""From repeated observations of base and head to a verdict: admitted, or refused with a reason. Pure.

Source of the rules: the project's verdict specification, sections 4 and 6.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from execution.observation import RED, FailsBy, Observation, Outcome, TestResult
from execution.sandbox import Ended
from miner.judgement import ExcludedFile, FailsByRow
from miner.reasons import Reason

_ENDED_AS = {
    Ended.TIMEOUT: FailsBy.TIMEOUT,
    Ended.OUT_OF_MEMORY: FailsBy.OUT_OF_MEMORY,
    Ended.SIGNALLED: FailsBy.CRASH,
    Ended.OUTPUT_LIMIT: FailsBy.CRASH,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class TestLists:
    """The tests by what they did in all runs; each tuple is sorted."""

    __test__ = False

    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    fails_by: tuple[FailsByRow, ...] = ()
    skipped_at_head: tuple[str, ...] = ()
    unstable_at_base: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """Admitted when ``reason`` is None; ``detail`` is one sentence with the evidence."""

    reason: Reason | None
    detail: str
    files: tuple[str, ...]
    excluded: tuple[ExcludedFile, ...]
    lists: TestLists


def results(observation: Observation) -> Mapping[str, TestResult]:
    """Return the tests of a run by id."""
    return {test.id: test for test in observation.reading.tests}


def red_files(observation: Observation, files: Iterable[str]) -> dict[str, str]:
    """Return the files that are red in a run, each with its evidence: what keeps it from loading, or a failing test."""
    red = {path: f"can't be loaded: {why}" for path, why in observation.reading.broken_files.items()}
    for test in observation.reading.tests:
        if test.outcome in RED and test.file not in red:
            red[test.file] = f"{test.id} {test.outcome.value}" + (f": {test.message}" if test.message else "")
    return {path: red[path] for path in files if path in red}


def empty_files(observation: Observation, files: Iterable[str]) -> tuple[str, ...]:
    """Return the files that neither have a test in a run nor are broken."""
    seen = {test.file for test in observation.reading.tests} | set(observation.reading.broken_files)
    return tuple(path for path in files if path not in seen)


def head_fault(observation: Observation) -> tuple[Reason, str] | None:
    """Return why a head run can't be judged test by test, or None when its report is whole and holds tests."""
    if observation.ended == Ended.TIMEOUT:
        return Reason.TIMEOUT, f"the head did not end within {observation.milliseconds // 1000} s"
    if observation.ended == Ended.OUT_OF_MEMORY:
        return Reason.OUT_OF_MEMORY, f"the head reached the memory limit at {observation.peak_memory_kb // 1024} MB"
    if observation.ended == Ended.OUTPUT_LIMIT:
        return Reason.REPORT_MISSING, "the head wrote more than the output limit allows and was ended"
    if not observation.reading.whole:
        return Reason.REPORT_MISSING, f"exit code {observation.exit_code}, {observation.reading.breach}"
    if not observation.reading.tests and not observation.reading.broken_files:
        return Reason.COLLECTS_NOTHING, f"no test in the graded files, exit code {observation.exit_code}"
    return None


def died_without_report(observation: Observation) -> bool:
    """Whether the runner ended by itself and told of no test and no broken file at all."""
    reading = observation.reading
    return not reading.whole and not reading.tests and not reading.broken_files and observation.ended == Ended.EXITED


def passes_at_head(heads: Sequence[Observation], files: Iterable[str]) -> dict[str, TestResult]:
    """Return the tests of ``files`` that pass in every head run."""
    wanted = set(files)
    passing = {test.id: test for test in heads[0].reading.tests if test.file in wanted}
    for head in heads:
        seen = results(head)
        passing = {
            name: test for name, test in passing.items() if name in seen and seen[name].outcome == Outcome.PASSED
        }
    return passing


def changing_files(heads: Sequence[Observation], files: Iterable[str]) -> dict[str, str]:
    """Return the files with a test (or their loading) that differs between head runs, each with its evidence."""
    changing: dict[str, str] = {}
    first = results(heads[0])
    for head in heads[1:]:
        seen = results(head)
        for name in sorted(first.keys() | seen.keys()):
            before, now = first.get(name), seen.get(name)
            if before is None or now is None or before.outcome != now.outcome:
                path = (before or now or first[name]).file
                words = f"{before.outcome.value if before else 'absent'}, then {now.outcome.value if now else 'absent'}"
                changing.setdefault(path, f"{name}: {words} ({head.variation or 'as recorded'})")
        for path in head.reading.broken_files.keys() ^ heads[0].reading.broken_files.keys():
            changing.setdefault(path, f"{path} loads in some runs only ({head.variation or 'as recorded'})")
    return {path: changing[path] for path in files if path in changing}


def failed_in(base: Observation, test: TestResult) -> FailsBy | None:
    """Return how a test that passes at head fails in a base run, or None when it does not fail there."""
    seen = results(base).get(test.id)
    if seen is not None:
        return (seen.fails_by or FailsBy.ERROR) if seen.outcome in RED else None
    if test.file in base.reading.broken_files:
        return FailsBy.COLLECTION
    if base.ended != Ended.EXITED:
        return _ENDED_AS[Ended(base.ended)]
    return FailsBy.MISSING if base.reading.whole else FailsBy.CRASH


def base_is_green(bases: Sequence[Observation], heads: Sequence[Observation], files: Iterable[str]) -> bool:
    """Whether no test that passes at head fails in any base run."""
    return not any(failed_in(base, test) for test in passes_at_head(heads, files).values() for base in bases)


def test_lists(heads: Sequence[Observation], bases: Sequence[Observation], files: Iterable[str]) -> TestLists:
    """Sort the tests of ``files`` by what they did in all runs. Needs at least one run of each state."""
    wanted = tuple(files)
    fail_to_pass, pass_to_pass, unstable = [], [], []
    fails_by = []
    for name, test in sorted(passes_at_head(heads, wanted).items()):
        how = [failed_in(base, test) for base in bases]
        if all(how):
            fail_to_pass.append(name)
            fails_by.append(FailsByRow(id=name, how=str(how[0])))
        elif any(how):
            unstable.append(name)
        elif all(results(base)[name].outcome == Outcome.PASSED for base in bases):
            pass_to_pass.append(name)
        elif len({results(base)[name].outcome for base in bases}) > 1:
            unstable.append(name)
    # A set: a test that no file can be told for stands in the reading once for each graded file.
    skipped = sorted(
        {
            test.id
            for test in heads[0].reading.tests
            if test.file in wanted and test.outcome in {Outcome.SKIPPED, Outcome.XFAILED, Outcome.XPASSED, Outcome.TODO}
        }
    )
    return TestLists(
        fail_to_pass=tuple(fail_to_pass),
        pass_to_pass=tuple(pass_to_pass),
        fails_by=tuple(fails_by),
        skipped_at_head=tuple(skipped),
        unstable_at_base=tuple(unstable),
    )


def exclude_red(
    red: Mapping[str, str], base: Observation, with_network: Observation, again: Observation | None
) -> tuple[ExcludedFile, ...]:
    """Say of each file that is red at head why it can't grade: the network, chance, red at both ends, the head alone.

    ``again`` is a second run without the network, made when the one with it was green for a file: what is green then
    too needed no network but luck.
    """
    rows = []
    for path, evidence in red.items():
        if not with_network.reading.whole or red_files(with_network, (path,)):
            reason = _red_at(base, path)
        elif again is None or not again.reading.whole or red_files(again, (path,)):
            reason = Reason.NEEDS_NETWORK
        else:
            reason = Reason.FLAKY
        rows.append(ExcludedFile(path=path, reason=reason, detail=evidence))
    return tuple(rows)


def _red_at(base: Observation, path: str) -> Reason:
    if base.ended != Ended.EXITED or not base.reading.whole or red_files(base, (path,)):
        return Reason.RED_AT_BOTH
    return Reason.HEAD_FAILS


def refusal(excluded: Sequence[ExcludedFile]) -> tuple[Reason, str]:
    """Return the reason and the evidence when every graded file was left out: the first in the table's order."""
    order = list(Reason)
    worst = min(excluded, key=lambda row: order.index(row.reason))
    return worst.reason, f"{worst.path}: {worst.detail}"


def together(first: TestLists, second: TestLists) -> TestLists:
    """Return the lists of two sets of files as one."""
    return TestLists(
        fail_to_pass=tuple(sorted({*first.fail_to_pass, *second.fail_to_pass})),
        pass_to_pass=tuple(sorted({*first.pass_to_pass, *second.pass_to_pass})),
        fails_by=tuple(sorted({*first.fails_by, *second.fails_by}, key=lambda row: row.id)),
        skipped_at_head=tuple(sorted({*first.skipped_at_head, *second.skipped_at_head})),
        unstable_at_base=tuple(sorted({*first.unstable_at_base, *second.unstable_at_base})),
    )


def with_left_out(verdict: Verdict, flips: TestLists) -> Verdict:
    """Return a refusal that tells of the tests in files that were left out too; an admission stays as it is.

    Where the kept files pass at the base and the tests that flip are in files that were left out, those are the reason.
    """
    if verdict.reason is None:
        return verdict
    reason, detail = verdict.reason, verdict.detail
    if reason is Reason.BASE_PASSES and flips.fail_to_pass:
        reason, detail = refusal(verdict.excluded)
    return replace(verdict, reason=reason, detail=detail, lists=together(verdict.lists, flips))


def decide(
    heads: Sequence[Observation],
    bases: Sequence[Observation],
    files: tuple[str, ...],
    excluded: tuple[ExcludedFile, ...],
) -> Verdict:
    """Decide over the kept files, whose head runs are all whole and green. Needs at least one run of each state."""
    lists = test_lists(heads, bases, files)
    reason: Reason | None = None
    detail = f"{len(lists.fail_to_pass)} fail to pass, {len(lists.pass_to_pass)} pass to pass"
    bad_exit = next((head for head in heads if head.exit_code != 0), None)
    if bad_exit is not None:
        reason, detail = Reason.HEAD_FAILS, f"every test passes at the head, yet the exit code is {bad_exit.exit_code}"
    elif not lists.fail_to_pass and lists.unstable_at_base:
        reason = Reason.FLAKY
        detail = f"no test fails in every base run; {lists.unstable_at_base[0]} fails in some"
    elif not lists.fail_to_pass and not lists.pass_to_pass:
        # Nothing that is left can grade, so what was left out is the reason; else every test was skipped.
        reason, detail = refusal(excluded) if excluded else (Reason.COLLECTS_NOTHING, "no test passes at the head")
    elif not lists.fail_to_pass:
        reason = Reason.BASE_PASSES
        detail = f"{len(lists.pass_to_pass)} tests pass at the base with the test part alone, none fails"
    return Verdict(reason=reason, detail=detail, files=files, excluded=excluded, lists=lists)
