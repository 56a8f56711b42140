"""Files that are whole or not there: written beside their place, flushed to the disk, then put in place in one step."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from casewright.errors import WorkspaceError

_STAGED = re.compile(r"\..*\.(?P<pid>[0-9]+)-[0-9a-f]{16}\.tmp", re.DOTALL)


def replace_file(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path``: after a crash or a full disk the old file is there, or the new one, never a part.

    A file that is there keeps its mode; a new one gets what the umask leaves of 0666. Raises ``WorkspaceError``.
    """
    mode = path.stat().st_mode & 0o777 if path.exists() else None
    with _staged(path, data, mode) as staged:
        staged.replace(path)


def create_file(path: Path, data: bytes, mode: int | None = None) -> bool:
    """Put ``data`` at ``path`` only if nothing is there; return whether it was this call that did.

    ``mode`` is the file's mode; without it the umask decides. Of two callers at once exactly one gets True: the name is
    taken by a hard link, which never overwrites. Raises ``WorkspaceError`` when the file can't be written.
    """
    with _staged(path, data, mode) as staged:
        try:
            os.link(staged, path)
        except FileExistsError:
            return False
        _flush_folder(path.parent)
    return True


def sweep_staged(folder: Path) -> int:
    """Remove what killed processes left half-written in a folder (which need not be there); return how many files.

    A file is left alone as long as a process has the number of the one that wrote it. Raises ``WorkspaceError``.
    """
    swept = 0
    try:
        for entry in folder.iterdir() if folder.is_dir() else ():
            left = _STAGED.fullmatch(entry.name)
            if left and not Path("/proc", left["pid"]).exists():
                entry.unlink(missing_ok=True)
                swept += 1
    except OSError as error:
        raise _unwritable(folder, error) from error
    return swept


@contextmanager
def _staged(path: Path, data: bytes, mode: int | None) -> Iterator[Path]:
    staged = path.parent / f".{path.name[:100]}.{os.getpid()}-{secrets.token_hex(8)}.tmp"
    try:
        with staged.open("xb") as stream:
            stream.write(data)
            stream.flush()
            if mode is not None:
                os.fchmod(stream.fileno(), mode)
            os.fsync(stream.fileno())
        yield staged
        _flush_folder(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        staged.unlink(missing_ok=True)


def _unwritable(path: Path, error: OSError) -> WorkspaceError:
    return WorkspaceError(
        f"{path} can't be written: {error.strerror or error}", "nothing was changed; free the place or its permissions"
    )


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
