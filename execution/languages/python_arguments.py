"""What pip is given, on a command line or in a requirements file, sorted by what it means. Pure reading.

A line of a file and a word of a command say the same things: a requirement, another file, a constraint, a folder of the
tree with extras. What no index holds (a version control address) and options of the installer itself are left out; so
are addresses of other indexes, since a list that a stranger can install names releases and not places.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from packaging.requirements import InvalidRequirement, Requirement

from execution.languages.base import TreeReader
from execution.languages.python_project import read_text

_FILE_OPTION = re.compile(r"^(-r|--requirements?|-c|--constraints?|--group)(?:[ =]\s*|(?=[^\s-]))?(.*)$")
_EDITABLE = re.compile(r"^(?:-e|--editable)(?:[ =]\s*|(?=[^\s-]))")
_LOCAL = re.compile(r"^(?P<path>[\w./-]*?)/?(?:\[(?P<extras>[^\]]*)\])?$")


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalPath:
    """A folder of the tree that is installed, as it is written there, with the extras that are asked of it."""

    path: str
    extras: tuple[str, ...] = ()


@dataclass(slots=True)
class Arguments:
    """What was read so far, in order: requirements, constraints, files that were read, folders and groups."""

    lines: list[str] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    paths: list[LocalPath] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)


def parse_requirement(line: str) -> Requirement | None:
    """Parse a requirement, or give None for what is none (an option, a path, a broken line)."""
    try:
        return Requirement(line)
    except InvalidRequirement:
        return None


def read_arguments(tree: TreeReader, folder: str, words: Iterable[str]) -> Arguments:
    """Sort the words that pip is given in ``folder`` (from the tree's root); an option may stand apart from its value.

    Files that they name are read along, from that folder.
    """
    found = Arguments()
    waiting = ""
    for word in words:
        if waiting:
            text, waiting = f"{waiting} {word}", ""
        elif word in {"-r", "--requirement", "-c", "--constraint", "--group", "-e", "--editable"}:
            waiting = word
            continue
        else:
            text = word
        _take(tree, folder, text, found)
    return found


def read_requirements(tree: TreeReader, path: str) -> Arguments:
    """Read a requirements file (a path from the tree's root) and those that it takes in; empty where there is none."""
    found = Arguments()
    _read_file(tree, path, found, only_constraints=False)
    return found


def local_path(text: str) -> LocalPath | None:
    """Return the folder that an argument stands for, or None when it is something else."""
    stripped = re.sub(r"\s+[;#].*$", "", text.strip())
    plain = _EDITABLE.sub("", stripped)
    named = re.match(r"^[\w.-]+\s*(?:\[(?P<extras>[^\]]*)\])?\s*@\s*(?P<place>file:.*)$", plain)
    place = named["place"] if named else plain
    from_file = place.startswith("file:")
    place = re.sub(r"^file:(?:///?)?", "", place).replace("${PROJECT_ROOT}/", "").partition("#")[0]
    match = _LOCAL.match(place)
    if match is None or not (from_file or plain != stripped or place.startswith(".")):
        return None
    extras = (named["extras"] if named else "") or match["extras"] or ""
    return LocalPath(
        path=match["path"] or ".", extras=tuple(part.strip() for part in extras.split(",") if part.strip())
    )


def _take(tree: TreeReader, folder: str, text: str, found: Arguments) -> None:
    option = _FILE_OPTION.match(text)
    if option and option[1] == "--group":
        found.groups.append(option[2].strip())
    elif option and option[2]:
        path = posixpath.normpath(posixpath.join(folder, option[2].strip()))
        _read_file(tree, path, found, only_constraints=option[1].startswith(("-c", "--c")))
    elif local := local_path(text):
        found.paths.append(local)
    elif line := _as_requirement(text):
        found.lines.append(line)


def _read_file(tree: TreeReader, path: str, found: Arguments, *, only_constraints: bool) -> None:
    content = read_text(tree, path)
    if content is None or path in found.files:
        return
    found.files.append(path)
    for line in _lines(content):
        option = _FILE_OPTION.match(line)
        if option and option[2] and option[1] != "--group":
            inner = posixpath.normpath(posixpath.join(posixpath.dirname(path), option[2].strip()))
            constrains = only_constraints or option[1].startswith(("-c", "--c"))
            _read_file(tree, inner, found, only_constraints=constrains)
        elif local := local_path(line):
            # pip takes such a path from the folder where it is run and not from the file's.
            found.paths.append(local)
        elif requirement := _as_requirement(line):
            (found.constraints if only_constraints else found.lines).append(requirement)


def _as_requirement(text: str) -> str:
    """Return a line as a requirement, of an old way to bound versions (``pytz>dev``) the name; empty for neither."""
    if parse_requirement(text) is not None:
        return text
    old = re.match(r"^([A-Za-z][\w.-]*(?:\[[\w, -]+\])?)\s*[<>=!~]=?\s*[\w.*+!-]+$", text)
    return old[1] if old and parse_requirement(old[1]) is not None else ""


def _lines(content: str) -> Iterator[str]:
    for raw in content.replace("\\\r\n", " ").replace("\\\n", " ").splitlines():
        line = re.sub(r"(^|\s)#.*$", "", raw).strip()
        # Hashes and options of one requirement stand behind it.
        line = re.sub(r"\s+--(?:hash|global-option|install-option|config-settings?)[= ]\S+", "", line).strip()
        if line:
            yield line
