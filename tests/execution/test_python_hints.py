"""What CI, Makefile, devcontainer and CONTRIBUTING say: interpreters, and what is installed when the tests are run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.languages.python_hints import hint_sources, minors_of_ci
from execution.languages.python_project import read_project
from tests.support.memory_tree import MemoryTree

WORKFLOW = """\
on: [push]
jobs:
  lint:
    steps:
      - run: pip install flake8 pytest
      - run: flake8
  build:
    strategy:
      matrix:
        python-version: [3.8, "3.9", 'pypy-3.7']
        include:
          - python-version: "3.10"
    steps:
      - uses: actions/checkout@v2
      - name: Set up with pytest
        run: |
          python -m pip install -U pip  # newer
          python -m pip install -e .
          python -m pip install wheel pytest \\
              pytest-cov
      - name: Test without
        run: pytest
      - run: python -m pip install numpy && echo done
      - name: Only sometimes
        if: matrix.gdcm
        run: |
          pip install gdcm
          pytest
      - run: |
          pytest --cov=box
      - run: pip install codecov
"""


def lines(files: dict[str, str]) -> list[tuple[str, tuple[str, ...]]]:
    tree = MemoryTree({"tests/test_a.py": "", **files})
    return [(source.label, source.lines) for source in hint_sources(tree, read_project(tree, ("tests/test_a.py",)))]


def test_a_job_gives_what_it_has_installed_when_it_runs_the_tests_for_the_last_time() -> None:
    assert lines({".github/workflows/ci.yml": WORKFLOW}) == [
        ("CI file .github/workflows/ci.yml, job build", ("pytest", "pytest-cov", "numpy")),
    ]


def test_of_several_jobs_the_one_that_installs_least_comes_first() -> None:
    job = "  {}:\n    steps:\n    - run: pip install {}\n    - run: bin/test --split 1/2\n"
    text = "jobs:\n" + job.format("many", "pytest numpy scipy flake8") + job.format("few", "mpmath pytest")
    assert [label.rpartition(" ")[2] for label, _ in lines({".github/workflows/x.yaml": text})] == ["few", "many"]


def test_a_script_that_ci_calls_counts_and_a_name_counts_once() -> None:
    files = {
        ".travis.yml": "install: source build_tools/install.sh\nscript:\n  - py.test --cov=box\n",
        "build_tools/install.sh": "if x; then\n pip install pytest numpy\nelse\n pip install numpy==1.15 nose\nfi\n",
    }
    assert [(label, sorted(found)) for label, found in lines(files)] == [
        ("CI file .travis.yml", ["nose", "numpy", "pytest"])
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("CONTRIBUTING.rst", "Then ``pip install pytest attrs`` and\n"),
        ("Makefile", "deps:\n\tpip install -U pytest attrs\n"),
        (".devcontainer/on-create-command.sh", ". .venv/bin/activate\npip install pytest attrs\n"),
        (".devcontainer/devcontainer.json", '{"postCreateCommand": "pip install pytest attrs; true"}\n'),
    ],
)
def test_what_a_developer_is_told_to_type_counts_where_ci_is_silent(name: str, text: str) -> None:
    assert lines({name: text}) == [(f"instructions of {name}", ("pytest", "attrs"))]


def test_an_extra_and_a_file_are_followed_and_a_file_that_is_absent_is_left_out() -> None:
    files = {
        "pyproject.toml": '[project]\nname = "box"\n[project.optional-dependencies]\neverything = ["pytest"]\n',
        "CONTRIBUTING.md": "pip install -e '.[everything]' -r reqs.txt -r gone.txt\n",
        "reqs.txt": "attrs\n",
    }
    tree = MemoryTree({"tests/test_a.py": "", **files})
    (source,) = hint_sources(tree, read_project(tree, ("tests/test_a.py",)))
    assert (source.extras, source.files, source.lines) == (("everything",), ("reqs.txt",), ("attrs",))


def test_instructions_that_name_no_runner_are_no_hint() -> None:
    assert lines({"CONTRIBUTING.md": "pip install tox\npip install -e .\n", "Makefile": "pip install sphinx\n"}) == []


@pytest.mark.parametrize(
    ("name", "text", "minors"),
    [
        (".github/workflows/ci.yml", WORKFLOW, [8, 9, 10]),
        (".github/workflows/docs.yml", "jobs:\n  a:\n    python-version: '3.8'\n    run: sphinx-build\n", []),
        (".github/workflows/t.yml", 'python_version:\n          ["3.7", "3.13", "pypy3.10"]\nrun: nox\n', [7, 13]),
        (".github/workflows/t.yml", "- {name: W, python: '3.9', os: x}\n- {python: 'pypy-3.9'}\nrun: tox\n", [9]),
        (".travis.yml", "python:\n  - 3.6\n  - '3.7'\n  - pypy3\nscript: pytest\n", [6, 7]),
        ("azure-pipelines.yml", "script: tox\npython.version: '3.8'\n", [8]),
        ("tox.ini", "[tox]\nenvlist = py27,py36, py{37,38}-{a,b}\n    py310, docs\n[testenv]\n", [6, 7, 8, 10]),
        ("tox.ini", "[tox]\nenv_list =\n    py3.13\n    style\n", [13]),
        ("pytest.ini", "[pytest]\npython_files = 3.9\n", []),
    ],
)
def test_interpreters_that_the_tests_are_run_on(name: str, text: str, minors: list[int]) -> None:
    found = minors_of_ci(MemoryTree({name: text}))
    assert sorted(found) == [(3, minor) for minor in minors]
    assert set(found.values()) <= {name}


def test_the_matrix_of_a_workflow_that_calls_the_one_with_the_tests_counts() -> None:
    files = {
        ".github/workflows/pr.yml": "python-version: ['3.10']\nuses: ./.github/workflows/tests_wf.yml\n",
        ".github/workflows/tests_wf.yml": "run: python -m pytest\n",
        ".github/workflows/deploy.yml": "python-version: ['3.11']\nuses: ./.github/workflows/gone.yml\n",
    }
    assert minors_of_ci(MemoryTree(files)) == {(3, 10): ".github/workflows/pr.yml"}


@given(st.text(alphabet="- :|>'\"\n\tabijobsrunstepspytestpip install[]{}\\#;&", max_size=200))
def test_no_text_breaks_the_reading(text: str) -> None:
    names = (".github/workflows/a.yml", ".travis.yml", "Makefile", "tox.ini")
    tree = MemoryTree({**dict.fromkeys(names, "jobs:\n  a:\n    steps:\n" + text), "tests/test_a.py": ""})
    hint_sources(tree, read_project(tree, ("tests/test_a.py",)))
    minors_of_ci(tree)
