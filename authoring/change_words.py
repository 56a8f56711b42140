"""What lint knows of a change: the words that only the fix brings, and those that its graded tests need.

Computed from git by ``authoring.change_reading``, kept in the workspace as one small JSON file, so that a task can be
linted where the history is not at hand. All of it is text by now: what is no UTF-8 stands as ``\\xNN``, which no task
can hold.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, Final

# Raised whenever the rules that make these records change: older files are made anew.
WORDS_SCHEMA: Final = "casewright.change-words/v2"

_LISTS: Final = (
    "test_paths", "test_names", "fix_names", "offered_names", "changed_names", "fragments", "commits", "unread",
    "removed", "said",
)  # fmt: skip


class NeedKind(StrEnum):
    """What the graded tests need. A hook is a name that a test sets in a subclass of the project's class."""

    NAME = "name"
    HOOK = "hook"
    ERROR = "error"
    KEYWORD = "keyword"
    OPTION = "option"
    MODULE = "module"
    TEXT = "text"
    VALUE = "value"


@dataclass(frozen=True, kw_only=True, slots=True)
class Need:
    """One thing that a graded test uses and that the fix brings; ``path`` is the test.

    ``elsewhere`` says that the base has the name too, but in files that the fix does not change.
    """

    kind: NeedKind
    text: str
    path: str
    elsewhere: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class RestPath:
    """A path of the rest part: whether it is source, whether the base has it, whether its test part mentions it."""

    path: str
    source: bool
    new: bool
    shown: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangeWords:
    """What lint knows of one change.

    ``fix_names`` are inner names that only the fix brings, ``offered_names`` new ones that its users could call;
    ``changed_names`` are names of the base where it changes code. The graded tests mention none of them. ``fragments``
    is code that it adds and that neither base nor tests hold: tokens separated by one blank. ``test_names`` are the
    tests that the graded files define. ``commits`` are full ids: both pins and what lies between them. ``unread`` are
    languages whose names could not be told. ``removed`` is code that it takes away, in the form of
    ``fragments``; ``said`` are the strings of one line that lines of the test part add.
    """

    repository: str
    base: str
    head: str
    rest_paths: tuple[RestPath, ...]
    test_paths: tuple[str, ...]
    test_names: tuple[str, ...]
    fix_names: tuple[str, ...]
    offered_names: tuple[str, ...]
    changed_names: tuple[str, ...]
    fragments: tuple[str, ...]
    needs: tuple[Need, ...]
    commits: tuple[str, ...]
    unread: tuple[str, ...]
    removed: tuple[str, ...] = ()
    said: tuple[str, ...] = ()


def words_bytes(words: ChangeWords) -> bytes:
    """Return the file that holds a record: JSON, in lines, for people who want to know what lint looks for."""
    return (json.dumps({"schema": WORDS_SCHEMA, **asdict(words)}, indent=1, sort_keys=True) + "\n").encode("ascii")


def read_words(data: bytes) -> ChangeWords | None:
    """Return the record in a file, or None for anything else than what ``words_bytes`` writes: it is made anew then."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.pop("schema", None) != WORDS_SCHEMA:
        return None
    if found.keys() != {each.name for each in fields(ChangeWords)}:
        return None
    try:
        return _record(found)
    except (TypeError, ValueError):
        return None


def _record(found: dict[str, Any]) -> ChangeWords:
    """Raises ``TypeError`` or ``ValueError`` for values of another shape."""
    plain = {name: _text(found[name]) for name in ("repository", "base", "head")}
    listed = {name: tuple(map(_text, _list(found[name]))) for name in _LISTS}
    return ChangeWords(
        repository=plain["repository"],
        base=plain["base"],
        head=plain["head"],
        rest_paths=tuple(_rest_path(row) for row in _list(found["rest_paths"])),
        test_paths=listed["test_paths"],
        test_names=listed["test_names"],
        fix_names=listed["fix_names"],
        offered_names=listed["offered_names"],
        changed_names=listed["changed_names"],
        fragments=listed["fragments"],
        needs=tuple(_need(row) for row in _list(found["needs"])),
        commits=listed["commits"],
        unread=listed["unread"],
        removed=listed["removed"],
        said=listed["said"],
    )


def _rest_path(row: Any) -> RestPath:
    path = RestPath(**row)
    _text(path.path)
    if not all(isinstance(flag, bool) for flag in (path.source, path.new, path.shown)):
        raise TypeError(path.path)
    return path


def _need(row: Any) -> Need:
    need = Need(**row)
    if not isinstance(need.elsewhere, bool):
        raise TypeError(need.text)
    return Need(kind=NeedKind(need.kind), text=_text(need.text), path=_text(need.path), elsewhere=need.elsewhere)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(value)
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value
