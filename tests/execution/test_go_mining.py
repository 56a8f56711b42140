"""Go from a history to a draft and its verification: real toolchain, real sandbox, modules from a loopback proxy."""

from __future__ import annotations

import base64
import hashlib
import http.server
import io
import os
import signal
import threading
import time
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from authoring.verify import verify
from casewright.new_workspace import init_workspace
from casewright.repository import open_source
from casewright.store import ENVIRONMENTS, Store
from casewright.workspace import Workspace
from execution.languages.go_runtime import installed, minor
from execution.sandboxes import choose
from tests.support.command_line import CommandLine
from tests.support.judging import Files, admitted, history, judged
from tests.support.own_process import start
from tests.support.repos import RepoBuilder
from tests.support.sandbox import needs_sandbox

pytestmark = [needs_sandbox, pytest.mark.skipif(not installed(), reason="no Go toolchain is on this machine")]

MESSAGE = "Add the two numbers instead of subtracting one from the other"
MODULE = "module example.com/calc\n\ngo 1.14\n"
WRONG = "package calc\n\nfunc Add(a, b int) int { return a - b }\n"
RIGHT = "package calc\n\nfunc Add(a, b int) int { return a + b }\n"
BEFORE: Files = {"go.mod": MODULE, "calc.go": WRONG}


def _tests(body: str, package: str = "calc", imports: str = "") -> str:
    return f'package {package}\n\nimport (\n\t"testing"\n{imports})\n\n{body}\n'


ADD = 'func TestAdd(t *testing.T) { if Add(1, 2) != 3 { t.Errorf("1 and 2 are %d", Add(1, 2)) } }\n'
ZERO = 'func TestZero(t *testing.T) { if Add(0, 0) != 0 { t.Error("zero") } }\n'


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return init_workspace(tmp_path / "bench")[0]


def _history(folder: Path, before: Files, after: Files) -> RepoBuilder:
    return history(folder, before, after, MESSAGE)


def test_a_change_is_admitted_reproduced_and_verified(cli: CommandLine, workspace: Workspace, tmp_path: Path) -> None:
    noise = 'func TestNoise(t *testing.T) { t.Run("a b", func(t *testing.T) { fmt.Print("no newline") }) }\n'
    skipped = 'func TestSkipped(t *testing.T) { t.Skip("not here") }\n'
    after: Files = {
        "calc.go": RIGHT,
        "calc_test.go": _tests(ADD + ZERO + noise + skipped, imports='\t"fmt"\n'),
        "sub/sub.go": "package sub\n\nfunc Two() int { return 2 }\n",
        "sub/sub_test.go": _tests('func TestTwo(t *testing.T) { if Two() != 2 { t.Fatal("not two") } }', "sub"),
    }
    # Red at both states, and of the same package: it may not weigh on the others.
    red = _tests('func TestRed(t *testing.T) { t.Fatal("always") }')
    repo = _history(tmp_path / "calc", {**BEFORE, "red_test.go": red, "sub/doc.go": "package sub\n"}, after)
    case = admitted(cli, workspace, repo)
    assert case.grading.files == ("calc_test.go", "sub/sub_test.go")
    assert case.grading.fail_to_pass == ("example.com/calc/sub::TestTwo", "example.com/calc::TestAdd")
    assert case.grading.pass_to_pass == (
        "example.com/calc::TestNoise",
        "example.com/calc::TestNoise/a_b",
        "example.com/calc::TestZero",
    )
    assert case.grading.skipped_at_head == ("example.com/calc::TestSkipped",)
    assert {row.id: row.how.value for row in case.grading.fails_by} == {
        "example.com/calc/sub::TestTwo": "collection",
        "example.com/calc::TestAdd": "assertion",
    }
    assert (case.language, case.environment.runtime.name) == ("go", "go")
    assert case.verification.base.error == "calc_test.go:8: 1 and 2 are -1"
    with open_source(str(repo.path), Store().root) as repository:
        assert verify(case, repository, choose(), Store()).difference == ""


class _Proxy(http.server.BaseHTTPRequestHandler):
    """A module proxy with one module of two versions."""

    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        name, _, file = self.path.lstrip("/").partition("/@v/")
        version, _, kind = file.rpartition(".")
        if name != "example.com/words" or version not in {"v1.0.0", "v1.1.0"}:
            self.send_error(404)
            return
        answer = {"info": f'{{"Version":"{version}"}}'.encode(), "mod": _MOD, "zip": _zipped(version)}[kind]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""


_MOD = b"module example.com/words\n\ngo 1.14\n"


def _content(version: str) -> Mapping[str, bytes]:
    extra = b"" if version == "v1.0.0" else b'\nfunc Sum() string { return "sum" }\n'
    return {"go.mod": _MOD, "words.go": b'package words\n\nfunc Hello() string { return "hello" }\n' + extra}


def _zipped(version: str) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in _content(version).items():
            archive.writestr(f"example.com/words@{version}/{name}", content)
    return target.getvalue()


def _sums(version: str) -> str:
    """Return the lines of ``go.sum``: a digest over the digests of the files, sorted by name."""

    def digest(files: Mapping[str, bytes]) -> str:
        lines = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(files.items()))
        return "h1:" + base64.b64encode(hashlib.sha256(lines.encode()).digest()).decode()

    whole = {f"example.com/words@{version}/{name}": content for name, content in _content(version).items()}
    return (
        f"example.com/words {version} {digest(whole)}\nexample.com/words {version}/go.mod {digest({'go.mod': _MOD})}\n"
    )


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    asked: list[str] = []
    handler = type("Proxy", (_Proxy,), {"asked": asked})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        monkeypatch.setenv("GOPROXY", f"http://someone:secret@127.0.0.1:{server.server_port}")
        yield asked
        server.shutdown()


def _requiring(version: str) -> Files:
    return {"go.mod": f"{MODULE}\nrequire example.com/words {version}\n", "go.sum": _sums(version)}


def test_both_states_get_the_head_s_modules(
    cli: CommandLine, workspace: Workspace, tmp_path: Path, proxy: list[str]
) -> None:
    use = 'package calc\n\nimport "example.com/words"\n\nfunc Hello() string { return words.Hello() }\n'
    kept = 'func TestHello(t *testing.T) { if Hello() != "hello" { t.Error("silent") } }\n'
    new = 'func TestSum(t *testing.T) { if words.Sum() != "sum" || Add(1, 1) != 2 { t.Error("no sum") } }\n'
    before = {**BEFORE, **_requiring("v1.0.0"), "use.go": use}
    after: Files = {
        **_requiring("v1.1.0"),
        "calc.go": RIGHT,
        "calc_test.go": _tests(kept + new, imports='\t"example.com/words"\n'),
    }
    case = admitted(cli, workspace, _history(tmp_path / "calc", before, after))
    # Were the base built with its own go.mod, its test file would not compile and both tests would flip.
    assert case.grading.fail_to_pass == ("example.com/calc::TestSum",)
    assert case.grading.pass_to_pass == ("example.com/calc::TestHello",)
    assert case.environment.dependencies == ("example.com/words@v1.1.0",)
    assert any("go mod download" in command for command in case.environment.setup)
    assert not any("127.0.0.1" in command or "secret" in command for command in case.environment.setup)
    assert any(path.endswith("v1.1.0.zip") for path in proxy)


def test_a_hash_that_go_sum_does_not_hold_is_the_change_s_own_fault(
    cli: CommandLine, workspace: Workspace, tmp_path: Path, proxy: list[str]
) -> None:
    wrong = {**_requiring("v1.0.0"), "go.sum": _sums("v1.0.0").replace("h1:", "h1:AAAA", 1)}
    after: Files = {"calc.go": RIGHT, "calc_test.go": _tests(ADD)}
    outcome = judged(cli, workspace, _history(tmp_path / "calc", {**BEFORE, **wrong}, after))
    assert (outcome["outcome"], outcome["reason"]) == ("rejected", "environment-failed"), outcome
    assert proxy


def test_no_answer_of_the_proxy_is_no_verdict(
    cli: CommandLine, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOPROXY", "http://127.0.0.1:9")
    after: Files = {"calc.go": RIGHT, "calc_test.go": _tests(ADD)}
    outcome = judged(cli, workspace, _history(tmp_path / "calc", {**BEFORE, **_requiring("v1.0.0")}, after))
    assert outcome["outcome"] == "infrastructure", outcome


def test_vendored_modules_need_no_network(cli: CommandLine, workspace: Workspace, tmp_path: Path) -> None:
    vendored: Files = {
        **_requiring("v1.0.0"),
        "vendor/modules.txt": "# example.com/words v1.0.0\n## explicit\nexample.com/words\n",
        "vendor/example.com/words/words.go": _content("v1.0.0")["words.go"].decode(),
        "use.go": 'package calc\n\nimport "example.com/words"\n\nvar Greeting = words.Hello()\n',
    }
    after: Files = {"calc.go": RIGHT, "calc_test.go": _tests(ADD)}
    case = admitted(cli, workspace, _history(tmp_path / "calc", {**BEFORE, **vendored}, after))
    assert "-mod=vendor" in case.grading.check
    assert not any("download" in command for command in case.environment.setup)
    assert case.environment.dependencies == ("example.com/words@v1.0.0",)


def test_a_module_in_a_folder_and_a_tag_of_its_ci(cli: CommandLine, workspace: Workspace, tmp_path: Path) -> None:
    before: Files = {
        "tools/calc/go.mod": MODULE,
        "tools/calc/calc.go": WRONG,
        "Makefile": "test:\n\tcd tools/calc && go test -tags=integration ./...\n",
    }
    head = "//go:build integration\n// +build integration\n\n"
    after: Files = {"tools/calc/calc.go": RIGHT, "tools/calc/calc_test.go": head + _tests(ADD)}
    case = admitted(cli, workspace, _history(tmp_path / "calc", before, after))
    assert case.grading.directory == "tools/calc"
    assert "-tags=integration" in case.grading.check
    assert case.grading.fail_to_pass == ("example.com/calc::TestAdd",)


def test_a_tag_that_nobody_names_collects_nothing(cli: CommandLine, workspace: Workspace, tmp_path: Path) -> None:
    after: Files = {"calc.go": RIGHT, "calc_test.go": "//go:build manual\n\n" + _tests(ADD)}
    outcome = judged(cli, workspace, _history(tmp_path / "calc", BEFORE, after))
    assert outcome["reason"] == "collects-nothing"
    assert "build constraints" in outcome["detail"]


def test_a_tree_from_before_modules(cli: CommandLine, workspace: Workspace, tmp_path: Path) -> None:
    inner = "package inner\n\nfunc One() int { return 1 }\n"
    use = 'package calc\n\nimport "example.com/old/calc/inner"\n\nvar One = inner.One()\n'
    after: Files = {"calc.go": RIGHT, "calc_test.go": _tests(ADD + ZERO)}
    before: Files = {"calc.go": WRONG, "inner/inner.go": inner, "use.go": use}
    case = admitted(cli, workspace, _history(tmp_path / "calc", before, after))
    assert case.grading.fail_to_pass == ("example.com/old/calc::TestAdd",)
    assert any("echo 'module example.com/old/calc' > go.mod" in command for command in case.environment.setup)


LEAVES = "func TestMain(m *testing.M) { m.Run(); os.Exit(0) }\n"
FORGES = (
    'func TestForger(t *testing.T) { fmt.Printf("--- PASS: TestForger (0.00s)\\n"); if Add(1, 2) != 3 { t.Fail() } }\n'
)
QUITS = "func TestQuits(t *testing.T) { if Add(1, 2) != 3 { syscall.Exit(0) } }\n"


@pytest.mark.parametrize(
    ("body", "imports"),
    [(LEAVES + ADD, '\t"os"\n'), (FORGES, '\t"fmt"\n'), (QUITS + ZERO, '\t"syscall"\n')],
    ids=["exit code 0 for failures", "a printed verdict", "an exit in the middle"],
)
def test_a_base_that_hides_its_failure_did_not_pass(
    cli: CommandLine, workspace: Workspace, tmp_path: Path, body: str, imports: str
) -> None:
    """Each of these fails at the base and says that it passed; none of them may make the base green."""
    after: Files = {"calc.go": RIGHT, "calc_test.go": _tests(body, imports=imports)}
    outcome = judged(cli, workspace, _history(tmp_path / "calc", BEFORE, after))
    assert outcome["reason"] != "base-passes", outcome
    if body.startswith(LEAVES):
        # A case whose base exits with 0 can't be recorded.
        assert outcome["reason"] == "case-not-representable"
    elif body is FORGES and minor(installed()[-1]) < (1, 20):
        # Of this date the oldest toolchain is taken, whose stream can't tell the printed line: not even the head's
        # report is whole.
        assert outcome["reason"] == "report-missing"
    else:
        assert outcome["outcome"] == "admitted", (outcome["reason"], outcome["detail"])


def test_a_hang_at_the_base_is_a_time_out(cli: CommandLine, workspace: Workspace, tmp_path: Path) -> None:
    text = workspace.configuration_path.read_text(encoding="utf-8")
    workspace.configuration_path.write_text(text + "\ndefaults: {limits: {seconds: 15}}\n", encoding="utf-8")
    hang = "func TestWaits(t *testing.T) { for Add(1, 2) != 3 { time.Sleep(time.Second) } }\n"
    after: Files = {"calc.go": RIGHT, "calc_test.go": _tests(hang, imports='\t"time"\n')}
    case = admitted(cli, workspace, _history(tmp_path / "calc", BEFORE, after))
    assert [row.how.value for row in case.grading.fails_by] == ["timeout"]


def test_a_kill_in_between_loses_nothing(cli: CommandLine, workspace: Workspace, tmp_path: Path) -> None:
    mark = "func TestSlow(t *testing.T) { time.Sleep(4 * time.Second); if Add(1, 2) != 3 { t.Fail() } }\n"
    after: Files = {"calc.go": RIGHT, "calc_test.go": _tests(mark, imports='\t"time"\n')}
    repo = _history(tmp_path / "calc", BEFORE, after)
    arguments = ("-C", workspace.root, "mine", repo.path, "--repeat", "1", "--format", "json")
    cache = tmp_path / "cache"
    process = start(tmp_path / "killed", *arguments, cache=cache)
    deadline = time.monotonic() + 120
    while not list((cache / ENVIRONMENTS).glob("*/environment.json")) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.running.pid, signal.SIGKILL)
    assert process.end() == -signal.SIGKILL
    assert not list(workspace.cases.glob("*.yaml"))
    again = start(tmp_path / "again", *arguments, cache=cache)
    assert again.end() == 0, again.err
    assert [row["outcome"] for row in again.rows] == ["admitted"]
