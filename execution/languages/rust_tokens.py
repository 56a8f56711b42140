"""The tokens of a Rust source file: where names, brackets and comments lie. Pure; bytes in, places out.

Small and exact in what it tells apart: nested comments, strings and raw strings of every prefix, characters and
lifetimes, raw names. Numbers and operators come as single letters, since nothing here asks for more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple


class Kind(StrEnum):
    """What a token is. ``DOC`` is a comment that documents what follows; other comments are no tokens."""

    NAME = "name"
    TEXT = "text"
    OPEN = "open"
    CLOSE = "close"
    DOC = "doc"
    OTHER = "other"


class Token(NamedTuple):
    """One token: ``source[start:end]``. ``text`` is empty for what only its place matters of (strings, docs)."""

    kind: Kind
    text: bytes
    start: int
    end: int


class UnreadableRustError(ValueError):
    """A source that no compiler would take apart either; the message names the byte."""


_TOKEN: Final = re.compile(
    rb"""
    (?P<space>\s+)
  | (?P<doc>///(?!/)[^\n]*)
  | (?P<line>//[^\n]*)
  | (?P<block>/\*)
  | (?P<raw>(?:b|c)?r(?P<hashes>\#*)")
  | (?P<string>[bc]?"(?:[^"\\]|\\.)*")
  | (?P<char>b?'(?:[^'\\\n\r\t\x80-\xff]|[\xc0-\xff][\x80-\xbf]+|\\(?:u\{[0-9A-Fa-f_]*\}|x[0-9A-Fa-f]{2}|.))')
  | (?P<lifetime>'(?:r\#)?[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*)
  | (?P<name>(?:r\#)?[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*)
  | (?P<number>[0-9][A-Za-z0-9_]*)
  | (?P<open>[(\[{])
  | (?P<close>[)\]}])
  | (?P<other>[^'"])
    """,
    re.VERBOSE | re.DOTALL,
)
# A line that starts the file, for the shell: `#![…]` begins with the same letters and is an attribute.
_SHEBANG: Final = re.compile(rb"#!(?!\s*\[)[^\n]*")
_COMMENT_EDGE: Final = re.compile(rb"/\*|\*/")
_DOC_BLOCK: Final = re.compile(rb"/\*\*(?![*/])")
_UNSAID: Final = frozenset({"space", "line"})
_KINDS: Final = {
    "doc": Kind.DOC,
    "string": Kind.TEXT,
    "char": Kind.TEXT,
    "name": Kind.NAME,
    "open": Kind.OPEN,
    "close": Kind.CLOSE,
}


def tokens_of(source: bytes) -> Iterator[Token]:
    """Yield the tokens of a source file in order. Raises ``UnreadableRustError`` where none begins."""
    shebang = _SHEBANG.match(source)
    place = shebang.end() if shebang else 3 if source.startswith(b"\xef\xbb\xbf") else 0
    while place < len(source):
        match = _TOKEN.match(source, place)
        if match is None or match.lastgroup is None:
            raise UnreadableRustError(f"a quote at byte {place} has no end")
        # The group that matched first is the token's; `hashes` lies inside of `raw`.
        group = "raw" if match["raw"] is not None else match.lastgroup
        end = match.end()
        if group == "block":
            end = _block_end(source, place)
            kind = Kind.DOC if _DOC_BLOCK.match(source, place) else None
        elif group == "raw":
            end = _raw_end(source, match)
            kind = Kind.TEXT
        else:
            kind = None if group in _UNSAID else _KINDS.get(group, Kind.OTHER)
        if kind is not None:
            said = source[place:end] if kind in {Kind.NAME, Kind.OPEN, Kind.CLOSE, Kind.OTHER} else b""
            yield Token(kind, said, place, end)
        place = end


def _block_end(source: bytes, start: int) -> int:
    depth = 0
    for edge in _COMMENT_EDGE.finditer(source, start):
        depth += 1 if edge[0] == b"/*" else -1
        if depth == 0:
            return edge.end()
    raise UnreadableRustError(f"the comment at byte {start} has no end")


def _raw_end(source: bytes, match: re.Match[bytes]) -> int:
    closing = b'"' + match["hashes"]
    end = source.find(closing, match.end())
    if end < 0:
        raise UnreadableRustError(f"the string at byte {match.start()} has no end")
    return end + len(closing)
