"""The tree of a commit: what is in it, and the bytes of its files. Paths are bytes from the root."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

SYMLINK = "120000"
SUBMODULE = "160000"


class TreeEntry(NamedTuple):
    """One entry of a tree: its mode as git writes it (six octal digits) and its object id."""

    mode: str
    id: str


class Tree:
    """A tree by its ``id``, read by ``listing`` and ``blob`` when first asked for.

    It satisfies ``execution.languages.base.TreeReader``; threads may share it.
    """

    def __init__(
        self, tree_id: str, listing: Callable[[str], Mapping[bytes, TreeEntry]], blob: Callable[[str], bytes]
    ) -> None:
        self.id = tree_id
        self._listing = listing
        self._blob = blob
        self._entries: Mapping[bytes, TreeEntry] | None = None
        self._paths: frozenset[bytes] | None = None

    @property
    def entries(self) -> Mapping[bytes, TreeEntry]:
        """Every file, symlink and submodule by its path from the root."""
        if self._entries is None:
            self._entries = self._listing(self.id)
        return self._entries

    @property
    def paths(self) -> frozenset[bytes]:
        """Every file and symlink; submodules are no blobs."""
        if self._paths is None:
            self._paths = frozenset(path for path, entry in self.entries.items() if entry.mode != SUBMODULE)
        return self._paths

    def read(self, path: bytes) -> bytes | None:
        """Return the bytes of a regular file as they are stored, or None (symlinks and submodules are none)."""
        entry = self.entries.get(path)
        if entry is None or entry.mode in {SYMLINK, SUBMODULE}:
            return None
        return self._blob(entry.id)
