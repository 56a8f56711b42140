"""What the types of the GraphQL schema are made of: nodes, fields with their arguments, and lists by the page."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.support.forge_access import Access, Visitor
from tests.support.forge_content import Content, HostedRepository
from tests.support.forge_git import Reader
from tests.support.forge_json import Json

MOST_A_PAGE = 100


class FieldRefused(Exception):  # noqa: N818 - an answer of the API
    """A field that can't be given: it is null, and this stands under ``errors``."""

    def __init__(self, kind: str, message: str, **extensions: Any) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.extensions = extensions


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """What resolvers look at; ``points`` are what is left, when it is filled up, and what this query costs."""

    content: Content
    access: Access
    visitor: Visitor
    reader: Callable[[HostedRepository], Reader]
    json: Json
    points: tuple[int, int, int, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """An object of some type and where it belongs; ``value`` is what its fields are read from."""

    type: str
    value: Any
    repository: HostedRepository | None = None

    @property
    def home(self) -> HostedRepository:
        """The repository that it belongs to."""
        assert self.repository is not None, self.type
        return self.repository


@dataclass(frozen=True, kw_only=True, slots=True)
class Connection:
    """A page of a list; an item may be a refusal, which is null with an error of its own."""

    items: tuple[Node | FieldRefused, ...]
    start: int
    total: int
    listed: int


Resolver = Callable[[World, Node, Mapping[str, Any]], Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Served:
    """A field of a type: what it gives, what may be asked of it (name to type), and how it is found."""

    type: str
    resolve: Resolver
    arguments: Mapping[str, str] = field(default_factory=dict)
    connection: str | None = None


PAGE = {"first": "Int", "after": "String", "last": "Int", "before": "String"}


def plain(type_: str, read: Callable[[Any], Any]) -> Served:
    """Return a field that is read from the value alone."""
    return Served(type=type_, resolve=lambda _world, node, _arguments: read(node.value))


def paged(
    item: str, items: Callable[[World, Node], Sequence[Any]], total: Callable[[Any], int] | None = None
) -> Served:
    """Return a field that gives a page of a list; ``total`` counts from the value what may be more than is listed."""

    def resolve(world: World, node: Node, asked: Mapping[str, Any]) -> Connection:
        listed = items(world, node)
        return _page(listed, asked, total(node.value) if total else len(listed))

    return Served(type=f"{item}Connection", connection=item, arguments=PAGE, resolve=resolve)


def _page(items: Sequence[Any], asked: Mapping[str, Any], total: int) -> Connection:
    after, before = _index(asked.get("after")), _index(asked.get("before"))
    start = 0 if after is None else after + 1
    end = len(items) if before is None else min(before, len(items))
    if asked.get("first") is not None:
        end = min(end, start + asked["first"])
    else:
        start = max(start, end - asked["last"])
    return Connection(items=tuple(items[start:end]), start=start, total=total, listed=len(items))


def cursor(index: int) -> str:
    """Return the opaque place of an item in its list."""
    return base64.b64encode(f"cursor:v2:{index}".encode()).decode()


def _index(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return int(base64.b64decode(text, validate=True).removeprefix(b"cursor:v2:"))
    except (binascii.Error, ValueError):
        message = f"`{text}` does not appear to be a valid cursor."
        raise FieldRefused("INVALID_CURSOR_ARGUMENTS", message) from None
