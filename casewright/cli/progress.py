"""How a mining run is followed on standard error: a live display on a terminal, a line for each verdict in a pipe.

What is counted is kept by ``Progress``; ``summary`` and ``lines`` make text of it and decide nothing. Nobody is told
anything with ``-q``. Standard output is never touched.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from casewright.cli.output import noted, one_line
from miner.judgement import Judgement, Standing
from miner.observer import Observer, Unheard

SHORT_ID: Final = 10
SHOWN_REASONS: Final = 4


@dataclass(kw_only=True, slots=True)
class Running:
    """A change that is being judged; ``since`` is in seconds of the clock."""

    subject: str
    stage: str
    since: float


@dataclass(kw_only=True, slots=True)
class Progress:
    """An observer that keeps count.

    ``clock`` gives seconds that never go back; ``changed`` hears of each event, ``paused`` of a pause when it begins
    and of each whole minute that is left of it.
    """

    clock: Callable[[], float] = monotonic
    changed: Callable[[Progress, Judgement | None], None] = lambda progress, judgement: None  # noqa: ARG005
    scanned: int = 0
    total: int | None = None
    standings: Counter[Standing] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    running: dict[str, Running] = field(default_factory=dict)
    begun: float | None = None
    pause: tuple[int, str] | None = None
    paused: Callable[[int, str], None] = lambda seconds, why: None  # noqa: ARG005
    _turn: threading.Lock = field(default_factory=threading.Lock)

    @property
    def judged(self) -> int:
        """How many changes have a judgement by now."""
        return self.standings.total()

    def scanning(self, count: int) -> None:
        """Take note of how far the scan is."""
        with self._turn:
            self.scanned = count
        self.changed(self, None)

    def candidates(self, total: int) -> None:
        """Take note of how many changes there are to judge."""
        with self._turn:
            self.total = total
            self.begun = self.clock()
        self.changed(self, None)

    def started(self, head: str, subject: str, stage: str) -> None:
        """Take note of a change that is being judged."""
        with self._turn:
            if self.begun is None:
                self.begun = self.clock()
            self.running[head] = Running(subject=one_line(subject), stage=stage, since=self.clock())
        self.changed(self, None)

    def stage(self, head: str, stage: str) -> None:
        """Take note of how far a change is."""
        with self._turn:
            if head in self.running:
                self.running[head].stage = stage
        self.changed(self, None)

    def finished(self, judgement: Judgement) -> None:
        """Take note of a judgement."""
        with self._turn:
            self.running.pop(judgement.head, None)
            self.standings[judgement.standing] += 1
            if judgement.reason is not None:
                self.reasons[judgement.reason.value] += 1
        self.changed(self, judgement)

    def pausing(self, seconds: int, why: str) -> None:
        """Take note of how long a pause still takes."""
        begins = self.pause is None
        self.pause = (seconds, one_line(why)) if seconds else None
        if seconds and (begins or seconds % 60 == 0):
            self.paused(seconds, why)
        self.changed(self, None)

    def seconds_left(self) -> float | None:
        """Estimate from the rate so far how long the rest takes; None while there is nothing to estimate from."""
        if self.total is None or self.begun is None or not self.judged:
            return None
        return (self.clock() - self.begun) / self.judged * max(self.total - self.judged, 0)


def duration(seconds: float) -> str:
    """Return a length of time for people: ``40 s``, ``12 min``, ``3 h 05 min``."""
    whole = round(seconds)
    if whole < 90:
        return f"{whole} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60:02} min"


def summary(progress: Progress) -> str:
    """Return where the run stands, on one line."""
    if progress.pause is not None:
        seconds, why = progress.pause
        return f"waiting {duration(seconds)}: {why}"
    if progress.total is None and not progress.judged and not progress.scanned:
        return "working"
    if progress.total is None and not progress.judged:
        return f"scanning: {progress.scanned:,} changes looked at"
    of = "" if progress.total is None else f" of {progress.total:,}"
    parts = [f"judged {progress.judged:,}{of}: {progress.standings[Standing.ADMITTED]:,} admitted"]
    others = [standing for standing in (Standing.REJECTED, Standing.INFRASTRUCTURE) if progress.standings[standing]]
    parts += [f"{progress.standings[standing]:,} {standing.value}" for standing in others]
    text = ", ".join(parts)
    left = progress.seconds_left()
    if left is not None and left >= 1:
        text += f"; about {duration(left)} left"
    return text


def lines(progress: Progress, width: int) -> list[str]:
    """Return the live display: where the run stands, the most frequent reasons, and what is being judged right now."""
    now = progress.clock()
    text = [summary(progress)]
    frequent = ", ".join(f"{code} {count:,}" for code, count in progress.reasons.most_common(SHOWN_REASONS))
    if frequent:
        text.append(f"  rejected so far: {frequent}")
    for head, change in list(progress.running.items()):
        spent = duration(now - change.since)
        text.append(f"  {head[:SHORT_ID]}  {change.stage} ({spent})  {change.subject}")
    return [line if len(line) <= width else line[: max(width - 1, 0)] + "…" for line in text]


@contextmanager
def followed(verbosity: int) -> Iterator[Observer]:
    """Give the observer that suits standard error and ``-q``, and tidy the display up at the end."""
    if verbosity < 0:
        yield Unheard()
    elif sys.stderr.isatty():
        with _live() as progress:
            yield progress
    else:
        yield Progress(changed=_line_for_a_verdict, paused=_line_for_a_pause)


def _line_for_a_verdict(progress: Progress, judgement: Judgement | None) -> None:
    if judgement is not None:
        noted(summary(progress))


def _line_for_a_pause(seconds: int, why: str) -> None:
    noted(f"waiting {duration(seconds)}: {one_line(why)}")


@contextmanager
def _live() -> Iterator[Progress]:
    # Rich costs 50 ms: only a terminal pays for it.
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.live import Live
    from rich.text import Text

    progress = Progress()

    class Display:
        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            yield Text("\n".join(lines(progress, options.max_width)), no_wrap=True, overflow="ellipsis")

    console = Console(stderr=True, highlight=False)
    # Rows of the result that go to the same terminal are put above the display; a pipe or a file gets them untouched.
    with Live(
        Display(),
        console=console,
        refresh_per_second=4,
        transient=True,
        redirect_stdout=sys.stdout.isatty(),
        redirect_stderr=True,
    ):
        yield progress
