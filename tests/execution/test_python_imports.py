"""What a test part imports, and who in the tree names it."""

from __future__ import annotations

import pytest

from execution.languages.python_imports import Missing, imported_from_outside, missing_requirements
from tests.support.memory_tree import MemoryTree


def modules(files: dict[str, str], *graded: str, directory: str = ".") -> set[str]:
    return set(imported_from_outside(MemoryTree(files), graded, directory))


def test_imports_of_a_graded_file_and_of_the_conftests_above_it() -> None:
    files = {
        "conftest.py": "import trustme\n",
        "tests/conftest.py": "def pytest_configure():\n    import chardet\n",
        "tests/unit/test_a.py": "import aiohttp.web\nfrom yaml import load\nimport os.path, json\n",
        "tests/other/conftest.py": "import unseen\n",
    }
    assert modules(files, "tests/unit/test_a.py") == {"trustme", "chardet", "aiohttp", "yaml"}


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    import numpy\nexcept ImportError:\n    numpy = None\n",
        "import pytest\nnumpy = pytest.importorskip('numpy')\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy\n",
        "import typing\nif typing.TYPE_CHECKING:\n    from numpy import array\n",
        "try:\n    import numpy\nexcept ImportError:\n    raise unittest.SkipTest('no numpy')\n",
        "import pytest\npytest.importorskip('numpy.linalg')\nfrom numpy import linalg\n",
        "'import numpy'\n",
        "this is no Python, but import numpy\n",
    ],
)
def test_an_import_that_may_fail_is_none(source: str) -> None:
    assert modules({"test_a.py": source}, "test_a.py") <= {"pytest"}


def test_a_guard_that_fails_in_other_words_is_none() -> None:
    source = (
        "try:\n    import aiohttp\nexcept ImportError as error:\n    raise RuntimeError('install box[d]') from error\n"
    )
    assert modules({"test_a.py": source}, "test_a.py") == {"aiohttp"}


def test_modules_of_the_tree_are_its_own() -> None:
    files = {
        "src/box/__init__.py": "import inside\n",
        "tests/helper.py": "import faker\n",
        "tests/package/__init__.py": "",
        "tests/package/deep.py": "import deepdiff\n",
        "tests/sub/near.py": "import nearby\n",
        "tests/sub/test_a.py": (
            "import box\nimport helper\nfrom tests.package import deep\nfrom . import near\nfrom ..helper import x\n"
        ),
        "native/_speed.c": "",
    }
    assert modules(files, "tests/sub/test_a.py") == {"faker", "deepdiff", "nearby"}


def test_the_first_place_that_names_it_gives_the_line() -> None:
    imported = {"aiohttp": "tests/test_d.py", "yaml": "tests/test_y.py", "mock": "tests/test_m.py", "odd": "t.py"}
    offers = (
        ("extra d", ["aiohttp>=3.10"]),
        ("file requirements.txt", ["aiohttp==1", "PyYAML==6.0; python_version>'3'"]),
    )
    assert missing_requirements(imported, frozenset({"pytest"}), offers) == (
        Missing(line="aiohttp>=3.10", importer="tests/test_d.py", named_by="extra d"),
        Missing(line="mock", importer="tests/test_m.py", named_by=""),
        Missing(line="PyYAML==6.0; python_version>'3'", importer="tests/test_y.py", named_by="file requirements.txt"),
    )


def test_what_is_chosen_is_not_missing() -> None:
    imported = {"yaml": "t.py", "pytest_asyncio": "t.py"}
    assert missing_requirements(imported, frozenset({"pyyaml", "pytest-asyncio"}), [("file x", ["pyyaml==1"])]) == ()
