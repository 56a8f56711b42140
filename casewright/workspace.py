"""The workspace: a folder with ``casewright.yaml``, ``cases/``, ``releases/`` and the tool's own ``.casewright/``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from casewright.configuration import CONFIGURATION_SCHEMA, Configuration, read_configuration
from casewright.documents import render
from casewright.errors import WorkspaceError
from casewright.files import create_file, replace_file

CONFIGURATION = "casewright.yaml"


@dataclass(frozen=True, kw_only=True, slots=True)
class Workspace:
    """A workspace that is there; ``root`` is an absolute path."""

    root: Path

    @property
    def configuration_path(self) -> Path:
        return self.root / CONFIGURATION

    @property
    def cases(self) -> Path:
        """Where the drafts are."""
        return self.root / "cases"

    @property
    def releases(self) -> Path:
        """Where released libraries are; nothing there is ever rewritten."""
        return self.root / "releases"

    @property
    def state(self) -> Path:
        """The tool's own folder: ledger, logs, locks."""
        return self.root / ".casewright"

    @property
    def ledger(self) -> Path:
        return self.state / "ledger.db"

    @property
    def logs(self) -> Path:
        return self.state / "logs"

    def configuration(self) -> Configuration:
        """Read ``casewright.yaml``. Raises ``DocumentError`` with every fault."""
        return read_configuration(self.configuration_path, CONFIGURATION)

    def shown(self, path: Path) -> str:
        """Return a path as people are shown it: from the workspace's root where it lies inside."""
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)


def find_workspace(start: Path) -> Workspace:
    """Return the workspace that ``start`` is or lies in. Raises ``WorkspaceError`` when there is none."""
    here = start.absolute()
    if not here.is_dir():
        raise WorkspaceError(f"{start} is not a folder", "name the workspace's folder with -C DIR")
    for folder in (here, *here.parents):
        if (folder / CONFIGURATION).is_file():
            return Workspace(root=folder)
    raise WorkspaceError(
        f"no {CONFIGURATION} in {here} or above it", "make a workspace with `casewright init`, or name one with -C DIR"
    )


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


@contextmanager
def locked(workspace: Workspace, name: str = "workspace", patience: float = 0) -> Iterator[None]:
    """Hold one of the workspace's locks; another process that wants the same one is refused after ``patience`` seconds.

    Raises ``WorkspaceError`` that names the holder's process id. The operating system frees the lock of a process that
    dies, however it dies.
    """
    holder = workspace.state / f"{name}.holder"
    try:
        workspace.state.mkdir(exist_ok=True)
        lock = FileLock(workspace.state / f"{name}.lock", timeout=patience)
        lock.acquire()
    except Timeout as error:
        pid = holder.read_text(encoding="ascii").strip() if holder.exists() else "unknown"
        raise WorkspaceError(
            f"another casewright (process {pid}) is working in {workspace.root}", "wait until it has ended, or end it"
        ) from error
    except OSError as error:
        raise WorkspaceError(f"{workspace.state} can't be written: {error.strerror}", "is it read-only?") from error
    try:
        replace_file(holder, f"{os.getpid()}\n".encode("ascii"))
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


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
4. Say in the `review` part of a draft that you have read it; `casewright cut` tells the digest that goes there.
5. `casewright cut` releases the next version of the library, and `casewright check FILE` proves that it is whole.
"""
