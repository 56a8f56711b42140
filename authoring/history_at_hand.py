"""The history of a case where this machine has it already: looking at a case never clones and never fetches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from authoring.case import Case
from authoring.sources import source_of
from casewright.errors import CasewrightError
from casewright.git_source import is_url
from casewright.repository import Repository, open_kept, open_source
from casewright.store import Store
from casewright.workspace import Workspace


@contextmanager
def history_at_hand(
    workspace: Workspace | None, case: Case, source: str | None = None
) -> Iterator[tuple[Repository | None, str]]:
    """Give a case's open repository with an empty text, or None with the reason why it can't be looked into.

    ``source`` is what the user named: then it is opened whatever it is, a url is cloned, and errors are the user's.
    Else it is the folder where the workspace found the repository last, or the clone of its url in the cache as it is.
    """
    if source is not None:
        with open_source(source, Store().root) as repository:
            missing = _missing_pin(repository, case)
            yield (None if missing else repository), missing
        return
    place = source_of(workspace, case.repository_id, "") if workspace is not None else ""
    try:
        if place and not is_url(place):
            opened: Repository | None = open_source(place, Store().root)
        else:
            opened = open_kept(case.repository_url, Store().root) if is_url(case.repository_url) else None
    except CasewrightError as error:
        yield None, f"its history can't be read: {error.message}"
        return
    if opened is None:
        yield None, "its history is not at hand on this machine; name it with --repo SOURCE"
        return
    with opened as repository:
        missing = _missing_pin(repository, case)
        yield (None if missing else repository), missing


def commit_message(repository: Repository | None, case: Case) -> str:
    """Return the message of the grading commit; empty where there is no history."""
    return repository.commit(case.grading_commit).message.decode("utf-8", "replace") if repository is not None else ""


def _missing_pin(repository: Repository, case: Case) -> str:
    for pin in (case.base_commit, case.grading_commit):
        try:
            repository.commit(pin)
        except CasewrightError:
            return f"{repository.source} does not hold {pin}"
    return ""
