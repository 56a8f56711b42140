"""A text for the candidate is read strictly and settled without touching what its writer meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from authoring.candidate_text import read_candidate_text, settled
from casewright.errors import InvalidInputError


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("", ""),
        (" \n\t\n", ""),
        ("no", "no\n"),
        ("\n\n  code\n\n\nmore  \n\n", "  code\n\n\nmore\n"),
        ("```\ncode \n\n \t\n\tmore\t \n``` ", "```\ncode\n\n\n\tmore\n```\n"),
        ("a\u00a0\n", "a\u00a0\n"),
        ("# heading\n", "# heading\n"),
    ],
)
def test_blanks_and_blank_lines_at_the_ends_mean_nothing_and_one_newline_ends_the_text(written: str, kept: str) -> None:
    assert settled(written) == kept


@given(st.text(alphabet=" \t\nab#\u00a0\u2028", max_size=30))
def test_settling_is_done_once(text: str) -> None:
    assert settled(settled(text)) == settled(text)
    lines = [line.rstrip(" \t") for line in text.split("\n")]
    assert settled(text).strip("\n") == "\n".join(lines).strip("\n")
    assert not any(line.endswith((" ", "\t")) for line in settled(text).split("\n"))


def test_a_run_of_blanks_inside_a_text_takes_no_time_to_speak_of() -> None:
    assert settled("a" + " " * 200_000 + "b") == "a" + " " * 200_000 + "b\n"


def test_crlf_and_a_byte_order_mark_are_an_editors_business() -> None:
    assert read_candidate_text(b"\xef\xbb\xbfa\r\nb\r\n", "x") == "a\nb\n"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"a\nb\x1b[31m\n", "x, line 2: holds U+001B"),
        (b"a\rb", "x, line 1: holds U+000D"),
        ("a\n\n\x85".encode(), "x, line 3: holds U+0085"),
        (b"\x7f", "x, line 1: holds U+007F"),
        (b"a\n\xff", "x, line 2: not UTF-8 (byte 0xff)"),
        (b"\xed\xa0\x80", "x, line 1: not UTF-8"),
    ],
)
def test_what_no_draft_holds_is_refused_with_its_line(data: bytes, said: str) -> None:
    with pytest.raises(InvalidInputError) as told:
        read_candidate_text(data, "x")
    assert said in str(told.value)
