"""Rust's tokens: what hides brackets, what only looks like a quote, and that every byte is accounted for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.languages.rust_tokens import Kind, UnreadableRustError, tokens_of

# Each piece is one token, whatever stands in it.
_TEXTS = (
    rb'"a \" { \\"', b'"two\nlines }"', b'b"{"', b'c"{"', b'r"\\"', b'r#"a "{ b"#', b'br##"x"# }"##', b'cr"{"',
    b"'{'", b"'\"'", rb"'\''", rb"'\\'", b"b'}'", rb"'\u{7d}'", rb"'\x7d'", "'é'".encode(), "'→'".encode(),
)  # fmt: skip
_SILENT = (
    b"// a { ' \" line\n",
    b"/* { /* nested */ ' */",
    b"//! of the file {\n",
    b"//// rule {\n",
    b" \n\t",
    b"/**/",
)
_NAMES = (b"tests", b"r#mod", "größe".encode(), b"_x1", b"r", b"b", b"c", b"br")
_OTHERS = (b"'a", b"'static", b"1_000u32", b"0x7f", b"=", b"#", b"!", b";", b"'r#loop")
_DOCS = (b"/// says {\n", b"/** says { */")


@given(st.lists(st.sampled_from([*_TEXTS, *_SILENT, *_NAMES, *_OTHERS, *_DOCS, b"{", b"}"]), max_size=12))
def test_a_file_made_of_known_tokens_reads_as_those(pieces: list[bytes]) -> None:
    source = b" ".join(pieces)
    expected = [piece.strip() for piece in pieces if piece not in _SILENT]
    assert [source[token.start : token.end].strip() for token in tokens_of(source)] == expected


@pytest.mark.parametrize("piece", _TEXTS)
def test_no_bracket_is_seen_in_a_text(piece: bytes) -> None:
    assert [token.kind for token in tokens_of(piece)] == [Kind.TEXT]


def test_a_lifetime_takes_no_letter_of_what_follows() -> None:
    source = b"fn f<'a,'b>(x: &'a str) -> char { 'a' }"
    assert [token.text for token in tokens_of(source) if token.kind in {Kind.OPEN, Kind.CLOSE}] == [
        b"(", b")", b"{", b"}"
    ]  # fmt: skip


def test_a_line_for_the_shell_is_no_token_and_an_attribute_of_the_file_is() -> None:
    assert [token.text for token in tokens_of(b"#!/usr/bin/env run 'it\nmod a;")] == [b"mod", b"a", b";"]
    assert [token.text for token in tokens_of(b"#![no_std]")] == [b"#", b"!", b"[", b"no_std", b"]"]
    assert [token.text for token in tokens_of(b"\xef\xbb\xbfmod")] == [b"mod"]


@pytest.mark.parametrize("source", [b'"', b"'", b'r#"a"', b"/* /* */", b"a ' b", b'b"x\\"'])
def test_what_no_compiler_reads_is_refused(source: bytes) -> None:
    with pytest.raises(UnreadableRustError):
        list(tokens_of(source))
