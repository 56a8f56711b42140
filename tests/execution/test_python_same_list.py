"""The same commit, built while its index looks as it did on different days, gives the same frozen list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from execution.languages import python
from execution.languages.base import BuildStep
from execution.recipe import Environment, Recipe
from execution.sandbox import SandboxOutcome
from tests.execution.python_bench import PlainBuilder, request
from tests.execution.python_index import FIRST_DAY, Index, IndexFile, backend, serving, source, wheel
from tests.support.memory_tree import MemoryTree

COMMIT_DAY = 50
TEST = "import unittest, alpha\nclass T(unittest.TestCase):\n    def test_it(self): pass\n"


@dataclass(slots=True)
class IndexedBuilder(PlainBuilder):
    """A plain builder whose index is one of ours."""

    env: Mapping[str, str] | None = None

    def run(self, step: BuildStep) -> SandboxOutcome:
        # ``super()`` does not know a class that slots made anew.
        return PlainBuilder.run(self, replace(step, env={**step.env, **(self.env or {})}))


def built(folder: Path, index: Index, files: Mapping[str, str], today: int) -> tuple[Environment, IndexedBuilder]:
    index.today = today
    date = int((FIRST_DAY + timedelta(days=COMMIT_DAY)).timestamp())
    tests = "tests/test_a.py"
    recipe = python.plan(request(MemoryTree({**files, tests: TEST}), (tests,), date))
    assert isinstance(recipe, Recipe), recipe
    builder = IndexedBuilder(folder, env=index.env())
    for path, text in files.items():
        (builder.tree / path).parent.mkdir(parents=True, exist_ok=True)
        (builder.tree / path).write_text(text)
    environment = python.build(recipe, builder)
    assert isinstance(environment, Environment), environment
    return environment, builder


# Later wheels of a release that was there: an interpreter takes a tag of its own version before one for any.
ALPHA = (
    wheel("alpha", "1.0", 10),
    wheel("alpha", "1.0", 120, tag="py38.py39.py310.py311.py312.py313.py314-none-any"),
    wheel("alpha", "1.1", 100),
    wheel("alpha", "0.9", 5),
    wheel("alpha", "0.9", 121, tag="py38.py39.py310.py311.py312.py313.py314-none-any"),
)
LOCK = """
version = 1
requires-python = ">=3.8"
[[package]]
name = "alpha"
version = "0.9"
source = { registry = "https://example.org/simple" }
wheels = [{ url = "https://example.org/alpha-0.9-py3-none-any.whl", hash = "sha256:ZEROS" }]
[[package]]
name = "box"
version = "0"
source = { virtual = "." }
dependencies = [{ name = "alpha" }]
""".replace("ZEROS", "0" * 64)
TOOLS = (wheel("setuptools", "70.0", 1), wheel("wheel", "0.40", 1), wheel("pip", "25.0", 1))


@pytest.mark.parametrize(
    ("files", "index", "dependencies"),
    [
        pytest.param({"requirements.txt": "alpha\n"}, ALPHA, {"alpha==1.0"}, id="later-release-and-later-wheel"),
        pytest.param(
            {"requirements.txt": "alpha\nbeta\n"},
            (*ALPHA, source("beta", "1.0", 20, built_by="lathe"), wheel("beta", "1.0", 150), *TOOLS,
             backend("lathe", "1.0", 2), backend("lathe", "2.0", 130)),
            {"alpha==1.0", "beta==1.0", "setuptools==70.0", "wheel==0.40"}, id="source-with-a-later-wheel",
        ),
        pytest.param(
            {"pyproject.toml": '[project]\nname = "box"\nversion = "0"\ndependencies = ["alpha"]\n'
             "[tool.uv]\npackage = false\n", "uv.lock": LOCK},
            ALPHA, {"alpha==0.9"}, id="lock-file-and-later-wheel",
        ),
    ],
)  # fmt: skip
def test_the_list_does_not_depend_on_the_day_of_the_build(
    tmp_path: Path, files: Mapping[str, str], index: tuple[IndexFile, ...], dependencies: set[str]
) -> None:
    with serving(*index) as served:
        first, _ = built(tmp_path / "first", served, files, COMMIT_DAY + 1)
        later, builder = built(tmp_path / "later", served, files, COMMIT_DAY + 400)
    assert set(first.dependencies) == dependencies
    assert (later.dependencies, later.setup) == (first.dependencies, first.setup)
    for module in (builder.folder / "env").glob("lib/*/site-packages/beta.py"):
        assert module.read_text() == "built_by = '1.0'\n"


def test_a_tool_that_only_a_source_needs_joins_the_list_in_the_version_of_the_date(tmp_path: Path) -> None:
    # A real back-end's module, so that its absence is understood; the distribution on this index is one of ours.
    tool = backend("maturin", "1.0", 2)
    newer = backend("maturin", "2.0", 51)
    index = (*ALPHA, source("beta", "1.0", 20, built_by="maturin"), *TOOLS, tool, newer)
    with serving(*index) as served:
        environment, builder = built(tmp_path, served, {"requirements.txt": "alpha\nbeta\n"}, COMMIT_DAY + 400)
    assert "maturin==1.0" in environment.dependencies
    assert environment.notes == ()
    assert any("--no-build-isolation -r ../source-requirements.txt" in step for step in environment.setup)
    (module,) = (builder.folder / "env").glob("lib/*/site-packages/beta.py")
    assert module.read_text() == "built_by = '1.0'\n"
