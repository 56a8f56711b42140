"""``edit`` and ``show``: one case under an author's hands, and before a reader's eyes."""

# Each command imports what it works with when it runs: `--help` and `cite` must not wait for it.

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from casewright.cli.options import Common, register
from casewright.cli.output import noted, printed, printed_json
from casewright.errors import ExitCode, UsageError

_Source = Annotated[
    str | None,
    typer.Option("--repo", metavar="SOURCE", help="Take the history from here.", show_default=False),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    register(app, "edit")(edit)
    register(app, "show")(show)


def edit(
    common: Common,
    case: Annotated[str, typer.Argument(metavar="CASE", help="The id of a draft.", show_default=False)],
    propose: Annotated[
        bool, typer.Option("--propose", help="Begin with the text that your command in casewright.yaml proposes.")
    ] = False,
    begin: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Begin with this text, or with a kept edit.", show_default=False),
    ] = None,
    repository: _Source = None,
) -> int:
    """Edit a draft's task and hints in your editor, and lint them when it closes.

    The editor is VISUAL, else EDITOR, else the one that git opens. Sources and findings stand below the texts. All else
    in the draft stays as it is. Exit code 1 means that the task was emptied, or that there are lint errors.
    """
    from authoring.lint import blocking
    from casewright.cli.editing import Beginning
    from casewright.cli.editing import edit as edited
    from casewright.cli.lint_output import Linted, linted_object, linted_text
    from casewright.workspace import find_workspace

    if propose and begin is not None:
        raise UsageError("--propose and --from each give the text to begin with", "give one of the two")
    workspace = find_workspace(common.directory)
    beginning = Beginning(file=begin, proposal=propose, source=repository)
    done = edited(workspace, case, beginning, verbosity=common.verbosity)
    shown_now = Linted(draft=done.draft, findings=done.judged.findings)
    if not done.changed:
        noted("nothing was changed", verbosity=common.verbosity)
    if common.json:
        printed_json({**linted_object(shown_now), "changed": done.changed})
    else:
        printed(linted_text(shown_now))
    return ExitCode.NO if blocking(done.judged.findings) else ExitCode.DONE


def show(
    common: Common,
    case: Annotated[
        str, typer.Argument(metavar="CASE", help="The id of a draft or of a released case.", show_default=False)
    ],
    library: Annotated[
        Path | None,
        typer.Option("--library", metavar="FILE", help="Show the case of this released file.", show_default=False),
    ] = None,
    draft: Annotated[bool, typer.Option("--draft", help="Show the draft, also of a released case.")] = False,
    html: Annotated[
        str | None,
        typer.Option(
            "--html", metavar="FILE", help="Write one page to look at (- for standard output).", show_default=False
        ),
    ] = None,
    repository: _Source = None,
) -> int:
    """Show a whole case: its texts with their findings, its pins, files, tests, proof, commands and provenance.

    A case that the newest release holds is shown as released, any other as its draft stands. The page of --html is one
    file that runs nothing and loads nothing; it holds the diffs of both parts where the history is at hand.
    """
    from casewright.cli.looking import page_written, released_view, workspace_view
    from casewright.cli.show_output import view_object, view_text

    if library is not None and draft:
        raise UsageError("a released file holds no draft", "give --library or --draft")
    if library is not None:
        view = released_view(common.directory, case, library, repository)
    else:
        view = workspace_view(common.directory, case, repository, draft=draft, verbosity=common.verbosity)
    if html is not None:
        page_written(view, html, verbosity=common.verbosity)
        return ExitCode.DONE
    if common.json:
        printed_json(view_object(view))
    else:
        printed(view_text(view))
    return ExitCode.DONE
