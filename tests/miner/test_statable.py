"""Whether texts say enough: words are counted besides versions and formulas."""

from __future__ import annotations

import pytest

from miner.statable import statable, words


@pytest.mark.parametrize(
    ("text", "count"),
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
def test_words_are_counted(text: str, count: int) -> None:
    assert len(words(text)) == count


@pytest.mark.parametrize(
    ("texts", "right"),
    [
        ([], False),
        (["fix"], False),
        (["Fix it", "now"], False),
        (["fix the bug"], False),
        (["wip (#123)"], False),
        (["Minor cleanups."], False),
        (["chore: lint"], False),
        (["Update", "the docs"], False),
        (["Bump version to 1.2.3"], False),
        (["Merge branch 'a' of https://example.org/x/y into main"], False),
        (["some more small fixes for this"], False),
        (["New table"], True),
        (["Width 3"], True),
        (["Release 3"], False),
        (["Update 2026-08-29"], False),
        (["Make hello executable"], True),
        (["Accept everything"], True),
        (["feat: multi defaults"], True),
        (["feat!: merge arrays (#18)"], True),
        (["feat: `joinRelativeURL` (#220)"], True),
        (["Fix it for an empty list"], True),
        (["Keep", "the old order"], True),
        (["Исправить порядок аргументов команды"], True),
        (["修正 参数 的 顺序"], True),
    ],
)
def test_what_is_enough_for_a_task(texts: list[str], right: bool) -> None:
    assert statable(texts) is right
