"""Base and head, repeated and varied, until the verdict can't change any more.

The head of each repeat decides whether its base is looked at. Where a processor is free the base runs beside the head,
ahead of being asked for: what is seen, counted and recorded is what it is when one follows the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from execution.observation import Observation
from execution.sandbox import Ended, Limits
from miner.judgement import ExcludedFile
from miner.processors import Processors
from miner.reasons import Reason
from miner.verdict import (
    TestLists,
    Verdict,
    base_is_green,
    changing_files,
    decide,
    died_without_report,
    empty_files,
    exclude_red,
    head_fault,
    red_files,
    refusal,
    test_lists,
    together,
    with_left_out,
)

# What is varied from the second run on. The zones lie a day apart; fixed seeds, so that a verdict can be repeated.
VARIATIONS: Final[tuple[Mapping[str, str], ...]] = (
    {},
    {"hash_seed": "1", "time_zone": "Pacific/Kiritimati"},
    {"hash_seed": "4242", "time_zone": "Pacific/Pago_Pago"},
    {"hash_seed": "77", "time_zone": "Asia/Kathmandu"},
)
SHORTEST_SECONDS = 60
SLOWEST_TIMES = 10


class State(StrEnum):
    """The two states of a case."""

    BASE = "base"
    HEAD = "head"


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRequest:
    """One run that is wanted: which state, which graded files in which order, how varied, within which limits."""

    state: State
    files: tuple[str, ...]
    limits: Limits
    variation: Mapping[str, str] = field(default_factory=dict)
    network: bool = False


Runner = Callable[[RunRequest], Observation]
Ask = Callable[[Limits], Observation]


@dataclass(frozen=True, kw_only=True, slots=True)
class _LeftOut:
    """Files that can't grade, and what their tests did in the runs that showed it."""

    rows: tuple[ExcludedFile, ...]
    lists: TestLists


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """All runs of the kept files, and the verdict over them. ``runs`` counts every run, given-up ones included."""

    verdict: Verdict
    heads: tuple[Observation, ...]
    bases: tuple[Observation, ...]
    limits: Limits
    runs: int
    milliseconds: int


def time_limit(heads: Sequence[Observation], longest: int) -> int:
    """Return the time limit in seconds: ten times the slowest head run, at least a minute, at most ``longest``."""
    slowest = max(head.milliseconds for head in heads)
    return min(max(SHORTEST_SECONDS, -(-slowest * SLOWEST_TIMES // 1000)), longest)


def variation(number: int) -> Mapping[str, str]:
    """Return the variation of the ``number``-th repeat; the first (0) is the run exactly as recorded."""
    if number == 0:
        return VARIATIONS[0]
    return VARIATIONS[1 + (number - 1) % (len(VARIATIONS) - 1)]


class Runs:
    """A runner that counts runs and their time (milliseconds) while a trial goes on; ``processors`` says what is free.

    A run that was made ahead and that nobody asked for is not counted.
    """

    def __init__(self, run: Runner, processors: Processors | None = None) -> None:
        self._run = run
        self._processors = processors or Processors(0)
        self.count = 0
        self.milliseconds = 0

    def __call__(self, request: RunRequest) -> Observation:
        """Run once and count it."""
        return self._counted(self._run(request))

    @contextmanager
    def ahead(self, request: RunRequest) -> Iterator[Ask]:
        """Begin a run now if a processor is free; give how to ask for it, by the limits that it turns out to have.

        Those may be longer than the request's, never shorter. The run is over when this ends, asked for or not; what it
        raised is raised then.
        """
        with self._processors.spare() as free:
            if not free:
                yield lambda limits: self(replace(request, limits=limits))
                return
            with ThreadPoolExecutor(max_workers=1, thread_name_prefix="beside") as pool:
                begun = pool.submit(self._run, request)

                def ask(limits: Limits) -> Observation:
                    seen = begun.result()
                    # With more time it may have come to another end; any other end is the one that it would have had.
                    if seen.ended == Ended.TIMEOUT and limits != request.limits:
                        return self(replace(request, limits=limits))
                    return self._counted(seen)

                yield ask
                begun.result()

    def _counted(self, seen: Observation) -> Observation:
        self.count += 1
        self.milliseconds += seen.milliseconds
        return seen


def try_change(
    run: Runner, files: tuple[str, ...], repeat: int, limits: Limits, processors: Processors | None = None
) -> Trial:
    """Run both states until the verdict stands; the head goes first, the base beside it where ``processors`` are free.

    ``limits.seconds`` bounds the first head run; later runs get ``time_limit``. ``repeat`` is at least 1. ``run`` is
    called from two threads at once then.
    """
    runs = Runs(run, processors)
    kept = files
    excluded: tuple[ExcludedFile, ...] = ()
    flips = TestLists()
    while True:
        outcome = _round(runs, kept, excluded, repeat, limits)
        if isinstance(outcome, Trial):
            verdict = with_left_out(outcome.verdict, flips)
            return replace(outcome, verdict=verdict, runs=runs.count, milliseconds=runs.milliseconds)
        # A file that can't grade may have disturbed the others, so what is left is seen from the start.
        excluded = (*excluded, *outcome.rows)
        flips = together(flips, outcome.lists)
        left_out = {row.path for row in excluded}
        kept = tuple(path for path in files if path not in left_out)


def _round(
    runs: Runs, files: tuple[str, ...], excluded: tuple[ExcludedFile, ...], repeat: int, limits: Limits
) -> Trial | _LeftOut:
    """Observe ``files``: a trial that ends here, or further files to leave out before looking again."""
    # No run gets less than this, whatever the head takes.
    least = replace(limits, seconds=min(SHORTEST_SECONDS, limits.seconds))
    with runs.ahead(RunRequest(state=State.BASE, files=files, limits=least)) as ask_base:
        first = runs(RunRequest(state=State.HEAD, files=files, limits=limits))
        tight = replace(limits, seconds=time_limit((first,), limits.seconds))
        if head_fault(first) is not None or red_files(first, files):
            return _head_is_red(runs, first, ask_base(tight), files, excluded, tight)
        unseen = empty_files(first, files)
        if unseen:
            rows = tuple(
                ExcludedFile(path=path, reason=Reason.COLLECTS_NOTHING, detail="no test in this file")
                for path in unseen
            )
            return _left_out(rows, (first,), (), files, excluded, tight)
        heads, bases = [first], [ask_base(tight)]
    if base_is_green(bases, heads, files) or first.exit_code != 0:
        return _trial(decide(heads, bases, files, excluded), heads, bases, tight)
    return _repeats(runs, heads, bases, files, excluded, repeat, limits, tight)


def _repeats(
    runs: Runs,
    heads: list[Observation],
    bases: list[Observation],
    files: tuple[str, ...],
    excluded: tuple[ExcludedFile, ...],
    repeat: int,
    limits: Limits,
    tight: Limits,
) -> Trial | _LeftOut:
    """Observe what a first run of each state has shown to be worth it; ``tight`` are the limits by then."""
    for number in range(1, repeat):
        ordered = files[::-1] if number % 2 else files
        base = RunRequest(state=State.BASE, files=ordered, limits=tight, variation=variation(number))
        hangs = sum(base.ended == Ended.TIMEOUT for base in bases) >= 2
        with nullcontext() if hangs else runs.ahead(base) as ask_base:
            heads.append(runs(replace(base, state=State.HEAD)))
            shaky = _shaky(heads, files)
            if shaky:
                return _left_out(shaky, heads, bases, files, excluded, tight)
            tight = replace(tight, seconds=max(tight.seconds, time_limit(heads, limits.seconds)))
            if ask_base is not None:
                bases.append(ask_base(tight))
    return _trial(decide(heads, bases, files, excluded), heads, bases, tight)


def _shaky(heads: Sequence[Observation], files: tuple[str, ...]) -> tuple[ExcludedFile, ...]:
    """Return the files that the last head run shows to be flaky; all of them when the run itself went wrong."""
    fault = head_fault(heads[-1])
    if fault is not None:
        why = f"a repeat at the head went wrong: {fault[1]} ({heads[-1].variation or 'as recorded'})"
        return tuple(ExcludedFile(path=path, reason=Reason.FLAKY, detail=why) for path in files)
    return tuple(
        ExcludedFile(path=path, reason=Reason.FLAKY, detail=why) for path, why in changing_files(heads, files).items()
    )


def _head_is_red(
    runs: Runs,
    head: Observation,
    base: Observation,
    files: tuple[str, ...],
    excluded: tuple[ExcludedFile, ...],
    limits: Limits,
) -> Trial | _LeftOut:
    """Tell the network, chance, the environment and the head itself apart, with one more run of each kind."""
    online = runs(RunRequest(state=State.HEAD, files=files, limits=limits, network=True))
    red = red_files(head, files)
    greener = head_fault(online) is None and len(red_files(online, files)) < (len(red) or 1)
    again = runs(RunRequest(state=State.HEAD, files=files, limits=limits)) if greener else None
    fault = head_fault(head)
    if fault is None:
        rows = exclude_red(red, base, online, again)
        return _left_out(rows, (head,), (base,), files, excluded, limits)
    reason, detail = fault
    if again is not None and head_fault(again) is None and not red_files(again, files):
        reason, detail = Reason.FLAKY, f"the head went wrong once and right twice: {detail}"
    elif greener and not red_files(online, files):
        reason, detail = Reason.NEEDS_NETWORK, f"with the network denied: {detail}"
    elif died_without_report(head) and died_without_report(base):
        reason = Reason.ENVIRONMENT_FAILED
        detail = f"at both states {head.reading.breach}: {last_line(head)}"
    verdict = Verdict(reason=reason, detail=detail, files=files, excluded=excluded, lists=TestLists())
    return _trial(verdict, (head,), (base,), limits)


def last_line(observation: Observation) -> str:
    """Return the last line that a run printed, cut to what a sentence takes; its exit code when it printed none."""
    lines = [line.strip() for line in observation.output_tail.splitlines() if line.strip()]
    return lines[-1][:300] if lines else f"exit code {observation.exit_code}, no output"


def _left_out(
    rows: tuple[ExcludedFile, ...],
    heads: Sequence[Observation],
    bases: Sequence[Observation],
    files: tuple[str, ...],
    excluded: tuple[ExcludedFile, ...],
    limits: Limits,
) -> Trial | _LeftOut:
    """Return ``rows`` when graded files are left, else the trial that ends for want of any."""
    lists = test_lists(heads, bases, (row.path for row in rows)) if bases else TestLists()
    if len(rows) < len(files):
        return _LeftOut(rows=rows, lists=lists)
    every = (*excluded, *rows)
    reason, detail = refusal(every)
    return _trial(Verdict(reason=reason, detail=detail, files=(), excluded=every, lists=lists), heads, bases, limits)


def _trial(verdict: Verdict, heads: Sequence[Observation], bases: Sequence[Observation], limits: Limits) -> Trial:
    return Trial(verdict=verdict, heads=tuple(heads), bases=tuple(bases), limits=limits, runs=0, milliseconds=0)
