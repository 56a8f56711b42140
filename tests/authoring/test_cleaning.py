"""What goes out of a text and what stays, line by line and for any text at all."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from authoring.cleaning import TextKind, cleaned
from authoring.pieces import paragraphs, pieces

FRAGMENTS = """
<!-- ; --> ; ``` ; ```diff ; ~~~ ; ` ; [a](https://x.y/z) ; ![b](https://x.y/z.png) ; <details> ; <summary>x</summary>
</details> ; <br> ; ## Solution ; ## Description ; ### Tests ; **Expected** ; Steps to reproduce: ; - [ ] I have read it
- [x] blanks ; * wip ; - item ; 1. one ; Fixes #12 ; (#3) ; GH-4 ; o/r#5 ; see #6, #7 ; 1a2b3c4d5e ; https://x.y/z
@jane said in #1 ; Thanks to @joe. ; Signed-off-by: A <a@b.c> ; diff --git a/x b/x ; @@ -1 +1 @@ ; +new ; -old
> quoted ; =
On Monday, A wrote: ; --- ; === ; | a | b | ; |---|---| ; Tests added. ; None ; N/A ; Keep the order.
It is lost. ; a ; a:
This PR adds a helper `_x` in y.py. ; Moved `_x`. ; [x]: https://x.y ; Regression in #1. ; <p> ; </p> ; <li>
""".strip()
TOKENS = [*re.split(r" ; |\n", FRAGMENTS), "    code", "  a"]
LINES = st.lists(st.sampled_from([*TOKENS, "", "", " "]), max_size=3).map(" ".join)
WRITTEN = st.lists(LINES, max_size=12).map("\n".join)
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


@given(st.one_of(WRITTEN, st.text(max_size=300)), st.sampled_from(TextKind))
@settings(max_examples=300)
def test_cleaning_is_stable_and_leaves_no_control_characters(text: str, kind: TextKind) -> None:
    once = cleaned(text, kind)
    assert cleaned(once, kind) == once
    assert not CONTROL.search(once)
    outside = [piece.text for piece in pieces(once) if not piece.code]
    assert all(line == line.rstrip() for line in outside)
    assert not once.startswith("\n")
    assert once == once.rstrip() or pieces(once)[-1].code


@given(WRITTEN, st.sampled_from(TextKind))
def test_no_two_blank_lines_stand_outside_code(text: str, kind: TextKind) -> None:
    found = pieces(cleaned(text, kind))
    for one, other in pairwise(found):
        assert one.code or other.code or one.text or other.text


@given(st.text(st.characters(exclude_categories=["Cc", "Cf", "Cs"], exclude_characters="`\u2028\u2029"), max_size=80))
def test_a_fenced_block_stays_as_it_was_typed(inner: str) -> None:
    # Blanks at the end of a line go, since a case file can't hold them as a block that a person may edit.
    block = f"```python\nx = 1{inner.rstrip(' ')}\n\n\n  y  =  #12\n```"
    for kind in TextKind:
        expected = f"Before it.\n\n{block}\n\nAfter it."
        assert cleaned(expected, kind) == expected


@pytest.mark.parametrize("unit", ["<!--", "[", "(((", "](", "`", "<", "a.b-", "fix ", "0a"])
def test_a_megabyte_of_signs_is_no_trouble(unit: str) -> None:
    # A rule that looks back over all of it for each sign would not come to an end.
    assert len(cleaned(unit * (1_000_000 // len(unit)), TextKind.PULL_REQUEST)) <= 1_000_000


@pytest.mark.parametrize("unit", ["> x\n", "- [ ] x\n", "a\n\n", "```\n", "# a\n", "- x\n", "    x\n"])
def test_very_many_lines_are_no_trouble(unit: str) -> None:
    assert len(cleaned(unit * 20_000, TextKind.PULL_REQUEST)) <= 20_000 * len(unit)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("Keep [the label](https://x.y) and not <https://x.y/z>.", "Keep the label and not."),
        ("A [label][ref] of a reference.\n\n[ref]: https://x.y", "A label of a reference."),
        ("![Diagram of the parser](https://x.y/a.png)", "[screenshot: Diagram of the parser]"),
        ("![image](https://x.y/a.png)", "[screenshot]"),
        ("[![Build](https://img.shields.io/x.svg)](https://ci.x)\n\nText here.", "Text here."),
        ('<img width="3" alt="A wide table" src="https://x.y/a.png">', "[screenshot: A wide table]"),
        ("One<br>two<br/>three", "One\ntwo\nthree"),
        ("| a<br>b | c |", "| a b | c |"),
        ("Call <code>f(x)</code> or <kbd>q</kbd>.", "Call `f(x)` or `q`."),
        ("A `Vec<T>` and a Vec<T>.", "A `Vec<T>` and a Vec<T>."),
        ("Broken since #12. It was fine.", "Broken. It was fine."),
        ("The check introduced in #12 is wrong.", "The check is wrong."),
        ("The id 550e8400-e29b-41d4-a716-446655440000 stays.", "The id 550e8400-e29b-41d4-a716-446655440000 stays."),
        ("The number 1e1000000 and #1a2b3c4 stay.", "The number 1e1000000 and #1a2b3c4 stay."),
        ("Use the `@property` and @cached methods.", "Use the `@property` and @cached methods."),
        ("Install @types/node first.", "Install @types/node first."),
        ("Call it.\n\ndiscovered in https://x.y/pull/26282", "Call it."),
        ("Names are lost, as found in https://x.y/pull/2.", "Names are lost."),
        ("It can be seen by changing the check here: https://x.y/a.py#L9.", "It can be seen by changing the check."),
        ("Read https://x.y/a for the order.", "Read for the order."),
        ("Hello, and thanks for all your work \U0001f64f\U0001f3fb\n\nIt fails.", "It fails."),
        ("```\nx = 1 \n\t\ny\n``` ", "```\nx = 1\n\ny\n```"),
        ("Hello,\n\nit fails.\n\nThanks in advance!", "it fails."),
        ("<!-- Tell us\n\nIt fails:\n\n```vue\n<!-- a -->\n```\n\nIt should not.", None),
        ("<!-- Paste it:\n```\nx\n```\n-->\nIt fails.", "It fails."),
        ("It gave month names. Before #12 this worked.", "It gave month names. Before another change this worked."),
        ("Handle dots, as GH-12 and a/b#9 ask.", "Handle dots."),
        ("As #12 says, names are lost.", "Names are lost."),
        ("As described in #12, names are lost.", "Names are lost."),
        ("After merging #12 it fails.", "After merging another change it fails."),
        ("See https://x.y/z for details. It fails.", "It fails."),
        (
            "https://x.y/z no longer exists. The new one is https://x.y/a.",
            "A page no longer exists. The new one is elsewhere.",
        ),
        ("It follows this:\nhttps://x.y/z\n\nDiscussed here:\n\n<https://x.y/a>\n\nKeep it.", "Keep it."),
        ("Try this:\n\n- https://x.y/z\n- a name\n\nKeep it.", "Try this:\n\n- a name\n\nKeep it."),
        (
            "It was seen[1] that `a[1]` fails [2].\n\n[1]: https://x.y/z\n[2]: https://x.y/a",
            "It was seen that `a[1]` fails.",
        ),
        ("It is the current version of it: https://x.y/z\n\nKeep it.", "It is the current version of it.\n\nKeep it."),
        ("Reproduces #12: names are lost.", "names are lost."),
        ("It goes on.\n\ncc #12\n\nxref #13", "It goes on."),
        ("PR #12 added blanks but no dots.", "Another change added blanks but no dots."),
        (
            "Take back what was done in\n1a2b3c4d5e. Also keep it.",
            "Take back what was done in\nan earlier commit. Also keep it.",
        ),
        ("It has to land\no/r#12 where it is kept.", "It has to land\nanother change where it is kept."),
        ("They are not valid as per https://x.y/z.", "They are not valid."),
        ("It was taken from https://x.y/z.", "It was taken."),
        ("(A clear and concise description of what the bug is.)\n\n(Write your steps here:)\n\n1. Step 1...", ""),
        ("It fails.\n\n```pytb\nPaste the full traceback if there was one.\n```\n\n```\n<version>\n```", "It fails."),
        ("# Pull Request\n\nIt fails.\n\n### Affected version of it\n\n3.0.0", "It fails."),
        ("It fails.\n\n**Shelf version:** 3.0 beta", "It fails."),
        ("It fails, and there are more failures as seen in #12.", "It fails, and there are more failures."),
        ("It was a[1] that fails.", "It was a[1] that fails."),
        ("Resolves part of issue #12: names are lost.", "names are lost."),
        ("It fails. Fix this by using `f` of `g`.", "It fails."),
        ("It fails. More info at https://x.y/z.", "It fails."),
        (
            "It fails. It's easy to address by changing the check here: https://x.y/a.py. Perhaps, by converting it.",
            "It fails.",
        ),
        ("It fails. This could be fixed by adding an `if` to `f`.", "It fails."),
        ("It could be fixed by adding an `if` to `f`.", None),
        ("The order can be changed by passing `key`.", None),
        ("It fails.\n\n## Environment\n\n- Python: 3.11\n", "It fails."),
        ("## Steps to reproduce\n\n## Expected behavior\n\nIt works.", "## Expected behavior\n\nIt works."),
        ("It fails.\n\n## Proposed fix\n\nAdd an if.", "It fails."),
        ("## Proposed fix\n\nAdd an if.", "Add an if."),
        ("It fails.\n\n```suggestion\nx = 1\n```", "It fails."),
        ("It fails.\n\n    @@ -1,2 +1,2 @@\n    -a\n    +b", "It fails."),
        ("> A quotation of the manual.\n\nIs it right?", "> A quotation of the manual.\n\nIs it right?"),
        ("A\u200bB\u202eC\x07D\u2028E", "ABCD\nE"),
    ],
)
def test_an_issue_is_cleaned(written: str, kept: str | None) -> None:
    found = cleaned(written, TextKind.ISSUE)
    assert found == (written if kept is None else kept)


def test_what_only_a_disk_shows_stays_of_an_environment() -> None:
    written = "It fails.\n\n## Environment\n\n- OS: it only fails on a case-insensitive disk\n"
    assert "case-insensitive" in cleaned(written, TextKind.ISSUE)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("Names are kept.\n\nThis PR adds a helper `_keep` in `names.py`.", "Names are kept."),
        ("Names are kept. I moved `_keep` into a mixin. So are their cases.", "Names are kept. So are their cases."),
        ("Moved `_keep` to `names.py`.", "Moved `_keep` to `names.py`."),
        ("This PR allows blanks in names.", "This PR allows blanks in names."),
        ("Names had none.\n\nThis PR allows blanks in names.", "Names had none.\n\nAllows blanks in names."),
        ("Names.\n\n- [x] blanks\n- [ ] dots", "Names."),
        ("Names.\n\n## How has this been tested?\n\nBy hand.", "Names."),
        ("Names.\n\n## Test plan\n\n### Unit\n\nAll.\n\n## Notes\n\nCases count.", "Names.\n\nCases count."),
        ("Names.\n\nfixes: #12\ncc @jane", "Names."),
        ("Names are kept, fixes #12, closes o/r#13.", "Names are kept."),
    ],
)
def test_a_pull_request_is_cleaned(written: str, kept: str) -> None:
    assert cleaned(written, TextKind.PULL_REQUEST) == kept


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("Keep names\n\nChanges:\n\n- blanks are kept\n- dots are kept", None),
        ("Keep names\n\nAdd tests for blanks.", "Keep names"),
        ("Keep names\n\nAdd tests for blanks and fix the loader.", None),
        ("Keep names\n\n[skip ci]", "Keep names"),
        (
            "Bump a to 2\n\nUse [a](https://x.y).\n- [Commits](https://x.y/k)\n\n---\nupdated-dependencies:\n- a",
            "Bump a to 2\n\nUse a.",
        ),
        ("Keep names\n\n* update comment\n* update\n* keep dots", "Keep names\n\n* keep dots"),
        ("Tests\n\nThey write to the home folder.", None),
        ("Please add a section on names here", None),
        ("Draw it\n\n      _____\n     /  x\n", None),
    ],
)
def test_a_message_is_cleaned(written: str, kept: str | None) -> None:
    assert cleaned(written) == (written.rstrip() if kept is None else kept)


def test_paragraphs_keep_code_whole() -> None:
    assert paragraphs("One\n\n```\na\n\nb\n```\n\nTwo\nthree") == ["One", "```\na\n\nb\n```", "Two\nthree"]
