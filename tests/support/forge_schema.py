"""The part of GitHub's GraphQL schema that a client of merged work asks for, and where each field comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.forge_access import Sight
from tests.support.forge_content import DELETED_FORK, HostedRepository, Issue, Pull
from tests.support.forge_fields import FieldRefused, Node, Resolver, Served, World, cursor, paged, plain
from tests.support.forge_git import HostedCommit
from tests.support.forge_json import node_id, number_of, stamp
from tests.support.forge_rest import COMMITS_LISTED, SIGN_ON_MESSAGE

SCALARS = frozenset({"String", "Int", "Boolean", "ID", "DateTime", "URI", "GitObjectID", "State"})
# A fragment for the left may be asked of what the right may turn out to be.
POSSIBLE: Mapping[str, frozenset[str]] = {
    "GitObject": frozenset({"Commit", "Tree", "Blob", "Tag"}),
    "IssueOrPullRequest": frozenset({"Issue", "PullRequest"}),
    "Actor": frozenset({"User"}),
    "RepositoryOwner": frozenset({"User"}),
    "Node": frozenset({"Repository", "Issue", "PullRequest", "Commit", "User"}),
}


def _repository(world: World, _node: Node, asked: Mapping[str, Any]) -> Node:
    found = world.content.find(asked["owner"], asked["name"])
    sight = world.access.sight(world.visitor, found.repository) if found else Sight.HIDDEN
    if sight is Sight.SIGN_ON:
        raise FieldRefused("FORBIDDEN", SIGN_ON_MESSAGE, saml_failure=True)
    if found is None or sight is Sight.HIDDEN or (found.renamed and asked.get("followRenames") is False):
        name = f"{asked['owner']}/{asked['name']}"
        raise FieldRefused("NOT_FOUND", f"Could not resolve to a Repository with the name '{name}'.")
    return _of_repository(found.repository)


def _of_repository(repository: HostedRepository) -> Node:
    return Node(type="Repository", value=repository, repository=repository)


def _pull(world: World, node: Node, asked: Mapping[str, Any]) -> Node:
    pull = world.content.pull(node.home, asked["number"])
    if pull is None:
        raise FieldRefused("NOT_FOUND", f"Could not resolve to a PullRequest with the number of {asked['number']}.")
    return Node(type="PullRequest", value=pull, repository=node.repository)


def _issue(world: World, node: Node, asked: Mapping[str, Any]) -> Node:
    issue = world.content.issue(node.home, asked["number"])
    if issue is None or issue.deleted or issue.moved_to is not None:
        raise FieldRefused("NOT_FOUND", f"Could not resolve to an Issue with the number of {asked['number']}.")
    return Node(type="Issue", value=issue, repository=node.repository)


def _issue_or_pull(world: World, node: Node, asked: Mapping[str, Any]) -> Node:
    if world.content.pull(node.home, asked["number"]):
        return _pull(world, node, asked)
    try:
        return _issue(world, node, asked)
    except FieldRefused as refused:
        message = f"Could not resolve to an issue or pull request with the number of {asked['number']}."
        raise FieldRefused("NOT_FOUND", message) from refused


def _object(world: World, node: Node, asked: Mapping[str, Any]) -> Node | None:
    reader = world.reader(node.home)
    id_ = asked.get("oid")
    if id_ is None and asked.get("expression") is not None:
        id_ = reader.resolve(asked["expression"])
    if id_ is None:
        return None
    commit = reader.commit(id_)
    if commit is not None:
        return Node(type="Commit", value=commit, repository=node.repository)
    kind = reader.kind(id_)
    return Node(type=kind.capitalize(), value=_Plain(id=id_), repository=node.repository) if kind else None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Plain:
    """A git object of which only the id is told, or a commit of which only the message is."""

    id: str
    message: str = ""
    parents: tuple[str, ...] = ()


def _commit_node(world: World, repository: HostedRepository, id_: str | None, message: str = "") -> Node | None:
    if id_ is None:
        return None
    commit = world.reader(repository).commit(id_) or _Plain(id=id_, message=message)
    return Node(type="Commit", value=commit, repository=repository)


def _ref(world: World, node: Node, asked: Mapping[str, Any]) -> Node | None:
    name = asked["qualifiedName"]
    full = name.removeprefix("refs/") if name.startswith("refs/") else f"heads/{name}"
    id_ = world.reader(node.home).ref(full)
    return Node(type="Ref", value=(full, id_), repository=node.repository) if id_ else None


def _commits(world: World, node: Node) -> Sequence[Node]:
    listed = node.value.commits[:COMMITS_LISTED]
    world.reader(node.home).commits(commit.id for commit in listed)
    made = (_commit_node(world, node.home, commit.id, commit.message) for commit in listed)
    return [Node(type="PullRequestCommit", value=commit, repository=node.repository) for commit in made]


def _closing(world: World, node: Node) -> Sequence[Node | FieldRefused]:
    shown: list[Node | FieldRefused] = []
    for place in node.value.closing:
        settled = world.content.settle(place)
        if settled is None:
            continue
        repository, issue = settled
        match world.access.sight(world.visitor, repository):
            case Sight.SEEN:
                shown.append(Node(type="Issue", value=issue, repository=repository))
            case Sight.SIGN_ON:
                shown.append(FieldRefused("FORBIDDEN", SIGN_ON_MESSAGE, saml_failure=True))
            case Sight.HIDDEN:
                shown.append(FieldRefused("FORBIDDEN", "Resource not accessible by personal access token"))
    return shown


def _user(login: str | None) -> Node | None:
    return None if login is None else Node(type="User", value=login)


def _nodes(type_: str, values: Iterable[Any], repository: HostedRepository | None) -> list[Node]:
    return [Node(type=type_, value=value, repository=repository) for value in values]


def _web(world: World, node: Node) -> str:
    kind = "pull" if isinstance(node.value, Pull) else "issues"
    return f"{world.json.web_of(node.home)}/{kind}/{node.value.number}"


def _state(value: Issue | Pull) -> str:
    return "MERGED" if isinstance(value, Pull) and value.merged else value.state.upper()


def _numbered(kind: str) -> dict[str, Served]:
    """Return the fields that issues and pull requests share."""
    return {
        "id": Served(type="ID", resolve=lambda _w, node, _a: node_id(kind, node.home.id * 100_000 + node.value.number)),
        "number": plain("Int", lambda value: value.number),
        "title": plain("String", lambda value: value.title),
        "body": plain("String", lambda value: value.body),
        "state": plain("State", _state),
        "closed": plain("Boolean", lambda value: value.state == "closed"),
        "createdAt": plain("DateTime", lambda value: stamp(value.created)),
        "updatedAt": plain("DateTime", lambda value: stamp(value.closed_at or value.created)),
        "closedAt": plain("DateTime", lambda value: stamp(value.closed_at)),
        "url": Served(type="URI", resolve=lambda world, node, _a: _web(world, node)),
        "author": Served(type="Actor", resolve=lambda _w, node, _a: _user(node.value.author)),
        "repository": Served(type="Repository", resolve=lambda _w, node, _a: _of_repository(node.home)),
        "labels": paged("Label", lambda _w, node: _nodes("Label", node.value.labels, node.home)),
        "comments": paged("IssueComment", lambda _w, node: _nodes("IssueComment", node.value.comments, node.home)),
    }


def _of_fork(_world: World, node: Node, _asked: Mapping[str, Any]) -> Node | None:
    """Return the repository of a pull request's branch: null once the fork is deleted."""
    fork = node.value.fork
    if fork == DELETED_FORK:
        return None
    if fork is None:
        return _of_repository(node.home)
    owner, _, name = fork.partition("/")
    made = HostedRepository(
        id=number_of(fork),
        owner=owner,
        name=name,
        folder=node.home.folder,
        private=node.home.private,
        default_branch=node.home.default_branch,
        created=node.value.created,
    )
    return _of_repository(made)


def _pulls_of_commit(world: World, node: Node) -> Sequence[Node]:
    return _nodes("PullRequest", world.content.pulls_of_commit(node.home, node.value.id), node.home)


def _committed(read: Callable[[HostedCommit], Any]) -> Callable[[Any], Any]:
    return lambda value: read(value) if isinstance(value, HostedCommit) else None


SCHEMA: dict[str, dict[str, Served]] = {
    "Query": {
        "repository": Served(
            type="Repository",
            arguments={"owner": "String!", "name": "String!", "followRenames": "Boolean"},
            resolve=_repository,
        ),
        "rateLimit": Served(
            type="RateLimit",
            arguments={"dryRun": "Boolean"},
            resolve=lambda world, _n, _a: Node(type="RateLimit", value=world.points),
        ),
        "viewer": Served(type="User", resolve=lambda world, _n, _a: _user(world.visitor.login)),
    },
    "RateLimit": {
        "limit": plain("Int", lambda value: value[0]),
        "remaining": plain("Int", lambda value: value[1]),
        "used": plain("Int", lambda value: value[0] - value[1]),
        "resetAt": plain("DateTime", lambda value: stamp(value[2])),
        "cost": plain("Int", lambda value: value[3]),
    },
    "Repository": {
        "id": plain("ID", lambda value: node_id("Repository", value.id)),
        "databaseId": plain("Int", lambda value: value.id),
        "name": plain("String", lambda value: value.name),
        "nameWithOwner": plain("String", lambda value: value.full_name),
        "isPrivate": plain("Boolean", lambda value: value.private),
        "createdAt": plain("DateTime", lambda value: stamp(value.created)),
        "url": Served(type="URI", resolve=lambda world, node, _a: world.json.web_of(node.value)),
        "owner": Served(type="RepositoryOwner", resolve=lambda _w, node, _a: _user(node.value.owner)),
        "defaultBranchRef": Served(
            type="Ref", resolve=lambda world, node, _a: _ref(world, node, {"qualifiedName": node.value.default_branch})
        ),
        "pullRequest": Served(type="PullRequest", arguments={"number": "Int!"}, resolve=_pull),
        "issue": Served(type="Issue", arguments={"number": "Int!"}, resolve=_issue),
        "issueOrPullRequest": Served(type="IssueOrPullRequest", arguments={"number": "Int!"}, resolve=_issue_or_pull),
        "object": Served(type="GitObject", arguments={"oid": "GitObjectID", "expression": "String"}, resolve=_object),
        "ref": Served(type="Ref", arguments={"qualifiedName": "String!"}, resolve=_ref),
        "pullRequests": paged(
            "PullRequest", lambda world, node: _nodes("PullRequest", world.content.pulls(node.value), node.value)
        ),
        "issues": paged("Issue", lambda world, node: _nodes("Issue", world.content.issues(node.value), node.value)),
    },
    "Ref": {
        "name": plain("String", lambda value: value[0].partition("/")[2]),
        "target": Served(
            type="GitObject", resolve=lambda world, node, _a: _object(world, node, {"oid": node.value[1]})
        ),
    },
    "PullRequest": _numbered("PullRequest")
    | {
        "merged": plain("Boolean", lambda value: value.merged),
        "mergedAt": plain("DateTime", lambda value: stamp(value.merged_at)),
        "baseRefName": plain("String", lambda value: value.base),
        "baseRefOid": plain("GitObjectID", lambda value: value.base_sha),
        "headRefName": plain("String", lambda value: value.head_branch),
        "headRefOid": plain("GitObjectID", lambda value: value.head_sha),
        "isCrossRepository": plain("Boolean", lambda value: value.fork is not None),
        "headRepository": Served(type="Repository", resolve=_of_fork),
        "baseRepository": Served(type="Repository", resolve=lambda _w, node, _a: _of_repository(node.home)),
        "mergeCommit": Served(
            type="Commit",
            resolve=lambda world, node, _a: _commit_node(
                world, node.home, node.value.merge_commit_sha if node.value.merged else None
            ),
        ),
        "commits": paged("PullRequestCommit", _commits, lambda value: len(value.commits)),
        "closingIssuesReferences": paged("Issue", _closing),
    },
    "PullRequestCommit": {"commit": plain("Commit", lambda value: value)},
    "Issue": _numbered("Issue"),
    "Label": {
        "name": plain("String", lambda value: value),
        "color": plain("String", lambda value: f"{number_of(value) & 0xFFFFFF:06x}"),
        "description": plain("String", lambda _value: None),
    },
    "IssueComment": {
        "body": plain("String", lambda value: value.body),
        "createdAt": plain("DateTime", lambda value: stamp(value.created)),
        "author": Served(type="Actor", resolve=lambda _w, node, _a: _user(node.value.author)),
    },
    "User": {
        "id": plain("ID", lambda value: node_id("User", number_of(value))),
        "login": plain("String", lambda value: value),
        "url": Served(type="URI", resolve=lambda world, node, _a: f"{world.json.origin}/{node.value}"),
    },
    "Commit": {
        "id": plain("ID", lambda value: node_id(f"Commit:{value.id}", 0)),
        "oid": plain("GitObjectID", lambda value: value.id),
        "abbreviatedOid": plain("String", lambda value: value.id[:7]),
        "message": plain("String", lambda value: value.message),
        "messageHeadline": plain("String", lambda value: value.message.partition("\n")[0]),
        "authoredDate": plain("DateTime", _committed(lambda commit: stamp(commit.author.time))),
        "committedDate": plain("DateTime", _committed(lambda commit: stamp(commit.committer.time))),
        "url": Served(
            type="URI", resolve=lambda world, node, _a: f"{world.json.web_of(node.home)}/commit/{node.value.id}"
        ),
        "parents": paged(
            "Commit", lambda world, node: [_commit_node(world, node.home, id_) for id_ in node.value.parents]
        ),
        "associatedPullRequests": paged("PullRequest", _pulls_of_commit),
    },
    "PageInfo": {
        "hasNextPage": plain("Boolean", lambda page: page.start + len(page.items) < page.listed),
        "hasPreviousPage": plain("Boolean", lambda page: page.start > 0),
        "startCursor": plain("String", lambda page: cursor(page.start) if page.items else None),
        "endCursor": plain("String", lambda page: cursor(page.start + len(page.items) - 1) if page.items else None),
    },
}
_OBJECT = {name: SCHEMA["Commit"][name] for name in ("id", "oid", "abbreviatedOid")}
SCHEMA |= {name: dict(_OBJECT) for name in ("GitObject", "Tree", "Blob", "Tag")}
SCHEMA |= {name: {key: SCHEMA["User"][key] for key in ("login", "url")} for name in ("Actor", "RepositoryOwner")}
SCHEMA |= {"IssueOrPullRequest": {}, "Node": {"id": SCHEMA["User"]["id"]}}


def _edges(type_: str) -> Resolver:
    def resolve(_world: World, node: Node, _asked: Mapping[str, Any]) -> list[Node]:
        page = node.value
        return [Node(type=type_, value=(page.start + index, held)) for index, held in enumerate(page.items)]

    return resolve


def _connections() -> dict[str, dict[str, Served]]:
    """Return the types of the pages: nodes, edges, and where one is in the list."""
    made: dict[str, dict[str, Served]] = {}
    items = {served.connection for fields in SCHEMA.values() for served in fields.values() if served.connection}
    page_info = Served(type="PageInfo", resolve=lambda _w, node, _a: Node(type="PageInfo", value=node.value))
    for item in items:
        made[f"{item}Connection"] = {
            "nodes": Served(type=item, resolve=lambda _w, node, _a: list(node.value.items)),
            "edges": Served(
                type=f"{item}Edge",
                resolve=_edges(f"{item}Edge"),
            ),
            "pageInfo": page_info,
            "totalCount": plain("Int", lambda page: page.total),
        }
        made[f"{item}Edge"] = {
            "cursor": plain("String", lambda value: cursor(value[0])),
            "node": plain(item, lambda value: value[1]),
        }
    return made


SCHEMA |= _connections()
