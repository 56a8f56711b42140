"""A command of the user's own proposes a task: real commands, by a real shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from authoring.case import to_plain
from authoring.lint import lint
from authoring.proposal import PROPOSED, Declined, Proposed, proposal_object, propose, sources_of, with_proposal
from authoring.sentences import sentences
from authoring.statement import SourceText, TextKind
from casewright.configuration import StatementSection
from tests.support.cases import as_case, plain_case

CASE = as_case(plain_case())
SOURCES = (SourceText(kind=TextKind.ISSUE, source="issue #4", title="It \u202e fails", text="caf\u00e9\n```\n{}\n```"),)


def asked(command: str, folder: Path, seconds: int | None = None) -> Proposed | Declined:
    return propose(StatementSection(command=command, seconds=seconds), CASE, SOURCES, lint(CASE), folder)


def test_the_command_reads_json_and_its_text_becomes_the_task(tmp_path: Path) -> None:
    answer = asked("cat > got.json; printf '\\n\\nIt should work.\\r\\n  as code\\n\\n\\n'", tmp_path)
    assert answer == Proposed(task="It should work.\n  as code\n")
    got = json.loads((tmp_path / "got.json").read_bytes())
    assert got == proposal_object(CASE, SOURCES, lint(CASE))
    assert got["schema"] == "casewright.proposal/v1"
    assert got["sources"] == [
        {"kind": "issue", "source": "issue #4", "title": SOURCES[0].title, "text": SOURCES[0].text}
    ]
    assert (got["task"], got["base_commit"]) == (CASE.task, CASE.base_commit)


def test_it_runs_in_the_users_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_OWN_SETTING", "of mine")
    assert asked('echo "It is $MY_OWN_SETTING"', tmp_path) == Proposed(task="It is of mine\n")


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("echo nope >&2; exit 3", "the proposing command ended with exit code 3: nope"),
        ("kill -9 $$", "the proposing command ended with exit code -9"),
        ("true", "the proposing command said nothing"),
        ("printf ' \\n\\n'", "the proposing command said nothing"),
        ("printf 'a\\nb\\033[1m'", "the proposed text, line 2: holds U+001B, a control character"),
        ("printf '\\377'", "the proposed text, line 1: not UTF-8 (byte 0xff)"),
        ("yes", "the proposing command wrote more than 256 KiB"),
        ("no-such-program-here", "the proposing command ended with exit code 127"),
    ],
)
def test_whatever_goes_wrong_declines_with_its_reason(tmp_path: Path, command: str, why: str) -> None:
    answer = asked(command, tmp_path)
    assert isinstance(answer, Declined)
    assert answer.reason.startswith(why)


def test_a_command_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    answer = asked("echo $$ > pid; sleep 600", tmp_path, seconds=1)
    assert answer == Declined(reason="the proposing command took longer than 1 s")
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()


def test_a_command_that_is_not_interested_in_its_input_is_not_waited_for(tmp_path: Path) -> None:
    assert asked("echo 'Say it.'", tmp_path) == Proposed(task="Say it.\n")


def test_the_case_says_that_a_command_proposed_its_task() -> None:
    once = with_proposal(CASE, Proposed(task="First. Then.\n"))
    twice = with_proposal(once, Proposed(task="It should be so.\n"))
    assert twice.task == "It should be so.\n"
    assert [row.source for row in twice.source.text_from] == ["commit message", PROPOSED]
    assert twice.source.text_from[-1].sentences == sentences("It should be so.\n")
    assert to_plain(twice)["verification"] == to_plain(CASE)["verification"]


def test_a_draft_alone_still_knows_its_issues_and_titles() -> None:
    source = {
        **plain_case()["source"],
        "pull_request": {"url": "https://x.org/p/7", "number": 7, "title": "Fix it", "merged_at": None},
        "issues": [
            {
                "url": "https://x.org/i/4",
                "number": 4,
                "title": "It fails",
                "body": "a\r\nb",
                "labels": [],
                "created": "2026-01-01T00:00:00Z",
            }
        ],
    }
    found = sources_of(as_case(plain_case(source=source)), "Fix it (#7)\n\nBody.\n")
    assert [(each.kind, each.source, each.title, each.text) for each in found] == [
        (TextKind.ISSUE, "issue #4", "It fails", "a\nb"),
        (TextKind.PULL_REQUEST, "pull request #7", "Fix it", ""),
        (TextKind.COMMIT, "commit message", "", "Fix it (#7)\n\nBody."),
    ]
