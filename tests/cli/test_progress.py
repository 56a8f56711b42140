"""Progress is counted right, told in plain lines in a pipe, and not at all with ``-q``."""

from __future__ import annotations

import io
import sys

import pytest

from casewright.cli.progress import Progress, duration, followed, lines, summary
from miner.judgement import Judgement, Reached, Standing
from miner.reasons import Reason


class Clock:
    """Seconds that go on only when the test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def judgement(head: str, standing: Standing = Standing.REJECTED, reason: Reason | None = Reason.FLAKY) -> Judgement:
    return Judgement(
        repository="r",
        base="a" * 40,
        head=head,
        landing="direct",
        subject="s",
        reached=Reached.RAN,
        standing=standing,
        reason=reason,
    )


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def progress(clock: Clock) -> Progress:
    return Progress(clock=clock)


def test_before_anything_is_judged_the_scan_is_told(progress: Progress) -> None:
    progress.scanning(12500)
    assert summary(progress) == "scanning: 12,500 changes looked at"


def test_the_time_left_comes_from_the_rate_so_far(progress: Progress, clock: Clock) -> None:
    progress.candidates(10)
    assert progress.seconds_left() is None
    for number in range(4):
        progress.finished(judgement(f"{number}" * 40))
    clock.now += 120
    assert progress.seconds_left() == 180
    assert summary(progress) == "judged 4 of 10: 0 admitted, 4 rejected; about 3 min left"


def test_standings_and_reasons_are_counted_and_a_finished_change_is_no_longer_shown(
    progress: Progress, clock: Clock
) -> None:
    progress.candidates(3)
    progress.started("1" * 40, "First \x1b[31mchange", "preparing")
    progress.started("2" * 40, "Second", "preparing")
    progress.stage("2" * 40, "base")
    progress.stage("9" * 40, "of a change that was never started")
    clock.now += 75
    progress.finished(judgement("3" * 40, Standing.ADMITTED, None))
    progress.finished(judgement("4" * 40))
    assert lines(progress, 80) == [
        "judged 2 of 3: 1 admitted, 1 rejected; about 38 s left",
        "  rejected so far: flaky 1",
        "  1111111111  preparing (75 s)  First \\x1b[31mchange",
        "  2222222222  base (75 s)  Second",
    ]
    progress.finished(judgement("1" * 40))
    assert "1111111111" not in "\n".join(lines(progress, 80))


def test_the_display_fits_the_terminal(progress: Progress) -> None:
    progress.started("1" * 40, "A subject that is much longer than the screen is wide", "preparing")
    assert all(len(line) <= 30 for line in lines(progress, 30))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (89.4, "89 s"), (90, "2 min"), (5300, "88 min"), (5430, "1 h 30 min"), (7500, "2 h 05 min")],
)
def test_a_length_of_time_is_told_as_people_say_it(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_pipe_gets_one_line_for_each_verdict_and_none_for_anything_else(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with followed(0) as observer:
        observer.scanning(500)
        observer.candidates(2)
        observer.started("1" * 40, "s", "preparing")
        observer.stage("1" * 40, "head")
        observer.finished(judgement("1" * 40))
        observer.finished(judgement("2" * 40, Standing.INFRASTRUCTURE, Reason.INFRASTRUCTURE))
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split(";")[0] for line in err.splitlines()] == [
        "judged 1 of 2: 0 admitted, 1 rejected",
        "judged 2 of 2: 0 admitted, 1 rejected, 1 infrastructure",
    ]


def test_quiet_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with followed(-1) as observer:
        observer.scanning(500)
        observer.candidates(1)
        observer.started("1" * 40, "s", "preparing")
        observer.stage("1" * 40, "head")
        observer.finished(judgement("1" * 40))
    assert capsys.readouterr() == ("", "")


class Terminal(io.StringIO):
    """A standard error that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_live_display_and_standard_output_stays_clean(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with followed(0) as observer:
        observer.candidates(2)
        observer.started("1" * 40, "A change", "head")
        sys.stdout.write("a row of the result\n")
        observer.finished(judgement("2" * 40))
    assert "1111111111  head" in screen.getvalue()
    assert capsys.readouterr().out == "a row of the result\n"
