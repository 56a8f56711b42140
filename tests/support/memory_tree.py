"""A tree of a commit that is written down in a test: paths and contents, no git."""

from __future__ import annotations

from collections.abc import Mapping


class MemoryTree:
    """Satisfies ``execution.languages.base.TreeReader``."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = {path.encode(): text.encode() for path, text in files.items()}

    @property
    def paths(self) -> frozenset[bytes]:
        """Every file of the tree."""
        return frozenset(self._files)

    def read(self, path: bytes) -> bytes | None:
        """The bytes of a file, or None where there is none."""
        return self._files.get(path)
