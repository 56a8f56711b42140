"""``verify`` from drafts to printed outcomes: each case by itself, so that one that can't be tried stops no other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from authoring.case import Case, with_record_digest
from authoring.desk import UNPUBLISHED
from authoring.draft import Draft, list_drafts, load_draft, update_record
from authoring.package_folder import kept_folder
from authoring.sources import source_of
from authoring.verify import verify
from casewright.cli.opened import Opened
from casewright.cli.options import Common
from casewright.cli.output import noted, printed, printed_json, shown, styled
from casewright.cli.progress import duration
from casewright.cli.version import tool_version
from casewright.configuration import configuration_of
from casewright.errors import InfrastructureError, RepositoryError, SourceError, WorkspaceError
from casewright.store import Store
from casewright.workspace import Workspace, find_workspace, locked
from execution.sandbox import Sandbox
from execution.sandboxes import choose


class Outcome(StrEnum):
    """What came of one case."""

    HOLDS = "reproduced"
    DIFFERS = "differs"
    COULD_NOT = "infrastructure"


@dataclass(frozen=True, kw_only=True, slots=True)
class Reach:
    """What a verification may reach: with ``offline`` nothing beyond this machine, and the packages of a folder there
    (``packages``) or of the cache."""

    offline: bool = False
    packages: Path | None = None


def verified(
    common: Common, cases: Sequence[str], source: str | None, reach: Reach, *, update: bool
) -> Iterator[Outcome]:
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
    configuration = configuration_of(workspace)
    with ExitStack() as stack:
        if update:
            stack.enter_context(locked(workspace))
        bench = _Bench(sandbox=choose(), store=Store(), reach=reach, opened=Opened(stack, offline=reach.offline))
        for draft in drafts:
            url = source or source_of(workspace, draft.case.repository_id, draft.case.repository_url)
            noted(f"verifying {draft.case.id}", verbosity=common.verbosity)
            pass_env = configuration.repository(draft.case.repository_id).setup.pass_env
            outcome, detail, milliseconds = _tried(draft.case, url, bench, pass_env)
            if update and outcome is not Outcome.COULD_NOT:
                try:
                    _record(draft, outcome)
                except WorkspaceError as error:
                    # Somebody has edited the record meanwhile: that is one case, and no reason to leave the others.
                    outcome, detail = Outcome.COULD_NOT, str(error)
            _print(common, workspace, draft, outcome, detail, milliseconds)
            yield outcome


@dataclass(frozen=True, kw_only=True, slots=True)
class _Bench:
    sandbox: Sandbox
    store: Store
    reach: Reach
    opened: Opened


def _tried(case: Case, url: str, bench: _Bench, pass_env: tuple[str, ...]) -> tuple[Outcome, str, int]:
    if url.startswith(UNPUBLISHED):
        return (
            Outcome.COULD_NOT,
            "nobody has said what a stranger would clone; name the repository with --repo SOURCE",
            0,
        )
    try:
        repository = bench.opened(url, bench.store)
        with ExitStack() as stack:
            packages = (
                stack.enter_context(kept_folder(case, bench.store, bench.reach.packages))
                if bench.reach.offline
                else None
            )
            found = verify(case, repository, bench.sandbox, bench.store, pass_env=pass_env, packages=packages)
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
