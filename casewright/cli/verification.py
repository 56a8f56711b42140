"""``verify`` from drafts to printed outcomes: each case by itself, so that one that can't be tried stops no other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from enum import StrEnum

from authoring.case import Case, with_record_digest
from authoring.desk import UNPUBLISHED
from authoring.draft import Draft, list_drafts, load_draft, update_record
from authoring.sources import source_of
from authoring.verify import verify
from casewright.cli.options import Common
from casewright.cli.output import noted, printed, printed_json, shown, styled
from casewright.cli.progress import duration
from casewright.cli.version import tool_version
from casewright.errors import InfrastructureError, RepositoryError, SourceError, WorkspaceError
from casewright.repository import Repository, open_source
from casewright.store import Store
from casewright.workspace import Workspace, find_workspace, locked
from execution.sandbox import Sandbox
from execution.sandboxes import choose


class Outcome(StrEnum):
    """What came of one case."""

    HOLDS = "reproduced"
    DIFFERS = "differs"
    COULD_NOT = "infrastructure"


def verified(common: Common, cases: Sequence[str], source: str | None, *, update: bool) -> Iterator[Outcome]:
    """Verify drafts (all where none is named), print each outcome as it comes, and yield it.

    Raises ``DocumentError`` and ``InvalidInputError`` for a draft that can't be read, before anything runs, and
    ``SandboxUnavailableError`` where nothing may be run.
    """
    workspace = find_workspace(common.directory)
    names = cases or list_drafts(workspace)
    # An edited record is what `--update` mends; without it, it is a fault like any other.
    drafts = [load_draft(workspace, name, edited_record=update) for name in names]
    if not drafts:
        noted("there is no draft to verify; `casewright mine SOURCE` makes some", verbosity=common.verbosity)
        return
    sandbox = choose()
    store = Store()
    with ExitStack() as stack:
        if update:
            stack.enter_context(locked(workspace))
        opened: dict[str, Repository] = {}
        for draft in drafts:
            url = source or source_of(workspace, draft.case.repository_id, draft.case.repository_url)
            noted(f"verifying {draft.case.id}", verbosity=common.verbosity)
            outcome, detail, milliseconds = _tried(draft.case, url, opened, stack, sandbox, store)
            if update and outcome is not Outcome.COULD_NOT:
                try:
                    _record(draft, outcome)
                except WorkspaceError as error:
                    # Somebody has edited the record meanwhile: that is one case, and no reason to leave the others.
                    outcome, detail = Outcome.COULD_NOT, str(error)
            _print(common, workspace, draft, outcome, detail, milliseconds)
            yield outcome


def _tried(
    case: Case, url: str, opened: dict[str, Repository], stack: ExitStack, sandbox: Sandbox, store: Store
) -> tuple[Outcome, str, int]:
    if url.startswith(UNPUBLISHED):
        return (
            Outcome.COULD_NOT,
            "nobody has said what a stranger would clone; name the repository with --repo SOURCE",
            0,
        )
    try:
        if url not in opened:
            opened[url] = stack.enter_context(open_source(url, store.root, whole=True))
        found = verify(case, opened[url], sandbox, store)
    except (InfrastructureError, RepositoryError, SourceError) as error:
        return Outcome.COULD_NOT, str(error), 0
    return (Outcome.DIFFERS if found.difference else Outcome.HOLDS), found.difference, found.milliseconds


def _record(draft: Draft, outcome: Outcome) -> None:
    """Write the outcome into the draft; its record is sealed anew, edits by hand included: they were just tried."""
    verification = draft.case.verification.model_copy(
        update={
            "reproduced": outcome is Outcome.HOLDS,
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
            "tool": tool_version(),
        }
    )
    update_record(draft, with_record_digest(draft.case.model_copy(update={"verification": verification})))


def _print(
    common: Common, workspace: Workspace, draft: Draft, outcome: Outcome, detail: str, milliseconds: int
) -> None:
    if common.json:
        printed_json(
            {
                "case": draft.case.id,
                "outcome": outcome.value,
                "difference": detail or None,
                "seconds": milliseconds / 1000,
            },
            line=True,
        )
        return
    style = {Outcome.HOLDS: "good", Outcome.DIFFERS: "bad", Outcome.COULD_NOT: "bad"}[outcome]
    took = f" ({duration(milliseconds / 1000)})" if milliseconds else ""
    lines = [f"{styled(f'{outcome.value:14}', style)}  {workspace.shown(draft.path)}{took}"]
    lines += [" " * 16 + line for line in shown(detail).splitlines()]
    printed("\n".join(lines))
