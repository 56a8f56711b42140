"""The next version: what is ready, what is refused, and that nothing released is ever rewritten."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from casewright.configuration import configuration_of
from casewright.errors import InvalidInputError, RefusedError, UsageError
from casewright.workspace import Workspace
from library.check import check_history
from library.cut import CutOptions, CutReport, cut, prepare, publish
from library.release import find_case, library_name, released
from library.selection import Selection, Spread
from library.withdrawal import withdraw
from tests.support.cases import plain_case, sealed
from tests.support.libraries import released_document, workspace_with

DAY = "2026-09-01"
UNREVIEWED: dict[str, Any] = {"state": "auto", "by": None, "date": None, "task_digest": None, "waivers": []}


def cut_now(workspace: Workspace, options: CutOptions | None = None) -> CutReport:
    return cut(workspace, options or CutOptions(), DAY, [{"head": "a" * 40, "reason": "flaky"}])


def edit(workspace: Workspace, case_id: str, old: str, new: str) -> None:
    path = workspace.cases / f"{case_id}.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def without(plain: dict[str, Any], part: str, **changes: Any) -> dict[str, Any]:
    return sealed({**plain, part: {**plain[part], **changes}})


def test_a_first_version_holds_the_drafts_unchanged_and_is_read_only(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path, [plain_case(id="b"), plain_case(id="a")])
    report = cut_now(workspace, CutOptions(note="The first {cases}."))
    assert report.path == workspace.releases / "ours-v1.json"
    assert report.path is not None
    document = json.loads(report.path.read_bytes())
    assert [{**case, "case_digest": None} for case in document["cases"]] == [
        {**plain_case(id=name), "case_digest": None} for name in ("a", "b")
    ]
    assert document["library"]["title"] == "Ours: 2 cases"
    assert document["library"]["description"] == "2 cases from 1 repositories."
    assert document["changes"] == {"added": ["a", "b"], "removed": [], "revised": [], "note": "The first 2."}
    assert (document["previous"], document["selection"], document["version"]) == (None, None, 1)
    beside = workspace.releases / document["rejections"]["file"]
    assert beside.read_bytes() == b'{"head":"' + b"a" * 40 + b'","reason":"flaky"}\n'
    assert {stat.S_IMODE(path.stat().st_mode) for path in (report.path, beside)} == {0o444}
    assert report.limits[0].startswith("The graded work belongs to the owners of yylo/ledger; the library is")
    assert report.entries_digest == document["entries_digest"]


def test_equal_entries_are_nothing_to_release(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path, [plain_case()])
    first = cut_now(workspace)
    again = cut_now(workspace, CutOptions(note="Another word."))
    assert (again.nothing_new, again.path, again.version) == (True, None, 1)
    assert again.entries_digest == first.entries_digest
    assert [file.path.name for file in released(workspace.releases)] == ["ours-v1.json"]


def test_a_changed_draft_is_the_next_version_and_the_old_file_stays(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path, [plain_case()])
    first = cut_now(workspace).path
    assert first is not None
    before = first.read_bytes()
    edit(workspace, "ledger-249689d816", "category: backend", "category: search")
    report = cut_now(workspace)
    assert report.version == 2
    document = json.loads((workspace.releases / "ours-v2.json").read_bytes())
    assert document["changes"]["revised"] == [{"id": "ledger-249689d816", "fields": ["category"]}]
    assert document["previous"] == {"version": 1, "entries_digest": json.loads(before)["entries_digest"]}
    assert first.read_bytes() == before
    assert all(one.whole for one in check_history(workspace.releases))


@pytest.mark.parametrize(
    ("plain", "problem", "options"),
    [
        (plain_case(review=UNREVIEWED), "no person has read the task", CutOptions(include_auto=True)),
        (plain_case(task="Another task than was read.\n"), "no person has read", CutOptions(include_auto=True)),
        (without(plain_case(), "source", licence=None), "licence of yylo/ledger", CutOptions(allow_unlicensed=True)),
        (
            without(
                plain_case(),
                "grading",
                mode="exit-code",
                fail_to_pass=[],
                pass_to_pass=[],
                fails_by=[],
                skipped_at_head=[],
            ),
            "exit code alone",
            CutOptions(include_exit_code=True),
        ),
        (without(plain_case(), "verification", reproduced=False), "was not reproduced", None),
        (plain_case(task="Short.\n"), "says too little", None),
        (plain_case(repository_url="/home/somebody/ledger"), "is no public address", None),
        (plain_case(repository_url="file:///home/somebody/ledger"), "is no public address", None),
    ],
)
def test_an_unready_draft_means_that_nothing_is_written(
    tmp_path: Path, plain: dict[str, Any], problem: str, options: CutOptions | None
) -> None:
    workspace = workspace_with(tmp_path, [plain, plain_case(id="ready")])
    report = cut_now(workspace)
    assert report.path is None
    assert [one.id for one in report.left_out] == ["ledger-249689d816"]
    assert any(problem in one for one in report.left_out[0].problems)
    assert list(workspace.releases.iterdir()) == []
    skipped = cut_now(workspace, CutOptions(skip_unready=True))
    assert (skipped.counts["cases"], len(skipped.left_out)) == (1, 1)
    if options:
        assert cut_now(workspace, options).counts["cases"] == 2


def test_a_waived_finding_is_ready(tmp_path: Path) -> None:
    waiver = {"code": "task-too-short", "text": "Short.\n", "reason": "It says it all."}
    plain = plain_case(task="Short.\n")
    plain["review"] = {**UNREVIEWED, "waivers": [waiver]}
    workspace = workspace_with(tmp_path, [plain])
    assert cut_now(workspace, CutOptions(include_auto=True)).version == 1


def test_a_draft_that_can_t_be_read_is_unready(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path, [plain_case(id="a"), plain_case(id="b")])
    edit(workspace, "a", "case_version: 1", "case_version: 1.5")
    report = cut_now(workspace)
    assert [one.id for one in report.left_out] == ["a"]
    assert "cases/a.yaml:6:15: case_version: YAML reads '1.5' as a number" in report.left_out[0].problems[0]


def test_a_changed_meaning_needs_another_case_version(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path, [plain_case()])
    cut_now(workspace)
    edit(workspace, "ledger-249689d816", "Search results leave out", "Search results omit")
    report = cut_now(workspace, CutOptions(include_auto=True))
    assert report.left_out[0].problems == ("task changed since the last release; raise case_version",)
    edit(workspace, "ledger-249689d816", "case_version: 1", "case_version: 2")
    assert cut_now(workspace, CutOptions(include_auto=True)).version == 2
    edit(workspace, "ledger-249689d816", "case_version: 2", "case_version: 1")
    report = cut_now(workspace, CutOptions(include_auto=True))
    assert report.left_out[0].problems == ("case_version: is 1, but 2 was released",)


def test_where_nothing_is_ready_each_draft_says_what_it_lacks(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path, [plain_case(id="a", repository_url="unpublished:a")])
    report = cut_now(workspace, CutOptions(include_auto=True, skip_unready=True))
    assert report.path is None
    assert [one.id for one in report.left_out] == ["a"]


def test_a_case_that_is_gone_stops_the_cut_until_it_is_withdrawn(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path, [plain_case(id="a"), plain_case(id="b")])
    cut_now(workspace)
    digest = json.loads((workspace.releases / "ours-v1.json").read_bytes())["cases"][0]["case_digest"]
    (workspace.cases / "a.yaml").unlink()
    with pytest.raises(RefusedError, match="a: released before, but there is no draft"):
        cut_now(workspace, CutOptions(skip_unready=True))
    withdraw(workspace, "a", "Its test was flaky.")
    report = cut_now(workspace)
    document = json.loads((workspace.releases / "ours-v2.json").read_bytes())
    row = {"id": "a", "case_digest": digest, "reason": "Its test was flaky."}
    assert (report.comparison.removed, document["withdrawn"]) == (("a",), [row])
    edit(workspace, "b", "category: backend", "category: other")
    cut_now(workspace)
    assert json.loads((workspace.releases / "ours-v3.json").read_bytes())["withdrawn"] == [row]
    assert all(one.whole for one in check_history(workspace.releases))


def test_a_released_case_whose_draft_is_not_ready_is_not_skipped_without_a_word(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path, [plain_case(id="a"), plain_case(id="b")])
    cut_now(workspace)
    edit(workspace, "a", "reproduced: true", "reproduced: false")
    with pytest.raises(RefusedError, match="a: released before, but there is no draft that is ready"):
        cut_now(workspace, CutOptions(skip_unready=True))
    withdraw(workspace, "a", "It can't be reproduced any more.")
    assert cut_now(workspace, CutOptions(skip_unready=True)).comparison.removed == ("a",)


def test_a_withdrawn_case_stays_out_though_its_draft_is_there(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path, [plain_case(id="a"), plain_case(id="b")])
    cut_now(workspace)
    before = workspace.configuration_path.read_text()
    withdraw(workspace, "a", "Its test was flaky.")
    withdraw(workspace, "a", "Its test is wrong.")
    assert workspace.configuration_path.read_text() == before + (
        "withdrawals:\n  - id: a\n    reason: Its test is wrong.\n"
    )
    assert cut_now(workspace).comparison.removed == ("a",)


def test_only_released_cases_can_be_withdrawn(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path, [plain_case(id="a")])
    with pytest.raises(InvalidInputError, match="no version of ours has been released"):
        withdraw(workspace, "a", "x")
    cut_now(workspace)
    with pytest.raises(InvalidInputError, match="there is no case 'z' in ours v1; it has a"):
        withdraw(workspace, "z", "x")
    with pytest.raises(UsageError, match="one line"):
        withdraw(workspace, "a", " \n")


def test_nothing_at_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="there is no case to release"):
        cut_now(workspace_with(tmp_path, []))


def test_a_last_version_that_is_not_whole_stops_the_cut(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path, [plain_case()])
    path = cut_now(workspace).path
    assert path is not None
    path.chmod(0o644)
    path.write_bytes(path.read_bytes().replace(b"backend", b"frontend"))
    with pytest.raises(InvalidInputError, match="is not whole"):
        cut_now(workspace)


def test_a_choice_is_recorded_and_the_same_for_one_seed(tmp_path: Path) -> None:
    plains = [
        without(
            plain_case(id=f"c{number}", category="ab"[number % 2]),
            "source",
            committed=f"2026-0{number}-02T00:00:00Z",
        )
        for number in range(1, 7)
    ]
    workspace = workspace_with(tmp_path, plains)
    chosen = Selection(since="2026-03-01", limit=2, spread=(Spread.CATEGORY, Spread.MONTH), seed=7)
    report = cut_now(workspace, CutOptions(selection=chosen))
    document = json.loads((workspace.releases / "ours-v1.json").read_bytes())
    assert document["selection"] == {"since": "2026-03-01", "limit": 2, "spread": ["category", "month"], "seed": 7}
    assert sorted(row["name"] for row in report.counts["categories"]) == ["a", "b"]
    assert "c1" not in [case["id"] for case in document["cases"]]
    assert cut_now(workspace, CutOptions(selection=chosen)).nothing_new


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (CutOptions(selection=Selection(since="yesterday")), "'yesterday' is not a day"),
        (CutOptions(selection=Selection(since="2026-02-31")), "'2026-02-31' is not a day"),
        (CutOptions(selection=Selection(limit=0)), "at least one"),
    ],
)
def test_a_choice_that_can_t_be_is_a_usage_error(tmp_path: Path, options: CutOptions, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        cut_now(workspace_with(tmp_path, [plain_case()]), options)


@pytest.mark.parametrize(
    ("note", "told"),
    [("Now 7 cases.", "/changes/note: says '7 cases', but there are 1"), ("a\x1bb", "/changes/note: ")],
)
def test_a_release_that_would_not_pass_its_own_check_is_not_written(tmp_path: Path, note: str, told: str) -> None:
    workspace = workspace_with(tmp_path, [plain_case()])
    with pytest.raises(RefusedError, match=told):
        cut_now(workspace, CutOptions(note=note))
    assert list(workspace.releases.iterdir()) == []


def test_a_version_that_is_there_is_never_written_again(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path, [plain_case()])
    prepared = prepare([plain_case()], None, configuration_of(workspace), CutOptions(), DAY, [])
    assert prepared is not None
    publish(workspace, prepared)
    before = {path: path.read_bytes() for path in workspace.releases.iterdir()}
    other = prepare([plain_case(id="z")], None, configuration_of(workspace), CutOptions(), DAY, [{"a": 1}])
    assert other is not None
    with pytest.raises(RefusedError, match=r"releases/ours-v1\.json was released meanwhile and is never rewritten"):
        publish(workspace, other)
    assert {path: path.read_bytes() for path in workspace.releases.iterdir()} == before


def test_of_many_cuts_at_once_one_releases(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path, [plain_case()])
    told: list[str] = []
    prepared = [
        prepare([plain_case(id=name)], None, configuration_of(workspace), CutOptions(), DAY, [{"by": name}])
        for name in ("a", "b", "c", "d")
    ]

    def publish_one(one: Any) -> None:
        try:
            publish(workspace, one)
            told.append("released")
        except RefusedError:
            told.append("refused")

    threads = [threading.Thread(target=publish_one, args=(one,)) for one in prepared]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(told) == ["refused"] * 3 + ["released"]
    assert [one.faults for one in check_history(workspace.releases)] == [()]


def test_two_processes_that_cut_at_once_give_one_version(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path, [plain_case()])
    program = (
        "import sys\nfrom pathlib import Path\nfrom casewright.errors import RefusedError\n"
        "from casewright.workspace import Workspace\nfrom library.cut import CutOptions, cut\n"
        "try:\n    report = cut(Workspace(root=Path(sys.argv[1])), CutOptions(), '2026-09-01', [])\n"
        "    print('nothing' if report.nothing_new else 'released')\n"
        "except RefusedError as error:\n    print('refused', error)\n"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    told = [process.communicate()[0].split()[0] for process in processes]
    assert told.count("released") == 1
    assert [one.faults for one in check_history(workspace.releases)] == [()]


def test_a_killed_cut_leaves_no_version_and_the_next_one_works(tmp_path: Path) -> None:
    workspace = workspace_with(tmp_path, [plain_case()])
    program = (
        "import os, sys\nfrom pathlib import Path\nimport library.cut\nfrom casewright.workspace import Workspace\n"
        "library.cut.create_file = lambda *_: os.kill(os.getpid(), 9)\n"
        "library.cut.cut(Workspace(root=Path(sys.argv[1])), library.cut.CutOptions(), '2026-09-01', [{'a': 1}])\n"
    )
    assert subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False).returncode == -9
    assert released(workspace.releases) == ()
    assert cut_now(workspace).version == 1
    assert [one.faults for one in check_history(workspace.releases)] == [()]


def test_a_case_is_found_by_id_or_its_neighbours_are_named() -> None:
    document = released_document([plain_case(id="click-pr1"), plain_case(id="click-pr2")])
    assert find_case(document, "click-pr2")["id"] == "click-pr2"
    with pytest.raises(InvalidInputError, match="there is no case 'click-pr3' in ours v1; it has click-pr1, click-pr2"):
        find_case(document, "click-pr3")
    assert library_name("ours", 1) == "ours-v1.json"
