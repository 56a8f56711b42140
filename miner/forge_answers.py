"""What GitHub answers, read strictly where we use it: REST objects and GraphQL nodes become facts. Pure.

Unknown keys are ignored here, and only here: the answers are not ours, and grow.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from casewright.errors import ForgeError
from miner.forge_facts import ForgeReference, IssueFacts, PullCommit, PullFacts

ISSUE_FIELDS: Final = """
number title body url createdAt
labels(first: 50) { nodes { name } }
repository { name owner { login } }
"""
PULL_FIELDS: Final = f"""
number title body url merged mergedAt createdAt baseRefName headRefOid
mergeCommit {{ oid }}
repository {{ name owner {{ login }} }}
commits(first: 100) {{ nodes {{ commit {{ oid message }} }} }}
closingIssuesReferences(first: 20) {{ nodes {{ {ISSUE_FIELDS} }} }}
"""

_Commit = Annotated[str, Field(pattern=r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$")]
_Text = str | None


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


_Model = TypeVar("_Model", bound=_Answer)


class _Owner(_Answer):
    login: str


class _Repository(_Answer):
    name: str
    owner: _Owner


class _BaseSide(_Answer):
    ref: str
    repo: _Repository


class _HeadSide(_Answer):
    sha: _Commit


class _RestPull(_Answer):
    number: int
    html_url: str
    title: str
    body: _Text
    merged: bool
    merged_at: AwareDatetime | None
    created_at: AwareDatetime
    merge_commit_sha: _Commit | None
    base: _BaseSide
    head: _HeadSide


class _Message(_Answer):
    message: str


class _RestCommit(_Answer):
    sha: _Commit
    commit: _Message


class _Label(_Answer):
    name: str


class _RestIssue(_Answer):
    number: int
    html_url: str
    title: str
    body: _Text
    labels: tuple[_Label | str, ...]
    created_at: AwareDatetime
    pull_request: Mapping[str, Any] | None = None


class _Labels(_Answer):
    nodes: tuple[_Label, ...]


class _Issue(_Answer):
    number: int
    title: str
    body: _Text
    url: str
    createdAt: AwareDatetime  # noqa: N815 - the forge's own name
    labels: _Labels | None
    repository: _Repository


class _Issues(_Answer):
    nodes: tuple[_Issue | None, ...]


class _Object(_Answer):
    oid: _Commit


class _CommitObject(_Answer):
    oid: _Commit
    message: str


class _CommitNode(_Answer):
    commit: _CommitObject


class _Commits(_Answer):
    nodes: tuple[_CommitNode, ...]


class _Pull(_Answer):
    number: int
    title: str
    body: _Text
    url: str
    merged: bool
    mergedAt: AwareDatetime | None  # noqa: N815
    createdAt: AwareDatetime  # noqa: N815
    baseRefName: str  # noqa: N815
    headRefOid: _Commit  # noqa: N815
    mergeCommit: _Object | None  # noqa: N815
    repository: _Repository
    commits: _Commits
    closingIssuesReferences: _Issues | None  # noqa: N815


def pull_of_rest(host: str, answer: object, commits: tuple[object, ...]) -> PullFacts:
    """Read ``GET /repos/O/N/pulls/N`` and the pages of its ``/commits``. Raises ``ForgeError``."""
    pull = _read(_RestPull, answer, f"a pull request of {host}")
    rows = [_read(_RestCommit, row, f"a commit of {host}") for row in commits]
    return PullFacts(
        reference=_reference(host, pull.base.repo, pull.number),
        url=pull.html_url,
        title=pull.title,
        body=pull.body or "",
        base_branch=pull.base.ref,
        head_commit=pull.head.sha,
        merge_commit=pull.merge_commit_sha if pull.merged else None,
        merged_at=_seconds(pull.merged_at),
        created_at=round(pull.created_at.timestamp()),
        commits=tuple(PullCommit(id=row.sha, message=row.commit.message) for row in rows),
    )


def issue_of_rest(host: str, repository: str, answer: object) -> IssueFacts | None:
    """Read ``GET /repos/O/N/issues/N``; None for a pull request, which is an issue too. Raises ``ForgeError``."""
    issue = _read(_RestIssue, answer, f"an issue of {host}")
    if issue.pull_request is not None:
        return None
    owner, _, name = repository.partition("/")
    return IssueFacts(
        reference=ForgeReference(host=host, owner=owner, name=name, number=issue.number),
        url=issue.html_url,
        title=issue.title,
        body=issue.body or "",
        labels=tuple(label if isinstance(label, str) else label.name for label in issue.labels),
        created_at=round(issue.created_at.timestamp()),
    )


def pull_of_graph(host: str, node: object) -> tuple[PullFacts, tuple[IssueFacts, ...]]:
    """Read a node of ``PULL_FIELDS``, with the issues that the forge says it closes. Raises ``ForgeError``."""
    pull = _read(_Pull, node, f"a pull request of {host}")
    found = pull.closingIssuesReferences.nodes if pull.closingIssuesReferences else ()
    issues = tuple(_issue(host, issue) for issue in found if issue is not None)
    facts = PullFacts(
        reference=_reference(host, pull.repository, pull.number),
        url=pull.url,
        title=pull.title,
        body=pull.body or "",
        base_branch=pull.baseRefName,
        head_commit=pull.headRefOid,
        merge_commit=pull.mergeCommit.oid if pull.merged and pull.mergeCommit else None,
        merged_at=_seconds(pull.mergedAt),
        created_at=round(pull.createdAt.timestamp()),
        commits=tuple(PullCommit(id=row.commit.oid, message=row.commit.message) for row in pull.commits.nodes),
        linked=tuple(issue.reference for issue in issues),
    )
    return facts, issues


def issue_of_graph(host: str, node: object) -> IssueFacts:
    """Read a node of ``ISSUE_FIELDS``. Raises ``ForgeError``."""
    return _issue(host, _read(_Issue, node, f"an issue of {host}"))


def _issue(host: str, issue: _Issue) -> IssueFacts:
    return IssueFacts(
        reference=_reference(host, issue.repository, issue.number),
        url=issue.url,
        title=issue.title,
        body=issue.body or "",
        labels=tuple(label.name for label in issue.labels.nodes) if issue.labels else (),
        created_at=round(issue.createdAt.timestamp()),
    )


def _reference(host: str, repository: _Repository, number: int) -> ForgeReference:
    return ForgeReference(host=host, owner=repository.owner.login, name=repository.name, number=number)


def _seconds(moment: datetime | None) -> int | None:
    return None if moment is None else round(moment.timestamp())


def _read(model: type[_Model], answer: object, what: str) -> _Model:
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ForgeError(
            f"what should be {what} can't be read: {place or 'it'}: {first['msg']}",
            "a proxy may have answered in the forge's place; try again later",
        ) from error
