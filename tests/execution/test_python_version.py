"""Versions from tags and files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from execution.languages.python_project import read_project
from execution.languages.python_version import pretended_version, version_inputs, version_variables
from tests.support.memory_tree import MemoryTree


@pytest.mark.parametrize(
    ("described", "version"),
    [
        ("v23.1.0-0-gabc1234", "23.1.0"), ("v23.1.0-5-gabc1234", "23.1.1.dev0"), ("box-2.4-12-gabc", "2.5.dev0"),
        ("8.0.0rc1-3-gabc", "8.0.0.dev0"),
        ("release/1.2.3-1-gabc", "1.2.4.dev0"), ("", "0.1.dev0"), ("nightly-3-gabc", "0.1.dev0"), ("1.0", "1.0"),
    ],
)  # fmt: skip
def test_the_next_version_after_the_last_tag(described: str, version: str) -> None:
    assert pretended_version(described) == version


@given(st.text(max_size=30))
def test_any_description_gives_a_version(described: str) -> None:
    Version(pretended_version(described))


@pytest.mark.parametrize(
    ("files", "build", "variables"),
    [
        ({"pyproject.toml": "[project]\nname='x'\n"}, {"hatch-vcs"}, {"SETUPTOOLS_SCM_PRETEND_VERSION": "1.0.1.dev0"}),
        ({"pyproject.toml": "[tool.pdm.version]\nsource='scm'\n"}, {"pdm-backend"},
        {"PDM_BUILD_SCM_VERSION": "1.0.1.dev0"}),
        ({"pyproject.toml": "[project]\nversion='1'\n"}, {"pdm-backend"}, {}),
        ({"pyproject.toml": "[tool.setuptools_scm]\n"}, {"flit-scm"}, {"SETUPTOOLS_SCM_PRETEND_VERSION": "1.0.1.dev0"}),
        ({"setup.py": "setup(use_scm_version=True)"}, {"setuptools"}, {"SETUPTOOLS_SCM_PRETEND_VERSION": "1.0.1.dev0"}),
        ({"setup.py": "setup(pbr=True)"}, {"setuptools"}, {"PBR_VERSION": "1.0.1.dev0"}),
    ],
)  # fmt: skip
def test_tools_that_ask_git_are_told(files: dict[str, str], build: set[str], variables: dict[str, str]) -> None:
    project = read_project(MemoryTree(files), ())
    assert version_variables(project, frozenset(build), "v1.0.0-3-gabc") == variables


FLIT = """
[build-system]
requires = []
build-backend = "flit_core.buildapi"
[project]
name = "box"
dynamic = ["version"]
"""
ATTR = '[project]\nname = "box"\n[tool.setuptools.dynamic]\nversion = {attr = "box.__version__"}\n'


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"pyproject.toml": ATTR}, "src/box/__init__.py"),
        ({"pyproject.toml": ATTR.replace("box.__", "box.meta.__")}, "box/meta.py"),
        ({"pyproject.toml": FLIT}, "src/box/__init__.py"),
        ({"pyproject.toml": FLIT}, "box.py"),
        ({"setup.cfg": "[metadata]\nversion = attr: box.__version__\n"}, "box/__init__.py"),
        ({"pyproject.toml": '[tool.hatch.version]\npath = "box/__about__.py"\n'}, "box/__about__.py"),
        ({"setup.py": "open(os.path.join('lib', 'box', 'v.py'))"}, "lib/box/v.py"),
        ({"setup.py": "open('VERSION')"}, "VERSION"),
    ],
)
def test_the_file_that_holds_the_version_is_an_input_and_its_code_is_not(files: dict[str, str], name: str) -> None:
    def inputs(text: str) -> tuple[tuple[str, str], ...]:
        tree = MemoryTree({**files, name: text})
        return version_inputs(tree, read_project(tree, ()))

    one = inputs('"""Box."""\n__version__ = "1.0"\n')
    assert [key for key, _ in one] == [f"version:{name}"]
    assert inputs('"""Box."""\n__version__ = "1.1"\n') != one
    if name.endswith(".py"):
        assert inputs('"""Box."""\n__version__ = "1.0"\ndef more(): pass\n') == one


@pytest.mark.parametrize(
    ("name", "before", "same", "other"),
    [
        ("CHANGES.md", "## Unreleased\n\n- a\n\n## 22.1.0\n", "## Unreleased\n\n- b\n\n## 22.1.0\n", "## 22.2.0\n"),
        ("README.rst", "A box.\n", "A better box.\n", "Box 2.0\n"),
        ("package.json", '{"version": "1.0", "a": 1}', '{"version": "1.0", "a": 2}', '{"version": "1.1"}'),
        ("VERSION", "1.0\n", "1.0\n", "1.1\n"),
    ],
)
def test_of_a_text_that_a_setup_script_reads_only_its_version_is_an_input(
    name: str, before: str, same: str, other: str
) -> None:
    def inputs_of(text: str) -> tuple[tuple[str, str], ...]:
        tree = MemoryTree({"setup.py": f"setup(long_description=open('{name}').read())", name: text})
        return version_inputs(tree, read_project(tree, ()))

    assert [path for path, _ in inputs_of(before)] == [f"version:{name}"]
    assert inputs_of(before) == inputs_of(same)
    assert inputs_of(before) != inputs_of(other)
