"""The pins of a merged pull request: where it landed, by which style, decided from git.

What the forge says (its landing commit, the head of the branch, the branch's commits) is looked up in the history and
compared there; no title and no base commit of the forge's decides. Whether a plain clone brings the pins is another
question, which ``miner.content`` answers for every change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from casewright.repository import Commit, Repository
from miner.change import Landing
from miner.forge_facts import PullFacts
from miner.landing_search import candidates, searched_branch
from miner.pins import NotLanded, Pins
from miner.rewritten import rewritten, whole_evidence
from miner.unseen_head import landed_unseen

__all__ = ["NotLanded", "Pins", "landed"]

_NUMBER: Final = re.compile(rb"#([1-9][0-9]*)")


def landed(repository: Repository, pull: PullFacts) -> Pins | NotLanded:
    """Return base and head of what a pull request brought onto its branch, or why that can't be told.

    The pull request's own head is fetched (``refs/pull/N/head``) where the repository has it not; where it is nowhere,
    weaker evidence decides, and the answer names it. A landing commit that is unknown, or that no branch or tag leads
    to any more, is looked for again in the history of the branch.
    """
    short = pull.reference.short
    if pull.merged_at is None:
        return NotLanded(
            message=f"pull request {short} was not merged",
            hint="choose a merged one; where somebody landed it by hand, name that commit: add-case --commit",
        )
    head = repository.known(pull.head_commit)
    if head is None and repository.fetch_ref(f"refs/pull/{pull.reference.number}/head"):
        head = repository.known(pull.head_commit)
    named = repository.known(pull.merge_commit) if pull.merge_commit else None
    if named is not None and repository.reachable_in_plain_clone(named):
        return _landed_by(repository, pull, repository.commit(named), head)
    found = _searched(repository, pull, head)
    if named is not None and isinstance(found, NotLanded):
        # Nothing took its place: the pins are what they are, and say themselves that no clone brings them.
        return _landed_by(repository, pull, repository.commit(named), head)
    return found


def _landed_by(repository: Repository, pull: PullFacts, landing: Commit, head: str | None) -> Pins | NotLanded:
    """Decide from the commit that the forge names."""
    if not landing.parents:
        return NotLanded(
            message=f"commit {landing.id}, which landed {pull.reference.short}, has no parent to be its base",
            hint="git fetch --unshallow may bring it" if repository.shallow else "choose another pull request",
        )
    if head is None:
        return landed_unseen(repository, pull, landing)
    if repository.is_ancestor(head, landing.id):
        return _by_ancestry(repository, pull, landing.id, head)
    if len(landing.parents) == 1:
        return rewritten(repository, pull, landing, head)
    return _merge_of_rewritten(repository, pull, landing, head)


def _searched(repository: Repository, pull: PullFacts, head: str | None) -> Pins | NotLanded:
    """Find the landing in the history of the branch, without a commit that the forge names."""
    branch, tip = searched_branch(repository, pull)
    found: list[Pins] = []
    for commit in candidates(repository, pull, tip, head):
        if head is None:
            answer = landed_unseen(repository, pull, commit)
        elif repository.is_ancestor(head, commit.id):
            answer = _by_ancestry(repository, pull, commit.id, head)
        elif len(commit.parents) == 1:
            answer = rewritten(repository, pull, commit, head, sure=False)
        else:
            answer = _merge_of_rewritten(repository, pull, commit, head)
        if isinstance(answer, Pins) and answer not in found:
            found.append(answer)
    if not found and head is not None and repository.is_ancestor(head, tip):
        return _by_ancestry(repository, pull, tip, head)
    if len(found) == 1:
        return found[0]
    short = pull.reference.short
    where = f"the history of {branch} in {repository.source}"
    gone = f"commit {pull.merge_commit} is not there and" if pull.merge_commit else "the forge names no commit and"
    if found:
        several = ", ".join(pins.head for pins in found)
        return NotLanded(
            message=f"which commit landed {short} can't be told: in {where}, each of {several} may be it",
            hint="name the right one: add-case --commit",
        )
    return NotLanded(
        message=f"where {short} landed can't be told: {gone} {where} holds none that can be shown to be it",
        hint="fetch the repository anew, or name the commit: add-case --commit",
    )


def _by_ancestry(repository: Repository, pull: PullFacts, tip: str, head: str) -> Pins | NotLanded:
    """Return the pins of a head that ``tip`` holds: by the merge that brought it, or by itself."""
    bringer = repository.commit(_first_with(repository, tip, head))
    if bringer.id == head:
        return _direct(repository, pull, head)
    brought = next(parent for parent in bringer.parents[1:] if repository.is_ancestor(head, parent))
    if head in bringer.parents[1:]:
        return _merge(pull, bringer, f"{_parents(bringer)}, one of them the pull request's head")
    inner = _by_ancestry(repository, pull, brought, head)
    if isinstance(inner, NotLanded) or inner.landing is not Landing.DIRECT:
        return inner
    # The head is on the line of what was merged, which may hold more than the pull request, below it and above.
    own = {commit.id for commit in pull.commits}
    held = repository.walk(head, exclude=[bringer.parents[0]], all_commits=True)
    if head in own and any(commit.id.decode("ascii") not in own for commit in held):
        return inner
    if others := _other_pull_requests(pull, bringer):
        return _together(pull, bringer, others)
    return _merge(pull, bringer, f"{_parents(bringer)}, one of which continues the pull request's head")


def _first_with(repository: Repository, tip: str, head: str) -> str:
    """Return the oldest commit of the first-parent line of ``tip``, which holds ``head``, that holds it too."""
    line: Sequence[str] = repository.first_parents(tip, 2)
    if len(line) == 2 and repository.is_ancestor(head, line[1]):
        line = repository.first_parents(tip)
    with_it, without = 0, len(line)
    while without - with_it > 1:
        middle = (with_it + without) // 2
        if repository.is_ancestor(head, line[middle]):
            with_it = middle
        else:
            without = middle
    return line[with_it]


def _merge(pull: PullFacts, merge: Commit, evidence: str) -> Pins | NotLanded:
    """Return the pins of a merge, unless it brought several branches and its subject numbers other pull requests."""
    if len(merge.parents) > 2 and (others := _other_pull_requests(pull, merge)):
        return _together(pull, merge, others)
    return Pins(base=merge.parents[0], head=merge.id, landing=Landing.MERGE, decided_by=evidence)


def _other_pull_requests(pull: PullFacts, merge: Commit) -> list[int]:
    subject = merge.message.split(b"\n", 1)[0]
    return sorted({int(number) for number in _NUMBER.findall(subject)} - {pull.reference.number})


def _together(pull: PullFacts, merge: Commit, others: Sequence[int]) -> NotLanded:
    shown = ", ".join(f"#{number}" for number in others)
    return NotLanded(
        message=f"{pull.reference.short} landed together with others ({shown}) in merge {merge.id}",
        hint=f"judge that merge as a whole: add-case --commit {merge.id}",
    )


def _parents(merge: Commit) -> str:
    return f"the merge has {len(merge.parents)} parents"


def _merge_of_rewritten(repository: Repository, pull: PullFacts, merge: Commit, head: str) -> Pins | NotLanded:
    """Decide a merge that does not hold the head: of a branch that was rebased on the way, say."""
    if evidence := whole_evidence(repository, merge, head):
        return Pins(
            base=merge.parents[0],
            head=merge.id,
            landing=Landing.MERGE,
            decided_by=f"{_parents(merge)}, none of which holds the pull request's head; {evidence}",
        )
    return NotLanded(
        message=f"merge {merge.id}, which is said to have landed {pull.reference.short}, holds neither its head {head}"
        " nor its difference",
        hint=f"look at it, and judge that merge as a whole: add-case --commit {merge.id}",
    )


def _direct(repository: Repository, pull: PullFacts, head: str) -> Pins | NotLanded:
    """Return the pins of commits that are on the branch themselves: the base is what the branch had before them."""
    short = pull.reference.short
    own = _own_ids(repository, pull, head)
    hint = f"name the commit: add-case --commit {head}"
    if not own:
        message = f"{short} is on the branch itself, but which of its commits are {short}'s is not known"
        return NotLanded(message=message, hint=hint)
    edge = {parent for commit in own for parent in repository.commit(commit).parents} - own
    # What was pushed onto the branch held the branch, so of the commits just below one holds all the others.
    bases = [one for one in edge if all(repository.is_ancestor(other, one) for other in edge)]
    if len(bases) != 1:
        message = f"{short} is on the branch itself, but its {len(own)} commits follow no single commit"
        return NotLanded(message=message, hint=hint)
    return Pins(
        base=bases[0],
        head=head,
        landing=Landing.DIRECT,
        decided_by=f"the pull request's {len(own)} commits are on the branch themselves",
    )


def _own_ids(repository: Repository, pull: PullFacts, head: str) -> set[str]:
    """Return the ids of the pull request's commits. A forge lists the first 250: the rest is what follows to its head.

    Empty where the list does not lead to the head without a merge, since what a merge brought need not be its own.
    """
    own = {commit.id for commit in pull.commits if repository.known(commit.id)}
    if not own or head in own:
        return own
    line = repository.first_parents(head)
    above = next((place for place, commit in enumerate(line) if commit in own), None)
    if above is None or any(len(repository.commit(commit).parents) != 1 for commit in line[:above]):
        return set()
    return own | set(line[:above])
