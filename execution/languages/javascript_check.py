"""The shell command that runs graded JavaScript tests, and the same with our reader at its end. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

from execution.languages.base import Check
from execution.languages.javascript_each_file import (
    EACH_FILE,
    MOCHA,
    RECORDED,
    TAPE,
    THE_FILE,
    UVU,
    Start,
    observed_command,
    recorded_command,
)
from execution.languages.javascript_runner import JEST, NODE, TAP, VITEST
from execution.recipe import Recipe
from execution.reports import node_events
from execution.sandbox import REPORT_FD

_PIPE: Final = f"/dev/fd/{REPORT_FD}"
_FORMATS: Final[Mapping[str, tuple[str, str]]] = {
    VITEST: ("vitest-json", "../report.json"),
    JEST: ("jest-json", "../report.json"),
    NODE: ("node-events", "../report.jsonl"),
    TAP: ("node-tap", "../report.tap"),
    **RECORDED,
}


def quote(word: str) -> str:
    """Quote a word for sh, only where it needs it."""
    return shlex.quote(word)


def build_check(recipe: Recipe, files: tuple[str, ...]) -> Check:
    """Return the check of the graded files (paths from the tree's root), to be run in ``recipe.directory``."""
    report_format, report_file = _FORMATS[recipe.runner]
    depth = 0 if recipe.directory == "." else recipe.directory.count("/") + 1
    inside = [relative(path, recipe.directory) for path in files]
    if recipe.runner in EACH_FILE:
        start = _start(recipe)
        command = recorded_command(start, tuple(inside), recipe.directory)
        observed = observed_command(start, tuple(inside), recipe.directory)
    else:
        command = _command(recipe, "../" * depth + report_file, inside)
        observed = _command(recipe, _PIPE, inside)
    return Check(
        command=command,
        report_file=report_file,
        report_format=report_format,
        observed=("sh", "-c", observed),
        notes=_notes(recipe),
    )


def recorded_check(runner: str, command: str) -> Check:
    """Return the check that a recorded command stands for; its ``observed`` is empty."""
    report_format, report_file = _FORMATS[runner]
    return Check(command=command, report_file=report_file, report_format=report_format, observed=())


def relative(path: str, directory: str) -> str:
    """Return a path of the tree as seen from a folder of the tree."""
    if directory == ".":
        inside = path
    else:
        parts, base = PurePosixPath(path).parts, PurePosixPath(directory).parts
        common = 0
        while common < min(len(parts) - 1, len(base)) and parts[common] == base[common]:
            common += 1
        inside = "/".join([".."] * (len(base) - common) + list(parts[common:]))
    # A name that begins with a dash must not be read as an option.
    return f"./{inside}" if inside.startswith("-") else inside


def _command(recipe: Recipe, report: str, files: list[str]) -> str:
    options = _words(recipe, "options")
    node_options = _words(recipe, "node_options")
    match recipe.runner:
        case "vitest":
            words = [_program(recipe, "vitest"), "run", "--reporter=json", f"--outputFile={report}"]
            words += [*_words(recipe, "exclude"), *_left_out(recipe, files), *options]
        case "jest":
            words = [
                _program(recipe, "jest"),
                "--ci",
                "--runInBand",
                "--no-cache",
                "--no-bail",
                "--coverage=false",
                "--json",
            ]
            words += [f"--outputFile={report}", *options, "--runTestsByPath"]
        case "tap":
            words = [_program(recipe, "tap"), f"--output-file={report}", *options]
        case _:
            words = ["node", *node_options, "--test", f"--test-reporter={node_events.REPORTER}"]
            words += [f"--test-reporter-destination={report}", "--test-reporter=spec"]
            words += ["--test-reporter-destination=stdout"]
            node_options = []
    assignments = _assignments(recipe, node_options)
    return " ".join([*assignments, *(quote(word) for word in (*words, *files))])


def _start(recipe: Recipe) -> Start:
    """Return how a runner is started that takes one file at a time."""
    options = _words(recipe, "options")
    node_options = _words(recipe, "node_options")
    if recipe.runner in {UVU, TAPE}:
        words = ["node", *node_options, *options]
        options, node_options = [], []
    elif recipe.runner == MOCHA:
        # mocha hands options of node on; not all of them may stand in NODE_OPTIONS.
        words = [_program(recipe, MOCHA), *node_options]
        node_options = []
    else:
        words = [_program(recipe, recipe.runner), "--tap"]
    return Start(
        runner=recipe.runner,
        assignments=tuple(_assignments(recipe, node_options)),
        words=tuple(quote(word) for word in words),
        options=tuple(THE_FILE.join(quote(part) if part else "" for part in word.split(THE_FILE)) for word in options),
    )


def _assignments(recipe: Recipe, node_options: list[str]) -> list[str]:
    variables = _words(recipe, "variables")
    if node_options:
        variables = _with_node_options(variables, node_options)
    assignments = [f"{name}={quote(value)}" for name, _, value in (row.partition("=") for row in variables)]
    alone = recipe.runner in {NODE, UVU, TAPE}
    if not alone and recipe.directory != recipe.setting("install_directory", "."):
        assignments.append(f'PATH="{_binary_path(recipe)}"')
    return assignments


def _left_out(recipe: Recipe, files: list[str]) -> list[str]:
    """Exclude graded files that were left out, where vitest would find a kept one's name in theirs."""
    others = [relative(path, recipe.directory) for path in _words(recipe, "graded")]
    return [
        f"--exclude={other}"
        for other in others
        if other not in files and any(name.lower() in other.lower() for name in files)
    ]


def _with_node_options(variables: list[str], options: list[str]) -> list[str]:
    others = [row for row in variables if not row.startswith("NODE_OPTIONS=")]
    named = [row.partition("=")[2] for row in variables if row.startswith("NODE_OPTIONS=")]
    return [*others, "NODE_OPTIONS=" + " ".join([*named, *options])]


def _program(recipe: Recipe, name: str) -> str:
    alone = recipe.directory == recipe.setting("install_directory", ".")
    return f"node_modules/.bin/{name}" if alone else name


def _binary_path(recipe: Recipe) -> str:
    """In a workspace a member's runner lies in its own node_modules or in one above: where, the install decides."""
    install = recipe.setting("install_directory", ".")
    above = PurePosixPath(recipe.directory).relative_to(install) if install != "." else PurePosixPath(recipe.directory)
    places = ["$PWD/node_modules/.bin"]
    places += ["$PWD/" + "../" * level + "node_modules/.bin" for level in range(1, len(above.parts) + 1)]
    return ":".join([*places, "$PATH"])


def _words(recipe: Recipe, name: str) -> list[str]:
    return shlex.split(recipe.setting(name))


_NOTES: Final[Mapping[str, str]] = {
    JEST: "jest: coverage off, one process, no snapshot written, no cache (it hides type errors of files it knows)",
    MOCHA: "mocha: a process for each graded file, no stop at the first failure",
    UVU: "uvu: a process of node for each graded file",
    TAPE: "tape: a process of node for each graded file",
    TAP: "tap: coverage off, one file at a time, no stop at the first failure",
}


def _notes(recipe: Recipe) -> tuple[str, ...]:
    return (_NOTES[recipe.runner],) if recipe.runner in _NOTES else ()
