"""One item of a source file that exists in tests only: the record that every language's reader of such files gives."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class InlineItem:
    """An item with its lines: ``first`` is 1-based, ``lines`` how many; ``label`` is what it is called (``mod tests``).

    ``selects`` names the tests that it holds as the runner does below the file's own module: ``tests::`` for all of a
    module, a bare name for one function; empty where it holds none. ``bound`` says that its place in the file matters.
    """

    label: str
    first: int
    lines: int
    selects: str = ""
    bound: bool = False


class UnsafeItemError(ValueError):
    """The items of a file can't be told from the rest of it; the message says which and why."""
