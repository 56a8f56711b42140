"""Which files are graded, which runner a suite is written for, and what a check switches off."""

from __future__ import annotations

import pytest

from execution.languages import python
from execution.languages.python_project import PytestConfiguration, read_pytest_configuration
from execution.languages.python_runner import (
    check_options,
    choose_runner,
    demanded_plugins,
    is_test_name,
    own_options,
)
from tests.support.memory_tree import MemoryTree

UNITTEST = "import unittest\nclass BoxTest(unittest.TestCase):\n    def test_one(self): pass\n"
FUNCTION = "def test_one(): pass\n"


def graded(files: dict[str, str]) -> tuple[str, ...]:
    return python.graded_files(tuple(sorted(files)), MemoryTree(files))


def test_files_are_graded_by_name_and_because_they_hold_tests() -> None:
    files = {
        "tests/test_a.py": FUNCTION,
        "tests/b_test.py": FUNCTION,
        "polls/tests.py": UNITTEST,
        "tests/conftest.py": FUNCTION,
        "tests/latest.py": FUNCTION,
        "tests/helpers.py": FUNCTION,
        "tests/test_data.json": "{}",
        "tests/typing/test_types.py": "from typing import assert_type\nassert_type(1, int)\n",
        "tests/test_shared.py": "from tests.base import *\n",
        "tests/test_stateful.py": "from x import Machine\nTestMachine = Machine.TestCase\n",
        "tests/test_old.py": "def test_it():\n    print 'python 2'\n",
    }
    assert graded(files) == (
        "polls/tests.py",
        "tests/b_test.py",
        "tests/test_a.py",
        "tests/test_old.py",
        "tests/test_shared.py",
        "tests/test_stateful.py",
    )


def test_a_file_that_the_head_does_not_have_is_not_graded() -> None:
    assert python.graded_files(("tests/test_gone.py",), MemoryTree({})) == ()


@pytest.mark.parametrize(
    "configuration",
    [
        {"pytest.ini": "[pytest]\npython_files = check_*.py\n"},
        {"setup.cfg": "[tool:pytest]\npython_files = check_*.py\n"},
        {"tox.ini": "[pytest]\npython_files =\n    check_*.py\n"},
        {"pyproject.toml": '[tool.pytest.ini_options]\npython_files = ["check_*.py"]\n'},
        {"pytest.toml": '[pytest]\npython_files = ["check_*.py"]\n'},
        {"tests/pytest.ini": "[pytest]\npython_files = check_*.py\n"},
    ],
)
def test_configured_names_count(configuration: dict[str, str]) -> None:
    assert "tests/check_a.py" in graded({**configuration, "tests/check_a.py": FUNCTION})


def test_the_nearest_configuration_wins_and_an_empty_pytest_ini_counts() -> None:
    tree = MemoryTree({"pytest.ini": "", "setup.cfg": "[tool:pytest]\naddopts = -x\n", "tests/test_a.py": FUNCTION})
    assert read_pytest_configuration(tree, ("tests/test_a.py",)) == PytestConfiguration(path="pytest.ini")


@pytest.mark.parametrize(
    ("files", "wanted", "runner"),
    [
        ({}, frozenset(), "unittest"),
        ({"setup.py": "from setuptools import setup\nsetup()\n"}, frozenset(), "unittest"),
        ({}, frozenset({"pytest"}), "pytest"),
        ({"conftest.py": ""}, frozenset(), "pytest"),
        ({"Makefile": "test:\n\tpython -m pytest\n"}, frozenset(), "pytest"),
        ({".github/workflows/ci.yml": "run: py.test tests"}, frozenset(), "pytest"),
        ({"README.md": "pytest"}, frozenset(), "unittest"),
        ({"tests/test_a.py": FUNCTION}, frozenset(), "pytest"),
        ({"tests/test_a.py": "class TestBox:\n    def test_one(self): pass\n"}, frozenset(), "pytest"),
        ({"tests/test_a.py": "import pytest\n" + UNITTEST}, frozenset(), "pytest"),
    ],
)
def test_unittest_is_for_suites_that_never_heard_of_pytest(
    files: dict[str, str], wanted: frozenset[str], runner: str
) -> None:
    tree = MemoryTree({"tests/test_a.py": UNITTEST, **files})
    assert choose_runner(tree, ("tests/test_a.py",), wanted)[0] == runner


def test_the_user_may_choose_the_runner() -> None:
    assert choose_runner(MemoryTree({}), (), frozenset({"pytest"}), "unittest")[0] == "unittest"


@pytest.mark.parametrize(
    ("addopts", "wanted", "options", "notes"),
    [
        ("-ra --strict-markers -rx", set(), ("-p", "no:cacheprovider"), 0),
        ("--cov=box --cov-fail-under=100", set(), ("-p", "no:cacheprovider", "--no-cov"), 1),
        ("-n auto --dist loadfile", set(), ("-p", "no:cacheprovider", "-n0"), 1),
        ("-n4", set(), ("-p", "no:cacheprovider", "-n0"), 1),
        ("-vx", set(), ("-p", "no:cacheprovider", "--maxfail=0"), 1),
        ("--maxfail=3", set(), ("-p", "no:cacheprovider", "--maxfail=0"), 1),
        ("--ff", set(), (), 0),
        ("", {"pytest-randomly"}, ("-p", "no:cacheprovider", "-p", "no:randomly"), 1),
        (
            "--randomly-seed=1", {"pytest-randomly"},
            ("-p", "no:cacheprovider", "--randomly-dont-reorganize", "--randomly-seed=0"), 1,
        ),
    ],
)  # fmt: skip
def test_what_judges_the_suite_is_switched_off_with_a_note(
    addopts: str, wanted: set[str], options: tuple[str, ...], notes: int
) -> None:
    found, said = check_options(PytestConfiguration(options={"addopts": addopts}), frozenset(wanted))
    assert found == ("--continue-on-collection-errors", "-rX", *options)
    assert len(said) == notes


def test_plugins_that_the_configuration_demands() -> None:
    options = {"addopts": "--cov=box -n 2 --timeout=3", "asyncio_mode": "auto", "required_plugins": "pytest-httpx>=0.2"}
    assert demanded_plugins(PytestConfiguration(options=options)) == (
        "pytest-cov", "pytest-xdist", "pytest-timeout", "pytest-asyncio", "pytest-httpx>=0.2",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("addopts", "plugins"),
    [
        ("-p xdist -p no:cacheprovider", ("pytest-xdist",)),
        ("-ppytest_httpbin --strict-markers -ra --tb=short --durations=10", ("pytest-httpbin",)),
        ("--doctest-modules --doctest-glob=*.rst", ()),
        ("--doctest-plus --doctest-rst", ("pytest-doctestplus",)),
        ("--randomly-seed=1 --benchmark-disable --reruns 3", ("pytest-randomly", "pytest-benchmark",
                                                              "pytest-rerunfailures")),
        ("--flake8 --pylint --mypy --isort --black", ()),
        ("--record-mode=none", ()),
    ],
)  # fmt: skip
def test_an_option_of_a_plugin_demands_the_plugin(addopts: str, plugins: tuple[str, ...]) -> None:
    tree = MemoryTree({"tests/conftest.py": "def pytest_addoption(parser):\n    parser.addoption('--record-mode')\n"})
    assert demanded_plugins(PytestConfiguration(options={"addopts": addopts}), own_options(tree)) == plugins


def test_a_linter_that_runs_as_a_test_is_switched_off_and_its_plugin_is_not_needed() -> None:
    configuration = PytestConfiguration(options={"addopts": "-ra --flake8 --cov=box '--ignore=a b' --mypy"})
    options, notes = check_options(configuration, frozenset())
    assert options[options.index("-o") + 1] == "addopts=-ra --cov=box '--ignore=a b'"
    assert "--no-cov" in options
    assert any("--flake8 --mypy" in note for note in notes)


@pytest.mark.parametrize(
    ("options", "path", "collected"),
    [
        ({"norecursedirs": "testing/example_scripts build"}, "testing/example_scripts/a/test_x.py", False),
        ({"norecursedirs": "testing/example_scripts build"}, "testing/test_x.py", True),
        ({"norecursedirs": "data*"}, "tests/database/deep/test_x.py", False),
        ({"norecursedirs": "data*"}, "tests/test_database.py", True),
        ({"addopts": "--ignore=tests/slow/ -ra"}, "tests/slow/test_x.py", False),
        ({"addopts": "--ignore=tests/test_x.py"}, "tests/test_x.py", False),
        ({"addopts": "--ignore=tests/slow"}, "tests/slower/test_x.py", True),
    ],
)
def test_what_the_configuration_keeps_pytest_out_of_is_no_test(
    options: dict[str, str], path: str, *, collected: bool
) -> None:
    assert is_test_name(path, PytestConfiguration(path="pytest.ini", options=options)) is collected
    inner = PytestConfiguration(path="packages/box/pytest.ini", options=options)
    assert is_test_name(f"packages/box/{path}", inner) is collected


def test_an_example_with_a_configuration_of_its_own_is_left_out_by_the_tree_s() -> None:
    files = {
        "pytest.ini": "[pytest]\nnorecursedirs = tests/examples\n",
        "tests/examples/pytest.ini": "[pytest]\n",
        "tests/examples/test_x.py": FUNCTION,
        "tests/test_a.py": FUNCTION,
    }
    candidates = ("tests/examples/test_x.py", "tests/test_a.py")
    assert python.graded_files(candidates, MemoryTree(files)) == ("tests/test_a.py",)
