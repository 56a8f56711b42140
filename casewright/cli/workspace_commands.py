"""``init``, ``doctor``, ``cache`` and ``schema``: the workspace, the machine and the cache."""

# Each command imports what it works with when it runs: `--help` and `cite` must not wait for it.

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from casewright.cli.options import Common, group, register
from casewright.cli.output import noted, printed, printed_json, size_shown, table
from casewright.cli.values import byte_size
from casewright.errors import ExitCode, UsageError


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    register(app, "init")(init)
    register(app, "doctor")(doctor)
    register(app, "schema")(schema)
    cache = group(app, "cache", "List and prune the cache: clones, environments, downloads.")
    register(cache, "list")(cache_list)
    register(cache, "prune")(cache_prune)
    register(cache, "wheels")(cache_wheels)


def init(
    common: Common,
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="Where to make it; default: here.", show_default=False)
    ] = None,
) -> int:
    """Make a workspace: a folder for drafts, releases and settings.

    Writes casewright.yaml, cases/, releases/ and a README that says what to do next. Nothing that is there is
    overwritten.
    """
    from casewright.new_workspace import init_workspace

    workspace, written = init_workspace(common.directory / folder if folder else common.directory)
    if common.json:
        printed_json({"workspace": str(workspace.root), "written": [str(path) for path in written]})
    else:
        printed("\n".join(f"wrote {workspace.shown(path)}" for path in written))
        noted(f"{workspace.root} is a workspace now; its README.md says what to do next", verbosity=common.verbosity)
    return ExitCode.DONE


def doctor(common: Common) -> int:
    """Show what this machine can do, and what to do where it can't.

    Looks at git, the language runtimes, the sandbox, the cache and the disk. Exit code 3 means that no case can be
    admitted here: the findings say what blocks it and which line changes that.
    """
    from casewright.cli.machine import Standing, examine

    findings = examine()
    if common.json:
        printed_json(
            {
                "able": all(finding.standing is not Standing.BLOCKS for finding in findings),
                "findings": [
                    {
                        "subject": finding.subject,
                        "standing": finding.standing.value,
                        "detail": finding.detail,
                        "remedy": finding.remedy,
                    }
                    for finding in findings
                ],
            }
        )
    else:
        rows = []
        for finding in findings:
            rows.append((finding.standing.value, finding.subject, finding.detail))
            if finding.remedy:
                rows.append(("", "", f"-> {finding.remedy}"))
        printed(table(rows))
    blocked = [finding for finding in findings if finding.standing is Standing.BLOCKS]
    if blocked:
        noted("no case can be admitted on this machine until that is mended", verbosity=common.verbosity)
    return ExitCode.COULD_NOT if blocked else ExitCode.DONE


def schema(
    common: Common,  # noqa: ARG001 - a schema is JSON whatever the format
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="draft, configuration or library.", show_default=False)
    ] = None,
) -> int:
    """Print the JSON Schema of drafts, settings or libraries.

    An editor that is told of it checks cases/*.yaml and casewright.yaml while you type. Without NAME: all of them, in
    one object.
    """
    from library.schemas import json_schemas

    schemas = json_schemas()
    if name is not None and name not in schemas:
        raise UsageError(f"there is no schema {name!r}", f"choose one of {', '.join(schemas)}")
    printed_json(schemas if name is None else schemas[name])
    return ExitCode.DONE


def cache_list(common: Common) -> int:
    """List what the cache holds, the least recently used first."""
    from casewright.store import Store

    store = Store()
    entries = store.entries()
    total = sum(entry.size for entry in entries)
    if common.json:
        printed_json(
            {
                "folder": str(store.root),
                "bytes": total,
                "entries": [
                    {"kind": entry.kind, "key": entry.key, "bytes": entry.size, "used": _moment(entry.used)}
                    for entry in entries
                ],
            }
        )
        return ExitCode.DONE
    rows = [(entry.kind, entry.key, size_shown(entry.size), _moment(entry.used)) for entry in entries]
    if rows:
        printed(table(rows, ("kind", "key", "size", "last used"), right=(2,)))
    noted(f"{len(entries)} entries, {size_shown(total)} in {store.root}", verbosity=common.verbosity)
    return ExitCode.DONE


def cache_prune(
    common: Common,
    keep: Annotated[
        int | None,
        typer.Option(
            "--keep", metavar="SIZE", parser=byte_size, help="How much may stay, such as 5G (20G).", show_default=False
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Remove all that is not in use.")] = False,
) -> int:
    """Remove what was used least recently, down to a bound.

    What is in use stays. Nothing is lost but time: what is needed again is made or downloaded again.
    """
    from casewright.store import DEFAULT_BOUND_BYTES, Store

    if everything and keep is not None:
        raise UsageError("--keep and --all can't both be obeyed", "give one of them")
    store = Store()
    store.sweep()
    removed = store.prune(DEFAULT_BOUND_BYTES if keep is None else keep, everything=everything)
    freed = sum(entry.size for entry in removed)
    if common.json:
        printed_json({"removed": [{"kind": entry.kind, "key": entry.key} for entry in removed], "bytes": freed})
    else:
        printed(f"removed {len(removed)} entries, {size_shown(freed)}")
    return ExitCode.DONE


def cache_wheels(
    common: Common,
    cases: Annotated[
        list[str] | None,
        typer.Argument(metavar="[CASE]...", help="Whose packages to fetch; without any, a list.", show_default=False),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="DIR", help="Put them into this folder too.", show_default=False),
    ] = None,
    library: Annotated[
        Path | None,
        typer.Option("--library", metavar="FILE", help="Take the cases from this released file.", show_default=False),
    ] = None,
    repository: Annotated[
        str | None,
        typer.Option(
            "--repo", metavar="SOURCE", help="Take the history from here, not from each url.", show_default=False
        ),
    ] = None,
) -> int:
    """Fetch all that a case's set-up downloads, once and for good.

    Every file is held to its recorded hash, and the set-up is then run from the folder with the network denied: what is
    missing shows now. `casewright verify --offline` uses it, and the last lines printed are the variables by which the
    recorded commands use it by hand. With several cases, DIR gets a folder for each. What is there already is checked
    and left alone. Without CASE: the packages that the stored environments hold, with exact versions.
    """
    from casewright.cli.fetching import fetched, fetched_object, fetched_text
    from casewright.cli.stored_packages import stored_packages
    from casewright.store import Store

    if cases:
        for each in fetched(common, cases, library, repository, to):
            if common.json:
                printed_json(fetched_object(each), line=True)
            else:
                printed(fetched_text(each))
        return ExitCode.DONE
    if to is not None or library is not None or repository is not None:
        raise UsageError("--to, --library and --repo are for packages of a case", "name a CASE")
    packages = stored_packages(Store())
    if common.json:
        printed_json([{"package": package, "environments": count} for package, count in packages.items()])
    elif packages:
        rows = [(package, f"{count:,}") for package, count in packages.items()]
        printed(table(rows, ("package", "environments")))
    noted(f"{len(packages)} packages", verbosity=common.verbosity)
    return ExitCode.DONE


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
