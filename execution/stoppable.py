"""A sandbox for work that may be given up: once it is stopped it starts nothing more and hands out no outcome.

What is killed looks from outside like a program that failed, and some failures of a set-up are taken as an answer. So a
worker that is given up never sees the outcome of a run that was going on: it gets ``RunStoppedError`` instead, and what
it was making is thrown away.
"""

from __future__ import annotations

import threading

from execution.sandbox import Sandbox, SandboxOutcome, SandboxRequest


class RunStoppedError(Exception):
    """The work is being given up; raised in workers, shown to nobody."""


class StoppableSandbox:
    """The sandbox ``inner`` until ``stop`` is set (see ``execution.sandbox.Sandbox``).

    Setting ``stop`` ends nothing by itself: what is running is ended by ``LAUNCHER.stop_all``.
    """

    def __init__(self, inner: Sandbox, stop: threading.Event) -> None:
        self._inner = inner
        self._stop = stop

    @property
    def name(self) -> str:
        """The name of the backend behind it."""
        return self._inner.name

    def unavailable(self) -> str | None:
        """Why the backend can't be used; None if it works."""
        return self._inner.unavailable()

    def run(self, request: SandboxRequest) -> SandboxOutcome:
        """Run one program. Raises ``RunStoppedError`` when the work was given up before it ended."""
        self.check()
        try:
            outcome = self._inner.run(request)
        finally:
            # A backend that was killed may complain: that it was stopped is the better answer.
            self.check()
        return outcome

    def check(self) -> None:
        """Raise ``RunStoppedError`` when the work was given up."""
        if self._stop.is_set():
            raise RunStoppedError
