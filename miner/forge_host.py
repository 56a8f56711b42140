"""Which hosts are GitHub, where their APIs are, and which token may be shown to which of them.

A token is shown to the host that it is for and to no other: `GITHUB_TOKEN` and `GH_TOKEN` belong to github.com (and
its `ghe.com` tenants), to the host that `GH_HOST` or `GITHUB_SERVER_URL` names, and to this machine's own loopback; a
GitHub Enterprise host gets the token that is kept for it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from casewright.process import CommandRequest, run

GITHUB: Final = "github.com"
_TENANT: Final = re.compile(r"[a-z0-9-]+\.ghe\.com")
_OWN_TOKENS: Final = ("GITHUB_TOKEN", "GH_TOKEN")
_ENTERPRISE_TOKENS: Final = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
_LOOPBACK: Final = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?")
_GH_SECONDS: Final = 20.0
_TOKEN_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class Token:
    """A secret that no ``repr`` and no traceback shows; ``kept_in`` says where it was found."""

    secret: str = field(repr=False)
    kept_in: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ForgeHost:
    """A host with its addresses: ``web`` for people and git, ``api`` for REST; both without a final slash."""

    name: str
    web: str
    api: str

    def clone_url(self, repository: str) -> str:
        """Return what ``git clone`` takes for ``owner/name``."""
        return f"{self.web}/{repository}.git"


def is_github(name: str) -> bool:
    """Say whether a host is github.com or a tenant of GitHub's own cloud."""
    return name == GITHUB or _TENANT.fullmatch(name) is not None


def default_host(environment: Mapping[str, str]) -> str:
    """Return the host of ``owner/name#12``: what ``GH_HOST`` or ``GITHUB_SERVER_URL`` says, else github.com."""
    return environment.get("GH_HOST", "").strip().lower() or _server(environment) or GITHUB


def known_hosts(environment: Mapping[str, str], configured: Collection[str] = ()) -> frozenset[str]:
    """Return the hosts besides github.com that the user calls GitHub, by the environment or in ``casewright.yaml``."""
    said = {
        environment.get("GH_HOST", "").strip().lower(),
        _server(environment),
        *(name.lower() for name in configured),
    }
    return frozenset(said - {""})


def forge_host(name: str, environment: Mapping[str, str]) -> ForgeHost:
    """Return the addresses of a host (lowercase, maybe with a port), as GitHub and GitHub Enterprise lay them out."""
    scheme = "http" if _LOOPBACK.fullmatch(name) else "https"
    web = f"{scheme}://{name}"
    if name == _server(environment):
        web = environment["GITHUB_SERVER_URL"].rstrip("/")
        if environment.get("GITHUB_API_URL"):
            return ForgeHost(name=name, web=web, api=environment["GITHUB_API_URL"].rstrip("/"))
    if is_github(name):
        return ForgeHost(name=name, web=web, api=f"https://api.{name}")
    return ForgeHost(name=name, web=web, api=f"{web}/api/v3")


def forge_of(
    url: str, environment: Mapping[str, str], configured: Collection[str] = ()
) -> tuple[ForgeHost, str] | None:
    """Return the forge that a clone url belongs to and its repository there (``owner/name``); None when none is known.

    A host counts when it is github.com, one that the user calls GitHub, or this machine's own loopback.
    """
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2].lower()
    words = parts.path.strip("/").removesuffix(".git").split("/")
    known = is_github(host) or host in known_hosts(environment, configured)
    if not (known or _LOOPBACK.fullmatch(host)) or len(words) != 2 or not all(words):
        return None
    return forge_host(host, environment), "/".join(words)


def token_for(name: str, environment: Mapping[str, str]) -> Token | None:
    """Return the token for a host: from the environment, else from ``gh auth token``, else None."""
    own = is_github(name)
    named = name in known_hosts(environment) or _LOOPBACK.fullmatch(name) is not None
    variables = (*(() if own else _ENTERPRISE_TOKENS), *(_OWN_TOKENS if own or named else ()))
    for variable in variables:
        if secret := environment.get(variable, "").strip():
            return Token(secret, variable)
    return _token_of_gh(name, environment)


def _token_of_gh(name: str, environment: Mapping[str, str]) -> Token | None:
    # It is an offer, not a need: most machines have no gh.
    program = shutil.which("gh", path=environment.get("PATH"))
    if program is None:
        return None
    done = run(
        CommandRequest(
            argv=(program, "auth", "token", "--hostname", name),
            env=environment,
            seconds=_GH_SECONDS,
            output_limit=_TOKEN_BYTES,
        )
    )
    secret = done.stdout.decode("utf-8", "replace").strip()
    return (
        Token(secret, "gh auth token")
        if done.succeeded and secret and secret.isascii() and secret.isprintable()
        else None
    )


def _server(environment: Mapping[str, str]) -> str:
    return urlsplit(environment.get("GITHUB_SERVER_URL", "")).netloc.rpartition("@")[2].lower()
