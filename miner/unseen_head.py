"""Landings of a pull request whose own commits are nowhere: its fork is gone, and the forge keeps no ref of its head.

Nothing can be compared by patch, so the number of parents and the messages that the forge still lists have to do, and
the answer says that they did.
"""

from __future__ import annotations

import re
from typing import Final

from casewright.repository import Commit, Repository
from miner.change import Landing
from miner.forge_facts import PullFacts
from miner.pins import NotLanded, Pins

_MERGED: Final = re.compile(rb"Merge (?:branch|remote-tracking branch|pull request|tag|commit)\b")
_UNSEEN: Final = "the pull request's own commits are not in this repository, so no patch was compared"


def landed_unseen(repository: Repository, pull: PullFacts, landing: Commit) -> Pins | NotLanded:
    """Return the pins by the weaker evidence, or why it does not do. ``landing`` has a parent."""
    parent = landing.parents[0]
    if len(landing.parents) > 1:
        said = f"the merge has {len(landing.parents)} parents; {_UNSEEN}"
        return Pins(base=parent, head=landing.id, landing=Landing.MERGE, decided_by=said)
    own = [_plain(commit.message.encode("utf-8", "surrogateescape")) for commit in pull.commits]
    # A forge lists the first 250 commits: a list without the head is one that was cut.
    whole = any(commit.id == pull.head_commit for commit in pull.commits)
    count = len(own)
    # A rebase drops the merges, which only their messages tell from other commits here.
    for copied in (own, [message for message in own if not _MERGED.match(message)]):
        line = repository.first_parents(landing.id, len(copied) + 1)
        if not whole or len(copied) < 2 or len(line) <= len(copied):
            continue
        if [_plain(repository.commit(commit).message) for commit in reversed(line[:-1])] == copied:
            what = f"messages of the last {len(copied)} commits equal those of the pull request's own"
            return Pins(base=line[-1], head=landing.id, landing=Landing.REBASE, decided_by=f"{what}; {_UNSEEN}")
    if whole and count == 1:
        kept = _plain(landing.message) == own[0]
        said = f"the pull request has one commit, which {'kept' if kept else 'did not keep'} its message; {_UNSEEN}"
        style = Landing.REBASE if kept else Landing.SQUASH
        return Pins(base=parent, head=landing.id, landing=style, decided_by=said)
    numbered = landing.message.split(b"\n", 1)[0].rstrip().endswith(f"(#{pull.reference.number})".encode())
    near = {_plain(landing.message), _plain(repository.commit(parent).message)}
    if not near & set(own) and (whole or numbered):
        said = (
            "the forge names it, it has one parent, and neither its message nor that of the commit before is one of the"
            f" pull request's; {_UNSEEN}"
        )
        return Pins(base=parent, head=landing.id, landing=Landing.SQUASH, decided_by=said)
    return NotLanded(
        message=f"how {pull.reference.short} landed can't be told: its head {pull.head_commit} is not in"
        f" {repository.source}, and the message of {landing.id} does not say how many commits landed",
        hint=f"judge that commit alone, or another range, with add-case --commit {landing.id}",
    )


def _plain(message: bytes) -> bytes:
    """Return a message as it is compared: without blanks and carriage returns that forges and git treat differently."""
    return b"\n".join(line.rstrip() for line in message.strip().split(b"\n"))
