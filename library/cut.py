"""The next version of a library, from drafts: decided purely by ``prepare``, put on the disk by ``publish``.

What is not ready is named with every reason, and then nothing is written unless the caller skips it. A released file is
never rewritten: the next version gets the next number, or there is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from authoring.draft import Draft, readable_drafts
from authoring.known_change import KnownChange, known_change
from authoring.lint import blocking, lint
from casewright.configuration import Configuration, configuration_of
from casewright.errors import DocumentError, RefusedError, WorkspaceError
from casewright.files import create_file, replace_file
from casewright.hashing import canonical_bytes, digest_bytes, unrepresentable
from casewright.workspace import Workspace, locked
from library.check import check_library, load_library
from library.compare import Comparison, compare_cases
from library.counting import count_cases, filled, limits
from library.release import (
    LIBRARY_SCHEMA,
    case_digest,
    entries_digest,
    header_digest,
    library_name,
    rejections_name,
    release_bytes,
    released,
)
from library.selection import Selection, select

# Fields that say what a case asks and how it is judged; when one changes, so does what the case means.
MEANING: Final = ("repository_url", "base_commit", "grading_commit", "task", "hints", "grading")
_READ_ONLY: Final = 0o444
_PUBLIC_URL = re.compile(r"(?:https?|git|ssh)://[^/\s]+/\S+")


@dataclass(frozen=True, kw_only=True, slots=True)
class CutOptions:
    """What the caller allows and chooses; ``note`` may use the placeholders of ``library.counting.filled``."""

    include_auto: bool = False
    include_exit_code: bool = False
    allow_unlicensed: bool = False
    skip_unready: bool = False
    selection: Selection = field(default_factory=Selection)
    note: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unready:
    """A draft that can't be released as it is, and every reason why."""

    id: str
    problems: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A version that is ready to be written: its document, the file beside it, and how it differs from the last."""

    library: str
    version: int
    document: Mapping[str, Any]
    rejections: bytes
    comparison: Comparison


@dataclass(frozen=True, kw_only=True, slots=True)
class CutReport:
    """What ``cut`` did. ``path`` is None when nothing was written: unready drafts, or entries as they were before.

    ``left_out`` are the unready drafts, ``nothing_new`` says that the entries equal those of the last version.
    ``rejections`` is the file beside a written version that lists what was refused.
    """

    path: Path | None
    version: int
    entries_digest: str
    counts: Mapping[str, Any]
    limits: tuple[str, ...]
    comparison: Comparison
    left_out: tuple[Unready, ...] = ()
    nothing_new: bool = False
    rejections: Path | None = None


def cut(
    workspace: Workspace,
    options: CutOptions,
    today: str,
    rejections: Iterable[Mapping[str, Any]],
) -> CutReport:
    """Release the next version. ``today`` is the UTC day (YYYY-MM-DD), ``rejections`` the ledger's rows (JSON values).

    Raises ``RefusedError`` when a case of the last version is gone without a withdrawal, when there is nothing to
    release at all, or when another process released this version meanwhile; ``InvalidInputError`` when the last version
    is not whole; ``UsageError`` for a choice that can't be; what reading drafts and writing files raise.
    """
    options.selection.refuse_nonsense()
    configuration = configuration_of(workspace)
    previous = newest(workspace.releases, configuration.library.id)
    drafts = (
        each if isinstance(each, DocumentError) else (each, known_change(workspace, each.case))
        for each in readable_drafts(workspace)
    )
    ready, unready = sorted_out(drafts, configuration, previous, options)
    version = previous["version"] + 1 if previous else 1
    # Where nothing at all is ready, what each draft lacks says more than that there is no case.
    if unready and (not options.skip_unready or not ready):
        return _unwritten(previous, version, unready)
    missing = missing_cases(previous, {case["id"] for case in ready}, configuration)
    if missing:
        # To leave a draft out is no reason for taking back what was released.
        raise RefusedError(
            f"{', '.join(missing)}: released before, but there is no draft that is ready",
            "bring the draft back or mend it, or say why with `casewright withdraw ID --reason TEXT`",
        )
    prepared = prepare(select(ready, options.selection), previous, configuration, options, today, rejections)
    if prepared is None:
        return _unwritten(previous, version - 1, unready, nothing_new=True)
    path = publish(workspace, prepared)
    document = prepared.document
    return CutReport(
        path=path,
        version=prepared.version,
        entries_digest=document["entries_digest"],
        counts=document["counts"],
        limits=tuple(document["limits"]),
        comparison=prepared.comparison,
        left_out=unready,
        rejections=path.with_name(document["rejections"]["file"]),
    )


def _unwritten(
    previous: Mapping[str, Any] | None, version: int, unready: tuple[Unready, ...], *, nothing_new: bool = False
) -> CutReport:
    return CutReport(
        path=None,
        version=version,
        entries_digest=previous["entries_digest"] if previous else "",
        counts=previous["counts"] if previous else count_cases([]),
        limits=tuple(previous["limits"]) if previous else (),
        comparison=Comparison(added=(), removed=(), revised=()),
        left_out=unready,
        nothing_new=nothing_new,
    )


def newest(folder: Path, library: str) -> Mapping[str, Any] | None:
    """Return the newest released version of a library, checked; None when there is none."""
    files = released(folder, library)
    return load_library(files[-1].path) if files else None


def sorted_out(
    drafts: Iterable[tuple[Draft, KnownChange] | DocumentError],
    configuration: Configuration,
    previous: Mapping[str, Any] | None,
    options: CutOptions,
) -> tuple[tuple[dict[str, Any], ...], tuple[Unready, ...]]:
    """Return the ready drafts as plain cases, and the unready ones. Withdrawn drafts are neither.

    A draft comes with what is known of its change, or in its place the error that it can't be read with.
    """
    withdrawn = {row.id for row in configuration.withdrawals}
    before = {case["id"]: case for case in previous["cases"]} if previous else {}
    ready: list[dict[str, Any]] = []
    unready: list[Unready] = []
    for each in drafts:
        if isinstance(each, DocumentError):
            unready.append(Unready(id=_stem(each.faults[0]), problems=each.faults))
            continue
        draft, known = each
        if draft.case.id in withdrawn:
            continue
        problems = (*_problems(draft, known, options), *_revision_problems(draft.plain, before.get(draft.case.id)))
        if problems:
            unready.append(Unready(id=draft.case.id, problems=problems))
        else:
            ready.append(draft.plain)
    return tuple(ready), tuple(unready)


def _stem(fault: str) -> str:
    return Path(fault.split(":", 1)[0]).stem


def _problems(draft: Draft, known: KnownChange, options: CutOptions) -> Iterator[str]:
    case = draft.case
    if not case.verification.reproduced:
        yield f"was not reproduced; run `casewright verify {case.id} --update`"
    if known.words is None:
        # A leak that nobody looked for is a leak all the same.
        yield (
            f"whether the task gives its fix away can't be told, since {known.why};"
            f" `casewright lint {case.id} --repo SOURCE` tells"
        )
    for finding in blocking(lint(case, known.words)):
        yield f"{finding.field}: {finding.message}; {finding.suggestion}"
    if draft.state == "auto" and not options.include_auto:
        yield (
            f"no person has read the task as it stands; `casewright review {case.id} --by NAME` when you have,"
            " or --include-auto"
        )
    if case.grading.mode == "exit-code" and not options.include_exit_code:
        yield "is graded by the exit code alone; --include-exit-code takes it"
    if case.source.licence is None and not options.allow_unlicensed:
        yield f"the licence of {case.repository_id} is not known; set source.licence, or --allow-unlicensed"
    if not _PUBLIC_URL.fullmatch(case.repository_url):
        yield f"repository_url: {case.repository_url} is no public address; set one and verify the case again"
    fault = unrepresentable(draft.plain)
    if fault:
        yield fault


def _revision_problems(case: Mapping[str, Any], before: Mapping[str, Any] | None) -> Iterator[str]:
    if before is None:
        return
    changed = [name for name in MEANING if canonical_bytes(case[name]) != canonical_bytes(before[name])]
    if case["case_version"] < before["case_version"]:
        yield f"case_version: is {case['case_version']}, but {before['case_version']} was released"
    elif changed and case["case_version"] == before["case_version"]:
        yield f"{', '.join(changed)} changed since the last release; raise case_version"


def missing_cases(
    previous: Mapping[str, Any] | None, drafts: set[str], configuration: Configuration
) -> tuple[str, ...]:
    """Return the ids of the last version that have neither one of ``drafts`` nor a withdrawal."""
    known = drafts | {row.id for row in configuration.withdrawals}
    return tuple(case["id"] for case in previous["cases"] if case["id"] not in known) if previous else ()


def prepare(
    cases: Sequence[Mapping[str, Any]],
    previous: Mapping[str, Any] | None,
    configuration: Configuration,
    options: CutOptions,
    today: str,
    rejections: Iterable[Mapping[str, Any]],
) -> Prepared | None:
    """Return the next version, or None when its entries would equal the last one's. Pure.

    Raises ``RefusedError`` when there is no case to release, or when the release would not pass its own check.
    """
    entries = [{**case, "case_digest": case_digest(case)} for case in sorted(cases, key=lambda case: case["id"])]
    before = previous["cases"] if previous else []
    if previous and entries_digest(entries) == previous["entries_digest"]:
        return None
    if not entries:
        raise RefusedError(
            "there is no case to release", "`casewright mine` finds some; `casewright lint` says what is missing"
        )
    identity = configuration.library
    version = previous["version"] + 1 if previous else 1
    counts = count_cases(entries)
    comparison = compare_cases(before, entries)
    listed = b"".join(canonical_bytes(dict(row)) + b"\n" for row in rejections)
    document: dict[str, Any] = {
        "schema": LIBRARY_SCHEMA,
        "library": {
            "id": identity.id,
            "title": filled(identity.title, counts),
            "description": filled(identity.description, counts),
            "url": identity.url,
            "licence": identity.licence,
            "maintainers": list(identity.maintainers),
        },
        "version": version,
        "published": today,
        "previous": {"version": version - 1, "entries_digest": previous["entries_digest"]} if previous else None,
        "changes": {
            "added": list(comparison.added),
            "removed": list(comparison.removed),
            "revised": [{"id": one.id, "fields": list(one.fields)} for one in comparison.revised],
            "note": filled(options.note, counts),
        },
        "counts": counts,
        "selection": options.selection.plain(),
        "limits": limits(identity.maintainers, counts, identity.limits),
        "rejections": {
            "file": rejections_name(identity.id, version),
            "sha256": digest_bytes(listed).removeprefix("sha256:"),
        },
        "withdrawn": _withdrawn(previous, configuration, {case["id"] for case in entries}),
        "header_digest": "",
        "entries_digest": entries_digest(entries),
        "cases": entries,
    }
    document["header_digest"] = header_digest(document)
    _refuse_unfit(document)
    return Prepared(library=identity.id, version=version, document=document, rejections=listed, comparison=comparison)


def _refuse_unfit(document: Mapping[str, Any]) -> None:
    """Hold a release against its own check before it is written: prose with wrong numbers, odd characters in a note."""
    faults = check_library(release_bytes(document), "the release").faults
    if faults:
        more = f" (and {len(faults) - 3} more)" if len(faults) > 3 else ""
        raise RefusedError(f"the release would not pass its own check: {'; '.join(faults[:3])}{more}")


def _withdrawn(previous: Mapping[str, Any] | None, configuration: Configuration, ids: set[str]) -> list[dict[str, str]]:
    """Return the withdrawn cases of all versions so far; one that came back is withdrawn no more."""
    rows = {row["id"]: dict(row) for row in previous["withdrawn"]} if previous else {}
    reasons = {row.id: row.reason for row in configuration.withdrawals}
    for case in previous["cases"] if previous else []:
        if case["id"] in reasons:
            rows[case["id"]] = {
                "id": case["id"],
                "case_digest": case["case_digest"],
                "reason": reasons[case["id"]],
            }
    return [rows[case_id] for case_id in sorted(rows.keys() - ids)]


def publish(workspace: Workspace, prepared: Prepared) -> Path:
    """Write a prepared version and the rejections beside it, read-only, and return its path.

    The library's own file comes last and only where none is: whoever else cut the same version gets ``RefusedError``.
    """
    path = workspace.releases / library_name(prepared.library, prepared.version)
    beside = workspace.releases / rejections_name(prepared.library, prepared.version)
    taken = RefusedError(
        f"{workspace.shown(path)} was released meanwhile and is never rewritten", "run `casewright cut` again"
    )
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise WorkspaceError(f"{path.parent} can't be made: {error.strerror}") from error
    # Only the one who holds the lock may put the rejections in place, or a loser would replace the winner's.
    with locked(workspace, "releases", patience=30):
        if path.exists():
            raise taken
        replace_file(beside, prepared.rejections)
        beside.chmod(_READ_ONLY)
        if not create_file(path, release_bytes(prepared.document), _READ_ONLY):
            raise taken
    return path
