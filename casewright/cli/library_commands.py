"""``cut``, ``withdraw``, ``check``, ``diff`` and ``cite``: released libraries."""

# Each command imports what it works with when it runs: `--help` and `cite` must not wait for it.

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from casewright.cli import values
from casewright.cli.options import Common, register
from casewright.cli.output import noted, printed, printed_json, shown
from casewright.errors import ExitCode, UsageError

Released = Annotated[Path, typer.Argument(metavar="FILE", help="A released library.", show_default=False)]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    register(app, "cut")(cut)
    register(app, "withdraw")(withdraw)
    register(app, "check")(check)
    register(app, "diff")(diff)
    register(app, "cite")(cite)


def cut(
    common: Common,
    include_auto: Annotated[
        bool, typer.Option("--include-auto", help="Take drafts that no person has read, too.")
    ] = False,
    skip_unready: Annotated[
        bool, typer.Option("--skip-unready", help="Release what is ready, leave the rest out.")
    ] = False,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", metavar="DATE", parser=values.day, help="Cases committed at DATE or later.", show_default=False
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", parser=values.whole_number, help="At most N cases.", show_default=False),
    ] = None,
    spread: Annotated[
        str | None,
        typer.Option(
            "--spread", metavar="BY", help="Choose evenly by repository,category,size,month.", show_default=False
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            metavar="N",
            parser=values.any_whole_number,
            help="Another choice of equals (0).",
            show_default=False,
        ),
    ] = None,
    allow_unlicensed: Annotated[
        bool, typer.Option("--allow-unlicensed", help="Take repositories without a known licence.")
    ] = False,
    include_exit_code: Annotated[
        bool, typer.Option("--include-exit-code", help="Take cases that the exit code grades.")
    ] = False,
    note: Annotated[
        str, typer.Option("--note", metavar="TEXT", help="What readers should know of it.", show_default=False)
    ] = "",
) -> int:
    """Release the ready drafts as the next version of the library.

    A draft is ready when it was reproduced, has no lint errors and a person has read its task. One that is not ready
    means that nothing is written and all of them are named (exit code 1). Released files are never changed: a changed
    word is a new version.
    """
    from casewright.cli.library_output import cut_object, cut_text, rejection_rows, spread_of
    from casewright.workspace import find_workspace
    from library.cut import CutOptions
    from library.cut import cut as cut_next
    from library.selection import Selection

    workspace = find_workspace(common.directory)
    options = CutOptions(
        include_auto=include_auto,
        include_exit_code=include_exit_code,
        allow_unlicensed=allow_unlicensed,
        skip_unready=skip_unready,
        selection=Selection(since=since, limit=limit, spread=spread_of(spread), seed=seed or 0),
        note=note,
    )
    report = cut_next(workspace, options, datetime.now(UTC).strftime("%Y-%m-%d"), rejection_rows(workspace))
    if common.json:
        printed_json(cut_object(report, workspace))
    else:
        printed(cut_text(report, workspace))
    return ExitCode.NO if report.left_out else ExitCode.DONE


def withdraw(
    common: Common,
    case_id: Annotated[str, typer.Argument(metavar="ID", help="The id of a released case.", show_default=False)],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, in one line.", show_default=False)],
) -> int:
    """Record that a released case is withdrawn, and why.

    The next version leaves it out and says so.
    """
    from casewright.workspace import find_workspace
    from library.withdrawal import withdraw as record

    workspace = find_workspace(common.directory)
    record(workspace, case_id, reason)
    if common.json:
        printed_json({"case": case_id, "reason": reason.strip()})
    else:
        printed(shown(f"withdrew {case_id}: {reason.strip()}"))
        noted("`casewright cut` releases a version without it", verbosity=common.verbosity)
    return ExitCode.DONE


def check(
    common: Common,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A released library.", show_default=False)
    ] = None,
    history: Annotated[
        Path | None,
        typer.Option("--history", metavar="DIR", help="Check each version in DIR and their chain.", show_default=False),
    ] = None,
    online: Annotated[bool, typer.Option("--online", help="Also look the commits up in a clone of each url.")] = False,
) -> int:
    """Prove that a released library is whole.

    Looks at its form, digests and counts, and for anything in it that contradicts itself. Needs no workspace, no
    network and no git. Exit code 1 means that it is not whole; every fault is listed with its place.
    """
    from casewright.cli.check_output import reports_object, reports_text, with_pins
    from library.check import check_file, check_history

    if (file is None) == (history is None):
        raise UsageError("check takes FILE or --history DIR", "give one of the two")
    reports = check_history(history) if history is not None else (check_file(file or Path()),)
    if online:
        reports = tuple(with_pins(report) for report in reports)
    if common.json:
        found = [reports_object(report) for report in reports]
        printed_json(found if history is not None else found[0])
    else:
        printed("\n".join(reports_text(report) for report in reports))
    return ExitCode.DONE if all(report.whole for report in reports) else ExitCode.NO


def diff(
    common: Common,
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A released library.", show_default=False)],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="A later version.", show_default=False)],
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit code 1 when they differ.")] = False,
) -> int:
    """Show what changed between two versions of a library.

    Cases added, removed and revised, and in which fields.
    """
    from casewright.cli.library_output import comparison_object, comparison_text
    from library.check import load_library
    from library.compare import compare_libraries

    comparison = compare_libraries(load_library(old), load_library(new))
    if common.json:
        printed_json(comparison_object(comparison))
    else:
        printed(comparison_text(comparison))
    differ = not comparison.same_entries or bool(comparison.header)
    return ExitCode.NO if exit_code and differ else ExitCode.DONE


def cite(
    common: Common,
    file: Released,
    case: Annotated[
        str | None, typer.Option("--case", metavar="ID", help="Cite one case of it.", show_default=False)
    ] = None,
    bibtex: Annotated[bool, typer.Option("--bibtex", help="As a BibTeX entry.")] = False,
    cff: Annotated[bool, typer.Option("--cff", help="As a citation file (CFF).")] = False,
) -> int:
    """Print how to cite a released library.

    Title, version, digest, licences, and the repositories that it is made from.
    """
    from library.check import load_library
    from library.cite import CitationForm
    from library.cite import cite as citation

    if bibtex and cff:
        raise UsageError("--bibtex and --cff can't both be obeyed", "give one of them")
    form = CitationForm.BIBTEX if bibtex else CitationForm.CFF if cff else CitationForm.TEXT
    text = citation(load_library(file), form, case).rstrip("\n")
    if common.json:
        printed_json({"form": form.value, "citation": text})
    else:
        printed(shown(text))
    return ExitCode.DONE
