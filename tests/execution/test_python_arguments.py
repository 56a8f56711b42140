"""What pip is given, sorted by what it means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.languages.python_arguments import LocalPath, local_path, read_arguments, read_requirements
from tests.support.memory_tree import MemoryTree

FILES = {
    "requirements/ci.txt": (
        "-r base.txt\n-c bounds.txt\n--extra-index-url https://example.org/simple\n-e .[speed]\n-e ./plugins/one\n"
        "git+https://example.org/x.git\npytest==7.0.0 \\\n    --hash=sha256:00\n"
    ),
    "requirements/base.txt": "attrs>=22  # needed\nidna ; python_version < '3.9'\n-r ci.txt\n",
    "requirements/bounds.txt": "multidict==6.0\n",
}


def test_a_requirements_file_is_sorted_and_options_of_the_installer_are_left_out() -> None:
    found = read_requirements(MemoryTree(FILES), "requirements/ci.txt")
    assert found.lines == ["attrs>=22", "idna ; python_version < '3.9'", "pytest==7.0.0"]
    assert found.constraints == ["multidict==6.0"]
    assert found.files == ["requirements/ci.txt", "requirements/base.txt", "requirements/bounds.txt"]
    assert found.paths == [LocalPath(path=".", extras=("speed",)), LocalPath(path="./plugins/one")]


def test_words_of_a_command_may_stand_apart_from_their_option() -> None:
    words = ("-e", ".[a,b]", "-r", "requirements/base.txt", "-c", "requirements/bounds.txt", "--group", "dev", "mock")
    found = read_arguments(MemoryTree(FILES), ".", words)
    assert found.paths[0] == LocalPath(path=".", extras=("a", "b"))
    assert found.groups == ["dev"]
    assert found.lines[-1] == "mock"
    assert "multidict==6.0" in found.constraints
    assert "multidict==6.0" not in found.lines


def test_a_bound_that_no_tool_of_today_reads_leaves_the_name() -> None:
    found = read_arguments(MemoryTree({}), ".", ("pytz>dev", "box[fast]==2004d-final", "--no-binary", ":all:", "a b c"))
    assert found.lines == ["pytz", "box[fast]"]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (".", LocalPath(path=".")),
        ("-e .", LocalPath(path=".")),
        ("-e .#egg=box", LocalPath(path=".")),
        ("--editable=../other[x]", LocalPath(path="../other", extras=("x",))),
        ("-e packages/one", LocalPath(path="packages/one")),
        ("one @ file:./packages/one", LocalPath(path="./packages/one")),
        ("one[x] @ file:///${PROJECT_ROOT}/packages/one", LocalPath(path="packages/one", extras=("x",))),
        ("packages", None),
        ("attrs>=22", None),
        ("-e git+https://example.org/x.git#egg=x", None),
        ("one @ https://example.org/one.zip", None),
    ],
)
def test_folders_of_the_tree_are_told_from_names_and_addresses(text: str, path: LocalPath | None) -> None:
    assert local_path(text) == path


@given(st.lists(st.text(max_size=30), max_size=6))
def test_any_words_are_read(words: list[str]) -> None:
    found = read_arguments(MemoryTree({"a.txt": "\n".join(words)}), ".", (*words, "-r", "a.txt"))
    assert not any("\n" in line for line in found.lines)
