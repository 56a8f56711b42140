"""Workspaces with drafts, and released libraries, to start from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from authoring.change_words import ChangeWords, words_bytes
from authoring.consistency import paths_of_test_part
from authoring.draft import write_draft
from authoring.known_change import words_path
from casewright.configuration import Configuration, LibrarySection
from casewright.new_workspace import init_workspace
from casewright.workspace import Workspace
from library.cut import CutOptions, prepare
from tests.support.cases import as_case, plain_case, sealed

CONFIGURATION = """\
schema: casewright.workspace/v1
library:
  id: ours
  title: "Ours: {cases} cases"
  description: "{cases} cases from {repositories} repositories."
  url: https://example.org/ours
  licence: CC-BY-4.0
  maintainers: [A. Maintainer]
"""
IDENTITY = LibrarySection(
    id="ours",
    title="Ours: {cases} cases",
    description="{cases} cases from {repositories} repositories.",
    url="https://example.org/ours",
    licence="CC-BY-4.0",
    maintainers=("A. Maintainer",),
)


def workspace_with(folder: Path, cases: Sequence[dict[str, Any]]) -> Workspace:
    """Make a workspace that holds these drafts, and knows of changes without a word of their own."""
    workspace, _ = init_workspace(folder)
    workspace.configuration_path.write_text(CONFIGURATION)
    for case in cases:
        write_draft(workspace, as_case(case))
        know(workspace, case)
    return workspace


def know(workspace: Workspace, case: dict[str, Any], **words: Any) -> None:
    """Have a workspace know of a case's change: nothing but its pins and test part, and what ``words`` say."""
    plain: dict[str, Any] = {
        "repository": case["repository_id"],
        "base": case["base_commit"],
        "head": case["grading_commit"],
        "rest_paths": (),
        "test_paths": tuple(paths_of_test_part(case["grading"])),
        "test_names": (),
        "fix_names": (),
        "offered_names": (),
        "changed_names": (),
        "fragments": (),
        "needs": (),
        "commits": (case["base_commit"], case["grading_commit"]),
        "unread": (),
    }
    path = words_path(workspace, as_case(case))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(words_bytes(ChangeWords(**{**plain, **words})))


def released_document(
    cases: Sequence[dict[str, Any]], previous: dict[str, Any] | None = None, options: CutOptions | None = None
) -> dict[str, Any]:
    """Return the document that a cut of these cases would write."""
    configuration = Configuration(library=IDENTITY)
    prepared = prepare(cases, previous, configuration, options or CutOptions(), "2026-09-01", [])
    assert prepared is not None
    return dict(prepared.document)


_TEXT = st.text(st.characters(exclude_characters="\x7f", exclude_categories=["Cs"]), min_size=1, max_size=20)
_WORD = st.from_regex(r"[a-z][a-z0-9]{0,6}", fullmatch=True)


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a whole case with ids, texts and numbers of all sorts in it."""
    plain = plain_case(
        id=draw(_WORD),
        case_version=draw(st.integers(1, 5)),
        repository_id=f"{draw(_WORD)}/{draw(_WORD)}",
        language=draw(st.sampled_from(["python", "javascript", "go"])),
        category=draw(_WORD),
    )
    tests = draw(st.lists(_TEXT, min_size=2, max_size=5, unique=True))
    plain["grading"] |= {"fail_to_pass": tests[:1], "pass_to_pass": tests[1:], "fails_by": [], "skipped_at_head": []}
    plain["grading"]["check"] = draw(_TEXT.filter(lambda text: "\0" not in text))
    plain["verification"]["base"]["error"] = draw(_TEXT)
    plain["verification"]["base"]["seconds"] = draw(st.integers(0, 2**53 - 1))
    plain["size"]["lines"] = draw(st.integers(0, 9999))
    plain["source"]["committed"] = f"2026-0{draw(st.integers(1, 9))}-15T00:00:00Z"
    return sealed(plain)


def case_lists(least: int = 1, most: int = 4) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Draw cases with different ids."""
    return st.lists(cases(), min_size=least, max_size=most, unique_by=lambda case: str(case["id"]))
