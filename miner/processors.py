"""How many runs may go on at once: one for each change that is judged, and one beside it where a processor is free."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Processors:
    """``count`` processors, shared by all changes that are judged at once."""

    def __init__(self, count: int) -> None:
        self._free = threading.Semaphore(count)

    @contextmanager
    def one(self) -> Iterator[None]:
        """Hold a processor; wait until one is free."""
        with self._free:
            yield

    @contextmanager
    def spare(self) -> Iterator[bool]:
        """Hold a processor if one is free at this moment; give whether it was."""
        got = self._free.acquire(blocking=False)
        try:
            yield got
        finally:
            if got:
                self._free.release()
