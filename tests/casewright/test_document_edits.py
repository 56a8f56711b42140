"""Edits of a document leave everything else byte for byte as it is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casewright.document_edits import updated
from casewright.documents import parse_document, render
from casewright.errors import DocumentError
from tests.casewright.test_documents import DOCUMENTS

DRAFT = b"""\
# my case
id:   a-1   # keep the blanks
task: |
  Do it.

  Well.

# the tool's part
grading:
  # checked by hand
  files:
    - a   # first
    # the second
    - b
    - c
  check: 'python -m pytest'  # slow
  limits: {seconds: 60,  memory_mb: 10}

review: {state: auto,   by: null}
"""


def test_nothing_to_change_gives_the_same_bytes() -> None:
    assert updated(DRAFT, "x", {"id": "a-1"}) == DRAFT


def test_only_the_changed_value_is_written_anew() -> None:
    grading = parse_document(DRAFT, "x").root.value["grading"]
    edited = updated(
        DRAFT, "x", {"grading": {**grading, "check": "vitest", "limits": {"seconds": 90, "memory_mb": 10}}}
    )
    assert edited == DRAFT.replace(b"'python -m pytest'  # slow", b"vitest  # slow").replace(
        b"  limits: {seconds: 60,  memory_mb: 10}\n", b"  limits:\n    seconds: 90\n    memory_mb: 10\n"
    )


@pytest.mark.parametrize(
    ("files", "old", "new"),
    [
        (["a", "b", "c", "d"], b"    - c\n", b"    - c\n    - d\n"),
        (["0", "a", "b", "c"], b"    - a   # first\n", b'    - "0"\n    - a   # first\n'),
        (["a", "x", "c"], b"    - b\n", b"    - x\n"),
        (["a", "c"], b"    - b\n", b""),
        (["a", "b"], b"    - c\n", b""),
        (["a", "b", "x", "w", "c"], b"    - b\n", b"    - b\n    - x\n    - w\n"),
    ],
)
def test_items_of_a_list_keep_their_comments(files: list[str], old: bytes, new: bytes) -> None:
    grading = parse_document(DRAFT, "x").root.value["grading"]
    assert updated(DRAFT, "x", {"grading": {**grading, "files": files}}) == DRAFT.replace(old, new)


def test_keys_come_and_go_in_their_places() -> None:
    grading = parse_document(DRAFT, "x").root.value["grading"]
    wanted = {"files": grading["files"], "directory": ".", "limits": grading["limits"]}
    edited = updated(DRAFT, "x", {"grading": wanted})
    assert edited == DRAFT.replace(b"  check: 'python -m pytest'  # slow\n", b'  directory: "."\n')


def test_a_comment_behind_a_value_that_becomes_a_block_moves_above_it() -> None:
    edited = updated(b"a: x # why\nb: 1\n", "x", {"a": "one\ntwo\n"})
    assert edited == b"# why\na: |\n  one\n  two\nb: 1\n"


def test_windows_line_ends_and_the_mark_stay() -> None:
    data = b"\xef\xbb\xbf" + DRAFT.replace(b"\n", b"\r\n")
    assert updated(data, "x", {"id": "c"}) == data.replace(b"a-1", b"c")


def test_a_truth_value_is_not_taken_for_a_number() -> None:
    assert updated(b"a:\n  b: true\n", "x", {"a": {"b": 1}}) == b"a:\n  b: 1\n"


def test_a_file_without_a_final_newline() -> None:
    assert updated(b"a: 1\nb: x", "x", {"b": "z", "c": 2}) == b"a: 1\nb: z\nc: 2\n".rstrip()


def test_what_can_t_be_read_is_not_edited() -> None:
    with pytest.raises(DocumentError):
        updated(b"a: [", "x", {"a": 1})


@settings(max_examples=200, deadline=None)
@given(DOCUMENTS, DOCUMENTS)
def test_the_new_values_are_there_and_the_others_unchanged(old: dict[str, object], new: dict[str, object]) -> None:
    text = "# head\n" + render(old).replace("\nb", "\n\n# about b\nb")
    before = parse_document(text.encode(), "x").root.value
    edited = updated(text.encode(), "x", new)
    assert parse_document(edited, "x").root.value == {**before, **new}
    assert edited.startswith(b"# head\n")
    assert updated(edited, "x", new) == edited


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from("abc"), min_size=1), st.lists(st.sampled_from("abc"), min_size=1))
def test_any_list_becomes_any_other(old: list[str], new: list[str]) -> None:
    text = render({"k": {"files": old}, "z": 1})
    assert updated(text.encode(), "x", {"k": {"files": new}}).decode() == render({"k": {"files": new}, "z": 1})
