"""The forge of the tests is a GitHub to those who would know: PyGithub and git."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from github import Github, GithubException

from tests.support.forge import Forge, forge
from tests.support.forge_content import Comment, PullCommit
from tests.support.forge_faults import (
    cut_short,
)
from tests.support.forge_story import (
    NOW,
    SECRET,
    Story,
    add_pull,
    ask,
    client,
    filled,
    hub,
    run_git,
    story,
)
from tests.support.oddities import built_oddity
from tests.support.repos import Entry, RepoBuilder, git

__all__ = ["filled", "forge", "hub", "story"]


class TestRest:
    def test_pygithub_reads_a_pull_request(self, filled: Forge, hub: Github, story: Story) -> None:
        repository = hub.get_repo("o/r")
        pull = repository.get_pull(13)
        assert (pull.title, pull.body, pull.state, pull.merged) == ("Mend it", "Closes #12", "closed", True)
        assert (pull.merge_commit_sha, pull.head.sha, pull.base.sha) == (story.squash, story.head, story.first)
        assert pull.merged_at is not None
        assert (int(pull.merged_at.timestamp()), int(pull.created_at.timestamp())) == (NOW, NOW - 300)
        assert [commit.commit.message for commit in pull.get_commits()] == ["Half", "Whole\n\nCloses #12"]
        files = {file.filename: (file.status, file.additions, file.deletions, file.patch) for file in pull.get_files()}
        assert files == {
            "a.py": ("modified", 1, 1, "@@ -1 +1 @@\n-a = 1\n+a = 3"),
            "b.py": ("added", 1, 0, "@@ -0,0 +1 @@\n+b = 1"),
        }
        assert (pull.commits, pull.changed_files, pull.additions, pull.deletions) == (2, 2, 2, 1)
        assert pull.base.repo.full_name == "o/r"
        assert repository.default_branch == "main"
        assert repository.clone_url == filled.clone_url("o/r")
        assert pull.html_url == filled.pull_url("o/r", 13)

    def test_an_issue_has_its_text_labels_and_comments(self, filled: Forge, hub: Github) -> None:
        said = [Comment(author="dev", body="Me too", created=NOW)]
        filled.issue("o/r", number=14, title="Other", comments=said, state="closed", closed_at=NOW)
        repository = hub.get_repo("o/r")
        issue = repository.get_issue(12)
        assert (issue.body, [label.name for label in issue.labels]) == ("Steps\r\nhere", ["bug"])
        assert issue.pull_request is None
        assert repository.get_issue(13).pull_request is not None
        other = repository.get_issue(14)
        assert [comment.body for comment in other.get_comments()] == ["Me too"]
        # An empty description is null to a client.
        assert other.raw_data["body"] is None
        assert [event.event for event in issue.get_timeline()] == ["cross-referenced"]
        assert [event.event for event in other.get_timeline()] == ["closed"]
        assert [found.number for found in repository.get_issues(state="all")] == [13, 12, 14]

    def test_lists_come_in_pages(self, filled: Forge, hub: Github, story: Story) -> None:
        made = [PullCommit(id=f"{number:040x}", message=f"Step {number}") for number in range(260)]
        add_pull(filled, story, number=20, commits=made)
        pull = hub.get_repo("o/r").get_pull(20)
        listed = [commit.commit.message for commit in pull.get_commits()]
        # GitHub lists 250 and counts them all.
        assert listed == [f"Step {number}" for number in range(250)]
        assert pull.commits == 260
        got = ask(filled, "/api/v3/repos/o/r/pulls/20/commits?per_page=100&page=2")
        id_ = hub.get_repo("o/r").id
        base = f"{filled.api}/repositories/{id_}/pulls/20/commits?per_page=100&page="
        assert got.headers["link"] == (
            f'<{base}1>; rel="prev", <{base}3>; rel="next", <{base}3>; rel="last", <{base}1>; rel="first"'
        )
        # A page is the same call, whatever its address.
        assert filled.calls("/repos/o/r/pulls/20/commits") == 10

    def test_a_commit_leads_to_its_pull_request(self, filled: Forge, hub: Github, story: Story) -> None:
        repository = hub.get_repo("o/r")
        for commit, numbers in ((story.squash, [13]), (story.commits[0], [13]), (story.first, [])):
            assert [pull.number for pull in repository.get_commit(commit).get_pulls()] == numbers
        assert ask(filled, f"/api/v3/repos/o/r/commits/{'1' * 40}").status == 422
        assert repository.get_git_ref("heads/main").object.sha == story.squash
        assert repository.get_git_ref("pull/13/head").object.sha == story.head
        with pytest.raises(GithubException, match="Branch not found"):
            repository.get_branch("gone")

    def test_a_fork_is_named_or_gone(self, filled: Forge, hub: Github, story: Story) -> None:
        add_pull(filled, story, number=21, fork="someone/r")
        add_pull(filled, story, number=22, fork="deleted", author="leaver")
        repository = hub.get_repo("o/r")
        assert repository.get_pull(21).head.repo.full_name == "someone/r"
        left = repository.get_pull(22)
        assert left.head.repo is None
        assert left.head.label == "leaver:topic-22"

    def test_what_is_moved_or_gone_says_so(self, filled: Forge, hub: Github, story: Story) -> None:
        filled.repository("o", "other", story.builder.path)
        filled.issue("o/r", number=30, title="Elsewhere")
        filled.issue("o/r", number=31, title="Deleted")
        filled.transfer("o/r", 30, ("o", "other", 4))
        filled.delete_issue("o/r", 31)
        assert ask(filled, "/api/v3/repos/o/r/issues/31").status == 410
        assert ask(filled, "/api/v3/repos/o/r/issues/99").status == 404
        moved = ask(filled, "/api/v3/repos/o/r/issues/30")
        assert (moved.status, moved.json["url"]) == (301, moved.headers["location"])
        assert hub.get_repo("o/r").get_issue(30).html_url == f"{filled.origin}/o/other/issues/4"
        filled.rename("o/r", "o", "renamed")
        assert ask(filled, "/api/v3/repos/o/r").status == 301
        assert hub.get_repo("o/r").get_pull(13).base.repo.full_name == "o/renamed"

    def test_what_a_client_has_already_costs_nothing(self, filled: Forge) -> None:
        path, who = "/api/v3/repos/o/r/pulls/13", f"token {SECRET}"
        first = ask(filled, path, Authorization=who)
        again = ask(filled, path, Authorization=who, If_None_Match=first.headers["etag"])
        assert (first.status, again.status, again.body) == (200, 304, b"")
        assert first.headers["x-ratelimit-remaining"] == again.headers["x-ratelimit-remaining"] == "4999"
        third = ask(filled, path, Authorization=who, If_None_Match='W/"other"')
        assert (third.status, third.headers["x-ratelimit-remaining"]) == (200, "4998")

    def test_files_of_every_kind_of_change(self, forge: Forge, hub: Github, tmp_path: Path) -> None:
        builder = RepoBuilder(tmp_path / "kinds")
        text = "".join(f"line {number}\n" for number in range(30))
        before = builder.commit("Before", {"moved.txt": text, "gone.txt": "x\n", "bin": b"\0\1", b"\xff.txt": "y\n"})
        changed: dict[str | bytes, Entry] = {"moved.txt": None, "to.txt": text + "end\n", "gone.txt": None}
        after = builder.commit("After", {**changed, "bin": b"\0\2", b"\xff.txt": "z\n"})
        forge.repository("o", "k", builder.path)
        forge.pull("o/k", number=1, title="Kinds", head_sha=after, base_sha=before)
        repository = hub.get_repo("o/k")
        files = {file.filename: file for file in repository.get_pull(1).get_files()}
        assert {name: file.status for name, file in files.items()} == {
            "to.txt": "renamed",
            "gone.txt": "removed",
            "bin": "modified",
            # As GitHub shows a name that isn't UTF-8.
            "\ufffd.txt": "modified",
        }
        moved = files["to.txt"]
        assert (moved.previous_filename, moved.additions, moved.deletions) == ("moved.txt", 1, 0)
        assert files["bin"].patch is None
        assert {file.filename for file in repository.get_commit(after).files} == files.keys()
        assert repository.get_pull(1).state == "open"

    @pytest.mark.usefixtures("filled")
    def test_a_pull_request_has_a_timeline(self, hub: Github) -> None:
        events = [event.event for event in hub.get_repo("o/r").get_issue(13).get_timeline()]
        assert events == ["committed", "committed", "merged", "closed"]

    def test_a_force_push_moves_the_branch(self, filled: Forge, hub: Github, story: Story) -> None:
        add_pull(filled, story, number=50, head_sha=story.head, merged_at=None, merge_commit_sha=None)
        add_pull(filled, story, number=50, head_sha=story.commits[0], merged_at=None, merge_commit_sha=None)
        repository = hub.get_repo("o/r")
        assert repository.get_pull(50).head.sha == repository.get_git_ref("pull/50/head").object.sha == story.commits[0]
        assert [commit.sha for commit in repository.get_pull(50).get_commits()] == [story.commits[0]]

    def test_people_find_pages(self, filled: Forge) -> None:
        assert [ask(filled, path).status for path in ("/", "/o/r", "/o/r/pull/13", "/o/r/issues/12")] == [200] * 4
        moved = ask(filled, "/o/r/issues/13")
        assert (moved.status, moved.headers["location"]) == (302, filled.pull_url("o/r", 13))
        assert [ask(filled, path).status for path in ("/o", "/o/r/pull/12", "/o/r/pull/99", "/x/y")] == [404] * 4

    def test_pull_requests_are_listed_as_asked(self, filled: Forge, hub: Github, story: Story) -> None:
        add_pull(filled, story, number=5, merged_at=None, created=NOW)
        add_pull(filled, story, number=6, base="release", state="closed", merged_at=None, created=NOW - 1)
        repository = hub.get_repo("o/r")
        assert [pull.number for pull in repository.get_pulls()] == [5]
        assert [pull.number for pull in repository.get_pulls(state="all")] == [5, 6, 13]
        assert [pull.number for pull in repository.get_pulls(state="closed", direction="asc")] == [13, 6]
        assert [pull.number for pull in repository.get_pulls(state="all", base="release")] == [6]

    def test_a_request_without_a_name_is_refused(self, filled: Forge) -> None:
        assert ask(filled, "/api/v3", User_Agent="").status == 403
        assert ask(filled, "/api/v3").json["repository_url"].endswith("/repos/{owner}/{repo}")
        assert ask(filled, "/api/v3/repos/o/r", "DELETE").status == 404
        head = ask(filled, "/api/v3/repos/o/r", "HEAD")
        assert (head.status, head.body, int(head.headers["content-length"]) > 0) == (200, b"", True)
        assert ask(filled, "/api/v3/meta").json["installed_version"] == head.headers["x-github-enterprise-version"]
        assert ask(filled, "/api/v3/users/someone").json["login"] == "someone"


class TestGit:
    def test_a_plain_clone_has_branches_and_no_pull_requests(self, filled: Forge, story: Story, tmp_path: Path) -> None:
        git(tmp_path, "clone", "-q", filled.clone_url("o/r"), "copy")
        copy = tmp_path / "copy"
        assert git(copy, "rev-parse", "HEAD").decode().strip() == story.squash
        assert git(copy, "branch", "-r", "--format=%(refname)").decode().split() == [
            "refs/remotes/origin/HEAD",
            "refs/remotes/origin/main",
        ]
        gone = subprocess.run(["git", "cat-file", "-e", story.head], cwd=copy, capture_output=True, check=False)
        assert gone.returncode != 0
        git(copy, "fetch", "-q", "origin", "refs/pull/13/head")
        assert git(copy, "rev-parse", "FETCH_HEAD").decode().strip() == story.head
        # Without .git, and any commit by its id.
        git(tmp_path, "init", "-q", "bare")
        git(tmp_path / "bare", "fetch", "-q", f"{filled.origin}/o/r", story.commits[0])

    def test_a_blobless_clone_fetches_blobs_when_it_needs_them(self, filled: Forge, tmp_path: Path) -> None:
        git(tmp_path, "clone", "-q", "--bare", "--filter=blob:none", filled.clone_url("o/r"), "copy")
        copy = tmp_path / "copy"
        listed = git(copy, "rev-list", "--objects", "--missing=print", "HEAD").decode().split()
        assert any(word.startswith("?") for word in listed)
        before = filled.calls("git-upload-pack$", method="POST")
        assert git(copy, "show", "HEAD:b.py") == b"b = 1\n"
        assert filled.calls("git-upload-pack$", method="POST") > before

    def test_the_given_repository_is_read_and_followed(self, filled: Forge, story: Story, tmp_path: Path) -> None:
        def files() -> dict[str, bytes]:
            folder = story.builder.path
            return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

        before = files()
        add_pull(filled, story, number=40)
        git(tmp_path, "clone", "-q", filled.clone_url("o/r"), "copy")
        assert files() == before
        tip = story.builder.commit("Later", {"c.py": "c\n"})
        filled.refresh("o/r")
        git(tmp_path / "copy", "pull", "-q")
        assert git(tmp_path / "copy", "rev-parse", "HEAD").decode().strip() == tip

    def test_nothing_can_be_pushed(self, filled: Forge, tmp_path: Path) -> None:
        git(tmp_path, "clone", "-q", filled.clone_url("o/r"), "copy")
        assert run_git(tmp_path / "copy", "push", "origin", "HEAD:refs/heads/new").returncode != 0
        assert ask(filled, "/o/r.git/info/refs").status == 403

    def test_an_old_name_leads_to_the_new_one(self, filled: Forge, tmp_path: Path) -> None:
        filled.rename("o/r", "o", "renamed")
        git(tmp_path, "clone", "-q", f"{filled.origin}/o/r.git", "copy")
        assert (tmp_path / "copy/a.py").exists()
        assert ask(filled, "/o/r/pull/13").headers["location"] == f"{filled.origin}/o/renamed/pull/13"

    def test_a_private_repository_asks_for_a_token(self, forge: Forge, story: Story, tmp_path: Path) -> None:
        forge.repository("o", "p", story.builder.path, private=True)
        forge.token(SECRET)
        assert run_git(tmp_path, "clone", forge.clone_url("o/p"), "no").returncode != 0
        address = forge.clone_url("o/p").replace("://", f"://x-access-token:{SECRET}@")
        git(tmp_path, "clone", "-q", address, "copy")
        assert (tmp_path / "copy/a.py").exists()
        # What is absent can't be told from what is private.
        assert ask(forge, "/o/absent.git/info/refs?service=git-upload-pack").status == 401

    def test_a_clone_that_is_cut_off_fails(self, filled: Forge, tmp_path: Path) -> None:
        filled.fail_when(r"git-upload-pack$", cut_short(), times=None)
        assert run_git(tmp_path, "clone", filled.clone_url("o/r"), "copy").returncode != 0
        filled.fail_no_more()
        filled.fail_when(r"/info/refs", status=503)
        assert run_git(tmp_path, "clone", filled.clone_url("o/r"), "copy").returncode != 0
        assert run_git(tmp_path, "clone", filled.clone_url("o/r"), "copy").returncode == 0


def test_the_shared_ways_to_merge_are_published(forge: Forge, tmp_path: Path) -> None:
    folder = built_oddity("14-ways-to-merge", tmp_path / "oddity")
    forge.repository("o", "r", folder / "repo", branches=["main"])
    pulls = forge.load_prs_json("o/r", folder / "prs.json")
    assert [len(pull.commits) for pull in pulls] == [2, 2, 3, 3, 2, 2, 1, 1]
    for reader in client(forge, SECRET):
        repository = reader.get_repo("o/r")
        # A branch that had merged main into itself shows its own files and commits.
        fourth = repository.get_pull(4)
        assert [commit.commit.message for commit in fourth.get_commits()] == [
            "m4: add forty",
            "Merge branch 'main' into four",
            "m4: test",
        ]
        assert [file.filename for file in fourth.get_files()] == ["pkg/m4.py", "tests/test_m4.py"]
        # What a rebase left on main is linked to its pull request, commit by commit.
        landed = git(folder / "repo", "rev-list", "--max-count=3", pulls[2].merge_commit_sha or "").decode().split()
        for commit in landed:
            assert [pull.number for pull in repository.get_commit(commit).get_pulls()] == [3]
