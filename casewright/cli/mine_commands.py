"""``mine``, ``add-case``, ``explain`` and ``funnel``: from a history to drafts, and why not."""

# Each command imports what it works with when it runs: `--help` and `cite` must not wait for it.

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Final

import typer

from casewright.cli import values
from casewright.cli.options import Common, register
from casewright.cli.output import printed, printed_json
from casewright.errors import ExitCode, InvalidInputError, UsageError

_SOURCE_HELP: Final = "A git repository on this machine, or a clone url."
Source = Annotated[str, typer.Argument(metavar="SOURCE", help=_SOURCE_HELP, show_default=False)]
Repository = Annotated[str, typer.Option("--repo", metavar="SOURCE", help=_SOURCE_HELP, show_default=False)]
Repeat = Annotated[
    int | None,
    typer.Option(
        "--repeat",
        metavar="N",
        parser=values.whole_number,
        help="Run each state N times (3).",
        show_default=False,
    ),
]
TestCommand = Annotated[
    str | None,
    typer.Option(
        "--test-cmd",
        metavar="COMMAND",
        help="Run the tests by COMMAND: {files} are the graded files, {report} is where its JUnit XML or TAP goes.",
        show_default=False,
    ),
]
SetupCommand = Annotated[
    str | None,
    typer.Option(
        "--setup-cmd",
        metavar="COMMAND",
        help="Set up by COMMAND, with the network; what it leaves in the tree and in ../env is kept. Needs --test-cmd.",
        show_default=False,
    ),
]
GradeBy = Annotated[
    str,
    typer.Option("--grade-by", metavar="MODE", help="What decides: per-test, or exit-code where no report can be had."),
]
Category = Annotated[
    str | None, typer.Option("--category", metavar="WORD", help="The category of the drafts.", show_default=False)
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    register(app, "mine", jobs=True)(mine)
    register(app, "add-case")(add_case)
    register(app, "explain")(explain)
    register(app, "funnel")(funnel)


def mine(
    common: Common,
    source: Source,
    branch: Annotated[
        str | None,
        typer.Option("--branch", metavar="REF", help="The history to walk (HEAD).", show_default=False),
    ] = None,
    since: Annotated[
        int | None,
        typer.Option(
            "--since", metavar="DATE", parser=values.since, help="Committed at that date or later.", show_default=False
        ),
    ] = None,
    until: Annotated[
        int | None,
        typer.Option(
            "--until", metavar="DATE", parser=values.until, help="Committed at that date or before.", show_default=False
        ),
    ] = None,
    commit_range: Annotated[
        str | None,
        typer.Option("--range", metavar="A..B", help="Only what B has and A has not.", show_default=False),
    ] = None,
    paths: Annotated[
        list[str] | None,
        typer.Option("--paths", metavar="PATH", help="Only changes that touch PATH; repeatable.", show_default=False),
    ] = None,
    all_commits: Annotated[
        bool, typer.Option("--all", help="Walk every non-merge commit, not the first-parent line.")
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            metavar="N",
            parser=values.whole_number,
            help="Stop after the newest N changes that could be cases.",
            show_default=False,
        ),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Judge changes again that were judged before.")] = False,
    plan: Annotated[
        bool, typer.Option("--plan", help="Judge three candidates, estimate hours and disk, and stop.")
    ] = False,
    pulls: Annotated[
        bool,
        typer.Option("--prs", help="Draft tasks from the pull requests and issues of the history's forge."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only sort by names and modes: runs nothing, writes nothing.")
    ] = False,
    repeat: Repeat = None,
    test_command: TestCommand = None,
    setup_command: SetupCommand = None,
    grade_by: GradeBy = "per-test",
    category: Category = None,
) -> int:
    """Judge the changes of a history; write a draft for each case.

    A change is admitted when its tests fail on the commit before it and pass on the commit itself, several times, with
    the network cut off. Ends with the funnel: what became of every change, by reason. Run it again at any time: what is
    judged already is not judged again, and an interrupted run goes on.
    """
    from miner.history import Stretch

    if plan and dry_run:
        raise UsageError("--plan and --dry-run can't both be obeyed", "--plan runs three candidates, --dry-run none")
    stretch = Stretch(
        branch=branch or "",
        commit_range=commit_range or "",
        since=since,
        until=until,
        paths=tuple(os.fsencode(path) for path in paths or ()),
        all_commits=all_commits,
    )
    if dry_run:
        from casewright.cli.scanning import run_dry

        return run_dry(common, source, stretch, limit)
    from casewright.cli.mining import MineRequest, judging_options, run_mine

    return run_mine(
        common,
        MineRequest(
            source=source,
            stretch=stretch,
            limit=limit,
            again=again,
            plan=plan,
            pulls=pulls,
            options=judging_options(repeat, test_command, setup_command, grade_by, category),
        ),
    )


def add_case(
    common: Common,
    repository: Annotated[
        str | None, typer.Option("--repo", metavar="SOURCE", help=_SOURCE_HELP, show_default=False)
    ] = None,
    commit: Annotated[
        str | None, typer.Option("--commit", metavar="REV", help="The commit that holds the fix.", show_default=False)
    ] = None,
    pull_request: Annotated[
        str | None,
        typer.Option(
            "--pr", metavar="URL", help="A merged pull request: its url, or owner/name#12.", show_default=False
        ),
    ] = None,
    case_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="What the case is called.", show_default=False)
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Judge and show everything, write nothing.")] = False,
    repeat: Repeat = None,
    test_command: TestCommand = None,
    setup_command: SetupCommand = None,
    grade_by: GradeBy = "per-test",
    category: Category = None,
) -> int:
    """Judge one commit or one merged pull request, and write its draft if it can be proved.

    A pull request's pins are decided from git, however it landed; the task is drafted from the issues that it closes,
    else from its own text. It needs no --repo: it says itself where its history is. GitHub is asked with the token in
    GITHUB_TOKEN or GH_TOKEN, or gh's own. Exit code 1 means that the change was judged and rejected; the reason is
    printed.
    """
    from casewright.cli.mining import AddRequest, judging_options, run_add_case

    if (commit is None) == (pull_request is None):
        raise UsageError(
            "add-case takes --commit REV with --repo SOURCE, or --pr URL", "for example --commit HEAD --repo ."
        )
    if commit is not None and repository is None:
        raise UsageError("--commit needs --repo SOURCE", "for example --commit HEAD --repo .")
    return run_add_case(
        common,
        AddRequest(
            source=repository,
            commit=commit,
            pull=pull_request,
            case_id=case_id,
            dry_run=dry_run,
            options=judging_options(repeat, test_command, setup_command, grade_by, category),
        ),
    )


def explain(
    common: Common,
    repository: Repository,
    commit: Annotated[
        str | None, typer.Option("--commit", metavar="REV", help="The commit to explain.", show_default=False)
    ] = None,
    patch: Annotated[
        Path | None, typer.Option("--patch", metavar="FILE", help="A patch to explain instead.", show_default=False)
    ] = None,
    base: Annotated[
        str | None, typer.Option("--base", metavar="REV", help="The commit that the patch is for.", show_default=False)
    ] = None,
) -> int:
    """Explain how a change would be taken apart; runs nothing of it.

    Shows base and head, how the change landed, which file is a graded test, supports tests or belongs to the rest, by
    which rule, whether the parts give the head's tree again, and what speaks against the change already. In a
    workspace its globs for the repository count.
    """
    from casewright.cli.explain_output import explanation_object, explanation_text
    from casewright.repository import open_source
    from casewright.store import cache_root
    from miner.explanation import explain_commit, explain_patch
    from miner.shape_rules import shape_rules

    if (commit is None) == (patch is None):
        raise UsageError("explain takes --commit REV, or --patch FILE with --base REV", "give one of the two")
    if (patch is None) != (base is None):
        raise UsageError("--patch FILE and --base REV belong together", "give both")
    with open_source(repository, cache_root()) as opened:
        rules, limits = shape_rules(opened, common.directory)
        if commit is not None:
            explained = explain_commit(opened, commit, rules, limits)
        else:
            explained = explain_patch(opened, _patch_bytes(patch), base or "", rules, limits)
    if common.json:
        printed_json(explanation_object(explained))
    else:
        printed(explanation_text(explained))
    return ExitCode.DONE


def funnel(
    common: Common,
    reason: Annotated[
        str | None,
        typer.Option("--reason", metavar="CODE", help="List the changes that ended so.", show_default=False),
    ] = None,
    repository: Annotated[
        str | None,
        typer.Option("--repo", metavar="ID", help="Only this repository, as `mine` calls it.", show_default=False),
    ] = None,
) -> int:
    """Show what became of every change looked at so far, by reason.

    Each line is a stage with the number of changes that reached it; below it stand the reasons that stopped the others
    there. The latest attempt at a change counts.
    """
    from casewright.cli.judgement_output import (
        funnel_object,
        funnel_text,
        judgement_object,
        listed_text,
    )
    from casewright.workspace import find_workspace
    from miner.funnel import funnel as added_up
    from miner.ledger import Ledger
    from miner.reasons import Reason

    wanted = None if reason is None else _reason(reason)
    ledger = Ledger.open_to_read(find_workspace(common.directory).ledger)
    if ledger is None:
        sums = added_up(())
        printed_json(funnel_object(sums)) if common.json else printed(funnel_text(sums))
        return ExitCode.DONE
    with ledger:
        if repository is not None and repository not in ledger.repositories():
            known = ", ".join(ledger.repositories()) or "none"
            raise UsageError(f"no change of {repository!r} was looked at here", f"known are: {known}")
        if wanted is not None:
            for judgement in ledger.latest(repository=repository, reason=Reason(wanted)):
                if common.json:
                    printed_json(judgement_object(judgement), line=True)
                else:
                    printed(listed_text(judgement))
            return ExitCode.DONE
        sums = added_up(ledger.tallies(repository))
    if common.json:
        printed_json(funnel_object(sums))
    else:
        printed(funnel_text(sums))
    return ExitCode.DONE


def _reason(code: str) -> str:
    from miner.reasons import Reason

    if code not in set(Reason):
        from difflib import get_close_matches

        near = get_close_matches(code, list(Reason), n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"codes are: {', '.join(Reason)}"
        raise UsageError(f"there is no reason {code!r}", hint)
    return code


def _patch_bytes(path: Path | None) -> bytes:
    if path is None:
        raise AssertionError("a patch was asked for")
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"the patch {path} can't be read: {error.strerror}") from error
