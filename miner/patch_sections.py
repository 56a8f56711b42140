"""A patch taken apart by file: for each file its path, how it changes, and its piece of the patch, byte for byte."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

# Not splitlines: a carriage return in the middle of a line ends no line of a patch.
_LINE: Final = re.compile(rb"[^\n]*\n|[^\n]+")
_HUNK: Final = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_REGULAR: Final = b"100644"
_NOTHING: Final = b"000000"
_ESCAPE: Final = re.compile(rb"\\([0-7]{3}|[abtnvfr\"\\])")
_LETTERS: Final = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """One file of a patch.

    ``path`` is where it is afterwards (before, where it is deleted); ``moved_from`` where a rename took it from, or
    None. ``old_mode`` and ``new_mode`` are six octal digits, zeros where there is no file. ``lines`` counts what is
    added and removed. ``data`` is this file's piece of the patch.
    """

    path: bytes
    moved_from: bytes | None
    old_mode: bytes
    new_mode: bytes
    lines: int
    data: bytes

    @property
    def entries(self) -> tuple[bytes, ...]:
        """The change as git's raw lines and paths by turns; object ids are zeros, since a patch names none surely."""
        zero = b"0" * 40
        status = b"A" if self.old_mode == _NOTHING else b"D" if self.new_mode == _NOTHING else b"M"
        if self.moved_from is None:
            return (b" ".join((b":" + self.old_mode, self.new_mode, zero, zero, status)), self.path)
        gone = b" ".join((b":" + self.old_mode, _NOTHING, zero, zero, b"D"))
        come = b" ".join((b":" + _NOTHING, self.new_mode, zero, zero, b"A"))
        return (gone, self.moved_from, come, self.path)


def sections(patch: bytes) -> tuple[Section, ...]:
    """Take a patch apart, as ``git diff`` or ``diff -u`` writes it; what stands before the first file is left out.

    A patch without any file gives nothing. Whatever stands in a hunk is content: its lines are counted.
    """
    starts = _starts(patch)
    pieces = [patch[start:end] for start, end in pairwise([*starts, len(patch)])]
    return tuple(section for section in map(_section, pieces) if section is not None)


def changed_lines(piece: bytes) -> tuple[frozenset[int], frozenset[int]]:
    """Return the lines that one file's piece of a patch adds, numbered at the head, and those that it removes."""
    gained: set[int] = set()
    lost: set[int] = set()
    old = new = old_left = new_left = 0
    for line in piece.split(b"\n"):
        if old_left <= 0 and new_left <= 0:
            hunk = _HUNK.match(line)
            if hunk:
                old, new = int(hunk[1]), int(hunk[3])
                old_left, new_left = (int(count) if count is not None else 1 for count in (hunk[2], hunk[4]))
            continue
        if line.startswith(b"+"):
            gained.add(new)
        elif line.startswith(b"-"):
            lost.add(old)
        if not line.startswith((b"+", b"\\")):
            old, old_left = old + 1, old_left - 1
        if not line.startswith((b"-", b"\\")):
            new, new_left = new + 1, new_left - 1
    return frozenset(gained), frozenset(lost)


def _starts(patch: bytes) -> list[int]:
    """Return where each file begins: at ``diff --git``, or at ``---`` where a patch has none of those."""
    with_git: list[int] = []
    without: list[int] = []
    place = old = new = 0
    before = b""
    for line in _LINE.findall(patch):
        hunk = _HUNK.match(line)
        if old > 0 or new > 0:
            old -= line[:1] in {b" ", b"-", b"\n", b"\r"}
            new -= line[:1] in {b" ", b"+", b"\n", b"\r"}
        elif hunk:
            old, new = (int(count) if count is not None else 1 for count in (hunk[2], hunk[4]))
        elif line.startswith(b"diff --git "):
            with_git.append(place)
        elif line.startswith(b"+++ ") and before.startswith(b"--- "):
            without.append(place - len(before))
        before = line
        place += len(line)
    return with_git or without


def _section(piece: bytes) -> Section | None:
    header, _, _ = piece.partition(b"\n@@ ")
    facts = dict(_facts(header))
    old, new = facts.get(b"---"), facts.get(b"+++")
    first, second = _git_names(header.split(b"\n", 1)[0])
    before = facts.get(b"rename from") or _without_prefix(old) or first
    after = facts.get(b"rename to") or _without_prefix(new) or second
    path = after or before
    if path is None:
        return None
    mode = facts.get(b"old mode") or facts.get(b"index mode") or _REGULAR
    added = b"new file mode" in facts or old == b"/dev/null"
    deleted = b"deleted file mode" in facts or new == b"/dev/null"
    return Section(
        path=before if deleted and before else path,
        moved_from=before if b"rename from" in facts else None,
        old_mode=_NOTHING if added else facts.get(b"deleted file mode", mode),
        new_mode=_NOTHING if deleted else facts.get(b"new file mode") or facts.get(b"new mode") or mode,
        lines=_count_lines(piece),
        data=piece,
    )


def _facts(header: bytes) -> list[tuple[bytes, bytes]]:
    found = []
    for line in header.split(b"\n")[0 if header.startswith(b"--- ") else 1 :]:
        for name in (b"old mode", b"new mode", b"deleted file mode", b"new file mode", b"rename from", b"rename to"):
            if line.startswith(name + b" "):
                value = line[len(name) + 1 :]
                found.append((name, _unquoted(value) if name.startswith(b"rename") else value.strip()))
        if line.startswith((b"--- ", b"+++ ")):
            found.append((line[:3], _unquoted(line[4:].split(b"\t", 1)[0].rstrip(b"\r"))))
        index = re.fullmatch(rb"index [0-9a-f]+\.\.[0-9a-f]+ ([0-7]{6})", line)
        if index:
            found.append((b"index mode", index[1]))
    return found


def _git_names(line: bytes) -> tuple[bytes | None, bytes | None]:
    """Return the two names of ``diff --git a/X b/X``, which are equal wherever no other line tells them."""
    rest = line.removeprefix(b"diff --git ")
    if rest == line:
        return None, None
    quoted = re.fullmatch(rb'("(?:[^"\\]|\\.)*") ("(?:[^"\\]|\\.)*")', rest)
    if quoted:
        return _without_prefix(_unquoted(quoted[1])), _without_prefix(_unquoted(quoted[2]))
    half = (len(rest) - 1) // 2
    first, second = rest[:half], rest[half + 1 :]
    return _without_prefix(first), _without_prefix(second)


def _without_prefix(name: bytes | None) -> bytes | None:
    if name is None or name == b"/dev/null":
        return None
    # ``a/`` and ``b/``, or whatever one folder stands there; git apply drops one component too.
    return name.split(b"/", 1)[1] if b"/" in name else name


def _unquoted(name: bytes) -> bytes:
    """Return a name without git's C-style quotes."""
    if not (len(name) > 1 and name.startswith(b'"') and name.endswith(b'"')):
        return name

    def letter(match: re.Match[bytes]) -> bytes:
        code = match[1]
        return bytes([int(code, 8)]) if len(code) == 3 else _LETTERS.get(code, code)

    return _ESCAPE.sub(letter, name[1:-1])


def _count_lines(piece: bytes) -> int:
    _, _, body = piece.partition(b"\n@@ ")
    return sum(line[:1] in {b"+", b"-"} for line in body.split(b"\n")[1:])
