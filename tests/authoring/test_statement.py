"""Task texts drafted from what people wrote."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from authoring.statement import (
    PROPOSED_CONDITION,
    SourceText,
    Statement,
    TextKind,
    cleaned,
    cleaned_title,
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
        ("[chore] : Merge arrays", "Merge arrays\n"),
        (
            "Keep the names of all us\u2026 (#12)\n\n\u2026ers\n\nThey were lost.",
            "Keep the names of all users\n\nThey were lost.\n",
        ),
        (
            "Keep names of all us\u2026 (#1)\n\n* Keep names of all users\n\n* keep dots",
            "Keep names of all users\n\n* keep dots\n",
        ),
        ("Keep all names\u2026\n\nThey were lost.", "Keep all names\u2026\n\nThey were lost.\n"),
        ("feat: \u2728 merge arrays", "Merge arrays\n"),
        (":bug: fix: keep the order", "Keep the order\n"),
        ("fix: fix the return type (#293)", "Fix the return type\n"),
        ("tags: add an abi", "tags: add an abi\n"),
        ("Fix #357: Add cache info", "Add cache info\n"),
        ("Handle dots (resolves #35)", "Handle dots\n"),
        ("Handle dots, as GH-12 and pallets/click#9 ask", "Handle dots\n"),
        ("Keep it.\n\nFixes: #12\nSigned-off-by: A <a@b.c>\nCo-authored-by: B <b@c.d>\n", "Keep it.\n"),
        ("Keep it.\n\nChange-Id: I1234567890\n", "Keep it.\n"),
        ("Keep it.\n\n(cherry picked from commit 1234567890abcdef1234567890abcdef12345678)\n", "Keep it.\n"),
        ("Keep it.\n\nNote: the value stays.\n", "Keep it.\n\nNote: the value stays.\n"),
        ("Restore what 1a2b3c4d5 took away", "Restore what an earlier commit took away\n"),
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


ISSUE = SourceText(
    kind=TextKind.ISSUE,
    source="issue o/r#1",
    title="[Bug]: Lists are refused (#1)",
    text="Passing a list raises. I pass `[]`.",
)
PULL = SourceText(
    kind=TextKind.PULL_REQUEST, source="pull request #2", title="fix: accept lists", text="Lists have a branch now."
)


def test_issues_are_taken_before_the_pull_request_and_that_before_commits() -> None:
    message = commit("Accept lists of names\n\nThey were refused.")
    assert draft_statement([message, PULL, ISSUE]) == Statement(
        task="Lists are refused\n\nPassing a list raises. I pass `[]`.\n\n"
        "Resolved when this no longer happens: Lists are refused.\n",
        text_from=(
            ("issue o/r#1", ("Lists are refused", "Passing a list raises.", "I pass `[]`.")),
            (PROPOSED_CONDITION, ("Resolved when this no longer happens: Lists are refused.",)),
        ),
    )
    assert draft_statement([message, PULL]).text_from[0] == (
        "pull request #2",
        ("Accept lists", "Lists have a branch now."),
    )
    assert draft_statement([message]).text_from[0][0] == "commit message"


def test_an_issue_that_says_nothing_gives_way() -> None:
    empty = SourceText(kind=TextKind.ISSUE, source="issue o/r#3", title="Bug", text="_No response_")
    assert [source for source, _ in draft_statement([empty, PULL]).text_from] == ["pull request #2", PROPOSED_CONDITION]


def test_all_issues_are_taken_in_order() -> None:
    other = SourceText(
        kind=TextKind.ISSUE, source="issue o/r#9", title="Sets are refused", text="Passing a list raises. I pass `[]`."
    )
    statement = draft_statement([ISSUE, other])
    assert [source for source, _ in statement.text_from] == ["issue o/r#1", "issue o/r#9", PROPOSED_CONDITION]
    assert statement.text_from[1][1] == ("Sets are refused",)
    assert statement.task.count("Passing a list raises") == 1


def test_what_another_text_says_in_more_words_is_said_once() -> None:
    statement = draft_statement([commit("Keep names"), commit("Keep `names` of users\n\nThey were lost.")])
    assert statement.task.startswith("Keep `names` of users\n\nThey were lost.\n\nResolved when")
    assert statement.task.count("Keep") == 1


def test_commits_on_the_documentation_alone_are_no_wish() -> None:
    names = commit("Keep names of users in the table")
    for other in ("docs: tell of names", "Use `echo` everywhere in the docs", "Update documentation of names"):
        assert draft_statement([names, commit(other)]) == draft_statement([names])
        assert draft_statement([commit(other)]).task
    wish = commit("Print the documentation of a command")
    assert "Print" in draft_statement([names, wish]).task


def test_a_title_that_the_forge_cut_is_whole_again() -> None:
    cut = SourceText(
        kind=TextKind.PULL_REQUEST,
        source="p",
        title="Keep the names of us\u2026",
        text="\u2026ers in lists\r\n\r\nThey go.",
    )
    assert draft_statement([cut]).task.startswith("Keep the names of users in lists\n\nThey go.\n")


def test_nothing_gives_nothing() -> None:
    assert draft_statement([]) == Statement(task="", text_from=())
    assert draft_statement([commit("Merge branch 'x'")]) == Statement(task="", text_from=())


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("[BUG] it fails", "It fails"),
        ("[Feature Request]: blanks", "Blanks"),
        ("ENH: blanks in names", "Blanks in names"),
        ("\U0001f41b it fails", "It fails"),
        ("[4.2.x] Fixed #1 -- Kept names.", "Kept names."),
        ("feat(core)!: blanks (#12)", "Blanks"),
        ("np.pad is wrong", "np.pad is wrong"),
        ("fix: joinURL keeps dots", "joinURL keeps dots"),
        ("[x] stays", "[x] stays"),
        ("[Python forward compat] np.pad warns", "np.pad warns"),
        ("[3.15] np.pad warns", "np.pad warns"),
        ("[1, 2] is refused", "[1, 2] is refused"),
        ("[x y](z) is lost", "x y is lost"),
        ("One\r\ntwo", "One two"),
    ],
)
def test_titles_are_cleaned(written: str, title: str) -> None:
    assert cleaned_title(written) == title


@given(st.lists(st.tuples(st.sampled_from(TextKind), st.text(max_size=40), st.text(max_size=120)), max_size=3))
def test_every_source_gives_lines_that_stand_in_the_task(texts: list[tuple[TextKind, str, str]]) -> None:
    statement = draft_statement(
        SourceText(kind=kind, source="s", title="" if kind is TextKind.COMMIT else title, text=text)
        for kind, title, text in texts
    )
    assert not statement.task or statement.task.endswith("\n")
    flat = " ".join(statement.task.split())
    for _, taken in statement.text_from:
        assert all("\n" not in sentence and sentence in flat for sentence in taken)


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
