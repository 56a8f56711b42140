"""Which of many words a tree holds, told by one pass of ``git grep``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from casewright.git_command import Git

# What ``git grep`` ends with when nothing matches.
_NOTHING_FOUND = 1
_SPECIAL = re.compile(rb"[][{}()\\*+?.|^$]")


def words_in_tree(
    git: Git, tree: str, words: Collection[bytes], scratch: Path, patterns: Sequence[str] = ()
) -> set[bytes]:
    """Return those words that stand whole in some text file of a tree; ``scratch`` is a file that may be written.

    Words are bytes without a newline; ``patterns`` are git's pathspecs of the files to look into, all without any. A
    word that stands only within a longer one that was asked for too counts as found: git reports one match for each
    place.
    """
    wanted = {word for word in words if word and b"\n" not in word and b"\0" not in word}
    if not wanted:
        return set()
    # One pattern: git tries several by turns on each line, which takes minutes where a common word is among them.
    scratch.write_bytes(b"|".join(_SPECIAL.sub(rb"\\\g<0>", word) for word in sorted(wanted)) + b"\n")
    found: set[bytes] = set()
    try:
        arguments = ("grep", "-I", "-h", "-o", "-w", "-E", "--no-color", "-f", str(scratch), tree, "--", *patterns)
        for line in _lines(git.stream(*arguments, also=_NOTHING_FOUND)):
            found.add(line)
            if len(found) == len(wanted):
                break
    finally:
        scratch.unlink(missing_ok=True)
    phrases = b"\n".join(longer for longer in found if re.search(rb"\W", longer))
    return {word for word in wanted if word in found or _stands_in(word, phrases)}


def _stands_in(word: bytes, phrases: bytes) -> bool:
    return re.search(rb"(?<!\w)" + re.escape(word) + rb"(?!\w)", phrases) is not None


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole
    if rest:
        yield rest
