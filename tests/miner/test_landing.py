"""The pins of landed pull requests: every style of landing on every shape of branch, and what can't be told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from casewright.repository import open_source
from miner.change import Landing
from miner.forge_facts import ForgeReference, PullCommit, PullFacts
from miner.landing import NotLanded, Pins, landed
from tests.support.repos import Executable, RepoBuilder, git, oddity

NUMBER = 12
TEXT = "".join(f"line {number}\n" for number in range(40))


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "repo")
    repo.commit("Root", {"main.txt": TEXT, "both.txt": TEXT, "old.py": TEXT, "run.sh": "exit 0\n", "pic": b"\0\1"})
    repo.commit("Before", {"main.txt": TEXT + "before\n"})
    return repo


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def _facts(folder: Path, *, head: str, merge_commit: str | None, commits: list[str], title: str = "Do it") -> PullFacts:
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


def _decided(repo: RepoBuilder, cache: Path, facts: PullFacts) -> Pins | NotLanded:
    with open_source(str(repo.path), cache) as repository:
        return landed(repository, facts)


@dataclass(frozen=True, slots=True)
class Landed:
    """A landing that was made: what the forge would say, and the right pins."""

    facts: PullFacts
    base: str
    head: str
    style: Landing


def _own(repo: RepoBuilder) -> list[str]:
    return repo.git("rev-list", "--reverse", "--topo-order", "topic", "^main").split()


def _by_merge(repo: RepoBuilder) -> Landed:
    own, head = _own(repo), repo.git("rev-parse", "topic")
    repo.switch("main")
    base = repo.head()
    repo.git("merge", "-q", "--no-ff", "--allow-unrelated-histories", "-m", "Bring topic", "topic")
    facts = _facts(repo.path, head=head, merge_commit=repo.head(), commits=own)
    return Landed(facts, base, repo.head(), Landing.MERGE)


def _by_evil_merge(repo: RepoBuilder) -> Landed:
    own, head = _own(repo), repo.git("rev-parse", "topic")
    repo.switch("main")
    base = repo.head()
    repo.git("merge", "-q", "--no-ff", "--no-commit", "--allow-unrelated-histories", "topic")
    merged = repo.commit("Bring topic", {"evil.txt": "only here\n", "main.txt": "only here\n"})
    return Landed(_facts(repo.path, head=head, merge_commit=merged, commits=own), base, merged, Landing.MERGE)


def _by_squash(repo: RepoBuilder) -> Landed:
    own, head = _own(repo), repo.git("rev-parse", "topic")
    repo.switch("main")
    base = repo.head()
    repo.git("merge", "-q", "--squash", "--allow-unrelated-histories", "topic")
    squashed = repo.commit(f"Do it (#{NUMBER})")
    return Landed(_facts(repo.path, head=head, merge_commit=squashed, commits=own), base, squashed, Landing.SQUASH)


def _by_rebase(repo: RepoBuilder) -> Landed:
    own, head = _own(repo), repo.git("rev-parse", "topic")
    picked = repo.git("rev-list", "--reverse", "--topo-order", "--no-merges", "topic", "^main").split()
    repo.switch("main")
    base = repo.head()
    for commit in picked:
        repo.commit("Time goes on")
        repo.git("reset", "-q", "--hard", "HEAD~1")
        repo.git("cherry-pick", "--allow-empty", commit)
    return Landed(
        _facts(repo.path, head=head, merge_commit=repo.head(), commits=own), base, repo.head(), Landing.REBASE
    )


def _by_fast_forward(repo: RepoBuilder) -> Landed:
    own, head = _own(repo), repo.git("rev-parse", "topic")
    repo.switch("main")
    base = repo.head()
    repo.git("merge", "-q", "--ff-only", "topic")
    return Landed(_facts(repo.path, head=head, merge_commit=head, commits=own), base, head, Landing.DIRECT)


def _two_commits(repo: RepoBuilder) -> None:
    repo.switch("topic", at="main")
    repo.commit("Half", {"new.py": "half\n"})
    repo.commit("Whole", {"new.py": "half\nwhole\n", "tests/test_new.py": "test\n"})


def _stale(repo: RepoBuilder) -> None:
    _two_commits(repo)
    repo.switch("main")
    repo.commit("Main moves on", {"main.txt": TEXT + "after\n"})
    repo.commit("And on", {"other.txt": "x\n"})


def _back_merge(repo: RepoBuilder) -> None:
    _stale(repo)
    repo.switch("topic")
    repo.merge("main", message="Merge branch 'main' into topic")
    repo.commit("After it", {"new.py": "half\nwhole\nmore\n"})


def _back_merge_last(repo: RepoBuilder) -> None:
    _stale(repo)
    repo.switch("topic")
    repo.merge("main", message="Merge branch 'main' into topic")


def _back_merge_then_stale(repo: RepoBuilder) -> None:
    _back_merge(repo)
    repo.switch("main")
    repo.commit("Main moves on again", {"main.txt": TEXT + "again\n"})


def _criss_cross(repo: RepoBuilder) -> None:
    # The branch takes main, then main takes the branch as it was before, then both go on.
    _two_commits(repo)
    repo.git("branch", "early", "topic")
    repo.switch("main")
    first = repo.commit("Main moves on", {"main.txt": TEXT + "after\n"})
    repo.merge("early", message="Merge branch 'early'")
    repo.switch("topic")
    repo.merge(first, message="Merge main as it was")
    repo.commit("After it", {"new.py": "half\nwhole\nmore\n"})
    repo.commit("Last", {"tests/test_new.py": "test\ntest\n"})


def _empty_commit(repo: RepoBuilder) -> None:
    repo.switch("topic", at="main")
    repo.commit("Half", {"new.py": "half\n"})
    repo.commit("Trigger the tests")
    repo.commit("Whole", {"new.py": "whole\n"})


def _revert_inside(repo: RepoBuilder) -> None:
    repo.switch("topic", at="main")
    wrong = repo.commit("Wrong", {"new.py": "wrong\n"})
    repo.revert(wrong)
    repo.commit("Right", {"new.py": "right\n"})


def _rename(repo: RepoBuilder) -> None:
    repo.switch("topic", at="main")
    repo.git("mv", "old.py", "renamed.py")
    repo.commit("Rename")
    repo.commit("Use it", {"renamed.py": TEXT + "more\n"})


def _binary(repo: RepoBuilder) -> None:
    repo.switch("topic", at="main")
    repo.commit("Another picture", {"pic": b"\0\2\3"})
    repo.commit("And another", {"pic": b"\0\4\5", "pic2": b"\0"})


def _mode_only(repo: RepoBuilder) -> None:
    repo.switch("topic", at="main")
    repo.commit("Let it run", {"run.sh": Executable(b"exit 0\n")})
    repo.commit("And this", {"old.py": Executable(TEXT.encode())})


def _moved_context(repo: RepoBuilder) -> None:
    # Two lines lie between the hunks of the two sides: git merges them, and their patches differ in what stands around.
    repo.switch("topic", at="main")
    repo.commit("One line", {"both.txt": TEXT.replace("line 20\n", "mine\n")})
    repo.commit("Another line", {"both.txt": TEXT.replace("line 20\n", "mine\n").replace("line 5\n", "mine too\n")})
    repo.switch("main")
    repo.commit("Near it", {"both.txt": TEXT.replace("line 23\n", "theirs\n").replace("line 8\n", "theirs\n")})


def _own_root(repo: RepoBuilder) -> None:
    repo.git("checkout", "-q", "--orphan", "topic")
    repo.git("rm", "-q", "-rf", ".")
    repo.commit("Another root", {"lib/a.py": "a\n"})
    repo.commit("And more", {"lib/b.py": "b\n"})


SHAPES: list[Callable[[RepoBuilder], None]] = [
    _two_commits,
    _stale,
    _back_merge,
    _back_merge_last,
    _back_merge_then_stale,
    _criss_cross,
    _empty_commit,
    _revert_inside,
    _rename,
    _binary,
    _mode_only,
    _moved_context,
    _own_root,
]
STYLES: list[Callable[[RepoBuilder], Landed]] = [_by_merge, _by_evil_merge, _by_squash, _by_rebase, _by_fast_forward]


def _combinations() -> Iterator[tuple[Callable[[RepoBuilder], None], Callable[[RepoBuilder], Landed]]]:
    # git itself refuses these: main has moved on, or there is nothing to fast-forward from.
    no_fast_forward = {_stale, _back_merge_then_stale, _criss_cross, _moved_context, _own_root}
    for shape in SHAPES:
        for style in STYLES:
            if not (style is _by_fast_forward and shape in no_fast_forward):
                yield shape, style


@pytest.mark.parametrize(("shape", "style"), list(_combinations()))
def test_every_style_on_every_shape_of_branch(
    repo: RepoBuilder,
    cache: Path,
    shape: Callable[[RepoBuilder], None],
    style: Callable[[RepoBuilder], Landed],
) -> None:
    shape(repo)
    made = style(repo)
    repo.commit("Later", {"later.txt": "x\n"})

    found = _decided(repo, cache, made.facts)

    assert isinstance(found, Pins), found
    assert (found.base, found.head, found.landing) == (made.base, made.head, made.style), found
    assert found.decided_by
    assert "\n" not in found.decided_by


def _oddity_facts(folder: Path, said: Mapping[str, Any], titles: Mapping[int, str]) -> PullFacts:
    number, head = said["number"], said["head"]["sha"]
    own = git(folder, "rev-list", "--reverse", "--topo-order", head, f"^{said['base']['sha']}").decode().split()
    facts = _facts(folder, head=head, merge_commit=said["merge_commit_sha"], commits=own[-said["commits"] :])
    reference = replace(facts.reference, number=number)
    return replace(facts, reference=reference, title=titles.get(number, "Something"))


def test_all_ways_to_merge_of_the_oddity_are_told_apart(tmp_path: Path, cache: Path) -> None:
    built = oddity("14-ways-to-merge", tmp_path / "oddity")
    styles = {2: Landing.SQUASH, 3: Landing.REBASE, 6: Landing.DIRECT, 8: Landing.SQUASH}
    pulls = json.loads((built.folder / "prs.json").read_text(encoding="utf-8"))

    with open_source(str(built.folder / "repo"), cache) as repository:
        for said in pulls:
            number = said["number"]
            found = landed(repository, _oddity_facts(built.folder / "repo", said, {}))
            assert isinstance(found, Pins), (number, found)
            wanted = (built.facts[f"PR{number}_BASE"], built.facts[f"PR{number}_HEAD"])
            assert (found.base, found.head) == wanted, (number, found)
            assert found.landing == styles.get(number, Landing.MERGE), (number, found)
    assert len(pulls) == 8


@pytest.mark.parametrize("with_head", [True, False])
def test_the_history_of_the_oddity_alone_gives_what_its_messages_say_and_guesses_nothing(
    tmp_path: Path, cache: Path, with_head: bool
) -> None:
    built = oddity("14-ways-to-merge", tmp_path / "oddity")
    titles = {2: "Add twenty in m2", 8: "Add eighty in m8"}
    # With the head at hand, the fast-forward is there for everybody to see: it is found, and not by a message.
    missing = {3} if with_head else {3, 6}

    with open_source(str(built.folder / "repo"), cache) as repository:
        for said in json.loads((built.folder / "prs.json").read_text(encoding="utf-8")):
            number = said["number"]
            facts = _oddity_facts(built.folder / "repo", said, titles)
            facts = replace(facts, merge_commit="f" * 40 if number % 2 else None)
            found = landed(repository, facts if with_head else replace(facts, head_commit="e" * 40, commits=()))
            if number in missing:
                assert isinstance(found, NotLanded), (number, found)
                assert f"dev/box#{number}" in found.message
                assert "add-case --commit" in found.hint
            else:
                assert isinstance(found, Pins), (number, found)
                wanted = (built.facts[f"PR{number}_BASE"], built.facts[f"PR{number}_HEAD"])
                assert (found.base, found.head) == wanted, (number, found)
