"""The file of what lint knows of a change: written, read, and refused when anything in it is odd."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from authoring.change_words import ChangeWords, Need, NeedKind, RestPath, read_words, words_bytes

WORDS = ChangeWords(
    repository="yylo/ledger",
    base="a" * 40,
    head="b" * 40,
    rest_paths=(RestPath(path="src/a b\\xff.py", source=True, new=False, shown=True),),
    test_paths=("tests/test_a.py",),
    test_names=("test_new",),
    fix_names=("_walk",),
    offered_names=("walk_all",),
    changed_names=("search",),
    fragments=("if path in self . untracked",),
    needs=(Need(kind=NeedKind.OPTION, text="--all", path="tests/test_a.py"),),
    commits=("a" * 40, "b" * 40),
    unread=("c",),
    removed=("width - self . indent",),
    said=("bar#abc/",),
)


def test_what_is_written_is_read() -> None:
    assert read_words(words_bytes(WORDS)) == WORDS
    assert words_bytes(WORDS).isascii()


@given(texts=st.tuples(st.text(), st.text(st.characters()), st.text()))
def test_any_text_comes_back(texts: tuple[str, ...]) -> None:
    words = replace(WORDS, fragments=texts, repository=texts[0])
    assert read_words(words_bytes(words)) == words


@pytest.mark.parametrize(
    "changes",
    [
        {"schema": "casewright.change-words/v9"},
        {"more": 1},
        {"base": None},
        {"fix_names": "_walk"},
        {"fix_names": [1]},
        {"removed": "x"},
        {"said": [1]},
        {"needs": [{"kind": "wish", "text": "x", "path": "y"}]},
        {"needs": [{"kind": "name", "text": "x"}]},
        {"needs": [{"kind": "name", "text": "x", "path": "y", "elsewhere": "no"}]},
        {"needs": [7]},
        {"rest_paths": [{"path": "a", "source": 1, "new": False, "shown": False}]},
        {"rest_paths": [{"path": "a"}]},
    ],
)
def test_anything_else_is_made_anew(changes: dict[str, Any]) -> None:
    assert read_words(json.dumps({**json.loads(words_bytes(WORDS)), **changes}).encode()) is None


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"{}", b"\xff", b"[" * 100_000, words_bytes(WORDS)[:-40]])
def test_a_damaged_file_is_no_record(data: bytes) -> None:
    assert read_words(data) is None
