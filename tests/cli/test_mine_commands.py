"""``mine``, ``add-case``, ``explain`` and ``funnel`` on real repositories; nothing here needs a package index."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from casewright.new_workspace import init_workspace
from miner.judgement import Judgement, Reached, Standing
from miner.ledger import Ledger
from miner.reasons import Reason
from tests.support.command_line import CommandLine
from tests.support.repos import RepoBuilder, git, oddity

KEYS = {
    "repository", "base", "head", "landing", "subject", "outcome", "reason", "detail", "graded_files", "excluded_files",
    "fail_to_pass", "pass_to_pass", "fails_by", "case", "seconds",
}  # fmt: skip


@pytest.fixture
def box(tmp_path: Path) -> RepoBuilder:
    """A history with a fix, a document and a test alone, newest last."""
    repo = RepoBuilder(tmp_path / "box")
    repo.commit("Begin", {"box.py": "def area(a, b):\n    return a + b\n"})
    repo.commit(
        "Multiply the sides, do not add them",
        {
            "box.py": "def area(a, b):\n    return a * b\n",
            "tests/test_box.py": "from box import area\n\n\ndef test_area():\n    assert area(2, 3) == 6\n",
        },
    )
    repo.commit("Describe it", {"README.md": "A box.\n"})
    repo.commit("Test more", {"tests/test_more.py": "def test_more():\n    pass\n"})
    return repo


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    init_workspace(tmp_path / "bench")
    return tmp_path / "bench"


def snapshot(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


class TestDryRun:
    def test_json_lines_say_what_the_screens_say_of_each_change_newest_first(
        self, cli: CommandLine, box: RepoBuilder
    ) -> None:
        ran = cli("mine", box.path, "--dry-run", "--format", "json", "-q")
        assert (ran.code, ran.err) == (0, "")
        assert all(row.keys() >= KEYS for row in ran.rows)
        assert [(row["subject"], row["outcome"], row["reason"]) for row in ran.rows] == [
            ("Test more", "rejected", "no-source-change"),
            ("Describe it", "rejected", "no-test-change"),
            ("Multiply the sides, do not add them", "candidate", None),
        ]
        assert ran.rows[1]["detail"] == "No file of the change is a test or supports one."

    def test_the_table_ends_with_the_funnel(self, cli: CommandLine, box: RepoBuilder) -> None:
        ran = cli("mine", box.path, "--dry-run")
        assert ran.code == 0
        lines = ran.out.splitlines()
        assert lines[0].split()[0] == "candidate"
        assert lines[1] == ""
        assert [line.split()[:2] for line in lines[2:5]] == [
            ["scanned", "3"],
            ["no-test-change", "1"],
            ["no-source-change", "1"],
        ]

    def test_nothing_is_written(self, cli: CommandLine, box: RepoBuilder, workspace: Path) -> None:
        before = snapshot(workspace), snapshot(box.path)
        assert cli("-C", workspace, "mine", box.path, "--dry-run").code == 0
        assert (snapshot(workspace), snapshot(box.path)) == before

    def test_limit_counts_candidates(self, cli: CommandLine, box: RepoBuilder) -> None:
        box.commit("Fix it again and better", {"box.py": "area = max\n", "tests/test_box.py": "def test_a(): pass\n"})
        rows = cli("mine", box.path, "--dry-run", "--format", "json", "--limit", "1").rows
        assert [row["outcome"] for row in rows] == ["candidate"]

    def test_globs_of_the_workspace_count(self, cli: CommandLine, box: RepoBuilder, workspace: Path) -> None:
        box.commit("Check the prose", {"box.py": "x = 1\n", "prose/check.py": "assert True\n"})
        settings = workspace / "casewright.yaml"
        text = settings.read_text().replace(
            "repositories: {}", "repositories:\n  box:\n    tests:\n      graded: [prose/**]"
        )
        settings.write_text(text)
        mine = ("mine", box.path, "--dry-run", "--format", "json", "--limit", "1")
        assert cli(*mine).rows[0]["reason"] == "no-test-change"
        assert cli("-C", workspace, *mine).rows[0]["outcome"] == "candidate"

    def test_a_range_and_a_path_choose_changes(self, cli: CommandLine, box: RepoBuilder) -> None:
        mine = ("mine", box.path, "--dry-run", "--format", "json")
        assert len(cli(*mine, "--range", "HEAD~2..HEAD").rows) == 2
        assert [row["subject"] for row in cli(*mine, "--paths", "README.md").rows] == ["Describe it"]

    def test_dates_bound_the_committer_s_time(self, cli: CommandLine, box: RepoBuilder) -> None:
        mine = ("mine", box.path, "--dry-run", "--format", "json")
        # The builder's clock begins on 2020-09-13 at 12:26:40 UTC.
        assert len(cli(*mine, "--since", "2020-09-13", "--until", "2020-09-13").rows) == 3
        assert len(cli(*mine, "--since", "2020-09-13T16:00:00Z").rows) == 1
        assert cli(*mine, "--until", "2020-09-12").rows == []


class TestWrongUsage:
    @pytest.mark.parametrize(
        ("arguments", "what"),
        [
            (("--limit", "none"), "'none' is not a whole number above zero"),
            (("--limit", "0"), "'0' is not a whole number above zero"),
            (("--since", "yesterday"), "'yesterday' is not a date"),
            (("--branch", "nowhere", "--dry-run"), "'nowhere' names no commit"),
            (("--range", "nowhere", "--dry-run"), "'nowhere' is no range"),
            (("--plan", "--dry-run"), "can't both"),
            (("--grade-by", "taste"), "'taste'"),
        ],
    )
    def test_it_is_one_line_and_exit_code_2(
        self, cli: CommandLine, box: RepoBuilder, arguments: tuple[str, ...], what: str
    ) -> None:
        ran = cli("mine", box.path, *arguments)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.count("\n") == 1
        assert what in ran.err

    def test_mining_needs_a_workspace(self, cli: CommandLine, box: RepoBuilder, tmp_path: Path) -> None:
        ran = cli("-C", tmp_path, "mine", box.path)
        assert ran.code == 2
        assert "casewright init" in ran.err

    def test_a_source_that_is_no_repository(self, cli: CommandLine, tmp_path: Path) -> None:
        ran = cli("mine", tmp_path / "absent", "--dry-run")
        assert (ran.code, ran.out) == (2, "")
        assert "does not exist" in ran.err

    def test_add_case_takes_a_commit_or_a_pull_request(self, cli: CommandLine) -> None:
        for arguments in ((), ("--commit", "HEAD", "--repo", ".", "--pr", "o/n#1")):
            ran = cli("add-case", *arguments)
            assert (ran.code, ran.out) == (2, "")
            assert "--commit REV with --repo SOURCE, or --pr URL" in ran.err

    def test_add_case_needs_a_commit_and_a_repository(self, cli: CommandLine) -> None:
        assert "--repo SOURCE" in cli("add-case", "--commit", "HEAD").err


class TestExplain:
    def test_a_commit_is_taken_apart(self, cli: CommandLine, box: RepoBuilder) -> None:
        explained = cli("explain", "--repo", box.path, "--commit", "HEAD~2", "--format", "json").json
        assert explained["base"] == box.git("rev-parse", "HEAD~3")
        assert explained["head"] == box.git("rev-parse", "HEAD~2")
        assert explained["landing"] == "direct"
        assert explained["parts"] == {"test": ["tests/test_box.py"], "support": [], "rest": ["box.py"]}
        assert explained["rules"] == [
            {"path": "box.py", "rule": "source"},
            {"path": "tests/test_box.py", "rule": "python-test-name"},
        ]
        assert explained["graded_files"] == ["tests/test_box.py"]
        assert explained["round_trip"] is True
        assert explained["screens"] == []

    def test_a_patch_is_taken_apart_like_its_commit(self, cli: CommandLine, box: RepoBuilder, tmp_path: Path) -> None:
        patch = tmp_path / "fix.patch"
        patch.write_text(box.git("diff", "HEAD~3", "HEAD~2") + "\n")
        of_patch = cli("explain", "--repo", box.path, "--patch", patch, "--base", "HEAD~3", "--format", "json").json
        of_commit = cli("explain", "--repo", box.path, "--commit", "HEAD~2", "--format", "json").json
        assert (of_patch["head"], of_patch["landing"]) == (None, None)
        for key in ("base", "parts", "rules", "graded_files", "round_trip", "screens"):
            assert of_patch[key] == of_commit[key]

    def test_all_that_speaks_against_a_change_is_told(self, cli: CommandLine, box: RepoBuilder) -> None:
        box.commit("fix", {"README.md": "A box, really.\n"})
        assert cli("explain", "--repo", box.path, "--commit", "HEAD", "--format", "json").json["screens"] == [
            "no-test-change",
            "no-source-change",
            "not-statable",
        ]

    def test_people_read_the_same(self, cli: CommandLine, box: RepoBuilder) -> None:
        out = cli("explain", "--repo", box.path, "--commit", "HEAD~2").out
        assert "round trip  base + test part + rest part = head" in out
        assert "passes every screen" in out

    @pytest.mark.parametrize(
        ("patch", "what"), [("no patch at all\n", "changes no file"), ("", "changes no file")], ids=["prose", "empty"]
    )
    def test_what_is_no_patch_is_refused(
        self, cli: CommandLine, box: RepoBuilder, tmp_path: Path, patch: str, what: str
    ) -> None:
        (tmp_path / "x.patch").write_text(patch)
        ran = cli("explain", "--repo", box.path, "--patch", tmp_path / "x.patch", "--base", "HEAD")
        assert (ran.code, ran.out) == (2, "")
        assert what in ran.err

    def test_a_patch_for_another_base_is_refused(self, cli: CommandLine, box: RepoBuilder, tmp_path: Path) -> None:
        (tmp_path / "x.patch").write_text(box.git("diff", "HEAD~3", "HEAD~2") + "\n")
        ran = cli("explain", "--repo", box.path, "--patch", tmp_path / "x.patch", "--base", "HEAD")
        assert (ran.code, ran.out) == (2, "")
        assert "does not apply" in ran.err

    @pytest.mark.parametrize(
        "arguments", [(), ("--commit", "HEAD", "--patch", "x"), ("--patch", "x"), ("--commit", "HEAD", "--base", "x")]
    )
    def test_one_of_the_two_ways_must_be_taken(
        self, cli: CommandLine, box: RepoBuilder, arguments: tuple[str, ...]
    ) -> None:
        assert cli("explain", "--repo", box.path, *arguments).code == 2


class TestFunnel:
    @pytest.fixture
    def judged(self, workspace: Path) -> Path:
        rejected = Judgement(
            repository="o/box",
            base="a" * 40,
            head="b" * 40,
            landing="direct",
            subject="Steer \x1b[2J the screen",
            reached=Reached.RAN,
            standing=Standing.REJECTED,
            reason=Reason.BASE_PASSES,
            detail="first line\nsecond line",
        )
        with Ledger.open(workspace / ".casewright" / "ledger.db", tool="t") as ledger:
            ledger.judged(rejected, configuration="c", started=0, finished=1)
        return workspace

    def test_nothing_looked_at_yet_says_how_to_begin(self, cli: CommandLine, workspace: Path) -> None:
        ran = cli("funnel", "-C", workspace)
        assert (ran.code, ran.err) == (0, "")
        assert "casewright mine SOURCE" in ran.out
        assert cli("funnel", "-C", workspace, "--format", "json").json["scanned"] == 0

    def test_it_is_never_no_case_without_the_reasons(self, cli: CommandLine, judged: Path) -> None:
        out = cli("funnel", "-C", judged).out
        assert "base-passes" in out
        assert "No case yet: the reasons above say why" in out

    def test_json_counts_each_stage_and_reason(self, cli: CommandLine, judged: Path) -> None:
        told = cli("funnel", "-C", judged, "--format", "json").json
        assert [told[stage] for stage in ("scanned", "shaped", "built", "ran", "admitted")] == [1, 1, 1, 1, 0]
        (reason,) = told["reasons"]
        assert (reason["stage"], reason["reason"], reason["count"]) == ("ran", "base-passes", 1)

    def test_a_reason_lists_its_changes_with_the_evidence(self, cli: CommandLine, judged: Path) -> None:
        assert cli("funnel", "-C", judged, "--reason", "base-passes").out.splitlines() == [
            "bbbbbbbbbb  Steer \\x1b[2J the screen",
            "            first line",
            "            second line",
        ]
        rows = cli("funnel", "-C", judged, "--reason", "base-passes", "--format", "json").rows
        assert [row["detail"] for row in rows] == ["first line\nsecond line"]
        assert cli("funnel", "-C", judged, "--reason", "flaky").out == ""

    def test_an_unknown_reason_names_the_nearest(self, cli: CommandLine, judged: Path) -> None:
        ran = cli("funnel", "-C", judged, "--reason", "base-pases")
        assert ran.code == 2
        assert "did you mean base-passes?" in ran.err

    def test_an_unknown_repository_names_the_known_ones(self, cli: CommandLine, judged: Path) -> None:
        ran = cli("funnel", "-C", judged, "--repo", "box")
        assert ran.code == 2
        assert "o/box" in ran.err


@pytest.mark.parametrize(
    "name",
    ["01-rename-across-split", "03-odd-path-names", "07-line-endings", "10-changes-without-hunks", "11-binary-files"],
)
def test_an_odd_change_is_explained_alike_as_commit_and_as_patch(cli: CommandLine, tmp_path: Path, name: str) -> None:
    repo = oddity(name, tmp_path / "odd").folder / "repo"
    patch = tmp_path / "odd.patch"
    patch.write_bytes(git(repo, "diff", "--binary", "--full-index", "--no-renames", "HEAD~1", "HEAD"))
    of_commit = cli("explain", "--repo", repo, "--commit", "HEAD", "--format", "json")
    of_patch = cli("explain", "--repo", repo, "--patch", patch, "--base", "HEAD~1", "--format", "json")
    assert (of_commit.code, of_patch.code) == (0, 0)
    assert of_commit.json["round_trip"] is True
    for key in ("base", "parts", "rules", "graded_files", "round_trip"):
        assert of_patch.json[key] == of_commit.json[key]
    assert cli("explain", "--repo", repo, "--commit", "HEAD").code == 0


def test_a_file_that_holds_source_and_tests_is_explained_on_both_sides(cli: CommandLine, tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "repo")
    module = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {}\n}\n"
    odd = "fn b() {} #[cfg(test)]\nmod tests {}\n"
    repo.commit("Begin with a function", {"Cargo.toml": "", "src/lib.rs": "fn a() { 1 }\n" + module, "src/odd.rs": odd})
    after = "fn a() { 2 }\n" + module.replace("one", "two")
    repo.commit("Give two from the function", {"src/lib.rs": after, "src/odd.rs": odd + "\n"})
    told = cli("explain", "--repo", repo.path, "--commit", "HEAD", "--format", "json").json
    assert told["parts"] == {"test": ["src/lib.rs"], "support": [], "rest": ["src/lib.rs", "src/odd.rs"]}
    assert told["graded_files"] == ["src/lib.rs"]
    place = {"line": 2, "lines": 5}
    assert told["split"] == [{"path": "src/lib.rs", "item": "mod tests", "base": place, "grading": place}]
    rules = {row["path"]: row for row in told["rules"]}
    assert rules["src/lib.rs"]["rule"] == "inline-tests"
    assert "shares a line" in rules["src/odd.rs"]["note"]
    text = cli("explain", "--repo", repo.path, "--commit", "HEAD").out
    assert "inline-tests: mod tests" in text
    assert "all but mod tests" in text


def test_a_renaming_patch_is_explained_like_one_without_renames(cli: CommandLine, tmp_path: Path) -> None:
    repo = oddity("01-rename-across-split", tmp_path / "odd").folder / "repo"
    explained = []
    for option in ("--no-renames", "-M1%"):
        patch = tmp_path / f"{option}.patch"
        patch.write_bytes(git(repo, "diff", "--binary", "--full-index", option, "HEAD~1", "HEAD"))
        told = cli("explain", "--repo", repo, "--patch", patch, "--base", "HEAD~1", "--format", "json")
        assert told.code == 0
        explained.append({key: told.json[key] for key in ("parts", "rules", "graded_files")})
    assert explained[0] == explained[1]
