"""Drafts: ``cases/<id>.yaml``, written once by a tool, then edited by people and, in its own fields only, by tools.

A change is made to the file as it is at that moment, under a lock that is held for that moment alone: texts are edited
and reviewed while another casewright mines for hours, and neither takes away what the other wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from authoring.case import Case, Review, ReviewState, Waiver, to_plain
from authoring.consistency import effective_state, faults, task_digest
from authoring.fields import PHRASES
from casewright.document_edits import updated
from casewright.documents import fault_error, parse_model, render
from casewright.errors import DocumentError, InvalidInputError, WorkspaceError
from casewright.files import create_file, replace_file
from casewright.workspace import Workspace, locked

# What a later tool run may change in a draft; all else is the person's.
TOOL_OWNED: Final = ("environment", "grading", "verification")

# A write takes a moment: only of a casewright that was stopped in the middle of one can it be longer.
_PATIENCE_SECONDS: Final = 10

_COMMENTS: Final[Mapping[str, str]] = {
    "schema": "A casewright draft. Edit it by hand: later runs change environment, grading and verification alone,\n"
    "and keep your comments. `casewright lint` says what is missing.",
    "case_version": "Raise it when the meaning of the case changes.",
    "category": "Any word that sorts your cases.",
    "task": "What the candidate reads. Say what should happen and when it is resolved; don't say where in the code.",
    "environment": "From here down to size all is written by casewright: what a stranger runs, and what was seen.",
    "review": "`casewright review CASE --by NAME` fills this in when you have read the task.\n"
    "A task that is changed afterwards counts as unread again.",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A draft as read: where it lies, what it is called in errors, its bytes and its case."""

    path: Path
    name: str
    data: bytes
    case: Case

    @property
    def plain(self) -> dict[str, Any]:
        """The case as plain JSON values with its keys in file order."""
        return to_plain(self.case)

    @property
    def state(self) -> ReviewState:
        """``verified`` only if a person has read exactly the task that stands there now."""
        return ReviewState(effective_state(self.plain))


def draft_path(workspace: Workspace, case_id: str) -> Path:
    """Return where the draft of a case is or would be."""
    return workspace.cases / f"{case_id}.yaml"


def draft_text(case: Case) -> str:
    """Return a new draft's text: every key in order, with comments that help a person."""
    return render(to_plain(case), _COMMENTS)


def parse_draft(data: bytes, name: str, *, edited_record: bool = False) -> Case:
    """Read a draft from bytes. Raises ``DocumentError`` with all faults: of the form, else of fields that disagree.

    With ``edited_record`` fields may disagree: that is how a record that was edited by hand gets verified again.
    """
    document, case = parse_model(data, name, Case, PHRASES)
    contradictions = [(fault.place, fault.message) for fault in faults(to_plain(case))]
    if contradictions and not edited_record:
        raise fault_error(document, contradictions)
    return case


def load_draft(workspace: Workspace, case_id: str, *, edited_record: bool = False) -> Draft:
    """Read one draft (``edited_record`` as in ``parse_draft``).

    Raises ``DocumentError``, or ``InvalidInputError`` when there is no such draft.
    """
    path = draft_path(workspace, case_id)
    if not path.is_file():
        raise InvalidInputError(
            f"there is no draft {case_id!r} in {workspace.cases}", "`casewright lint` lists the drafts"
        )
    return _read(workspace, path, edited_record=edited_record)


def list_drafts(workspace: Workspace) -> tuple[str, ...]:
    """Return the ids of all drafts, sorted; a file's name is its id. Nothing is read."""
    try:
        return tuple(sorted(path.stem for path in workspace.cases.glob("*.yaml") if not path.name.startswith(".")))
    except OSError as error:
        raise WorkspaceError(f"{workspace.cases} can't be read: {error.strerror}") from error


def load_drafts(workspace: Workspace) -> tuple[Draft, ...]:
    """Read every draft, sorted by id. Raises one ``DocumentError`` with the faults of all files."""
    drafts: list[Draft] = []
    told: list[str] = []
    for case_id in list_drafts(workspace):
        try:
            drafts.append(_read(workspace, draft_path(workspace, case_id)))
        except DocumentError as error:
            told += error.faults
    if told:
        raise DocumentError(tuple(told))
    return tuple(drafts)


def readable_drafts(workspace: Workspace) -> Iterator[Draft | DocumentError]:
    """Yield every draft, sorted by id, or in its place the error that it can't be read with."""
    for case_id in list_drafts(workspace):
        try:
            yield _read(workspace, draft_path(workspace, case_id))
        except DocumentError as error:
            yield error


def _read(workspace: Workspace, path: Path, *, edited_record: bool = False) -> Draft:
    name = workspace.shown(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DocumentError((f"{name}: can't be read: {error.strerror}",)) from error
    case = parse_draft(data, name, edited_record=edited_record)
    if case.id != path.stem:
        raise DocumentError((f"{name}: id: is {case.id!r}; a draft is named after its id",))
    return Draft(path=path, name=name, data=data, case=case)


def write_draft(workspace: Workspace, case: Case) -> Path:
    """Write a new draft and return its path.

    Raises ``InvalidInputError`` when a draft of this id is there (nothing is overwritten), ``DocumentError`` when the
    case contradicts itself, and ``WorkspaceError`` when the file can't be written.
    """
    path = draft_path(workspace, case.id)
    data = draft_text(case).encode()
    parse_draft(data, workspace.shown(path))
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise WorkspaceError(f"{path.parent} can't be made: {error.strerror}") from error
    if not create_file(path, data):
        raise InvalidInputError(f"{workspace.shown(path)} is there already", "choose another id with --id")
    return path


@contextmanager
def drafts_held(workspace: Workspace) -> Iterator[None]:
    """Keep every other casewright from changing a draft; for a moment only, since ``mine`` waits for it too.

    Raises ``WorkspaceError`` where the workspace can't be written, or another one does not let go.
    """
    with locked(workspace, "drafts", patience=_PATIENCE_SECONDS):
        yield


def update_record(draft: Draft, case: Case) -> Draft:
    """Put a case's environment, grading and verification into a draft; all else in the file stays byte for byte.

    What was written to the file since ``draft`` was read stays too. Raises ``DocumentError`` when the outcome would
    contradict itself or the file can't be read any more, ``InvalidInputError`` when it is gone, ``WorkspaceError`` when
    it can't be written or somebody else has changed these very fields meanwhile.
    """
    fresh = to_plain(case)
    return _saved(draft, {key: fresh[key] for key in TOOL_OWNED})


def edit_draft(draft: Draft, changes: Mapping[str, Any]) -> Draft:
    """Set top-level keys (plain JSON values) and save; raises as ``update_record`` does."""
    return _saved(draft, changes)


def mark_reviewed(draft: Draft, by: str, day: str, waivers: tuple[Waiver, ...] | None = None) -> Draft:
    """Record that a person has read the case on ``day`` (YYYY-MM-DD); waivers that are given replace the old ones.

    Raises as ``update_record`` does, also where the texts that were read are others by now.
    """
    review = Review(
        state=ReviewState.VERIFIED,
        by=by,
        date=day,
        task_digest=task_digest(draft.case.task),
        waivers=draft.case.review.waivers if waivers is None else waivers,
    )
    return _saved(draft, {"review": to_plain(review)}, rests_on=("task", "hints"))


def _saved(draft: Draft, changes: Mapping[str, Any], rests_on: tuple[str, ...] = ()) -> Draft:
    """Set keys in the file as it is by now, unless they or those that they rest on are others than ``draft`` has."""
    # `draft_path` puts a draft into the folder of drafts, and nothing else reads one.
    workspace = Workspace(root=draft.path.parent.parent)
    with drafts_held(workspace):
        now = load_draft(workspace, draft.case.id, edited_record=True)
        seen, found = draft.plain, now.plain
        others = [key for key in (*changes, *rests_on) if seen[key] != found[key]]
        if others:
            raise WorkspaceError(
                f"somebody else has changed {', '.join(others)} of {draft.name} meanwhile", "look at it and run again"
            )
        data = updated(now.data, draft.name, changes)
        case = parse_draft(data, draft.name)
        if data != now.data:
            replace_file(draft.path, data)
    return Draft(path=draft.path, name=draft.name, data=data, case=case)
