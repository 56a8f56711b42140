"""A change judged by exit codes alone, where the user asked for that: base not zero, head zero, in every run.

No report is read and no test is known, so the lists stay empty and no file can be left out by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from execution.observation import Observation
from execution.sandbox import Ended, Limits
from miner.observe import Runner, RunRequest, Runs, State, Trial, last_line, time_limit, variation
from miner.reasons import Reason
from miner.verdict import TestLists, Verdict

_ENDINGS = {Ended.TIMEOUT: Reason.TIMEOUT, Ended.OUT_OF_MEMORY: Reason.OUT_OF_MEMORY}


def try_by_exit_code(run: Runner, files: tuple[str, ...], repeat: int, limits: Limits) -> Trial:
    """Run both states until the verdict stands; the head goes first. A base that times out has failed.

    ``limits.seconds`` bounds the first head run; later runs get ``time_limit``. ``repeat`` is at least 1.
    """
    runs = Runs(run)
    heads = [runs(RunRequest(state=State.HEAD, files=files, limits=limits))]
    tight = replace(limits, seconds=time_limit(heads, limits.seconds))
    bases = [runs(RunRequest(state=State.BASE, files=files, limits=tight))]
    if not passes(heads[0]):
        online = runs(RunRequest(state=State.HEAD, files=files, limits=tight, network=True))
        reason, detail = head_refusal(heads[0], bases[0], online)
        return _trial(runs, heads, bases, tight, _verdict(files, reason, detail))
    for number in range(1, repeat):
        if passes(bases[-1]) or not passes(heads[-1]):
            break
        ordered = files[::-1] if number % 2 else files
        heads.append(runs(RunRequest(state=State.HEAD, files=ordered, limits=tight, variation=variation(number))))
        tight = replace(tight, seconds=max(tight.seconds, time_limit(heads, limits.seconds)))
        if sum(base.ended == Ended.TIMEOUT for base in bases) < 2:
            bases.append(runs(RunRequest(state=State.BASE, files=ordered, limits=tight, variation=variation(number))))
    return _trial(runs, heads, bases, tight, decide_by_exit_code(heads, bases, files))


def passes(observation: Observation) -> bool:
    """Whether a run ended by itself with 0."""
    return observation.ended == Ended.EXITED and observation.exit_code == 0


def head_refusal(head: Observation, base: Observation, online: Observation) -> tuple[Reason, str]:
    """Return why a head that does not pass refuses a change: its limits, the network, both ends, or the head alone."""
    detail = f"the head ended with {head.exit_code}: {last_line(head)}"
    if passes(online):
        return Reason.NEEDS_NETWORK, f"with the network denied {detail}"
    if head.ended in _ENDINGS:
        return _ENDINGS[Ended(head.ended)], f"the head was ended by {head.ended} after {head.milliseconds // 1000} s"
    return (Reason.HEAD_FAILS if passes(base) else Reason.RED_AT_BOTH), detail


def decide_by_exit_code(heads: Sequence[Observation], bases: Sequence[Observation], files: tuple[str, ...]) -> Verdict:
    """Decide over runs of which the first at the head passes. Needs at least one run of each state."""
    red = next((head for head in heads if not passes(head)), None)
    green = [base for base in bases if passes(base)]
    if red is not None:
        how = red.variation or "as recorded"
        return _verdict(files, Reason.FLAKY, f"the head ended with 0, then with {red.exit_code} ({how})")
    if len(green) == len(bases):
        return _verdict(files, Reason.BASE_PASSES, "the base ends with 0 with the test part alone")
    if green:
        failing = next(base.exit_code for base in bases if not passes(base))
        return _verdict(files, Reason.FLAKY, f"the base ended with {failing} in some runs and with 0 in others")
    return _verdict(files, None, f"the base ends with {bases[0].exit_code}, the head with 0")


def _verdict(files: tuple[str, ...], reason: Reason | None, detail: str) -> Verdict:
    return Verdict(reason=reason, detail=detail, files=files, excluded=(), lists=TestLists())


def _trial(
    runs: Runs, heads: Sequence[Observation], bases: Sequence[Observation], limits: Limits, verdict: Verdict
) -> Trial:
    return Trial(
        verdict=verdict,
        heads=tuple(heads),
        bases=tuple(bases),
        limits=limits,
        runs=runs.count,
        milliseconds=runs.milliseconds,
    )
