"""Texts split into sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from authoring.sentences import sentence_spans, sentences


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ()),
        ("One. Two! Three?", ("One.", "Two!", "Three?")),
        ("A title\n\nWrapped at\nsome column. And more.", ("A title", "Wrapped at some column.", "And more.")),
        ("Use e.g. A and v1.2 of it. Done.", ("Use e.g. A and v1.2 of it.", "Done.")),
        ("- one\n- two\n  goes on", ("- one", "- two goes on")),
        ("See:\n\n```python\na = 1\n\nb = 2\n```\nAfter.", ("See:", "```python a = 1 b = 2 ```", "After.")),
        ("## Heading\nText.", ("## Heading", "Text.")),
        ("---\n\n...", ()),
    ],
)
def test_sentences_are_lines(text: str, found: tuple[str, ...]) -> None:
    assert sentences(text) == found


@given(st.text(max_size=200))
def test_spans_cover_a_paragraph(text: str) -> None:
    assert "".join(text[start:end] for start, end in sentence_spans(text)) == text
    assert all("\n" not in sentence for sentence in sentences(text))
