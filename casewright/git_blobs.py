"""Blobs by id: read one by one, or brought in one go where a partial clone owes them to its remote."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock

from casewright.errors import RepositoryError
from casewright.git_command import Git, run_network_git
from casewright.git_source import public_url


class Blobs:
    """The blobs of one repository; threads may share it. ``promisor`` is the url that owes blobs, or an empty text."""

    def __init__(self, git: Git, source: str, promisor: str) -> None:
        self._git = git
        self._source = source
        self._promisor = promisor
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

        Only our private git folder receives them. Raises ``RepositoryError`` when the remote does not give them.
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
        outcome = run_network_git(
            ["--git-dir", str(self._git.git_dir), "-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet",
             "--no-tags", "--no-write-fetch-head", "--filter=blob:none", "--stdin", "--", self._promisor],
            stdin="".join(f"{name}\n" for name in missing).encode(),
        )  # fmt: skip
        if outcome.code != 0:
            raise RepositoryError(
                f"{len(missing)} files of this partial clone can't be had from"
                f" {public_url(self._promisor) or self._promisor}: {outcome.complaint}",
                "give a whole clone (git clone without --filter)",
            )
