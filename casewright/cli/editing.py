"""``edit``: a draft's texts go to the author's editor and come back; whatever goes wrong, what was written is kept."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from authoring.case import to_plain
from authoring.draft import Draft, drafts_held, edit_draft, load_draft
from authoring.findings import Judged, judged
from authoring.history_at_hand import commit_message, history_at_hand
from authoring.known_texts import known_texts
from authoring.proposal import Declined, Proposed, propose, sources_of, with_proposal
from authoring.statement import SourceText
from casewright.attended import run_attended
from casewright.cli.output import noted
from casewright.cli.task_form import Texts, begin_with, below_the_cut, form_text, read_form
from casewright.configuration import configuration_of
from casewright.errors import (
    CasewrightError,
    InfrastructureError,
    InvalidInputError,
    RefusedError,
    UsageError,
    WorkspaceError,
)
from casewright.files import replace_file
from casewright.git_editor import editor_of_git
from casewright.workspace import Workspace

# What ends at once when it is started bare, the file still open in its window, and the flag that makes it stay.
_LEAVE_AT_ONCE: Final = dict.fromkeys(
    ("code", "code-insiders", "codium", "cursor", "subl", "zed", "mate", "atom"), "--wait"
)
_STAYING_FLAGS: Final = frozenset({"--wait", "-w", "--block", "-b", "--standalone", "-s"})
# Of the workspace's own folder: what is being edited, or could not be saved.
_FOLDER: Final = "edits"


@dataclass(frozen=True, kw_only=True, slots=True)
class Edited:
    """A draft after the edit, what ``lint`` says of it now, and whether it is another text than before."""

    draft: Draft
    judged: Judged
    changed: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Beginning:
    """What the author's work begins with, where it is not the draft's own text: a file (``-``: standard input), or a
    proposal of the user's command. ``source`` names the history for the commit message."""

    file: Path | None = None
    proposal: bool = False
    source: str | None = None


def edit(workspace: Workspace, case_id: str, beginning: Beginning, *, verbosity: int = 0) -> Edited:
    """Let the author edit the task and the hints of a draft; return what became of it.

    Nothing is locked while the editor is open, and another casewright may mine all the while. Raises
    ``InvalidInputError`` and ``DocumentError`` for a draft or a text that can't be read, ``UsageError`` without an
    editor, ``InfrastructureError`` for one that fails, ``RefusedError`` for an emptied task, ``WorkspaceError`` where
    the draft changed meanwhile or can't be written. Where a text was written before that, the error names the file that
    keeps it.
    """
    draft = load_draft(workspace, case_id)
    editor = editor_command(os.environ)
    with drafts_held(workspace):
        # Who could not save in the end is told before the work, not after it.
        pass
    for left in _left_behind(workspace, case_id):
        noted(f"an earlier edit is kept in {left}; --from {left} goes on with it", verbosity=verbosity)
    before = Texts(task=draft.case.task, hints=draft.case.hints)
    with history_at_hand(workspace, draft.case, beginning.source) as (repository, _):
        kept = known_texts(workspace, draft.case)
        sources = kept or sources_of(draft.case, commit_message(repository, draft.case))
    proposed, notes = _proposal(workspace, draft, sources) if beginning.proposal else (None, ())
    for note in notes:
        noted(note, verbosity=verbosity)
    first, begun = before, draft.case
    if proposed is not None:
        begun = with_proposal(draft.case, proposed)
        first = Texts(task=proposed.task, hints=before.hints)
    elif beginning.file is not None:
        first = begin_with(_given(beginning.file, workspace), str(beginning.file), before)
        begun = draft.case.model_copy(update={"task": first.task, "hints": first.hints})
    form = form_text(first, below_the_cut(draft, judged(workspace, begun, beginning.source), sources, notes)).encode()
    with _kept_file(workspace, case_id, form, verbosity) as path:
        _run_editor(editor, path, workspace.root)
        texts = _come_back(path, workspace.shown(path), before)
        saved = draft if texts == before else _saved(workspace, draft, texts, proposed)
    if beginning.file is not None:
        _take_away(_place(beginning.file, workspace), workspace)
    return Edited(draft=saved, judged=judged(workspace, saved.case), changed=texts != before)


def editor_command(environment: Mapping[str, str]) -> str:
    """Return the author's editor, with its arguments: VISUAL, else EDITOR, else what git would open.

    Raises ``UsageError`` where there is none, and for one that ends at once while its window stays open: it would come
    back before a word was written.
    """
    command = environment.get("VISUAL", "").strip() or environment.get("EDITOR", "").strip() or editor_of_git()
    words = command.split()
    flag = _LEAVE_AT_ONCE.get(Path(words[0]).name)
    if flag and not _STAYING_FLAGS.intersection(words):
        raise UsageError(f"the editor {command!r} ends before anything is written", f"set EDITOR='{command} {flag}'")
    return command


def _proposal(
    workspace: Workspace, draft: Draft, sources: Sequence[SourceText]
) -> tuple[Proposed | None, tuple[str, ...]]:
    """Ask the user's command; return its proposal, and what the author should know of it."""
    name = draft.case.repository_id
    statement = configuration_of(workspace).statement(name)
    if statement is None:
        raise UsageError(
            f"casewright.yaml names no command that proposes texts for {name}",
            "give the repository, or the defaults, a `statement` with a `command`",
        )
    answer = propose(statement, draft.case, sources, judged(workspace, draft.case).findings, workspace.root)
    if isinstance(answer, Declined):
        return None, (f"no proposal: {answer.reason}; the text is the draft's own",)
    return answer, ("the text is the one that your command proposed",)


def _given(file: Path, workspace: Workspace) -> bytes:
    if str(file) == "-":
        return sys.stdin.buffer.read()
    try:
        return _place(file, workspace).read_bytes()
    except OSError as error:
        raise InvalidInputError(f"{file} can't be read: {error.strerror}") from error


def _place(file: Path, workspace: Workspace) -> Path:
    """Return where a file is that was named as we name kept ones, from the workspace's root, or as it stands."""
    return file if file.exists() else workspace.root / file


def _left_behind(workspace: Workspace, case_id: str) -> Iterator[str]:
    """Yield the files of earlier edits of a case whose casewright is gone: it was killed, or could not save."""
    own = re.compile(re.escape(case_id) + r"-(?P<pid>[0-9]+)\.md")
    folder = workspace.state / _FOLDER
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        found = own.fullmatch(path.name)
        if found and not Path("/proc", found["pid"]).exists():
            yield workspace.shown(path)


def _take_away(file: Path, workspace: Workspace) -> None:
    """Remove a kept file whose text has been gone on with; a file of the author's own stays."""
    if file.absolute().parent == workspace.state / _FOLDER:
        file.unlink(missing_ok=True)


@contextmanager
def _kept_file(workspace: Workspace, case_id: str, form: bytes, verbosity: int) -> Iterator[Path]:
    """Give a file with the form; it goes when the work is done, and stays where it failed with something written."""
    path = workspace.state / _FOLDER / f"{case_id}-{os.getpid()}.md"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkspaceError(f"{path.parent} can't be made: {error.strerror}") from error
    replace_file(path, form)
    kept = f"what was written is kept in {workspace.shown(path)}; go on with `casewright edit {case_id} --from FILE`"
    try:
        yield path
    except CasewrightError as error:
        if _is_another(path, form):
            error.hint = f"{error.hint}; {kept}" if error.hint else kept
        raise
    except BaseException:
        if _is_another(path, form):
            noted(kept, verbosity=verbosity)
        raise
    else:
        path.unlink(missing_ok=True)


def _is_another(path: Path, form: bytes) -> bool:
    """Say whether a file holds something of the author's; one that does not is removed."""
    try:
        written = path.read_bytes()
    except OSError:
        # Gone, or never ours to read: then there is nothing that could be pointed at.
        return False
    if written.strip() and written != form:
        return True
    path.unlink(missing_ok=True)
    return False


def _run_editor(command: str, path: Path, folder: Path) -> None:
    code = run_attended(command, path, folder)
    if code == 0:
        return
    if code in {126, 127}:
        raise InfrastructureError(f"the editor {command!r} can't be run", "set EDITOR to one that is installed")
    number = -code if code < 0 else code - 128
    how = f"was ended by signal {number}" if 0 < number < 65 else f"ended with exit code {code}"
    raise InfrastructureError(f"the editor {command!r} {how}: the draft is as it was")


def _come_back(path: Path, name: str, before: Texts) -> Texts:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InfrastructureError(
            f"{name} can't be read any more: {error.strerror}", "the draft is as it was"
        ) from error
    texts = read_form(data, name, before) if data.strip() else Texts(task="", hints=before.hints)
    if not texts.task and before.task:
        raise RefusedError("the task came back empty: the draft is as it was")
    return texts


def _saved(workspace: Workspace, draft: Draft, texts: Texts, proposed: Proposed | None) -> Draft:
    """Put the texts into the draft as it is by now: tools and people may have changed all else meanwhile."""
    now = load_draft(workspace, draft.case.id)
    if (now.case.task, now.case.hints) != (draft.case.task, draft.case.hints):
        raise WorkspaceError(f"the texts of {draft.name} were changed by somebody else while the editor was open")
    wanted = {"task": texts.task, "hints": texts.hints}
    changes: dict[str, object] = {key: text for key, text in wanted.items() if getattr(now.case, key) != text}
    if proposed is not None and "task" in changes:
        changes["source"] = to_plain(with_proposal(now.case, proposed))["source"]
    return edit_draft(now, changes)
