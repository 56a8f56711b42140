"""The check fails closed: whatever changes in a released file is told with its place."""

from __future__ import annotations

import copy
import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from casewright.errors import InvalidInputError
from library.check import PinFacts, check_file, check_history, check_library, load_library, pin_faults
from library.cut import CutOptions, cut
from library.release import case_digest, entries_digest, header_digest, release_bytes
from tests.support.cases import plain_case, sealed, split_case
from tests.support.libraries import case_lists, released_document, workspace_with

SLOW = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def resealed(document: dict[str, Any]) -> dict[str, Any]:
    """Make all digests fit again, as somebody would who wants to pass the check."""
    for case in document["cases"]:
        case["case_digest"] = case_digest(case)
    document["entries_digest"] = entries_digest(document["cases"])
    document["header_digest"] = header_digest(document)
    return document


def told(document: dict[str, Any]) -> tuple[str, ...]:
    return check_library(release_bytes(document), "x.json").faults


def two_cases() -> list[dict[str, Any]]:
    return [plain_case(id="a", category="release"), plain_case(id="b", language="javascript")]


@SLOW
@given(case_lists())
def test_what_is_cut_passes_and_has_jq_s_digest(cases: list[dict[str, Any]]) -> None:
    data = release_bytes(released_document(cases))
    report = check_library(data, "x.json")
    assert report.faults == ()
    assert report.document is not None
    if shutil.which("jq"):
        printed = subprocess.run(["jq", "-cjS", ".cases"], input=data, check=True, capture_output=True).stdout
        assert report.document["entries_digest"] == "sha256:" + hashlib.sha256(printed).hexdigest()


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_any_changed_byte_fails(data: st.DataObject) -> None:
    whole = release_bytes(released_document(two_cases()))
    place = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda one: one != whole[place]))
    report = check_library(whole[:place] + bytes([byte]) + whole[place + 1 :], "x.json")
    assert report.faults
    assert all(fault.startswith("/") for fault in report.faults)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_any_dropped_or_added_byte_fails(data: st.DataObject) -> None:
    whole = release_bytes(released_document(two_cases()))
    place = data.draw(st.integers(0, len(whole) - 1))
    added = data.draw(st.sampled_from([b"", b" ", b"\n", b"1", b'"']))
    report = check_library(whole[:place] + added + whole[place + (not added) :], "x.json")
    assert report.faults


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_any_dropped_added_or_moved_key_is_told_with_its_place_whatever_the_digests_say(data: st.DataObject) -> None:
    document = released_document(two_cases())
    place, holder = data.draw(st.sampled_from(list(_objects(document, ""))))
    key = data.draw(st.sampled_from(list(holder)))
    how = data.draw(st.sampled_from(["drop", "add", "move"]))
    if how == "drop":
        del holder[key]
    elif how == "add":
        holder["more"] = 1
    elif len(holder) > 1:
        # The first key goes last: an order that the format does not have.
        first = next(iter(holder))
        holder[first] = holder.pop(first)
    else:
        return
    faults = told(resealed(document) if how == "move" or (place.startswith("/cases/") and how == "add") else document)
    assert faults
    if how != "move":
        expected = f"{place}/{key if how == 'drop' else 'more'}: "
        assert any(fault.startswith(expected) for fault in faults), faults


def _objects(value: Any, place: str) -> Any:
    if isinstance(value, dict):
        yield place, value
        for key, item in value.items():
            yield from _objects(item, f"{place}/{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _objects(item, f"{place}/{index}")


def test_reordered_and_duplicated_cases_are_told_even_with_right_digests() -> None:
    document = released_document(two_cases())
    document["cases"].reverse()
    assert "/cases/1/id: a is not sorted" in told(resealed(document))
    document = released_document(two_cases())
    document["cases"][1] = copy.deepcopy(document["cases"][0])
    assert "/cases/1/id: a stands twice" in told(resealed(document))


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (("cases", 0, "base_commit"), "d78903c", "/cases/0/base_commit"),
        (("cases", 0, "base_commit"), "D78903C79A1CB3F0664815079F6E7E15BB4FB990", "/cases/0/base_commit"),
        (("cases", 0, "id"), "a\n", "/cases/0/id"),
        (("cases", 0, "grading", "files"), [], "/cases/0/grading/files"),
        (("cases", 0, "grading", "apply"), "true", "/cases/0/grading/apply"),
        (
            ("cases", 0, "grading", "support_files"),
            ["tests/unit/test_record_search.py"],
            "/cases/0/grading/support_files/0",
        ),
        (("cases", 0, "verification", "base", "exit_code"), 0, "/cases/0/verification/base/exit_code"),
        (("cases", 0, "verification", "head", "exit_code"), 2, "/cases/0/verification/head/exit_code"),
        (("cases", 0, "verification", "head", "counts", "failed"), 1, "/cases/0/verification/head/counts/failed"),
        (("cases", 0, "verification", "reproduced"), False, "/cases/0/verification/reproduced"),
        (("cases", 0, "case_version"), "1", "/cases/0/case_version"),
        (("cases", 0, "case_version"), True, "/cases/0/case_version"),
        (("cases", 0, "task"), "a\x1bb", "/cases/0/task"),
        (("cases", 0, "category"), "other", "/counts/categories"),
        (("cases", 0, "review", "state"), "auto", "/counts/review"),
        (("cases", 0, "review", "task_digest"), "sha256:" + "0" * 64, "/counts/review"),
        (("counts", "cases"), 3, "/counts/cases"),
        (("limits",), [], "/limits"),
        (("limits", 2), "All is well.", "/limits"),
        (("library", "description"), "12 cases from two repositories.", "/library/description"),
        (("changes", "note"), "Now four languages.", "/changes/note"),
        (("changes", "added"), ["a"], "/changes/added"),
        (("changes", "removed"), ["a"], "/changes/removed"),
        (("withdrawn",), [{"id": "a", "case_digest": "sha256:" + "0" * 64, "reason": "x"}], "/withdrawn/0/id"),
        (("version",), 2, "/previous"),
        (("previous",), {"version": 1, "entries_digest": "sha256:" + "0" * 64}, "/previous"),
        (("rejections", "file"), "/etc/passwd", "/rejections/file"),
        (("published",), "2026-02-31x", "/published"),
        (("schema",), "casewright.library/v2", "/schema"),
        (("schema",), 7, "/schema"),
    ],
)
def test_a_wrong_value_is_told_with_its_place_even_with_right_digests(
    path: tuple[str | int, ...], value: Any, place: str
) -> None:
    document = released_document(two_cases())
    part: Any = document
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    faults = told(resealed(document))
    assert any(fault.startswith(f"{place}: ") for fault in faults), faults


def test_a_case_from_the_future_is_refused_clearly() -> None:
    document = {"schema": "casewright.library/v9", "anything": [1]}
    (fault,) = check_library(json.dumps(document).encode(), "x.json").faults
    assert "casewright.library/v9, which this casewright can't read" in fault
    assert "use a later casewright" in fault


def test_a_library_of_the_past_is_still_whole() -> None:
    # Written once; its digests are also jq's, over `.cases` and over `del(.cases,.header_digest)`.
    report = check_file(Path(__file__).parent / "data" / "ours-v1.json")
    assert report.faults == ()
    assert report.document is not None
    digests = [report.document[key].removeprefix("sha256:") for key in ("entries_digest", "header_digest")]
    assert digests == [
        "104519e83c403f5a77d67e7e5c1966ef742afb59f41bb1d07e4cf097d2dca716",
        "6b0a00d8a5e09143690ef1882f166c9ba974680d6eda5ead6c628efccf905e90",
    ]


@pytest.mark.parametrize("data", [b"", b"[]", b"1", b"{}", b'{"schema":"casewright.case/v1"}', b"\xff", b"[" * 5000])
def test_what_is_no_library_is_told_without_a_traceback(data: bytes) -> None:
    report = check_library(data, "x.json")
    assert len(report.faults) == 1
    assert report.document is None


def test_other_bytes_of_the_same_library_are_not_the_released_file() -> None:
    document = released_document(two_cases())
    for data in (
        json.dumps(document).encode(),
        release_bytes(document).replace(b"\n", b"\r\n"),
        release_bytes(document)[:-1],
    ):
        (fault,) = check_library(data, "x.json").faults
        assert fault.startswith("/: the bytes are not those of a release")


def test_the_file_beside_it_counts_too(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path, two_cases())
    path = cut(workspace, CutOptions(), "2026-09-01", [{"head": "a", "reason": "flaky"}]).path
    assert path is not None
    assert check_file(path).whole
    beside = path.with_name("ours-v1.rejections.jsonl")
    beside.chmod(0o644)
    beside.write_bytes(beside.read_bytes() + b"{}\n")
    assert check_file(path).faults == ("/rejections/sha256: is not that of ours-v1.rejections.jsonl",)
    with pytest.raises(InvalidInputError, match="is not whole: /rejections/sha256"):
        load_library(path)
    beside.unlink()
    assert check_file(path).faults == ("/rejections/file: ours-v1.rejections.jsonl is not beside the library",)


def test_a_missing_file_is_invalid_input(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="can't be read"):
        check_file(tmp_path / "absent.json")


def test_the_chain_of_versions_is_walked(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path, two_cases())
    cut(workspace, CutOptions(), "2026-09-01", [])
    draft = workspace.cases / "a.yaml"
    draft.write_text(draft.read_text().replace("category: release", "category: other"))
    cut(workspace, CutOptions(), "2026-09-02", [])
    assert [report.faults for report in check_history(workspace.releases)] == [(), ()]

    second = workspace.releases / "ours-v2.json"
    document = json.loads(second.read_bytes())
    second.chmod(0o644)
    second.write_bytes(release_bytes(resealed({**document, "changes": {**document["changes"], "revised": []}})))
    (_, report) = check_history(workspace.releases, "ours")
    assert report.faults == ("/changes/revised: is not what changed since version 1",)

    first = workspace.releases / "ours-v1.json"
    first.chmod(0o644)
    other = released_document([plain_case(id="z")])
    first.write_bytes(release_bytes(other))
    assert any("/previous/entries_digest" in fault for fault in check_history(workspace.releases)[1].faults)
    first.unlink()
    (report,) = check_history(workspace.releases)
    assert "/previous: version 1 of ours is not here" in report.faults
    with pytest.raises(InvalidInputError, match="no released library"):
        check_history(tmp_path / "cases")


def test_pins_are_held_against_a_clone() -> None:
    document = released_document([plain_case()])
    paths = {b"tests/unit/test_record_search.py", b"tests/conftest.py", b"tests/unit/test_old.py", b"src/a.py"}

    def lookup(url: str, base: str, grading: str) -> PinFacts:
        assert (url, len(base), len(grading)) == ("https://example.org/yylo/ledger.git", 40, 40)
        return facts

    facts = PinFacts(base_found=True, grading_found=True, base_is_ancestor=True, changed=frozenset(paths))
    assert pin_faults(document, lookup) == ()
    facts = PinFacts(
        base_found=True, grading_found=True, base_is_ancestor=True, changed=frozenset(paths - {b"src/a.py"})
    )
    assert pin_faults(document, lookup) == ("/cases/0/grading: covers the whole change: nothing is left to do",)
    facts = PinFacts(base_found=True, grading_found=False)
    assert pin_faults(document, lookup)[0].startswith("/cases/0/grading_commit: ")
    facts = PinFacts(base_found=True, grading_found=True, changed=frozenset(paths - {b"tests/conftest.py"}))
    assert pin_faults(document, lookup) == (
        "/cases/0/base_commit: is no ancestor of the grading commit",
        "/cases/0/grading: 'tests/conftest.py' does not change between the pins",
    )


def test_an_exit_code_case_passes_with_empty_lists() -> None:
    plain = plain_case()
    lists = ("fail_to_pass", "pass_to_pass", "fails_by", "skipped_at_head", "unstable_at_base")
    empty: dict[str, list[str]] = {key: [] for key in lists}
    document = released_document([sealed({**plain, "grading": {**plain["grading"], **empty, "mode": "exit-code"}})])
    assert told(document) == ()
    assert document["counts"]["modes"] == {"per_test": 0, "exit_code": 1}


def test_a_split_file_may_be_all_that_changes() -> None:
    document = released_document([split_case()])
    pins = PinFacts(base_found=True, grading_found=True, base_is_ancestor=True, changed=frozenset({b"src/lib.rs"}))
    assert pin_faults(document, lambda *_: pins) == ()
    assert check_library(release_bytes(document), "a.json").faults == ()
