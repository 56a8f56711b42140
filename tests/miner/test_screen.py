"""The tree screens, each by the smallest change that it refuses, in the order of the reasons."""

from __future__ import annotations

import pytest

from miner.parts import split
from miner.path_rules import PathRules
from miner.reasons import EXPLANATIONS, Reason, Stage
from miner.screen import SizeLimits, all_reasons, representable, screen, screen_parts, sentence, shown_path

_MODE = {"A": ("000000", "100644"), "D": ("100644", "000000"), "M": ("100644", "100644"), "S": ("160000", "160000")}


def _entries(*files: tuple[str, str | bytes]) -> list[bytes]:
    entries = []
    for status, path in files:
        old, new = _MODE[status]
        raw = f":{old} {new} {'1' * 40} {'2' * 40} {'M' if status == 'S' else status}"
        entries += [raw.encode(), path.encode() if isinstance(path, str) else path]
    return entries


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ([], Reason.EMPTY_CHANGE),
        ([("M", "README.md")], Reason.NO_TEST_CHANGE),
        ([("M", "box.py")], Reason.NO_TEST_CHANGE),
        ([("M", "CHANGES.rst"), ("A", "tests/test_a.py")], Reason.NO_SOURCE_CHANGE),
        ([("M", "setup.py"), ("M", "docs/conf.py"), ("A", "tests/test_a.py")], Reason.NO_SOURCE_CHANGE),
        ([("D", "box.py"), ("D", "tests/test_a.py")], Reason.ONLY_DELETED_TESTS),
        ([("M", "box.py"), ("M", "tests/conftest.py"), ("D", "tests/test_a.py")], Reason.ONLY_DELETED_TESTS),
        ([("M", "box.py"), ("D", "tests/data.json")], Reason.ONLY_DELETED_TESTS),
        ([("M", "box.py"), ("M", "tests/data.json")], Reason.NO_RUNNABLE_TEST_FILE),
        ([("M", "box.py"), ("M", "tests/test_a.py"), ("S", "vendor/lib")], Reason.SUBMODULE_CHANGE),
        ([("M", "tests/test_a.py"), ("S", "vendor/lib")], Reason.SUBMODULE_CHANGE),
        ([("M", "box.py"), ("M", "tests/test_a.py"), ("A", b"tests/\xe9")], Reason.PATH_NOT_REPRESENTABLE),
        ([("M", "box.py"), ("M", "tests/test_a.py"), ("A", b"tests/\x1b")], Reason.PATH_NOT_REPRESENTABLE),
        ([("M", "box.py"), ("M", "tests/test_a.py"), ("A", b"src/\xe9")], None),
        ([("M", "box.py"), ("M", "tests/test_a.py"), ("A", "tests/new\nline\t\u00e9")], None),
        ([("M", "bin/hello"), ("M", "tests/test_a.py")], None),
    ],
)
def test_the_first_reason_is_given(files: list[tuple[str, str | bytes]], reason: Reason | None) -> None:
    entries = _entries(*files)
    rules = PathRules()

    assert screen(entries, rules, SizeLimits()).reason is reason
    assert screen_parts(entries, split(entries, rules), SizeLimits()).reason is reason


def test_a_rest_part_of_too_many_files_is_refused() -> None:
    entries = _entries(("A", "tests/test_a.py"), *(("M", f"src/{number}.py") for number in range(101)))

    screened = screen(entries, PathRules(), SizeLimits())

    assert screened.reason is Reason.TOO_LARGE
    assert sentence(screened) == "the rest part has 101 files"
    assert screen(entries, PathRules(), SizeLimits(files=101)).reason is None


def test_every_reason_is_listed_for_who_asks_in_the_order_of_the_table() -> None:
    entries = _entries(("M", "README.md"), ("D", b"tests/\xe9_test.py"), ("S", "vendor/lib"))
    found = all_reasons(entries, split(entries, PathRules()), SizeLimits(files=1))
    table = [reason for reason in Reason if EXPLANATIONS[reason].stage is Stage.TREE]

    assert found == (
        Reason.ONLY_DELETED_TESTS,
        Reason.NO_RUNNABLE_TEST_FILE,
        Reason.SUBMODULE_CHANGE,
        Reason.PATH_NOT_REPRESENTABLE,
        Reason.TOO_LARGE,
    )
    assert [reason for reason in table if reason in found] == list(found)
    assert all_reasons([], split([], PathRules()), SizeLimits()) == (Reason.EMPTY_CHANGE,)


def test_the_sentence_names_what_it_is_about() -> None:
    entries = _entries(("M", "a.py"), ("M", "tests/test_a.py"), *(("S", f"vendor/{name}") for name in "abcd"))

    assert sentence(screen(entries, PathRules(), SizeLimits())) == (
        "the change moves a submodule (vendor/a, vendor/b, vendor/c and 1 more)"
    )


def test_paths_are_shown_with_escapes() -> None:
    assert shown_path(b"tests/latin-\xe9.txt") == "tests/latin-\\xe9.txt"
    assert shown_path(b"new\nline") == "new\\x0aline"
    assert shown_path("é 日本".encode()) == "é 日本"
    assert representable(b"tab\t")
    assert not representable(b"del\x7f")
