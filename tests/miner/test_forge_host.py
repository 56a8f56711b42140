"""Which host is GitHub, where its API is, and which token it is shown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from miner.forge_host import default_host, forge_host, forge_of, known_hosts, token_for

OWN = {"GITHUB_TOKEN": "own"}


@pytest.mark.parametrize(
    ("name", "environment", "web", "api"),
    [
        ("github.com", {}, "https://github.com", "https://api.github.com"),
        ("acme.ghe.com", {}, "https://acme.ghe.com", "https://api.acme.ghe.com"),
        ("git.example.com", {}, "https://git.example.com", "https://git.example.com/api/v3"),
        ("127.0.0.1:8080", {}, "http://127.0.0.1:8080", "http://127.0.0.1:8080/api/v3"),
        (
            "git.example.com",
            {"GITHUB_SERVER_URL": "https://git.example.com/", "GITHUB_API_URL": "https://api.git.example.com/v3/"},
            "https://git.example.com",
            "https://api.git.example.com/v3",
        ),
        (
            "github.com",
            {"GITHUB_SERVER_URL": "https://git.example.com", "GITHUB_API_URL": "https://evil.example.com"},
            "https://github.com",
            "https://api.github.com",
        ),
    ],
)
def test_addresses_follow_from_the_host(name: str, environment: dict[str, str], web: str, api: str) -> None:
    host = forge_host(name, environment)
    assert (host.web, host.api) == (web, api)
    assert host.clone_url("o/r") == f"{web}/o/r.git"


def test_hosts_are_known_by_the_environment_and_the_workspace() -> None:
    environment = {"GH_HOST": "A.example.com", "GITHUB_SERVER_URL": "https://b.example.com"}
    assert known_hosts(environment, ["C.example.com"]) == {"a.example.com", "b.example.com", "c.example.com"}
    assert known_hosts({}) == frozenset()
    assert default_host(environment) == "a.example.com"
    assert default_host({"GITHUB_SERVER_URL": "https://b.example.com"}) == "b.example.com"
    assert default_host({}) == "github.com"


@pytest.mark.parametrize(
    ("name", "environment", "secret"),
    [
        ("github.com", OWN, "own"),
        ("github.com", {"GH_TOKEN": "gh"}, "gh"),
        ("github.com", {"GITHUB_TOKEN": " ", "GH_TOKEN": "gh"}, "gh"),
        ("github.com", {"GH_ENTERPRISE_TOKEN": "work"}, None),
        ("acme.ghe.com", OWN, "own"),
        ("127.0.0.1:80", OWN, "own"),
        ("git.example.com", OWN, None),
        ("git.example.com", {**OWN, "GH_ENTERPRISE_TOKEN": "work"}, "work"),
        ("git.example.com", {**OWN, "GH_HOST": "git.example.com"}, "own"),
        ("git.example.com", {**OWN, "GITHUB_SERVER_URL": "https://git.example.com"}, "own"),
        ("github.com.example.com", OWN, None),
        ("evilghe.com", OWN, None),
    ],
)
def test_a_token_is_shown_to_the_host_that_it_is_for(
    name: str, environment: dict[str, str], secret: str | None
) -> None:
    found = token_for(name, {"PATH": "/nonexistent", **environment})
    assert (found.secret if found else None) == secret


@pytest.mark.parametrize(
    ("script", "secret"),
    [
        ('echo "$1 $2 $3 $4" >&2; echo gho_kept', "gho_kept"),
        ("exit 1", None),
        ("echo not logged in; exit 1", None),
        ("printf 'two\\nlines'", None),
        ("true", None),
    ],
)
def test_gh_is_asked_for_the_token_of_that_host(tmp_path: Path, script: str, secret: str | None) -> None:
    program = tmp_path / "gh"
    program.write_text(f"#!/bin/sh\n[ \"$*\" = 'auth token --hostname git.example.com' ] || exit 9\n{script}\n")
    program.chmod(0o755)
    found = token_for("git.example.com", {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"})
    assert (found.secret if found else None) == secret
    assert secret is None or (found is not None and found.kept_in == "gh auth token")


@pytest.mark.parametrize(
    ("url", "repository"),
    [
        ("https://github.com/o/r.git", "o/r"),
        ("https://github.com/o/r", "o/r"),
        ("http://127.0.0.1:80/o/r.git", "o/r"),
        ("https://git.example.com/o/r", None),
        ("https://github.com.example.com/o/r", None),
        ("https://github.com/o", None),
        ("https://gitlab.com/o/r.git", None),
        ("file:///tmp/r", None),
        ("", None),
    ],
)
def test_a_clone_url_tells_its_forge_where_one_is_known(url: str, repository: str | None) -> None:
    found = forge_of(url, {})
    assert (found[1] if found else None) == repository


def test_a_host_that_the_workspace_names_is_a_forge() -> None:
    found = forge_of("https://git.example.com/o/r", {}, ["git.example.com"])
    assert found is not None
    assert found[0].api == "https://git.example.com/api/v3"
