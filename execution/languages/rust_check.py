"""The shell command that compiles and runs graded Rust tests, and the same with our reader at its end. Pure.

Cargo is called once for each target, so that one that does not compile hides no other. The harness's JSON is an
unstable option, which a stable toolchain takes where ``RUSTC_BOOTSTRAP`` is set: it is set for the test programs alone
(through cargo's ``runner``) and never for the compiler, whose answer to "is this nightly?" many build scripts ask for.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from itertools import chain
from typing import Final

from execution.languages.base import Check
from execution.recipe import Recipe
from execution.sandbox import REPORT_FD

RUNNER: Final = "cargo-test"
HOME_FOLDER: Final = "env/cargo"
_REPORT: Final = "report.jsonl"
_FORMAT: Final = "cargo-jsonl"
_STABLE_JSON: Final = """--config 'target."cfg(all())".runner=["env","RUSTC_BOOTSTRAP=1"]'"""
# `#![deny(warnings)]` judges the sources by what the compiler of the day has to say; one of today has more to say.
LINTS: Final = """--config 'build.rustflags=["--cap-lints=warn"]'"""
# One thread: tests of one program share its memory, and a program that dies has told which test it died in.
_HARNESS: Final = "-Z unstable-options --format json --test-threads=1"
_CARGO: Final = f"cargo test --offline {LINTS} {_STABLE_JSON}"
_STEP: Final = (
    """t() { printf '{"reason":"graded","files":%s}\\n' "$1"; shift; """
    f"""{_CARGO} --message-format=json "$@" {_HARNESS}; """
    """c=$?; printf '{"reason":"ended","code":%s}\\n' "$c"; [ "$c" = 0 ] || e=$c; }"""
)
# A filter of the harness takes every test whose name holds it, so the tests of a module are named one by one. No test
# is called `::`: where a module has none, none is run. What does not compile is told by the second call.
_CHOSEN: Final = (
    """m() { f=$1; s=$2; shift 2; """
    f"""n=$({_CARGO} "$@" -- --list --format=terse 2>/dev/null | sed -n "$s"); """
    """t "$f" "$@" -- --exact :: $n; }"""
)


def build_check(recipe: Recipe, files: tuple[str, ...]) -> Check:
    """Return the check of the graded files, to be run in ``recipe.directory``."""
    report_file = f"../{_REPORT}"
    up = above(recipe.directory)
    return Check(
        command=_command(recipe, files, up + report_file),
        report_file=report_file,
        report_format=_FORMAT,
        observed=("sh", "-c", _command(recipe, files, f"/dev/fd/{REPORT_FD}")),
        notes=("cargo test: one target after another, one test at a time, denied lints are warnings",),
    )


def recorded_check(command: str) -> Check:
    """Return the check that a recorded command stands for; its ``observed`` is empty."""
    return Check(command=command, report_file=f"../{_REPORT}", report_format=_FORMAT, observed=())


def target_arguments(recipe: Recipe, files: tuple[str, ...]) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """Return cargo's arguments of each target that graded files are in, with those files, both in the order given."""
    targets: dict[str, dict[str, list[str]]] = json.loads(recipe.setting("targets", "{}"))
    by_target: dict[tuple[str, ...], list[str]] = {}
    for file in files:
        by_target.setdefault(tuple(targets[file]["arguments"]), []).append(file)
    return tuple((arguments, tuple(inside)) for arguments, inside in by_target.items())


def exported(recipe: Recipe) -> str:
    """Return the variables that cargo is given, as the beginning of a shell command.

    Where there are dependencies they are in the environment, beside the clone; else cargo keeps to its own place.
    """
    home = f' CARGO_HOME="$PWD/{above(recipe.directory)}../{HOME_FOLDER}"' if recipe.setting("lock") else ""
    return f"export CARGO_INCREMENTAL=0 CARGO_TERM_COLOR=never{home}"


def above(directory: str) -> str:
    """Return the way from a folder of the tree up to its root: empty, or ``../`` as often as it takes."""
    return "" if directory == "." else "../" * (directory.count("/") + 1)


def _command(recipe: Recipe, files: tuple[str, ...], report: str) -> str:
    steps = tuple(_steps(recipe, files))
    functions = [_STEP, *([_CHOSEN] if any(step.startswith("m ") for step in steps) else [])]
    return f'{exported(recipe)}; {"; ".join(functions)}; e=0; {{ {"; ".join(steps)}; }} > {report}; exit "$e"'


def _steps(recipe: Recipe, files: tuple[str, ...]) -> Iterator[str]:
    targets: dict[str, dict[str, list[str]]] = json.loads(recipe.setting("targets", "{}"))
    for arguments, inside in target_arguments(recipe, files):
        chosen = [targets[file]["selected"] for file in inside]
        named = json.dumps(list(inside))
        # The root of a target holds all of its tests.
        if all(chosen):
            yield f"m {shlex.join((named, _listed(tuple(chain.from_iterable(chosen))), *arguments))}"
        else:
            yield f"t {shlex.join((named, *arguments, '--'))}"


def _listed(selected: tuple[str, ...]) -> str:
    """Return what makes ``sed`` print the chosen names of the harness's list (``codec::tests::empty: test``)."""
    # No letter of a name means anything to sed.
    return ";".join(rf"s/^\({name}{'.*' if name.endswith('::') else ''}\): test$/\1/p" for name in selected)
