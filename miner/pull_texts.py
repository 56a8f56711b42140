"""Pull request and issue texts for the changes of a history: asked in batches, kept, and matched with git.

A pull request that landed as several changes describes none of them: its texts are used only where a change is the
whole of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from casewright.repository import Repository
from miner.change import Change, Landing
from miner.closing import closed_by
from miner.forge_cache import ForgeCache
from miner.forge_facts import ForgeReference, ForgeTexts, IssueFacts, PullFacts
from miner.pull_request import CommitPulls, Forge, MissingError

BATCH: Final = 20


def issues_closed_by(forge: Forge, pull: PullFacts, cache: ForgeCache | None = None) -> ForgeTexts:
    """Return the issues that a pull request closes and that are older than it, in order, and what was left out.

    An issue that was written later may tell what the change did. Raises ``ForgeError``.
    """
    found: list[IssueFacts] = []
    notes: list[str] = []
    for reference in closed_by(pull):
        if cache is not None and cache.knows_issue(reference):
            issue = cache.issue(reference)
        else:
            issue = _asked(forge, reference)
            if cache is not None:
                cache.keep_issue(reference, issue)
        if issue is None:
            notes.append(f"{reference.short} is no issue that the forge shows")
        elif issue.created_at >= pull.created_at:
            notes.append(f"issue {reference.short} is left out: it is not older than the pull request")
        elif issue.reference not in [one.reference for one in found]:
            found.append(issue)
    return ForgeTexts(pull=pull, issues=tuple(found), notes=tuple(notes))


class TextsOfChanges(Protocol):
    """Where the texts of changes come from."""

    def prefetch(self, changes: Sequence[Change]) -> None:
        """Have the texts of these changes at hand. Raises ``ForgeError``."""
        ...

    def of(self, change: Change) -> ForgeTexts:
        """Return what a forge says of a change. Raises ``ForgeError``."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownTexts:
    """The texts of the one change that is looked at."""

    texts: ForgeTexts

    def prefetch(self, changes: Sequence[Change]) -> None:
        """Do nothing: they are here."""

    def of(self, change: Change) -> ForgeTexts:  # noqa: ARG002 - there is only one
        """Return them."""
        return self.texts


NO_TEXTS: Final = KnownTexts(texts=ForgeTexts())


@dataclass(frozen=True, kw_only=True, slots=True)
class PullTexts:
    """The texts of one history's changes. ``repository`` is ``owner/name`` on the forge."""

    forge: Forge
    repository: str
    history: Repository
    cache: ForgeCache

    def prefetch(self, changes: Sequence[Change]) -> None:
        """Ask for what is not known of these changes, ``BATCH`` at once; kept batch by batch. Raises ``ForgeError``.

        Without a token nothing is asked before its turn: the few questions that are allowed should give cases soon.
        """
        if self.forge.token is not None:
            self._ask(changes)

    def _ask(self, changes: Sequence[Change]) -> None:
        host = self.forge.host.name
        unknown = [change.head for change in changes if self.cache.pulls(host, self.repository, change.head) is None]
        for start in range(0, len(unknown), BATCH):
            found = self.forge.pulls_of(self.repository, unknown[start : start + BATCH])
            self.cache.keep_pulls(host, self.repository, found)

    def of(self, change: Change) -> ForgeTexts:
        """Return what the forge says of a change. Raises ``ForgeError``."""
        host = self.forge.host.name
        if self.cache.pulls(host, self.repository, change.head) is None:
            self._ask((change,))
        known = self.cache.pulls(host, self.repository, change.head) or CommitPulls(pulls=())
        pull = chosen(known.pulls, change)
        if pull is None:
            return ForgeTexts(notes=("no pull request is known for it",))
        texts = issues_closed_by(self.forge, pull, self.cache)
        return replace(texts, whole=self._is_whole(change, pull))

    def told_of(self, changes: Sequence[Change]) -> int:
        """Return of how many changes a pull request is known by now; asks nothing."""
        kept = (self.cache.pulls(self.forge.host.name, self.repository, change.head) for change in changes)
        return sum(bool(known and known.pulls) for known in kept)

    def _is_whole(self, change: Change, pull: PullFacts) -> bool:
        """Say whether a change is all of its pull request; commits that were rebased keep their messages."""
        if pull.merge_commit != change.head:
            return False
        if len(change.parents) > 1 or len(pull.commits) <= 1:
            return True
        before = self.history.commit(change.base)
        earlier = pull.commits[-2]
        return before.id != earlier.id and _message(before.message) != earlier.message.strip()


def chosen(pulls: Sequence[PullFacts], change: Change) -> PullFacts | None:
    """Return the pull request that a change came with, or None where several could be it."""
    landed = [pull for pull in pulls if pull.merge_commit == change.head]
    own = [pull for pull in pulls if any(commit.id == change.head for commit in pull.commits)]
    for candidates in (landed, own, list(pulls)):
        if candidates:
            return candidates[0] if len(candidates) == 1 else None
    return None


def landed_as(change: Change, texts: ForgeTexts) -> Change:
    """Return the change with its landing style, where a pull request tells more than the number of parents does."""
    pull = texts.pull
    if pull is None or not texts.whole or change.landing is not Landing.DIRECT:
        return change
    if any(commit.id == change.head for commit in pull.commits):
        return change
    decided = f"one parent, and the forge names it as the commit that landed pull request {pull.reference.short}"
    return replace(change, landing=Landing.SQUASH, landing_by=decided)


def _asked(forge: Forge, reference: ForgeReference) -> IssueFacts | None:
    try:
        return forge.issue(reference)
    except MissingError:
        return None


def _message(message: bytes) -> str:
    return message.decode("utf-8", "replace").strip()
