"""``edit``: the draft's texts go through a real editor (a script) and come back; nothing that was written is lost."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import stat
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from authoring.candidate_text import settled
from authoring.draft import edit_draft, list_drafts, load_draft
from authoring.known_texts import keep_texts
from authoring.proposal import PROPOSED
from authoring.statement import SourceText, TextKind
from casewright.cli.editing import editor_command
from casewright.cli.task_form import CUT_LINE, HINTS_LINE, Texts, form_text, read_form
from casewright.errors import InvalidInputError, UsageError
from casewright.workspace import Workspace, locked
from tests.support.cases import TASK, plain_case
from tests.support.command_line import CommandLine, Ran
from tests.support.libraries import workspace_with
from tests.support.oddities import built_oddity
from tests.support.own_process import COMMAND, start
from tests.support.repos import RepoBuilder
from tests.support.sandbox import needs_sandbox

CASE = "ledger-249689d816"
NEW = "The search leaves out what git does not know.\n\nIt is resolved when such records are found.\n"
REFUSED = set("".join(map(chr, [*range(9), *range(11, 32), *range(127, 160)])))


class Author:
    """An author at work: writes a script that is the editor, and runs ``edit`` with it."""

    def __init__(self, cli: CommandLine, workspace: Workspace, patch: pytest.MonkeyPatch) -> None:
        self.cli, self.workspace, self.patch = cli, workspace, patch
        self.draft = workspace.cases / f"{CASE}.yaml"

    def edits(self, script: str, *arguments: str) -> Ran:
        """Run ``edit`` with an editor that is this Python script over ``text``, the file's bytes, and ``path``."""
        editor = self.workspace.root / "the editor.py"
        head = "#!/usr/bin/env python3\nimport os, sys\npath = sys.argv[-1]\ntext = open(path, 'rb').read()\n"
        editor.write_text(f"{head}{script}\n")
        editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
        self.patch.setenv("EDITOR", f"'{editor}'")
        return self.cli("-C", self.workspace.root, "edit", CASE, *arguments)

    def writes(self, task: str, *arguments: str, hints: str = "") -> Ran:
        """Run ``edit`` with an editor that leaves these texts."""
        new = f"{task}\n{HINTS_LINE}\n{hints}\n{CUT_LINE}\n"
        return self.edits(f"open(path, 'wb').write({new.encode()!r})", *arguments)

    @property
    def case(self) -> dict[str, Any]:
        return load_draft(self.workspace, CASE).plain

    @property
    def kept(self) -> list[Path]:
        folder = self.workspace.state / "edits"
        return sorted(folder.iterdir()) if folder.exists() else []


@pytest.fixture
def author(cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Author:
    monkeypatch.delenv("VISUAL", raising=False)
    return Author(cli, workspace_with(tmp_path / "bench", [plain_case()]), monkeypatch)


class TestSaving:
    def test_the_task_is_changed_and_all_else_stays_byte_for_byte(self, author: Author) -> None:
        text = author.draft.read_text().replace("language: python\n", "# mine\nlanguage:   python  # stays\n\n")
        author.draft.write_text(text)
        ran = author.writes(NEW)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out == f"cases/{CASE}.yaml: auto, nothing to mend\n"
        before, after = text.split("task: |\n")[0], text.split("hints:")[1]
        indented = "".join(f"  {line}".rstrip() + "\n" for line in NEW.splitlines())
        assert author.draft.read_text() == f"{before}task: |\n{indented}hints:{after}"
        assert author.kept == []

    def test_a_changed_task_counts_as_unread_and_the_hints_do_not(self, author: Author) -> None:
        assert author.case["review"]["state"] == "verified"
        assert "verified" in author.writes(plain_case()["task"], hints="Mind `git status`.").out
        assert author.case["hints"] == "Mind `git status`.\n"
        assert ": auto" in author.writes(NEW, hints="Mind `git status`.").out
        assert author.writes(NEW).code == 0
        assert author.case["hints"] is None

    def test_errors_that_are_left_are_told_and_are_a_no(self, author: Author) -> None:
        ran = author.writes(f"{NEW}See commit 249689d816.\n", "--format", "json")
        assert ran.code == 1
        assert (ran.json["changed"], ran.json["state"]) == (True, "auto")
        assert "commit-id" in {finding["code"] for finding in ran.json["findings"]}
        assert "249689d816" in author.case["task"]

    def test_an_unchanged_file_changes_nothing(self, author: Author) -> None:
        before = author.draft.read_bytes()
        ran = author.edits("", "--format", "json")
        assert (ran.code, ran.err, ran.json["changed"]) == (0, "nothing was changed\n", False)
        assert author.draft.read_bytes() == before
        assert author.kept == []

    def test_what_an_editor_prints_is_no_part_of_the_result(self, author: Author) -> None:
        ran = author.edits("print('bell and whistle', flush=True)", "--format", "json")
        assert ran.json["case"] == CASE
        assert "bell and whistle" in ran.err

    def test_a_blank_at_the_end_of_a_line_leaves_the_task_a_block(self, author: Author) -> None:
        # YAML has no block for such a line: the whole task would be one quoted line that nobody can edit by hand.
        assert (
            author.writes("The search  \n\n```\nfinds(this) \n``` \n\nIt is resolved when it is found.\t\n").code == 0
        )
        written = "The search\n\n```\nfinds(this)\n```\n\nIt is resolved when it is found.\n"
        assert author.case["task"] == written
        assert "task: |\n  The search\n\n  ```\n  finds(this)\n  ```\n" in author.draft.read_text()

    def test_the_lines_of_a_source_end_as_lines_do_whatever_the_forge_sent(self, author: Author) -> None:
        draft = load_draft(author.workspace, CASE)
        told = SourceText(
            kind=TextKind.ISSUE, source="issue yylo/ledger#7", title="", text="One\r\nTwo\r\n\r\nThree\x07"
        )
        keep_texts(author.workspace, draft.case, (told,))
        author.edits("open('seen.md', 'wb').write(text)")
        seen = (author.workspace.root / "seen.md").read_bytes()
        assert seen.endswith(b"== issue yylo/ledger#7\n\nOne\nTwo\n\nThree\\x07\n")

    def test_the_author_sees_findings_and_sources_below_the_cut(self, author: Author) -> None:
        author.writes(f"{NEW}See commit 249689d816.\n")
        author.edits("open('seen', 'wb').write(text)")
        task, _, below = (author.workspace.root / "seen").read_text().partition(f"\n{HINTS_LINE}\n")
        assert task == f"{NEW}See commit 249689d816.\n"
        assert "1. error commit-id in task, line 4: '249689d816'" in below.partition(CUT_LINE)[2]

    def test_a_draft_with_crlf_keeps_it(self, author: Author) -> None:
        author.draft.write_bytes(author.draft.read_bytes().replace(b"\n", b"\r\n"))
        assert author.writes(NEW.replace("\n", "\r\n")).code == 0
        assert author.case["task"] == NEW
        assert author.draft.read_bytes().count(b"\r\n") == author.draft.read_bytes().count(b"\n")

    def test_every_value_of_oddity_24_comes_through(self, author: Author, tmp_path: Path) -> None:
        values = json.loads((built_oddity("24-values-that-yaml-changes", tmp_path / "odd") / "values.json").read_text())
        before = Texts(task=TASK, hints=None)
        draft = load_draft(author.workspace, CASE)
        others = author.draft.read_text().replace("hints: null\n", "").partition("task: |")
        for name, value in values.items():
            written = value.removeprefix("\ufeff").replace("\r\n", "\n")
            form = f"{value}\n{HINTS_LINE}\nabout {name}\n{CUT_LINE}\n".encode()
            if REFUSED.intersection(written):
                with pytest.raises(InvalidInputError, match="control character"):
                    read_form(form, "x", before)
                continue
            texts = read_form(form, "x", before)
            assert texts == Texts(task=settled(written), hints=f"about {name}\n"), name
            draft = edit_draft(draft, {"task": texts.task, "hints": texts.hints})
            assert (draft.case.task, draft.case.hints) == (texts.task, texts.hints), name
            now = author.draft.read_text()
            assert now.startswith(others[0]), name
            assert now.endswith(others[2].partition("# From here")[2]), name

    def test_texts_that_are_left_alone_are_not_settled(self, author: Author) -> None:
        author.draft.write_text(author.draft.read_text().replace("hints: null", 'hints: "\\ufeff\\n\\n  odd \\n\\n"'))
        before = author.draft.read_bytes()
        author.edits("")
        assert author.draft.read_bytes() == before
        author.edits("open(path, 'wb').write(b'More. ' + text)")
        assert author.case["hints"] == "\ufeff\n\n  odd \n\n"
        assert author.case["task"].startswith("More. Search results")


class TestWhatGoesWrong:
    def kept(self, author: Author, ran: Ran) -> bytes:
        """Return what the error says is kept, after a look that it is one line and names the file."""
        (path,) = author.kept
        # sh itself says that it saw a program killed.
        assert ran.err.removeprefix("Killed\n").count("\n") == 1
        assert str(path.relative_to(author.workspace.root)) in ran.err
        return path.read_bytes()

    @pytest.mark.parametrize(
        ("ending", "code", "said"),
        [
            ("sys.exit(7)", 3, "ended with exit code 7: the draft is as it was"),
            ("os.kill(os.getpid(), 9)", 3, "was ended by signal 9"),
            ("open(path, 'ab').write(b'x'); open(path, 'wb').write(b'\\x1b' + text)", 2, "line 1: holds U+001B"),
            ("open(path, 'wb').write(b'a\\xff\\n' + text)", 2, "line 1: not UTF-8"),
            ("open(path, 'wb').write(b'my text alone')", 2, "has lost the line that begins with '# ---- 8< ---'"),
            ("open(path, 'wb').write(text.replace(b'# ---- The', b'#'))", 2, "has lost the line"),
            ("open(path, 'wb').write(text[: text.index(b'# ---- 8<')] + text)", 2, "more than once"),
        ],
    )
    def test_the_text_is_kept_and_named_and_the_draft_is_as_it_was(
        self, author: Author, ending: str, code: int, said: str
    ) -> None:
        before = author.draft.read_bytes()
        ran = author.edits(f"open(path, 'ab').write(b'typed')\n{ending}")
        assert (ran.code, ran.out) == (code, "")
        assert said in ran.err
        assert self.kept(author, ran)
        assert author.draft.read_bytes() == before

    def test_an_editor_that_fails_before_anything_is_written_leaves_nothing(self, author: Author) -> None:
        ran = author.edits("sys.exit(1)")
        assert (ran.code, author.kept) == (3, [])

    @pytest.mark.parametrize("written", ["b''", "b'\\n \\n'", "text[text.index(b'\\n# ---- The'):]"])
    def test_an_emptied_task_changes_nothing(self, author: Author, written: str) -> None:
        before = author.draft.read_bytes()
        ran = author.edits(f"open(path, 'wb').write({written})")
        assert (ran.code, ran.out) == (1, "")
        assert ran.err.startswith("error: the task came back empty: the draft is as it was")
        assert author.draft.read_bytes() == before

    def test_an_editor_that_removes_the_file(self, author: Author) -> None:
        ran = author.edits("os.unlink(path)")
        assert (ran.code, ran.err.count("\n")) == (3, 1)

    def test_an_editor_that_is_not_there(self, author: Author) -> None:
        author.patch.setenv("EDITOR", "no-such-editor --wait")
        ran = author.cli("-C", author.workspace.root, "edit", CASE)
        assert ran.code == 3
        assert "the editor 'no-such-editor --wait' can't be run; set EDITOR to one that is installed" in ran.err

    def test_texts_that_somebody_else_changed_meanwhile_are_not_overwritten(self, author: Author) -> None:
        other = author.draft.read_text().replace("Search results leave out", "Searches leave out")
        ran = author.edits(
            f"open({str(author.draft)!r}, 'w').write({other!r})\nopen(path, 'wb').write(b'Mine. ' + text)"
        )
        assert ran.code == 3
        assert "were changed by somebody else" in ran.err
        assert self.kept(author, ran).startswith(b"Mine. Search results")
        assert author.draft.read_text() == other

    def test_what_else_was_changed_meanwhile_stays(self, author: Author) -> None:
        other = author.draft.read_text().replace("category: backend", "category: search  # by hand")
        ran = author.edits(
            f"open({str(author.draft)!r}, 'w').write({other!r})\nopen(path, 'wb').write(b'Mine. ' + text)"
        )
        assert ran.code == 0
        assert "category: search  # by hand" in author.draft.read_text()
        assert author.case["task"].startswith("Mine. Search results")

    def test_a_draft_that_is_gone_by_then(self, author: Author) -> None:
        ran = author.edits(f"os.unlink({str(author.draft)!r})\nopen(path, 'wb').write(b'Mine. ' + text)")
        assert (ran.code, author.draft.exists()) == (2, False)
        assert self.kept(author, ran).startswith(b"Mine. ")

    def test_a_workspace_that_can_t_be_written_is_told_before_the_editor_opens(self, author: Author) -> None:
        author.workspace.state.rename(author.workspace.root / "elsewhere")
        author.workspace.state.write_text("no folder\n")
        ran = author.edits("open('opened', 'w')")
        assert (ran.code, ran.err.count("\n")) == (3, 1)
        assert f"{author.workspace.state} can't be written" in ran.err
        assert not (author.workspace.root / "opened").exists()

    def test_another_casewright_may_mine_all_the_while(self, author: Author) -> None:
        with locked(author.workspace):
            assert author.writes(NEW).code == 0
        assert author.case["task"] == NEW

    @pytest.mark.parametrize("name", ["workspace", "drafts"])
    def test_nothing_is_locked_while_the_editor_is_open(self, author: Author, name: str) -> None:
        lock = str(author.workspace.state / f"{name}.lock")
        script = f"import subprocess\nsys.exit(subprocess.run(['flock', '-n', {lock!r}, 'true']).returncode)"
        assert author.edits(script).code == 0

    def test_ctrl_c_is_the_editors_own(self, author: Author) -> None:
        before = signal.getsignal(signal.SIGINT)
        ran = author.edits(f"os.kill({os.getpid()}, 2)\nopen(path, 'wb').write(b'Mine. ' + text)")
        assert ran.code == 0
        assert signal.getsignal(signal.SIGINT) is before

    def test_a_kept_edit_is_told_of_and_gone_on_with(self, author: Author) -> None:
        author.edits("open(path, 'wb').write(b'Mine. ' + text); sys.exit(1)")
        (path,) = author.kept
        left = path.rename(path.with_name(f"{CASE}-99999999.md"))
        shown = left.relative_to(author.workspace.root)
        assert f"an earlier edit is kept in {shown}" in author.edits("").err
        assert author.edits("", "--from", str(shown)).code == 0
        assert author.kept == []
        assert author.case["task"].startswith("Mine. Search results")


@needs_sandbox
def test_drafts_are_edited_and_reviewed_while_another_casewright_mines(author: Author, tmp_path: Path) -> None:
    box = RepoBuilder(tmp_path / "box")
    box.commit("Begin", {"box.py": "def area(a, b):\n    return a + b\n", "LICENSE": "MIT License\n"})
    test = "import unittest\nfrom box import area\n\n\nclass BoxTest(unittest.TestCase):\n    def test_area(self):\n"
    box.commit(
        "Multiply the sides, do not add them",
        {
            "box.py": "def area(a, b):\n    return a * b\n",
            "test_box.py": f"{test}        self.assertEqual(area(2, 3), 6)\n",
        },
    )
    # What proposes texts is run in the middle of a mining that holds the workspace: here until it is told to go on.
    waiting = "touch begun; until test -e go; do sleep 0.1; done; echo The area of a box is its sides multiplied."
    with author.workspace.configuration_path.open("a") as stream:
        stream.write(f"defaults: {{repeat: 1, statement: {{command: '{waiting}'}}}}\n")
    root = author.workspace.root
    mining = start(tmp_path / "mining", "-C", root, "mine", box.path, cache=tmp_path / "cache")
    while not (root / "begun").exists():
        assert mining.running.poll() is None, mining.err
        time.sleep(0.1)
    assert author.writes(NEW).code == 0
    assert author.cli("-C", root, "review", CASE, "--by", "B. Reader").code == 0
    assert author.cli("-C", root, "mine", box.path).code == 3, "two would write one ledger"
    (root / "go").touch()
    assert mining.end() == 0, mining.err
    edited = load_draft(author.workspace, CASE)
    assert (edited.case.task, edited.case.review.by, edited.state) == (NEW, "B. Reader", "verified")
    (mined,) = set(list_drafts(author.workspace)) - {CASE}
    assert load_draft(author.workspace, mined).case.task == "The area of a box is its sides multiplied.\n"


class TestBeginning:
    def test_a_text_of_the_authors_own(self, author: Author, tmp_path: Path) -> None:
        (tmp_path / "mine.md").write_text(NEW)
        assert author.edits("", "--from", str(tmp_path / "mine.md")).code == 0
        assert author.case["task"] == NEW

    @pytest.mark.parametrize(
        ("arguments", "code", "said"),
        [
            (("--from", "nowhere.md"), 2, "nowhere.md can't be read"),
            (("--from", "x", "--propose"), 2, "give one of the two"),
            (("--propose",), 2, "casewright.yaml names no command that proposes texts for yylo/ledger"),
        ],
    )
    def test_one_that_is_not_there(self, author: Author, arguments: tuple[str, ...], code: int, said: str) -> None:
        ran = author.edits("", *arguments)
        assert (ran.code, ran.err.count("\n")) == (code, 1)
        assert said in ran.err

    def test_a_proposal_is_offered_and_said_to_be_one(self, author: Author) -> None:
        with author.workspace.configuration_path.open("a") as stream:
            stream.write("defaults:\n  statement:\n    command: \"printf 'It should say why.'\"\n")
        ran = author.edits("open(path, 'wb').write(b'Once more: ' + text)", "--propose")
        assert ran.err == "the text is the one that your command proposed\n"
        assert author.case["task"] == "Once more: It should say why.\n"
        assert [row["source"] for row in author.case["source"]["text_from"]] == ["commit message", PROPOSED]

    def test_a_command_that_fails_leaves_the_drafts_text(self, author: Author) -> None:
        with author.workspace.configuration_path.open("a") as stream:
            stream.write("repositories:\n  yylo/ledger:\n    statement: {command: 'echo no >&2; false'}\n")
        ran = author.edits("", "--propose")
        assert ran.code == 0
        assert "no proposal: the proposing command ended with exit code 1: no; the text is the draft's own" in ran.err
        assert author.case["task"] == plain_case()["task"]


class TestTheEditor:
    def test_visual_goes_before_editor_and_arguments_are_kept(self) -> None:
        assert editor_command({"VISUAL": "code -w", "EDITOR": "vi"}) == "code -w"
        assert editor_command({"VISUAL": " ", "EDITOR": "ed -s"}) == "ed -s"

    def test_else_it_is_the_one_that_git_opens(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("VISUAL", "EDITOR"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("GIT_EDITOR", "my editor")
        assert editor_command({}) == "my editor"

    def test_without_any_the_hint_says_what_to_set(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        for name in ("VISUAL", "EDITOR", "GIT_EDITOR"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("TERM", "dumb")
        monkeypatch.setenv("HOME", str(tmp_path))
        with pytest.raises(UsageError, match="set EDITOR"):
            editor_command({})

    def test_one_that_leaves_at_once_is_refused_with_its_flag(self) -> None:
        with pytest.raises(UsageError, match="code -n --wait"):
            editor_command({"EDITOR": "/usr/bin/code -n"})


def test_a_text_that_holds_our_own_lines_is_not_offered() -> None:
    with pytest.raises(InvalidInputError):
        form_text(Texts(task=f"a\n{CUT_LINE}\n", hints=None), "")


@pytest.mark.parametrize("hints", [None, "", "a", "a\n", "\n\na \n\n"])
@pytest.mark.parametrize("task", ["", "x", "x\n", "  x\n\n\n", "\ufeffx\n", "\n"])
def test_a_form_reads_back_as_what_it_was_made_of(task: str, hints: str | None) -> None:
    texts = Texts(task=task, hints=hints)
    assert read_form(form_text(texts, "below\n").encode(), "x", texts) == texts


class TestInAProcess:
    """What takes a terminal, or a signal."""

    above: int

    def start(self, author: Author, tmp_path: Path, script: str) -> subprocess.Popen[bytes]:
        editor = tmp_path / "editor.sh"
        editor.write_text(f"#!/bin/sh\n{script}\n")
        editor.chmod(0o755)
        environment = {**os.environ, "EDITOR": str(editor), "PLACE": str(tmp_path)}
        self.above, below = pty.openpty()
        arguments = (*COMMAND, "-C", str(author.workspace.root), "edit", CASE)
        process = subprocess.Popen(
            arguments, stdin=below, stdout=below, stderr=below, env=environment, start_new_session=True
        )
        os.close(below)
        return process

    def test_the_editor_has_the_terminal(self, author: Author, tmp_path: Path) -> None:
        process = self.start(author, tmp_path, '[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo yes > "$PLACE/terminal"')
        assert process.wait(60) == 0
        os.close(self.above)
        assert (tmp_path / "terminal").read_text() == "yes\n"

    def test_what_was_written_when_casewright_was_killed_is_told_of_next_time(
        self, author: Author, tmp_path: Path
    ) -> None:
        script = (
            'echo More. > "$PLACE/new"; cat "$1" >> "$PLACE/new"; cp "$PLACE/new" "$1"; echo $$ > "$PLACE/pid"; read x'
        )
        process = self.start(author, tmp_path, script)
        pid = tmp_path / "pid"
        while not (pid.exists() and pid.read_text().strip()):
            assert process.poll() is None
            time.sleep(0.05)
        before = author.draft.read_bytes()
        process.kill()
        process.wait()
        os.close(self.above)
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid.read_text()), signal.SIGKILL)
        assert author.draft.read_bytes() == before
        (path,) = author.kept
        assert path.read_text().startswith("More.\n")
        assert f"an earlier edit is kept in {path.relative_to(author.workspace.root)}" in author.edits("").err
