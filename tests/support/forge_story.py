"""A forge with a small story on it, and plain clients to ask it: what the tests of the forge start from."""

from __future__ import annotations

import http.client
import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from github import Auth, Github

from tests.support.forge import Forge, forge
from tests.support.repos import RepoBuilder, plain_env

__all__ = ["forge"]

NOW = 1_700_000_000
SECRET = "ghp_made_up"


@dataclass(frozen=True, kw_only=True, slots=True)
class Story:
    """A small history: a pull request of two commits, squashed, and what was there before it."""

    builder: RepoBuilder
    first: str
    head: str
    commits: tuple[str, ...]
    squash: str


@pytest.fixture
def story(tmp_path: Path) -> Story:
    builder = RepoBuilder(tmp_path / "given")
    first = builder.commit("Start", {"a.py": "a = 1\n"})
    builder.switch("topic", at=first)
    one = builder.commit("Half", {"a.py": "a = 2\n"})
    two = builder.commit("Whole\n\nCloses #12", {"b.py": "b = 1\n", "a.py": "a = 3\n"})
    builder.switch("main")
    builder.git("merge", "-q", "--squash", "topic")
    squash = builder.commit("Mend it (#13)")
    return Story(builder=builder, first=first, head=two, commits=(one, two), squash=squash)


@pytest.fixture
def filled(forge: Forge, story: Story) -> Forge:
    """A forge with ``o/r``: issue 12, pull request 13 that closes it."""
    forge.repository("o", "r", story.builder.path, branches=["main"])
    forge.issue("o/r", number=12, title="It breaks", body="Steps\r\nhere", labels=["bug"], created=NOW - 900)
    add_pull(forge, story)
    return forge


def add_pull(forge: Forge, story: Story, **changes: Any) -> None:
    """Add pull request 13, with some of it changed."""
    plain: dict[str, Any] = {
        "number": 13,
        "title": "Mend it",
        "body": "Closes #12",
        "head_sha": story.head,
        "base_sha": story.first,
        "merge_commit_sha": story.squash,
        "merged_at": NOW,
        "created": NOW - 300,
        "closing": [("o", "r", 12)],
    }
    forge.pull("o/r", **plain | changes)


@pytest.fixture
def hub(forge: Forge) -> Iterator[Github]:
    """A PyGithub with a token that retries nothing."""
    yield from client(forge, SECRET)


def client(forge: Forge, token: str | None) -> Iterator[Github]:
    """Give a PyGithub that retries nothing."""
    auth = Auth.Token(token) if token else None
    made = Github(base_url=forge.api, auth=auth, retry=None, seconds_between_requests=0, seconds_between_writes=0)
    yield made
    made.close()


@dataclass(frozen=True, kw_only=True, slots=True)
class Got:
    """An answer as a plain HTTP client sees it."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(
    forge: Forge, path: str, method: str = "GET", body: bytes | Iterable[bytes] | None = None, **headers: str
) -> Got:
    """Send one request; header names are written with underscores, and a body of parts is sent in chunks."""
    connection = http.client.HTTPConnection("127.0.0.1", int(forge.host.rpartition(":")[2]), timeout=20)
    try:
        sent = {"User-Agent": "test", **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection.request(method, path, body, sent)
        answer = connection.getresponse()
        named = {name.lower(): value for name, value in answer.getheaders()}
        return Got(status=answer.status, headers=named, body=answer.read())
    finally:
        connection.close()


def query(forge: Forge, text: str, token: str = SECRET, **variables: Any) -> Any:
    """Send a GraphQL query and return the JSON of its answer."""
    body = json.dumps({"query": text, "variables": variables}).encode()
    got = ask(forge, "/api/graphql", "POST", body, Authorization=f"bearer {token}")
    assert got.status == 200, got.body
    return got.json


def run_git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run a git that asks nobody for a password, and may fail."""
    env = {**plain_env(), "GIT_TERMINAL_PROMPT": "0"}
    return subprocess.run(["git", *arguments], cwd=folder, env=env, capture_output=True, check=False)
