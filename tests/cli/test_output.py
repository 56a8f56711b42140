"""Strangers' text can't steer a terminal, tables line up, and a reader who goes away is no error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casewright.cli.output import one_line, path_shown, plain, printed_json, shown, styled, table

anything = st.text(alphabet=st.characters())


@given(anything)
def test_shown_text_holds_no_control_character_and_can_be_encoded(text: str) -> None:
    seen = shown(text)
    assert all(character.isprintable() or character in "\n\t" for character in seen)
    seen.encode("utf-8")


@given(anything)
def test_one_line_is_one_line(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1


@given(st.text(alphabet=st.characters(exclude_categories=["C", "Zl", "Zp", "Zs"])))
def test_plain_text_is_shown_as_it_is(text: str) -> None:
    assert shown(text) == text


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("red \x1b[31mtext", "red \\x1b[31mtext"),
        ("caf\udce9", "caf\\xe9"),
        ("bell\a", "bell\\x07"),
        ("turned \u202eround", "turned \\u202eround"),
        ("two\r\nlines\tkept", "two\\x0d\nlines\tkept"),
    ],
)
def test_what_could_steer_a_terminal_is_shown_by_its_number(text: str, seen: str) -> None:
    assert shown(text) == seen


@given(st.binary(max_size=40))
def test_a_path_of_any_bytes_can_be_shown_and_read_back(path: bytes) -> None:
    assert json.loads(json.dumps(path_shown(path))) == path_shown(path)
    assert path_shown(path) == plain(os.fsdecode(path)) or b"\x00" in path


@given(
    st.recursive(anything | st.none() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(anything, inner))
)
def test_whatever_is_plain_can_be_written_as_json(value: object) -> None:
    json.dumps(plain(value), ensure_ascii=False).encode("utf-8")


def test_columns_line_up_and_numbers_stand_to_the_right() -> None:
    text = table([("scanned", "13,869", "all"), ("日本", "7", "")], ("stage", "changes", "note"), right=(1,))
    assert text.splitlines() == [
        "stage    changes  note",
        "scanned   13,869  all",
        "日本           7",
    ]


def test_a_table_without_rows_is_empty() -> None:
    assert table([]) == ""


def test_a_cell_with_line_ends_stays_one_line() -> None:
    assert table([("a\nb", "c\x1bd")]) == "a b  c\\x1bd"


def test_a_pipe_gets_no_colour() -> None:
    assert styled("fine", "good") == "fine"


def test_json_lines_are_compact_and_keep_other_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    printed_json({"path": "ü\udce9", "n": (1, None)}, line=True)
    assert capsys.readouterr().out == '{"path":"ü\\\\xe9","n":[1,null]}\n'


def test_a_reader_who_goes_away_ends_the_program_quietly() -> None:
    program = """
import sys
from casewright.cli import command_line, main
from casewright.cli.options import new_app, register
app = new_app("Help.")
@register(app, "endless")
def endless(common):
    from casewright.cli.output import printed
    while True:
        printed("y")
command_line.application = lambda arguments: app
main.run()
"""
    root = Path(__file__).parents[2]
    writer = subprocess.Popen(
        [sys.executable, "-c", program, "endless"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=root
    )
    assert writer.stdout is not None
    assert writer.stderr is not None
    assert writer.stdout.readline() == b"y\n"
    writer.stdout.close()
    assert writer.stderr.read() == b""
    writer.stderr.close()
    assert writer.wait() == 141
