"""What people wrote in a draft survives every tool run byte for byte, whatever YAML would like to make of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from authoring.case import with_record_digest
from authoring.draft import Draft, draft_path, draft_text, load_draft, mark_reviewed, update_record
from casewright.files import replace_file
from casewright.new_workspace import init_workspace
from casewright.workspace import Workspace
from tests.support.cases import as_case, plain_case
from tests.support.oddities import built_oddity

CONTROLS = set(map(chr, [*range(32), 127]))
C1 = set(map(chr, range(128, 160)))

Fits = Callable[[str], bool]


def line(value: str) -> bool:
    return not CONTROLS.intersection(value)


def full_line(value: str) -> bool:
    return line(value) and bool(value)


def prose(value: str) -> bool:
    return not (CONTROLS | C1).difference("\n\t").intersection(value)


def text(value: str) -> bool:
    return "\x7f" not in value


def command(value: str) -> bool:
    return text(value) and "\0" not in value and bool(value)


# Where a string of a case stands, and what it may hold.
FIELDS: dict[tuple[str | int, ...], Fits] = {
    ("task",): prose,
    ("hints",): prose,
    ("category",): full_line,
    ("language",): full_line,
    ("landing", "decided_by"): line,
    ("source", "licence"): full_line,
    ("source", "proposed_by"): line,
    ("source", "pull_request", "title"): line,
    ("source", "issues", 0, "title"): line,
    ("source", "issues", 0, "body"): text,
    ("source", "issues", 0, "labels", 0): line,
    ("source", "text_from", 0, "source"): line,
    ("source", "text_from", 0, "sentences", 0): line,
    ("environment", "setup", 0): command,
    ("environment", "dependencies", 0): full_line,
    ("grading", "check"): command,
    ("grading", "resolved_when"): full_line,
    ("grading", "excluded_files", 0, "detail"): text,
    ("grading", "skipped_at_head", 0): text,
    ("verification", "base", "summary"): text,
    ("verification", "base", "error"): text,
    ("verification", "runner"): full_line,
    ("review", "by"): full_line,
    ("review", "waivers", 0, "text"): text,
    ("review", "waivers", 0, "reason"): full_line,
}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return init_workspace(tmp_path / "bench")[0]


def full_case() -> dict[str, Any]:
    """Return a plain case in which every optional part is there."""
    plain = plain_case()
    pull = {"url": "https://example.org/pull/7", "number": 7, "title": "", "merged_at": None}
    issue = {"url": "https://example.org/issues/3", "number": 3, "title": "", "body": "", "labels": [""]}
    plain["source"] |= {"pull_request": pull, "issues": [{**issue, "created": "2026-01-01T00:00:00Z"}]}
    plain["source"]["text_from"] = [{"source": "", "sentences": [""]}]
    plain["review"]["waivers"] = [{"code": "link", "text": "", "reason": "needed"}]
    return plain


def put(plain: Any, place: tuple[str | int, ...], value: str) -> None:
    for step in place[:-1]:
        plain = plain[step]
    plain[place[-1]] = value


def got(plain: Any, place: tuple[str | int, ...]) -> Any:
    for step in place:
        plain = plain[step]
    return plain


def by_hand(draft: str) -> str:
    """Return a draft as a person leaves it: comments, blank lines and blanks that no tool would have made."""
    draft = draft.replace("\nlanguage:", "\n\n# this one is mine\nlanguage:  ")
    draft = draft.replace("\ncase_version: 1", "\ncase_version:   1   # as it was")
    return f"# kept by hand\n\n{draft}\n# the end\n"


def dealt(values: list[str]) -> Iterator[dict[tuple[str | int, ...], str]]:
    """Deal the values to the fields, hand by hand, until each has stood in a field of every kind that may hold it."""
    places: dict[Fits, list[tuple[str | int, ...]]] = {}
    for place, fits in FIELDS.items():
        places.setdefault(fits, []).append(place)
    fitting = {fits: [value for value in values if fits(value)] for fits in places}
    hands = max(-(-len(fitting[fits]) // len(kind)) for fits, kind in places.items())
    for hand in range(hands):
        yield {
            place: fitting[fits][(hand * len(kind) + number) % len(fitting[fits])]
            for fits, kind in places.items()
            for number, place in enumerate(kind)
        }


def written(workspace: Workspace, hand: dict[tuple[str | int, ...], str]) -> Draft:
    """Write a draft as a person leaves it with these values in its fields, and read it."""
    plain = full_case()
    for place, value in hand.items():
        put(plain, place, value)
    plain["review"] |= {"state": "auto", "task_digest": None}
    case = with_record_digest(as_case(plain))
    replace_file(draft_path(workspace, case.id), by_hand(draft_text(case)).encode())
    draft = load_draft(workspace, case.id)
    assert {place: got(draft.plain, place) for place in hand} == hand
    return draft


def parts(data: bytes) -> tuple[bytes, bytes]:
    """Return what stands before the tool's fields and what stands after them."""
    before, _, rest = data.partition(b"\nenvironment:\n")
    return before, rest[rest.index(b"\nsize:\n") :]


def test_every_string_field_survives_every_tool_run(workspace: Workspace, tmp_path: Path) -> None:
    values = json.loads((built_oddity("24-values-that-yaml-changes", tmp_path / "odd") / "values.json").read_text())
    assert len(values) == 65
    for hand in dealt(list(values.values())):
        draft = written(workspace, hand)
        verification = draft.case.verification.model_copy(update={"date": "2027-02-03", "reproduced": False})
        again = update_record(draft, with_record_digest(draft.case.model_copy(update={"verification": verification})))
        assert parts(again.data) == parts(draft.data)
        assert again.case.verification.date == "2027-02-03"
        read = mark_reviewed(again, "A. Reader", "2027-02-04")
        assert read.data.startswith(again.data.partition(b"\nreview:\n")[0])
        assert read.data.endswith(b"\n# the end\n")
        assert {**read.plain, "review": None} == {**again.plain, "review": None}
        assert read.case.review.waivers == again.case.review.waivers
