"""Which issues a text closes: keywords, references, and what is not read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miner.closing import closed_by, closing_references
from miner.forge_facts import ForgeReference, PullCommit, PullFacts

HERE = ("github.com", "dev", "box")


def _closed(text: str) -> list[str]:
    return [reference.short for reference in closing_references(text, HERE)]


@pytest.mark.parametrize(
    "keyword", ["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved", "FIXES", "Fix"]
)
def test_each_keyword_closes_with_or_without_a_colon(keyword: str) -> None:
    assert _closed(f"{keyword} #7") == ["dev/box#7"]
    assert _closed(f"It {keyword}: #7.") == ["dev/box#7"]
    assert _closed(f"({keyword} #7)") == ["dev/box#7"]


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("Fixes other/thing#3", ["other/thing#3"]),
        ("fixes GH-3, closes gh-4", ["dev/box#3", "dev/box#4"]),
        ("Fixes https://github.com/other/thing/issues/3", ["other/thing#3"]),
        ("Fixes: http://www.github.com/other/thing/issues/3#issuecomment-9", ["other/thing#3"]),
        ("Fixes https://github.com/Dev/Box/issues/3 and fixes #3", ["dev/box#3"]),
        ("fixes #1, fixes #2", ["dev/box#1", "dev/box#2"]),
        ("fixes #1, #2 and closes #3", ["dev/box#1", "dev/box#3"]),
        ("fixes #2 fixes #1 fixes #2", ["dev/box#2", "dev/box#1"]),
        ("Fixes\t#5", ["dev/box#5"]),
        ("- [x] closes #5\r\n- [ ] fixes #6\r\n", ["dev/box#5", "dev/box#6"]),
        ("Fixes <!-- which one? --> #5", ["dev/box#5"]),
        ("#4 is fixed, fixes #5", ["dev/box#5"]),
    ],
)
def test_references_are_read_in_their_order(text: str, closed: list[str]) -> None:
    assert _closed(text) == closed


@pytest.mark.parametrize(
    "text",
    [
        "",
        "#1",
        "see #1",
        "hotfix #3",
        "prefixes #1",
        "bug-fix #1",
        "suffixfix #1",
        "fixing #1",
        "fixesx #1",
        "fixes#1",
        "fixes 1",
        "fixes # 1",
        "fixes #1a",
        "fixes #0",
        "fixes #99999999999999999999",
        "fixes\n#1",
        "fixes issue #1",
        "fixes https://example.org/dev/box/issues/1",
        "fixes https://github.com.evil.org/dev/box/issues/1",
        "fixes https://github.com/dev/box/pull/1",
        "fixes https://github.com/dev/box/issues/",
        "fixes ../..#1",
        "https://example.org/fix #1",
        "<!-- fixes #1 -->",
        "<!-- fixes\n\nfixes #1\n-->",
        "<!-- never closed fixes #1",
        "`fixes #1`",
        "``fixes ` #1``",
        "`fixes\n#1 fixes #2`",
        "```\nfixes #1\n```",
        "```text\nfixes #1\n",
        "- list\n  ~~~~\n  fixes #1\n  ~~~\n  fixes #2\n  ~~~~",
        "> fixes #1",
        "> > fixes #1",
        "   > fixes #1",
        "fixes `code` #1",
        "```\n<!--\n```\n<!-- fixes #1 -->",
    ],
)
def test_what_closes_nothing(text: str) -> None:
    assert _closed(text) == []


def test_reading_goes_on_after_what_is_not_read() -> None:
    text = (
        "<!-- fixes #1 -->fixes #2\n> fixes #3\nfixes #4 `fixes #5` fixes #6\n\n"
        "```\nfixes #7\n<!--\n```\nfixes #8\n\na lone ` tick\n\nfixes #9 ` again\n"
    )
    assert _closed(text) == ["dev/box#2", "dev/box#4", "dev/box#6", "dev/box#8", "dev/box#9"]


def test_a_reference_keeps_the_port_of_its_host() -> None:
    text = "fixes http://127.0.0.1:3000/dev/box/issues/4, fixes http://127.0.0.1:4000/dev/box/issues/5"
    (found,) = closing_references(text, ("127.0.0.1:3000", "dev", "box"))
    assert found == ForgeReference(host="127.0.0.1:3000", owner="dev", name="box", number=4)


@given(st.text(alphabet="fixes #12`~<!->\n\r\\ @/GH:"))
def test_any_text_is_read(text: str) -> None:
    found = closing_references(text, HERE)
    assert len(set(found)) == len(found)
    assert all(0 < reference.number < 2**31 for reference in found)


@given(st.lists(st.integers(1, 10_000), unique=True))
def test_every_reference_that_has_its_keyword_is_found(numbers: list[int]) -> None:
    text = "; ".join(f"closes #{number}" for number in numbers)
    assert [reference.number for reference in closing_references(text, HERE)] == numbers


def test_a_long_text_of_marks_is_read_to_its_end() -> None:
    text = "".join("`" * (1 + place % 60) + " > <!- ~~~ " for place in range(3000)) + "\n\nfixes #3\n"
    assert _closed(text) == ["dev/box#3"]


def _pull(
    *, title: str = "", body: str = "", messages: tuple[str, ...] = (), linked: tuple[int, ...] = ()
) -> PullFacts:
    return PullFacts(
        reference=ForgeReference(host="github.com", owner="dev", name="box", number=12),
        url="https://github.com/dev/box/pull/12",
        title=title,
        body=body,
        base_branch="main",
        head_commit="0" * 40,
        merge_commit=None,
        merged_at=None,
        created_at=0,
        commits=tuple(PullCommit(id=f"{place:040x}", message=message) for place, message in enumerate(messages)),
        linked=tuple(ForgeReference(host="github.com", owner="Dev", name="box", number=number) for number in linked),
    )


def test_title_body_messages_and_links_are_joined_in_this_order() -> None:
    pull = _pull(
        title="Fix #5: boxes",
        body="Closes #4, fixes other/thing#3, fixes #12",
        messages=("Half\n\nfixes #4", "Whole (fixes #2)"),
        linked=(2, 12, 1),
    )
    assert [reference.short for reference in closed_by(pull)] == [
        "dev/box#5",
        "dev/box#4",
        "other/thing#3",
        "dev/box#2",
        "Dev/box#1",
    ]


def test_a_code_span_does_not_reach_from_one_text_into_the_next() -> None:
    assert [reference.number for reference in closed_by(_pull(title="A ` tick", body="fixes #4 ` here"))] == [4]
