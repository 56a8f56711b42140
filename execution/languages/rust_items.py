"""The items of a Rust source file that exist in tests only, each with its lines. Pure.

An item counts where it stands at the top of the file and an attribute of its own keeps it to test builds:
``#[cfg(test)]``, ``#[cfg(all(test, …))]``, ``#[test]``. At the top of a file the order of items means nothing to the
compiler (macros apart), which is what makes it possible to take such items out and to put others in.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from execution.languages.inline_item import InlineItem, UnsafeItemError
from execution.languages.rust_tokens import Kind, Token, UnreadableRustError, tokens_of

# What ends with a semicolon, whatever braces come before it.
_STATEMENTS: Final = frozenset({b"use", b"static", b"type"})
_NAMED: Final = frozenset({b"mod", b"fn", b"struct", b"enum", b"union", b"trait", b"static", b"type", b"const"})
_QUALIFIERS: Final = frozenset({b"pub", b"unsafe", b"async", b"default", b"safe"})
_PAIRS: Final = {b"(": b")", b"[": b"]", b"{": b"}"}
_REST_OF_LINE: Final = re.compile(rb"[ \t\r]*(?://[^\n]*)?(?:\n|\Z)")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Attribute:
    """What one outer attribute says of its item; ``end`` is the index of the token after it."""

    end: int
    only_in_tests: bool = False
    marks_test: bool = False
    shares_macros: bool = False


def items_of_tests(source: bytes) -> tuple[InlineItem, ...]:
    """Return the items of test builds, in order. Raises ``UnsafeItemError`` where their lines can't be told."""
    try:
        return tuple(_items(source, tuple(tokens_of(source))))
    except UnreadableRustError as error:
        raise UnsafeItemError(str(error)) from error


def _items(source: bytes, tokens: Sequence[Token]) -> Iterator[InlineItem]:
    newlines = [match.start() for match in re.finditer(rb"\n", source)]
    place = 0
    while place < len(tokens):
        start = place
        attributes = list(_attributes(tokens, place))
        place = attributes[-1].end if attributes else place
        if place >= len(tokens):
            return
        end = _end_of_item(tokens, place)
        if any(one.only_in_tests or one.marks_test for one in attributes):
            head = tokens[place:end]
            label, selects = _called(head, marked=any(one.marks_test for one in attributes))
            first = bisect_right(newlines, tokens[start].start - 1) + 1
            _require_own_lines(source, tokens[start], tokens[end - 1], f"{label} in line {first}")
            yield InlineItem(
                label=label,
                first=first,
                lines=bisect_right(newlines, tokens[end - 1].end - 1) + 2 - first,
                selects=selects,
                bound=label.startswith("macro_rules") or any(one.shares_macros for one in attributes),
            )
        place = end


def _attributes(tokens: Sequence[Token], place: int) -> Iterator[_Attribute]:
    """Give the outer attributes and documentation from a place on; one of the file itself belongs to no item."""
    while place < len(tokens):
        if tokens[place].kind is Kind.DOC:
            place += 1
            yield _Attribute(end=place)
        elif _reads(tokens, place, b"#", b"["):
            end = _closing(tokens, place + 1) + 1
            yield _attribute(tokens[place + 2 : end - 1], end)
            place = end
        else:
            return


def _attribute(inside: Sequence[Token], end: int) -> _Attribute:
    words = [token.text for token in inside]
    path = words[: words.index(b"(")] if b"(" in words else words
    name = path[-1] if path else b""
    return _Attribute(
        end=end,
        only_in_tests=path == [b"cfg"] and _implies_test(inside[2:-1]),
        marks_test=name in {b"test", b"bench"},
        shares_macros=name in {b"macro_use", b"macro_export"},
    )


def _implies_test(predicate: Sequence[Token]) -> bool:
    """Whether a cfg predicate holds in test builds alone. ``not`` and what is unknown do not tell so."""
    words = [token.text for token in predicate]
    if words == [b"test"]:
        return True
    if len(words) < 3 or words[1] != b"(":
        return False
    implied = [_implies_test(part) for part in _parts(predicate[2:-1])]
    if words[0] == b"all":
        return any(implied)
    return words[0] == b"any" and bool(implied) and all(implied)


def _parts(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    depth = start = 0
    for place, token in enumerate(tokens):
        depth += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
        if depth == 0 and token.text == b",":
            yield tokens[start:place]
            start = place + 1
    if start < len(tokens):
        yield tokens[start:]


def _end_of_item(tokens: Sequence[Token], place: int) -> int:
    """Return the index after an item's last token: a semicolon, or the brace that closes it."""
    if _reads(tokens, place, b"#", b"!", b"["):
        return _closing(tokens, place + 2) + 1
    statement = _is_statement(tokens, place)
    while place < len(tokens):
        token = tokens[place]
        if token.text == b";":
            return place + 1
        if token.kind is Kind.OPEN:
            place = _closing(tokens, place)
            if token.text == b"{" and not statement:
                return place + 1
        elif token.kind is Kind.CLOSE:
            raise UnreadableRustError(f"the bracket at byte {token.start} closes nothing")
        place += 1
    return place


def _is_statement(tokens: Sequence[Token], place: int) -> bool:
    place = _after_qualifiers(tokens, place)
    words = [token.text for token in tokens[place : place + 2]]
    if words[:1] == [b"const"]:
        return words[1:] not in ([b"fn"], [b"unsafe"], [b"async"], [b"extern"], [b"{"])
    return words[:1] != [] and (words[0] in _STATEMENTS or words == [b"extern", b"crate"])


def _after_qualifiers(tokens: Sequence[Token], place: int) -> int:
    while place < len(tokens) and tokens[place].text in _QUALIFIERS:
        place += 1
        if tokens[place - 1].text == b"pub" and _reads(tokens, place, b"("):
            place = _closing(tokens, place) + 1
    return place


def _called(tokens: Sequence[Token], *, marked: bool) -> tuple[str, str]:
    """Return what an item is called, and which tests it holds."""
    start = _after_qualifiers(tokens, 0)
    words = [token.text.decode("utf-8", "replace") for token in tokens[start : start + 4]]
    if words[:2] == ["const", "fn"]:
        words = words[1:]
    if words[:2] == ["macro_rules", "!"]:
        return " ".join(["macro_rules!", *words[2:3]]), ""
    if len(words) > 1 and words[0].encode() in _NAMED:
        label, name = " ".join(words[:2]), words[1].removeprefix("r#")
        if words[0] == "mod":
            return label, f"{name}::" if words[2:3] == ["{"] else ""
        return label, name if words[0] == "fn" and marked else ""
    if words[:2] == ["extern", "crate"]:
        return " ".join(words[:3]), ""
    return "".join(words[:2]) if words[1:2] == ["!"] else words[0] if words else "", ""


def _require_own_lines(source: bytes, first: Token, last: Token, called: str) -> None:
    before = source[source.rfind(b"\n", 0, first.start) + 1 : first.start]
    if before.strip() or not _REST_OF_LINE.match(source, last.end):
        raise UnsafeItemError(f"{called} shares a line with something else")


def _reads(tokens: Sequence[Token], place: int, *words: bytes) -> bool:
    return tuple(token.text for token in tokens[place : place + len(words)]) == words


def _closing(tokens: Sequence[Token], place: int) -> int:
    """Return the index of the bracket that closes the one at ``place``."""
    wanted: list[bytes] = []
    for index in range(place, len(tokens)):
        token = tokens[index]
        if token.kind is Kind.OPEN:
            wanted.append(_PAIRS[token.text])
        elif token.kind is Kind.CLOSE:
            if token.text != wanted.pop():
                raise UnreadableRustError(f"the bracket at byte {token.start} does not close the last one")
            if not wanted:
                return index
    raise UnreadableRustError(f"the bracket at byte {tokens[place].start} is never closed")
