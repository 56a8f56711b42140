"""``cache wheels CASE``: from cases to folders of packages, one after another, and what is said of each."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from authoring.case import Case
from authoring.desk import UNPUBLISHED
from authoring.draft import load_draft
from authoring.package_folder import copy_folder, filled_folder
from authoring.sources import source_of
from casewright.cli.opened import Opened
from casewright.cli.options import Common
from casewright.cli.output import noted, size_shown
from casewright.configuration import configuration_of
from casewright.errors import NoWorkspaceError, UsageError
from casewright.store import Store
from casewright.workspace import Workspace, find_workspace
from execution.package_plan import placed
from execution.packages import Manifest, content_digest
from execution.sandboxes import choose
from library.check import load_library
from library.release import find_case


@dataclass(frozen=True, kw_only=True, slots=True)
class Fetched:
    """The packages of a case at ``folder``; ``fresh`` says that something was fetched or copied now."""

    case: str
    folder: Path
    manifest: Manifest
    fresh: bool


def fetched(
    common: Common, names: Sequence[str], library: Path | None, source: str | None, to: Path | None
) -> Iterator[Fetched]:
    """Fetch the packages of each case and give what came of it, before the next one begins.

    Raises ``UsageError`` for a case whose set-up nobody can know, ``InvalidInputError`` and ``DocumentError`` for a
    case that there is none or that can't be read, before anything runs; ``PackagesError``, ``InfrastructureError``.
    """
    workspace = _workspace(common, needed=library is None)
    cases = [_case(workspace, library, name) for name in names]
    store = Store()
    store.sweep()
    sandbox = choose()
    with ExitStack() as stack:
        opened = Opened(stack)
        for case in cases:
            noted(f"fetching the packages of {case.id}", verbosity=common.verbosity)
            repository = opened(source or _place(workspace, case), store)
            with filled_folder(case, repository, sandbox, store, _passed(workspace, case)) as filled:
                folder, fresh = filled.folder, filled.fresh
                if to is not None:
                    place = to.absolute() / case.id if len(cases) > 1 else to.absolute()
                    fresh = copy_folder(folder, place) or fresh
                else:
                    place = folder.path
                yield Fetched(case=case.id, folder=place, manifest=folder.manifest, fresh=fresh)


def _workspace(common: Common, *, needed: bool) -> Workspace | None:
    try:
        return find_workspace(common.directory)
    except NoWorkspaceError:
        if needed:
            raise
        return None


def _case(workspace: Workspace | None, library: Path | None, name: str) -> Case:
    if library is not None:
        entry = find_case(load_library(library), name)
        plain = {key: value for key, value in entry.items() if key != "case_digest"}
        return Case.model_validate_json(json.dumps(plain), strict=True)
    if workspace is None:
        raise NoWorkspaceError("there is no workspace here", "name one with -C DIR")
    return load_draft(workspace, name).case


def _place(workspace: Workspace | None, case: Case) -> str:
    place = source_of(workspace, case.repository_id, case.repository_url) if workspace else case.repository_url
    if place.startswith(UNPUBLISHED):
        raise UsageError(f"nobody has said what a stranger would clone for {case.id}", "name it with --repo SOURCE")
    return place


def _passed(workspace: Workspace | None, case: Case) -> tuple[str, ...]:
    """Return the variables that set-up may see, as the workspace says, where there is one."""
    return configuration_of(workspace).repository(case.repository_id).setup.pass_env if workspace else ()


def fetched_object(each: Fetched) -> dict[str, object]:
    """Return what came of one case, for JSON."""
    return {
        "case": each.case,
        "folder": str(each.folder),
        "fresh": each.fresh,
        "files": len(each.manifest.files),
        "bytes": each.manifest.size,
        "digest": content_digest(each.manifest.files),
        "variables": placed(each.manifest.variables, each.folder),
        "laid": {str(each.folder / part): place for part, place in each.manifest.laid.items()},
    }


def fetched_text(each: Fetched) -> str:
    """Return what came of one case, and how its recorded commands install from there, for people."""
    count = len(each.manifest.files)
    how = "fetched" if each.fresh else "at hand"
    lines = [f"{how}  {each.case}: {count:,} files, {size_shown(each.manifest.size)}, in {each.folder}"]
    if count:
        variables = placed(each.manifest.variables, each.folder)
        lines.append(f"  export {' '.join(f'{name}={shlex.quote(value)}' for name, value in variables.items())}")
        lines += [
            f"  mkdir -p {shlex.quote(place.rpartition('/')[0])} && cp -R {shlex.quote(str(each.folder / part))}"
            f" {shlex.quote(place)}"
            for part, place in each.manifest.laid.items()
            if any(path.startswith(f"{part}/") for path in each.manifest.files)
        ]
    return "\n".join(lines)
