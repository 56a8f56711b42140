"""Which languages keep tests inside of source files, and the reader of such a file: one row each, by the file's ending.

A reader takes the bytes of a file and returns its items of tests in order; it raises ``UnsafeItemError`` where their
lines can't be told. A file may also be of tests alone without a name that tells so: because of what declares it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from execution.languages import rust_package
from execution.languages.base import TreeReader
from execution.languages.inline_item import InlineItem
from execution.languages.rust_items import items_of_tests

InlineReader = Callable[[bytes], tuple[InlineItem, ...]]

READERS: Final[Mapping[bytes, InlineReader]] = {b".rs": items_of_tests}
_DECLARED: Final[Mapping[bytes, Callable[[str, TreeReader], bool]]] = {b".rs": rust_package.is_only_in_tests}
ENDINGS: Final = tuple(READERS)


def reader_of(path: bytes) -> InlineReader | None:
    """Return the reader of a file by its name, or None where its language keeps no tests in source files."""
    return next((reader for ending, reader in READERS.items() if path.endswith(ending)), None)


def is_declared_for_tests(path: bytes, tree: TreeReader) -> bool:
    """Whether a source file is of tests alone by what another file of its tree says of it."""
    declared = next((found for ending, found in _DECLARED.items() if path.endswith(ending)), None)
    return declared is not None and declared(path.decode("utf-8", "surrogateescape"), tree)
