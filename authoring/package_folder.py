"""The packages of a case in a folder: fetched once with network, shown to suffice without, and found again later.

A folder is put in place only after the recorded set-up has been run from it in a fresh clone with the network denied:
what is missing from it shows then, not in ten years.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from authoring.case import Case
from authoring.clone_run import CACHING, CloneRun, how, with_cache
from authoring.recorded_case import language_of, runtime_of, url_of
from casewright.errors import InfrastructureError, PackagesError, machine_error
from casewright.file_copies import copy_tree
from casewright.repository import Repository
from casewright.store import DOWNLOADS, PACKAGES, Store, remove_tree
from execution.build import BUILD_LIMITS, download_key
from execution.languages.base import Language
from execution.package_plan import PACKAGES_DIR, PackagePlan, placed
from execution.packages import (
    MANIFEST,
    Content,
    Manifest,
    check_folder,
    contents,
    folder_key,
    platform_name,
    write_manifest,
)
from execution.recipe import Runtime
from execution.sandbox import Ended, Mount, Sandbox, SandboxOutcome

# Seen from inside a sandbox, whose variables name the folder there.
_INSIDE: Final = Path(PACKAGES_DIR)
_MOST_NAMED: Final = 5
_STAGED: Final = re.compile(r"\..*\.(?P<pid>[0-9]+)-[0-9a-f]{16}\.part", re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class PackageFolder:
    """A folder that was checked; it is read, never written. ``manifest`` tells what it holds."""

    path: Path
    manifest: Manifest

    @contextmanager
    def laid_out(self, case: Path) -> Iterator[Mount]:
        """Copy the folder and lay out what belongs beside the clone at ``case``/repo; give the mount of the copy.

        The copy is there for package managers that write to what they read from. Raises ``InfrastructureError`` when
        there is no room for it.
        """
        copy = case.parent / "packages"
        try:
            copy_tree(self.path, copy)
            for part, place in self.manifest.laid.items():
                target = Path(os.path.normpath(case / "repo" / place))
                if (copy / part).is_dir():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    copy_tree(copy / part, target)
        except OSError as error:
            raise no_room(error, copy) from error
        try:
            yield Mount(source=copy, target=PACKAGES_DIR, writable=True)
        finally:
            remove_tree(copy)

    @property
    def variables(self) -> Mapping[str, str]:
        """The variables that make the recorded commands install from the copy, inside a sandbox."""
        return placed(self.manifest.variables, _INSIDE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Filled:
    """A folder of packages, and whether it was filled now (else it was there)."""

    folder: PackageFolder
    fresh: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class _Needs:
    """A case's packages on this machine: how they are fetched, and the name of their folder."""

    case: Case
    language: Language
    runtime: Runtime
    plan: PackagePlan
    key: str


def _needs(case: Case, *, offline: bool = False) -> _Needs:
    language = language_of(case)
    runtime = runtime_of(case, language, offline=offline)
    plan = language.packages(case.environment.setup, case.base_commit)
    key = folder_key(plan, language.name, runtime)
    return _Needs(case=case, language=language, runtime=runtime, plan=plan, key=key)


@contextmanager
def filled_folder(
    case: Case, repository: Repository, sandbox: Sandbox, store: Store, pass_env: tuple[str, ...] = ()
) -> Iterator[Filled]:
    """Give the folder of a case's packages, filled now unless it is in the store, whole, already.

    Raises ``UsageError`` for a set-up whose downloads nobody can know, ``PackagesError`` when a file can't be had or is
    not the one that was recorded, or what was fetched does not suffice; ``InfrastructureError`` for the network and the
    disk.
    """
    needs = _needs(case)
    fresh: list[Manifest] = []

    def make(staging: Path) -> None:
        fresh.append(_fill(staging, needs, repository, sandbox, store, pass_env))

    def healthy(place: Path) -> bool:
        try:
            check_folder(place, needs.key)
        except PackagesError:
            return False
        return True

    with store.entry(PACKAGES, needs.key, make, healthy) as place:
        manifest = fresh[0] if fresh else check_folder(place, needs.key)
        yield Filled(folder=PackageFolder(path=place, manifest=manifest), fresh=bool(fresh))


@contextmanager
def kept_folder(case: Case, store: Store, place: Path | None = None) -> Iterator[PackageFolder]:
    """Give the folder of a case's packages as it is: ``place``, or its subfolder of the case's id, or the store's.

    Nothing is fetched; a case that installs nothing gets an empty folder. Raises ``PackagesError`` that names what is
    missing, and what ``filled_folder`` raises besides.
    """
    needs = _needs(case, offline=True)
    if not needs.plan.decided_by:
        with store.scratch() as empty:
            yield PackageFolder(path=empty, manifest=_manifest(needs, {}))
        return
    if place is not None:
        found = place / case.id if (place / case.id).is_dir() else place
        yield PackageFolder(path=found, manifest=check_folder(found, needs.key))
        return
    with store.kept(PACKAGES, needs.key) as kept:
        if kept is None:
            raise PackagesError(
                f"the packages of {case.id} were never fetched: {_named(case)}",
                f"run `casewright cache wheels {case.id}` where there is a network",
            )
        yield PackageFolder(path=kept, manifest=check_folder(kept, needs.key))


def _named(case: Case) -> str:
    names = case.environment.dependencies
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}" if names else "what its set-up asks for"


def _fill(
    staging: Path, needs: _Needs, repository: Repository, sandbox: Sandbox, store: Store, pass_env: tuple[str, ...]
) -> Manifest:
    """Fetch the packages into ``staging``, write down what they are, and show that they suffice."""
    case = needs.case
    if needs.plan.filling:
        with store.scratch() as work, store.shared(DOWNLOADS, download_key(case.repository_id)) as cache:
            clone = _clone(work, case, repository)
            mounts = (with_cache(cache), Mount(source=staging, target=PACKAGES_DIR, writable=True))
            run = _run_of(needs, sandbox, clone, mounts, pass_env)
            _fetch(run, needs, store)
    for part in needs.plan.passing:
        _remove(staging / part)
    manifest = _manifest(needs, contents(staging))
    write_manifest(staging, manifest)
    folder = PackageFolder(path=staging, manifest=manifest)
    with store.scratch() as work:
        clone = _clone(work, case, repository)
        with folder.laid_out(clone) as mount:
            _show_that_it_suffices(_run_of(needs, sandbox, clone, (mount,)), folder, needs, store)
    return manifest


def _manifest(needs: _Needs, files: Mapping[str, Content]) -> Manifest:
    return Manifest(
        key=needs.key,
        case=needs.case.id,
        record_digest=needs.case.verification.record_digest,
        language=needs.language.name,
        runtime=f"{needs.runtime.name} {needs.runtime.version}",
        platform=platform_name(),
        setup=needs.case.environment.setup,
        variables=needs.plan.variables,
        laid=needs.plan.laid,
        files=files,
    )


def _fetch(run: CloneRun, needs: _Needs, store: Store) -> None:
    _check_out(run, needs.case)
    env = {**CACHING, **needs.plan.filling_env}
    for number, command in enumerate(needs.plan.filling, start=1):
        outcome = run.run(command, BUILD_LIMITS, network=True, env=env)
        if not _went_well(outcome):
            store.require_room()
            said = needs.language.failed_set_up(f"fetching the packages of {needs.case.id}, step {number}", outcome)
            raise PackagesError(said, "nothing was kept; see what the package index says of them")


def _show_that_it_suffices(run: CloneRun, folder: PackageFolder, needs: _Needs, store: Store) -> None:
    _check_out(run, needs.case)
    for number, command in enumerate(needs.case.environment.setup, start=1):
        outcome = run.run(command, BUILD_LIMITS, env=folder.variables)
        if not _went_well(outcome):
            store.require_room()
            raise PackagesError(
                f"what was fetched for {needs.case.id} does not suffice without a network: set-up command {number}:"
                f" {how(outcome)}",
                "nothing was kept; this case can be set up with a network only",
            )


def _clone(work: Path, case: Case, repository: Repository) -> Path:
    """Make a stranger's clone in a folder; return what CASE_DIR is to be, which holds it as ``repo``."""
    place = work / "case"
    place.mkdir()
    repository.plain_clone(place / "repo", url_of(case))
    return place


def _run_of(
    needs: _Needs, sandbox: Sandbox, clone: Path, mounts: tuple[Mount, ...], pass_env: tuple[str, ...] = ()
) -> CloneRun:
    return CloneRun(
        language=needs.language, runtime=needs.runtime, sandbox=sandbox, case=clone, mounts=mounts, pass_env=pass_env
    )


def _check_out(run: CloneRun, case: Case) -> None:
    outcome = run.check_out(case.base_commit, BUILD_LIMITS)
    if not _went_well(outcome):
        raise InfrastructureError(
            f"the base commit of {case.id} could not be checked out: {how(outcome)}", "look at the repository"
        )


def _went_well(outcome: SandboxOutcome) -> bool:
    return outcome.ended is Ended.EXITED and outcome.exit_code == 0


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)


def copy_folder(folder: PackageFolder, to: Path) -> bool:
    """Copy a folder of packages to a place of the user's; return whether anything was written.

    The place is empty, not there yet, or holds the very same already. It is filled in one step: an interruption leaves
    it as it was. Raises ``PackagesError`` for a place that holds something else, ``InfrastructureError`` for the disk.
    """
    if (to / MANIFEST).is_file():
        check_folder(to, folder.manifest.key)
        return False
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise PackagesError(f"{to} holds something else already", "name an empty folder, or one that is not there yet")
    staged = to.parent / f".{to.name[:100]}.{os.getpid()}-{secrets.token_hex(8)}.part"
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        _sweep(to.parent)
        copy_tree(folder.path, staged)
        staged.replace(to)
    except OSError as error:
        raise no_room(error, to) from error
    finally:
        remove_tree(staged)
    return True


def _sweep(folder: Path) -> None:
    """Remove what copies that were killed have left beside their places."""
    for entry in folder.iterdir():
        left = _STAGED.fullmatch(entry.name)
        if left and not Path("/proc", left["pid"]).exists():
            remove_tree(entry)


def no_room(error: OSError, place: Path) -> InfrastructureError:
    """Return what to tell of a copy that the system refused."""
    told = machine_error(error)
    return told or InfrastructureError(f"the packages can't be copied to {place}: {error.strerror or error}")
