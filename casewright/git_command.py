"""git as a child process on a private repository: a built environment, bytes in and out, errors of one line.

Nothing of a user's or a repository's own configuration, environment, attributes, hooks, filters, replace refs or grafts
gets in here. Only what clones and fetches (``network_environment``) uses the user's credentials, ssh, proxy and CAs.
"""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from casewright.errors import RepositoryError
from casewright.process import CommandRequest, Stream, run

Argument = str | bytes

# What a clone may need of the caller's environment although its name begins with GIT_.
_NETWORK_VARIABLES = re.compile(
    r"GIT_(SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|SSL_[A-Z_]+|PROXY_[A-Z_]+|HTTP_[A-Z_]+|TERMINAL_PROMPT"
    r"|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+|PARAMETERS))"
)
# Settings of the user that would run programs or change what arrives; templates bring hooks.
_NETWORK_SETTINGS = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.autocrlf=false",
    "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "fetch.prune=false", "-c", "fetch.writeCommitGraph=false",
    "-c", "submodule.recurse=false", "-c", "fetch.recurseSubmodules=false", "-c", "core.pager=cat",
    "-c", "core.alternateRefsCommand=true",
)  # fmt: skip
_DISK_FULL = re.compile(rb"No space left on device|Out of diskspace|Disk quota exceeded")
_USER_INFO = re.compile(rb"(?<=://)[^/\s']+@")


@dataclass(frozen=True, kw_only=True, slots=True)
class GitOutcome:
    """How one git process ended: exit code, standard output, and standard error without user info of urls."""

    code: int
    out: bytes
    err: bytes

    @property
    def complaint(self) -> str:
        """The line of standard error that says most, for a person."""
        lines = [line.strip() for line in self.err.decode("utf-8", "backslashreplace").splitlines() if line.strip()]
        telling = [line for line in lines if line.startswith(("fatal:", "error:"))]
        return (telling or lines or [f"exit code {self.code}"])[-1]


def _plain_environment() -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "XDG_CONFIG_HOME": "/nonexistent",
        "LC_ALL": "C",
        "TZ": "UTC",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_GRAFT_FILE": os.devnull,
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": "file",
    }


def local_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the whole environment of a git that reads nothing of its user, plus ``extra``."""
    return {**_plain_environment(), **(extra or {})}


def network_environment() -> dict[str, str]:
    """Return the environment of clones and fetches: the caller's, without what would redirect git."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or _NETWORK_VARIABLES.fullmatch(name)
    }
    # ``ext::`` and ``fd::`` run programs or read descriptors that a url of a stranger's library would name.
    # A server that sends nothing for five minutes has gone away.
    patience = {"GIT_HTTP_LOW_SPEED_LIMIT": "1", "GIT_HTTP_LOW_SPEED_TIME": "300"}
    return {
        "GIT_TERMINAL_PROMPT": "0",
        **patience,
        **kept,
        "LC_ALL": "C",
        "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    }


def run_git(
    arguments: Sequence[Argument], *, env: Mapping[str, str], cwd: Path | None = None, stdin: bytes = b""
) -> GitOutcome:
    """Run one git to its end; it does not outlive us. Raises ``InfrastructureError`` when there is no git."""
    done = run(CommandRequest(argv=("git", *arguments), env=env, cwd=cwd, stdin=stdin, until_our_end=True))
    return GitOutcome(code=done.code, out=done.stdout, err=_USER_INFO.sub(b"", done.stderr))


def run_network_git(arguments: Sequence[Argument], *, cwd: Path | None = None, stdin: bytes = b"") -> GitOutcome:
    """Run one git that may reach a server with the user's own credentials, and that starts none of the user's hooks."""
    return run_git([*_NETWORK_SETTINGS, *arguments], env=network_environment(), cwd=cwd, stdin=stdin)


class Git:
    """git on one private repository (``git_dir``)."""

    def __init__(self, git_dir: Path, empty_tree: str) -> None:
        self.git_dir = git_dir
        self._env = local_environment({"GIT_DIR": str(git_dir)})
        # In a bare repository newer gits take attributes from HEAD's tree: a patch must not depend on where HEAD is.
        self._bare = {**self._env, "GIT_ATTR_SOURCE": empty_tree}

    def attempt(
        self,
        *arguments: Argument,
        stdin: bytes = b"",
        index: Path | None = None,
        work_tree: Path | None = None,
    ) -> GitOutcome:
        """Run git whatever its exit code; with ``work_tree`` it runs at that folder's top."""
        env = dict(self._env if work_tree is not None else self._bare)
        if index is not None:
            env["GIT_INDEX_FILE"] = str(index)
        if work_tree is not None:
            env["GIT_WORK_TREE"] = str(work_tree.resolve())
        return run_git(arguments, env=env, cwd=work_tree, stdin=stdin)

    def run(
        self, *arguments: Argument, stdin: bytes = b"", index: Path | None = None, work_tree: Path | None = None
    ) -> bytes:
        """Run git and return its output. Raises ``RepositoryError`` with git's own words when it fails."""
        outcome = self.attempt(*arguments, stdin=stdin, index=index, work_tree=work_tree)
        if outcome.code != 0:
            raise _failed(arguments, outcome)
        return outcome.out

    def stream(self, *arguments: Argument, also: int = 0) -> Iterator[bytes]:
        """Yield git's output in pieces while it runs; git is stopped when the reader stops early.

        Raises ``RepositoryError`` at the end when git failed; ``also`` is an exit code besides 0 that is no failure.
        """
        with Stream(CommandRequest(argv=("git", *arguments), env=self._bare)) as stream:
            yield from stream
            end = stream.finish()
        if end.code not in {0, also}:
            raise _failed(arguments, GitOutcome(code=end.code, out=b"", err=end.stderr))

    def objects(self) -> ObjectReader:
        """Return a reader of single objects that keeps one git running."""
        return ObjectReader(self._bare)


class ObjectReader:
    """Objects by id from one long-lived ``git cat-file``; several threads may share it."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, object_id: str) -> bytes | None:
        """Return the content of a blob (or of any object), or None when it is not there."""
        with self._lock:
            if self._process is None:
                # A conversation, which ``casewright.process`` has no use for otherwise. Its own session keeps Ctrl-C
                # from ending it under a thread that still reads.
                self._process = subprocess.Popen(
                    ("git", "cat-file", "--batch"),
                    env=dict(self._env),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            question, answer = _pipe(self._process.stdin), _pipe(self._process.stdout)
            try:
                question.write(object_id.encode("ascii") + b"\n")
                question.flush()
            except BrokenPipeError as error:
                raise RepositoryError("git cat-file ended early", "the repository may be damaged: git fsck") from error
            header = answer.readline().split()
            if len(header) != 3:
                if header[-1:] == [b"missing"]:
                    return None
                raise RepositoryError(f"object {object_id} can't be read", "the repository may be damaged: git fsck")
            size = int(header[2])
            content = answer.read(size)
            if len(content) != size or answer.read(1) != b"\n":
                raise RepositoryError(f"object {object_id} is cut short", "the repository may be damaged: git fsck")
            return content

    def close(self) -> None:
        """End the git behind it."""
        with self._lock:
            if self._process is not None:
                _pipe(self._process.stdin).close()
                _pipe(self._process.stdout).close()
                self._process.wait()
                self._process = None


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise RepositoryError("git was started without a pipe", "please report this as a bug")
    return stream


def _failed(arguments: Sequence[Argument], outcome: GitOutcome) -> RepositoryError:
    name = next((argument for argument in arguments if not os.fsencode(argument).startswith(b"-")), "git")
    full = _DISK_FULL.search(outcome.err) is not None
    hint = "free some disk space and run again" if full else "git fsck tells if it is damaged"
    return RepositoryError(f"git {os.fsdecode(name)} failed: {outcome.complaint}", hint)
