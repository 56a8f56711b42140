"""Copies of folders whose bytes neither side can change for the other: by reflink where that can be, else whole.

A hard link would be cheaper and is never made: whoever writes through one name changes what the other one reads, and
what is copied here goes to strangers' code.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from casewright.errors import InvalidInputError

# From linux/fs.h: make a file share another's blocks until one of them is written.
_FICLONE: Final = 0x40049409


def copy_tree(source: Path, target: Path) -> None:
    """Copy a folder to ``target``, which must not be there: files, folders and symlinks, with modes and times.

    Every file and folder of the copy can be written by its owner. Raises ``InvalidInputError`` for what is none of the
    three (a socket, a device), and ``OSError`` as the system does; then a part of the copy is there.
    """
    target.mkdir()
    for place, entry in _below(source, target):
        state = entry.stat(follow_symlinks=False)
        if entry.is_symlink():
            place.symlink_to(os.readlink(entry.path))  # noqa: PTH115 - scandir gives texts
        elif entry.is_dir(follow_symlinks=False):
            place.mkdir()
            place.chmod(stat.S_IMODE(state.st_mode) | stat.S_IRWXU)
        elif entry.is_file():
            copy_file(Path(entry.path), place)
        else:
            raise InvalidInputError(f"{entry.path} is neither a file nor a folder nor a symlink", "remove it")


def copy_file(source: Path, target: Path) -> None:
    """Copy one regular file with its mode and times; ``target`` must not be there. Raises ``OSError``."""
    with source.open("rb") as there, target.open("xb") as here:
        try:
            fcntl.ioctl(here.fileno(), _FICLONE, there.fileno())
        except OSError:
            # Most file systems can't, and none can to another one; each says so by an error number of its own.
            shutil.copyfileobj(there, here, 1024 * 1024)
    shutil.copystat(source, target)
    target.chmod(stat.S_IMODE(target.stat().st_mode) | stat.S_IRUSR | stat.S_IWUSR)


def _below(source: Path, target: Path) -> Iterator[tuple[Path, os.DirEntry[str]]]:
    """Give every entry below ``source``, a folder before what is in it, with its place below ``target``."""
    with os.scandir(source) as entries:
        for entry in entries:
            yield target / entry.name, entry
            if entry.is_dir(follow_symlinks=False):
                yield from _below(Path(entry.path), target / entry.name)
