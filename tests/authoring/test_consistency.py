"""Fields of a case that contradict each other."""

from __future__ import annotations

from typing import Any

import pytest

from authoring.consistency import faults
from tests.support.cases import BASE, plain_case, split_case

GRADED = "tests/unit/test_record_search.py"


def changed(**parts: dict[str, Any]) -> dict[str, Any]:
    plain = plain_case()
    for name, part in parts.items():
        plain[name] = {**plain[name], **part}
    return plain


@pytest.mark.parametrize(
    ("plain", "place", "told"),
    [
        (plain_case() | {"grading_commit": BASE}, ("grading_commit",), "base commit too"),
        (plain_case() | {"grading_commit": "a" * 64}, ("grading_commit",), "another length"),
        (changed(grading={"files": ["b", "a"]}), ("grading", "files"), "not sorted"),
        (changed(grading={"files": ["a/../b"]}), ("grading", "files", 0), "not a plain path"),
        (changed(grading={"files": ["../b"]}), ("grading", "files", 0), "not a plain path"),
        (changed(grading={"support_files": [GRADED]}), ("grading", "support_files", 0), "stands in files already"),
        (changed(grading={"directory": "../x"}), ("grading", "directory"), "not a plain path"),
        (changed(grading={"apply": "true"}), ("grading", "apply"), "git --literal-pathspecs diff-tree"),
        (changed(grading={"fail_to_pass": []}), ("grading", "fail_to_pass"), "grades nothing"),
        (changed(grading={"pass_to_pass": ["a", "a"]}), ("grading", "pass_to_pass", 1), "already"),
        (
            changed(grading={"fails_by": [{"id": "x", "how": "error"}]}),
            ("grading", "fails_by", 0, "id"),
            "not in fail_to_pass",
        ),
        (changed(grading={"mode": "exit-code"}), ("grading", "fails_by"), "must be empty"),
        (changed(review={"by": None}), ("review", "by"), "is missing"),
        (changed(environment={"setup": ["true"]}), ("verification", "record_digest"), "edited by hand"),
    ],
)
def test_a_contradiction_has_a_place(plain: dict[str, Any], place: tuple[str | int, ...], told: str) -> None:
    found = {fault.place: fault.message for fault in faults(plain)}
    assert told in found[place]


@pytest.mark.parametrize(
    ("state", "part", "place"),
    [
        ("base", {"exit_code": 0}, ("base", "exit_code")),
        ("head", {"exit_code": 1}, ("head", "exit_code")),
        ("head", {"counts": {"passed": 7, "failed": 1, "error": 0}}, ("head", "counts", "failed")),
        ("head", {"counts": {"passed": 6, "failed": 0, "error": 0}}, ("head", "counts", "passed")),
    ],
)
def test_a_verification_shows_a_base_that_fails_and_a_head_that_passes(
    state: str, part: dict[str, Any], place: tuple[str, ...]
) -> None:
    plain = plain_case()
    plain["verification"][state].update(part)
    assert ("verification", *place) in {fault.place for fault in faults(plain)}


def test_a_case_with_a_split_file_agrees_with_itself_and_others_have_no_such_key() -> None:
    assert list(faults(split_case())) == []
    assert "test_hunks" not in plain_case()["grading"]


@pytest.mark.parametrize(
    ("plain", "place", "told"),
    [
        (split_case({"path": "src/other.rs"}), ("grading", "test_hunks", 0, "path"), "no file of the test part"),
        (split_case({"base_lines": 0, "grading_lines": 0}), ("grading", "test_hunks", 0), "changes nothing"),
        (split_case({}, {"base_line": 7}), ("grading", "test_hunks", 1), "overlaps"),
        (split_case({"base_line": 9}, {}), ("grading", "test_hunks", 1), "not sorted"),
        (changed(grading={"test_hunks": []}), ("grading", "test_hunks"), "leave the key out"),
    ],
)
def test_a_hunk_that_can_not_be_has_a_place(plain: dict[str, Any], place: tuple[str | int, ...], told: str) -> None:
    found = {fault.place: fault.message for fault in faults(plain)}
    assert told in found[place]


def test_other_lines_than_the_record_has_are_another_command() -> None:
    plain = split_case()
    plain["grading"]["test_hunks"][0]["base_lines"] = 6
    assert ("grading", "apply") in {fault.place for fault in faults(plain)}
