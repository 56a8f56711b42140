"""Sources, files and places that can't be used: one clear line, an exit code, nothing lost or half-written."""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import os
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from authoring.case import Case
from authoring.draft import draft_text
from casewright.workspace import Workspace, locked
from miner.judgement import Judgement, Reached, Standing
from miner.ledger import Ledger
from tests.support.cases import plain_case
from tests.support.command_line import CommandLine, Ran
from tests.support.own_process import Process, start
from tests.support.repos import RepoBuilder, git
from tests.support.sandbox import needs_sandbox

CONFIGURATION = "schema: casewright.workspace/v1\nlibrary: {id: odd, title: Odd input}\ndefaults: {repeat: 1}\n"
TEST = "import unittest\nimport box\n\n\nclass BoxTest(unittest.TestCase):\n    def test_v(self):\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    bench = Workspace(root=tmp_path / "bench")
    bench.cases.mkdir(parents=True)
    bench.configuration_path.write_text(CONFIGURATION, encoding="utf-8")
    return bench


@pytest.fixture
def box(tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "box")
    repo.commit("Begin", {"box.py": "v = 1\n"})
    test = f"{TEST}        self.assertEqual(box.v, 2)\n"
    repo.commit("Return two where one was returned", {"box.py": "v = 2\n", "tests/test_box.py": test})
    return repo


def told_once(ran: Ran, code: int, what: str) -> None:
    """One line on standard error, nothing on standard output, the exit code."""
    assert (ran.code, ran.out) == (code, ""), ran
    assert ran.err.startswith("error: "), ran.err
    assert ran.err.count("\n") == 1, ran.err
    assert what in ran.err, ran.err


class TestSources:
    @pytest.fixture
    def odd(self, tmp_path: Path) -> Path:
        """A plain folder, an empty repository and one whose HEAD is unborn."""
        (tmp_path / "plain").mkdir()
        RepoBuilder(tmp_path / "empty")
        unborn = RepoBuilder(tmp_path / "unborn")
        unborn.commit("Begin", {"a": "1\n"})
        unborn.git("symbolic-ref", "HEAD", "refs/heads/later")
        return tmp_path

    @pytest.mark.parametrize(
        ("source", "what"),
        [
            ("plain", "is not a git repository"),
            ("empty", "is an empty repository"),
            ("unborn", "choose a branch; there are: main"),
            ("absent", "does not exist"),
        ],
    )
    def test_what_can_t_be_mined_is_said_by_every_command(
        self, cli: CommandLine, workspace: Workspace, odd: Path, source: str, what: str
    ) -> None:
        told_once(cli("-C", workspace.root, "mine", odd / source), 2, what)
        told_once(cli("-C", workspace.root, "mine", odd / source, "--dry-run"), 2, what)
        told_once(cli("-C", workspace.root, "add-case", "--repo", odd / source, "--commit", "HEAD"), 2, what)
        told_once(cli("explain", "--repo", odd / source, "--commit", "HEAD"), 2, what)
        assert list(workspace.cases.iterdir()) == []

    def test_a_detached_head_is_a_head(self, cli: CommandLine, box: RepoBuilder) -> None:
        box.git("checkout", "-q", "--detach")
        ran = cli("mine", box.path, "--dry-run", "--format", "json")
        assert [row["outcome"] for row in ran.rows] == ["candidate"]

    @pytest.mark.parametrize(
        ("words", "what"),
        [
            (("--range", "nowhere..HEAD"), "'nowhere' names no commit"),
            (("--range", "HEAD..nowhere"), "'nowhere' names no commit"),
            (("--range", "HEAD...HEAD~1"), "is no range of commits"),
            (("--range", "--all..HEAD"), "'--all' names no commit"),
            (("--branch", "nowhere"), "'nowhere' names no commit"),
        ],
    )
    def test_an_unknown_end_is_named(
        self, cli: CommandLine, workspace: Workspace, box: RepoBuilder, words: tuple[str, ...], what: str
    ) -> None:
        told_once(cli("-C", workspace.root, "mine", box.path, *words), 2, what)
        assert cli("-C", workspace.root, "funnel", "--format", "json").json["scanned"] == 0


class TestDamage:
    @pytest.fixture
    def damaged(self, box: RepoBuilder) -> Path:
        """A bare copy in which the newest commit's tree is gone."""
        tree = box.tree()
        bare = box.path.parent / "damaged.git"
        git(box.path, "clone", "-q", "--bare", "--no-local", box.path.as_uri(), str(bare))
        pack = next(bare.glob("objects/pack/*.pack"))
        data = pack.read_bytes()
        for leftover in bare.glob("objects/pack/*"):
            leftover.unlink()
        git(bare, "unpack-objects", "-q", stdin=data)
        (bare / "objects" / tree[:2] / tree[2:]).unlink()
        return bare

    def test_of_a_folder_is_told(self, cli: CommandLine, workspace: Workspace, damaged: Path) -> None:
        told_once(cli("-C", workspace.root, "mine", damaged, "-q"), 3, "git fsck")

    def test_of_a_url_leaves_no_half_clone(
        self, cli: CommandLine, workspace: Workspace, damaged: Path, cache_of_the_tests: Path
    ) -> None:
        before = sorted((cache_of_the_tests / "clones").glob("*"))
        told_once(cli("-C", workspace.root, "mine", damaged.as_uri(), "-q"), 3, "can't be cloned")
        assert sorted((cache_of_the_tests / "clones").glob("*")) == before
        assert list((cache_of_the_tests / "staging").iterdir()) == []

    def test_a_server_that_hangs_up_leaves_no_half_clone(
        self,
        cli: CommandLine,
        workspace: Workspace,
        box: RepoBuilder,
        cache_of_the_tests: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        box.git("update-server-info")
        with served(box.path / ".git") as address:
            told_once(cli("-C", workspace.root, "mine", f"{address}/", "-q"), 3, "can't be cloned")
        assert list((cache_of_the_tests / "staging").iterdir()) == []
        assert not [entry for entry in (cache_of_the_tests / "clones").iterdir() if "127-0" in entry.name]


class HangsUp(http.server.SimpleHTTPRequestHandler):
    """Serves a repository's files, but of each object only the first half, and then it hangs up."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that is called
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer as always, except for objects."""
        place = Path(self.translate_path(self.path))
        if "/objects/" not in self.path or "/info/" in self.path or not place.is_file():
            super().do_GET()
            return
        data = place.read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2])
        self.close_connection = True


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder by ``HangsUp`` on loopback; give its address."""
    handler = functools.partial(HangsUp, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def _garbage(path: Path) -> None:
    path.write_bytes(b"\x00\xff" * 3000)


def _cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:6000])


def _statement(sql: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(sql)

    return change


class TestLedger:
    @pytest.fixture
    def ledger(self, workspace: Workspace) -> Path:
        workspace.state.mkdir()
        with Ledger.open(workspace.ledger, tool="t") as opened:
            opened.judged(
                Judgement(
                    repository="box",
                    base="a" * 40,
                    head="b" * 40,
                    landing="direct",
                    subject="Fix",
                    reached=Reached.ADMITTED,
                    standing=Standing.ADMITTED,
                ),
                configuration="c",
                started=0,
                finished=1,
            )
        return workspace.ledger

    @pytest.mark.parametrize(
        ("harm", "what"),
        [
            (_garbage, "is damaged: file is not a database; move it away"),
            (_cut_short, "is damaged: database disk image is malformed"),
            (_statement("PRAGMA user_version = 9"), "has schema 9, this version reads schema 1"),
            (_statement("PRAGMA application_id = 9"), "no ledger of casewright"),
            (_statement("DROP TABLE attempts"), "is damaged: it has no table attempts"),
        ],
        ids=["garbage", "cut-short", "future", "foreign", "torn"],
    )
    def test_a_broken_one_is_told_of_and_left_as_it_is(
        self,
        cli: CommandLine,
        workspace: Workspace,
        box: RepoBuilder,
        ledger: Path,
        harm: Callable[[Path], None],
        what: str,
    ) -> None:
        harm(ledger)
        before = ledger.read_bytes()
        told_once(cli("-C", workspace.root, "mine", box.path, "-q"), 3, what)
        told_once(cli("-C", workspace.root, "funnel"), 3, what)
        assert ledger.read_bytes() == before

    def test_a_row_that_nobody_understands_is_told_of(
        self, cli: CommandLine, workspace: Workspace, ledger: Path
    ) -> None:
        _statement("UPDATE attempts SET reached = 'elsewhere'")(ledger)
        told_once(cli("-C", workspace.root, "funnel"), 3, "a row can't be understood")

    def test_of_two_minings_the_second_is_refused(
        self, cli: CommandLine, workspace: Workspace, box: RepoBuilder
    ) -> None:
        with locked(workspace):
            told_once(cli("-C", workspace.root, "mine", box.path), 3, f"another casewright (process {os.getpid()})")


class TestDrafts:
    BROKEN = (
        (b"id: [\n", ":2:1: "),
        (b"\xff\xfe\x00", ":1: not UTF-8"),
        (b"", "is not a mapping"),
        (b"? schema\n", "missing"),
        (b"schema: casewright.case/v2\n", "schema"),
    )

    @pytest.mark.parametrize(("data", "what"), BROKEN, ids=["yaml", "bytes", "empty", "key", "future"])
    def test_a_broken_one_is_named_with_its_place_and_left_as_it_is(
        self, cli: CommandLine, workspace: Workspace, data: bytes, what: str
    ) -> None:
        draft = workspace.cases / "odd.yaml"
        draft.write_bytes(data)
        for words in (("lint",), ("verify",), ("review", "odd", "--by", "me")):
            ran = cli("-C", workspace.root, *words)
            assert (ran.code, ran.out) == (2, ""), ran
            assert all(line.startswith("error: cases/odd.yaml:") for line in ran.err.splitlines()), ran.err
            assert what in ran.err
        cut = cli("-C", workspace.root, "cut")
        assert cut.code == 1
        assert "cases/odd.yaml:" in cut.out + cut.err
        assert draft.read_bytes() == data
        assert not workspace.releases.exists()

    @needs_sandbox
    def test_mining_does_not_overwrite_it(self, cli: CommandLine, workspace: Workspace, box: RepoBuilder) -> None:
        broken = workspace.cases / f"box-{box.head()[:10]}.yaml"
        broken.write_bytes(b"id: [\n")
        ran = cli("-C", workspace.root, "mine", box.path, "-q", "--format", "json")
        assert (ran.code, ran.rows[0]["case"]) == (0, f"{broken.stem}-2")
        assert broken.read_bytes() == b"id: [\n"


@pytest.mark.parametrize("words", [("check",), ("cite",), ("diff", "FILE")], ids=lambda words: words[0])
def test_a_library_of_a_later_schema_is_refused(cli: CommandLine, tmp_path: Path, words: tuple[str, ...]) -> None:
    library = tmp_path / "odd-v1.json"
    library.write_text(json.dumps({"schema": "casewright.library/v2", "cases": []}), encoding="utf-8")
    ran = cli(*(str(library) if word == "FILE" else word for word in words), library)
    assert ran.code in {1, 2}
    assert "schema" in ran.out + ran.err
    assert "bug" not in ran.err


def _can_mount() -> bool:
    done = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False)
    return os.getuid() == 0 and done.returncode == 0


@needs_sandbox
@pytest.mark.skipif(not shutil.which("unshare") or not _can_mount(), reason="only root may mount a small disk")
class TestPlaces:
    """In a mount namespace of its own, which is gone together with its process."""

    def run(self, tmp_path: Path, script: str, *words: str | Path, cache: Path | None = None) -> Process:
        """Run casewright by ``script``, which makes the mounts first; its cache is the folder ``cache`` here."""
        (tmp_path / "cache").mkdir()
        before = ("unshare", "-m", "sh", "-c", f'set -e; cd "{tmp_path}"; {script}', "sh")
        process = start(tmp_path / "run", *words, cache=cache or tmp_path / "cache", before=before)
        process.end()
        return process

    def test_a_read_only_workspace(self, tmp_path: Path, workspace: Workspace, box: RepoBuilder) -> None:
        closed = 'mount --bind bench bench; mount -o remount,bind,ro bench; "$@"'
        process = self.run(tmp_path, closed, "-C", workspace.root, "mine", box.path)
        assert (process.running.returncode, process.out) == (3, "")
        assert process.err.startswith("error: ")
        assert "Read-only file system" in process.err
        assert process.err.count("\n") == 1

    def test_a_read_only_cache(self, tmp_path: Path, workspace: Workspace, box: RepoBuilder) -> None:
        closed = 'mount --bind cache cache; mount -o remount,bind,ro cache; "$@"'
        process = self.run(tmp_path, closed, "-C", workspace.root, "mine", box.path)
        assert (process.running.returncode, process.out) == (3, "")
        assert "CASEWRIGHT_CACHE_DIR" in process.err
        assert process.err.count("\n") == 1

    def test_a_full_cache_is_no_verdict(self, tmp_path: Path, workspace: Workspace, box: RepoBuilder) -> None:
        small = 'mount -t tmpfs -o size=8m none cache; "$@" || code=$?; ls cache/staging cache/environments; exit $code'
        # What the set-up says of it goes nowhere: the disk itself has to be asked.
        silent = "python3 -m venv --without-pip ../env && head -c 20000000 /dev/zero 2>/dev/null > ../env/big"
        judged = ("--setup-cmd", silent, "--test-cmd", "sh run {files} > {report}")
        mine = ("-C", workspace.root, "mine", box.path, "-q", "--format", "json", *judged)
        process = self.run(tmp_path, small, *mine)
        row, *rest = process.out.splitlines()
        assert process.running.returncode == 3
        assert (json.loads(row)["outcome"], json.loads(row)["reason"]) == ("infrastructure", "infrastructure")
        assert "free some disk space" in json.loads(row)["detail"]
        assert [line for line in rest if line] == ["cache/environments:", "cache/staging:"]
        assert list(workspace.cases.iterdir()) == []

    @pytest.mark.usefixtures("workspace")
    @pytest.mark.parametrize("size", ["16k", "96k"])
    def test_a_full_workspace(self, tmp_path: Path, box: RepoBuilder, size: str, cache_of_the_tests: Path) -> None:
        small = (
            f"mkdir disk; mount -t tmpfs -o size={size} none disk; cp -a bench disk/bench;"
            ' "$@" || code=$?; cp -a disk/bench after; exit $code'
        )
        process = self.run(
            tmp_path, small, "-C", tmp_path / "disk" / "bench", "mine", box.path, "-q", cache=cache_of_the_tests
        )
        assert (process.running.returncode, process.out) == (3, "")
        assert "database or disk is full; make room on that disk; what was kept before is safe" in process.err
        assert process.err.count("\n") == 1
        after = Workspace(root=tmp_path / "after")
        assert not list(after.root.rglob("*.tmp"))
        # A draft without its row, if it came so far: the same command finds it again.
        resumed = start(tmp_path / "resumed", "-C", after.root, "mine", box.path, "-q", cache=cache_of_the_tests)
        assert resumed.end() == 0, resumed.err
        assert [path.name for path in after.cases.iterdir()] == [f"box-{box.head()[:10]}.yaml"]


def test_a_draft_that_is_whole_is_read(cli: CommandLine, workspace: Workspace) -> None:
    """What the other tests break is no draft that would be refused anyway."""
    case = Case.model_validate_json(json.dumps(plain_case(id="odd")))
    (workspace.cases / "odd.yaml").write_text(draft_text(case), encoding="utf-8")
    assert cli("-C", workspace.root, "lint").code in {0, 1}
