"""A private index on an object folder of its own: what a tree becomes by patches, without a checkout.

The object folder borrows nothing. Writing an object that a borrowed folder holds would freshen the file there, and a
source is never touched; and a patch that leans on an object of the later commit would seem whole where it is not.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from casewright.errors import RepositoryError
from casewright.git_command import GitOutcome, local_environment, run_git
from casewright.git_tree import TreeEntry


class Workbench:
    """An index that holds ``entries``, in the empty folder ``place``."""

    def __init__(self, place: Path, entries: Mapping[bytes, TreeEntry], object_format: str) -> None:
        self._objects = place / "objects"
        self._zero = "0" * (40 if object_format == "sha1" else 64)
        self._env = local_environment({"GIT_DIR": str(place), "GIT_INDEX_FILE": str(place / "index")})
        for name in ("objects", "refs"):
            (place / name).mkdir()
        (place / "HEAD").write_text("ref: refs/heads/none\n", encoding="ascii")
        config = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n\tcompression = 0\n"
        config += f"[extensions]\n\tobjectformat = {object_format}\n"
        (place / "config").write_text(config, encoding="ascii")
        self.set(entries.items())

    def put(self, object_id: str, content: bytes) -> None:
        """Have a blob at hand, which a patch changes or removes."""
        place = self._objects / object_id[:2] / object_id[2:]
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(zlib.compress(b"blob %d\0" % len(content) + content, 0))

    def set(self, entries: Iterable[tuple[bytes, TreeEntry | None]]) -> None:
        """Set entries, or remove those that are None."""
        lines = [
            (f"0 {self._zero}\t" if entry is None else f"{entry.mode} {entry.id}\t").encode() + path + b"\0"
            # Removals first: a file that gives way to a folder must be gone before what lies in it comes.
            for path, entry in sorted(entries, key=lambda item: (item[1] is not None, item[0]))
        ]
        self._run("update-index", "-z", "--index-info", stdin=b"".join(lines))

    def apply(self, patch: bytes) -> bool:
        """Apply a patch, whole or not at all; say whether it applied."""
        return self._attempt("apply", "--cached", "--whitespace=nowarn", "-", stdin=patch).code == 0

    def write(self) -> str:
        """Return the id of the tree that the index stands for."""
        return self._run("write-tree", "--missing-ok").decode("ascii").strip()

    def _attempt(self, *arguments: str, stdin: bytes = b"") -> GitOutcome:
        return run_git(arguments, env=self._env, stdin=stdin)

    def _run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        outcome = self._attempt(*arguments, stdin=stdin)
        if outcome.code != 0:
            raise RepositoryError(f"git {arguments[0]} failed: {outcome.complaint}", "git fsck tells if it is damaged")
        return outcome.out
