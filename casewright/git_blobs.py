"""Blobs by id: read one by one, or brought in one go where a partial clone owes them to its remote."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Lock

from casewright.errors import RepositoryError
from casewright.git_command import Git, GitOutcome

# Fetches objects by id, all in one go, to where the repository's git finds them.
FetchOwed = Callable[[Iterable[str]], GitOutcome]


class Blobs:
    """The blobs of one repository; threads may share it.

    ``promisor`` is the url that owes blobs, without user info, or an empty text; ``fetch`` is how they are had from it.
    """

    def __init__(self, git: Git, source: str, promisor: str, fetch: FetchOwed) -> None:
        self._git = git
        self._source = source
        self._promisor = promisor
        self._fetch_owed = fetch
        self._objects = git.objects()
        self._lock = Lock()
        self._asked: set[str] = set()

    @property
    def partial(self) -> bool:
        """Whether the repository is a partial clone."""
        return bool(self._promisor)

    def close(self) -> None:
        """End the git behind it."""
        self._objects.close()

    def read(self, object_id: str) -> bytes:
        """Return the content of a blob. Raises ``RepositoryError`` when the repository does not hold it."""
        content = self._objects.read(object_id)
        if content is None and self._promisor:
            self.bring((object_id,))
            content = self._objects.read(object_id)
        if content is None:
            raise RepositoryError(f"object {object_id} is not in {self._source}", "fetch it, or give a whole clone")
        return content

    def small(self, object_ids: Iterable[str], limit: int) -> dict[str, bytes]:
        """Return the content of those blobs that hold at most ``limit`` bytes; others are left out."""
        wanted = sorted(set(object_ids))
        self.bring(wanted)
        small = {}
        for line in self._sizes(wanted):
            words = line.split()
            if len(words) == 3 and words[1] == "blob" and int(words[2]) <= limit:
                small[words[0]] = self.read(words[0])
        return small

    def bring(self, object_ids: Iterable[str]) -> None:
        """Fetch the blobs that a partial clone owes, all in one go; does nothing for a whole clone.

        Raises ``RepositoryError`` when the remote does not give them.
        """
        if not self._promisor:
            return
        with self._lock:
            asked = sorted(set(object_ids) - self._asked)
            missing = [line.split()[0] for line in self._sizes(asked) if line.endswith(" missing")]
            if missing:
                self._fetch(missing)
            self._asked.update(asked)

    def _sizes(self, object_ids: Iterable[str]) -> list[str]:
        question = "".join(f"{name}\n" for name in object_ids).encode()
        return self._git.run("cat-file", "--batch-check", stdin=question).decode("ascii", "replace").splitlines()

    def _fetch(self, missing: list[str]) -> None:
        outcome = self._fetch_owed(missing)
        if outcome.code != 0:
            raise RepositoryError(
                f"{len(missing)} files of this partial clone can't be had from {self._promisor}: {outcome.complaint}",
                "run again when it can be reached, or give a whole clone (git clone without --filter)",
            )
