"""Task texts drafted from what people wrote."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from authoring.statement import (
    PROPOSED_CONDITION,
    SourceText,
    TextKind,
    cleaned,
    decode_message,
    draft_statement,
)


def drafted(text: str) -> str:
    """Return the task of a commit message without the condition that is proposed for it."""
    statement = draft_statement([commit(text)])
    proposed = [taken[0] for source, taken in statement.text_from if source == PROPOSED_CONDITION]
    return statement.task.removesuffix(f"\n{proposed[0]}\n") if proposed else statement.task


def commit(text: str) -> SourceText:
    return SourceText(kind=TextKind.COMMIT, source="commit message", title="", text=text)


@pytest.mark.parametrize(
    ("message", "task"),
    [
        ("Add built-in completion (#3637)\n", "Add built-in completion\n"),
        ("Keep `style()` calls (#12, #13)\n", "Keep `style()` calls\n"),
        ("fix(parser): reject empty names (#1)\n", "Reject empty names\n"),
        ("feat!: merge arrays", "Merge arrays\n"),
        (":bug: fix: keep the order", "Keep the order\n"),
        ("fix: fix the return type (#293)", "Fix the return type\n"),
        ("tags: add an abi", "tags: add an abi\n"),
        ("Fix #357: Add cache info", "Add cache info\n"),
        ("Handle dots (resolves #35)", "Handle dots\n"),
        ("Handle dots, as GH-12 and pallets/click#9 ask", "Handle dots, as and ask\n"),
        ("Keep it.\n\nFixes: #12\nSigned-off-by: A <a@b.c>\nCo-authored-by: B <b@c.d>\n", "Keep it.\n"),
        ("Keep it.\n\nChange-Id: I1234567890\n", "Keep it.\n"),
        ("Keep it.\n\n(cherry picked from commit 1234567890abcdef1234567890abcdef12345678)\n", "Keep it.\n"),
        ("Keep it.\n\nNote: the value stays.\n", "Keep it.\n\nNote: the value stays.\n"),
        ("Restore what 1a2b3c4d5 took away", "Restore what took away\n"),
        ("See [the docs](https://example.org/x) for more of it", "See the docs for more of it\n"),
        ("As <https://example.org/x> says it must", "As says it must\n"),
        ("Merge pull request #1 from x/y\n\nKeep the order of options\n", "Keep the order of options\n"),
        ("Merge branch 'x' into 'main'\n\nKeep the order\n\nSee merge request a/b!12\n", "Keep the order\n"),
        ("Merge branch 'stable'", ""),
        ("Keep it\n\n<!-- describe\nyour change -->\n\nAnd that.\n", "Keep it\n\nAnd that.\n"),
        ("Merge arrays\n\nThey were replaced.", "Merge arrays\n\nThey were replaced.\n"),
        ("Merge branch coverage into the report", "Merge branch coverage into the report\n"),
        ("Revert to the old default\n", "Revert to the old default\n"),
        ("Merged in feature/x (pull request #12)\n\nKeep it all\n", "Keep it all\n"),
        ("Merge branch master of git://example.org/x", ""),
        ("Merge stable into main (#3479)", ""),
        ('Revert "Keep the order of options"\n\nThis reverts commit 1234567890.\n', ""),
        ("One.\r\n\r\nTwo\x1b[0m\tthree.\r\n", "One.\n\nTwo[0m\tthree.\n"),
        ("Wrapped at\nsome column,\nas it was.\n", "Wrapped at\nsome column,\nas it was.\n"),
        (
            "Title (#1)\n\n* fix: title\n\n* docs: tell of it\n\n---------\n\nCo-authored-by: B <b@c>\n",
            "Title\n\n* Tell of it\n",
        ),
    ],
)
def test_what_belongs_to_the_forge_goes_out(message: str, task: str) -> None:
    assert drafted(message) == task


def test_code_blocks_and_indents_stay() -> None:
    text = "Show it like this\n\n    a  =  1\n\n- one  two\n- three\n"
    assert drafted(text) == text


def test_each_text_says_what_the_others_of_its_kind_did_not() -> None:
    statement = draft_statement(
        [
            commit("fix: keep the order\n\nIt was lost. It must stay.\n"),
            commit("Keep the order\n\nWith an example."),
            commit("Keep the order."),
        ]
    )
    assert statement.task == "Keep the order\n\nIt was lost. It must stay.\n\nWith an example.\n"
    assert statement.text_from == (
        ("commit message", ("Keep the order", "It was lost.", "It must stay.")),
        ("commit message", ("With an example.",)),
    )


def test_messages_are_decoded_by_their_own_encoding() -> None:
    assert decode_message("Größe".encode("latin-1"), "ISO-8859-1") == "Größe"
    assert decode_message("Größe".encode()) == "Größe"
    assert decode_message("Größe".encode("latin-1")) == "Gr\ufffd\ufffde"
    assert decode_message(b"plain", "no-such-encoding") == "plain"


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_cleaning_is_stable_and_leaves_no_control_characters(text: str) -> None:
    once = cleaned(text)
    assert not any(ord(letter) < 32 and letter not in "\n\t" for letter in once)
    assert "\x7f" not in once
    assert once == once.rstrip()
