"""``show``: a whole case on a terminal, as JSON and as a page, from a draft, a release or a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from authoring.lint import Code, Finding, Severity
from authoring.sources import remember
from casewright.cli.marked_text import marked_lines
from casewright.workspace import Workspace
from tests.cli.test_mine_commands import snapshot
from tests.support.cases import TASK, plain_case
from tests.support.command_line import CommandLine
from tests.support.hostile import hostile_case, hostile_history
from tests.support.libraries import workspace_with

CASE = "ledger-249689d816"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return workspace_with(tmp_path / "bench", [plain_case()])


@pytest.fixture
def hostile(tmp_path: Path) -> Workspace:
    repo = hostile_history(tmp_path / "repo", 9)
    workspace = workspace_with(tmp_path / "odd", [hostile_case(repo, 9)])
    remember(workspace, "yylo/ledger", str(repo.path))
    return workspace


class TestText:
    def test_everything_is_there_and_fits_eighty_columns(self, cli: CommandLine, workspace: Workspace) -> None:
        ran = cli("-C", workspace.root, "show", CASE)
        assert (ran.code, ran.err) == (0, "")
        assert "\x1b" not in ran.out
        for piece in (
            "  Search results leave out records that git does not know yet.\n",
            "  base            d78903c79a1cb3f0664815079f6e7e15bb4fb990",
            "squash: the commit has one parent",
            "  graded          tests/unit/test_record_search.py\n",
            "left out as a grader, red-at-both",
            "  the rest part is not shown: its history is not at hand on this machine",
            "    assertion     tests/unit/test_record_search.py::test_b[a: b]\n",
            "  pass to pass (5)\n",
            "2 failed, 5 passed, 1 skipped in 6.36s (exit code 1, 3 runs,",
            "    ../env/bin/python -m pytest tests/unit/test_record_search.py\n",
            "  licence         Apache-2.0",
            "  read by         A. Reviewer, 2026-08-30",
        ):
            assert piece in ran.out, piece
        commands = ran.out.index("\ncommands\n"), ran.out.index("\nprovenance\n")
        rest = ran.out[: commands[0]] + ran.out[commands[1] :]
        assert max(len(line) for line in rest.splitlines() if "0" * 64 not in line and "/" not in line) <= 80

    def test_files_are_shown_by_part_where_the_history_is_at_hand(self, cli: CommandLine, hostile: Workspace) -> None:
        ran = cli("-C", hostile.root, "show", "hostile-1")
        assert ran.code == 0
        files = ran.out.partition("\nfiles\n")[2].partition("\n\n")[0].splitlines()
        assert files[0] == "  graded          tests/unit/test_record_search.py  +400 -0"
        assert "  rest            data.bin  binary" in files
        assert "  rest            src/caf\\xe9.py  +1 -0" in files
        assert not {"\u202e", "\u200b", "\r"}.intersection(ran.out)

    def test_it_writes_nothing_into_the_drafts(self, cli: CommandLine, hostile: Workspace) -> None:
        before = snapshot(hostile.cases)
        cli("-C", hostile.root, "show", "hostile-1")
        assert snapshot(hostile.cases) == before

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("nobody",), "there is no draft 'nobody'"),
            ((CASE, "--library", "none.json"), "none.json"),
            ((CASE, "--library", "x.json", "--draft"), "give --library or --draft"),
            ((CASE, "--repo", "nowhere"), "nowhere does not exist"),
        ],
    )
    def test_what_is_not_there_is_one_line(
        self, cli: CommandLine, workspace: Workspace, arguments: tuple[str, ...], said: str
    ) -> None:
        ran = cli("-C", workspace.root, "show", *arguments)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert said in ran.err


class TestReleased:
    @pytest.fixture
    def release(self, cli: CommandLine, workspace: Workspace) -> Path:
        assert cli("-C", workspace.root, "cut").code == 0
        return workspace.releases / "ours-v1.json"

    @pytest.mark.usefixtures("release")
    def test_the_newest_release_goes_before_the_draft(self, cli: CommandLine, workspace: Workspace) -> None:
        draft = workspace.cases / f"{CASE}.yaml"
        draft.write_text(draft.read_text().replace("Search results leave out", "Searches leave out"))
        ran = cli("-C", workspace.root, "show", CASE, "--format", "json")
        assert ran.err == "shown as released in ours version 1; --draft shows the draft\n"
        assert (ran.json["case"]["task"], ran.json["origin"]) == (TASK, "ours version 1")
        assert ran.json["case"]["case_digest"].startswith("sha256:")
        now = cli("-C", workspace.root, "show", CASE, "--format", "json", "--draft").json
        assert (now["state"], now["case"]["task"][:8]) == ("auto", "Searches")

    def test_a_file_needs_no_workspace(self, cli: CommandLine, release: Path, tmp_path: Path) -> None:
        lone = tmp_path / "lone"
        lone.mkdir()
        copy = lone / "ours-v1.json"
        for file in release.parent.iterdir():
            (lone / file.name).write_bytes(file.read_bytes())
        ran = cli("-C", lone, "show", CASE, "--library", copy, "--format", "json")
        assert (ran.code, ran.json["origin"], ran.json["files"]) == (0, "ours version 1", None)
        assert len(list(lone.iterdir())) == 2
        assert "there is no case 'x'" in cli("-C", lone, "show", "x", "--library", copy).err


class TestPage:
    def test_it_is_written_whole_and_said_so(self, cli: CommandLine, hostile: Workspace, tmp_path: Path) -> None:
        place = tmp_path / "case.html"
        place.write_text("old")
        ran = cli("-C", hostile.root, "show", "hostile-1", "--html", place)
        assert (ran.code, ran.out, ran.err) == (0, "", f"wrote {place}\n")
        page = place.read_text()
        assert page.startswith("<!DOCTYPE html>")
        assert page.endswith("</html>\n")
        assert "<script" not in page
        assert cli("-C", hostile.root, "show", "hostile-1", "--html", "-").out == page

    @pytest.mark.parametrize("place", ["", "no/such/folder.html"])
    def test_a_wrong_place_is_one_line(
        self, cli: CommandLine, workspace: Workspace, tmp_path: Path, place: str
    ) -> None:
        before = snapshot(tmp_path)
        ran = cli("-C", workspace.root, "show", CASE, "--html", tmp_path / place)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert snapshot(tmp_path) == before

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_a_place_that_can_not_be_written(self, cli: CommandLine, workspace: Workspace, tmp_path: Path) -> None:
        (tmp_path / "shut").mkdir(mode=0o500)
        ran = cli("-C", workspace.root, "show", CASE, "--html", tmp_path / "shut" / "x.html")
        assert (ran.code, ran.err.count("\n")) == (3, 1)


def finding(text: str, about: str, **changes: Any) -> Finding:
    start = text.index(about)
    fields: dict[str, Any] = {"code": Code.LINK, "severity": Severity.ERROR, "field": "task", "text": about}
    fields |= {"start": start, "end": start + len(about), "message": "m", "suggestion": "s"}
    return Finding(**{**fields, **changes})


class TestMarkedLines:
    def test_each_finding_is_underlined_with_its_number(self) -> None:
        text = "See abc and\n\u65e5\u672c xyz here.\n"
        found = [finding(text, "xyz"), finding(text, "abc"), finding(text, "xyz", field="hints")]
        assert marked_lines(text, "task", found, 80) == [
            "  See abc and",
            "      ~~~ 2",
            "  \u65e5\u672c xyz here.",
            "       ~~~ 1",
        ]

    def test_a_span_over_a_fold_is_underlined_on_both_lines(self) -> None:
        text = "one two three four five\n"
        assert marked_lines(text, "task", [finding(text, "three four")], 17) == [
            "  one two three",
            "          ~~~~~",
            "  four five",
            "  ~~~~ 1",
        ]

    def test_a_line_of_a_whole_book_is_folded_at_once(self) -> None:
        lines = marked_lines("\u65e5\u672c " * 30_000 + "\n", "task", [], 80)
        assert len(lines) == 30_000 // 15

    def test_a_word_without_an_end_is_cut_and_nothing_is_lost(self) -> None:
        lines = marked_lines("x" * 50 + "\n", "task", [], 22)
        assert [len(line) for line in lines] == [22, 22, 12]
        assert "".join(line.strip() for line in lines) == "x" * 50

    def test_what_can_not_be_seen_is_written_out_and_counted(self) -> None:
        text = "a\u202eb cd\n"
        assert marked_lines(text, "task", [finding(text, "cd")], 80) == ["  a\\u202eb cd", "           ~~ 1"]
