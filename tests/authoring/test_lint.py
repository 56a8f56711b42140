"""What keeps a task text from being published."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from authoring.case import Waiver
from authoring.change_words import ChangeWords, Need, NeedKind, RestPath
from authoring.finding import RULES, Code
from authoring.lint import Finding, Severity, blocking, lint, notes
from tests.support.cases import BASE, HEAD, as_case, plain_case

# What is about the text as a whole is tested by itself.
WHOLE = {Code.NO_CONDITION, Code.NO_BEHAVIOUR, Code.NO_CATEGORY, Code.TOO_SHORT, Code.EMPTY}
CHANGE = ChangeWords(
    repository="yylo/ledger",
    base=BASE,
    head=HEAD,
    rest_paths=(
        RestPath(path="src/ledger/search.py", source=True, new=False, shown=False),
        RestPath(path="src/ledger/public.py", source=True, new=False, shown=True),
        RestPath(path="src/ledger/__init__.py", source=True, new=False, shown=False),
        RestPath(path="docs/search.rst", source=False, new=True, shown=False),
        RestPath(path="README.md", source=False, new=False, shown=False),
        RestPath(path="src/a b\\xff.py", source=True, new=False, shown=False),
    ),
    test_paths=("tests/unit/test_record_search.py", "tests/conftest.py"),
    test_names=("TestSearch",),
    fix_names=("_merge_untracked", "walker", "untrackedFirst"),
    offered_names=("merge_all",),
    changed_names=("_walk_index", "search"),
    fragments=("for path in self . untracked ( ) :", "if path in seen_paths ( self ) [ 0 ] :"),
    needs=(),
    commits=(BASE, HEAD, "1234567" + "0" * 33),
    unread=(),
)


def found(task: str, change: ChangeWords | None = CHANGE, **changes: Any) -> list[Finding]:
    return [each for each in lint(as_case(plain_case(task=task, **changes)), change) if each.code not in WHOLE]


def told(task: str) -> list[tuple[str, str, str]]:
    return [(each.code.value, each.severity.value, each.text) for each in found(task)]


def test_a_good_case_has_no_findings() -> None:
    assert lint(as_case(plain_case())) == ()
    assert lint(as_case(plain_case()), CHANGE) == ()


@pytest.mark.parametrize(
    ("task", "code", "text"),
    [
        (f"Do what {HEAD[:10]} did, no more.\n", Code.COMMIT_ID, HEAD[:10]),
        ("Broken since 1a2b3c4 came in.\n", Code.COMMIT_ID, "1a2b3c4"),
        ("Broken since 1234567 came in.\n", Code.COMMIT_ID, "1234567"),
        ("It is as https://example.org/o/r/issues/1 says.\n", Code.LINK, "https://example.org/o/r/issues/1"),
        ("Done in https://example.org/o/r/pull/12/files.\n", Code.LINK, "https://example.org/o/r/pull/12/files"),
        ("See (https://example.org/o/r/commit/1a2b3c4).\n", Code.LINK, "https://example.org/o/r/commit/1a2b3c4"),
        ("A `https://example.org/o/r/compare/a...b` in code.\n", Code.LINK, "https://example.org/o/r/compare/a...b"),
        ("Show untracked records (#123)\n", Code.FORGE_NUMBER, "(#123)"),
        ("As told in #7, it fails.\n", Code.FORGE_NUMBER, "#7"),
        ("As told in yylo/ledger#7, it fails.\n", Code.FORGE_NUMBER, "yylo/ledger#7"),
        ("As told in GH-7, it fails.\n", Code.FORGE_NUMBER, "GH-7"),
        ("A word is hid\u200bden in this.\n", Code.CONTROL_CHARACTER, "\u200b"),
        ("Text that is turned \u202e around.\n", Code.CONTROL_CHARACTER, "\u202e"),
        ("The bug is in src/ledger/search.py, I think.\n", Code.REST_PATH, "src/ledger/search.py"),
        ("The bug is in ledger/search.py:12, I think.\n", Code.REST_PATH, "ledger/search.py"),
        ("Odd: src/a b\\xff.py can't be a path here.\n", Code.REST_PATH, "src/a b\\xff.py"),
        ("Call `_merge_untracked` first.\n", Code.REST_NAME, "_merge_untracked"),
        ("It wants untrackedFirst then.\n", Code.REST_NAME, "untrackedFirst"),
        ("The `walker` misses them.\n", Code.REST_NAME, "walker"),
        ("Then walker() misses them.\n", Code.REST_NAME, "walker"),
        ("Write for path in self.untracked(): there.\n", Code.QUOTED_LINE, "for path in self.untracked():"),
        ("Write\n\n    if path in seen_paths(self)[0]:\n", Code.QUOTED_LINE, "if path in seen_paths(self)[0]:"),
        ("See tests/unit/test_record_search.py for it.\n", Code.TEST_PATH, "tests/unit/test_record_search.py"),
        ("See test_record_search.py for it.\n", Code.TEST_PATH, "test_record_search.py"),
        ("Have test_new pass.\n", Code.TEST_NAME, "test_new"),
        ("Have TestSearch pass.\n", Code.TEST_NAME, "TestSearch"),
    ],
)
def test_an_error_names_the_text_and_its_place(task: str, code: Code, text: str) -> None:
    (one,) = found(task)
    assert (one.code, one.text, one.severity) == (code, text, Severity.ERROR)
    assert task[one.start : one.end] == text
    assert blocking((one,)) == (one,)


@pytest.mark.parametrize(
    ("task", "code", "text"),
    [
        ("It follows https://example.org/a. Always.\n", Code.LINK, "https://example.org/a"),
        ("It is as https://example.org/a_(b) says).\n", Code.LINK, "https://example.org/a_(b)"),
        ("See search.py for it.\n", Code.REST_PATH, "search.py"),
        ("It says so in docs/search.rst.\n", Code.REST_PATH, "docs/search.rst"),
        ("The module ledger.search does it.\n", Code.REST_PATH, "ledger.search"),
        (
            'Traceback:\n  File "/x/site-packages/ledger/search.py", line 4, in f\n',
            Code.REST_PATH,
            "/x/site-packages/ledger/search.py",
        ),
        ("In _walk_index they are lost.\n", Code.CHANGED_NAME, "_walk_index"),
        ("In `search` they are lost.\n", Code.CHANGED_NAME, "search"),
        ("There could be a merge_all for it.\n", Code.REST_NAME, "merge_all"),
    ],
)
def test_a_warning_does_not_block(task: str, code: Code, text: str) -> None:
    (one,) = found(task)
    assert (one.code, one.text, one.severity) == (code, text, Severity.WARNING)
    assert task[one.start : one.end] == text
    assert blocking((one,)) == ()


@pytest.mark.parametrize(
    "task",
    [
        *(f"The value {word} must be kept.\n" for word in
          ("deadbeef", "1234568", "0x1a2b3c4d", "defaced", "abc1234-x", "tests/1a2b3c4", "#1a2b3c", "12345e10")),
        f"The digest {'1a' * 32} must be kept.\n",
        "The search of a walker shows nothing.\n",
        "Search and walk: research.py and other/search.py differ.\n",
        "The module ledger.public is for all, ledger.search_more too.\n",
        "It says so in README.md and in __init__.py.\n",
        "`https://example.org/a` is data, `#12` too, and so is\n\n```\n(#123)\n```\n",
        "Use `conftest.py` as you like; test_newer is another, latest_search.py too.\n",
        "For path in self, untracked or not, it is prose.\n",
        "A colour such as #000000 and a word like C# 7.\n",
    ],
)  # fmt: skip
def test_words_numbers_and_data_give_nothing_away(task: str) -> None:
    assert told(task) == []


def test_each_leak_of_a_text_is_told_once_in_order_errors_first() -> None:
    task = "See search.py, that is src/ledger/search.py: call _merge_untracked (#12).\n"
    assert told(task) == [
        ("rest-path", "error", "src/ledger/search.py"),
        ("rest-name", "error", "_merge_untracked"),
        ("forge-number", "error", "(#12)"),
        ("rest-path", "warning", "search.py"),
    ]


def test_hints_are_read_too() -> None:
    (one,) = found(plain_case()["task"], hints="See https://example.org/o/r/pull/1 and nothing else")
    assert (one.code, one.field) == (Code.LINK, "hints")


@pytest.mark.parametrize(
    ("task", "code", "severity"),
    [
        ("", Code.EMPTY, Severity.ERROR),
        ("...\n", Code.EMPTY, Severity.ERROR),
        ("Fix it.\n", Code.TOO_SHORT, Severity.ERROR),
        ("Handle leading dots\n\nResolved when the project handles leading dots.\n", Code.TOO_SHORT, Severity.WARNING),
        ("Refactor the parser of records into two classes.\n", Code.NO_BEHAVIOUR, Severity.WARNING),
        ("The search takes a minute with ten thousand records in it.\n", Code.NO_CONDITION, Severity.WARNING),
    ],
)
def test_what_a_text_lacks(task: str, code: Code, severity: Severity) -> None:
    case = as_case(plain_case(task=task))
    assert [each.severity for each in lint(case) if each.code is code] == [severity]


def test_a_proposed_condition_that_repeats_the_title_is_none() -> None:
    task = "Land the progress bar on its final position\n\nResolved when this is done: Land the bar.\n"
    (one,) = [each for each in lint(as_case(plain_case(task=task))) if each.code is Code.NO_CONDITION]
    assert one.text == "Resolved when this is done: Land the bar."


def test_no_category_is_a_warning() -> None:
    (one,) = lint(as_case(plain_case(category="uncategorised")))
    assert (one.code, one.severity) == (Code.NO_CATEGORY, Severity.WARNING)


def needing(*needs: Need) -> ChangeWords:
    return ChangeWords(**{**{name: getattr(CHANGE, name) for name in ChangeWords.__slots__}, "needs": needs})


@pytest.mark.parametrize(
    ("kind", "text", "code", "giving"),
    [
        (NeedKind.NAME, "merge_more", Code.NEEDED_NAME, "Call it `Ledger.merge_more`, please."),
        (NeedKind.KEYWORD, "untracked", Code.NEEDED_KEYWORD, "With `untracked=True` they are shown."),
        (NeedKind.OPTION, "--all", Code.NEEDED_OPTION, "With --all they are shown."),
        (NeedKind.MODULE, "merging", Code.NEEDED_MODULE, "It stands in `ledger.merging`."),
        (NeedKind.TEXT, "no such record", Code.NEEDED_TEXT, "It says: No such\n`record`."),
        (NeedKind.VALUE, "4321", Code.NEEDED_VALUE, "After 4321 records it stops."),
    ],
)
def test_what_tests_need_must_be_given(kind: NeedKind, text: str, code: Code, giving: str) -> None:
    change = needing(Need(kind=kind, text=text, path="tests/unit/test_record_search.py"))
    task = plain_case()["task"]
    (one,) = found(task, change)
    assert (one.code, one.text, one.start, one.end) == (code, text, len(task), len(task))
    assert "tests/unit/test_record_search.py" in one.message
    assert found(f"{giving}\n\n{task}", change) == []
    assert found(task, change, hints=giving) == []


def test_part_of_a_word_gives_nothing() -> None:
    change = needing(Need(kind=NeedKind.OPTION, text="--all", path="t.py"))
    assert found("It knows --all-records and should show all.\n", change) != []


def test_a_name_that_the_base_has_elsewhere_is_a_warning() -> None:
    (one,) = found(plain_case()["task"], needing(Need(kind=NeedKind.NAME, text="merge", path="t.py", elsewhere=True)))
    assert (one.code, one.severity) == (Code.NEEDED_NAME, Severity.WARNING)


def test_a_waiver_holds_for_its_text_alone() -> None:
    waiver = {"code": "link", "text": "https://example.org/o/r/pull/1", "reason": "A public standard."}
    plain = plain_case(task="It must follow https://example.org/o/r/pull/1 to the letter and in every case.\n")
    plain["review"]["waivers"] = [waiver]
    (one,) = lint(as_case(plain))
    assert one.waived == "A public standard."
    assert blocking((one,)) == ()
    plain["task"] = plain["task"].replace("pull/1", "pull/2")
    (one,) = lint(as_case(plain))
    assert one.waived == ""
    assert as_case(plain).review.waivers == (Waiver(**waiver),)


def test_a_waiver_of_what_is_missing_names_it() -> None:
    plain = plain_case()
    plain["review"]["waivers"] = [{"code": "needed-name", "text": "merge_all", "reason": "The base's docs say it."}]
    change = needing(*(Need(kind=NeedKind.NAME, text=text, path="t.py") for text in ("merge_all", "merge_some")))
    assert [(each.text, bool(each.waived)) for each in lint(as_case(plain), change)] == [
        ("merge_all", True), ("merge_some", False),
    ]  # fmt: skip


def test_what_could_not_be_tried_is_noted() -> None:
    case = as_case(plain_case())
    (note,) = notes(case, None, "its history is gone")
    assert "its history is gone" in note
    assert f"casewright lint {case.id} --repo SOURCE" in note
    assert notes(case, CHANGE) == ()
    (note,) = notes(case, ChangeWords(**{**{n: getattr(CHANGE, n) for n in ChangeWords.__slots__}, "unread": ("c",)}))
    assert "in c files" in note


def test_every_code_has_its_rule() -> None:
    assert set(RULES) == set(Code)
    for rule in RULES.values():
        assert rule.severity.split()[0] in {"error", "error;", "warning", "warning;"}
        assert rule.meaning.endswith(".")
        assert rule.mend.endswith(".")


def with_change(**changes: Any) -> ChangeWords:
    return ChangeWords(**{**{name: getattr(CHANGE, name) for name in ChangeWords.__slots__}, **changes})


def test_a_hook_and_an_error_are_needed() -> None:
    task = plain_case()["task"]
    (one,) = found(task, needing(Need(kind=NeedKind.HOOK, text="init_each", path="t.py")))
    assert (one.code, one.severity, one.text) == (Code.NEEDED_NAME, Severity.ERROR, "init_each")
    assert "sets in a subclass" in one.message
    (one,) = found(task, needing(Need(kind=NeedKind.ERROR, text="ValueError", path="t.py")))
    assert (one.code, one.severity) == (Code.NEEDED_ERROR, Severity.WARNING)
    assert (
        found(f"It raises `ValueError`.\n\n{task}", needing(Need(kind=NeedKind.ERROR, text="ValueError", path="t")))
        == []
    )


def test_a_needed_word_is_called_what_it_is() -> None:
    task = plain_case()["task"]
    (one,) = found(task, needing(Need(kind=NeedKind.TEXT, text="_shelf_default", path="t.py")))
    assert "_shelf_default" in one.message


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ("It passes `self.width - self.indent` and should not.\n", "self.width - self.indent"),
        ("Here\n\n    wrap(text, self.width - self.indent)\n\nis wrong.\n", "wrap(text, self.width - self.indent)"),
        ("Here wrap(text, self.width - self.indent) is wrong.\n", "wrap(text, self.width - self.indent)"),
    ],
)
def test_code_that_the_fix_takes_away_is_a_warning(task: str, text: str) -> None:
    change = with_change(removed=("return wrap ( text , self . width - self . indent )",))
    (one,) = found(task, change)
    assert (one.code, one.severity, one.text) == (Code.REMOVED_LINE, Severity.WARNING, text)


@pytest.mark.parametrize(
    "task",
    [
        "It passes `self.width` and should not.\n",
        "The text wraps self.width - self.indent, in prose.\n",
        "It passes `self.width - self.other` and should not.\n",
        'Seen:\n\n    File "/a/b.py", line 3\n        wrap(text, self.width - self.indent)\n    TypeError: no\n',
    ],
)
def test_other_code_is_no_code_that_the_fix_takes_away(task: str) -> None:
    assert found(task, with_change(removed=("return wrap ( text , self . width - self . indent )",))) == []


@pytest.mark.parametrize(
    "task",
    [
        'For `bar#abc` it should be "bar/#abc" but is "bar#abc/" today.\n',
        "For bar#abc it should give `bar/#abc`, instead I get `bar#abc/` here.\n",
        "Expected: 'bar/#abc'\nActual: 'bar#abc/'\n",
    ],
)
def test_tests_that_demand_what_the_text_calls_wrong(task: str) -> None:
    (one,) = found(task, with_change(said=("bar#abc", "bar#abc/")))
    assert (one.code, one.severity, one.text) == (Code.CONTRADICTED, Severity.WARNING, "bar#abc/")
    assert task[one.start : one.end] == "bar#abc/"
    assert found(task, with_change(said=("bar/#abc",))) == []


@pytest.mark.parametrize(
    "task",
    [
        "For `bar#abc/` it should stay so, but is `bar#abc/` twice.\n",
        'It should be "bar#abc/" but is "bar/#abc" today.\n',
        "This is about `bar#abc/` and nothing else at all.\n",
    ],
)
def test_what_a_text_wants_or_gives_is_not_called_wrong(task: str) -> None:
    assert found(task, with_change(said=("bar#abc/",))) == []


_PIECES = [
    "a",
    "b_",
    "#1",
    "2 ",
    ".",
    "()",
    "`",
    "/",
    ":",
    "=",
    "\n",
    ">",
    "[",
    '"',
    "search.py",
    "(#1)",
    "```\n",
    "    ",
]


@settings(max_examples=80, deadline=None)
@given(pieces=st.lists(st.sampled_from(_PIECES), max_size=40))
def test_any_text_is_linted_and_every_span_is_what_it_says(pieces: list[str]) -> None:
    task = "".join(pieces)
    for one in lint(as_case(plain_case(task=task)), CHANGE):
        assert one.start == one.end or one.field != "task" or task[one.start : one.end] == one.text


@pytest.mark.parametrize("piece", ["`", "`a ", "#1 ", "search.py ", "a/", "\\", "1a2b3c4 ", "_walk_index ", "```\n"])
def test_a_long_text_of_one_thing_is_linted_too(piece: str) -> None:
    # What grows with the square of a text would never end here.
    findings = lint(as_case(plain_case(task=piece * 20_000 + "end\n")), CHANGE)
    assert len(findings) <= 20_001
