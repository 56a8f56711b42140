"""The YAML door: strict reading with places, and writing that every YAML reader gives back."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Annotated

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from casewright.documents import parse_document, parse_model, read_document, read_model, render
from casewright.errors import DocumentError
from tests.support.oddities import built_oddity

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.from_regex(r"[a-z_]{1,6}", fullmatch=True), inner),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(st.from_regex(r"[a-z_]{1,6}", fullmatch=True), VALUES, min_size=1, max_size=4)


class Pins(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    base: Annotated[str, Field(pattern="^[0-9a-f]{40}$")]
    count: int
    names: tuple[str, ...] = ()


@settings(max_examples=200, deadline=None)
@given(DOCUMENTS)
def test_what_is_written_is_read_again_and_written_the_same(value: dict[str, object]) -> None:
    text = render(value)
    read = parse_document(text.encode(), "a.yaml").root.value
    assert read == value
    assert json.dumps(read) == json.dumps(value)
    assert render(read) == text


def test_all_values_that_yaml_changes_survive(tmp_path: Path) -> None:
    values = json.loads((built_oddity("24-values-that-yaml-changes", tmp_path) / "values.json").read_bytes())
    assert len(values) == 65
    for key, text in values.items():
        for shape in ({"x": text}, {"x": [text, {"y": text}]}):
            written = render(shape)
            read = parse_document(written.encode(), "a.yaml").root.value
            assert read == shape, key
            assert render(read) == written, key


@pytest.mark.parametrize(
    "text",
    [
        "no",
        "On",
        "1e3",
        "0o17",
        "2026-08-29",
        "08",
        "12:30:45",
        "0123456",
        "~",
        ".inf",
        "1_000.5",
        "=",
        "<<",
        "",
        "y",
        "a: b",
    ],
)
def test_what_a_yaml_version_would_change_is_quoted(text: str) -> None:
    assert render({"x": text}) == f'x: "{text}"\n'


def test_several_lines_become_a_literal_block() -> None:
    assert render({"task": "One.\n\nTwo: three.\n"}) == "task: |\n  One.\n\n  Two: three.\n"


@pytest.mark.parametrize("text", ["a\r\nb", "a \nb", "a\x85b\n", "a\u2028b\n", "a\x1bb\nc\n", " a\nb\n", "a\nb\n\n"])
def test_text_that_a_block_would_change_is_in_double_quotes(text: str) -> None:
    written = render({"x": text})
    assert written.startswith('x: "')
    assert written.count("\n") == 1


def test_comments_stand_above_their_keys() -> None:
    assert render({"a": 1, "b": 2}, {"b": "Two.\nReally."}) == "a: 1\n# Two.\n# Really.\nb: 2\n"


def test_all_faults_of_a_file_are_told_with_their_places() -> None:
    text = "base: 1e3\ncount: yes please\nnames:\n  - 08\n  - 2026-08-29\n  - fine\nextra: 1\ncount: 3\n"
    with pytest.raises(DocumentError) as caught:
        parse_model(text.encode(), "cases/x.yaml", Pins)
    assert caught.value.faults == (
        "cases/x.yaml:1:7: base: YAML reads '1e3' as a number; put it in quotes if it is text",
        "cases/x.yaml:2:8: count: the key 'count' stands twice (again at line 8)",
        "cases/x.yaml:4:5: names[0]: YAML reads '08' as a number; put it in quotes if it is text",
        "cases/x.yaml:5:5: names[1]: YAML reads '2026-08-29' as a date; put it in quotes if it is text",
        "cases/x.yaml:7:8: extra: is not a key that stands here",
    )


def test_a_short_id_a_number_for_text_and_a_missing_key_are_named() -> None:
    with pytest.raises(DocumentError) as caught:
        parse_model(b"# ours\nbase: abc\nnames: [12]\n", "x", Pins, {"^[0-9a-f]{40}$": "a full id"})
    assert caught.value.faults == (
        "x:2:1: count: is missing",
        "x:2:7: base: 'abc' is not a full id",
        "x:3:9: names[0]: should be text; write it in quotes: '12'",
    )


def test_a_commit_id_that_yaml_reads_as_a_number_is_an_error() -> None:
    with pytest.raises(DocumentError, match=r"x:1:9: commit: YAML reads '1234567e12' as a number"):
        parse_document(b"commit: 1234567e12\n", "x")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "x:1:1: is not a mapping"),
        (b"- a\n", "x:1:1: is not a mapping"),
        (b"a: [\n", "x:2:1"),
        (b"a: 1\nb: \xff\n", "x:2: not UTF-8"),
        (b"a: \x00\n", "x:1: holds U+0000"),
        (b"a: &b 1\nc: *b\n", "anchor or alias 'b'"),
        (b"a: !!python/name:os.system x\n", "the tag of 'x' is not allowed"),
        (b"a: 1\n---\nb: 1\n", "another document"),
        (b"<<: {a: 1}\n", "not plain text"),
        (b"a: " + b"[" * 4000, "not YAML that can be read"),
        (b'a: "\\ud800"\n', "x:1:4"),
    ],
)
def test_what_is_not_a_document_is_refused_with_a_place(data: bytes, told: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_document(data, "x")
    assert told in str(caught.value)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60) | TEXT.map(str.encode))
@example(b"? key without a value")
def test_any_bytes_give_a_document_or_an_error(data: bytes) -> None:
    with contextlib.suppress(DocumentError):
        assert isinstance(parse_document(data, "x").root.value, dict)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"cases/a\.yaml: can't be read: No such file"):
        read_document(tmp_path / "a.yaml", "cases/a.yaml")
    with pytest.raises(DocumentError, match=r"can't be read"):
        read_model(tmp_path / "a.yaml", "cases/a.yaml", Pins)


def test_a_file_with_windows_line_ends_and_a_mark_is_read() -> None:
    document = parse_document("\ufefftask: |\r\n  One.\r\n  Two.\r\nid: a\r\n".encode(), "x")
    assert document.root.value == {"task": "One.\nTwo.\n", "id": "a"}
