"""Tree screens: reasons that the names and modes of a change give, before anything is read or run. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from miner.change import SUBMODULE_MODE
from miner.inline_tests import may_hold_tests
from miner.parts import Parts, split
from miner.path_rules import PathRules, Side
from miner.reasons import Reason

_CONTROL = re.compile(rb"[\0-\x08\x0b-\x1f\x7f]")
# Shown of a list of paths in a sentence.
_SHOWN = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class SizeLimits:
    """How large the rest part of a change may be."""

    files: int = 100
    lines: int = 5000


@dataclass(frozen=True, kw_only=True, slots=True)
class Screened:
    """A reason with the paths that it is about (and a number where one counts); None is a change that passes."""

    reason: Reason | None = None
    about: tuple[bytes, ...] = ()
    count: int = 0


PASSED = Screened()


def screen(entries: Sequence[bytes], rules: PathRules, limits: SizeLimits) -> Screened:
    """Return the first reason against a change, in the order of ``miner.reasons``.

    ``entries`` are git's raw lines and paths by turns. Nearly every change of a history ends here, so nothing is made
    that the answer does not need. Where a file may hold tests beside source, names don't tell what its tests are: such
    a change passes, and ``screen_parts`` tells when the file has been read.
    """
    if not entries:
        return Screened(reason=Reason.EMPTY_CHANGE)
    decide = rules.decide
    tests = source = False
    for path in entries[1::2]:
        decision = decide(path)
        if decision.side is not Side.REST:
            tests = True
        elif decision.source:
            source = True
    if not source:
        return _NO_SOURCE if tests else _NO_TEST
    if any(may_hold_tests(raw, path, rules) for raw, path in zip(entries[::2], entries[1::2], strict=True)):
        parts = split(entries, rules)
        return _submodules(entries) or _unwritable(parts) or _too_many(parts, limits) or PASSED
    if not tests:
        return _NO_TEST
    return screen_parts(entries, split(entries, rules), limits)


_NO_TEST = Screened(reason=Reason.NO_TEST_CHANGE)
_NO_SOURCE = Screened(reason=Reason.NO_SOURCE_CHANGE)


def screen_parts(entries: Sequence[bytes], parts: Parts, limits: SizeLimits) -> Screened:
    """Return the first reason against a change that is split already."""
    if not entries:
        return Screened(reason=Reason.EMPTY_CHANGE)
    if not parts.graded and not parts.support:
        return _NO_TEST
    if not parts.source:
        return _NO_SOURCE
    return (
        _deleted_tests(entries, parts)
        or _not_runnable(parts)
        or _submodules(entries)
        or _unwritable(parts)
        or _too_many(parts, limits)
        or PASSED
    )


def all_reasons(entries: Sequence[bytes], parts: Parts, limits: SizeLimits) -> tuple[Reason, ...]:
    """Return every tree reason against a change, for ``explain``."""
    if not entries:
        return (Reason.EMPTY_CHANGE,)
    found = [
        Screened(reason=Reason.NO_TEST_CHANGE) if not parts.graded and not parts.support else None,
        Screened(reason=Reason.NO_SOURCE_CHANGE) if not parts.source else None,
        _deleted_tests(entries, parts),
        _not_runnable(parts),
        _submodules(entries),
        _unwritable(parts),
        _too_many(parts, limits),
    ]
    return tuple(screened.reason for screened in found if screened and screened.reason)


def sentence(screened: Screened) -> str:
    """Return the detail of a tree reason for a person, or an empty text where the code says it all."""
    shown = ", ".join(shown_path(path) for path in screened.about[:_SHOWN])
    more = len(screened.about) - _SHOWN
    listed = f"{shown} and {more} more" if more > 0 else shown
    match screened.reason:
        case Reason.ONLY_DELETED_TESTS:
            return f"deleted: {listed}"
        case Reason.NO_RUNNABLE_TEST_FILE:
            return f"the test part is only {listed}"
        case Reason.SUBMODULE_CHANGE:
            return f"the change moves a submodule ({listed})"
        case Reason.PATH_NOT_REPRESENTABLE:
            return f"path is not UTF-8 or holds a control character: {listed}"
        case Reason.TOO_LARGE:
            return f"the rest part has {screened.count} files"
        case _:
            return ""


def shown_path(path: bytes) -> str:
    """Return a path for people: bytes that are not UTF-8, and control characters, as ``\\xNN``."""
    text = path.decode("utf-8", "backslashreplace")
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else _escaped(letter) for letter in text)


def _escaped(letter: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in letter.encode("utf-8", "surrogatepass"))


def representable(path: bytes) -> bool:
    """Say whether a case can carry a path: UTF-8 without control characters other than newline and tab."""
    if _CONTROL.search(path):
        return False
    try:
        path.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _deleted_tests(entries: Sequence[bytes], parts: Parts) -> Screened | None:
    deleted = {path for raw, path in zip(entries[::2], entries[1::2], strict=True) if raw.endswith(b"D")}
    gone = parts.graded or parts.support
    return Screened(reason=Reason.ONLY_DELETED_TESTS, about=gone) if gone and deleted.issuperset(gone) else None


def _not_runnable(parts: Parts) -> Screened | None:
    if parts.graded_at_head or not parts.test:
        return None
    return Screened(reason=Reason.NO_RUNNABLE_TEST_FILE, about=parts.test)


def _submodules(entries: Sequence[bytes]) -> Screened | None:
    moved = tuple(
        path for raw, path in zip(entries[::2], entries[1::2], strict=True) if SUBMODULE_MODE in (raw[1:7], raw[8:14])
    )
    return Screened(reason=Reason.SUBMODULE_CHANGE, about=moved) if moved else None


def _unwritable(parts: Parts) -> Screened | None:
    bad = tuple(path for path in parts.test if not representable(path))
    return Screened(reason=Reason.PATH_NOT_REPRESENTABLE, about=bad) if bad else None


def _too_many(parts: Parts, limits: SizeLimits) -> Screened | None:
    count = len(parts.rest)
    return Screened(reason=Reason.TOO_LARGE, count=count) if count > limits.files else None
