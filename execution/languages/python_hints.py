"""The repository's own word: what CI, Makefile, devcontainer and CONTRIBUTING say of interpreters and installs. Pure.

Hints, not manifests: they are asked where the manifests are silent, and only files that speak of tests are read. What
a job has installed when it runs the tests is enough for them: the project's own CI proves it every day. Of several jobs
the one that installs least is asked first, since what many install apart may not go together.
"""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from packaging.utils import canonicalize_name

from execution.languages.base import TreeReader
from execution.languages.python_arguments import parse_requirement
from execution.languages.python_project import Project, read_text
from execution.languages.python_sources import Source, extra_lines, source_of_install

_WORKFLOWS = (".github/workflows/*.yml", ".github/workflows/*.yaml")
_OTHER_CI = (
    ".travis.yml", "azure-pipelines.yml", ".azure-pipelines/*.yml", ".circleci/config.yml", ".gitlab-ci.yml",
    ".cirrus.yml", "appveyor.yml", ".appveyor.yml",
)  # fmt: skip
_BY_HAND = (
    "Makefile", "justfile", ".devcontainer/*.sh", ".devcontainer/*.json", ".devcontainer.json", "CONTRIBUTING*",
    ".github/CONTRIBUTING*", "docs/contributing*",
)  # fmt: skip
_SPEAKS_OF_TESTS = re.compile(
    r"\bpy\.?test\b|\bunittest\b|\btox\b|\bnox\b|\bnosetests\b|setup\.py test|\bruntests\b|\bbin/test\b"
)
_CALLED_WORKFLOW = re.compile(r"uses:[ \t]*[\"']?\./(\.github/workflows/[\w.-]+)")
# A command of its own, perhaps after variables or a word such as ``xvfb-run``, ``coverage run -m``, ``poetry run``.
_RUNS_TESTS = re.compile(
    r"^[ \t]*(?:-[ \t]+|script:[ \t]*|run:[ \t]*)*(?:\w+=\S*[ \t]+)*(?:[\w.-]+[ \t]+)?(?:run[ \t]+)?(?:-m[ \t]+)?"
    r"(?:py\.?test|nosetests|unittest|(?:\./)?(?:bin/test|runtests)\S*|\S*setup\.py test)(?=[ \t]|$)",
    re.MULTILINE,
)
_INSTALL = re.compile(r"\bpip3?(?:\.exe)?\s+install\s+([^\n]*)")
_ENDS_A_COMMAND = re.compile(r"\s(?:&&|\|\||[;|>#])|;|\)|``")
# `python-version: ["3.8", "3.9"]`, `python: 3.7`, and the same as a list of lines.
_VERSIONS = re.compile(
    r"python[\w.-]*[\"']?[ \t]*:(\s*\[[^\]]*\]|(?:[ \t]*\n[ \t]*-[ \t]*[^\n]+)+|[^\n]*)", re.IGNORECASE
)
_MINOR = re.compile(r"(?<![\w.-])3\.(\d{1,2})(?![\d])")
_ENVIRONMENTS = re.compile(r"^\s*env_?list\s*=(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_FACTOR = re.compile(r"\bpy\{?3\.?(\d{1,2})\b|[{,]\s*3\.?(\d{1,2})(?=\s*[,}])")

# The kind of a place, its name, and the words that pip is given there.
_Install = tuple[str, str, tuple[str, ...]]
CI: Final = "CI file"
BY_HAND: Final = "instructions of"
# What CI installs for itself and not for the tests.
_OF_THE_JOB = frozenset(
    """pip setuptools wheel build twine virtualenv tox nox tox-gh tox-gh-actions tox-uv uv poetry hatch pdm pipenv
    codecov coveralls pre-commit flake8 ruff black isort mypy pylint bandit""".split()
)


def minors_of_ci(tree: TreeReader) -> Mapping[tuple[int, int], str]:
    """Return the minor versions that CI or tox runs the tests on, each with the first file that names it."""
    found: dict[tuple[int, int], str] = {}
    for path, text in (*_files(tree, _WORKFLOWS), *_files(tree, _OTHER_CI)):
        # The matrix may stand in one workflow and the tests in another one that it calls.
        called = [read_text(tree, name) or "" for name in _CALLED_WORKFLOW.findall(text)]
        if not any(_SPEAKS_OF_TESTS.search(each) for each in (text, *called)):
            continue
        for match in _VERSIONS.finditer(text):
            for minor in _MINOR.findall(match[1]):
                found.setdefault((3, int(minor)), path)
    for match in _ENVIRONMENTS.finditer(read_text(tree, "tox.ini") or ""):
        for one, other in _FACTOR.findall(match[1]):
            found.setdefault((3, int(one or other)), "tox.ini")
    return found


def hint_sources(tree: TreeReader, project: Project) -> tuple[Source, ...]:
    """Return the places among the hints that name the runner, the fewest requirements first: CI, then instructions."""
    found = [
        _sources(tree, project, sorted(installs, key=lambda install: len(install[2])))
        for installs in (_installs_of_ci(tree), _installs_by_hand(tree))
    ]
    return tuple(source for sources in found for source in sources)


def dispensable(places: tuple[Source, ...]) -> tuple[str, ...]:
    """Return the requirements of chosen hints that can be left out where they don't resolve: not the runner's own.

    Hints are no promise: a script may install one thing or another, and CI of that day had an index of that day.
    """
    lines = [line for place in places if place.kind.startswith((CI, BY_HAND)) for line in place.lines]
    return tuple(line for line in lines if not _name(line).startswith("pytest"))


def _sources(tree: TreeReader, project: Project, installs: Iterable[_Install]) -> Iterator[Source]:
    for kind, name, words in installs:
        source = source_of_install(tree, project, kind, words, {}, name=name)
        # A script that branches names one distribution several times; the first is as good as another.
        kept = {_name(line): line for line in reversed(source.lines) if _name(line) not in _OF_THE_JOB}
        inner = [line for extra in source.extras for line in extra_lines(project, extra)]
        if any(_name(line) == "pytest" for line in (*kept.values(), *inner)):
            files = tuple(path for path in source.files if path.encode("utf-8", "surrogateescape") in tree.paths)
            yield replace(source, lines=tuple(reversed(kept.values())), files=files)


def _name(line: str) -> str:
    requirement = parse_requirement(line)
    return canonicalize_name(requirement.name) if requirement is not None else ""


def _installs_of_ci(tree: TreeReader) -> Iterator[_Install]:
    """Yield what pip is given by each CI job that runs the tests: what it installs before it does."""
    for path, text in _files(tree, _WORKFLOWS):
        if not _SPEAKS_OF_TESTS.search(text):
            continue
        for name, job in _jobs(text):
            if words := _until_the_tests(_commands_of_job(job)):
                yield f"{CI} {path}, job", name, words
    for path, text in _files(tree, _OTHER_CI):
        if words := _until_the_tests(_with_scripts(tree, text)):
            yield CI, path, words


def _installs_by_hand(tree: TreeReader) -> Iterator[_Install]:
    """Yield what pip is given by what a developer is told to type, one install at a time."""
    for path, text in _files(tree, _BY_HAND):
        for words in _installs(text):
            yield BY_HAND, path, words


def _files(tree: TreeReader, patterns: tuple[str, ...]) -> list[tuple[str, str]]:
    names = sorted(path.decode("utf-8", "surrogateescape") for path in tree.paths)
    return [
        (name, read_text(tree, name) or "")
        for name in names
        if any(fnmatch.fnmatchcase(name, pattern) and name.count("/") == pattern.count("/") for pattern in patterns)
    ]


def _jobs(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each job of a workflow, by indentation: strangers' YAML is not always plain."""
    lines = text.split("jobs:", 1)[-1].splitlines()
    indent = next((_indent(line) for line in lines if line.strip() and not line.lstrip().startswith("#")), 0)
    name, body = "", list[str]()
    for line in [*lines, " " * indent + "end:"]:
        header = re.fullmatch(r"[ \t]*([\w-]+):[ \t]*(?:#.*)?", line)
        if header and _indent(line) == indent:
            if name:
                yield name, "\n".join(body)
            name, body = header[1], []
        else:
            body.append(line)


def _commands_of_job(job: str) -> str:
    """Return the commands of a job's steps that run in any case."""
    steps = re.split(r"^[ \t]*steps:[ \t]*$", job, maxsplit=1, flags=re.MULTILINE)[-1]
    found = re.search(r"^([ \t]*)- ", steps, re.MULTILINE)
    if found is None:
        return ""
    parts = re.split(rf"^{found[1]}- ", steps, flags=re.MULTILINE)[1:]
    return "\n".join(_run_of_step(part) for part in parts if not re.search(r"^[ \t]*if:", part, re.MULTILINE))


def _run_of_step(step: str) -> str:
    lines = step.splitlines()
    for place, line in enumerate(lines):
        key = re.fullmatch(r"([ \t]*)run:[ \t]*(?:[|>][-+]?)?[ \t]*(.*)", line)
        if key:
            # The first key of a step stands behind its dash, so what follows it is deeper in any case.
            margin = _indent(line)
            ends = (
                number
                for number, each in enumerate(lines[place + 1 :], start=place + 1)
                if each.strip() and _indent(each) <= margin
            )
            return "\n".join((key[2], *lines[place + 1 : next(ends, len(lines))]))
    return ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _with_scripts(tree: TreeReader, text: str) -> str:
    """Return a CI file with the scripts of the tree that it calls in their places."""
    names = {path.decode("utf-8", "surrogateescape") for path in tree.paths if path.endswith(b".sh")}

    def script(match: re.Match[str]) -> str:
        name = match[0].removeprefix("./")
        return f"{match[0]}\n{read_text(tree, name) or ''}" if name in names else match[0]

    return re.sub(r"[\w./-]+\.sh\b", script, text)


def _until_the_tests(commands: str) -> tuple[str, ...]:
    """Return what is installed when the tests are run for the last time; nothing where they are not run."""
    runs = list(_RUNS_TESTS.finditer(commands))
    if not runs:
        return ()
    return tuple(word for words in _installs(commands[: runs[-1].start()]) for word in words)


def _installs(text: str) -> Iterator[tuple[str, ...]]:
    for match in _INSTALL.finditer(text.replace("\\\n", " ")):
        command = _ENDS_A_COMMAND.split(match[1], maxsplit=1)[0]
        try:
            yield tuple(shlex.split(command))
        except ValueError:
            yield tuple(command.split())
