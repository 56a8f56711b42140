"""Commands of the user's own from a history to a draft and its verification, with real shell suites in the sandbox."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from authoring.case import Case, Mode
from authoring.desk import JudgingOptions, commands, judging_digest
from authoring.draft import load_draft
from authoring.verify import verify
from casewright.configuration import Configuration, RepositorySection, SetupSection
from casewright.errors import InvalidInputError, UsageError
from casewright.new_workspace import init_workspace
from casewright.repository import open_source
from casewright.store import Store
from casewright.workspace import Workspace
from execution.sandboxes import choose
from tests.support.command_line import CommandLine
from tests.support.repos import Entry, RepoBuilder
from tests.support.sandbox import needs_sandbox

# A suite as many shell projects have one: each file prints one line for each of its tests, a driver numbers them.
RUN_TAP = """\
#!/bin/sh
# run.sh REPORT FILE...: TAP into REPORT
report=$1; shift
number=0; failed=0
: > "$report"
for file in "$@"; do
  sh "$file" > results.tmp
  while read -r verdict name; do
    number=$((number + 1))
    case $verdict in
      good) echo "ok $number - $name" >> "$report" ;;
      *) echo "not ok $number - $name" >> "$report"; failed=1 ;;
    esac
  done < results.tmp
done
echo "1..$number" >> "$report"
exit $failed
"""
RUN_JUNIT = """\
#!/bin/sh
# run.sh REPORT FILE...: JUnit XML into REPORT, each test with its file
report=$1; shift
failed=0
{
  echo '<?xml version="1.0"?><testsuites><testsuite name="all">'
  for file in "$@"; do
    sh "$file" | while read -r verdict name; do
      echo "<testcase file=\\"$file\\" classname=\\"box\\" name=\\"$name\\">"
      [ "$verdict" = good ] || echo '<failure message="it is wrong"/>'
      echo '</testcase>'
    done
    sh "$file" | grep -q '^bad ' && failed=1
  done
  echo '</testsuite></testsuites>'
} > "$report"
exit $failed
"""
AREA_TEST = """\
. ./box.sh
[ "$(area 2 3)" = 6 ] && echo "good area multiplies" || echo "bad area multiplies"
[ "$(area 2 2)" = 4 ] && echo "good area of a square" || echo "bad area of a square"
"""
EDGE_TEST = """\
. ./box.sh
[ "$(area 0 3)" = 0 ] && echo "good nothing is wide" || echo "bad nothing is wide"
"""
BEFORE = "area() { echo $(($1 + $2)); }\n"
AFTER = "area() { echo $(($1 * $2)); }\n"
MESSAGE = "Multiply the sides of the box, do not add them"

pytestmark = needs_sandbox


def history(folder: Path, run: str, more: dict[str | bytes, Entry] | None = None) -> RepoBuilder:
    """A repository whose last commit mends ``area`` and brings two test files of the shell."""
    repo = RepoBuilder(folder)
    repo.commit("Begin", {"box.sh": BEFORE, "run.sh": run, **(more or {})})
    repo.commit(MESSAGE, {"box.sh": AFTER, "t/area.t": AREA_TEST, "t/edge.t": EDGE_TEST})
    return repo


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return init_workspace(tmp_path / "bench")[0]


def added(cli: CommandLine, workspace: Workspace, repo: RepoBuilder, *options: str) -> Case:
    """Add the newest commit as a case and return its draft as it stands in the file."""
    ran = cli("-C", workspace.root, "add-case", "--repo", repo.path, "--commit", "HEAD", "--format", "json", *options)
    assert ran.code == 0, ran.out + ran.err
    return load_draft(workspace, ran.json["case"]).case


def verified(case: Case, repo: RepoBuilder) -> str:
    store = Store()
    with open_source(str(repo.path), store.root) as repository:
        return verify(case, repository, choose(), store).difference


def test_a_shell_suite_that_prints_tap_is_graded_test_by_test(
    cli: CommandLine, workspace: Workspace, tmp_path: Path
) -> None:
    repo = history(tmp_path / "box", RUN_TAP)
    case = added(cli, workspace, repo, "--test-cmd", "sh run.sh {report} {files}")
    grading = case.grading
    assert grading.mode is Mode.PER_TEST
    assert grading.check == "sh run.sh ../report.xml t/area.t t/edge.t"
    assert grading.files == ("t/area.t", "t/edge.t")
    # A square of two has the same area either way; what is not told by file is shared by all graded files.
    assert grading.fail_to_pass == ("area multiplies", "nothing is wide")
    assert grading.pass_to_pass == ("area of a square",)
    assert (case.language, case.verification.runner) == ("perl", "own-command")
    assert case.verification.head.counts.passed == 3
    assert (case.environment.setup, case.environment.network.value) == ((), "never")
    assert case.environment.runtime.name in case.verification.runtime
    assert verified(case, repo) == ""


def test_a_suite_that_writes_junit_has_ids_with_the_file(
    cli: CommandLine, workspace: Workspace, tmp_path: Path
) -> None:
    repo = history(tmp_path / "box", RUN_JUNIT)
    case = added(cli, workspace, repo, "--test-cmd", "sh run.sh {report} {files}")
    assert case.grading.fail_to_pass == ("t/area.t::box::area multiplies", "t/edge.t::box::nothing is wide")
    assert {row.how.value for row in case.grading.fails_by} == {"assertion"}
    assert case.verification.base.error == "it is wrong"
    assert verified(case, repo) == ""


def test_verify_tells_where_the_record_does_not_hold(cli: CommandLine, workspace: Workspace, tmp_path: Path) -> None:
    repo = history(tmp_path / "box", RUN_JUNIT)
    case = added(cli, workspace, repo, "--test-cmd", "sh run.sh {report} {files}")
    wrong = case.model_copy(
        update={"grading": case.grading.model_copy(update={"pass_to_pass": ("t/area.t::box::area multiplies",)})}
    )
    assert "area multiplies failed, recorded is passed" in verified(wrong, repo)
    foreign = case.verification.model_copy(update={"runner": "pytest 8.0"})
    with pytest.raises(InvalidInputError, match="no module runs perl"):
        verified(case.model_copy(update={"verification": foreign}), repo)


def test_a_report_can_be_written_by_what_a_tool_starts_in_a_folder_below(
    cli: CommandLine, workspace: Workspace, tmp_path: Path
) -> None:
    # What python starts by subprocess gets no descriptors but three, as with npm, tox and others.
    starter = (
        "import os, subprocess, sys\n"
        "sys.exit(subprocess.run(['sh', 'run.sh', os.path.abspath(sys.argv[1]), *sys.argv[2:]], cwd='..').returncode)\n"
    )
    repo = history(tmp_path / "box", RUN_TAP, {"tools/start.py": starter})
    case = added(cli, workspace, repo, "--test-cmd", "cd tools && /usr/bin/python3 start.py ../{report} {files}")
    assert case.grading.check == "cd tools && /usr/bin/python3 start.py ../../report.xml t/area.t t/edge.t"
    assert verified(case, repo) == ""


def test_set_up_leaves_files_in_the_tree_and_in_the_environment(
    cli: CommandLine, workspace: Workspace, tmp_path: Path
) -> None:
    repo = history(
        tmp_path / "box",
        RUN_TAP,
        {"set-up.sh": "mkdir -p made/empty && echo yes > made/file && ln -s file made/link && cp run.sh ../env/\n"},
    )
    settings = workspace.root / "casewright.yaml"
    lines = (
        "repositories:", "  box:", "    setup:", "      commands:", "        - sh set-up.sh",
        "        - test -f made/link && echo more > made/more",
        "    check: test -d made/empty && cat made/link made/more && sh ../env/run.sh {report} {files}",
    )  # fmt: skip
    settings.write_text(settings.read_text().replace("repositories: {}", "\n".join(lines)))
    case = added(cli, workspace, repo)
    assert case.environment.setup == (
        "mkdir -p ../env",
        "sh set-up.sh",
        "test -f made/link && echo more > made/more",
    )
    assert case.environment.network.value == "set-up only"
    assert verified(case, repo) == ""


def test_set_up_uses_what_the_head_asks_for_also_at_the_base(
    cli: CommandLine, workspace: Workspace, tmp_path: Path
) -> None:
    repo = RepoBuilder(tmp_path / "box")
    repo.commit("Begin", {"box.sh": BEFORE, "run.sh": RUN_TAP, "requirements.txt": "one\n"})
    repo.commit(MESSAGE, {"box.sh": AFTER, "t/area.t": AREA_TEST, "requirements.txt": "two\n", "Gemfile": "three\n"})
    case = added(
        cli, workspace, repo,
        "--setup-cmd", "cat requirements.txt Gemfile > ../env/got",
        "--test-cmd", "test \"$(cat ../env/got)\" = \"$(printf 'two\\nthree')\" && sh run.sh {report} {files}",
    )  # fmt: skip
    head = case.grading_commit
    assert case.environment.setup == (
        f"git --literal-pathspecs restore --source={head} --worktree -- Gemfile requirements.txt",
        "mkdir -p ../env",
        "cat requirements.txt Gemfile > ../env/got",
        "git --literal-pathspecs restore --worktree -- requirements.txt",
        "rm -f -- Gemfile",
    )
    assert verified(case, repo) == ""


@pytest.mark.parametrize(
    ("options", "reason", "evidence"),
    [
        (("--setup-cmd", "echo no such thing; exit 7"), "environment-failed", "set-up command 1 (echo no such"),
        (("--setup-cmd", "no-such-tool"), "needs-system-package", "no-such-tool: not found"),
        (("--test-cmd", "sh run.sh {report} {files} && rm ../report.xml && echo > ../report.xml"), None, ""),
        (
            ("--test-cmd", "sh run.sh /dev/null {files} # {report}"),
            "environment-failed",
            "at both states the command",
        ),
        (
            ("--test-cmd", "exit 3 # {report}"),
            "environment-failed",
            "stands for: exit code 3",
        ),
        (("--grade-by", "exit-code", "--test-cmd", "sh run.sh /dev/null {files} && false"), "red-at-both", "with 1"),
        (("--grade-by", "exit-code", "--test-cmd", "! sh run.sh /dev/null {files}"), "head-fails", "with 1"),
        (("--grade-by", "exit-code", "--test-cmd", "sh t/area.t"), "base-passes", "ends with 0"),
    ],
)
def test_what_does_not_qualify_is_refused_with_its_reason(
    cli: CommandLine, workspace: Workspace, tmp_path: Path, options: tuple[str, ...], reason: str | None, evidence: str
) -> None:
    repo = history(tmp_path / "box", RUN_TAP)
    test = () if "--test-cmd" in options else ("--test-cmd", "sh run.sh {report} {files}")
    ran = cli(
        "-C", workspace.root, "add-case", "--repo", repo.path, "--commit", "HEAD", "--format", "json", "--dry-run",
        "--repeat", "1", *test, *options,
    )  # fmt: skip
    row = ran.json
    if reason is None:
        # The report that counts was written before; a plain clone can't know, and says so.
        assert row["reason"] == "reproduction-differs"
    else:
        assert (row["reason"], evidence in row["detail"]) == (reason, True), row["detail"]


def test_the_exit_code_alone_grades_where_that_was_asked_for(
    cli: CommandLine, workspace: Workspace, tmp_path: Path
) -> None:
    repo = history(tmp_path / "box", RUN_TAP)
    case = added(cli, workspace, repo, "--grade-by", "exit-code", "--test-cmd", "sh run.sh /dev/null {files}")
    grading = case.grading
    assert grading.mode is Mode.EXIT_CODE
    assert (grading.fail_to_pass, grading.pass_to_pass, grading.fails_by) == ((), (), ())
    assert grading.check == "sh run.sh /dev/null t/area.t t/edge.t"
    assert grading.resolved_when == "the check exits with 0"
    state = case.verification
    assert (state.base.exit_code, state.head.exit_code, state.base.repeats, state.head.repeats) == (1, 0, 3, 3)
    assert verified(case, repo) == ""
    other = state.model_copy(update={"base": state.base.model_copy(update={"exit_code": 2})})
    assert "base: exit code 1, recorded is 2" in verified(case.model_copy(update={"verification": other}), repo)


def test_cut_takes_a_case_graded_by_exit_code_only_when_told(
    cli: CommandLine, workspace: Workspace, tmp_path: Path
) -> None:
    repo = history(tmp_path / "box", RUN_TAP)
    settings = workspace.root / "casewright.yaml"
    section = "repositories:\n  box:\n    url: https://github.com/acme/box\n    licence: MIT"
    settings.write_text(settings.read_text().replace("repositories: {}", section))
    added(cli, workspace, repo, "--grade-by", "exit-code", "--test-cmd", "sh run.sh /dev/null {files}")
    cut = ("-C", workspace.root, "cut", "--include-auto")
    refused = cli(*cut)
    assert refused.code == 1
    assert "--include-exit-code takes it" in refused.out
    assert list(workspace.releases.glob("*.json")) == []
    taken = cli(*cut, "--include-exit-code")
    assert taken.code == 0, taken.out + taken.err
    (release,) = workspace.releases.glob("*.json")
    assert json.loads(release.read_text())["counts"]["modes"] == {"per_test": 0, "exit_code": 1}
    assert cli("check", release).code == 0


@pytest.mark.network
def test_a_language_s_own_check_can_be_graded_by_exit_code(
    cli: CommandLine, workspace: Workspace, tmp_path: Path
) -> None:
    repo = RepoBuilder(tmp_path / "box")
    repo.commit("Begin", {"box.py": "def area(a, b):\n    return a + b\n"})
    test = (
        "import unittest\nfrom box import area\n\n\nclass BoxTest(unittest.TestCase):\n    def test_area(self):\n"
        "        self.assertEqual(area(2, 3), 6)\n"
    )
    repo.commit(MESSAGE, {"box.py": "def area(a, b):\n    return a * b\n", "tests/test_box.py": test})
    case = added(cli, workspace, repo, "--grade-by", "exit-code")
    assert (case.grading.mode, case.language) == (Mode.EXIT_CODE, "python")
    assert case.grading.check.endswith("-m unittest -v tests/test_box.py")
    assert (case.verification.base.summary, case.verification.base.counts.failed) == ("no report, exit code 1", 0)
    assert verified(case, repo) == ""


def configured(section: RepositorySection | None = None) -> Configuration:
    return Configuration.model_validate(
        {
            "schema": "casewright.workspace/v1",
            "library": {"id": "boxes", "title": "Boxes"},
            "repositories": {"box": section or RepositorySection()},
        }
    )


def test_nothing_that_is_said_is_ignored_in_silence() -> None:
    plain = configured()
    with pytest.raises(UsageError, match=r"'make deps'; give --test-cmd too"):
        commands(plain, "box", JudgingOptions(setup="make deps"))
    with pytest.raises(UsageError, match=r"'make deps'"):
        commands(configured(RepositorySection(setup=SetupSection(commands=("make deps",)))), "box", JudgingOptions())
    with pytest.raises(UsageError, match=r"'make test' has no \{report\}.*--grade-by exit-code"):
        commands(plain, "box", JudgingOptions(test="make test"))
    with pytest.raises(UsageError, match=r"asks for node '20'"):
        commands(configured(RepositorySection(node="20")), "box", JudgingOptions(test="make test > {report}"))
    by_exit_code = JudgingOptions(test="make test", setup="make deps", grade_by=Mode.EXIT_CODE)
    assert commands(plain, "box", by_exit_code) == {"test": "make test", "setup": "make deps"}


def test_the_command_line_wins_over_the_workspace() -> None:
    said = commands(configured(RepositorySection(check="old > {report}")), "box", JudgingOptions(test="new > {report}"))
    assert said["test"] == "new > {report}"


def test_the_way_to_grade_is_part_of_what_a_judgement_is_known_by() -> None:
    digests = {judging_digest(configured(), "box", JudgingOptions(grade_by=mode)) for mode in Mode}
    assert len(digests) == 2


def test_a_wrong_command_is_told_before_anything_runs(cli: CommandLine, workspace: Workspace, tmp_path: Path) -> None:
    repo = history(tmp_path / "box", RUN_TAP)
    ran = cli("-C", workspace.root, "mine", repo.path, "--test-cmd", "make test")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert "has no {report}" in ran.err
