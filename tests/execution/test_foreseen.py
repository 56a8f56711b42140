"""The commands of a build, known before it runs."""

from __future__ import annotations

import shutil
from pathlib import Path

from execution.foreseen import foreseen_commands
from execution.languages import javascript, python
from execution.languages.base import PlanRequest
from execution.recipe import Recipe, Runtime
from tests.execution.python_bench import request
from tests.support.memory_tree import MemoryTree

DATE = 1_600_000_000


def planned(plan_request: PlanRequest) -> Recipe:
    module = javascript if b"package.json" in plan_request.head.paths else python
    made = module.plan(plan_request)
    assert isinstance(made, Recipe), made
    return made


def commands(files: dict[str, str], graded: str, **options: str) -> tuple[str, ...]:
    return foreseen_commands(planned(request(MemoryTree({graded: "", **files}), (graded,), DATE, **options)))


PROJECT = """
[build-system]
requires = ["setuptools>=61", "setuptools_scm"]
[project]
name = "box"
dynamic = ["version"]
dependencies = ["attrs"]
[dependency-groups]
test = ["pytest"]
"""


def test_a_dated_resolution_names_what_it_is_asked_for_and_when() -> None:
    made = commands({"pyproject.toml": PROJECT}, "test_a.py", version="v1.2-3-gabcdef0")
    venv, needs, resolve, install, project = made
    assert venv.endswith(" -m venv ../env")
    assert needs == "cat > ../needs.in <<'EOF'\nattrs\npytest\nsetuptools>=61\nsetuptools_scm\nsetuptools\nwheel\nEOF"
    assert "--exclude-newer 2020-09-13T12:26:40Z" in resolve
    # No setuptools of that day installs in place: build tools come from a later one, and that is told.
    assert "--exclude-newer-package setuptools=2022-10-01T00:00:00Z" in resolve
    assert resolve.endswith("../needs.in -o ../requirements.txt")
    assert install == "../env/bin/python -m pip install --require-hashes --no-deps -r ../requirements.txt"
    stated = 'SETUPTOOLS_SCM_PRETEND_VERSION=1.3.dev0 PATH="$PWD/../env/bin:$PATH" '
    assert project.startswith(f"{stated}../env/bin/python -m pip install --no-index")


def test_a_lock_file_is_exported_first() -> None:
    lock = 'version = 1\n[[package]]\nname = "box"\nsource = { editable = "." }\n'
    made = commands({"pyproject.toml": PROJECT, "uv.lock": lock}, "test_a.py")
    assert made[1].startswith("uv export --frozen")
    assert made[1].endswith("--group test -o ../locked.txt")
    assert any("-c ../locked.txt" in command for command in made)


def test_a_project_below_the_root_is_installed_from_there() -> None:
    made = commands({"lib/my box/pyproject.toml": PROJECT}, "lib/my box/test_a.py")
    assert made[-1].endswith("-e './lib/my box'")


def test_nothing_is_foreseen_where_nothing_is_installed() -> None:
    text = "import unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n"
    made = commands({"test_a.py": text}, "test_a.py")
    assert [command.split(" ", 1)[1] for command in made] == ["-m venv --without-pip ../env"]


def test_javascript_is_installed_as_of_the_date() -> None:
    package = '{"scripts": {"test": "vitest run"}, "devDependencies": {"vitest": "1.0.0"}}'
    # The node of this machine, whatever it is: no registry is asked for that of the date.
    (install,) = commands({"package.json": package}, "a.test.js", node=shutil.which("node") or "")
    assert install.endswith("--before=2020-09-13T12:26:40Z")


def test_a_language_that_tells_nothing_ahead_gives_nothing() -> None:
    runtime = Runtime(name="x", version="1", executable=Path("x"), prefix=Path("x"))
    assert foreseen_commands(Recipe(language="x", runtime=runtime, runner="x", date=0)) == ()
