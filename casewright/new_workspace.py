"""Making a workspace: its folders, a first configuration, and a readme that says what to do next."""

from __future__ import annotations

from pathlib import Path

from casewright.configuration import CONFIGURATION_SCHEMA
from casewright.documents import render
from casewright.errors import WorkspaceError
from casewright.files import create_file
from casewright.workspace import Workspace


def init_workspace(folder: Path) -> tuple[Workspace, tuple[Path, ...]]:
    """Make a workspace and return it with the files that were written, in order.

    A readme that is there is left alone. Raises ``WorkspaceError`` when the folder is a workspace already or can't be
    written; nothing that is there is overwritten.
    """
    workspace = Workspace(root=folder.absolute())
    if workspace.configuration_path.exists():
        raise WorkspaceError(f"{workspace.configuration_path} is there already", "edit it, or choose another folder")
    try:
        for part in (workspace.cases, workspace.releases, workspace.state):
            part.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkspaceError(f"{folder} can't be made a workspace: {error.strerror}") from error
    files = {
        workspace.state / ".gitignore": "*\n",
        workspace.root / "README.md": _README,
        workspace.configuration_path: _first_configuration(workspace.root.name),
    }
    return workspace, tuple(path for path, text in files.items() if create_file(path, text.encode()))


def _first_configuration(folder_name: str) -> str:
    slug = "-".join("".join(c if c.isascii() and c.isalnum() else " " for c in folder_name.lower()).split())
    identity: dict[str, object] = {
        "id": slug or "library",
        "title": "Benchmark cases for coding agents",
        "description": "Mined from public history. Cases: {cases}; repositories: {repositories}.",
        "url": None,
        "licence": None,
        "maintainers": [],
    }
    return render(
        {"schema": CONFIGURATION_SCHEMA, "library": identity, "repositories": {}},
        {
            "schema": "What casewright knows of this workspace. Every key is described in docs/reference.md.",
            "library": (
                "The header of each release. {cases}, {repositories}, {languages} and {categories} are filled in."
            ),
            "repositories": "Overrides by repository id, for example\n"
            "  repositories:\n"
            "    pallets/click:\n"
            "      licence: BSD-3-Clause\n"
            "      tests: {support: [docs/samples/**]}\n"
            "      categories: [{category: parser, paths: [src/click/parser.py]}]",
        },
    )


_README = """\
# A casewright workspace

- `casewright.yaml`: who publishes the library, and what to know about each repository.
- `cases/`: one draft for each case. Read and edit them; your comments and your order stay.
- `releases/`: the versions that were released. They are never rewritten.
- `.casewright/`: the ledger of everything that was looked at, logs and locks.

What to do next:

1. `casewright mine URL-OR-FOLDER --limit 20` looks at a repository's newest changes and writes a draft for each that
   can be proved.
2. `casewright funnel` shows what became of every change, with the reasons.
3. Read the drafts in `cases/`: make each task say what should happen, not where; `casewright lint` helps.
4. `casewright review CASE --by NAME` records that you have read a draft's task, as it stands then.
5. `casewright cut` releases the next version of the library, and `casewright check FILE` proves that it is whole.
"""
