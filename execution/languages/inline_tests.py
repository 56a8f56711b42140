"""Which languages keep tests inside of source files, and the reader of such a file: one row each, by the file's ending.

A reader takes the bytes of a file and returns its items of tests in order; it raises ``UnsafeItemError`` where their
lines can't be told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from execution.languages.inline_item import InlineItem
from execution.languages.rust_items import items_of_tests

InlineReader = Callable[[bytes], tuple[InlineItem, ...]]

READERS: Final[Mapping[bytes, InlineReader]] = {b".rs": items_of_tests}
ENDINGS: Final = tuple(READERS)


def reader_of(path: bytes) -> InlineReader | None:
    """Return the reader of a file by its name, or None where its language keeps no tests in source files."""
    return next((reader for ending, reader in READERS.items() if path.endswith(ending)), None)
