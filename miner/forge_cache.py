"""What a forge has answered, kept in the workspace, so that an interrupted run asks nothing twice.

One JSON object on each line, only ever appended. It is a cache: it may be deleted at any time, and a line that can't be
read (half-written when the machine went down, or of an older version) is asked for again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pydantic import TypeAdapter, ValidationError

from casewright.errors import WorkspaceError
from miner.forge_facts import ForgeReference, IssueFacts
from miner.pull_request import CommitPulls

FORGE_CACHE: Final = "forge.jsonl"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Commit:
    """The merged pull requests of one commit of ``repository`` (``owner/name`` on ``host``)."""

    kind: Literal["commit/1"] = "commit/1"
    host: str
    repository: str
    commit: str
    pulls: CommitPulls


@dataclass(frozen=True, kw_only=True, slots=True)
class _Issue:
    """An issue, or None where there is none that we may see."""

    kind: Literal["issue/1"] = "issue/1"
    reference: ForgeReference
    facts: IssueFacts | None


_LINE: Final = TypeAdapter[_Commit | _Issue](_Commit | _Issue)


class ForgeCache:
    """The answers of a workspace; needs its lock. ``fresh`` leaves unread what was kept before."""

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self._path = path
        self._commits: dict[tuple[str, str, str], CommitPulls] = {}
        self._issues: dict[ForgeReference, IssueFacts | None] = {}
        if fresh or not path.exists():
            return
        for line in path.read_bytes().splitlines():
            try:
                self._know(_LINE.validate_json(line))
            except ValidationError:
                continue

    def pulls(self, host: str, repository: str, commit: str) -> CommitPulls | None:
        """Return what is known of a commit, or None."""
        return self._commits.get((host, repository, commit))

    def knows_issue(self, reference: ForgeReference) -> bool:
        """Say whether an issue was asked for."""
        return reference in self._issues

    def issue(self, reference: ForgeReference) -> IssueFacts | None:
        """Return an issue that was asked for, or None where there was none that we may see."""
        return self._issues[reference]

    def keep_pulls(self, host: str, repository: str, found: Mapping[str, CommitPulls]) -> None:
        """Keep what was answered of commits, with the issues that came along. Raises ``WorkspaceError``."""
        lines: list[_Commit | _Issue] = [
            _Commit(host=host, repository=repository, commit=commit, pulls=pulls) for commit, pulls in found.items()
        ]
        issues = {issue.reference: issue for pulls in found.values() for issue in pulls.issues}
        lines += [_Issue(reference=name, facts=issue) for name, issue in issues.items() if name not in self._issues]
        self._keep(lines)

    def keep_issue(self, reference: ForgeReference, facts: IssueFacts | None) -> None:
        """Keep what was answered of an issue. Raises ``WorkspaceError``."""
        self._keep([_Issue(reference=reference, facts=facts)])

    def _know(self, line: _Commit | _Issue) -> None:
        match line:
            case _Commit():
                self._commits[line.host, line.repository, line.commit] = line.pulls
            case _Issue():
                self._issues[line.reference] = line.facts

    def _keep(self, lines: list[_Commit | _Issue]) -> None:
        try:
            with self._path.open("ab") as stream:
                if stream.tell() and not self._ends_a_line():
                    stream.write(b"\n")
                stream.write(b"".join(_LINE.dump_json(line) + b"\n" for line in lines))
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise WorkspaceError(
                f"{self._path} can't be written: {error.strerror}", "make room there, or make it writable"
            ) from error
        for line in lines:
            self._know(line)

    def _ends_a_line(self) -> bool:
        with self._path.open("rb") as stream:
            stream.seek(-1, os.SEEK_END)
            return stream.read(1) == b"\n"
