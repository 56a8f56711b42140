"""The reporters, run for real: what they tell, and that tests can't tell them from ``python -m``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import execution
from execution.observation import FailsBy, Outcome, ReportReading
from execution.reports import pytest_events, unittest_events
from execution.sandbox import SandboxOutcome
from tests.execution.python_bench import run_plainly
from tests.support.oddities import built_oddity

RESOURCES = Path(execution.__file__).parent / "resources"


def observe(
    tree: Path, runner: str, *arguments: str, env: dict[str, str] | None = None
) -> tuple[ReportReading, SandboxOutcome]:
    """Run a reporter in a tree and read what it told."""
    outcome = run_plainly(
        (sys.executable, str(RESOURCES / f"{runner}_report.py"), *arguments), cwd=tree, env=env or {}, places={}
    )
    files = tuple(word for word in arguments if word.endswith(".py"))
    reader = pytest_events.read if runner == "pytest" else unittest_events.read
    return reader(outcome.report, outcome.exit_code, files, outcome.output), outcome


def write(tree: Path, **texts: str) -> None:
    for name, text in texts.items():
        (tree / f"{name}.py").write_text(text)


def outcomes(reading: ReportReading) -> dict[str, str]:
    return {test.id: test.outcome.value for test in reading.tests}


def test_every_odd_pytest_id_has_its_one_outcome(tmp_path: Path) -> None:
    folder = built_oddity("19-pytest-ids", tmp_path)
    expected = Path(__file__).parents[2].joinpath("../shared/oddities/19-pytest-ids/expect.md")
    root = os.environ.get("CASEWRIGHT_ODDITIES")
    text = (Path(root, "19-pytest-ids/expect.md") if root else expected).read_text()
    case = json.loads(text.split("```json\n")[1].split("```")[0])["cases"][0]
    files = ("tests/test_ids.py", "tests/test_truth.py", "tests/test_zoo.py", "tests/test_zoo/TestCage.py")
    reading, outcome = observe(folder / "repo", "pytest", "-p", "no:cacheprovider", *files)
    assert outcome.exit_code == 1
    assert reading.whole, reading.breach
    assert outcomes(reading) == case["head_results"]
    assert {test.file for test in reading.tests} == set(files)


def test_how_a_unittest_case_fails_under_pytest_is_told(tmp_path: Path) -> None:
    write(
        tmp_path,
        test_kinds="""
import unittest
class Kinds(unittest.TestCase):
    def test_asserts(self): self.assertEqual(1, 2)
    def test_fails(self): self.fail("no")
    def test_breaks(self): raise TypeError("x")
""",
    )
    reading, _ = observe(tmp_path, "pytest", "-p", "no:cacheprovider", "test_kinds.py")
    assert {test.id.split("::")[2]: test.fails_by for test in reading.tests} == {
        "test_asserts": FailsBy.ASSERTION,
        "test_fails": FailsBy.ASSERTION,
        "test_breaks": FailsBy.ERROR,
    }


def test_how_a_test_fails_is_told(tmp_path: Path) -> None:
    write(
        tmp_path,
        test_kinds="""
import pytest
def test_asserts(): assert 1 == 2
def test_fails(): pytest.fail("no")
def test_does_not_raise():
    with pytest.raises(ValueError): pass
def test_breaks(): raise KeyError("x")
@pytest.mark.xfail(strict=True)
def test_is_too_good(): pass
""",
    )
    reading, _ = observe(tmp_path, "pytest", "-p", "no:cacheprovider", "test_kinds.py")
    assert {test.id.split("::")[1]: test.fails_by for test in reading.tests} == {
        "test_asserts": FailsBy.ASSERTION,
        "test_fails": FailsBy.ASSERTION,
        "test_does_not_raise": FailsBy.ASSERTION,
        "test_breaks": FailsBy.ERROR,
        "test_is_too_good": FailsBy.ASSERTION,
    }
    assert next(test.message for test in reading.tests if test.id.endswith("breaks")) == "KeyError: 'x'"


PROBE = """
import json, os, sys, unittest
def facts():
    main = sys.modules["__main__"]
    return {
        "path": sys.path, "argv": sys.argv, "main": (main.__name__, main.__spec__.name),
        "low": sorted(int(n) for n in os.listdir("/proc/self/fd") if int(n) < 20),
        "env": sorted(n for n in os.environ if not n.startswith("SSL_")),
        "ours": [n for n in sys.modules if "casewright" in n and n != "casewright_events"],
    }
class Probe(unittest.TestCase):
    def test_probe(self):
        with open(os.environ["PROBE_TO"], "w") as out: json.dump(facts(), out)
"""


@pytest.mark.parametrize("runner", ["pytest", "unittest"])
def test_a_test_sees_what_it_sees_without_us(tmp_path: Path, runner: str) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    write(tree, test_probe=PROBE)
    options = ("-p", "no:cacheprovider") if runner == "pytest" else ("-v",)
    env = {"PATH": os.defpath, "HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    watched = {**env, "PROBE_TO": str(tmp_path / "watched.json")}
    _, outcome = observe(tree, runner, *options, "test_probe.py", env=watched)
    assert outcome.exit_code == 0, outcome.output
    plain = {**env, "PROBE_TO": str(tmp_path / "plain.json")}
    command = (sys.executable, "-m", runner, *options, "test_probe.py")
    subprocess.run(command, cwd=tree, env=plain, check=True, capture_output=True)
    assert json.loads((tmp_path / "watched.json").read_text()) == json.loads((tmp_path / "plain.json").read_text())


def test_the_end_of_the_process_inside_a_test_is_no_whole_report(tmp_path: Path) -> None:
    write(tmp_path, test_exit="import os\ndef test_one(): pass\ndef test_two(): os._exit(0)\n")
    reading, outcome = observe(tmp_path, "pytest", "-p", "no:cacheprovider", "test_exit.py")
    assert outcome.exit_code == 0
    assert not reading.whole
    assert outcomes(reading) == {"test_exit.py::test_one": "passed"}


def test_an_exit_code_changed_at_the_last_moment_is_a_breach(tmp_path: Path) -> None:
    write(tmp_path, test_late="import atexit, os\natexit.register(os._exit, 0)\ndef test_one(): assert False\n")
    reading, outcome = observe(tmp_path, "pytest", "-p", "no:cacheprovider", "test_late.py")
    assert outcome.exit_code == 0
    assert "the runner ended with 1, the process with 0" in reading.breach


def test_children_and_nested_runs_say_nothing(tmp_path: Path) -> None:
    write(
        tmp_path,
        test_nested="""
import os, subprocess, sys, pytest
def test_forks():
    pid = os.fork()
    if pid == 0:
        try: raise SystemExit(pytest.main(["-q", "-p", "no:cacheprovider", "inner_test.py"]))
        finally: os._exit(0)
    os.waitpid(pid, 0)
def test_runs_inner(): assert pytest.main(["-q", "-p", "no:cacheprovider", "inner_test.py"]) == 1
WRITE = [sys.executable, "-c", "import os; os.write(3, b'x')"]
def test_starts(): subprocess.run(WRITE, stderr=subprocess.DEVNULL, close_fds=False)
""",
        inner_test="def test_inner(): assert False\n",
    )
    reading, _ = observe(tmp_path, "pytest", "-p", "no:cacheprovider", "test_nested.py")
    assert reading.whole, reading.breach
    assert sorted(outcomes(reading)) == [f"test_nested.py::test_{name}" for name in ("forks", "runs_inner", "starts")]


def test_a_broken_file_hides_no_other_and_warnings_as_errors_do_not_hit_the_reporter(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nfilterwarnings = error\naddopts = --strict-config --strict-markers\n"
    )
    write(tmp_path, test_good="def test_one(): pass\n", test_bad="from nowhere import nothing\n")
    options = ("-p", "no:cacheprovider", "--continue-on-collection-errors")
    reading, _ = observe(tmp_path, "pytest", *options, "test_bad.py", "test_good.py")
    assert reading.whole, reading.breach
    assert reading.broken_files == {"test_bad.py": "ModuleNotFoundError: No module named 'nowhere'"}
    assert outcomes(reading) == {"test_good.py::test_one": "passed"}


def test_a_broken_conftest_breaks_all_files(tmp_path: Path) -> None:
    write(tmp_path, conftest="from nowhere import nothing\n", test_good="def test_one(): pass\n")
    reading, outcome = observe(tmp_path, "pytest", "-p", "no:cacheprovider", "test_good.py")
    assert outcome.exit_code == 4
    assert reading.whole, reading.breach
    assert reading.broken_files == {"test_good.py": "ModuleNotFoundError: No module named 'nowhere'"}


def test_a_file_that_the_tree_keeps_from_being_collected_is_broken_alone(tmp_path: Path) -> None:
    (tmp_path / "listed").mkdir()
    (tmp_path / "listed" / "test_out.py").write_text("")
    write(
        tmp_path,
        conftest="import pytest\n\n\nclass Listed(pytest.Directory):\n    def collect(self):\n        return []\n\n\n"
        "def pytest_collect_directory(path, parent):\n"
        "    return Listed.from_parent(parent, path=path) if path.name == 'listed' else None\n",
        test_good="def test_one(): pass\n",
    )
    reading, outcome = observe(tmp_path, "pytest", "-p", "no:cacheprovider", "test_good.py", "listed/test_out.py")
    assert outcome.exit_code == 4
    assert reading.whole, reading.breach
    assert set(reading.broken_files) == {"listed/test_out.py"}


def test_an_unknown_option_is_a_breach(tmp_path: Path) -> None:
    write(tmp_path, test_good="def test_one(): pass\n")
    reading, _ = observe(tmp_path, "pytest", "--no-such-option", "test_good.py")
    assert not reading.whole
    assert "--no-such-option" in reading.breach


def test_what_is_deselected_is_not_missed(tmp_path: Path) -> None:
    write(tmp_path, test_some="def test_one(): pass\ndef test_two(): pass\n")
    reading, _ = observe(tmp_path, "pytest", "-p", "no:cacheprovider", "-k", "one", "test_some.py")
    assert reading.whole
    assert outcomes(reading) == {"test_some.py::test_one": "passed"}
    nothing, outcome = observe(tmp_path, "pytest", "-p", "no:cacheprovider", "-k", "none", "test_some.py")
    assert outcome.exit_code == 5
    assert nothing.whole
    assert nothing.tests == ()


def test_pytest_exit_cuts_the_run_and_says_so(tmp_path: Path) -> None:
    write(
        tmp_path,
        test_some="import pytest\ndef test_one(): pass\ndef test_two(): pytest.exit('no')\ndef test_three(): pass\n",
    )
    reading, outcome = observe(tmp_path, "pytest", "-p", "no:cacheprovider", "test_some.py")
    assert outcome.exit_code == 2
    assert reading.whole, reading.breach
    assert outcomes(reading) == {"test_some.py::test_one": "passed"}


def test_fake_file_systems_and_replaced_functions_do_not_silence_the_reporter(tmp_path: Path) -> None:
    write(
        tmp_path,
        test_mocks="""
import json, os, pytest
@pytest.fixture
def no_writing(monkeypatch):
    monkeypatch.setattr(os, "write", None)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    monkeypatch.setattr(json, "dumps", None)
def test_one(no_writing): assert os.getpid() == -1
""",
    )
    reading, _ = observe(tmp_path, "pytest", "-p", "no:cacheprovider", "test_mocks.py")
    assert reading.whole, reading.breach
    assert outcomes(reading) == {"test_mocks.py::test_one": "passed"}


UNITTEST = """
import unittest
class Box(unittest.TestCase):
    def test_passes(self): pass
    def test_fails(self): self.assertTrue(False)
    def test_breaks(self): raise KeyError("x")
    def test_parts(self):
        for x in range(3):
            with self.subTest(x=x): self.assertNotEqual(x, 1)
    def test_whole_parts(self):
        for x in range(3):
            with self.subTest(x=x): pass
    @unittest.skip("no")
    def test_skips(self): pass
    @unittest.expectedFailure
    def test_expected(self): self.fail()
    @unittest.expectedFailure
    def test_too_good(self): pass
    def test_cleans_up_badly(self): self.addCleanup(lambda: 1 / 0)
class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise RuntimeError("set-up")
    def test_never(self): pass
class Late(unittest.TestCase):
    @classmethod
    def tearDownClass(cls): raise RuntimeError("tear-down")
    def test_before(self): pass
"""


def test_unittest_outcomes_are_told_by_verbatim_id(tmp_path: Path) -> None:
    write(tmp_path, test_box=UNITTEST, test_gone="import nowhere\n")
    reading, outcome = observe(tmp_path, "unittest", "-v", "test_box.py", "test_gone.py")
    assert outcome.exit_code == 1
    assert reading.whole, reading.breach
    assert reading.broken_files == {"test_gone.py": "ModuleNotFoundError: No module named 'nowhere'"}
    assert outcomes(reading) == {
        "test_box.Box.test_passes": "passed",
        "test_box.Box.test_fails": "failed",
        "test_box.Box.test_breaks": "error",
        "test_box.Box.test_parts": "failed",
        "test_box.Box.test_whole_parts": "passed",
        "test_box.Box.test_skips": "skipped",
        "test_box.Box.test_expected": "xfailed",
        "test_box.Box.test_too_good": "failed",
        "test_box.Box.test_cleans_up_badly": "error",
        "test_box.Broken.test_never": "error",
        "test_box.Late.test_before": "error",
    }
    by = {test.id.rpartition(".")[2]: test.fails_by for test in reading.tests if test.fails_by}
    assert (by["test_fails"], by["test_breaks"], by["test_parts"]) == (
        FailsBy.ASSERTION,
        FailsBy.ERROR,
        FailsBy.ASSERTION,
    )
    assert reading.summary.startswith("Ran 11 tests: FAILED")


def test_a_runner_inside_a_unittest_says_nothing(tmp_path: Path) -> None:
    write(
        tmp_path,
        test_outer="""
import io, unittest
class Inner(unittest.TestCase):
    def runTest(self): self.fail()
class Outer(unittest.TestCase):
    def test_runs(self): unittest.TextTestRunner(stream=io.StringIO()).run(Inner())
def load_tests(loader, tests, pattern): return loader.loadTestsFromTestCase(Outer)
""",
    )
    reading, _ = observe(tmp_path, "unittest", "-v", "test_outer.py")
    assert reading.whole, reading.breach
    assert {test.id: test.outcome for test in reading.tests} == {"test_outer.Outer.test_runs": Outcome.PASSED}
