"""git as a child process: what of the caller's environment reaches it, and what it says when it fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from casewright.errors import InfrastructureError, RepositoryError
from casewright.git_command import Git, GitOutcome, local_environment, network_environment, run_git
from tests.support.repos import RepoBuilder


def test_a_local_git_gets_nothing_of_the_caller_but_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for name in ("HOME", "GIT_DIR", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_COUNT", "GITHUB_TOKEN", "SSH_AUTH_SOCK"):
        monkeypatch.setenv(name, "/somewhere")

    env = local_environment({"GIT_DIR": "/private"})

    assert env["PATH"] == "/usr/bin:/bin"
    assert env["GIT_DIR"] == "/private"
    assert "/somewhere" not in env.values()


def test_a_clone_gets_credentials_and_nothing_that_redirects_git(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = ("HOME", "SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_SSL_CAINFO", "https_proxy")
    dropped = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_TEMPLATE_DIR", "GIT_TRACE")
    for name in (*passed, *dropped):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "ext")

    env = network_environment()

    assert [name for name in passed if env.get(name) != "x"] == []
    assert [name for name in dropped if name in env] == []
    assert "ext" not in env["GIT_ALLOW_PROTOCOL"]


def test_the_telling_line_of_a_complaint_is_kept() -> None:
    err = b"Cloning into 'x'...\nfatal: not found\nhint: try again\n"

    assert GitOutcome(code=128, out=b"", err=err).complaint == "fatal: not found"
    assert GitOutcome(code=3, out=b"", err=b"\n").complaint == "exit code 3"


def test_a_machine_without_git_is_told_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(InfrastructureError, match="git can't be run"):
        run_git(["version"], env=local_environment())


def test_a_stream_that_fails_says_so_at_its_end(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "repo")
    repo.commit("Start", {"a": "1\n"})
    git = Git(repo.path / ".git", "4b825dc642cb6eb9a060e54bf8d69288fbee4904")

    assert b"".join(git.stream("log", "--format=%s")) == b"Start\n"
    with pytest.raises(RepositoryError, match="git log failed: fatal: bad revision 'nowhere'"):
        list(git.stream("log", "nowhere", "--"))


def test_objects_are_read_one_after_another_and_missing_ones_are_none(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "repo")
    repo.commit("Start", {"a": b"one\n\0two", "empty": b""})
    objects = Git(repo.path / ".git", "4b825dc642cb6eb9a060e54bf8d69288fbee4904").objects()

    assert objects.read(repo.git("rev-parse", "HEAD:a")) == b"one\n\0two"
    assert objects.read("0" * 40) is None
    assert objects.read(repo.git("rev-parse", "HEAD:empty")) == b""
    objects.close()
    assert objects.read(repo.git("rev-parse", "HEAD:a")) == b"one\n\0two"
    objects.close()
