"""What a forge is asked and what it says: requests as they are recorded, answers before they are delivered."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.support.forge_access import token_of

DOCUMENTATION = "https://docs.github.com/rest"


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A request as it came: ``path`` without the query, header names in lowercase, the body as sent (not unzipped)."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def target(self) -> str:
        """Path and query as they were sent."""
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def authorization(self) -> str | None:
        """The header of that name, None where there was none."""
        return self.headers.get("authorization")

    @property
    def token(self) -> str | None:
        """The token that came along in any form, or None."""
        return token_of(self.authorization) or None if self.authorization is not None else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """A request that the forge was sent and the status that it answered (None: it dropped the connection)."""

    request: Request
    status: int | None


class Stream(Protocol):
    """A body that is made while it is sent; ``cut`` ends it from another thread, ``close`` when it was delivered."""

    def __iter__(self) -> Iterator[bytes]:
        """Give the parts in their order."""

    def cut(self) -> None:
        """End it before its time."""

    def close(self) -> None:
        """Give back what it holds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """An answer with its whole body, or with a ``stream`` of unknown length in its place."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    stream: Stream | None = None


class Refused(Exception):  # noqa: N818 - an answer that ends the work on a request, not a fault of ours
    """Ends the work on a request with this answer."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def as_json(value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """Return an answer with a JSON body."""
    return Answer(
        status=status,
        headers={"Content-Type": "application/json; charset=utf-8", **(headers or {})},
        body=json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"),
    )


def refusal(status: int, message: str, *, headers: Mapping[str, str] | None = None, **more: Any) -> Answer:
    """Return the answer of the API when it refuses: a message, and where to read about it."""
    said = {"message": message, **more, "documentation_url": DOCUMENTATION, "status": str(status)}
    return as_json(said, status=status, headers=headers)


def not_found() -> Refused:
    """Return the API's answer for what is absent or must look so."""
    return Refused(refusal(404, "Not Found"))


def page(status: int, title: str) -> Answer:
    """Return a web page for people."""
    return Answer(
        status=status,
        headers={"Content-Type": "text/html; charset=utf-8"},
        body=f"<!DOCTYPE html><title>{title}</title><h1>{title}</h1>\n".encode(),
    )
