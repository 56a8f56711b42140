"""The REST API: from a path and a query to an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode

from tests.support.forge_access import Access, Sight, Visitor
from tests.support.forge_answers import Answer, Refused, Request, as_json, not_found, refusal
from tests.support.forge_content import Content, HostedRepository, Issue, Pull
from tests.support.forge_git import ChangedFile, HostedCommit, Person, Reader
from tests.support.forge_json import Json, node_id, stamp
from tests.support.forge_pulls import base_of_diff

# A pull request's commits are listed up to here, its files up to there; no page and no Link says that there are more.
COMMITS_LISTED = 250
FILES_LISTED = 3000
SIGN_ON_MESSAGE = (
    "Resource protected by organization SAML enforcement. You must grant your OAuth token access to this organization."
)
_REPOSITORY = re.compile(r"/repos/(?P<owner>[^/]+)/(?P<name>[^/]+)(?P<rest>/.*)?")
_NUMBERED = re.compile(r"/repositories/(?P<id>\d+)(?P<rest>/.*)?")


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A request of one repository, as the functions below are handed it."""

    repository: HostedRepository
    visitor: Visitor
    path: str
    query: Mapping[str, str]
    words: Mapping[str, str]

    @property
    def number(self) -> int:
        """The number in the path."""
        return int(self.words["number"])


class Rest:
    """Answers for what is under ``/api/v3``; ``path`` is always what comes after that."""

    def __init__(self, content: Content, access: Access, readers: Callable[[HostedRepository], Reader], json: Json):
        self._content = content
        self._access = access
        self._reader = readers
        self._json = json
        routes: list[tuple[str, Callable[[Call], Answer]]] = [
            ("", self._repository),
            (r"/pulls", self._pulls),
            (r"/pulls/(?P<number>\d+)", self._pull),
            (r"/pulls/(?P<number>\d+)/commits", self._pull_commits),
            (r"/pulls/(?P<number>\d+)/files", self._pull_files),
            (r"/issues", self._issues),
            (r"/issues/(?P<number>\d+)", self._issue),
            (r"/issues/(?P<number>\d+)/comments", self._comments),
            (r"/issues/(?P<number>\d+)/timeline", self._timeline),
            (r"/commits/(?P<sha>.+)/pulls", self._commit_pulls),
            (r"/commits/(?P<sha>.+)", self._commit),
            (r"/git/refs?/(?P<ref>.+)", self._ref),
            (r"/branches/(?P<branch>.+)", self._branch),
        ]
        self._routes = [(re.compile(pattern), route) for pattern, route in routes]

    def answer(self, request: Request, path: str, visitor: Visitor) -> Answer:
        """Return the answer to a request; what is absent, hidden, moved or wrong is an answer too."""
        if request.method not in ("GET", "HEAD"):
            return refusal(404, "Not Found")
        try:
            return self._of_repository(request, path, visitor)
        except Refused as refused:
            return refused.answer

    def canonical(self, path: str) -> str:
        """Return a path that names its repository by id, as pages do, in the way that people write it."""
        match = _NUMBERED.fullmatch(path)
        repository = self._content.by_id(int(match["id"])) if match else None
        return f"/repos/{repository.full_name}{match['rest'] or ''}" if match and repository else path

    def _of_repository(self, request: Request, path: str, visitor: Visitor) -> Answer:
        numbered, named = _NUMBERED.fullmatch(path), _REPOSITORY.fullmatch(path)
        if numbered:
            repository, rest, renamed = self._content.by_id(int(numbered["id"])), numbered["rest"] or "", False
        elif named:
            found = self._content.find(unquote(named["owner"]), unquote(named["name"]))
            repository, rest = found.repository if found else None, named["rest"] or ""
            renamed = bool(found and found.renamed)
        else:
            raise not_found()
        if repository is None:
            raise not_found()
        self._let_in(visitor, repository)
        if renamed:
            raise Refused(self._moved(f"/repositories/{repository.id}{rest}", request.query))
        query = {name: values[-1] for name, values in parse_qs(request.query).items()}
        for pattern, route in self._routes:
            if match := pattern.fullmatch(rest):
                words = {name: unquote(word) for name, word in match.groupdict().items()}
                inner = f"/repositories/{repository.id}{rest}"
                return route(Call(repository=repository, visitor=visitor, path=inner, query=query, words=words))
        raise not_found()

    def _let_in(self, visitor: Visitor, repository: HostedRepository) -> None:
        match self._access.sight(visitor, repository):
            case Sight.HIDDEN:
                raise not_found()
            case Sight.SIGN_ON:
                url = f"{self._json.origin}/orgs/{repository.owner}/sso"
                raise Refused(refusal(403, SIGN_ON_MESSAGE, headers={"X-GitHub-SSO": f"required; url={url}"}))
            case Sight.SEEN:
                return

    def _moved(self, path: str, query: str = "") -> Answer:
        url = self._json.api(path) + (f"?{query}" if query else "")
        return refusal(301, "Moved Permanently", headers={"Location": url}, url=url)

    def _paged(self, call: Call, items: Sequence[Any], render: Callable[[Any], Any]) -> Answer:
        size = _positive(call.query.get("per_page"), 30, most=100)
        number = _positive(call.query.get("page"), 1)
        pages = max(1, -(-len(items) // size))
        shown = [render(item) for item in items[(number - 1) * size : number * size]]
        targets: dict[str, int] = {}
        if number > 1:
            targets |= {"prev": min(number - 1, pages)}
        if number < pages:
            targets |= {"next": number + 1, "last": pages}
        if number > 1:
            targets |= {"first": 1}
        links = [
            f'<{self._json.api(call.path)}?{urlencode({**call.query, "page": page})}>; rel="{name}"'
            for name, page in targets.items()
        ]
        return as_json(shown, headers={"Link": ", ".join(links)} if links else {})

    def _repository(self, call: Call) -> Answer:
        return as_json(self._json.repository(call.repository))

    def _pulls(self, call: Call) -> Answer:
        state, base = call.query.get("state", "open"), call.query.get("base")
        pulls = [
            pull
            for pull in self._content.pulls(call.repository)
            if state in ("all", pull.state) and base in (None, pull.base)
        ]
        pulls = _ordered(pulls, call.query)
        return self._paged(call, pulls, lambda pull: self._json.pull(call.repository, pull))

    def _found_pull(self, call: Call) -> Pull:
        pull = self._content.pull(call.repository, call.number)
        if pull is None:
            raise not_found()
        return pull

    def _changed_files(self, call: Call, pull: Pull) -> list[ChangedFile]:
        reader = self._reader(call.repository)
        if reader.kind(pull.head_sha) != "commit" or reader.kind(pull.base_sha) != "commit":
            return []
        return reader.changed(base_of_diff(reader, pull), pull.head_sha)

    def _pull(self, call: Call) -> Answer:
        pull = self._found_pull(call)
        return as_json(self._json.whole_pull(call.repository, pull, self._changed_files(call, pull)))

    def _pull_commits(self, call: Call) -> Answer:
        listed = self._found_pull(call).commits[:COMMITS_LISTED]
        read = self._reader(call.repository).commits(commit.id for commit in listed)
        nobody = Person(name="Dev", email="dev@example.com", time=0)
        commits = [
            read.get(commit.id)
            or HostedCommit(
                id=commit.id, tree="0" * 40, parents=(), author=nobody, committer=nobody, message=commit.message
            )
            for commit in listed
        ]
        return self._paged(call, commits, lambda commit: self._json.commit(call.repository, commit))

    def _pull_files(self, call: Call) -> Answer:
        pull = self._found_pull(call)
        files = self._changed_files(call, pull)[:FILES_LISTED]
        return self._paged(call, files, lambda file: self._json.file(call.repository, file, pull.head_sha))

    def _issues(self, call: Call) -> Answer:
        state = call.query.get("state", "open")
        both: list[Issue | Pull] = [*self._content.issues(call.repository), *self._content.pulls(call.repository)]
        shown = _ordered([issue for issue in both if state in ("all", issue.state)], call.query)
        return self._paged(call, shown, lambda issue: self._json.issue(call.repository, issue))

    def _found_issue(self, call: Call) -> Issue | Pull:
        issue = self._content.issue(call.repository, call.number)
        if issue is None:
            return self._found_pull(call)
        if issue.deleted:
            raise Refused(refusal(410, "This issue was deleted"))
        if issue.moved_to is not None:
            found = self._content.find(issue.moved_to.owner, issue.moved_to.name)
            if found is None or self._access.sight(call.visitor, found.repository) is not Sight.SEEN:
                raise not_found()
            raise Refused(self._moved(f"/repositories/{found.repository.id}/issues/{issue.moved_to.number}"))
        return issue

    def _issue(self, call: Call) -> Answer:
        issue = self._found_issue(call)
        said = self._json.issue(call.repository, issue)
        return as_json(said | {"closed_by": self._json.user("maintainer") if issue.state == "closed" else None})

    def _comments(self, call: Call) -> Answer:
        issue = self._found_issue(call)
        indexes = range(len(issue.comments))
        return self._paged(call, indexes, lambda index: self._json.comment(call.repository, issue, index))

    def _timeline(self, call: Call) -> Answer:
        issue = self._found_issue(call)
        events = self._of_pull(call, issue) if isinstance(issue, Pull) else self._of_issue(call, issue)
        return self._paged(call, events, lambda event: event)

    def _of_pull(self, call: Call, pull: Pull) -> list[dict[str, Any]]:
        events = [
            {"event": "committed", "sha": commit.id, "message": commit.message}
            for commit in pull.commits[:COMMITS_LISTED]
        ]
        if pull.merged:
            events.append(self._event(call, "merged", pull.merged_at, pull.merge_commit_sha))
        if pull.closed_at is not None:
            events.append(self._event(call, "closed", pull.closed_at, None))
        return events

    def _of_issue(self, call: Call, issue: Issue) -> list[dict[str, Any]]:
        """Tell of the pull requests of this repository that say they close the issue, and of its end."""
        events: list[dict[str, Any]] = []
        for pull in self._content.pulls(call.repository):
            settled = [self._content.settle(place) for place in pull.closing]
            if (call.repository, issue) in settled:
                source = self._json.issue(call.repository, pull)
                event = self._event(call, "cross-referenced", pull.created, None)
                events.append(event | {"source": {"type": "issue", "issue": source}})
        if issue.closed_at is not None:
            events.append(self._event(call, "closed", issue.closed_at, None))
        return events

    def _event(self, call: Call, kind: str, time: int | None, commit: str | None) -> dict[str, Any]:
        address = None if commit is None else f"{self._json.api_of(call.repository)}/commits/{commit}"
        return {
            "event": kind,
            "actor": self._json.user("maintainer"),
            "created_at": stamp(time),
            "commit_id": commit,
            "commit_url": address,
        }

    def _found_commit(self, call: Call) -> HostedCommit:
        reader = self._reader(call.repository)
        id_ = reader.resolve(call.words["sha"])
        commit = reader.commit(id_) if id_ else None
        if commit is None:
            # 422 and not 404: GitHub's own way to say so.
            raise Refused(refusal(422, f"No commit found for SHA: {call.words['sha']}"))
        return commit

    def _commit(self, call: Call) -> Answer:
        commit = self._found_commit(call)
        parent = commit.parents[0] if commit.parents else None
        files = self._reader(call.repository).changed(parent, commit.id) if parent else []
        added, removed = sum(file.additions for file in files), sum(file.deletions for file in files)
        said = self._json.commit(call.repository, commit)
        return as_json(
            said
            | {
                "stats": {"total": added + removed, "additions": added, "deletions": removed},
                "files": [self._json.file(call.repository, file, commit.id) for file in files[:300]],
            }
        )

    def _commit_pulls(self, call: Call) -> Answer:
        commit = self._found_commit(call)
        pulls = self._content.pulls_of_commit(call.repository, commit.id)
        return self._paged(call, pulls, lambda pull: self._json.pull(call.repository, pull))

    def _ref(self, call: Call) -> Answer:
        name = call.words["ref"]
        reader = self._reader(call.repository)
        id_ = reader.ref(name)
        if id_ is None:
            raise not_found()
        api, kind = self._json.api_of(call.repository), reader.kind(id_)
        return as_json(
            {
                "ref": f"refs/{name}",
                "node_id": node_id(f"Ref{call.repository.id}:{name}", 0),
                "url": f"{api}/git/refs/{name}",
                "object": {"sha": id_, "type": kind, "url": f"{api}/git/{kind}s/{id_}"},
            }
        )

    def _branch(self, call: Call) -> Answer:
        name = call.words["branch"]
        reader = self._reader(call.repository)
        id_ = reader.ref(f"heads/{name}")
        commit = reader.commit(id_) if id_ else None
        if commit is None:
            raise Refused(refusal(404, "Branch not found"))
        return as_json(
            {"name": name, "commit": self._json.commit(call.repository, commit), "protected": False, "protection": {}}
        )


def _positive(text: str | None, otherwise: int, most: int | None = None) -> int:
    number = int(text) if text is not None and text.isdigit() and int(text) > 0 else otherwise
    return number if most is None else min(number, most)


def _ordered(items: list[Any], query: Mapping[str, str]) -> list[Any]:
    """Order a list as asked: newest first by creation, unless ``sort`` or ``direction`` say otherwise."""
    by_update = query.get("sort") in ("updated", "long-running")
    downwards = query.get("direction", "desc" if query.get("sort", "created") == "created" else "asc") == "desc"

    def key(item: Issue | Pull) -> tuple[int, int]:
        return (item.closed_at or item.created) if by_update else item.created, item.number

    return sorted(items, key=key, reverse=downwards)
