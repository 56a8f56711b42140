"""``lint``, ``verify`` and ``review``: what keeps drafts from being released."""

# Each command imports what it works with when it runs: `--help` and `cite` must not wait for it.

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from casewright.cli import values
from casewright.cli.options import Common, register
from casewright.cli.output import noted, printed, printed_json
from casewright.errors import DocumentError, ExitCode, UsageError

Cases = Annotated[
    list[str] | None,
    typer.Argument(metavar="[CASE]...", help="Ids of drafts; without any, all drafts.", show_default=False),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    register(app, "lint")(lint)
    register(app, "verify")(verify)
    register(app, "review")(review)


def lint(
    common: Common,
    cases: Cases = None,
    repository: Annotated[
        str | None,
        typer.Option("--repo", metavar="SOURCE", help="Read the changes anew from this history.", show_default=False),
    ] = None,
) -> int:
    """List the drafts, and what is wrong with their task texts: what they lack, give away or leave to be guessed.

    An error keeps a draft out of a release until it is mended, or waived in the draft's review section with a reason;
    a warning does not. What is known of a change is kept since it was mined; --repo reads it from a history, where a
    note says that nothing is known. Exit code 1 means that there are errors.
    """
    from authoring.lint import blocking
    from casewright.cli.lint_output import linted, linted_object, linted_text
    from casewright.workspace import find_workspace

    checked, faults = linted(find_workspace(common.directory), cases or (), repository)
    if common.json:
        printed_json([linted_object(each) for each in checked])
    elif checked:
        printed("\n".join(linted_text(each) for each in checked))
    elif not faults:
        noted("there is no draft to look at; `casewright mine SOURCE` makes some", verbosity=common.verbosity)
    for note in (note for each in checked for note in each.notes):
        noted(f"note: {note}", verbosity=common.verbosity)
    if faults:
        raise DocumentError(faults)
    return ExitCode.NO if any(blocking(each.findings) for each in checked) else ExitCode.DONE


def verify(
    common: Common,
    cases: Cases = None,
    repository: Annotated[
        str | None,
        typer.Option(
            "--repo", metavar="SOURCE", help="Take the history from here, not from each url.", show_default=False
        ),
    ] = None,
    update: Annotated[bool, typer.Option("--update", help="Write into each draft what came out.")] = False,
    offline: Annotated[
        bool, typer.Option("--offline", help="Without any network, from what `cache wheels` has fetched.")
    ] = False,
    packages: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="DIR", help="With --offline: where `cache wheels --to DIR` put it.", show_default=False
        ),
    ] = None,
) -> int:
    """Run what drafts record in a fresh plain clone, and compare.

    That is the proof that anybody can repeat: with the test part alone the check fails as recorded (an empty patch does
    not resolve the case), on the later commit it passes (the real fix does). Changes nothing unless --update. With
    --offline set-up has no network either: what it installs has to be at hand (`casewright cache wheels`), and so has
    the repository. Exit code 1 means that a record did not hold.
    """
    from casewright.cli.verification import Outcome, Reach, verified

    if packages is not None and not offline:
        raise UsageError("--from DIR is for --offline", "give both, or neither")
    reach = Reach(offline=offline, packages=packages)
    outcomes = set(verified(common, cases or (), repository, reach, update=update))
    if Outcome.DIFFERS in outcomes:
        return ExitCode.NO
    return ExitCode.COULD_NOT if Outcome.COULD_NOT in outcomes else ExitCode.DONE


def review(
    common: Common,
    case: Annotated[str, typer.Argument(metavar="CASE", help="The id of a draft.", show_default=False)],
    by: Annotated[
        str,
        typer.Option("--by", metavar="NAME", parser=values.person, help="Who has read it.", show_default=False),
    ],
    waive: Annotated[
        list[str] | None,
        typer.Option(
            "--waive",
            metavar="CODE=REASON",
            help="Let what lint says stand; repeatable.",
            show_default=False,
        ),
    ] = None,
) -> int:
    """Record that a person has read a draft's task as it stands.

    `cut` releases such drafts without being asked. When the task changes later, the draft counts as unread again. Exit
    code 1 means that the task has lint errors that nobody waived: nothing was recorded.
    """
    from datetime import UTC, datetime

    from authoring.draft import load_draft
    from authoring.known_change import known_change
    from authoring.lint import blocking, notes
    from authoring.review import review as reviewed
    from casewright.cli.lint_output import Linted, linted_object, linted_text
    from casewright.workspace import find_workspace

    waivers = dict(values.waiver(each) for each in waive or ())
    workspace = find_workspace(common.directory)
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    unread = load_draft(workspace, case)
    known = known_change(workspace, unread.case)
    draft, findings = reviewed(unread, by, day, waivers, known.words)
    blocked = bool(blocking(findings))
    shown_now = Linted(draft=draft, findings=findings, notes=notes(draft.case, known.words, known.why))
    if common.json:
        printed_json(linted_object(shown_now))
    else:
        printed(linted_text(shown_now))
    for note in shown_now.notes:
        noted(f"note: {note}", verbosity=common.verbosity)
    if blocked:
        noted("not recorded: mend the errors, or --waive CODE=REASON", verbosity=common.verbosity)
    return ExitCode.NO if blocked else ExitCode.DONE
