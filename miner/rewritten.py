"""Landings that made new commits of a pull request's own: squash and rebase, told apart by patches.

A rebase leaves one commit for each of the pull request's, a squash one for all of them. Titles decide nothing here; a
message or an author's time is looked at only to pair commits whose patches leave a choice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from casewright.git_log import RawCommit
from casewright.repository import Commit, Repository
from miner.change import Landing
from miner.forge_facts import PullFacts
from miner.pins import NotLanded, Pins
from miner.same_change import merge_gives, overlap, same_lines

_NUMBER_AT_END: Final = re.compile(rb"\(#([1-9][0-9]*)\)\s*\Z")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Own:
    """What a pull request holds: where its branch left ours (an empty text: nowhere), its head, and its commits.

    ``commits`` are those that the branch it went to had not, without merges; ``patches`` their patch-ids.
    """

    fork: str
    head: str
    commits: tuple[RawCommit, ...]
    patches: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pairing:
    """The newest commits of a branch, as far as each is one of the pull request's.

    ``base`` is the parent of the last of them; ``taken`` how many they are, ``by_lines`` and ``by_author`` how many of
    those are the same by their lines alone, or by message and author's time alone. ``left`` counts the pull request's
    commits that found none, empty ones aside. ``kept`` says whether the newest kept subject and author's time.
    """

    base: str
    taken: int
    by_lines: int
    by_author: int
    left: int
    kept: bool


def rewritten(
    repository: Repository, pull: PullFacts, landing: Commit, head: str, *, sure: bool = True
) -> Pins | NotLanded:
    """Return the pins of a landing by squash or rebase whose last commit is ``landing``; its first parent is there.

    ``head`` is the pull request's own head. With ``sure`` somebody, the forge say, knows that this commit landed it,
    and a squash that was edited on the way is taken for one when most of its lines agree; else it must be shown.
    """
    own = _own(repository, landing.parents[0], head)
    found = _pair(repository, own, landing.id, pull.reference.number)
    count = len(own.commits)
    if found.taken >= 2 and (found.left == 0 or _merges(repository, own, found.base, landing.id)):
        return Pins(base=found.base, head=landing.id, landing=Landing.REBASE, decided_by=_rebase_sentence(found, count))
    parent = landing.parents[0]
    if found.taken == 1 and found.left == 0:
        return Pins(
            base=parent,
            head=landing.id,
            landing=Landing.REBASE if found.kept else Landing.SQUASH,
            decided_by=_one_commit_sentence(found),
        )
    evidence = _whole_evidence(repository, own, landing)
    if not evidence and sure and found.taken <= 1:
        evidence = _edited_squash(repository, own, landing)
    if evidence:
        return Pins(base=parent, head=landing.id, landing=Landing.SQUASH, decided_by=evidence)
    if found.taken > 1:
        what = f"the last {found.taken} commits up to {landing.id} are only a part of its {count}"
    else:
        what = f"commit {landing.id} is neither its whole difference nor the last of its {count} commits"
    return NotLanded(
        message=f"how {pull.reference.short} landed can't be told: {what}",
        hint=f"look at it, and judge that commit alone with add-case --commit {landing.id}",
    )


def whole_evidence(repository: Repository, landing: Commit, head: str) -> str:
    """Return what shows that ``landing``, against its first parent, is all that ``head`` brings; else an empty text."""
    return _whole_evidence(repository, _own(repository, landing.parents[0], head), landing)


def _own(repository: Repository, branch: str, head: str) -> _Own:
    commits = tuple(repository.walk(head, exclude=[branch], all_commits=True))
    return _Own(
        fork=repository.merge_base(branch, head),
        head=head,
        commits=commits,
        patches=_patches(repository, commits),
    )


def _patches(repository: Repository, commits: Sequence[RawCommit]) -> tuple[str, ...]:
    """Return the patch-id of each commit; a root has no base to compare with, so its own id stands in."""
    pairs = [(_parent(commit), _id(commit)) for commit in commits]
    known = iter(repository.patch_ids([pair for pair in pairs if pair[0]]))
    return tuple(next(known) if base else head for base, head in pairs)


def _pair(repository: Repository, own: _Own, landing: str, number: int) -> _Pairing:
    """Go back from the landing as long as each commit is one of the pull request's, in whatever order.

    The order is not compared: clocks that go wrong change the one in which git lists a branch.
    """
    landed = _plausible(repository, own, landing)
    patches = _patches(repository, landed)
    open_places = list(range(len(own.commits)))
    kept: list[int] = []
    by_lines = by_author = 0
    for commit, patch in zip(landed, patches, strict=True):
        place = _by_patch(own, open_places, commit, patch, number)
        by_patch = place is not None
        if place is None:
            place = _by_message(own, open_places, commit)
        if place is None:
            break
        much = _kept(commit, own.commits[place])
        if kept and bool(much) != bool(kept[0]):
            # A rebase keeps something of every commit or, by some tools, nothing of any: this one came another way.
            break
        if not by_patch:
            alike = same_lines(repository, _pins(repository, commit), _pins(repository, own.commits[place]))
            by_lines, by_author = by_lines + alike, by_author + (not alike)
        open_places.remove(place)
        kept.append(much)
    return _Pairing(
        base=_parent(landed[len(kept) - 1]) if kept else landing,
        taken=len(kept),
        by_lines=by_lines,
        by_author=by_author,
        left=sum(bool(own.patches[place]) for place in open_places),
        kept=kept[:1] == [2],
    )


def _plausible(repository: Repository, own: _Own, landing: str) -> list[RawCommit]:
    """Return the newest commits that can be copies of the pull request's, by what needs no file to be read.

    Each touches the files that one of the pull request's touches, or keeps a message and its author's time. What the
    pull request's head holds itself was there before, as the end of a branch that was updated.
    """
    line = repository.first_parents(landing, len(own.commits) + 1)
    # Bounded by the commit before, so that git stops there; a line that is shorter ends at a root.
    walked = repository.walk(landing, exclude=[*line[len(own.commits) :], own.head])
    touched = {tuple(commit.entries[1::2]) for commit in own.commits}

    def may_be(commit: RawCommit) -> bool:
        if not commit.parents or b" " in commit.parents:
            return False
        return tuple(commit.entries[1::2]) in touched or any(_kept(commit, known) == 2 for known in own.commits)

    return list(takewhile(may_be, list(walked)))


def _by_patch(own: _Own, places: Sequence[int], commit: RawCommit, patch: str, number: int) -> int | None:
    """Return the place of the pull request's commit with this patch.

    A commit whose subject ends in another pull request's number is that one's squash, as where one was made on top of
    another; unless it is the pull request's own commit that says so. Commits that change nothing go by their subject.
    """
    alike = [place for place in places if own.patches[place] == patch]
    best = max(alike, key=lambda place: _kept(commit, own.commits[place]), default=None)
    if best is None or _kept(commit, own.commits[best]):
        return best
    named = _NUMBER_AT_END.search(commit.subject)
    return best if patch and (named is None or int(named[1]) == number) else None


def _by_message(own: _Own, places: Sequence[int], commit: RawCommit) -> int | None:
    """Return the place of the pull request's commit with this subject and this author's time, which a rebase keeps."""
    return next((place for place in places if own.patches[place] and _kept(commit, own.commits[place]) == 2), None)


def _kept(landed: RawCommit, own: RawCommit) -> int:
    """Count what a landed commit kept of one of the pull request's: its subject, its author's time."""
    return (landed.subject == own.subject) + (landed.author_time == own.author_time)


def _rebase_sentence(found: _Pairing, count: int) -> str:
    whose = f"those of the pull request's {count} commits" if not found.left else "those of its own"
    said = f"patch-ids of the last {found.taken} commits equal {whose}"
    if found.by_lines:
        said += f", {found.by_lines} of them by the changed lines alone, as what stands around these has moved on"
    if found.by_author:
        said += f", {found.by_author} of them by message and author's time alone"
    if found.left:
        said += f"; {found.left} of the pull request's {count} were there already, by a merge of its head"
    return said


def _one_commit_sentence(found: _Pairing) -> str:
    if found.kept:
        return "the pull request's one commit landed with its subject and its author's time"
    return "its patch-id equals that of the pull request's one commit"


def _merges(repository: Repository, own: _Own, base: str, landing: str) -> bool:
    return bool(own.fork) and merge_gives(repository, own.fork, base, own.head, landing)


def _whole_evidence(repository: Repository, own: _Own, landing: Commit) -> str:
    """Return what shows that a commit holds the whole pull request, or an empty text."""
    here = (landing.parents[0], landing.id)
    # A branch with a root of its own parted from nothing: all that it holds is its difference.
    whole = (own.fork or repository.empty_tree, own.head)
    of = f"the pull request's whole difference of {len(own.commits)} commits"
    if own.fork:
        ours, theirs = repository.patch_ids([here, whole])
        if ours and ours == theirs:
            return f"its patch-id equals that of {of}"
    if same_lines(repository, here, whole):
        return f"it changes the same lines as {of}; what stands around these has moved on"
    if _merges(repository, own, *here):
        return "it is what merging the pull request's head into its parent gives, file by file"
    if not repository.differences(*here) and not repository.differences(*whole):
        return "it changes nothing, as the pull request does"
    return ""


def _edited_squash(repository: Repository, own: _Own, landing: Commit) -> str:
    """Return why a commit that is said to have landed a pull request is an edited squash of it, or an empty text."""
    before = repository.walk(landing.parents[0], exclude=repository.commit(landing.parents[0]).parents)
    if len(own.commits) > 1 and any(_kept(commit, known) == 2 for commit in before for known in own.commits):
        return ""
    common = overlap(repository, (landing.parents[0], landing.id), (own.fork or repository.empty_tree, own.head))
    if common.mostly or (common.shared and len(own.commits) == 1):
        return (
            f"the forge names it, it has one parent, and {common.shared} of its {common.first} changed lines are among"
            f" the pull request's {common.second}: an edited squash"
        )
    return ""


def _id(commit: RawCommit) -> str:
    return commit.id.decode("ascii")


def _parent(commit: RawCommit) -> str:
    return commit.parents.partition(b" ")[0].decode("ascii")


def _pins(repository: Repository, commit: RawCommit) -> tuple[str, str]:
    return _parent(commit) or repository.empty_tree, _id(commit)
