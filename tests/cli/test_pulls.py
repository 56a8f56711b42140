"""``add-case --pr`` and ``mine --prs`` against a GitHub on loopback, over HTTP from the question to the draft."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from authoring.draft import load_draft
from casewright.new_workspace import init_workspace
from casewright.store import CACHE_VARIABLE
from casewright.workspace import Workspace
from miner import forge_waiting
from tests.cli.test_mine_commands import snapshot
from tests.support.command_line import CommandLine, Ran
from tests.support.forge import Forge
from tests.support.forge_faults import dropped, secondary_limit
from tests.support.oddities import built_oddity
from tests.support.repos import FIRST_TIME, Entry, RepoBuilder, git
from tests.support.sandbox import needs_sandbox

TEST = (
    "import unittest\nfrom box import area\n\n\nclass BoxTest(unittest.TestCase):\n    def test_area(self):\n"
    "        self.assertEqual(area(2, {}), {})\n"
)
SECRET = "ghp_0123456789secretOfMine"


@pytest.fixture
def box(tmp_path: Path) -> RepoBuilder:
    """A fix in two commits that is squashed by the forge, one that is merged, and one that grades nothing."""
    repo = RepoBuilder(tmp_path / "box")
    repo.commit("Begin", {"box.py": "def area(a, b):\n    return a + b\n", "LICENSE": "MIT License\n"})
    repo.switch("topic", at="HEAD")
    repo.commit("wip", {"box.py": "def area(a, b):\n    return a * b  # wip\n"})
    fixed: dict[str | bytes, Entry] = {
        "box.py": "def area(a, b):\n    return a * b\n",
        "tests/test_box.py": TEST.format(3, 6),
    }
    repo.commit("wip, with a test", fixed)
    repo.switch("main")
    repo.commit("Multiply both sides (#2)", fixed)
    repo.commit("Describe it", {"README.md": "A box.\n"})
    return repo


@pytest.fixture
def forge(tmp_path: Path, box: RepoBuilder) -> Iterator[Forge]:
    with Forge(tmp_path / "forge") as server:
        server.repository("o", "box", box.path)
        server.issue(
            "o/box",
            number=1,
            title="The area of a box is its perimeter",
            body="<!-- thanks! -->\r\nA box of 2 by 3 has an area of 5.\r\nIt should be 6.\r\n",
            labels=["bug"],
            created=FIRST_TIME,
        )
        server.issue("o/box", number=3, title="Written after the fix, telling it", created=FIRST_TIME + 99999)
        server.pull(
            "o/box",
            number=2,
            title="Multiply in area()",
            body="Replaces `+` by `*` in box.py.\n\nFixes #1, fixes #3, fixes #77",
            base_sha=box.git("rev-parse", "HEAD~2"),
            head_sha=box.git("rev-parse", "topic"),
            merge_commit_sha=box.git("rev-parse", "HEAD~1"),
            created=FIRST_TIME + 100,
            merged_at=FIRST_TIME + 200,
        )
        yield server


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return init_workspace(tmp_path / "bench")[0]


@pytest.fixture(autouse=True)
def no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses are told as ever and take no time."""
    monkeypatch.setattr(forge_waiting, "let_a_second_pass", lambda: None)


def add(cli: CommandLine, workspace: Workspace, *arguments: str | Path) -> Ran:
    return cli("-C", workspace.root, "add-case", *arguments, "--repeat", "1")


@needs_sandbox
class TestAddCase:
    def test_a_draft_comes_from_the_issue_with_its_sources_kept(
        self, cli: CommandLine, workspace: Workspace, forge: Forge, box: RepoBuilder
    ) -> None:
        ran = add(cli, workspace, "--pr", forge.pull_url("o/box", 2) + "/files#diff-1", "--format", "json")
        assert ran.code == 0, ran.err
        row = ran.json
        assert (row["outcome"], row["case"], row["landing"]) == ("admitted", "box-pr2", "squash")
        assert row["base"] == box.git("rev-parse", "HEAD~2")
        assert row["head"] == box.git("rev-parse", "HEAD~1")
        assert row["notes"] == [
            "issue o/box#3 is left out: it is not older than the pull request",
            "o/box#77 is no issue that the forge shows",
        ]
        assert all(note in ran.err for note in row["notes"])

        assert [finding["code"] for finding in row["findings"]] == ["no-category"]
        case = load_draft(workspace, "box-pr2").case
        assert case.repository_url == forge.clone_url("o/box")
        assert case.source.commit_url == f"{forge.origin}/o/box/commit/{case.grading_commit}"
        assert "It should be 6." in case.task
        assert "Replaces" not in case.task
        assert case.source.pull_request is not None
        assert (case.source.pull_request.number, case.source.pull_request.title) == (2, "Multiply in area()")
        assert [(issue.number, issue.labels) for issue in case.source.issues] == [(1, ("bug",))]
        assert case.source.issues[0].body.startswith("<!-- thanks! -->\n")
        assert case.source.text_from[0].source == "issue o/box#1"
        assert "squash" in case.landing.style
        assert "patch-id" in case.landing.decided_by

    def test_a_dry_run_shows_everything_and_writes_nothing(
        self, cli: CommandLine, workspace: Workspace, forge: Forge
    ) -> None:
        before = snapshot(workspace.root)
        ran = add(cli, workspace, "--pr", forge.pull_url("o/box", 2), "--dry-run")
        assert ran.code == 0, ran.err
        for shown in (
            "squash, because its patch-id",
            "graded test files (1)\n  tests/test_box.py",
            "rest part (1)\n  box.py",
            "admitted",
            "tests.test_box.BoxTest.test_area",
            "It should be 6.",
            "cases/box-pr2.yaml",
            "fail_to_pass:",
        ):
            assert shown in ran.out
        assert snapshot(workspace.root) == before

        found = add(cli, workspace, "--pr", forge.pull_url("o/box", 2), "--dry-run", "--format", "json").json
        assert found["draft"]["task"].startswith("The area of a box")
        assert found["explanation"]["parts"]["rest"] == ["box.py"]
        assert snapshot(workspace.root) == before

    def test_the_token_reaches_the_api_and_nothing_else(
        self,
        cli: CommandLine,
        workspace: Workspace,
        forge: Forge,
        box: RepoBuilder,
        monkeypatch: pytest.MonkeyPatch,
        cache_of_the_tests: Path,
    ) -> None:
        peek = (
            "import os, unittest\nfrom box import area\n\n\nclass PeekTest(unittest.TestCase):\n"
            "    def test_peek(self):\n        self.assertEqual(area(0, 1), 0)\n"
            f"        self.assertNotIn({SECRET!r}, repr(os.environ))\n"
            "        for name in os.listdir('/proc'):\n"
            "            if name.isdigit():\n"
            "                for kind in ('environ', 'cmdline'):\n"
            "                    try:\n"
            "                        held = open(f'/proc/{name}/{kind}', 'rb').read()\n"
            "                    except OSError:\n"
            "                        continue\n"
            f"                    self.assertNotIn({SECRET.encode()!r}, held)\n"
        )
        head = box.commit(
            "Let a side of nothing give no area",
            {"box.py": "def area(a, b):\n    return a * b if a else 0\n", "tests/test_peek.py": peek + "# 1\n"},
        )
        head = box.commit(
            "Let a box without a side have no area at all",
            {"box.py": "def area(a, b):\n    return 0 if not a else a * b\n", "tests/test_peek.py": peek},
        )
        forge.refresh("o/box")
        forge.pull(
            "o/box", number=9, title="No area without a side", body="It should be 0.", head_sha=head,
            base_sha=box.git("rev-parse", "HEAD~1"), merge_commit_sha=head, merged_at=FIRST_TIME + 300,
        )  # fmt: skip
        forge.token(SECRET)
        monkeypatch.setenv("GITHUB_TOKEN", SECRET)
        ran = add(cli, workspace, "--pr", forge.pull_url("o/box", 9), "-vv", "--format", "json")
        # The test passes at both ends: it never sees the token. A token in sight would be `red-at-both`.
        assert (ran.code, ran.json["reason"]) == (1, "base-passes")
        assert SECRET not in ran.out + ran.err
        for folder in (workspace.root, cache_of_the_tests):
            for path in folder.rglob("*"):
                if path.is_file() and not path.is_symlink():
                    assert SECRET.encode() not in path.read_bytes(), path
        assert {seen.request.token for seen in forge.requests if seen.request.path.startswith("/api/")} == {SECRET}
        assert {seen.request.token for seen in forge.requests if not seen.request.path.startswith("/api/")} == {None}

    def test_a_stale_local_copy_is_refreshed_for_the_session_and_never_written(
        self, cli: CommandLine, workspace: Workspace, forge: Forge, box: RepoBuilder, tmp_path: Path
    ) -> None:
        git(tmp_path, "clone", "-q", box.path.as_uri(), "copy")
        git(tmp_path / "copy", "reset", "-q", "--hard", "HEAD~2")
        git(tmp_path / "copy", "update-ref", "-d", "refs/remotes/origin/main")
        git(tmp_path / "copy", "update-ref", "-d", "refs/remotes/origin/topic")
        git(tmp_path / "copy", "reflog", "expire", "--expire=now", "--all")
        git(tmp_path / "copy", "gc", "-q", "--prune=now")
        before = snapshot(tmp_path / "copy")
        ran = add(cli, workspace, "--pr", forge.pull_url("o/box", 2), "--repo", tmp_path / "copy", "--format", "json")
        assert ran.code == 0, ran.err
        assert ran.json["head"] == box.git("rev-parse", "HEAD~1")
        assert load_draft(workspace, "box-pr2").case.repository_url == forge.clone_url("o/box")
        assert snapshot(tmp_path / "copy") == before

    def test_the_second_run_finds_its_draft_and_keeps_what_people_wrote(
        self, cli: CommandLine, workspace: Workspace, forge: Forge
    ) -> None:
        assert add(cli, workspace, "--pr", forge.pull_url("o/box", 2)).code == 0
        path = workspace.cases / "box-pr2.yaml"
        path.write_text(path.read_text().replace("It should be 6.", "Six is right.  # a person"))
        again = add(cli, workspace, "--pr", f"{forge.host}/o/box/pull/2")
        assert again.code == 0
        assert "casewright review box-pr2 --by NAME" in again.out
        assert "Six is right.  # a person" in path.read_text()
        assert [entry.name for entry in workspace.cases.glob("*.yaml")] == ["box-pr2.yaml"]

    def test_a_stranger_verifies_it_from_one_whole_clone(
        self, cli: CommandLine, workspace: Workspace, forge: Forge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        assert add(cli, workspace, "--pr", forge.pull_url("o/box", 2)).code == 0
        monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "strange"))
        ran = cli("-C", workspace.root, "verify", "box-pr2", "--format", "json")
        assert (ran.code, ran.json["outcome"]) == (0, "reproduced"), ran.err
        assert len(list((tmp_path / "strange/clones").iterdir())) == 1

    def test_afterwards_the_case_is_looked_at_without_asking_anybody(
        self, cli: CommandLine, workspace: Workspace, forge: Forge
    ) -> None:
        assert add(cli, workspace, "--pr", forge.pull_url("o/box", 2)).code == 0
        shutil.rmtree(workspace.state / "changes")
        forge.stop()
        page = cli("-C", workspace.root, "show", "box-pr2", "--html", "-")
        assert page.code == 0
        assert "return a * b" in page.out
        linted = cli("-C", workspace.root, "lint", "box-pr2", "--format", "json")
        assert linted.json[0]["notes"] == []
        forge.start()

    def test_a_merge_into_a_branch_that_is_gone_is_rejected_by_its_reason(
        self, cli: CommandLine, workspace: Workspace, forge: Forge, box: RepoBuilder
    ) -> None:
        box.switch("release", at="HEAD~2")
        head = box.commit(
            "Multiply, for the release that is no more",
            {"box.py": "def area(a, b):\n    return b * a\n", "tests/test_box.py": TEST.format(3, 6)},
        )
        box.switch("main")
        forge.refresh("o/box", branches=["main"])
        forge.pull(
            "o/box", number=5, title="Multiply for a release", base="release", head_sha=head,
            base_sha=box.git("rev-parse", "HEAD~2"), merge_commit_sha=head, merged_at=FIRST_TIME + 300,
        )  # fmt: skip
        ran = add(cli, workspace, "--pr", forge.pull_url("o/box", 5), "--format", "json")
        assert (ran.code, ran.json["reason"]) == (1, "pins-not-in-plain-clone"), ran.err

    @pytest.mark.parametrize("number", range(1, 9))
    def test_all_eight_ways_to_merge_have_the_right_pins(
        self, cli: CommandLine, workspace: Workspace, tmp_path: Path, number: int
    ) -> None:
        odd = built_oddity("14-ways-to-merge", tmp_path / "odd")
        facts = dict(line.split("=") for line in (odd / "facts.env").read_text().split())
        with Forge(tmp_path / "ways") as forge:
            forge.repository("o", "repo", odd / "repo")
            forge.load_prs_json("o/repo", odd / "prs.json", fork="deleted" if number % 2 else "somebody/repo")
            before = snapshot(workspace.root)
            ran = add(cli, workspace, "--pr", forge.pull_url("o/repo", number), "--dry-run", "--format", "json")
        assert ran.code == 0, ran.err
        assert snapshot(workspace.root) == before
        row = ran.json
        assert (row["base"], row["head"]) == (facts[f"PR{number}_BASE"], facts[f"PR{number}_HEAD"])
        assert row["graded_files"] == [f"tests/test_m{number}.py"]
        assert row["fail_to_pass"] == [f"tests.test_m{number}.M{number}Test.test_value"]
        styles = {1: "merge", 2: "squash", 3: "rebase", 4: "merge", 5: "merge", 6: "direct", 7: "merge", 8: "squash"}
        assert row["landing"] == styles[number]


class TestAnswers:
    """What can't become a case: one clear line, the right exit code, nothing written."""

    def told(self, cli: CommandLine, workspace: Workspace, pull: str, code: int, *words: str) -> None:
        before = snapshot(workspace.root)
        ran = add(cli, workspace, "--pr", pull)
        assert (ran.code, ran.out) == (code, ""), ran.err
        errors = [line for line in ran.err.splitlines() if line.startswith("error:")]
        assert len(errors) == 1
        assert all(word in errors[0] for word in words), errors
        assert "Traceback" not in ran.err
        after = {name: held for name, held in snapshot(workspace.root).items() if not name.endswith(".lock")}
        assert after == {name: held for name, held in before.items() if not name.endswith(".lock")}

    @pytest.mark.parametrize(
        "pull",
        [
            "https://github.com.evil.example/o/r/pull/1",
            "https://github.com@evil.example/o/r/pull/1",
            "https://gitlab.com/o/r/-/merge_requests/1",
            "https://github.com/o/r/issues/1",
            "o/r",
            "17",
        ],
    )
    def test_what_names_no_pull_request_of_a_known_host(
        self, cli: CommandLine, workspace: Workspace, pull: str
    ) -> None:
        self.told(cli, workspace, pull, 2, pull.rpartition("@")[2])

    def test_an_unmerged_one(self, cli: CommandLine, workspace: Workspace, forge: Forge, box: RepoBuilder) -> None:
        forge.pull("o/box", number=6, title="Open", head_sha=box.head(), base_sha=box.git("rev-parse", "HEAD~1"))
        self.told(cli, workspace, forge.pull_url("o/box", 6), 2, "o/box#6 is not merged")

    def test_a_missing_one(self, cli: CommandLine, workspace: Workspace, forge: Forge) -> None:
        self.told(cli, workspace, forge.pull_url("o/box", 99), 3, "no pull request o/box#99", "GITHUB_TOKEN")

    def test_a_forge_that_is_away_and_one_that_refuses(
        self, cli: CommandLine, workspace: Workspace, forge: Forge
    ) -> None:
        forge.fail_when("/pulls/2", status=403, body='{"message": "Resource not accessible"}', times=None)
        self.told(cli, workspace, forge.pull_url("o/box", 2), 3, "Resource not accessible")
        address = forge.pull_url("o/box", 2)
        forge.stop()
        self.told(cli, workspace, address, 3, "does not answer")
        forge.start()

    def test_a_pause_is_told_and_ends(self, cli: CommandLine, workspace: Workspace, forge: Forge) -> None:
        forge.fail_when("/pulls/99", status=429, headers={"Retry-After": "130"})
        ran = add(cli, workspace, "--pr", forge.pull_url("o/box", 99))
        assert ran.code == 3
        told = [line for line in ran.err.splitlines() if line.startswith("waiting")]
        assert len(told) == 3
        assert told[0].startswith(f"waiting 2 min: {forge.host}: rate limit:")


def mine(cli: CommandLine, workspace: Workspace, forge: Forge, *more: str) -> Ran:
    return cli(
        "-C", workspace.root, "mine", forge.clone_url("o/many"), "--prs", "--repeat", "1", "--format", "json", *more
    )


@pytest.fixture
def many(tmp_path: Path, forge: Forge) -> RepoBuilder:
    """Three fixes, each squashed from a pull request that closes an issue of its own; the last has none."""
    repo = RepoBuilder(tmp_path / "many")
    source = "def area(a, b):\n    return {}\n"
    repo.commit("Begin", {"box.py": source.format("a + b")})
    forge.repository("o", "many", repo.path)
    for number, (expression, value) in enumerate([("a * b", 6), ("a * b + 1", 7), ("a * b + 2", 8), ("a * b + 3", 9)]):
        head = repo.commit(
            f"Give {value} for two by three",
            {"box.py": source.format(expression), "tests/test_box.py": TEST.format(3, value)},
        )
        forge.refresh("o/many")
        if number < 3:
            forge.issue("o/many", number=10 + number, title=f"Two by three should give {value}", created=FIRST_TIME)
            forge.pull(
                "o/many", number=20 + number, title="Change area", body=f"Closes #{10 + number}", head_sha=head,
                base_sha=repo.git("rev-parse", "HEAD~1"), merge_commit_sha=head, created=FIRST_TIME + 1,
                merged_at=FIRST_TIME + 2,
            )  # fmt: skip
    return repo


def rows(ran: Ran) -> list[dict[str, Any]]:
    return [row for row in ran.rows if row["outcome"] == "admitted"]


@needs_sandbox
class TestMine:
    def test_changes_get_the_texts_of_their_pull_requests_in_one_question(
        self, cli: CommandLine, workspace: Workspace, forge: Forge, many: RepoBuilder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GITHUB_TOKEN", forge.token(SECRET))
        ran = mine(cli, workspace, forge)
        assert ran.code == 0, ran.err
        found = {row["case"]: row for row in rows(ran)}
        assert set(found) == {"many-pr20", "many-pr21", "many-pr22", f"many-{many.head()[:10]}"}
        case = load_draft(workspace, "many-pr21").case
        assert case.task.startswith("Two by three should give 7")
        assert case.source.issues[0].number == 11
        last = load_draft(workspace, f"many-{many.head()[:10]}").case
        assert last.source.pull_request is None
        assert last.source.text_from[0].source == "commit message"
        assert forge.calls("graphql") == 1
        assert f"{forge.host} knows a pull request for 3 of 4 changes" in ran.err
        assert SECRET not in "".join(path.read_text() for path in workspace.state.glob("*.jsonl"))

        # Nothing is asked twice, and nothing is judged twice.
        assert len(rows(mine(cli, workspace, forge))) == 4
        assert forge.calls("graphql") == 1
        mine(cli, workspace, forge, "--again")
        assert forge.calls("graphql") == 2

    @pytest.mark.parametrize("status", [401, 403, 429, 502])
    def test_a_forge_that_gives_up_in_the_middle_loses_and_doubles_nothing(
        self, cli: CommandLine, workspace: Workspace, forge: Forge, many: RepoBuilder, status: int
    ) -> None:
        # Without a token each commit is a question of its own: the third and later ones fail.
        forge.fail_when(r"/commits/[0-9a-f]+/pulls", status=status, times=None, after=2)
        ran = mine(cli, workspace, forge)
        assert ran.code == 3
        assert len([line for line in ran.err.splitlines() if line.startswith("error:")]) == 1
        assert all(row["outcome"] == "admitted" for row in ran.rows)
        forge.fail_no_more()
        ran = mine(cli, workspace, forge)
        assert ran.code == 0, ran.err
        assert sorted(row["head"] for row in rows(ran)) == sorted(
            many.git("rev-list", "--first-parent", "--max-count=4", "HEAD").split()
        )
        assert len(list(workspace.cases.glob("*.yaml"))) == 4
        assert forge.calls(r"/commits/[0-9a-f]+/pulls$", method="GET") >= 4

    @pytest.mark.usefixtures("many")
    def test_a_forge_that_is_killed_and_a_token_that_ends_lose_and_double_nothing(
        self, cli: CommandLine, workspace: Workspace, forge: Forge, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # With a token the commits are one question; the issues that they close are questions of their own.
        monkeypatch.setenv("GITHUB_TOKEN", forge.token("brief", expires_after=2))
        ran = mine(cli, workspace, forge)
        assert (ran.code, "does not accept the token (GITHUB_TOKEN)" in ran.err) == (3, True)
        monkeypatch.setenv("GITHUB_TOKEN", forge.token("longer"))
        forge.fail_when("/issues/", dropped(), times=None, after=1)
        ran = mine(cli, workspace, forge)
        assert (ran.code, "does not answer" in ran.err) == (3, True)
        forge.fail_no_more()
        ran = mine(cli, workspace, forge)
        assert ran.code == 0, ran.err
        assert {row["case"] for row in rows(ran)} >= {"many-pr20", "many-pr21", "many-pr22"}
        assert len(list(workspace.cases.glob("*.yaml"))) == 4
        assert forge.calls("graphql") == 1

    @pytest.mark.usefixtures("many")
    def test_what_is_judged_while_a_limit_is_waited_out_is_kept_at_once(
        self, cli: CommandLine, workspace: Workspace, forge: Forge, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        forge.fail_when(r"/commits/[0-9a-f]+/pulls", secondary_limit(retry_after=1), after=1)
        seen: list[int] = []

        def until_something_is_kept() -> None:
            until = time.monotonic() + 120
            while not seen and time.monotonic() < until:
                with closing(sqlite3.connect(workspace.ledger)) as ledger:
                    query = "SELECT count(*) FROM attempts WHERE standing = 'admitted'"
                    seen.extend(count for (count,) in ledger.execute(query) if count)
                time.sleep(0.05)

        monkeypatch.setattr(forge_waiting, "let_a_second_pass", until_something_is_kept)
        assert mine(cli, workspace, forge, "--limit", "2").code == 0
        assert seen == [1]

    def test_a_history_without_a_forge_says_so_and_takes_the_messages(
        self, cli: CommandLine, workspace: Workspace, box: RepoBuilder
    ) -> None:
        ran = cli("-C", workspace.root, "mine", box.path, "--prs", "--repeat", "1", "--format", "json")
        assert ran.code == 0
        assert re.search(r"note: no forge is known for this history .* commit messages", ran.err)
        assert rows(ran)[0]["case"] == f"box-{box.git('rev-parse', 'HEAD~1')[:10]}"
        assert os.environ.get("GITHUB_TOKEN") is None

    def test_a_message_that_says_nothing_is_judged_again_once_a_pull_request_says_more(
        self, cli: CommandLine, workspace: Workspace, forge: Forge, many: RepoBuilder
    ) -> None:
        source = "def area(a, b):\n    return a * b + 4\n"
        head = many.commit("wip", {"box.py": source, "tests/test_box.py": TEST.format(3, 10)})
        forge.refresh("o/many")
        arguments = ("mine", forge.clone_url("o/many"), "--limit", "1", "--repeat", "1", "--format", "json")
        assert cli("-C", workspace.root, *arguments).rows[0]["reason"] == "not-statable"
        forge.pull(
            "o/many", number=30, title="Two by three should give 10", head_sha=head,
            base_sha=many.git("rev-parse", "HEAD~1"), merge_commit_sha=head, merged_at=FIRST_TIME + 2,
        )  # fmt: skip
        again = cli("-C", workspace.root, *arguments, "--prs")
        assert [row["case"] for row in again.rows] == ["many-pr30"], again.err
        assert "Two by three should give 10" in load_draft(workspace, "many-pr30").case.task

    @pytest.mark.usefixtures("many")
    def test_the_users_own_command_may_word_the_task_and_a_broken_one_costs_nothing(
        self, cli: CommandLine, workspace: Workspace, forge: Forge
    ) -> None:
        path = workspace.configuration_path
        program = (
            "import json, sys; given = json.load(sys.stdin); print('Asked of', *(s['kind'] for s in given['sources']))"
        )
        (workspace.root / "word.py").write_text(program + "\n")
        path.write_text(path.read_text() + "defaults:\n  statement:\n    command: python3 word.py\n")
        ran = mine(cli, workspace, forge, "--limit", "2")
        assert ran.code == 0, ran.err
        assert load_draft(workspace, "many-pr22").case.task == "Asked of issue pull request commit message\n"
        assert load_draft(workspace, "many-pr22").case.source.text_from[-1].source == "proposed by command"
        path.write_text(path.read_text().replace("python3 word.py", "exit 4"))
        ran = mine(cli, workspace, forge, "--limit", "3")
        last = next(row for row in ran.rows if row["case"] == "many-pr21")
        assert "no task was proposed: the proposing command ended with exit code 4" in last["detail"]
        assert "Two by three should give 7" in load_draft(workspace, "many-pr21").case.task
