"""Where dependencies are written down, and which of the places are taken."""

from __future__ import annotations

import pytest

from execution.languages.python_backends import able_to_install_in_place
from execution.languages.python_project import read_project
from execution.languages.python_requirements import Needs, choose_sources, collect_needs
from execution.languages.python_sources import sources
from tests.support.memory_tree import MemoryTree


def needs(files: dict[str, str], *added: str) -> Needs:
    tree = MemoryTree(files)
    project = read_project(tree, ("tests/test_a.py",))
    return collect_needs(tree, project, choose_sources(sources(tree, project))[0], added)


PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "Box-Er"
version = "1"
"""
GROUPS = """
[dependency-groups]
tests = ["pytest", {include-group = "more"}]
more = ["attrs"]
tests-random = ["pytest-randomly"]
dev = ["ruff", "pytest"]
"""
EXTRAS = """
[project.optional-dependencies]
test = ["pytest", "box_er[more]"]
more = ["attrs"]
"""
POETRY = """
[tool.poetry]
name = "box"
version = "1"
[tool.poetry.dependencies]
python = "^3.8"
attrs = "^22.1"
[tool.poetry.group.test.dependencies]
pytest = ">=7,<9"
"""
NOX = """
import nox
@nox.session
def tests(session):
    session.install('pytest', '-r', 'dev.txt', '.[x]')
@nox.session
def lint(session):
    session.install('flake8')
"""
SETUP_PY = "from setuptools import setup\ntests = ['pytest', 'mock']\nsetup(name='box', tests_require=tests)\n"
SCM_SETUP_PY = "from setuptools import setup\nsetup(setup_requires=['setuptools_scm'])\n"


@pytest.mark.parametrize(
    ("files", "lines"),
    [
        pytest.param({"tox.ini": "[testenv]\ndeps =\n    pytest\n    pytest-cov  # counts\n"}, {"pytest",
        "pytest-cov"}, id="tox"),
        pytest.param(
            {"tox.ini": "[testenv]\ndeps =\n    py27: mock\n    {toxinidir}\n    -rreqs.txt\n",
            "reqs.txt": "pytest>=7\n"},
            {"pytest>=7"}, id="tox-factors-and-files",
        ),
        pytest.param(
            {"pyproject.toml": PROJECT + GROUPS},
            {"pytest", "attrs"}, id="narrowest-group",
        ),
        pytest.param(
            {"pyproject.toml": PROJECT + EXTRAS},
            {"pytest", "attrs"}, id="extra-that-asks-for-extras-of-its-own",
        ),
        pytest.param(
            {"pyproject.toml": PROJECT + '[project.optional-dependencies]\ndev = ["ruff", "pytest"]\n'},
            {"ruff", "pytest"}, id="dev-when-it-alone-has-the-runner",
        ),
        pytest.param(
            {"pyproject.toml": PROJECT + '[dependency-groups]\ntest = ["attrs"]\ndev = ["ruff"]\n'},
            {"attrs", "pytest"}, id="no-runner-anywhere",
        ),
        pytest.param(
            {"pyproject.toml": POETRY},
            {"attrs>=22.1,<23", "pytest>=7,<9"}, id="poetry",
        ),
        pytest.param(
            {"requirements/tests.txt": "-r base.txt\npytest==7.0.0 \\\n    --hash=sha256:00\n",
            "requirements/base.txt": "attrs==22.1.0\n"},
            {"pytest==7.0.0", "attrs==22.1.0"}, id="requirements-files",
        ),
        pytest.param(
            {"noxfile.py": NOX, "dev.txt": "attrs\n"},
            {"pytest", "attrs"}, id="nox",
        ),
        pytest.param(
            {"pyproject.toml": '[tool.hatch.envs.default]\ndependencies = ["pytest"]\n'}, {"pytest"},
            id="hatch-environment",
        ),
        pytest.param(
            {"pyproject.toml": '[tool.pdm.dev-dependencies]\ntest = ["pytest"]\nlint = ["ruff"]\n'}, {"pytest"},
            id="pdm",
        ),
        pytest.param(
            {"setup.cfg": "[metadata]\nname = box\n[options.extras_require]\ntesting =\n    pytest\n    attrs\n"},
            {"pytest", "attrs"}, id="setup.cfg",
        ),
        pytest.param(
            {"setup.py": SETUP_PY},
            {"pytest", "mock"}, id="setup.py",
        ),
        pytest.param({"requirements.txt": "attrs\n-e .\n", "app.py": ""}, {"attrs", "pytest"}, id="plain-folder"),
    ],
)  # fmt: skip
def test_the_narrowest_place_with_the_runner_is_taken(files: dict[str, str], lines: set[str]) -> None:
    found = needs(files, *(() if any("pytest" in text for text in files.values()) else ("pytest",)))
    assert set(found.lines) == lines


def test_a_lock_file_is_exported_for_the_test_group_alone() -> None:
    found = needs(
        {
            "pyproject.toml": PROJECT + '[dependency-groups]\ntests = ["pytest"]\ndocs = ["sphinx"]\n',
            "uv.lock": "version = 1\n",
        }
    )
    assert (found.lock, found.groups, found.extras, found.lines) == ("uv.lock", ("tests",), (), ())


def test_versions_of_other_lock_files_are_constraints() -> None:
    packages = (("attrs", "22.1.0"), ("two", "1"), ("two", "2"))
    lock = "".join(f'[[package]]\nname = "{name}"\nversion = "{version}"\n' for name, version in packages)
    poetry = '[tool.poetry]\nname = "box"\nversion = "1"\n[tool.poetry.dev-dependencies]\npytest = "*"\n'
    assert needs({"pyproject.toml": poetry, "poetry.lock": lock}).constraints == ("attrs==22.1.0",)


@pytest.mark.parametrize(
    ("files", "build", "manifest"),
    [
        ({"pyproject.toml": PROJECT}, ("hatchling", "editables"), ""),
        ({"pyproject.toml": PROJECT.replace("hatchling.build", "pdm.backend").replace("hatchling", "pdm-backend")},
         ("pdm-backend", "editables"), ""),
        ({"setup.py": SCM_SETUP_PY}, ("setuptools_scm", "setuptools", "wheel"), "setup.py"),
        ({"pyproject.toml": PROJECT + 'dynamic = ["dependencies"]\n'}, ("hatchling", "editables"), "pyproject.toml"),
        ({"pyproject.toml": "[tool.black]\n"}, (), ""),
        ({"pyproject.toml": '[tool.poetry]\nname = "box"\npackage-mode = false\n'}, (), ""),
    ],
)  # fmt: skip
def test_what_building_the_project_needs(files: dict[str, str], build: tuple[str, ...], manifest: str) -> None:
    found = needs(files, "pytest")
    assert (found.build, found.manifests, found.install) == (build, (manifest,) if manifest else (), bool(build))


def test_needs_survive_the_settings_of_a_recipe() -> None:
    found = needs({"setup.py": "from setuptools import setup\nsetup(extras_require={'test': ['pytest']})\n"})
    assert Needs.from_text(found.text()) == found


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("setuptools<64", "setuptools"),
        ("setuptools==58.1.0 ; python_version < '3.12'", 'setuptools ; python_version < "3.12"'),
        ("flit_core >=2,<3", "flit_core"),
        ("flit_core >=2,<4", "flit_core >=2,<4"),
        ("setuptools>=40", "setuptools>=40"),
        ("setuptools<70", "setuptools<70"),
        ("setuptools!=60", "setuptools!=60"),
        ("poetry-core~=1.0", "poetry-core~=1.0"),
        ("poetry-core==1.0.*", "poetry-core==1.0.*"),
        ("pip==20.1", "pip"),
        ("attrs<20", "attrs<20"),
        ("no requirement", "no requirement"),
    ],
)
def test_a_bound_that_keeps_out_whatever_installs_in_place_is_dropped(line: str, kept: str) -> None:
    assert able_to_install_in_place(line) == kept


def test_the_back_end_of_old_poetry_is_poetry_core_and_nothing_else_of_poetry() -> None:
    system = '[build-system]\nrequires = ["poetry>=0.12"]\nbuild-backend = "poetry.masonry.api"\n'
    found = needs({"pyproject.toml": '[tool.poetry]\nname = "box"\nversion = "1"\n' + system})
    assert found.build == ("poetry-core>=1.0.8",)
    assert [one.backend for one in found.installed] == ["poetry.masonry.api"]


def test_what_tox_refers_to_is_found() -> None:
    tox = (
        "[base]\ndeps =\n    pytest\n    {[more]deps}\n[more]\ndeps = mock\n"
        "[testenv]\ndeps =\n    {[base]deps}\n    {env:NUMPY:numpy>=1}\nextras = {env:EXTRAS:fast}\n"
    )
    files = {"tox.ini": tox, "pyproject.toml": PROJECT + '[project.optional-dependencies]\nfast = ["idna"]\n'}
    assert set(needs(files).lines) == {"pytest", "mock", "numpy>=1", "idna"}


def test_c_that_nothing_in_the_tree_holds_is_translated_first() -> None:
    setup = (
        "from setuptools import setup, Extension\nsetup(name='box', ext_modules=[Extension('box.a', ['box/a.c'])])\n"
    )
    assert needs({"setup.py": setup, "box/a.c": ""}).cython == ()
    assert needs({"setup.py": setup}).cython == ()
    found = needs({"setup.py": setup, "box/a.pyx": ""})
    assert found.cython == ("box/a.pyx",)
    assert "cython" in found.build
    assert needs({"setup.py": setup.replace("a.c", "a.cpp"), "box/a.pyx": ""}).cython == ("--cplus box/a.pyx",)


def test_of_two_places_that_contradict_each_other_the_one_that_is_run_counts() -> None:
    files = {
        "setup.py": "from setuptools import setup\nsetup(name='box', tests_require=['pytest-httpbin==0.0.7', 'mock'])",
        "tox.ini": "[testenv]\ndeps = -r requirements-dev.txt\n",
        "requirements-dev.txt": "pytest<=6.2.5\npytest-httpbin==1.0.0\n",
    }
    assert set(needs(files).lines) == {"pytest<=6.2.5", "pytest-httpbin==1.0.0", "mock"}
