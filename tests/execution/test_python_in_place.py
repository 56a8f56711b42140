"""Projects that are installed in place in ways of their own: built for real, and once more by what the record says."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from execution.languages import python
from execution.languages.base import Refusal
from execution.observation import Outcome
from execution.recipe import Environment, Recipe
from tests.execution.python_bench import PlainBuilder, observe, request
from tests.support.memory_tree import MemoryTree

IN_2025 = 1_760_000_000
IN_2020 = 1_600_000_000
pytestmark = [
    pytest.mark.network,
    pytest.mark.skipif(bool(os.environ.get("CASEWRIGHT_NO_NETWORK")), reason="CASEWRIGHT_NO_NETWORK is set"),
]


def write(folder: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def outcomes(tmp_path: Path, files: Mapping[str, str], graded: str, date: int, **overrides: str) -> set[Outcome]:
    """Build, run the observed check, then set up and check by the record in another folder: both must agree."""
    recipe = python.plan(request(MemoryTree(files), (graded,), date, **overrides))
    if isinstance(recipe, Refusal) and recipe.code == "runtime-unavailable":
        pytest.skip(recipe.detail)
    assert isinstance(recipe, Recipe), recipe
    builder = PlainBuilder(tmp_path / "ours")
    write(builder.tree, files)
    environment = python.build(recipe, builder)
    assert isinstance(environment, Environment), environment
    (builder.root / "env").symlink_to(builder.folder / "env")
    check = python.check(recipe, (graded,))
    reading, outcome = observe(recipe, environment, builder.tree, check, (graded,))
    assert reading.whole, (reading.breach, outcome.output)
    assert by_the_record(tmp_path / "theirs", files, recipe, environment) == outcome.exit_code
    return {test.outcome for test in reading.tests}


def by_the_record(folder: Path, files: Mapping[str, str], recipe: Recipe, environment: Environment) -> int:
    clone = folder / "clone"
    write(clone, files)
    path = os.pathsep.join((str(recipe.runtime.executable.parent), os.defpath))
    passed = {name: value for name, value in os.environ.items() if name.startswith(("SSL_", "PIP_CERT"))}
    env = {"PATH": path, "HOME": str(folder), **passed}
    script = "\n".join(environment.setup).encode()
    done = subprocess.run(("sh", "-e"), input=script, cwd=clone, env=env, check=False, capture_output=True)
    assert done.returncode == 0, done.stderr
    graded = next(path for path in files if Path(path).name.startswith("test_"))
    command = python.check(recipe, (graded,)).command
    ran = subprocess.run(("sh", "-c", command), cwd=clone / recipe.directory, env=env, check=False, capture_output=True)
    assert (folder / "report.xml").exists(), ran.stdout
    return ran.returncode


def member(name: str, more: str) -> str:
    return (
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        f'[project]\nname = "{name}"\nversion = "1"\n{more}'
    )


def test_a_member_of_a_workspace_and_its_program_by_name(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": '[tool.uv.workspace]\nmembers = ["packages/*"]\n',
        "packages/base/pyproject.toml": member("base-of-ours", ""),
        "packages/base/src/base_of_ours/__init__.py": "def main():\n    print('said by base')\n",
        "packages/one/pyproject.toml": member(
            "one-of-ours",
            'dependencies = ["base-of-ours"]\n[project.scripts]\nsay-it = "one_of_ours:main"\n'
            '[dependency-groups]\ntest = ["pytest"]\n[tool.uv.sources]\nbase-of-ours = {workspace = true}\n',
        ),
        "packages/one/src/one_of_ours/__init__.py": "from base_of_ours import main as main\n",
        "packages/one/tests/test_one.py": (
            "import subprocess\ndef test_it():\n    assert subprocess.check_output(['say-it']) == b'said by base\\n'\n"
        ),
    }
    assert outcomes(tmp_path, files, "packages/one/tests/test_one.py", IN_2025) == {Outcome.PASSED}


def test_a_project_of_poetry_from_before_it_could_install_in_place(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": (
            '[tool.poetry]\nname = "box-of-ours"\nversion = "1.2"\ndescription = ""\nauthors = ["A <a@example.org>"]\n'
            '[tool.poetry.dependencies]\npython = "^3.6"\n[tool.poetry.dev-dependencies]\npytest = "^5.4"\n'
            '[build-system]\nrequires = ["poetry>=0.12"]\nbuild-backend = "poetry.masonry.api"\n'
        ),
        "box_of_ours/__init__.py": "",
        "tests/test_box.py": (
            "import pkg_resources, distutils, setuptools\ndef test_it():\n"
            "    assert pkg_resources.get_distribution('box-of-ours').version == '1.2'\n"
        ),
    }
    assert outcomes(tmp_path, files, "tests/test_box.py", IN_2020) == {Outcome.PASSED}


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")
def test_an_extension_whose_c_its_authors_make_by_hand(tmp_path: Path) -> None:
    files = {
        "setup.py": (
            "from setuptools import setup, Extension\n"
            "setup(name='box-of-ours', version='1', packages=['box_of_ours'],\n"
            "      ext_modules=[Extension('box_of_ours._fast', ['box_of_ours/_fast.c'])])\n"
        ),
        "pyproject.toml": '[build-system]\nrequires = ["setuptools>=40", "wheel"]\n',
        "requirements/ci.txt": "pytest==6.2.5\n-e .\n",
        "box_of_ours/__init__.py": "",
        "box_of_ours/_fast.pyx": "def twice(int number):\n    return 2 * number\n",
        "tests/test_box.py": "from box_of_ours._fast import twice\ndef test_it(): assert twice(21) == 42\n",
    }
    assert outcomes(tmp_path, files, "tests/test_box.py", IN_2025, python="3.11") == {Outcome.PASSED}
