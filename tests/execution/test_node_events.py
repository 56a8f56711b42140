"""node's event stream, from real runs of node and from streams that were tampered with."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.observation import FailsBy, Outcome, ReportReading
from execution.reports import node_events
from tests.support.oddities import built_oddity

_needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node on PATH")


def _run(folder: Path, *files: str) -> tuple[ReportReading, int]:
    report = folder.parent / "report.jsonl"
    words = ["node", "--test", f"--test-reporter={node_events.REPORTER}", f"--test-reporter-destination={report}"]
    done = subprocess.run([*words, *files], cwd=folder, check=False, capture_output=True)
    return node_events.read(report.read_bytes(), done.returncode, files, str(folder.resolve())), done.returncode


def _outcomes(reading: ReportReading) -> dict[str, str]:
    return {test.id: test.outcome.value for test in reading.tests}


@_needs_node
def test_ids_and_outcomes_of_a_real_run(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "a.test.js").write_text(
        """
        const test = require("node:test"), assert = require("node:assert");
        test("new\\nline # SKIP not", () => {});
        test("same", () => {});
        test("same", () => { assert.equal(1n, 2n); });
        test("later", { todo: true }, () => { assert.fail(); });
        test("not here", { skip: true }, () => {});
        test.describe("group", () => {
          test.it("same", () => {});
          test.it("throws", () => { throw new TypeError("no\\nuse"); });
          test.it("hangs", { timeout: 20 }, () => new Promise((done) => setTimeout(done, 2000)));
        });
        """
    )
    reading, code = _run(folder, "a.test.js")
    assert reading.whole, reading.breach
    assert code == 1
    assert _outcomes(reading) == {
        "a.test.js > new\nline # SKIP not": "passed",
        "a.test.js > same": "passed",
        "a.test.js > same #2": "failed",
        "a.test.js > later": "todo",
        "a.test.js > not here": "skipped",
        "a.test.js > group > same": "passed",
        "a.test.js > group > throws": "failed",
        "a.test.js > group > hangs": "failed",
        "a.test.js > group": "failed",
    }
    how = {test.id.rpartition(" > ")[2]: (test.fails_by, test.message) for test in reading.tests if test.fails_by}
    assert how["same #2"][0] is FailsBy.ASSERTION
    assert how["throws"] == (FailsBy.ERROR, "no")
    assert how["hangs"][0] is FailsBy.TIMEOUT


@_needs_node
def test_a_file_that_is_no_test_of_itself(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "ends.test.js").write_text("process.exit(0); require('node:test')('never', () => {});")
    (folder / "broken.test.js").write_text("require('./not-there.js');")
    (folder / "good.test.js").write_text("require('node:test')('good', () => {});")
    reading, _ = _run(folder, "broken.test.js", "ends.test.js", "good.test.js")
    assert reading.whole, reading.breach
    assert _outcomes(reading) == {"good.test.js > good": "passed"}
    assert list(reading.broken_files) == ["broken.test.js"]


@_needs_node
def test_a_file_that_fails_after_its_tests_is_broken(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "a.test.js").write_text(
        "require('node:test')('a', () => {}); process.on('exit', () => { process.exitCode = 3; });"
    )
    reading, code = _run(folder, "a.test.js")
    assert code == 1
    assert list(reading.broken_files) == ["a.test.js"]


@_needs_node
@pytest.mark.parametrize("state", ["base_plus_test", "head_results"])
def test_the_oddity_of_node_test_ids(tmp_path: Path, state: str) -> None:
    made = built_oddity("21-node-test-ids", tmp_path / "made")
    facts = dict(line.split("=") for line in (made / "facts.env").read_text().split())
    case = _expected()["cases"][0]
    repo = made / "repo"
    if state == "base_plus_test":
        subprocess.run(["git", "checkout", "-q", facts["BASE"], "--", "lib"], cwd=repo, check=True)
        (repo / "lib/mul.js").unlink()
    reading, _ = _run(repo, *case["test_part"])
    assert reading.whole, reading.breach
    # A file that stands for itself is a file without tests, or one that does not load.
    wanted = {name: outcome for name, outcome in case[state].items() if " > " in name}
    assert _outcomes(reading) == wanted
    broken = {name for name, outcome in case[state].items() if " > " not in name and outcome == "failed"}
    assert set(reading.broken_files) == broken


def _expected() -> dict[str, list[dict[str, dict[str, str]]]]:
    root = Path(os.environ.get("CASEWRIGHT_ODDITIES") or Path(__file__).parents[2] / "../shared/oddities")
    text = (root / "21-node-test-ids/expect.md").read_text()
    found: dict[str, list[dict[str, dict[str, str]]]] = json.loads(text.split("```json")[1].split("```")[0])
    return found


def _event(event: str, name: str = "a", nesting: int = 0, **more: object) -> bytes:
    return json.dumps(
        {"event": event, "file": "/srv/case/repo/a.js", "nesting": nesting, "name": name, **more}
    ).encode()


_PLAN = b'{"event": "plan", "nesting": 0, "count": 1}'


@pytest.mark.parametrize(
    ("lines", "exit_code", "breach"),
    [
        ([], 1, "no report"),
        ([_event("start"), _event("pass")], 0, "ended before its report"),
        ([_event("start"), _event("pass"), _event("pass"), _PLAN], 0, "which was not begun"),
        ([_event("pass"), _PLAN], 0, "which was not begun"),
        ([_event("start"), _event("pass"), _event("start", "b"), _event("pass", "b"), _PLAN], 0, "announced 1"),
        ([_event("start"), _event("fail"), _PLAN], 0, "the exit code is 0"),
        ([_event("start"), b"ok 1 - a", _event("pass"), _PLAN], 0, "did not write"),
        ([_event("start", nesting=1)], 0, "never begun"),
    ],
)
def test_what_is_no_whole_stream(lines: list[bytes], exit_code: int, breach: str) -> None:
    reading = node_events.read(b"\n".join(lines), exit_code, ("a.js",))
    assert not reading.whole
    assert breach in reading.breach


def test_what_was_seen_before_a_breach_is_kept() -> None:
    reading = node_events.read(_event("start") + b"\n" + _event("fail") + b"\n" + _event("start", "b"), None, ("a.js",))
    assert [(test.id, test.outcome) for test in reading.tests] == [("a.js > a", Outcome.FAILED)]
    assert not reading.whole


def test_the_reporter_survives_the_shell_and_the_url() -> None:
    assert not set("'#%?") & set(node_events.REPORTER)


@given(
    st.lists(st.tuples(st.sampled_from(["start", "pass", "fail", "plan"]), st.sampled_from("ab"), st.integers(-1, 3)))
)
def test_any_stream_is_read_or_a_breach(events: list[tuple[str, str, int]]) -> None:
    lines = [_event(event, name, nesting, count=len(events)) for event, name, nesting in events]
    reading = node_events.read(b"\n".join(lines), 0, ("a.js",))
    assert reading.whole or reading.breach
    ids = [test.id for test in reading.tests]
    assert len(set(ids)) == len(ids)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_a_breach(report: bytes) -> None:
    reading = node_events.read(report, 0, ("a.js",))
    assert reading.whole or reading.breach
