"""Pull requests that land in small repositories: what a forge says of each, and the right pins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from casewright.repository import open_source
from miner.change import Landing
from miner.forge_facts import ForgeReference, PullCommit, PullFacts
from miner.landing import NotLanded, Pins, landed
from tests.support.repos import RepoBuilder, git

NUMBER = 12
TEXT = "".join(f"line {number}\n" for number in range(40))


def landing_repository(folder: Path) -> RepoBuilder:
    """Make a repository whose main branch has files for every sort of change."""
    repo = RepoBuilder(folder / "repo")
    repo.commit("Root", {"main.txt": TEXT, "both.txt": TEXT, "old.py": TEXT, "run.sh": "exit 0\n", "pic": b"\0\1"})
    repo.commit("Before", {"main.txt": TEXT + "before\n"})
    return repo


@dataclass(frozen=True, slots=True)
class Landed:
    """A landing that was made: what the forge would say, and the right pins."""

    facts: PullFacts
    base: str
    head: str
    style: Landing


def pull_facts(
    folder: Path, *, head: str, merge_commit: str | None, commits: list[str], title: str = "Do it"
) -> PullFacts:
    """Return what a forge would say; ``head`` and ``merge_commit`` need not exist."""
    return PullFacts(
        reference=ForgeReference(host="github.com", owner="dev", name="box", number=NUMBER),
        url=f"https://github.com/dev/box/pull/{NUMBER}",
        title=title,
        body="",
        base_branch="main",
        head_commit=head,
        merge_commit=merge_commit,
        merged_at=1,
        created_at=1,
        commits=tuple(
            PullCommit(id=one, message=git(folder, "log", "-1", "--format=%B", one).decode()) for one in commits
        ),
    )


def decided(repo: RepoBuilder, cache: Path, facts: PullFacts) -> Pins | NotLanded:
    """Return what is decided with the repository opened in place."""
    with open_source(str(repo.path), cache) as repository:
        return landed(repository, facts)


def pins_of(found: Pins | NotLanded) -> tuple[str, str, Landing]:
    """Return base, head and style; fail the test where there are no pins."""
    assert isinstance(found, Pins), found
    return found.base, found.head, found.landing


def own_commits(repo: RepoBuilder) -> list[str]:
    """Return the pull request's commits, oldest first, merges included, as a forge lists them."""
    return repo.git("rev-list", "--reverse", "--topo-order", "topic", "^main").split()


def by_merge(repo: RepoBuilder) -> Landed:
    """Land ``topic`` on main by a merge commit."""
    own, head = own_commits(repo), repo.git("rev-parse", "topic")
    repo.switch("main")
    base = repo.head()
    repo.git("merge", "-q", "--no-ff", "--allow-unrelated-histories", "-m", "Bring topic", "topic")
    facts = pull_facts(repo.path, head=head, merge_commit=repo.head(), commits=own)
    return Landed(facts, base, repo.head(), Landing.MERGE)


def by_evil_merge(repo: RepoBuilder) -> Landed:
    """Land it by a merge that changes files of its own."""
    own, head = own_commits(repo), repo.git("rev-parse", "topic")
    repo.switch("main")
    base = repo.head()
    repo.git("merge", "-q", "--no-ff", "--no-commit", "--allow-unrelated-histories", "topic")
    merged = repo.commit("Bring topic", {"evil.txt": "only here\n", "main.txt": "only here\n"})
    return Landed(pull_facts(repo.path, head=head, merge_commit=merged, commits=own), base, merged, Landing.MERGE)


def by_squash(repo: RepoBuilder) -> Landed:
    """Land it as one commit."""
    own, head = own_commits(repo), repo.git("rev-parse", "topic")
    repo.switch("main")
    base = repo.head()
    repo.git("merge", "-q", "--squash", "--allow-unrelated-histories", "topic")
    squashed = repo.commit(f"Do it (#{NUMBER})")
    return Landed(pull_facts(repo.path, head=head, merge_commit=squashed, commits=own), base, squashed, Landing.SQUASH)


def by_rebase(repo: RepoBuilder) -> Landed:
    """Land a copy of each of its commits that is no merge."""
    own, head = own_commits(repo), repo.git("rev-parse", "topic")
    picked = repo.git("rev-list", "--reverse", "--topo-order", "--no-merges", "topic", "^main").split()
    repo.switch("main")
    base = repo.head()
    for commit in picked:
        repo.commit("Time goes on")
        repo.git("reset", "-q", "--hard", "HEAD~1")
        repo.git("cherry-pick", "--allow-empty", commit)
    return Landed(
        pull_facts(repo.path, head=head, merge_commit=repo.head(), commits=own), base, repo.head(), Landing.REBASE
    )


def by_fast_forward(repo: RepoBuilder) -> Landed:
    """Land it as it is."""
    own, head = own_commits(repo), repo.git("rev-parse", "topic")
    repo.switch("main")
    base = repo.head()
    repo.git("merge", "-q", "--ff-only", "topic")
    return Landed(pull_facts(repo.path, head=head, merge_commit=head, commits=own), base, head, Landing.DIRECT)


def two_commits(repo: RepoBuilder) -> None:
    """Make ``topic`` of two commits on main's tip."""
    repo.switch("topic", at="main")
    repo.commit("Half", {"new.py": "half\n"})
    repo.commit("Whole", {"new.py": "half\nwhole\n", "tests/test_new.py": "test\n"})


def stale(repo: RepoBuilder) -> None:
    """Make ``topic`` of two commits, after which main moves on."""
    two_commits(repo)
    repo.switch("main")
    repo.commit("Main moves on", {"main.txt": TEXT + "after\n"})
    repo.commit("And on", {"other.txt": "x\n"})


def without_topic(repo: RepoBuilder, tmp_path: Path) -> Path:
    """Clone main alone, from nowhere that a pull request's head could be fetched from."""
    folder = tmp_path / "alone"
    git(tmp_path, "clone", "-q", "--bare", "--single-branch", "--branch", "main", repo.path.as_uri(), str(folder))
    git(folder, "remote", "remove", "origin")
    return folder


def oddity_pull_facts(folder: Path, said: Mapping[str, Any], titles: Mapping[int, str]) -> PullFacts:
    """Return what the forge of oddity 14 says of one of its pull requests."""
    number, head = said["number"], said["head"]["sha"]
    own = git(folder, "rev-list", "--reverse", "--topo-order", head, f"^{said['base']['sha']}").decode().split()
    facts = pull_facts(folder, head=head, merge_commit=said["merge_commit_sha"], commits=own[-said["commits"] :])
    reference = replace(facts.reference, number=number)
    return replace(facts, reference=reference, title=titles.get(number, "Something"))
