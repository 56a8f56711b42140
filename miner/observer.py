"""Who is told how a mining run goes on: the miner speaks, a display or a log listens.

The methods may be called from several threads at once, and must return at once: a judgement waits for them.
"""

from __future__ import annotations

from typing import Protocol

from miner.judgement import Judgement


class Observer(Protocol):
    """A listener. ``head`` is the full object id of the change's head; ``stage`` is a few words for people."""

    def scanning(self, count: int) -> None:
        """So many changes of the history have been looked at by now."""
        ...

    def candidates(self, total: int) -> None:
        """The scan is over: so many changes will be judged one by one."""
        ...

    def started(self, head: str, subject: str, stage: str) -> None:
        """A change is being judged from now on."""
        ...

    def stage(self, head: str, stage: str) -> None:
        """A change that was started has come to another stage."""
        ...

    def finished(self, judgement: Judgement) -> None:
        """A change has been judged and its judgement is kept."""
        ...

    def pausing(self, seconds: int, why: str) -> None:
        """Nothing goes on for so many seconds more, for this reason; 0 seconds: it goes on now."""
        ...


class Unheard:
    """The listener that does nothing."""

    def scanning(self, count: int) -> None:
        """Ignore it."""

    def candidates(self, total: int) -> None:
        """Ignore it."""

    def started(self, head: str, subject: str, stage: str) -> None:
        """Ignore it."""

    def stage(self, head: str, stage: str) -> None:
        """Ignore it."""

    def finished(self, judgement: Judgement) -> None:
        """Ignore it."""

    def pausing(self, seconds: int, why: str) -> None:
        """Ignore it."""
