"""The repositories that a command runs strangers' clones of: each opened once, kept open until the command ends."""

from __future__ import annotations

from contextlib import ExitStack

from casewright.errors import InfrastructureError
from casewright.git_source import is_url
from casewright.repository import Repository, open_kept, open_source
from casewright.store import Store


class Opened:
    """``stack`` closes what was opened. With ``offline`` nobody is asked: a url is read from its clone in the cache."""

    def __init__(self, stack: ExitStack, *, offline: bool = False) -> None:
        self._stack = stack
        self._offline = offline
        self._open: dict[str, Repository] = {}

    def __call__(self, source: str, store: Store) -> Repository:
        """Give a repository with all file contents.

        Raises ``SourceError``, ``InfrastructureError`` when a url can't be cloned or, offline, has no whole clone here.
        """
        if source not in self._open:
            self._open[source] = self._stack.enter_context(self._at_hand(source, store))
        return self._open[source]

    def _at_hand(self, source: str, store: Store) -> Repository:
        if not self._offline:
            return open_source(source, store.root, whole=True)
        found = open_kept(source, store.root) if is_url(source) else open_source(source, store.root)
        if found is None:
            raise InfrastructureError(
                f"{source} was never cloned on this machine, and nobody is asked now",
                "run `casewright cache wheels CASE` where there is a network, or name a clone with --repo SOURCE",
            )
        if found.owes_contents():
            found.close()
            raise InfrastructureError(
                f"the clone of {source} at hand is without file contents, and nobody is asked for them now",
                "run `casewright cache wheels CASE` where there is a network, or name a whole clone with --repo SOURCE",
            )
        return found
