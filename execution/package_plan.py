"""How a recorded set-up fills a folder with all that it downloads, and how it installs from that folder. Pure data.

The recorded commands themselves are what is run, with network and without: the folder is offered to their package
managers by variables, and by files that are laid beside the clone where a manager knows no variable for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from execution.sandbox import CASE_DIR

# Where a sandbox sees its own copy of the folder: package managers write to what they read from.
PACKAGES_DIR: Final = f"{CASE_DIR}/packages"
# Stand for the folder in a variable's value: as a path, and as a file url (some managers part a list at blanks).
FOLDER: Final = "{folder}"
FOLDER_URL: Final = "{url}"


@dataclass(frozen=True, kw_only=True, slots=True)
class PackagePlan:
    """What a language says of a case's set-up.

    ``decided_by`` are the texts that decide which packages are needed: cases that share them share a folder.
    ``filling`` are commands for ``sh`` at the root of a plain clone at the base, with network and with ``filling_env``;
    they leave the packages in ``PACKAGES_DIR``. ``variables`` make the recorded commands install from the folder alone
    (``FOLDER`` and ``FOLDER_URL`` stand for its place); ``laid`` maps parts of it to where they are copied before the
    set-up, seen from the clone's root. ``passing`` are parts that are no packages (logs) and are not kept.
    """

    decided_by: tuple[str, ...]
    filling: tuple[str, ...]
    variables: Mapping[str, str]
    filling_env: Mapping[str, str] = field(default_factory=dict)
    laid: Mapping[str, str] = field(default_factory=dict)
    passing: tuple[str, ...] = ()


def placed(variables: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return variables with the folder's place on this machine filled in."""
    return {
        name: value.replace(FOLDER_URL, folder.as_uri()).replace(FOLDER, str(folder))
        for name, value in variables.items()
    }
