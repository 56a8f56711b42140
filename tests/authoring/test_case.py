"""The case: key order, strictness, ids."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from authoring.case import Case, new_id, to_plain, with_record_digest
from authoring.consistency import effective_state, faults, record_digest
from casewright.hashing import digest
from tests.support.cases import HEAD, as_case, plain_case, sealed


def test_a_whole_case_is_given_back_with_its_keys_in_order() -> None:
    plain = plain_case()
    assert json.dumps(to_plain(as_case(plain))) == json.dumps(plain)
    assert " ".join(plain) == (
        "schema id case_version repository_id repository_url base_commit grading_commit landing source language"
        " category task hints environment grading verification size review"
    )
    assert not list(faults(plain))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("base_commit",), "d78903c"),
        (("base_commit",), "D78903C79A1CB3F0664815079F6E7E15BB4FB990"),
        (("grading_commit",), "v1.0"),
        (("id",), "Not_A_Slug"),
        (("id",), "slug\n"),
        (("case_version",), 0),
        (("case_version",), 1.0),
        (("case_version",), True),
        (("task",), "a\x1bb"),
        (("task",), "a\r\nb"),
        (("task",), "a\x85b"),
        (("landing", "style"), "octopus"),
        (("source", "committed"), "2026-08-28"),
        (("source", "committed"), "2026-13-28T11:00:00Z"),
        (("verification", "date"), "2026-08-29T00:00:00Z"),
        (("verification", "base", "seconds"), 6.36),
        (("verification", "network"), "denied"),
        (("grading", "files"), []),
        (("grading", "files"), ["/etc/passwd"]),
        (("grading", "mode"), "exit code"),
        (("grading", "limits"), {"seconds": 60}),
        (("review", "state"), "done"),
        (("extra",), 1),
    ],
)
def test_what_a_case_may_not_hold(path: tuple[str, ...], value: Any) -> None:
    plain = plain_case()
    part: Any = plain
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    with pytest.raises(ValidationError):
        as_case(plain)


def test_long_ids_are_taken() -> None:
    plain = sealed(plain_case() | {"base_commit": "a" * 64, "grading_commit": "b" * 64})
    assert not list(faults(plain))


def test_the_record_s_digest_is_computed_from_the_plain_entry_alone() -> None:
    plain = plain_case()
    verification = dict(plain["verification"])
    named = verification.pop("record_digest")
    parts = ("repository_url", "base_commit", "grading_commit", "environment", "grading")
    assert named == digest({**{name: plain[name] for name in parts}, "verification": verification})
    assert record_digest(plain) == named


def test_a_builder_seals_the_record_last() -> None:
    case = as_case(plain_case())
    loose = case.model_copy(update={"grading_commit": "c" * 40})
    assert with_record_digest(loose).verification.record_digest != case.verification.record_digest


def test_verified_lapses_with_the_task() -> None:
    plain = plain_case()
    assert effective_state(plain) == "verified"
    assert effective_state({**plain, "task": plain["task"] + "More.\n"}) == "auto"


def test_ids_name_the_pull_request_or_the_commit_and_the_owner_on_a_clash() -> None:
    assert new_id("pallets/click", HEAD, 12) == "click-pr12"
    assert new_id("pallets/click", HEAD) == "click-249689d816"
    assert new_id("pallets/click", HEAD, 12, frozenset({"click-pr12"})) == "pallets-click-pr12"
    taken = frozenset({"click-pr12", "pallets-click-pr12"})
    assert new_id("pallets/click", HEAD, 12, taken) == "pallets-click-pr12-2"
    assert new_id("My_Repo.git", HEAD, 1) == "my-repo-git-pr1"


def test_the_schema_key_is_written_and_may_be_left_out_when_building() -> None:
    plain = plain_case()
    del plain["schema"]
    assert to_plain(as_case(plain))["schema"] == "casewright.case/v1"
    assert "schema" in Case.model_json_schema(mode="serialization")["required"]
