"""Lock files in, hashed lists out."""

from __future__ import annotations

import sys
import tomllib

import pytest

from casewright.errors import InvalidInputError
from execution.languages.python_lock import Locked, closure, hashed_list, merge, read_pylock

MINOR = (3, sys.version_info.minor)
PYLOCK = f"""
lock-version = "1.0"
[[packages]]
name = "Both.Kinds"
version = "1.0"
sdist = {{ url = "https://example.com/both_kinds-1.0.tar.gz", hashes = {{ sha256 = "aa" }} }}
wheels = [
  {{ url = "https://example.com/both_kinds-1.0-py3-none-any.whl", hashes = {{ sha256 = "bb" }} }},
  {{ url = "https://example.com/both_kinds-1.0-cp{MINOR[0]}{MINOR[1]}-abi3-any.whl", hashes = {{ sha256 = "ff" }} }},
  {{ url = "https://example.com/both_kinds-1.0-cp{MINOR[0]}{MINOR[1]}-none-any.whl", hashes = {{ sha256 = "cc" }} }},
  {{ url = "https://example.com/both_kinds-1.0-cp35-cp35m-win32.whl", hashes = {{ sha256 = "dd" }} }},
]
[[packages]]
name = "source-only"
version = "2.0"
sdist = {{ url = "https://example.com/source_only-2.0.tar.gz", hashes = {{ sha256 = "ee" }} }}
[[packages]]
name = "itself"
directory = {{ path = ".", editable = true }}
[[packages]]
name = "elsewhere"
vcs = {{ type = "git", url = "https://example.com/elsewhere.git", commit-id = "00" }}
"""


def test_the_wheel_of_this_platform_and_the_source_are_kept() -> None:
    locked, elsewhere = read_pylock(PYLOCK, MINOR)
    assert locked == (
        Locked(name="both-kinds", version="1.0", hashes=("cc", "aa"), built=True),
        Locked(name="source-only", version="2.0", hashes=("ee",), built=False),
    )
    assert elsewhere == ("elsewhere",)


def test_the_list_is_one_that_pip_takes() -> None:
    locked, _ = read_pylock(PYLOCK, MINOR)
    assert hashed_list(locked) == (
        "both-kinds==1.0 \\\n    --hash=sha256:cc \\\n    --hash=sha256:aa\nsource-only==2.0 \\\n    --hash=sha256:ee\n"
    )


@pytest.mark.parametrize("text", ["", "packages = 1", "not toml =", '[[packages]]\nversion = "1"\nsdist = {}\n'])
def test_what_is_no_lock_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="can't be read"):
        read_pylock(text, MINOR)


def test_of_two_lists_the_first_one_has_the_say() -> None:
    old, new = (Locked(name="x", version=version, hashes=("00",), built=True) for version in "12")
    other = Locked(name="a", version="1", hashes=("00",), built=True)
    assert merge((old,), (new, other)) == (other, old)


LOCK = """
version = 1
[[package]]
name = "box"
source = { editable = "." }
dependencies = [{ name = "attrs" }]
[package.optional-dependencies]
fast = [{ name = "rapid" }]
[package.dev-dependencies]
tests = [{ name = "pytest", extra = ["toml"] }]
lint = [{ name = "ruff" }]
[[package]]
name = "attrs"
version = "22"
[[package]]
name = "pytest"
version = "8"
dependencies = [{ name = "pluggy" }]
[package.optional-dependencies]
toml = [{ name = "tomli" }]
[[package]]
name = "pluggy"
version = "1"
dependencies = [{ name = "pytest" }]
[[package]]
name = "tomli"
version = "2"
[[package]]
name = "rapid"
version = "3"
[[package]]
name = "ruff"
version = "4"
"""


def test_the_closure_holds_what_the_groups_pull_in_and_nothing_else() -> None:
    lock = tomllib.loads(LOCK)
    base = {"box==", "attrs==22"}
    assert set(closure(lock, "Box", (), ())) == base
    assert set(closure(lock, "box", ("tests",), ())) == base | {"pytest==8", "pluggy==1", "tomli==2"}
    assert set(closure(lock, "box", (), ("fast",))) == base | {"rapid==3"}
