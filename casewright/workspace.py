"""The workspace: a folder with ``casewright.yaml``, ``cases/``, ``releases/`` and the tool's own ``.casewright/``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from casewright.errors import NoWorkspaceError, WorkspaceError
from casewright.files import replace_file, sweep_staged

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

    def shown(self, path: Path) -> str:
        """Return a path as people are shown it: from the workspace's root where it lies inside."""
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)


def find_workspace(start: Path) -> Workspace:
    """Return the workspace that ``start`` is or lies in. Raises ``NoWorkspaceError`` when there is none."""
    here = start.absolute()
    if not here.is_dir():
        raise NoWorkspaceError(f"{start} is not a folder", "name the workspace's folder with -C DIR")
    for folder in (here, *here.parents):
        if (folder / CONFIGURATION).is_file():
            return Workspace(root=folder)
    raise NoWorkspaceError(
        f"no {CONFIGURATION} in {here} or above it", "make a workspace with `casewright init`, or name one with -C DIR"
    )


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
        pid = _held_by(holder)
        raise WorkspaceError(
            f"another casewright (process {pid}) is working in {workspace.root}", "wait until it has ended, or end it"
        ) from error
    except OSError as error:
        raise WorkspaceError(f"{workspace.state} can't be written: {error.strerror}", "is it read-only?") from error
    try:
        for folder in (workspace.root, workspace.cases, workspace.releases, workspace.state):
            sweep_staged(folder)
        replace_file(holder, f"{os.getpid()}\n".encode("ascii"))
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


def _held_by(holder: Path) -> str:
    try:
        return holder.read_text(encoding="ascii").strip() or "unknown"
    except OSError:
        # It has let go meanwhile.
        return "unknown"
