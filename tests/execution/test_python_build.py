"""Environments built for real: what is installed, what is recorded, and what a failure is called."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from casewright.errors import InfrastructureError
from execution.languages import python
from execution.languages.base import BuildStep, Refusal
from execution.languages.python_failure import failure
from execution.observation import Outcome
from execution.recipe import Environment, Recipe
from execution.sandbox import Ended, SandboxOutcome
from tests.execution.python_bench import PlainBuilder, observe, request
from tests.support.memory_tree import MemoryTree

DATE = 1_760_000_000  # October 2025
network = pytest.mark.skipif(bool(os.environ.get("CASEWRIGHT_NO_NETWORK")), reason="CASEWRIGHT_NO_NETWORK is set")
UNITTEST = """
import unittest
from box import size
class BoxTest(unittest.TestCase):
    def test_size(self): self.assertEqual(size, 1)
"""


def built(
    tmp_path: Path, files: Mapping[str, str], graded: tuple[str, ...], **options: str
) -> tuple[Recipe, PlainBuilder, Environment | Refusal]:
    """Plan and build a tree that is written down here."""
    recipe = python.plan(request(MemoryTree(files), graded, DATE, **options))
    assert isinstance(recipe, Recipe), recipe
    builder = PlainBuilder(tmp_path)
    for path, text in files.items():
        (builder.tree / path).parent.mkdir(parents=True, exist_ok=True)
        (builder.tree / path).write_text(text)
    return recipe, builder, python.build(recipe, builder)


def run(
    recipe: Recipe, builder: PlainBuilder, environment: Environment | Refusal, graded: tuple[str, ...]
) -> dict[str, Outcome]:
    """Observe the graded files in a built environment."""
    assert isinstance(environment, Environment), environment
    (builder.root / "env").symlink_to(builder.folder / "env")
    reading, outcome = observe(recipe, environment, builder.tree, python.check(recipe, graded), graded)
    assert reading.whole, (reading.breach, outcome.output)
    return {test.id: test.outcome for test in reading.tests}


def test_a_plain_folder_of_unittests_needs_no_index(tmp_path: Path) -> None:
    graded = ("tests/test_box.py",)
    files = {"box.py": "size = 1\n", "tests/__init__.py": "", graded[0]: UNITTEST}
    recipe, builder, environment = built(tmp_path, files, graded)
    assert run(recipe, builder, environment, graded) == {"tests.test_box.BoxTest.test_size": Outcome.PASSED}
    assert isinstance(environment, Environment)
    assert environment.dependencies == ()
    minor = ".".join(recipe.runtime.version.split(".")[:2])
    assert environment.setup == (f"python{minor} -m venv --without-pip ../env",)
    assert [step.network for step in builder.steps if "pip install" in step.command] == []


PROJECT = {
    "pyproject.toml": """
[build-system]
requires = ["setuptools>=64", "setuptools_scm>=8"]
build-backend = "setuptools.build_meta"
[project]
name = "box"
dynamic = ["version"]
dependencies = ["attrs"]
[project.optional-dependencies]
test = ["pytest>=7"]
[tool.setuptools_scm]
version_file = "src/box/_version.py"
[tool.pytest.ini_options]
addopts = "--cov=box --cov-fail-under=100 -x"
""",
    "src/box/__init__.py": "import attrs\nfrom box._version import version\ndef unused(): pass\n",
    "tests/test_box.py": (
        "import box, importlib.metadata\n"
        "def test_version(): assert box.version == importlib.metadata.version('box') == '2.0.1.dev0'\n"
        "def test_fails(): assert False\n"
        "def test_after(): pass\n"
    ),
}


@network
@pytest.mark.network
def test_a_project_is_pinned_installed_and_recorded_so_that_a_stranger_gets_the_same(tmp_path: Path) -> None:
    graded = ("tests/test_box.py",)
    recipe, builder, environment = built(tmp_path / "ours", PROJECT, graded, version="v2.0.0-3-gabcdef0")
    assert run(recipe, builder, environment, graded) == {
        "tests/test_box.py::test_version": Outcome.PASSED,
        "tests/test_box.py::test_fails": Outcome.FAILED,
        "tests/test_box.py::test_after": Outcome.PASSED,
    }
    assert isinstance(environment, Environment)
    names = {pin.split("==")[0] for pin in environment.dependencies}
    assert {"attrs", "pytest", "pytest-cov", "setuptools", "setuptools-scm", "wheel"} <= names
    assert f"pytest=={environment.runner_version}" in environment.dependencies
    assert (builder.tree / "src/box/_version.py").exists()
    assert not (builder.folder / "env/.casewright").exists()
    text = "\n".join(environment.setup)
    assert "://" not in text
    assert str(tmp_path) not in text
    freeze = ("-m", "pip", "freeze", "--exclude-editable", "--all")
    ours = subprocess.run((str(builder.folder / "env/bin/python"), *freeze), check=True, capture_output=True).stdout
    assert stranger(tmp_path / "theirs", recipe, environment, freeze) == ours


def stranger(folder: Path, recipe: Recipe, environment: Environment, freeze: tuple[str, ...]) -> bytes:
    """Run the recorded set-up by sh in a clone of ours, and return what is then installed."""
    clone = folder / "clone"
    for path, text in PROJECT.items():
        (clone / path).parent.mkdir(parents=True, exist_ok=True)
        (clone / path).write_text(text)
    path = os.pathsep.join((str(recipe.runtime.executable.parent), os.defpath))
    passed = {name: value for name, value in os.environ.items() if name.startswith(("SSL_", "PIP_CERT"))}
    env = {"PATH": path, "HOME": str(folder), **passed}
    script = "\n".join(environment.setup).encode()
    done = subprocess.run(("sh", "-e"), input=script, cwd=clone, env=env, check=False, capture_output=True)
    assert done.returncode == 0, done.stderr
    return subprocess.run((str(folder / "env/bin/python"), *freeze), check=True, capture_output=True).stdout


@network
@pytest.mark.network
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"attrs"', '"attrs>=9999"', "resolve the dependencies: "),
        ("build_meta", "nothing_here", "install the project: "),
    ],
)
def test_what_the_tree_asks_for_and_nobody_has_is_its_own_fault(tmp_path: Path, old: str, new: str, words: str) -> None:
    change = {"pyproject.toml": PROJECT["pyproject.toml"].replace(old, new)}
    _recipe, _builder, environment = built(
        tmp_path, {**PROJECT, **change}, ("tests/test_box.py",), version="v2.0.0-3-gabcdef0"
    )
    assert isinstance(environment, Refusal)
    assert environment.code == "environment-failed"
    assert environment.detail.startswith(words)


def test_a_link_that_a_build_script_leaves_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text('[[packages]]\nname = "secret"\n')
    files = {"tests/test_box.py": "import pytest\ndef test_one(): pass\n"}
    recipe = python.plan(request(MemoryTree(files), tuple(files), DATE))
    assert isinstance(recipe, Recipe)

    class Hostile(PlainBuilder):
        def run(self, step: BuildStep) -> SandboxOutcome:
            self.steps.append(step)
            (self.folder / "env/.casewright").mkdir(parents=True, exist_ok=True)
            link = self.folder / "env/.casewright/pylock.loose.toml"
            link.unlink(missing_ok=True)
            link.symlink_to(secret)
            return ended(b"pip 23.0")

    refusal = python.build(recipe, Hostile(tmp_path / "root"))
    assert isinstance(refusal, Refusal)
    assert "is not where it was written" in refusal.detail


def ended(output: bytes, code: int = 0, how: Ended = Ended.EXITED) -> SandboxOutcome:
    return SandboxOutcome(
        ended=how,
        exit_code=code,
        output=output,
        output_bytes=len(output),
        report=b"",
        milliseconds=0,
        peak_memory_kb=0,
        memory_by="",
    )


@pytest.mark.parametrize(
    ("output", "how", "code"),
    [
        (b"error: No solution found when resolving dependencies", Ended.EXITED, "environment-failed"),
        (b"x.c:1:10: fatal error: libxml/tree.h: No such file or directory", Ended.EXITED, "needs-system-package"),
        (b"error: command 'gcc' failed: No such file or directory", Ended.EXITED, "needs-system-package"),
        (b"Error: pg_config executable not found.", Ended.EXITED, "needs-system-package"),
        (b"", Ended.TIMEOUT, "environment-failed"),
    ],
)
def test_failures_have_a_code_and_name_the_step(output: bytes, how: Ended, code: str) -> None:
    refusal = failure("install the project", ended(output, 1, how))
    assert refusal.code == code
    assert refusal.detail.startswith("install the project: ")


@pytest.mark.parametrize(
    "output",
    [
        b"error: Failed to fetch: https://example.com/\n  cause: dns error: failed to lookup address information",
        b"cause: client error (Connect)\ncause: invalid peer certificate: UnknownIssuer\nerror sending request for url",
        b"OSError: [Errno 28] No space left on device",
        b"HTTP status server error (503 Service Unavailable)",
    ],
)
def test_a_failing_network_is_never_a_refusal(output: bytes) -> None:
    with pytest.raises(InfrastructureError):
        failure("resolve the dependencies", ended(output, 1))


@network
@pytest.mark.network
def test_what_ci_installs_besides_is_left_out_where_it_does_not_resolve(tmp_path: Path) -> None:
    graded = ("tests/test_box.py",)
    files = {
        "setup.py": "from setuptools import setup\nsetup(name='box', version='1', py_modules=['box'])\n",
        "box.py": "size = 1\n",
        ".travis.yml": "install:\n  - pip install pytest 'attrs==999.0'\nscript: pytest\n",
        graded[0]: "import box\ndef test_size(): assert box.size == 1\n",
    }
    recipe, builder, environment = built(tmp_path, files, graded)
    assert run(recipe, builder, environment, graded) == {"tests/test_box.py::test_size": Outcome.PASSED}
    assert isinstance(environment, Environment)
    (note,) = environment.notes
    assert "attrs==999.0" in note
    assert "there is no version of attrs" in note


LEGACY = {
    "setup.py": """
from setuptools import setup
needed = ["flit_core" + ">=3"]
setup(name="box", version="1", py_modules=["box"], setup_requires=needed,
      entry_points={"box.kinds": ["one = box:kind"]})
""",
    "box.py": "kind = 1\n",
    "test_box.py": (
        "import importlib.metadata as m\n"
        "def test_entry_point(): assert [e.load() for e in m.entry_points(group='box.kinds')] == [1]\n"
    ),
}


@network
@pytest.mark.network
def test_an_old_project_gets_what_its_script_asks_for_and_keeps_its_metadata_out_of_the_tree(tmp_path: Path) -> None:
    recipe, builder, environment = built(tmp_path, LEGACY, ("test_box.py",))
    assert isinstance(environment, Environment), environment
    assert {"flit-core", "setuptools", "wheel"} <= {pin.split("==")[0] for pin in environment.dependencies}
    for folder in builder.tree.glob("*.egg-info"):
        shutil.rmtree(folder)
    assert run(recipe, builder, environment, ("test_box.py",)) == {"test_box.py::test_entry_point": Outcome.PASSED}


UV_LOCK = f"""
version = 1
requires-python = ">=3.8"
[[package]]
name = "attrs"
version = "23.1.0"
source = {{ registry = "https://index.example/simple" }}
[package.sdist]
url = "https://example.com/attrs-23.1.0.tar.gz"
hash = "sha256:{"0" * 64}"
size = 1
[[package]]
name = "lid"
version = "1"
source = {{ editable = "." }}
dependencies = [{{ name = "attrs" }}]
[package.metadata]
requires-dist = [{{ name = "attrs" }}]
"""
LID = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "lid"
version = "1"
requires-python = ">=3.8"
dependencies = ["attrs"]
"""


@network
@pytest.mark.network
def test_a_lock_file_goes_first_and_build_tools_join_it(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": LID,
        "uv.lock": UV_LOCK,
        "lid.py": "import attrs\n",
        "test_lid.py": "import lid\ndef test_lid(): assert lid.attrs\n",
    }
    recipe, builder, environment = built(tmp_path, files, ("test_lid.py",))
    assert run(recipe, builder, environment, ("test_lid.py",)) == {"test_lid.py::test_lid": Outcome.PASSED}
    assert isinstance(environment, Environment)
    assert "attrs==23.1.0" in environment.dependencies
    assert {"hatchling", "pytest"} <= {pin.split("==")[0] for pin in environment.dependencies}
