"""Which projects of a tree are installed: the graded files' own, and those that it takes from the tree."""

from __future__ import annotations

import pytest

from execution.languages.python_members import graded_projects
from execution.languages.python_project import read_project
from execution.languages.python_requirements import Needs, choose_sources, collect_needs
from execution.languages.python_sources import sources, sources_beside
from tests.support.memory_tree import MemoryTree


def manifest(name: str, more: str = "") -> str:
    return (
        f'[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        f'[project]\nname = "{name}"\nversion = "1"\n{more}'
    )


def needs(files: dict[str, str], *graded: str) -> tuple[str, Needs]:
    tree = MemoryTree({**files, **dict.fromkeys(graded, "")})
    project = read_project(tree, graded)
    others = graded_projects(tree, graded)
    found = (*sources(tree, project), *(source for other in others for source in sources_beside(tree, other)))
    return project.directory, collect_needs(tree, project, choose_sources(found)[0], (), others)


@pytest.mark.parametrize(
    ("files", "graded", "directory"),
    [
        ({"pyproject.toml": manifest("box")}, "tests/test_a.py", "."),
        ({"pyproject.toml": manifest("box"), "packages/one/pyproject.toml": manifest("one")},
         "packages/one/tests/test_a.py", "packages/one"),
        ({"setup.py": "setup(name='numpy')", "core/setup.py": "setup(name='core')", "core/__init__.py": ""},
         "core/tests/test_a.py", "."),
        ({"pyproject.toml": manifest("box"), "tests/plugin/pyproject.toml": manifest("plugin")},
         "tests/plugin/test_a.py", "."),
        ({"python/pyproject.toml": manifest("box"), "go.mod": ""}, "python/tests/test_a.py", "python"),
        ({"src/foo/pyproject.toml": manifest("foo")}, "src/foo/tests/test_a.py", "src/foo"),
        ({"pyproject.toml": "[tool.ruff]\n", "one/setup.cfg": "[metadata]\nname = one\n"}, "one/test_a.py", "one"),
    ],
)  # fmt: skip
def test_the_graded_file_s_own_project_is_found(files: dict[str, str], graded: str, directory: str) -> None:
    assert needs(files, graded)[0] == directory


WORKSPACE = {
    "pyproject.toml": '[tool.uv.workspace]\nmembers = ["packages/*"]\n[tool.uv.sources]\nbase = {workspace = true}\n',
    "uv.lock": "version = 1\n",
    "packages/base/pyproject.toml": manifest("base", 'dependencies = ["attrs"]\n'),
    "packages/one/pyproject.toml": manifest(
        "one", 'dependencies = ["base", "idna"]\n[dependency-groups]\ntest = ["pytest"]\n'
    ),
}


def test_a_member_of_a_workspace_brings_the_members_that_it_needs() -> None:
    directory, found = needs(WORKSPACE, "packages/one/tests/test_a.py")
    assert directory == "packages/one"
    assert [one.directory for one in found.installed] == ["packages/base", "packages/one"]
    assert (found.lock, found.groups, found.lines) == ("uv.lock", ("test",), ())
    assert not found.everything


def test_without_a_lock_file_what_the_members_need_comes_along_and_they_are_asked_of_no_index() -> None:
    files = {path: text for path, text in WORKSPACE.items() if path != "uv.lock"}
    _, found = needs(files, "packages/one/tests/test_a.py")
    assert set(found.lines) == {"idna", "attrs", "pytest"}


def test_graded_files_of_several_packages_get_all_of_them() -> None:
    directory, found = needs(WORKSPACE, "packages/one/tests/test_a.py", "packages/base/tests/test_b.py")
    assert directory == "."
    assert [one.directory for one in found.installed] == ["packages/base", "packages/one"]
    assert (found.lock, found.everything) == ("uv.lock", True)


def test_tests_at_the_root_of_a_tree_whose_only_package_lies_below() -> None:
    files = {"src/pyproject.toml": manifest("box", '[project.optional-dependencies]\ntest = ["pytest", "mock"]\n')}
    directory, found = needs({**files, "docs/setup.py": "setup(name='docs')"}, "tests/test_a.py")
    assert directory == "."
    assert [one.directory for one in found.installed] == ["src"]
    assert set(found.lines) == {"pytest", "mock"}


@pytest.mark.parametrize(
    "more",
    [
        {"requirements-test.txt": "pytest\n-e ./libs/other[x]\n"},
        {"pyproject.toml": manifest("box", 'dependencies = ["other[x]"]\n[tool.uv.sources]\nother = '
         '{path = "libs/other"}\n')},
        {"pyproject.toml": '[tool.poetry]\nname = "box"\nversion = "1"\n[tool.poetry.dependencies]\n'
         'other = {path = "libs/other", extras = ["x"]}\n'},
    ],
)  # fmt: skip
def test_a_path_instead_of_a_version_is_installed_from_the_tree(more: dict[str, str]) -> None:
    extras = '[project.optional-dependencies]\nx = ["idna"]\n'
    other = {"libs/other/pyproject.toml": manifest("other", 'dependencies = ["attrs"]\n' + extras)}
    _, found = needs({"pyproject.toml": manifest("box"), **other, **more}, "tests/test_a.py")
    assert [one.directory for one in found.installed] == ["libs/other", "."]
    assert {"attrs", "idna"} <= set(found.lines)
    assert not any(line.startswith("other") for line in found.lines)
