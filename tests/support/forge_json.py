"""The JSON of the REST API: what GitHub says of a repository, a pull request, an issue, a commit.

Only what a client of merged work reads is true; the many fields that clients merely expect are there with the value of
a quiet repository.
"""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tests.support.forge_content import DELETED_FORK, Comment, HostedRepository, Issue, Pull
from tests.support.forge_git import ChangedFile, HostedCommit, Person


def stamp(time: int | None) -> str | None:
    """Return a time as the API writes it, ``2020-09-13T12:26:40Z``."""
    return None if time is None else datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def node_id(kind: str, number: int) -> str:
    """Return the opaque id by which GraphQL knows a thing."""
    return base64.b64encode(f"0{len(kind)}:{kind}{number}".encode()).decode()


def number_of(text: str) -> int:
    """Return an id that stays the same for the same text."""
    return zlib.crc32(text.encode()) + 1


@dataclass(frozen=True, slots=True)
class Json:
    """Writes records as the API does; ``origin`` is the forge's scheme, host and port."""

    origin: str

    def api(self, path: str) -> str:
        """Return the address of something of the API."""
        return f"{self.origin}/api/v3{path}"

    def api_of(self, repository: HostedRepository) -> str:
        """Return a repository's address in the API."""
        return self.api(f"/repos/{repository.full_name}")

    def web_of(self, repository: HostedRepository) -> str:
        """Return a repository's address for people."""
        return f"{self.origin}/{repository.full_name}"

    def user(self, login: str) -> dict[str, Any]:
        """Return an account as it stands inside other objects."""
        api = self.api(f"/users/{login}")
        lists = ("followers", "subscriptions", "repos", "received_events")
        return {
            "login": login,
            "id": number_of(login),
            "node_id": node_id("User", number_of(login)),
            "avatar_url": f"{self.origin}/avatars/u/{number_of(login)}",
            "gravatar_id": "",
            "url": api,
            "html_url": f"{self.origin}/{login}",
            **{f"{name}_url": f"{api}/{name}" for name in lists},
            "organizations_url": f"{api}/orgs",
            "type": "User",
            "site_admin": False,
        }

    def repository(self, repository: HostedRepository) -> dict[str, Any]:
        """Return a repository."""
        return self._repository(
            repository.owner, repository.name, repository.id, repository.private, repository.created
        ) | {"default_branch": repository.default_branch}

    def _repository(self, owner: str, name: str, id_: int, private: bool, created: int) -> dict[str, Any]:
        api, web = self.api(f"/repos/{owner}/{name}"), f"{self.origin}/{owner}/{name}"
        templates = {
            "commits": "/commits{/sha}",
            "pulls": "/pulls{/number}",
            "issues": "/issues{/number}",
            "git_refs": "/git/refs{/sha}",
            "branches": "/branches{/branch}",
            "labels": "/labels{/name}",
            "contents": "/contents/{+path}",
            "issue_comment": "/issues/comments{/number}",
        }
        return {
            "id": id_,
            "node_id": node_id("Repository", id_),
            "name": name,
            "full_name": f"{owner}/{name}",
            "private": private,
            "visibility": "private" if private else "public",
            "owner": self.user(owner),
            "html_url": web,
            "description": None,
            "fork": False,
            "url": api,
            **{f"{key}_url": api + path for key, path in templates.items()},
            "clone_url": f"{web}.git",
            "git_url": f"git:{web.partition(':')[2]}.git",
            "ssh_url": f"git@{self.origin.partition('//')[2].partition(':')[0]}:{owner}/{name}.git",
            "default_branch": "main",
            "archived": False,
            "disabled": False,
            "has_issues": True,
            "created_at": stamp(created),
            "updated_at": stamp(created),
            "pushed_at": stamp(created),
            "license": None,
            "topics": [],
        }

    def label(self, repository: HostedRepository, name: str) -> dict[str, Any]:
        """Return a label."""
        return {
            "id": number_of(name),
            "node_id": node_id("Label", number_of(name)),
            "url": f"{self.api_of(repository)}/labels/{name}",
            "name": name,
            "color": f"{number_of(name) & 0xFFFFFF:06x}",
            "default": False,
            "description": None,
        }

    def issue(self, repository: HostedRepository, issue: Issue | Pull) -> dict[str, Any]:
        """Return an issue, or a pull request as the issue that it is too."""
        web, api = self.web_of(repository), f"{self.api_of(repository)}/issues/{issue.number}"
        is_pull = isinstance(issue, Pull)
        more: dict[str, Any] = {}
        if isinstance(issue, Pull):
            more["draft"] = False
            more["pull_request"] = {
                "url": f"{self.api_of(repository)}/pulls/{issue.number}",
                "html_url": f"{web}/pull/{issue.number}",
                "diff_url": f"{web}/pull/{issue.number}.diff",
                "patch_url": f"{web}/pull/{issue.number}.patch",
                "merged_at": stamp(issue.merged_at),
            }
        return {
            "url": api,
            "repository_url": self.api_of(repository),
            "labels_url": f"{api}/labels{{/name}}",
            "comments_url": f"{api}/comments",
            "events_url": f"{api}/events",
            "timeline_url": f"{api}/timeline",
            "html_url": f"{web}/{'pull' if is_pull else 'issues'}/{issue.number}",
            "id": repository.id * 100_000 + issue.number,
            "node_id": node_id("PullRequest" if is_pull else "Issue", repository.id * 100_000 + issue.number),
            "number": issue.number,
            "title": issue.title,
            "user": self.user(issue.author),
            "labels": [self.label(repository, name) for name in issue.labels],
            "state": issue.state,
            "state_reason": None if issue.state == "open" or is_pull else "completed",
            "locked": False,
            "active_lock_reason": None,
            "assignee": None,
            "assignees": [],
            "milestone": None,
            "comments": len(issue.comments),
            "created_at": stamp(issue.created),
            "updated_at": stamp(issue.closed_at or issue.created),
            "closed_at": stamp(issue.closed_at),
            "author_association": "CONTRIBUTOR",
            # An empty description is null, not "".
            "body": issue.body or None,
            **more,
        }

    def comment(self, repository: HostedRepository, issue: Issue | Pull, index: int) -> dict[str, Any]:
        """Return a comment of an issue by its index."""
        comment: Comment = issue.comments[index]
        number = (repository.id * 100_000 + issue.number) * 100 + index
        return {
            "id": number,
            "node_id": node_id("IssueComment", number),
            "url": f"{self.api_of(repository)}/issues/comments/{number}",
            "html_url": f"{self.web_of(repository)}/issues/{issue.number}#issuecomment-{number}",
            "issue_url": f"{self.api_of(repository)}/issues/{issue.number}",
            "user": self.user(comment.author),
            "created_at": stamp(comment.created),
            "updated_at": stamp(comment.created),
            "author_association": "CONTRIBUTOR",
            "body": comment.body,
        }

    def pull(self, repository: HostedRepository, pull: Pull) -> dict[str, Any]:
        """Return a pull request as lists of them show it."""
        shared = self.issue(repository, pull)
        api, web = f"{self.api_of(repository)}/pulls/{pull.number}", f"{self.web_of(repository)}/pull/{pull.number}"
        for name in ("repository_url", "labels_url", "events_url", "timeline_url", "state_reason", "pull_request"):
            del shared[name]
        del shared["comments"]
        links = {
            "self": api,
            "html": web,
            "issue": shared["url"],
            "comments": shared["comments_url"],
            "review_comments": f"{api}/comments",
            "commits": f"{api}/commits",
            "statuses": f"{self.api_of(repository)}/statuses/{pull.head_sha}",
        }
        return shared | {
            "url": api,
            "html_url": web,
            "diff_url": f"{web}.diff",
            "patch_url": f"{web}.patch",
            "issue_url": links["issue"],
            "commits_url": links["commits"],
            "review_comments_url": links["review_comments"],
            "review_comment_url": f"{self.api_of(repository)}/pulls/comments{{/number}}",
            "statuses_url": links["statuses"],
            "merged_at": stamp(pull.merged_at),
            "merge_commit_sha": pull.merge_commit_sha,
            "requested_reviewers": [],
            "requested_teams": [],
            "auto_merge": None,
            "draft": False,
            "base": self._side(repository, pull.base, pull.base_sha),
            "head": self._head(repository, pull),
            "_links": {name: {"href": address} for name, address in links.items()},
        }

    def whole_pull(self, repository: HostedRepository, pull: Pull, files: list[ChangedFile]) -> dict[str, Any]:
        """Return a pull request as it is shown alone."""
        return self.pull(repository, pull) | {
            "merged": pull.merged,
            "merged_by": self.user("maintainer") if pull.merged else None,
            "mergeable": None if pull.merged else True,
            "rebaseable": None if pull.merged else True,
            "mergeable_state": "unknown" if pull.merged else "clean",
            "comments": len(pull.comments),
            "review_comments": 0,
            "maintainer_can_modify": False,
            "commits": len(pull.commits),
            "additions": sum(file.additions for file in files),
            "deletions": sum(file.deletions for file in files),
            "changed_files": len(files),
        }

    def _side(self, repository: HostedRepository, branch: str, commit: str) -> dict[str, Any]:
        return {
            "label": f"{repository.owner}:{branch}",
            "ref": branch,
            "sha": commit,
            "user": self.user(repository.owner),
            "repo": self.repository(repository),
        }

    def _head(self, repository: HostedRepository, pull: Pull) -> dict[str, Any]:
        side = self._side(repository, pull.head_branch, pull.head_sha)
        if pull.fork is None:
            return side
        if pull.fork == DELETED_FORK:
            # The branch's name outlives the fork, its repository does not.
            label = f"{pull.author}:{pull.head_branch}"
            return side | {"label": label, "user": self.user(pull.author), "repo": None}
        owner, _, name = pull.fork.partition("/")
        fork = self._repository(owner, name, number_of(pull.fork), repository.private, pull.created)
        return side | {
            "label": f"{owner}:{pull.head_branch}",
            "user": self.user(owner),
            "repo": fork | {"fork": True, "default_branch": repository.default_branch},
        }

    def commit(self, repository: HostedRepository, commit: HostedCommit) -> dict[str, Any]:
        """Return a commit as lists of them show it."""
        api, web = self.api_of(repository), self.web_of(repository)
        return {
            "sha": commit.id,
            "node_id": node_id(f"Commit{repository.id}:{commit.id}", 0),
            "commit": {
                "author": _person(commit.author),
                "committer": _person(commit.committer),
                "message": commit.message,
                "tree": {"sha": commit.tree, "url": f"{api}/git/trees/{commit.tree}"},
                "url": f"{api}/git/commits/{commit.id}",
                "comment_count": 0,
                "verification": {"verified": False, "reason": "unsigned", "signature": None, "payload": None},
            },
            "url": f"{api}/commits/{commit.id}",
            "html_url": f"{web}/commit/{commit.id}",
            "comments_url": f"{api}/commits/{commit.id}/comments",
            # Null where no account has the e-mail address; nobody's has.
            "author": None,
            "committer": None,
            "parents": [
                {"sha": id_, "url": f"{api}/commits/{id_}", "html_url": f"{web}/commit/{id_}"} for id_ in commit.parents
            ],
        }

    def file(self, repository: HostedRepository, file: ChangedFile, commit: str) -> dict[str, Any]:
        """Return a changed file; one without a patch is binary or only moved."""
        web = self.web_of(repository)
        said: dict[str, Any] = {
            "sha": file.blob,
            "filename": file.path,
            "status": file.status,
            "additions": file.additions,
            "deletions": file.deletions,
            "changes": file.additions + file.deletions,
            "blob_url": f"{web}/blob/{commit}/{file.path}",
            "raw_url": f"{web}/raw/{commit}/{file.path}",
            "contents_url": f"{self.api_of(repository)}/contents/{file.path}?ref={commit}",
        }
        if file.previous is not None:
            said["previous_filename"] = file.previous
        if file.patch is not None:
            said["patch"] = file.patch
        return said


def _person(person: Person) -> dict[str, Any]:
    return {"name": person.name, "email": person.email, "date": stamp(person.time)}
