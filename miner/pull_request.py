"""The GitHub door: pull requests and issues, read over REST and GraphQL with PyGithub as the transport.

Nothing here decides about a change. What a forge does not answer is waited for (``miner.forge_waiting``); what it
refuses is a ``ForgeError`` or a ``MissingError``, never a verdict. The token goes to the API's own address only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import requests
from github import Auth, Github
from github.GithubException import GithubException

from casewright.errors import ForgeError
from miner.forge_answers import (
    ISSUE_FIELDS,
    PULL_FIELDS,
    issue_of_graph,
    issue_of_rest,
    pull_of_graph,
    pull_of_rest,
)
from miner.forge_facts import ForgeReference, IssueFacts, PullFacts
from miner.forge_host import ForgeHost, Token
from miner.forge_waiting import BUSY, Failure, Waiting, wait_for, wait_out

PAGE: Final = 100
# GitHub lists no more commits of a pull request than these; what is beyond is counted from git.
MOST_COMMITS: Final = 250
# A question about more commits takes the forge longer than it allows itself.
COMMITS_AT_ONCE: Final = 20
_ANSWER_SECONDS: Final = 30
_GONE: Final = frozenset({404, 410, 451})
_BAD_JSON = "data"


class MissingError(ForgeError):
    """The forge has no such thing, or will not show it to us."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CommitPulls:
    """The merged pull requests that a commit came with, and the issues that the forge says they close."""

    pulls: tuple[PullFacts, ...]
    issues: tuple[IssueFacts, ...] = ()


class _BusyError(ForgeError):
    """The forge went on failing."""


class Forge:
    """One host, asked by one thread at a time. ``token`` is None for what everybody may read.

    ``waiting`` is told what is left of each pause.
    """

    def __init__(
        self,
        host: ForgeHost,
        token: Token | None,
        waiting: Waiting,
        *,
        agent: str,
    ) -> None:
        self.host = host
        self.token = token
        self._waiting = waiting
        self._requester = Github(
            base_url=host.api,
            auth=None if token is None else Auth.Token(token.secret),
            timeout=_ANSWER_SECONDS,
            user_agent=agent,
            retry=None,
            seconds_between_requests=None,
        ).requester

    def pull(self, reference: ForgeReference) -> PullFacts:
        """Return a pull request. Raises ``MissingError`` when there is none that we may see, ``ForgeError``."""
        path = f"/repos/{reference.repository}/pulls/{reference.number}"
        answer = self._get(path, f"pull request {reference.short}")
        rows: list[object] = []
        for page in range(1, MOST_COMMITS // PAGE + 2):
            found = self._get(f"{path}/commits?per_page={PAGE}&page={page}", f"the commits of {reference.short}")
            rows += found if isinstance(found, list) else []
            if not isinstance(found, list) or len(found) < PAGE:
                break
        return pull_of_rest(self.host.name, answer, tuple(rows))

    def linked(self, reference: ForgeReference) -> tuple[ForgeReference, ...]:
        """Return the issues that the forge itself says a pull request closes; none without a token, which it needs."""
        if self.token is None:
            return ()
        fields = f"closingIssuesReferences(first: 50) {{ nodes {{ {ISSUE_FIELDS} }} }}"
        query = f"""query($owner: String!, $name: String!, $number: Int!) {{
            repository(owner: $owner, name: $name) {{ pullRequest(number: $number) {{ {fields} }} }} }}"""
        asked = {"owner": reference.owner, "name": reference.name, "number": reference.number}
        answer = self._graph(query, asked, f"the issues that {reference.short} is linked with")
        found = _at(answer, "repository", "pullRequest", "closingIssuesReferences", "nodes")
        nodes = found if isinstance(found, list) else []
        return tuple(issue_of_graph(self.host.name, node).reference for node in nodes if node is not None)

    def issue(self, reference: ForgeReference) -> IssueFacts | None:
        """Return an issue, or None where that number is a pull request. Raises ``MissingError``, ``ForgeError``."""
        answer = self._get(f"/repos/{reference.repository}/issues/{reference.number}", f"issue {reference.short}")
        return issue_of_rest(self.host.name, reference.repository, answer)

    def pulls_of(self, repository: str, commits: Sequence[str]) -> dict[str, CommitPulls]:
        """Return, for each commit (full ids) of ``owner/name``, the merged pull requests that brought it.

        With a token many commits go into one question; without one each commit takes questions of its own. Raises
        ``MissingError`` when there is no such repository, ``ForgeError``.
        """
        if self.token is None:
            return {commit: self._pulls_of_one(repository, commit) for commit in commits}
        found: dict[str, CommitPulls] = {}
        for start in range(0, len(commits), COMMITS_AT_ONCE):
            found.update(self._batch(repository, commits[start : start + COMMITS_AT_ONCE]))
        return found

    def _batch(self, repository: str, commits: Sequence[str]) -> dict[str, CommitPulls]:
        fields = f"... on Commit {{ associatedPullRequests(first: 5) {{ nodes {{ {PULL_FIELDS} }} }} }}"
        objects = "\n".join(f'c{n}: object(oid: "{commit}") {{ {fields} }}' for n, commit in enumerate(commits))
        query = f"query($owner: String!, $name: String!) {{ repository(owner: $owner, name: $name) {{ {objects} }} }}"
        owner, _, name = repository.partition("/")
        try:
            answer = self._graph(query, {"owner": owner, "name": name}, f"the pull requests of {repository}")
        except _BusyError:
            # A question may be too heavy for the forge: smaller ones are answered.
            if len(commits) == 1:
                raise
            middle = len(commits) // 2
            return {**self._batch(repository, commits[:middle]), **self._batch(repository, commits[middle:])}
        if _at(answer, "repository") is None:
            raise self._missing(f"repository {repository}")
        found = {}
        for number, commit in enumerate(commits):
            nodes = _at(answer, "repository", f"c{number}", "associatedPullRequests", "nodes")
            read = [pull_of_graph(self.host.name, node) for node in (nodes or ()) if node is not None]
            merged = [(pull, issues) for pull, issues in read if pull.merged_at is not None]
            found[commit] = CommitPulls(
                pulls=tuple(pull for pull, _ in merged), issues=tuple(issue for _, row in merged for issue in row)
            )
        return found

    def _pulls_of_one(self, repository: str, commit: str) -> CommitPulls:
        try:
            rows = self._get(f"/repos/{repository}/commits/{commit}/pulls", f"the pull requests of {commit}")
        except MissingError:
            # A commit that was never pushed is none of the forge's; a repository that is not there is.
            self._get(f"/repos/{repository}", f"repository {repository}")
            return CommitPulls(pulls=())
        numbers = [row.get("number") for row in rows if isinstance(row, dict) and row.get("merged_at")]
        owner, _, name = repository.partition("/")
        references = [
            ForgeReference(host=self.host.name, owner=owner, name=name, number=number)
            for number in numbers
            if isinstance(number, int)
        ]
        return CommitPulls(pulls=tuple(self.pull(reference) for reference in references))

    def _get(self, path: str, what: str) -> Any:
        return self._asked(lambda: self._requester.requestJsonAndCheck("GET", path)[1], what)

    def _graph(self, query: str, variables: Mapping[str, Any], what: str) -> Any:
        """Return the ``data`` of an answer; what we may not see is null in it. Raises ``ForgeError``."""

        def ask() -> Any:
            headers, answer = self._requester.requestJsonAndCheck(
                "POST", self._requester.graphql_url, input={"query": query, "variables": dict(variables)}
            )
            if isinstance(answer, dict) and isinstance(answer.get("data"), dict):
                return answer["data"]
            errors = answer.get("errors") if isinstance(answer, dict) else None
            first = errors[0] if isinstance(errors, list) and errors and isinstance(errors[0], dict) else {}
            limited = first.get("type") == "RATE_LIMITED"
            message = str(first.get("message") or "no answer that can be read")
            raise GithubException(403 if limited else 502, {"message": message}, headers)

        return self._asked(ask, what)

    def _asked(self, ask: Callable[[], Any], what: str) -> Any:
        attempt = 0
        while True:
            attempt += 1
            try:
                answer = ask()
            except GithubException as error:
                failure = _failure(error)
            except requests.RequestException as error:
                failure = Failure(status=None, headers={}, message=_reason(error))
            except RuntimeError as error:
                # How PyGithub says that the answer leads to another host: the token does not go there.
                raise ForgeError(f"{self.host.name}: {error}", "give the address that it leads to") from error
            except ValueError:
                failure = self._no_json()
            else:
                if not _unreadable(answer):
                    return answer
                failure = self._no_json()
            wait = wait_for(failure, attempt, time.time())
            if wait is None:
                raise self._refusal(failure, what)
            wait_out(replace(wait, why=f"{self.host.name}: {wait.why}"), self._waiting)

    def _no_json(self) -> Failure:
        return Failure(status=None, headers={}, message="what it sends is no JSON")

    def _refusal(self, failure: Failure, what: str) -> ForgeError:
        if failure.status in _GONE or (failure.status == 422 and "no commit found" in failure.message.lower()):
            return self._missing(what)
        if failure.status == 401:
            place = self.token.kept_in if self.token else "no token was given"
            return ForgeError(
                f"{self.host.name} does not accept the token ({place})",
                "renew it and run again: what was read so far is kept",
            )
        if failure.status is None or failure.status in BUSY:
            answer = "does not answer" if failure.status is None else f"answers {failure.status} again and again"
            return _BusyError(
                f"{self.host.name} {answer}: {failure.message}", "run again later: what was read so far is kept"
            )
        return ForgeError(
            f"{self.host.name} refuses {what} ({failure.status}): {failure.message}",
            "see whether the token may read it",
        )

    def _missing(self, what: str) -> MissingError:
        hint = (
            "if it is private, set GITHUB_TOKEN to a token that may read it, or log in with gh auth login"
            if self.token is None
            else f"see whether the token ({self.token.kept_in}) may read it"
        )
        return MissingError(f"{self.host.name} shows no {what.removeprefix('the ')}", hint)


def _failure(error: GithubException) -> Failure:
    headers = {str(name).lower(): str(value) for name, value in (error.headers or {}).items()}
    told = error.data.get("message") if isinstance(error.data, dict) else None
    message = " ".join(str(told or error.message or f"status {error.status}").split())
    return Failure(status=error.status, headers=headers, message=message[:200])


def _reason(error: requests.RequestException) -> str:
    """The innermost words of an error of the connection: the outer ones repeat the address."""
    inner: BaseException = error
    while (deeper := inner.__cause__ or inner.__context__) is not None:
        inner = deeper
    return " ".join(str(inner).split())[:200] or type(error).__name__


def _unreadable(answer: object) -> bool:
    """Say whether PyGithub could make nothing of an answer: it wraps such texts."""
    return isinstance(answer, dict) and isinstance(answer.get(_BAD_JSON), str) and len(answer) <= 2


def _at(answer: object, *names: str) -> Any:
    for name in names:
        answer = answer.get(name) if isinstance(answer, dict) else None
    return answer
