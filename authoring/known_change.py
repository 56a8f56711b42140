"""What lint knows of the changes of a workspace: kept when a draft is written, made anew where a history is at hand.

The files lie in the workspace's own folder, one for each pair of pins. Losing one costs a look into the history and
nothing else; one that is damaged, of another version or of another test part is no different from a lost one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from authoring.case import Case, to_plain
from authoring.change_reading import read_change
from authoring.change_words import ChangeWords, read_words, words_bytes
from authoring.consistency import paths_of_test_part
from authoring.history_at_hand import history_at_hand
from casewright.errors import RepositoryError, WorkspaceError
from casewright.files import replace_file
from casewright.repository import Repository
from casewright.workspace import Workspace


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownChange:
    """What is known of a case's change; ``words`` is None where nothing is, and then ``why`` says why not."""

    words: ChangeWords | None
    why: str = ""


def known_change(workspace: Workspace, case: Case, source: str | None = None) -> KnownChange:
    """Return what is known of a case's change: what is kept, else what its history says, which is then kept.

    Without ``source`` the history is looked into only where this machine has it; with one (a folder or a url, which is
    cloned) what is kept is made anew, and raises what opening it raises.
    """
    kept = None if source is not None else _kept(workspace, case)
    if kept is not None:
        return KnownChange(words=kept)
    try:
        with history_at_hand(workspace, case, source) as (repository, why):
            if repository is None or why:
                return KnownChange(words=None, why=why)
            words = words_of(repository, case)
    except RepositoryError as error:
        return KnownChange(words=None, why=f"its history can't be read: {error.message}")
    try:
        _keep(workspace, case, words)
    except WorkspaceError:
        # In a workspace that can't be written a look at a draft is still worth something.
        return KnownChange(words=words)
    return KnownChange(words=words)


def keep_change(workspace: Workspace, case: Case, repository: Repository) -> None:
    """Keep what a history says of a case's change. Raises ``RepositoryError`` and ``WorkspaceError``."""
    if _kept(workspace, case) is None:
        _keep(workspace, case, words_of(repository, case))


def words_path(workspace: Workspace, case: Case) -> Path:
    """Return where a workspace keeps what it knows of a case's change."""
    return workspace.state / "changes" / f"{case.base_commit}-{case.grading_commit}.json"


def words_of(repository: Repository, case: Case) -> ChangeWords:
    """Return what a history says of a case's change. Raises ``RepositoryError``."""
    pins = case.base_commit, case.grading_commit
    split = {row.path.encode() for row in case.grading.test_hunks}
    return read_change(repository, case.repository_id, *pins, _test_part(case), split)


def _test_part(case: Case) -> frozenset[bytes]:
    return frozenset(path.encode() for path in paths_of_test_part(to_plain(case)["grading"]))


def _keep(workspace: Workspace, case: Case, words: ChangeWords) -> None:
    path = words_path(workspace, case)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkspaceError(f"{path.parent} can't be made: {error.strerror}", "is it read-only?") from error
    replace_file(path, words_bytes(words))


def _kept(workspace: Workspace, case: Case) -> ChangeWords | None:
    try:
        words = read_words(words_path(workspace, case).read_bytes())
    except OSError:
        # Not there, or not readable: it is made anew.
        return None
    if words is None or (words.base, words.head) != (case.base_commit, case.grading_commit):
        return None
    same_part = {path.encode() for path in words.test_paths} == _test_part(case)
    return words if words.repository == case.repository_id and same_part else None
