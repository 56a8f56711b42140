"""One thread that starts every sandbox and lives as long as casewright.

A parent-death signal follows the thread that started a process, not the process: a sandbox that was started by a worker
thread would be killed when that worker ends. This thread never ends before casewright does.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future

from execution.sandboxes.watch import descendants

Start = Callable[[], "subprocess.Popen[bytes]"]


class Launcher:
    """Runs ``start`` functions one after another in its own thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._orders: queue.SimpleQueue[tuple[Start, Future[subprocess.Popen[bytes]]]] = queue.SimpleQueue()
        self._owner = 0
        self._started: weakref.WeakSet[subprocess.Popen[bytes]] = weakref.WeakSet()

    def start(self, start: Start) -> subprocess.Popen[bytes]:
        """Start a process from the launcher's thread and return it; what ``start`` raises is raised here.

        When the caller is interrupted while it waits, the process is killed as soon as it is there.
        """
        with self._lock:
            # A fork of ours has the queue but not the thread.
            if self._owner != os.getpid():
                self._owner = os.getpid()
                self._orders = queue.SimpleQueue()
                threading.Thread(target=self._work, name="sandbox launcher", daemon=True).start()
        answer: Future[subprocess.Popen[bytes]] = Future()
        self._orders.put((start, answer))
        try:
            return answer.result()
        except BaseException:
            answer.add_done_callback(_kill)
            raise

    def stop_all(self) -> None:
        """Kill every sandbox that is running; whoever waits for one is told that it was killed."""
        for process in tuple(self._started):
            # Not Popen.kill: it would wait for a process that has ended, and take its exit code from its watcher.
            if process.returncode is None:
                # The outer process ends after what it waits for, and cleans up behind it.
                for pid in descendants(process.pid)[:1] or (process.pid,):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)

    def _work(self) -> None:
        while True:
            start, answer = self._orders.get()
            try:
                process = start()
                self._started.add(process)
                answer.set_result(process)
            except OSError as error:
                answer.set_exception(error)


def _kill(answer: Future[subprocess.Popen[bytes]]) -> None:
    if answer.exception() is None:
        answer.result().kill()


LAUNCHER = Launcher()
