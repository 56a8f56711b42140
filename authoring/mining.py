"""Mining: candidates are prepared in the walk's order, judged by several workers, and kept one by one.

Only this process's main thread writes: the draft first, then the ledger's row. So a kill between the two leaves a
draft that the same change finds again, and never a row without its draft.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from authoring.candidate import Prepared, prepare, source_texts
from authoring.conclusion import Concluded, conclude, judge
from authoring.desk import Desk
from authoring.draft import draft_path
from casewright.errors import ForgeError, InfrastructureError, RepositoryError, SandboxUnavailableError, machine_error
from execution.sandboxes.launcher import LAUNCHER
from execution.stoppable import StoppableSandbox
from miner.change import Change
from miner.judgement import Judgement, Reached, Standing
from miner.ledger import Ledger
from miner.observer import Observer
from miner.processors import Processors
from miner.reasons import Reason
from miner.screen import shown_path
from miner.statable import statable

# What may have failed without saying anything of the change: judged again on the next run.
NO_VERDICT = (InfrastructureError, RepositoryError, SandboxUnavailableError)
# How long workers may take to notice that a run is given up; git and sandboxes need a fraction of it.
PATIENCE_SECONDS: Final = 5.0
STOP_AGAIN_SECONDS: Final = 0.1
# What a server has to give is asked for so many changes at once.
BROUGHT_AT_ONCE: Final = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Mining:
    """What a mining run works with; ``jobs`` changes are judged at once, fewer with both states of each at once."""

    desk: Desk
    ledger: Ledger
    observer: Observer
    configuration: str
    jobs: int
    again: bool = False


def mine(mining: Mining, changes: tuple[Change, ...]) -> Iterator[Judgement]:
    """Judge candidates and yield each judgement once it is kept; known ones are yielded from the ledger.

    Raises ``WorkspaceError`` when the ledger or a draft can't be written, ``ForgeError`` when a forge answers no more:
    what was being judged then is judged to its end. When the iterator is left early, running sandboxes are ended and
    nothing of them is kept.
    """
    mining.observer.candidates(len(changes))
    stop = threading.Event()
    waiting: dict[Future[Concluded], _Task] = {}
    refused: ForgeError | None = None
    processors = Processors(mining.jobs)
    with _workers(mining.jobs, stop, waiting) as pool:
        for number, change in enumerate(changes):
            try:
                if number % BROUGHT_AT_ONCE == 0:
                    yield from _bring(mining, changes[number : number + BROUGHT_AT_ONCE], waiting)
                known = yield from _known(mining, change, waiting)
                # What was waited for a forge is no time of this change.
                task = _Task(change=change, started=_now())
                prepared = known or _prepared(mining, change)
            except ForgeError as error:
                # All that follow would meet the same; what is being judged comes to its end.
                refused = error
                break
            if known is not None:
                mining.observer.finished(known)
                yield known
                continue
            if isinstance(prepared, Judgement):
                yield _kept(mining, prepared, task)
                continue
            waiting[pool.submit(_work, mining, prepared, stop, processors)] = task
            # One more than there are workers is prepared, so that none has to wait for git.
            if len(waiting) > mining.jobs:
                yield from _finished(mining, waiting)
        while waiting:
            yield from _finished(mining, waiting)
    if refused is not None:
        raise refused


@dataclass(frozen=True, kw_only=True, slots=True)
class _Task:
    change: Change
    started: int


@contextmanager
def _workers(
    jobs: int, stop: threading.Event, waiting: Mapping[Future[Concluded], _Task]
) -> Iterator[ThreadPoolExecutor]:
    pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="judge")
    try:
        yield pool
    except BaseException:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
        _end(tuple(waiting))
        raise
    pool.shutdown(wait=True)


def _end(futures: tuple[Future[Concluded], ...]) -> None:
    """End what workers are doing, and wait until they have noticed.

    A worker that waits for another process (for an environment that is built there) notices nothing: it is left behind
    after ``PATIENCE_SECONDS``. It can do no harm, since it writes nothing.
    """
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        # Again and again: a worker may have been about to start a sandbox when the first one was stopped.
        LAUNCHER.stop_all()
        if not wait(futures, timeout=STOP_AGAIN_SECONDS).not_done:
            return


def _bring(mining: Mining, changes: tuple[Change, ...], waiting: dict[Future[Concluded], _Task]) -> Iterator[Judgement]:
    """Fetch in one go what the changes that are going to be judged need of a server: file contents, texts.

    Raises ``ForgeError`` when the texts can't be had.
    """
    kept = [(change, _kept_before(mining, change)) for change in changes]
    wanted = [change for change, known in kept if known is None or known.reason is Reason.NOT_STATABLE]
    if not wanted:
        return
    first, repository = wanted[0], mining.desk.tools.repository
    if repository.owes_contents():
        subject = shown_path(first.subject)
        mining.observer.started(first.head, subject, f"fetching the files of {len(wanted)} changes")
        pairs = [(change.base, change.head) for change in wanted]
        # What can't be had is told of each change that needs it, when its turn comes.
        with suppress(RepositoryError):
            yield from _meanwhile(mining, waiting, lambda: repository.bring_contents(pairs))
    yield from _meanwhile(mining, waiting, lambda: mining.desk.texts.prefetch(wanted))


def _known(
    mining: Mining, change: Change, waiting: dict[Future[Concluded], _Task]
) -> Generator[Judgement, None, Judgement | None]:
    """Return the judgement of a change that stands; for one that has to be judged have its texts at hand, return None.

    Raises ``ForgeError``.
    """
    known = _kept_before(mining, change)
    if known is not None and known.reason is not Reason.NOT_STATABLE:
        return known
    yield from _meanwhile(mining, waiting, lambda: mining.desk.texts.of(change))
    if known is None:
        return None
    # Texts that nobody had then may make a task of it.
    told = source_texts((), mining.desk.texts.of(change))
    return None if statable(f"{text.title}\n{text.text}" for text in told) else known


def _meanwhile(
    mining: Mining, waiting: dict[Future[Concluded], _Task], ask: Callable[[], object]
) -> Iterator[Judgement]:
    """Ask a server, which may take an hour where its limit is used up, and keep what workers finish until it answers.

    Raises what asking raises. The thread that asks is given up with the process: it holds nothing.
    """
    answer: Future[object] = Future()

    def work() -> None:
        try:
            answer.set_result(ask())
        except BaseException as error:  # noqa: BLE001 - it is raised where the answer is waited for
            answer.set_exception(error)

    threading.Thread(target=work, name="asking", daemon=True).start()
    while not answer.done():
        either: tuple[Future[Any], ...] = (answer, *waiting)
        wait(either, return_when=FIRST_COMPLETED)
        if any(future.done() for future in waiting):
            yield from _finished(mining, waiting)
    answer.result()


def _kept_before(mining: Mining, change: Change) -> Judgement | None:
    if mining.again:
        return None
    return mining.ledger.known(mining.desk.repository_id, change.head, change.base, mining.configuration)


def _prepared(mining: Mining, change: Change) -> Prepared | Judgement:
    mining.observer.started(change.head, shown_path(change.subject), "preparing")
    try:
        return prepare(change, mining.desk, mining.ledger.era_date)
    except ForgeError:
        raise
    except NO_VERDICT as error:
        return _no_verdict(mining, change, error)
    except OSError as error:
        told = machine_error(error)
        if told is None:
            raise
        return _no_verdict(mining, change, told)


def _work(mining: Mining, prepared: Prepared, stop: threading.Event, processors: Processors) -> Concluded:
    sandbox = StoppableSandbox(mining.desk.tools.sandbox, stop)

    def say(stage: str) -> None:
        sandbox.check()
        mining.observer.stage(prepared.change.head, stage)

    try:
        return judge(prepared, replace(mining.desk.tools, sandbox=sandbox, processors=processors), say)
    except OSError as error:
        told = machine_error(error)
        if told is None:
            raise
        raise told from error


def _finished(mining: Mining, waiting: dict[Future[Concluded], _Task]) -> Iterator[Judgement]:
    done, _ = wait(waiting, return_when=FIRST_COMPLETED)
    for future in done:
        task = waiting.pop(future)
        try:
            concluded = future.result()
            judgement = conclude(concluded, mining.desk, deleted=_draft_was_deleted(mining, task.change))
        except NO_VERDICT as error:
            judgement = _no_verdict(mining, task.change, error)
        yield _kept(mining, judgement, task)


def _draft_was_deleted(mining: Mining, change: Change) -> bool:
    """Say whether somebody took away the draft that this change once had: what a person deletes stays deleted."""
    if mining.again:
        return False
    earlier = mining.ledger.attempts(mining.desk.repository_id, change.head, change.base)
    drafts = [attempt.judgement.case for attempt in earlier if attempt.judgement.case]
    return bool(drafts) and not any(draft_path(mining.desk.workspace, name).exists() for name in drafts)


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
