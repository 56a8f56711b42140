"""Mining: candidates are prepared in the walk's order, judged by several workers, and kept one by one.

Only this process's main thread writes: the draft first, then the ledger's row. So a kill between the two leaves a
draft that the same change finds again, and never a row without its draft.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace

from authoring.candidate import Prepared, prepare
from authoring.conclusion import Concluded, conclude, judge
from authoring.desk import Desk
from casewright.errors import InfrastructureError, RepositoryError, SandboxUnavailableError
from execution.sandboxes.launcher import LAUNCHER
from miner.change import Change
from miner.judgement import Judgement, Reached, Standing
from miner.ledger import Ledger
from miner.observer import Observer
from miner.reasons import Reason
from miner.screen import shown_path

# What may have failed without saying anything of the change: judged again on the next run.
NO_VERDICT = (InfrastructureError, RepositoryError, SandboxUnavailableError)


@dataclass(frozen=True, kw_only=True, slots=True)
class Mining:
    """What a mining run works with; ``jobs`` changes are judged at once."""

    desk: Desk
    ledger: Ledger
    observer: Observer
    configuration: str
    jobs: int
    again: bool = False


class _StoppedError(Exception):
    """The run is being given up; raised in workers, seen by nobody."""


def mine(mining: Mining, changes: tuple[Change, ...]) -> Iterator[Judgement]:
    """Judge candidates and yield each judgement once it is kept; known ones are yielded from the ledger.

    Raises ``WorkspaceError`` when the ledger or a draft can't be written. When the iterator is left early, running
    sandboxes are ended and nothing of them is kept.
    """
    mining.observer.candidates(len(changes))
    stop = threading.Event()
    waiting: dict[Future[Concluded], _Task] = {}
    with _workers(mining.jobs, stop) as pool:
        for change in changes:
            known = None if mining.again else _known(mining, change)
            if known is not None:
                mining.observer.finished(known)
                yield known
                continue
            prepared = _prepared(mining, change)
            task = _Task(change=change, started=_now())
            mining.observer.started(change.head, shown_path(change.subject), "preparing")
            if isinstance(prepared, Judgement):
                yield _kept(mining, prepared, task)
                continue
            waiting[pool.submit(_work, mining, prepared, stop)] = task
            # One more than there are workers is prepared, so that none has to wait for git.
            if len(waiting) > mining.jobs:
                yield from _finished(mining, waiting)
        while waiting:
            yield from _finished(mining, waiting)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Task:
    change: Change
    started: int


@contextmanager
def _workers(jobs: int, stop: threading.Event) -> Iterator[ThreadPoolExecutor]:
    pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="judge")
    try:
        yield pool
    except BaseException:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
        LAUNCHER.stop_all()
        raise
    finally:
        pool.shutdown(wait=True)


def _known(mining: Mining, change: Change) -> Judgement | None:
    return mining.ledger.known(mining.desk.repository_id, change.head, change.base, mining.configuration)


def _prepared(mining: Mining, change: Change) -> Prepared | Judgement:
    try:
        return prepare(change, mining.desk, mining.ledger.era_date)
    except NO_VERDICT as error:
        return _no_verdict(mining, change, error)


def _work(mining: Mining, prepared: Prepared, stop: threading.Event) -> Concluded:
    def say(stage: str) -> None:
        if stop.is_set():
            raise _StoppedError
        mining.observer.stage(prepared.change.head, stage)

    return judge(prepared, mining.desk.tools, say)


def _finished(mining: Mining, waiting: dict[Future[Concluded], _Task]) -> Iterator[Judgement]:
    done, _ = wait(waiting, return_when=FIRST_COMPLETED)
    for future in done:
        task = waiting.pop(future)
        try:
            concluded = future.result()
            judgement = conclude(concluded, mining.desk)
        except NO_VERDICT as error:
            judgement = _no_verdict(mining, task.change, error)
        yield _kept(mining, judgement, task)


def _kept(mining: Mining, judgement: Judgement, task: _Task) -> Judgement:
    finished = _now()
    timed = replace(judgement, milliseconds=finished - task.started)
    mining.ledger.judged(timed, configuration=mining.configuration, started=task.started, finished=finished)
    mining.observer.finished(timed)
    return timed


def _no_verdict(mining: Mining, change: Change, error: Exception) -> Judgement:
    return Judgement(
        repository=mining.desk.repository_id,
        base=change.base,
        head=change.head,
        landing=change.landing.value,
        subject=shown_path(change.subject),
        reached=Reached.SHAPED,
        standing=Standing.INFRASTRUCTURE,
        reason=Reason.INFRASTRUCTURE,
        detail=str(error),
    )


def _now() -> int:
    return round(time.time() * 1000)
