"""GraphQL on the forge: the queries of a client of merged work, and the refusals that GitHub would give."""

from __future__ import annotations

import json

import pytest
from github import Github
from github.GithubException import UnknownObjectException
from hypothesis import given
from hypothesis import strategies as st

from tests.support.forge import Forge, forge
from tests.support.forge_content import Comment
from tests.support.forge_faults import PRIMARY_MESSAGE, query_limited
from tests.support.forge_query import Field, SyntaxRefused, parse
from tests.support.forge_schema import SCALARS, SCHEMA
from tests.support.forge_story import (
    SECRET,
    Story,
    add_pull,
    ask,
    filled,
    hub,
    query,
    story,
)

__all__ = ["filled", "forge", "hub", "story"]


PULL = """
query Pull($owner: String!, $name: String!, $number: Int!, $first: Int = 100, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      number title body state merged mergedAt createdAt url baseRefName headRefOid
      mergeCommit { oid }
      commits(first: $first, after: $after) {
        nodes { commit { oid message } }
        pageInfo { hasNextPage endCursor }
        totalCount
      }
      closingIssuesReferences(first: 20) {
        nodes { number title body url createdAt labels(first: 9) { nodes { name } }
                repository { nameWithOwner owner { login } name } }
        totalCount
      }
    }
  }
  rateLimit { cost remaining }
}
"""


class TestQueries:
    def test_a_pull_request_with_its_commits_and_issues(self, filled: Forge, story: Story) -> None:
        said = query(filled, PULL, owner="o", name="r", number=13)
        assert "errors" not in said
        pull = said["data"]["repository"]["pullRequest"]
        assert (pull["state"], pull["mergeCommit"], pull["headRefOid"]) == ("MERGED", {"oid": story.squash}, story.head)
        assert pull["mergedAt"] == "2023-11-14T22:13:20Z"
        assert [node["commit"]["oid"] for node in pull["commits"]["nodes"]] == list(story.commits)
        assert pull["closingIssuesReferences"] == {
            "nodes": [
                {
                    "number": 12,
                    "title": "It breaks",
                    "body": "Steps\r\nhere",
                    "url": f"{filled.origin}/o/r/issues/12",
                    "createdAt": "2023-11-14T21:58:20Z",
                    "labels": {"nodes": [{"name": "bug"}]},
                    "repository": {"nameWithOwner": "o/r", "owner": {"login": "o"}, "name": "r"},
                }
            ],
            "totalCount": 1,
        }
        assert said["data"]["rateLimit"] == {"cost": 1, "remaining": 4999}

    def test_a_list_goes_on_after_its_cursor(self, filled: Forge, story: Story) -> None:
        seen: list[str] = []
        after = None
        for _ in story.commits:
            said = query(filled, PULL, owner="o", name="r", number=13, first=1, after=after)
            page = said["data"]["repository"]["pullRequest"]["commits"]
            seen += [node["commit"]["message"] for node in page["nodes"]]
            after = page["pageInfo"]["endCursor"]
            assert page["totalCount"] == 2
            assert page["pageInfo"]["hasNextPage"] is (len(seen) < 2)
        assert seen == ["Half", "Whole\n\nCloses #12"]

    def test_many_commits_in_one_query(self, filled: Forge, story: Story) -> None:
        wanted = {"c0": story.squash, "c1": story.first, "c2": "1" * 40, "c3": story.builder.tree()}
        fields = "__typename ... on Commit { associatedPullRequests(first: 5) { nodes { number } } }"
        parts = " ".join(f'{key}: object(oid: "{oid}") {{ oid {fields} }}' for key, oid in wanted.items())
        said = query(filled, f'{{ repository(owner: "o", name: "r") {{ {parts} }} }}')
        assert said == {
            "data": {
                "repository": {
                    "c0": {
                        "oid": story.squash,
                        "__typename": "Commit",
                        "associatedPullRequests": {"nodes": [{"number": 13}]},
                    },
                    "c1": {"oid": story.first, "__typename": "Commit", "associatedPullRequests": {"nodes": []}},
                    "c2": None,
                    "c3": {"oid": wanted["c3"], "__typename": "Tree"},
                }
            }
        }

    def test_what_can_not_be_seen_is_null_with_an_error(self, filled: Forge, story: Story) -> None:
        filled.repository("o", "hidden", story.builder.path, private=True)
        filled.issue("o/hidden", number=1, title="Secret")
        filled.token(SECRET, sees=[])
        add_pull(filled, story, closing=[("o", "hidden", 1), ("o", "r", 12)])
        text = """{repository(owner: "o", name: "r") {pullRequest(number: 13) {
                  closingIssuesReferences(first: 5) {nodes {number}}}}}"""
        said = query(filled, text)
        nodes = said["data"]["repository"]["pullRequest"]["closingIssuesReferences"]["nodes"]
        assert nodes == [None, {"number": 12}]
        [error] = said["errors"]
        assert (error["type"], error["path"][-2:]) == ("FORBIDDEN", ["nodes", 0])
        absent = query(filled, '{repository(owner: "o", name: "r") {pullRequest(number: 99) {title}}}')
        assert absent["data"] == {"repository": {"pullRequest": None}}
        assert absent["errors"][0]["message"] == "Could not resolve to a PullRequest with the number of 99."
        assert absent["errors"][0]["type"] == "NOT_FOUND"
        nowhere = query(filled, '{repository(owner: "o", name: "hidden") {name}}')
        assert (nowhere["data"], nowhere["errors"][0]["type"]) == ({"repository": None}, "NOT_FOUND")

    def test_fragments_and_conditions(self, filled: Forge) -> None:
        text = """
          query($more: Boolean!) { repository(owner: "o", name: "r") {
            a: issueOrPullRequest(number: 12) { __typename ...Text ... on PullRequest { merged } }
            b: issueOrPullRequest(number: 13) { ...Text ... on PullRequest { merged } }
            issue(number: 12) { number @skip(if: $more) title @include(if: $more) }
          } }
          fragment Text on Issue { title }
        """
        assert query(filled, text, more=True)["data"]["repository"] == {
            "a": {"__typename": "Issue", "title": "It breaks"},
            "b": {"merged": True},
            "issue": {"title": "It breaks"},
        }

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ('{repository(owner: "o", name: "r") {nme}}', "Field 'nme' doesn't exist on type 'Repository'"),
            ('{repository(owner: "o") {name}}', "Field 'repository' is missing required arguments: name"),
            (
                '{repository(owner: "o", name: "r") {issue(number: "1") {title}}}',
                "Argument 'number' on Field 'issue' has an invalid value. Expected type 'Int!'.",
            ),
            ("{viewer {login(x: 1)}}", "Field 'login' doesn't accept argument 'x'"),
            (
                "{viewer}",
                (
                    "Field must have selections (field 'viewer' returns User but has no selections."
                    " Did you mean 'viewer { ... }'?)"
                ),
            ),
            ("{viewer {login {x}}}", "Selections can't be made on scalars (field 'login' returns String)"),
            ("query Q($a: Int) {viewer {login}}", "Variable $a is declared by Q but not used"),
            (
                '{repository(owner: $a, name: "r") {name}}',
                "Variable $a is used by anonymous query but not declared",
            ),
            ("{viewer {...F}}", "Fragment F was used, but not defined"),
            ("{viewer {... on Wat {login}}}", "No such type Wat, so it can't be a fragment condition"),
            ("{viewer {...F}} fragment F on User {...F}", "Fragment F contains an infinite loop"),
            ("{viewer {... on Issue {title}}}", "Fragment on Issue can't be spread inside User"),
            ("{viewer @wat {login}}", "Directive @wat is not defined"),
            ("query A {viewer {login}} query B {viewer {login}}", "An operation name is required"),
            (
                'query($n: Int) {repository(owner: "o", name: "r") {issue(number: $n) {title}}}',
                "Nullability or type mismatch on variable $n and argument number (Int / Int!)",
            ),
            (
                '{repository(owner: "o", name: "r") {object(oid: "abc") {oid}}}',
                "Argument 'oid' on Field 'object' has an invalid value. Expected type 'GitObjectID'.",
            ),
            ("{viewer {}}", 'Expected a field, actual: MARK ("}") at [1, 10]'),
            ("{viewer(a: ?) {x}}", 'Parse error on "?" (error) at [1, 12]'),
            ("mutation {x}", "Schema is not configured for mutations"),
            ("{viewer {login}", "Unexpected end of document at [1, 16]"),
        ],
    )
    def test_a_wrong_query_is_refused_whole(self, forge: Forge, text: str, message: str) -> None:
        said = query(forge, text)
        assert "data" not in said
        assert said["errors"][0]["message"] == message

    def test_a_variable_must_have_its_type(self, filled: Forge) -> None:
        said = query(filled, PULL, owner="o", name="r", number="13")
        assert said["errors"][0]["message"] == "Variable $number of type Int! was provided invalid value"

    def test_lists_have_bounds(self, filled: Forge) -> None:
        text = '{repository(owner: "o", name: "r") {pullRequests%s {nodes {commits(first: 100) {totalCount}}}}}'
        unbound = query(filled, text % "")
        assert unbound["errors"][0]["type"] == "MISSING_PAGINATION_BOUNDARIES"
        assert query(filled, text % "(first: 101)")["errors"][0]["type"] == "EXCESSIVE_PAGINATION"
        filled.limits.nodes = 10_000
        # A hundred, and a hundred for each of them.
        said = query(filled, text % "(first: 100)")
        assert said["errors"][0]["message"] == (
            "This query requests up to 10,100 possible nodes which exceeds the maximum limit of 10,000."
        )
        filled.limits.nodes = 10_100
        assert "errors" not in query(filled, text % "(first: 100)")

    def test_every_field_of_the_schema_can_be_asked_for(self, filled: Forge, story: Story) -> None:
        filled.issue(
            "o/r", number=12, title="It breaks", labels=["bug"], comments=[Comment(author="a", body="b", created=1)]
        )
        add_pull(filled, story, labels=["fix"], fork="someone/r")
        parts = (
            f"issue(number: 12) {selected('Issue', 4)}",
            f"pullRequest(number: 13) {selected('PullRequest', 3)}",
            f'object(oid: "{story.squash}") {{ ... on Commit {selected("Commit", 3)} }}',
            f'ref(qualifiedName: "main") {selected("Ref", 2)}',
            selected("Repository", 3)[1:-1],
        )
        top = f"viewer {selected('User', 1)} rateLimit {selected('RateLimit', 1)}"
        said = query(filled, f'{{{top} repository(owner: "o", name: "r") {{{" ".join(parts)}}}}}')
        assert "errors" not in said
        found = said["data"]["repository"]
        assert found["pullRequest"]["headRepository"]["nameWithOwner"] == "someone/r"
        assert found["object"]["messageHeadline"] == "Mend it (#13)"
        assert found["ref"]["target"]["oid"] == found["defaultBranchRef"]["target"]["oid"] == story.squash
        assert found["issue"]["comments"]["edges"][0]["node"]["author"]["login"] == "a"
        assert {served.type for fields in SCHEMA.values() for served in fields.values()} <= SCHEMA.keys() | SCALARS

    def test_what_is_gone_is_gone_here_too(self, filled: Forge, story: Story) -> None:
        filled.issue("o/r", number=30, title="Elsewhere")
        filled.issue("o/r", number=31, title="Deleted")
        filled.repository("o", "other", story.builder.path)
        filled.transfer("o/r", 30, ("o", "other", 4))
        filled.delete_issue("o/r", 31)
        add_pull(filled, story, fork="deleted", closing=[("o", "r", 31), ("o", "r", 30)])
        filled.rename("o/r", "o", "renamed")
        text = """{repository(owner: "o", name: "r") {
            nameWithOwner
            a: issue(number: 30) {title}
            b: issue(number: 31) {title}
            c: issueOrPullRequest(number: 99) {__typename}
            object(expression: "main") {oid}
            d: object(expression: "gone") {oid}
            ref(qualifiedName: "refs/heads/gone") {name}
            pullRequest(number: 13) {headRepository {name} closingIssuesReferences(last: 5) {
                nodes {number repository {name}}}}}}"""
        said = query(filled, text)
        assert [error["type"] for error in said["errors"]] == ["NOT_FOUND"] * 3
        assert said["data"]["repository"] == {
            "nameWithOwner": "o/renamed",
            "a": None,
            "b": None,
            "c": None,
            "object": {"oid": story.squash},
            "d": None,
            "ref": None,
            "pullRequest": {
                "headRepository": None,
                "closingIssuesReferences": {"nodes": [{"number": 4, "repository": {"name": "other"}}]},
            },
        }
        strict = query(filled, '{repository(owner: "o", name: "r", followRenames: false) {name}}')
        assert strict["errors"][0]["type"] == "NOT_FOUND"

    def test_a_list_is_read_from_its_end_too(self, filled: Forge, story: Story) -> None:
        for number in (20, 21, 22):
            add_pull(filled, story, number=number)
        page = "nodes {number} pageInfo {startCursor hasPreviousPage}"
        text = f'{{repository(owner: "o", name: "r") {{pullRequests(%s) {{{page}}}}}}}'
        last = query(filled, text % "last: 2")["data"]["repository"]["pullRequests"]
        assert [node["number"] for node in last["nodes"]] == [21, 22]
        assert last["pageInfo"]["hasPreviousPage"] is True
        before = f'last: 1, before: "{last["pageInfo"]["startCursor"]}"'
        assert query(filled, text % before)["data"]["repository"]["pullRequests"]["nodes"] == [{"number": 20}]
        wrong = query(filled, text % 'first: 1, after: "x"')
        assert wrong["errors"][0]["type"] == "INVALID_CURSOR_ARGUMENTS"

    def test_no_points_are_left(self, filled: Forge) -> None:
        filled.fail_when("graphql", query_limited(seconds=5))
        assert query(filled, "{viewer {login}}") == {"errors": [{"type": "RATE_LIMITED", "message": PRIMARY_MESSAGE}]}
        filled.limits.points = 1
        assert "data" in query(filled, "{viewer {login}}")
        assert query(filled, "{viewer {login}}")["errors"][0]["type"] == "RATE_LIMITED"

    def test_it_needs_a_token_and_a_query(self, filled: Forge) -> None:
        assert ask(filled, "/api/graphql", "POST", b'{"query": "{viewer{login}}"}').status == 401
        who = f"bearer {SECRET}"
        assert ask(filled, "/api/graphql", "POST", b"{", Authorization=who).status == 400
        parts = [b'{"query": "{viewer', b'{login}}"}']
        assert ask(filled, "/api/graphql", "POST", parts, Authorization=who).json["data"]["viewer"]["login"] == "dev"
        assert ask(filled, "/api/graphql", Authorization=who).status == 404
        assert ask(filled, "/api/graphql", "POST", b'{"query": "{x}", "variables": 1}', Authorization=who).status == 400
        assert ask(filled, "/api/graphql", "POST", b"{}", Authorization=who).status == 400

    @pytest.mark.usefixtures("filled")
    def test_pygithub_sends_queries_too(self, hub: Github) -> None:
        _, said = hub.requester.graphql_query(
            'query($o: String!) {repository(owner: $o, name: "r") {name}}', {"o": "o"}
        )
        assert said["data"] == {"repository": {"name": "r"}}
        with pytest.raises(UnknownObjectException):
            hub.requester.graphql_query('{repository(owner: "o", name: "absent") {name}}', {})


def selected(type_: str, depth: int) -> str:
    """Return a selection of all that a type has, down to some depth; lists by two."""
    parts = ["__typename"]
    for name, served in SCHEMA[type_].items():
        if any(argument.endswith("!") for argument in served.arguments.values()) or name == "object":
            continue
        bound = "(first: 2)" if served.connection else ""
        if served.type in SCALARS:
            parts.append(name)
        elif depth > 1:
            parts.append(f"{name}{bound} {selected(served.type, depth - (served.connection is None))}")
    return f"{{ {' '.join(parts)} }}"


class TestParser:
    @given(st.text())
    def test_a_string_is_read_back(self, text: str) -> None:
        [operation] = parse(f"{{a(b: {json.dumps(text)})}}").operations
        [field] = operation.selections
        assert isinstance(field, Field)
        assert field.arguments == {"b": text}

    @given(st.text(alphabet='{}()[]:$!@"\\.,#ab1 \n-=|'))
    def test_any_text_is_a_query_or_refused(self, text: str) -> None:
        try:
            operations = len(parse(text).operations)
        except SyntaxRefused as refused:
            operations = refused.line
        assert operations >= 1

    def test_a_block_string_loses_its_indentation(self) -> None:
        [operation] = parse('{a(b: """\n    one\n      two\n    """)}').operations
        [field] = operation.selections
        assert isinstance(field, Field)
        assert field.arguments == {"b": "one\n  two"}
