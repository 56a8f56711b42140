"""The Python module as a whole: plans, eras, checks, and what a stranger's run leaves behind."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from execution.languages import LANGUAGES, python
from execution.languages.base import Check, Language, Refusal
from execution.observation import Outcome, ReportReading
from execution.recipe import Environment, Recipe, Runtime
from execution.sandbox import ENVIRONMENT_DIR, RUNTIME_DIR, TOOLS_DIR
from tests.execution.python_bench import request
from tests.support.memory_tree import MemoryTree

DATE = 1_780_000_000
TEST = "def test_one(): pass\n"
PYPROJECT = """
[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"
[project]
name = "box"
dynamic = ["version"]
requires-python = ">=3.8"
dependencies = ["attrs"]
[project.optional-dependencies]
tests = ["pytest"]
docs = ["sphinx"]
[dependency-groups]
lint = ["ruff"]
[tool.setuptools.dynamic]
version = {attr = "box.__version__"}
[tool.pytest.ini_options]
addopts = "--cov=box"
"""
FILES = {"pyproject.toml": PYPROJECT, "box/__init__.py": '__version__ = "1.0"\n', "tests/test_a.py": TEST}


def recipe(
    files: dict[str, str] | None = None, graded: tuple[str, ...] = ("tests/test_a.py",), **overrides: str
) -> Recipe:
    made = python.plan(request(MemoryTree({**FILES, **(files or {})}), graded, DATE, **overrides))
    assert isinstance(made, Recipe), made
    return made


def test_the_module_is_a_language() -> None:
    language: Language = python
    assert LANGUAGES["python"] is language
    assert language.name == "python"


@pytest.mark.parametrize(
    "change",
    [
        {"box/__init__.py": '"""Box."""\n__version__ = "1.0"\nx = 1\n'},
        {"box/lid.py": "x = 1\n"},
        {"tests/test_a.py": TEST * 2},
        {"pyproject.toml": PYPROJECT + "[tool.ruff]\nline-length = 100\n"},
        {"pyproject.toml": PYPROJECT.replace('["ruff"]', '["ruff>=2"]')},
        {"pyproject.toml": PYPROJECT.replace('["sphinx"]', '["sphinx>=2"]')},
        {"setup.cfg": "[flake8]\nmax-line-length = 100\n"},
        {"README.md": "Box\n"},
    ],
)
def test_commits_that_install_the_same_share_an_era(change: dict[str, str]) -> None:
    assert recipe(change).era() == recipe().era()


@pytest.mark.parametrize(
    "change",
    [
        {"box/__init__.py": '__version__ = "1.1"\n'},
        {"pyproject.toml": PYPROJECT.replace('["attrs"]', '["attrs>=22"]')},
        {"pyproject.toml": PYPROJECT.replace('["pytest"]', '["pytest", "mock"]')},
        {"pyproject.toml": PYPROJECT.replace("setuptools>=61", "setuptools>=62")},
        {"pyproject.toml": PYPROJECT + '[tool.setuptools]\npackage-dir = {"" = "src"}\n'},
        {"pyproject.toml": PYPROJECT.replace("--cov=box", "--timeout=3")},
        {"setup.py": "from setuptools import setup\nsetup()\n"},
        {"poetry.lock": '[[package]]\nname = "attrs"\nversion = "22.1"\n'},
    ],
)
def test_commits_that_install_something_else_do_not(change: dict[str, str]) -> None:
    assert recipe(change).era() != recipe().era()


def test_only_what_the_lock_holds_for_the_tests_makes_an_era() -> None:
    lock = """
[[package]]
name = "box"
dependencies = [{ name = "attrs" }]
[[package]]
name = "attrs"
version = "%s"
[[package]]
name = "ruff"
version = "%s"
"""
    eras = {versions: recipe({"uv.lock": lock % versions}).era() for versions in (("1", "1"), ("1", "2"), ("2", "1"))}
    assert eras["1", "1"] == eras["1", "2"] != eras["2", "1"]


def test_a_runtime_that_is_not_here_is_a_refusal() -> None:
    made = python.plan(
        request(MemoryTree({**FILES, "pyproject.toml": PYPROJECT.replace(">=3.8", "==3.4.*")}), (), DATE)
    )
    assert isinstance(made, Refusal)
    assert made.code == "runtime-unavailable"


def test_a_check_is_the_same_run_twice_and_stands_alone() -> None:
    made = recipe(graded=("tests/test_a.py", "tests/test b's.py"))
    check = python.check(made, ("tests/test_a.py", "tests/test b's.py"))
    assert check.command.startswith('PATH="$PWD/../env/bin:$PATH" ../env/bin/python -m pytest ')
    words = shlex.split(check.command)[1:]
    assert check.observed == (words[0], f"{TOOLS_DIR}/pytest_report.py", *words[3:])
    assert words[3:] == [
        "--junitxml=../report.xml", "--continue-on-collection-errors", "-rX", "-p", "no:cacheprovider", "--no-cov",
        "tests/test_a.py", "tests/test b's.py",
    ]  # fmt: skip
    assert (check.report_file, check.env) == ("../report.xml", {})
    assert any("coverage" in note for note in check.notes)


def test_a_project_in_a_folder_is_checked_there() -> None:
    graded = ("packages/lid/tests/test_l.py",)
    files = {
        "packages/lid/setup.py": "from setuptools import setup\nsetup(name='lid')\n",
        graded[0]: TEST,
        "README.md": "",
    }
    made = python.plan(request(MemoryTree(files), graded, DATE))
    assert isinstance(made, Recipe)
    assert made.directory == "packages/lid"
    check = python.check(made, graded)
    assert check.command.startswith(
        'PATH="$PWD/../../../env/bin:$PATH" ../../../env/bin/python -m pytest --junitxml=../../../report.xml '
    )
    assert check.command.endswith(" tests/test_l.py")
    assert check.report_file == "../report.xml"


def environment(folder: Path, prefix: str = "/opt/python3.12") -> Environment:
    runtime = Runtime(name="python", version="3.12.1", executable=Path(prefix, "bin/python3.12"), prefix=Path(prefix))
    return Environment(folder=folder, era="0" * 64, runtime=runtime, setup=(), dependencies=())


def test_a_run_has_a_plain_environment_that_a_variation_alone_adds_to(tmp_path: Path) -> None:
    plain = python.env(environment(tmp_path), {})
    assert set(plain) == {"LC_ALL", "PATH"}
    assert plain["PATH"].startswith(f"{ENVIRONMENT_DIR}/bin:{RUNTIME_DIR}/bin:")
    varied = python.env(environment(tmp_path), {"hash_seed": "7", "time_zone": "Asia/Tokyo"})
    assert dict(varied) == {**plain, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    on_system = python.env(environment(tmp_path, "/usr"), {})["PATH"]
    assert on_system == f"{ENVIRONMENT_DIR}/bin:/usr/local/bin:/usr/bin:/bin"


def test_a_run_sees_environment_interpreter_and_reporters_read_only(tmp_path: Path) -> None:
    mounts = python.mounts(environment(tmp_path))
    assert {mount.target for mount in mounts} == {ENVIRONMENT_DIR, RUNTIME_DIR, TOOLS_DIR}
    assert not any(mount.writable for mount in mounts)
    assert {mount.target for mount in python.mounts(environment(tmp_path, "/usr"))} == {ENVIRONMENT_DIR, TOOLS_DIR}


def recorded(tree: Path, *names: str) -> tuple[dict[str, Outcome], ReportReading]:
    """Run pytest as a record says, and read what it left."""
    words = (
        "-m",
        "pytest",
        "--junitxml=../report.xml",
        "--continue-on-collection-errors",
        "-rX",
        "-p",
        "no:cacheprovider",
        *names,
    )
    done = subprocess.run((sys.executable, *words), cwd=tree, check=False, capture_output=True)
    check = Check(
        command=shlex.join(("../env/bin/python", *words)),
        report_file="../report.xml",
        report_format="junit",
        observed=(),
    )
    reading = python.read_recorded(check, (tree.parent / "report.xml").read_bytes(), done.stdout)
    return {test.id: test.outcome for test in reading.tests}, reading


def test_recorded_ids_are_those_of_the_record_where_they_are_unambiguous(tmp_path: Path) -> None:
    tree = tmp_path / "repo"
    (tree / "tests/test_zoo").mkdir(parents=True)
    (tree / "pytest.ini").write_text("[pytest]\npython_files = test_*.py Test*.py\n")
    (tree / "tests/test_zoo.py").write_text(
        "class TestCage:\n    def test_same(self): assert False\n    def test_own(self): pass\n"
    )
    (tree / "tests/test_zoo/TestCage.py").write_text("def test_same(): pass\n")
    (tree / "tests/test_gone.py").write_text("import nowhere\n")
    (tree / "tests/test_more.py").write_text(
        """
import pytest
@pytest.mark.parametrize("x", ["1 + 1", "a::b", "", "x - y", "é"])
def test_ids(x): pass
@pytest.mark.xfail
def test_too_good(): pass
@pytest.mark.xfail
def test_expected(): assert False
@pytest.fixture
def late():
    yield
    raise RuntimeError
def test_late(late): pass
class TestBox:
    class TestLid:
        def test_deep(self): pytest.skip("no")
"""
    )
    found, reading = recorded(
        tree, "tests/test_gone.py", "tests/test_more.py", "tests/test_zoo.py", "tests/test_zoo/TestCage.py"
    )
    assert found == {
        "tests/test_more.py::test_ids[1 + 1]": Outcome.PASSED,
        "tests/test_more.py::test_ids[a::b]": Outcome.PASSED,
        "tests/test_more.py::test_ids[]": Outcome.PASSED,
        "tests/test_more.py::test_ids[x - y]": Outcome.PASSED,
        "tests/test_more.py::test_ids[\\xe9]": Outcome.PASSED,
        "tests/test_more.py::test_too_good": Outcome.XPASSED,
        "tests/test_more.py::test_expected": Outcome.XFAILED,
        "tests/test_more.py::test_late": Outcome.ERROR,
        "tests/test_more.py::TestBox::TestLid::test_deep": Outcome.SKIPPED,
    }
    assert set(reading.broken_files) == {"tests/test_gone.py"}
    assert "1 xpassed" in reading.summary


def test_recorded_unittest_output_is_read_by_module(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_box.py").write_text(
        "import unittest\nclass Box(unittest.TestCase):\n"
        "    def test_one(self): pass\n    def test_two(self): self.fail()\n"
    )
    # Without it a package `tests` that is installed anywhere would be found instead.
    (tmp_path / "tests/__init__.py").touch()
    (tmp_path / "tests/test_lid.py").write_text("import nowhere\n")
    words = ("-m", "unittest", "-v", "tests/test_box.py", "tests/test_lid.py")
    done = subprocess.run((sys.executable, *words), cwd=tmp_path, check=False, capture_output=True)
    check = Check(
        command=shlex.join(("../env/bin/python", *words)), report_file="", report_format="unittest-text", observed=()
    )
    reading = python.read_recorded(check, b"", done.stderr)
    assert {test.id: (test.file, test.outcome) for test in reading.tests} == {
        "tests.test_box.Box.test_one": ("tests/test_box.py", Outcome.PASSED),
        "tests.test_box.Box.test_two": ("tests/test_box.py", Outcome.FAILED),
    }
    assert set(reading.broken_files) == {"tests/test_lid.py"}
    assert reading.summary == "Ran 3 tests: FAILED (failures=1, errors=1)"


def test_a_suite_from_before_setuptools_had_a_distutils_sees_the_interpreter_s() -> None:
    files = {"setup.py": "from setuptools import setup\nsetup(name='box')\n", "tests/test_a.py": TEST}
    old = python.plan(request(MemoryTree(files), ("tests/test_a.py",), 1_600_000_000, python="3.9"))
    new = python.plan(request(MemoryTree(files), ("tests/test_a.py",), 1_650_000_000, python="3.9"))
    if isinstance(old, Refusal) or isinstance(new, Refusal):
        pytest.skip("Python 3.9 is not on this machine")
    check = python.check(old, ("tests/test_a.py",))
    assert check.env == {"SETUPTOOLS_USE_DISTUTILS": "stdlib"}
    assert " SETUPTOOLS_USE_DISTUTILS=stdlib ../env/bin/python " in check.command
    assert python.check(new, ("tests/test_a.py",)).env == {}
