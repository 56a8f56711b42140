"""The texts of a change, kept beside its draft."""

from __future__ import annotations

from pathlib import Path

from authoring.known_texts import keep_texts, known_texts
from authoring.statement import SourceText, TextKind
from casewright.new_workspace import init_workspace
from tests.support.cases import as_case, plain_case

TEXTS = (
    SourceText(kind=TextKind.ISSUE, source="issue o/r#1", title="It breaks", text="a\r\nb\x07 \U0001f600\n"),
    SourceText(kind=TextKind.COMMIT, source="commit message", title="", text="Mend it\n"),
)


def test_texts_come_back_as_they_were(tmp_path: Path) -> None:
    workspace, case = init_workspace(tmp_path)[0], as_case(plain_case())
    assert known_texts(workspace, case) == ()
    keep_texts(workspace, case, TEXTS)
    assert known_texts(workspace, case) == TEXTS


def test_what_has_no_utf8_is_kept_as_near_as_can_be(tmp_path: Path) -> None:
    workspace, case = init_workspace(tmp_path)[0], as_case(plain_case())
    keep_texts(workspace, case, (SourceText(kind=TextKind.ISSUE, source="s", title="\ud800", text="x"),))
    assert known_texts(workspace, case)[0].title == "?"


def test_a_damaged_file_is_as_good_as_none(tmp_path: Path) -> None:
    workspace, case = init_workspace(tmp_path)[0], as_case(plain_case())
    keep_texts(workspace, case, TEXTS)
    for path in (workspace.state / "changes").iterdir():
        path.write_bytes(path.read_bytes()[:-9])
    assert known_texts(workspace, case) == ()
