"""Who asks a forge, and what it may see: tokens, their rights, their end, and single sign-on."""

from __future__ import annotations

import base64
import binascii
import enum
import threading
from dataclasses import dataclass

from tests.support.forge_content import HostedRepository


class Sight(enum.Enum):
    """What a visitor gets to see of a repository."""

    SEEN = "seen"
    HIDDEN = "hidden"
    # There, and refused until the token is authorised for the organisation.
    SIGN_ON = "sign-on"


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """A token that the forge knows. ``sees`` are the private repositories it may read (None: all of them)."""

    value: str
    login: str
    sees: frozenset[str] | None
    expires_after: int | None
    signed_on: frozenset[str]
    scopes: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Visitor:
    """Who asks: nobody in particular, or the owner of a token."""

    token: Token | None = None

    @property
    def login(self) -> str | None:
        """The account's name, None for nobody in particular."""
        return self.token.login if self.token else None

    @property
    def name(self) -> str:
        """What the rate limit counts by."""
        return self.token.value if self.token else "anonymous"


class Access:
    """The tokens that a forge knows; safe for several threads.

    Until the first one is made known, every token is good and sees everything: a test that isn't about tokens need not
    speak of them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokens: dict[str, Token] = {}
        self._used: dict[str, int] = {}
        self._sign_on: set[str] = set()

    def add(self, token: Token) -> None:
        """Make a token known."""
        with self._lock:
            self._tokens[token.value] = token

    def revoke(self, value: str) -> None:
        """Let a token end now; it stays known as a bad one."""
        with self._lock:
            self._used[value] = 10**9
            held = self._tokens.get(value)
            self._tokens[value] = Token(
                value=value,
                login=held.login if held else "dev",
                sees=frozenset(),
                expires_after=0,
                signed_on=frozenset(),
                scopes="",
            )

    def require_sign_on(self, owner: str) -> None:
        """Refuse tokens that are not authorised for this organisation."""
        with self._lock:
            self._sign_on.add(owner.lower())

    def identify(self, authorization: str | None) -> Visitor | None:
        """Return who sent a header ``Authorization``, counting one use; None where its credentials are bad."""
        if authorization is None:
            return Visitor()
        value = token_of(authorization)
        with self._lock:
            token = self._tokens.get(value)
            if token is None:
                return None if self._tokens or not value else Visitor(token=_anybody(value))
            self._used[value] = self._used.get(value, 0) + 1
            if token.expires_after is not None and self._used[value] > token.expires_after:
                return None
            return Visitor(token=token)

    def sight(self, visitor: Visitor, repository: HostedRepository) -> Sight:
        """Return what a visitor gets to see of a repository."""
        token = visitor.token
        owner = repository.owner.lower()
        with self._lock:
            guarded = owner in self._sign_on
        if repository.private:
            if token is None:
                return Sight.HIDDEN
            if token.sees is not None and repository.full_name.lower() not in token.sees:
                return Sight.HIDDEN
        if guarded and token is not None and owner not in token.signed_on:
            return Sight.SIGN_ON
        return Sight.SEEN


def token_of(authorization: str) -> str:
    """Return the token in a header ``Authorization`` (``token``, ``Bearer``, or the password of ``Basic``), or ""."""
    scheme, _, rest = authorization.partition(" ")
    if scheme.lower() in ("token", "bearer"):
        return rest.strip()
    if scheme.lower() != "basic":
        return ""
    try:
        user, _, password = base64.b64decode(rest, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return password if password not in ("", "x-oauth-basic") else user


def _anybody(value: str) -> Token:
    return Token(value=value, login="dev", sees=None, expires_after=None, signed_on=frozenset(), scopes="repo")
