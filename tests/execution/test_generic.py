"""Commands of the user's own: placeholders, the pipe under observation, attribution of a report, the plan, set-up."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casewright.errors import InfrastructureError
from execution.languages import LANGUAGES, generic, javascript, module_of, python
from execution.languages.base import PlanRequest
from execution.languages.file_names import language_of_files
from execution.languages.generic_command import filled, observed, wants_report
from execution.languages.generic_report import read_report
from execution.languages.generic_setup import failure
from execution.observation import FailsBy, Outcome, ReportReading
from execution.recipe import Environment, Recipe
from execution.sandbox import TREE_DIR, Copy, Ended, Limits, SandboxOutcome, SandboxRequest
from execution.sandboxes import choose
from tests.support.memory_tree import MemoryTree
from tests.support.sandbox import needs_sandbox

AB = ("t/a.t", "t/b.t")


def junit(*cases: str) -> bytes:
    return f'<?xml version="1.0"?><testsuites><testsuite>{"".join(cases)}</testsuite></testsuites>'.encode()


def case(name: str, *, classname: str = "", file: str = "", red: str = "") -> str:
    attributes = {"name": name, "classname": classname, "file": file}
    words = " ".join(f"{key}={quoteattr(value)}" for key, value in attributes.items() if value)
    inner = f'<{red} message="told&#10;at length"/>' if red else ""
    return f"<testcase {words}>{inner}</testcase>"


def told(reading: ReportReading) -> list[tuple[str, str, str]]:
    return [(test.id, test.file, test.outcome.value) for test in reading.tests]


class TestCommand:
    def test_placeholders_are_replaced_and_other_braces_stay(self) -> None:
        command = "run {files} --out={report} | awk '{print}' ${files} {other}"
        assert filled(command, ("t/a b.t", "t/it's.t")) == (
            "run 't/a b.t' 't/it'\"'\"'s.t' --out=../report.xml | awk '{print}' ${files} {other}"
        )

    def test_a_name_that_looks_like_an_option_or_a_placeholder_stays_a_name(self) -> None:
        assert filled("run {files}", ("-rf.t", "{report}")) == "run ./-rf.t '{report}'"

    @given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1), min_size=1, max_size=4))
    def test_the_shell_reads_the_names_back(self, names: list[str]) -> None:
        command = filled(r"printf '%s\0' {files}", tuple(names))
        read = subprocess.run(["sh", "-c", command], capture_output=True, check=True).stdout.decode()
        assert [name.removeprefix("./") if given.startswith("-") else name for given, name in zip(
            names, read.split("\0")[:-1], strict=True
        )] == names  # fmt: skip

    def test_only_the_placeholder_itself_asks_for_a_report(self) -> None:
        assert wants_report("x > {report}")
        assert not wants_report("x > {reports} ${report}")


@needs_sandbox
class TestObserved:
    """The wrapper around a command, in the sandbox: what was said, once, and the command's own exit code."""

    def run(self, tmp_path: Path, command: str) -> SandboxOutcome:
        (tmp_path / "file").write_bytes(b"")
        return choose().run(
            SandboxRequest(
                argv=observed(filled(command, ()), with_report=True),
                copies=(Copy(source=tmp_path, target=TREE_DIR),),
                limits=Limits(seconds=30),
                report=True,
            )
        )

    @pytest.mark.parametrize(
        ("command", "report", "code"),
        [
            ("true # {report}", b"", 0),
            ("exit 3 # {report}", b"", 3),
            ("echo one > {report}", b"one\n", 0),
            ("for n in 1 2 3; do echo $n >> {report}; done; exit 9", b"1\n2\n3\n", 9),
            ("head -c 300000 /dev/zero > {report}", b"\0" * 300_000, 0),
            # A report that stands can't be taken back, neither by a new file in its place nor by another beginning.
            ("echo bad > {report}; rm {report}; echo good > {report}", b"bad\n", 0),
            ("echo bad > {report}; : > {report}", b"bad\n", 0),
            # The descriptors of the wrapper are not the command's: nothing else can be said there.
            ("echo more >&3 || echo more >&4 || echo kept > {report}", b"kept\n", 0),
            ("(sleep 60 &) ; echo one > {report}", b"one\n", 0),
        ],
    )
    def test_what_was_written_comes_out(self, tmp_path: Path, command: str, report: bytes, code: int) -> None:
        outcome = self.run(tmp_path, command)
        assert (outcome.report, outcome.exit_code, outcome.ended) == (report, code, Ended.EXITED)

    def test_a_command_that_is_killed_counts_as_killed(self, tmp_path: Path) -> None:
        outcome = self.run(tmp_path, "echo one > {report}; kill -9 $$")
        assert (outcome.report, outcome.exit_code, outcome.ended) == (b"one\n", 137, Ended.SIGNALLED)


class TestReport:
    def test_no_report_is_a_breach_that_says_so(self) -> None:
        for nothing in (b"", b" \n"):
            reading = read_report(nothing, 1, AB)
            assert (reading.whole, reading.tests) == (False, ())
            assert "wrote no report" in reading.breach

    def test_xml_that_is_cut_or_declares_entities_is_a_breach(self) -> None:
        assert "not XML" in read_report(junit(case("one"))[:-5], 0, AB).breach
        assert "entity" in read_report(b'<!DOCTYPE x [<!ENTITY a "b">]><testsuite/>', 0, AB).breach

    def test_a_failure_with_exit_code_0_is_a_breach_unless_the_code_is_unknown(self) -> None:
        report = junit(case("one", red="failure"))
        assert not read_report(report, 0, AB).whole
        assert read_report(report, 1, AB).whole
        assert read_report(report, None, ()).whole

    def test_ids_are_verbatim_and_say_the_file_where_the_report_does(self) -> None:
        report = junit(
            case("adds", classname="box.Area", file="./t/a.t"),
            case("adds", classname="t/b.t", file=f"{TREE_DIR}/t/b.t"),
            case("a::b > c [1]", classname="box.Area"),
        )
        assert [test.id for test in read_report(report, 0, ()).tests] == [
            "t/a.t::box.Area::adds", "t/b.t::adds", "box.Area::a::b > c [1]",
        ]  # fmt: skip

    def test_a_recorded_report_gives_the_same_ids_as_the_observed_one(self) -> None:
        for report in (junit(case("one", file="t/a.t"), case("two")), b"1..2\nok 1 - one\nok 2 - two\n"):
            seen = {test.id for test in read_report(report, 0, AB).tests}
            assert {test.id for test in read_report(report, None, ()).tests} == seen

    def test_the_worst_of_equal_ids_counts(self) -> None:
        report = junit(case("one"), case("one", red="error"), case("one", red="skipped"))
        (test,) = read_report(report, 1, AB[:1]).tests
        assert (test.outcome, test.fails_by, test.message) == (Outcome.ERROR, FailsBy.ERROR, "told")
        tap = b"1..2\nnot ok 1 - one\nok 2 - one\n"
        assert told(read_report(tap, 1, ())) == [("one", "", "failed")]

    def test_a_file_attribute_decides(self) -> None:
        report = junit(case("one", file="t/a.t"), case("two", file="src/t/b.t"), case("three", file="t/c.t"))
        assert told(read_report(report, 0, AB)) == [
            ("t/a.t::one", "t/a.t", "passed"),
            ("src/t/b.t::two", "t/b.t", "passed"),
            ("t/c.t::three", "t/c.t", "passed"),
        ]

    def test_with_one_graded_file_all_is_of_it_unless_the_report_tells_files_apart(self) -> None:
        report = junit(case("one", classname="x"), case("two", file="com/acme/Other"))
        assert {test.file for test in read_report(report, 0, ("t/a.t",)).tests} == {"t/a.t"}
        assert {test.file for test in read_report(b"1..1\nok 1 - x\n", 0, ("t/a.t",)).tests} == {"t/a.t"}

    @pytest.mark.parametrize(
        ("classname", "files", "owners"),
        [
            ("com.acme.BoxTest", ("src/test/java/com/acme/BoxTest.java", "src/test/java/com/other/BoxTest.java"), [0]),
            ("com.acme.BoxTest$Inner", ("src/com/acme/BoxTest.java", "src/com/acme/LidTest.java"), [0]),
            ("tests.test_box.TestArea", ("tests/test_box.py", "tests/test_lid.py"), [0]),
            ("tests/lid.test.js", ("tests/box.test.js", "tests/lid.test.js"), [1]),
            ("example.com/acme/box/lid", ("box/box_test.go", "box/lid/lid_test.go", "box/lid/rim_test.go"), [1, 2]),
            ("Area", ("t/a.t", "t/b.t"), [0, 1]),
            ("contest_box", ("tests/box.py", "tests/lid.py"), [0, 1]),
        ],
    )
    def test_a_class_name_goes_to_the_files_that_it_fits_best(
        self, classname: str, files: tuple[str, ...], owners: list[int]
    ) -> None:
        reading = read_report(junit(case("one", classname=classname)), 0, files)
        assert [test.file for test in reading.tests] == [files[place] for place in owners]

    def test_tap_is_shared_and_counted_once(self) -> None:
        reading = read_report(b"1..2\nok 1 - one\nnot ok 2 - two\n", 1, AB)
        assert told(reading) == [
            ("one", "t/a.t", "passed"), ("one", "t/b.t", "passed"),
            ("two", "t/a.t", "failed"), ("two", "t/b.t", "failed"),
        ]  # fmt: skip
        assert (reading.summary, reading.whole) == ("1 failed, 1 passed", True)

    @given(st.binary(max_size=300), st.sampled_from([None, 0, 1]))
    def test_any_bytes_give_a_reading(self, report: bytes, code: int | None) -> None:
        for start in (b"", b"<", b"<testsuite>", b"1..1\n"):
            reading = read_report(start + report, code, AB)
            assert reading.whole == (not reading.breach)

    @given(
        st.lists(st.tuples(st.text(st.characters(codec="ascii", categories=["L"])), st.sampled_from(AB)), max_size=8)
    )
    def test_every_test_of_a_report_is_of_some_graded_file(self, rows: list[tuple[str, str]]) -> None:
        report = junit(*(case(f"n{name}", file=file) for name, file in rows))
        reading = read_report(report, 0, AB)
        assert {(test.id, test.file) for test in reading.tests} == {(f"{file}::n{name}", file) for name, file in rows}


def request(head: dict[str, str], base: dict[str, str] | None = None, **overrides: str) -> PlanRequest:
    return PlanRequest(
        head=MemoryTree(head),
        base=MemoryTree(head if base is None else base),
        base_commit="b" * 40,
        head_commit="a" * 40,
        graded=("t/a.t",),
        date=1_700_000_000,
        overrides={"test": "run {files} {report}", **overrides},
    )


def planned(head: dict[str, str], base: dict[str, str] | None = None, **overrides: str) -> Recipe:
    recipe = generic.plan(request(head, base, **overrides))
    assert isinstance(recipe, Recipe)
    return recipe


class TestPlan:
    def test_the_runtime_is_this_system(self) -> None:
        recipe = planned({})
        lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
        facts = dict(line.split("=", 1) for line in lines if "=" in line)
        assert recipe.runtime.name == facts["ID"].strip('"')
        assert generic.find_runtime(recipe.runtime.version) == recipe.runtime
        assert generic.find_runtime(recipe.runtime.version + ".1") is None

    def test_without_set_up_every_change_shares_one_era(self) -> None:
        assert planned({"Cargo.lock": "1"}).era() == planned({"Cargo.lock": "2"}).era()

    def test_the_era_is_the_commands_the_root_s_manifests_and_what_the_commands_name(self) -> None:
        files = {"Cargo.lock": "1", "scripts/prepare.sh": "1", "src/x.rs": "1", "sub/Cargo.lock": "1"}
        era = planned(files, setup="sh ./scripts/prepare.sh").era()
        assert planned(files, setup="sh ./scripts/prepare.sh; true").era() != era
        for path, counts in {"Cargo.lock": True, "scripts/prepare.sh": True, "src/x.rs": False}.items():
            assert (planned({**files, path: "2"}, setup="sh ./scripts/prepare.sh").era() != era) is counts, path
        assert planned(files, setup="sh ./scripts/prepare.sh", test="other").era() == era

    def test_a_command_that_no_shell_reads_is_no_bug_of_ours(self) -> None:
        assert planned({"go.mod": "1"}, setup="echo 'unbalanced").inputs[0][0] == "commands"

    def test_the_base_borrows_the_head_s_manifests_for_set_up(self) -> None:
        recipe = planned({"go.mod": "2", "go.sum": "1"}, {"go.mod": "1", "Makefile": "all:\n"}, setup="go mod download")
        environment = Environment(
            folder=Path("/nowhere"), era=recipe.era(), runtime=recipe.runtime,
            setup=("mkdir -p ../env", "go mod download"), dependencies=(),
        )  # fmt: skip
        assert generic.setup(recipe, environment) == (
            f"git --literal-pathspecs restore --source={'a' * 40} --worktree -- go.mod go.sum",
            "rm -f -- Makefile",
            "mkdir -p ../env",
            "go mod download",
            "git --literal-pathspecs restore --worktree -- Makefile go.mod",
            "rm -f -- go.sum",
        )
        same = planned({"go.mod": "2"}, setup="go mod download")
        assert generic.setup(same, environment) == environment.setup

    def test_the_recorded_check_knows_its_report(self) -> None:
        check = generic.check(planned({}), ("t/a.t",))
        assert (check.command, check.report_file) == ("run t/a.t ../report.xml", "../report.xml")
        assert generic.recorded_check("own-command", check.command) == replace(check, observed=())
        plain = generic.check(planned({}, test="make test"), ("t/a.t",))
        assert (plain.report_file, plain.observed) == ("", ("sh", "-c", "make test"))


class TestFailure:
    def outcome(self, output: bytes, code: int = 1, ended: Ended = Ended.EXITED) -> SandboxOutcome:
        return SandboxOutcome(
            ended=ended, exit_code=code, output=output, output_bytes=len(output), report=b"", milliseconds=1,
            peak_memory_kb=1, memory_by="",
        )  # fmt: skip

    def test_the_network_is_no_verdict(self) -> None:
        for line in (b"curl: (6) Could not resolve host: example.com", b"dial tcp: lookup example.com: i/o timeout"):
            with pytest.raises(InfrastructureError, match="example"):
                failure("set-up command 1", self.outcome(line))

    def test_a_command_that_is_not_there_and_one_that_fails(self) -> None:
        missing = failure("step", self.outcome(b"sh: 1: cmake: not found\n", 127))
        assert missing.code == "needs-system-package"
        assert missing.detail == "step ended with 127: sh: 1: cmake: not found"
        assert (missing.step, missing.package) == ("step", "cmake")
        assert "apt install cmake" in missing.remedy
        assert failure("step", self.outcome(b"", 2)).detail == "step ended with 2: it printed nothing"
        assert "timeout" in failure("step", self.outcome(b"", 137, Ended.TIMEOUT)).detail


def test_a_case_is_run_by_the_module_that_its_runner_names() -> None:
    assert module_of("go", "own-command") is LANGUAGES["generic"]
    assert (module_of("python", "pytest"), module_of("typescript", "vitest")) == (python, javascript)
    assert module_of("zig", "zig-test") is None


@pytest.mark.parametrize(
    ("files", "language"),
    [
        (("a_test.go", "b_test.go", "x.py"), "go"),
        (("a.py", "b.go"), "go"),
        (("tests/box.bats",), "shell"),
        (("tests/data", "Makefile"), "other"),
    ],
)
def test_files_tell_a_language_by_their_ends(files: tuple[str, ...], language: str) -> None:
    assert language_of_files(files) == language
