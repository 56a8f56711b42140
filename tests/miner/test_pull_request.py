"""The GitHub door against a GitHub on loopback: what is read, what is waited out, what is refused, where tokens go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from casewright.errors import ForgeError
from miner import forge_waiting
from miner.forge_facts import ForgeReference
from miner.forge_host import Token, forge_host
from miner.pull_request import COMMITS_AT_ONCE, Forge, MissingError
from tests.support.forge import Forge as Served
from tests.support.forge_faults import (
    Fault,
    cut_short,
    dropped,
    primary_limit,
    proxy_page,
    query_limited,
    query_timeout,
    redirected,
    secondary_limit,
    truncated,
)
from tests.support.repos import RepoBuilder

BORN = 1_600_000_000


@pytest.fixture
def built(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "box")
    repo.commit("Start", {"box.py": "0\n"})
    for number in range(1, 4):
        repo.commit(f"Change {number} (#{number})", {"box.py": f"{number}\n"})
    return repo


@pytest.fixture
def served(tmp_path: Path, built: RepoBuilder) -> Iterator[Served]:
    with Served(tmp_path / "forge") as forge:
        forge.repository("o", "box", built.path)
        forge.issue("o/box", number=11, title="It breaks", body="When\r\nasked.", labels=["bug"], created=BORN)
        for number in range(1, 4):
            forge.pull(
                "o/box",
                number=number,
                title=f"Mend {number}",
                body="Fixes #11",
                base_sha=built.git("rev-parse", f"HEAD~{4 - number}"),
                head_sha=built.git("rev-parse", f"HEAD~{3 - number}"),
                merge_commit_sha=built.git("rev-parse", f"HEAD~{3 - number}"),
                merged_at=BORN + 200,
                created=BORN + 100,
                closing=[("o", "box", 11)],
            )
        yield forge


@pytest.fixture(autouse=True)
def no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses are told as ever and take no time."""
    monkeypatch.setattr(forge_waiting, "let_a_second_pass", lambda: None)


class Door:
    """A door to the served forge that keeps what it waits for."""

    def __init__(self, served: Served, secret: str | None = None) -> None:
        self.pauses: list[tuple[int, str]] = []
        self.forge = Forge(
            forge_host(served.host, {}),
            None if secret is None else Token(secret, "GITHUB_TOKEN"),
            lambda seconds, why: self.pauses.append((seconds, why)),
            agent="casewright/test",
        )

    @property
    def slept(self) -> int:
        """How many seconds it has waited."""
        return sum(left > 0 for left, _ in self.pauses)

    def reference(self, number: int) -> ForgeReference:
        return ForgeReference(host=self.forge.host.name, owner="o", name="box", number=number)


def test_a_pull_request_and_its_issue_are_read_as_people_wrote_them(served: Served, built: RepoBuilder) -> None:
    door = Door(served)
    pull = door.forge.pull(door.reference(2))

    assert pull.reference == door.reference(2)
    assert (pull.title, pull.body, pull.base_branch) == ("Mend 2", "Fixes #11", "main")
    assert pull.merge_commit == pull.head_commit == built.git("rev-parse", "HEAD~1")
    assert (pull.created_at, pull.merged_at) == (BORN + 100, BORN + 200)
    assert [commit.message.strip() for commit in pull.commits] == ["Change 2 (#2)"]
    issue = door.forge.issue(door.reference(11))
    assert issue is not None
    assert (issue.title, issue.body, issue.labels, issue.created_at) == ("It breaks", "When\r\nasked.", ("bug",), BORN)
    assert issue.url == f"{served.origin}/o/box/issues/11"
    assert door.forge.issue(door.reference(2)) is None
    assert door.forge.linked(door.reference(2)) == ()


def test_what_the_forge_links_needs_a_token_which_goes_to_its_api_alone(served: Served) -> None:
    secret = served.token("ghp_of_mine")
    door = Door(served, secret)

    assert door.forge.linked(door.reference(2)) == (door.reference(11),)
    assert all(seen.request.token == secret for seen in served.requests)
    assert all(seen.request.path.startswith("/api/") for seen in served.requests)
    assert "ghp_of_mine" not in repr(door.forge.token)


def test_many_commits_are_one_question(served: Served, built: RepoBuilder) -> None:
    door = Door(served, served.token("t"))
    commits = [built.git("rev-parse", f"HEAD~{back}") for back in range(4)]
    found = door.forge.pulls_of("o/box", commits)

    assert [[pull.reference.number for pull in found[commit].pulls] for commit in commits] == [[3], [2], [1], []]
    assert found[commits[0]].issues[0].title == "It breaks"
    assert found[commits[0]].pulls[0].linked == (door.reference(11),)
    assert served.calls("graphql") == 1
    many = [f"{number:040x}" for number in range(2 * COMMITS_AT_ONCE)]
    assert all(pulls.pulls == () for pulls in door.forge.pulls_of("o/box", many).values())
    assert served.calls("graphql") == 3


def test_without_a_token_each_commit_is_asked_for(served: Served, built: RepoBuilder) -> None:
    door = Door(served)
    found = door.forge.pulls_of("o/box", [built.head(), "0" * 40])

    assert [pull.reference.number for pull in found[built.head()].pulls] == [3]
    assert found["0" * 40].pulls == ()
    assert served.calls("graphql") == 0


def test_a_question_that_is_too_heavy_is_asked_in_parts(served: Served, built: RepoBuilder) -> None:
    door = Door(served, served.token("t"))
    served.fail_when("graphql", query_timeout(), times=6)
    commits = [built.git("rev-parse", f"HEAD~{back}") for back in range(3)]

    assert [len(found.pulls) for found in door.forge.pulls_of("o/box", commits).values()] == [1, 1, 1]


@pytest.mark.parametrize(
    ("fault", "seconds"),
    [
        (secondary_limit(retry_after=7), 7),
        (secondary_limit(retry_after=3, status=429), 3),
        (secondary_limit(retry_after=None), 60),
        (proxy_page(), 1),
        (truncated(), 1),
        (cut_short(), 1),
        (dropped(), 1),
    ],
    ids=["retry-after", "too-many", "secondary", "proxy", "truncated", "cut-short", "dropped"],
)
def test_what_passes_is_waited_out_with_a_countdown(served: Served, fault: Fault, seconds: int) -> None:
    door = Door(served)
    served.fail_when("/pulls/2", fault)

    assert door.forge.pull(door.reference(2)).title == "Mend 2"
    assert door.slept == seconds
    assert [left for left, _ in door.pauses] == list(range(seconds, -1, -1))


def test_a_limit_is_waited_out_until_the_forge_sets_it_back(served: Served) -> None:
    door = Door(served, served.token("t"))
    served.fail_when("/pulls/2", primary_limit(seconds=40))
    served.fail_when("graphql", query_limited(seconds=20))

    assert door.forge.pull(door.reference(2)).title == "Mend 2"
    assert 39 <= door.slept <= 42
    assert "rate limit" in door.pauses[0][1]
    assert door.forge.linked(door.reference(2)) == (door.reference(11),)
    assert 58 <= door.slept <= 84


def test_a_forge_that_stays_away_ends_it_without_a_verdict(served: Served) -> None:
    door = Door(served)
    served.fail_when("/pulls/2", status=502, times=None)
    with pytest.raises(ForgeError, match=r"answers 502 again and again.*run again later"):
        door.forge.pull(door.reference(2))
    assert door.slept == 1 + 2 + 4 + 8 + 16

    served.stop()
    with pytest.raises(ForgeError, match="does not answer"):
        door.forge.pull(door.reference(1))
    served.start()
    assert door.forge.pull(door.reference(1)).title == "Mend 1"


def test_a_limit_that_is_none_is_not_waited_for(served: Served) -> None:
    door = Door(served)
    served.fail_when("/pulls/2", status=403, headers={"Retry-After": "1000000"}, times=None)
    with pytest.raises(ForgeError, match="refuses pull request o/box#2"):
        door.forge.pull(door.reference(2))
    assert door.slept == 0


def test_a_missing_or_private_pull_request_says_what_to_do(served: Served, built: RepoBuilder) -> None:
    with pytest.raises(MissingError, match=r"shows no pull request o/box#99; if it is private, set GITHUB_TOKEN"):
        Door(served).forge.pull(Door(served).reference(99))

    served.repository("o", "secret", built.path, private=True)
    served.pull("o/secret", number=1, title="Hidden", base_sha=built.git("rev-parse", "HEAD~1"), head_sha=built.head())
    hidden = ForgeReference(host=served.host, owner="o", name="secret", number=1)
    seeing = Door(served, served.token("sees"))
    assert seeing.forge.pull(hidden).title == "Hidden"
    blind = Door(served, served.token("blind", sees=[]))
    with pytest.raises(MissingError, match=r"whether the token \(GITHUB_TOKEN\) may read it"):
        blind.forge.pull(hidden)
    with pytest.raises(MissingError, match="shows no repository o/secret"):
        blind.forge.pulls_of("o/secret", [built.head()])


def test_a_token_that_ends_in_the_middle_is_told_by_where_it_is_kept(served: Served) -> None:
    door = Door(served, served.token("brief", expires_after=2))
    assert door.forge.pull(door.reference(1)).title == "Mend 1"
    with pytest.raises(ForgeError, match=r"does not accept the token \(GITHUB_TOKEN\); renew it") as caught:
        door.forge.pull(door.reference(2))
    assert "brief" not in str(caught.value)
    assert door.slept == 0


def test_an_answer_that_leads_to_another_host_gets_no_token(tmp_path: Path, served: Served) -> None:
    with Served(tmp_path / "other", host="localhost") as other:
        for status in (301, 302, 307):
            door = Door(served, served.token("mine"))
            served.fail_when("/pulls/2", redirected(f"{other.api}/repos/o/box/pulls/2", status))
            with pytest.raises(ForgeError):
                door.forge.pull(door.reference(2))
        assert other.requests == ()


def test_a_renamed_repository_answers_under_its_new_name(served: Served) -> None:
    door = Door(served)
    served.rename("o/box", "new", "crate")
    assert door.forge.pull(door.reference(2)).reference.repository == "new/crate"


def test_a_pull_request_of_a_deleted_fork_is_read_all_the_same(served: Served, built: RepoBuilder) -> None:
    door = Door(served)
    served.pull(
        "o/box", number=7, title="From afar", base_sha=built.git("rev-parse", "HEAD~1"), head_sha=built.head(),
        merge_commit_sha=built.head(), merged_at=BORN, fork="deleted",
    )  # fmt: skip
    assert door.forge.pull(door.reference(7)).title == "From afar"


def test_one_that_was_not_merged_has_no_merge_commit(served: Served, built: RepoBuilder) -> None:
    door = Door(served)
    served.pull(
        "o/box", number=8, title="Open", base_sha=built.git("rev-parse", "HEAD~1"), head_sha=built.head(),
        merge_commit_sha="1" * 40,
    )  # fmt: skip
    assert door.forge.pull(door.reference(8)).merge_commit is None
