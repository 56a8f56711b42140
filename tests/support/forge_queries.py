"""Where GraphQL queries come in: who asks, what the body holds, and whether there are points left."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.support.forge_access import Access, Visitor
from tests.support.forge_answers import Answer, Refused, Request, as_json, refusal
from tests.support.forge_content import Content, HostedRepository
from tests.support.forge_faults import PRIMARY_MESSAGE
from tests.support.forge_fields import World
from tests.support.forge_git import Reader
from tests.support.forge_graphql import QueryRefused, prepare, run
from tests.support.forge_json import Json
from tests.support.forge_limits import GRAPHQL, Limits

QUERIES = "/api/graphql"


class Queries:
    """Answers for what is sent to ``/api/graphql``."""

    def __init__(
        self,
        content: Content,
        access: Access,
        limits: Limits,
        readers: Callable[[HostedRepository], Reader],
        written: Json,
    ) -> None:
        self._content = content
        self._access = access
        self._limits = limits
        self._readers = readers
        self._json = written

    def answer(self, request: Request, visitor: Visitor) -> Answer:
        """Return the answer to a query; a bad query and an empty purse are told with status 200, as GitHub does."""
        if visitor.token is None:
            return refusal(401, "This endpoint requires you to be authenticated.")
        try:
            asked = _body(request)
        except Refused as refused:
            return refused.answer
        try:
            prepared = prepare(
                asked["query"], asked.get("variables") or {}, asked.get("operationName"), self._limits.nodes
            )
        except QueryRefused as refused_query:
            standing = self._limits.charge(visitor.name, GRAPHQL, 1, known=True)
            return as_json({"errors": list(refused_query.errors)}, headers=standing.headers)
        standing = self._limits.charge(visitor.name, GRAPHQL, prepared.cost, known=True)
        if standing.refused:
            limited = {"type": "RATE_LIMITED", "code": "graphql_rate_limit", "message": PRIMARY_MESSAGE}
            return as_json({"errors": [limited]}, headers=standing.headers)
        world = World(
            content=self._content,
            access=self._access,
            visitor=visitor,
            reader=self._readers,
            json=self._json,
            points=(standing.limit, standing.remaining, standing.reset, prepared.cost),
        )
        return as_json(run(prepared, world), headers=standing.headers)


def _body(request: Request) -> dict[str, Any]:
    if request.method != "POST" or request.path != QUERIES:
        raise Refused(refusal(404, "Not Found"))
    try:
        asked = json.loads(request.body)
    except ValueError:
        raise Refused(refusal(400, "Problems parsing JSON")) from None
    if not isinstance(asked, dict) or not isinstance(asked.get("query"), str):
        raise Refused(refusal(400, "A query attribute must be specified and must be a string."))
    if not isinstance(asked.get("variables") or {}, dict):
        raise Refused(refusal(400, "Variables are invalid. Expected an object."))
    return asked
