"""Whether texts say enough: words are counted besides versions and formulas."""

from __future__ import annotations

import pytest

from miner.statable import statable, word_count


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fix", 1),
        ("Release v7.0.3.", 1),
        ("8.1.x 2.0rc1 v3", 1),
        ("Merge branch 'main'", 1),
        ("Merge branch 'main' into topic", 1),
        ("Merge pull request #7 from dev/seven", 2),
        ("Merge pull request #7 from dev/seven\n\nFix the parser", 5),
        ('Revert "Multiply, do not add"\n\nThis reverts commit cfee6a315d7f8467d2b6fef8ceb06dcaf41ed058.', 4),
        ("Close #12, gh-13", 1),
        ("See https://host.example/many/words/in/a/url", 1),
        ("Fix it\n\nSigned-off-by: A Long Name <a@b.c>\nCo-authored-by: Somebody Else <c@d.e>", 2),
        ("<!-- please describe your change here -->fix", 1),
        ("Don't repeat", 2),
        ("修复解析错误", 3),
        ("", 0),
    ],
)
def test_words_are_counted(text: str, words: int) -> None:
    assert word_count(text) == words


def test_four_words_in_all_texts_together_are_enough() -> None:
    assert not statable(["Fix it", "now"])
    assert statable(["Fix it", "now please"])
    assert not statable([])
