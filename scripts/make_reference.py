"""Write docs/reference.md from the code: commands, exit codes, reasons, files. ``--check`` only says if it is current.

python scripts/make_reference.py
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from authoring.case import Case
from authoring.finding import RULES
from casewright.cli.application import GROUPS
from casewright.cli.judgement_output import judgement_object
from casewright.cli.main import main as casewright
from casewright.configuration import Configuration
from casewright.errors import ExitCode
from execution.sandbox import Limits
from miner.judgement import Judgement, Reached, Standing
from miner.reasons import EXPLANATIONS

REFERENCE: Final = Path(__file__).parents[1] / "docs" / "reference.md"
# What a name and a type alone don't say.
NOTES: Final = {
    "library.id": "a slug; the release's file names begin with it",
    "library.title": "may use `{cases}`, `{repositories}`, `{languages}`, `{categories}`",
    "library.description": "may use the same",
    "library.limits": "stated after those that every library states",
    "defaults.repeat": "how often each state is run (3)",
    "defaults.category": "of cases that no glob sorts",
    "repositories.ID.url": "what a stranger clones, where it is not the remote's address",
    "repositories.ID.licence": "an SPDX expression, where the tree does not state it",
    "repositories.ID.branch": "what `mine` walks (HEAD)",
    "repositories.ID.tests.graded": "globs of files that a runner collects",
    "repositories.ID.tests.support": "globs of files that tests need",
    "repositories.ID.tests.rest": "globs of files that are neither",
    "repositories.ID.python": "the interpreter's version, such as 3.11",
    "repositories.ID.node": "the executable to use",
    "repositories.ID.go": "the toolchain's version, such as 1.21, of those on this machine",
    "repositories.ID.rust": "the toolchain's version or channel, such as 1.75 or nightly, of those on this machine",
    "repositories.ID.runner": "the test runner to use",
    "repositories.ID.check": "the command that runs the tests",
    "repositories.ID.max_files": "files of the rest part (100)",
    "defaults.statement.command": "proposes a draft's task (docs/guide.md says what it reads)",
    "defaults.statement.seconds": "how long it may take (120)",
    "repositories.ID.statement.command": "the same for this repository",
    "repositories.ID.max_lines": "changed lines of the rest part (5,000)",
    "withdrawals[].id": "the case",
}
GROUPED: Final = {"cache": ("list", "prune", "wheels")}
INTRODUCTION: Final = (
    "`-C`, `--format`, `-v`, `-q` and `--jobs` may stand before or after a command's name. Standard output carries the"
    " result and nothing else; progress, notes and errors go to standard error."
)
DRAFTS: Final = (
    "A draft. `casewright schema draft` prints its JSON Schema. `environment`, `grading` and `verification` are the"
    " tool's, everything else is yours to edit."
)
EXIT_CODES: Final = {
    ExitCode.DONE: "The work was done (whatever the verdicts were), or the answer is yes.",
    ExitCode.NO: "A single question was answered no: `add-case` rejected, `check` found a fault, `lint` found errors,"
    " `verify` found a difference, `cut` left something out, `diff --exit-code` found one.",
    ExitCode.USAGE: "Wrong usage, or a file that can't be read as what it should be.",
    ExitCode.COULD_NOT: "The work could not be done: no sandbox, no network, a missing runtime, a locked workspace;"
    " also when `mine` ended with changes that the machine spoilt. Never a verdict.",
    ExitCode.BUG: "A bug: please report it with what `-vv` prints.",
    ExitCode.INTERRUPTED: "Interrupted; what was reached is kept.",
}


def reference() -> str:
    """Return the whole page."""
    parts = [
        "# Reference",
        "This page is made from the code by `python scripts/make_reference.py`; a test holds it current.",
        "## Commands",
        INTRODUCTION,
        _help(),
        *(_command(name) for commands in GROUPS.values() for name in commands),
        "## Exit codes",
        _table(("code", "meaning"), [(str(int(code)), text) for code, text in EXIT_CODES.items()]),
        "A process whose standard output is closed early (`| head`) ends with 141, as other programs do.",
        "## Reasons",
        "Why a change is no case, in the order in which the reasons are tried. `casewright funnel` counts them.",
        _table(
            ("code", "stage", "meaning", "example"),
            [(f"`{code}`", row.stage.value, row.sentence, row.example) for code, row in EXPLANATIONS.items()],
        ),
        "## Findings of lint",
        "What `casewright lint` finds, and what an author does; [explained](lint.md) by what they look for.",
        _table(
            ("code", "severity", "meaning", "example", "mend"),
            [(f"`{code}`", row.severity, row.meaning, row.example, row.mend) for code, row in RULES.items()],
        ),
        "## What `mine` and `add-case` print with `--format json`",
        "JSON Lines, one object for each change. More keys may be added; these stay.",
        _table(("key", "holds"), list(_judgement_keys())),
        "## casewright.yaml",
        "Only `schema` and `library` are needed. Unknown keys are refused.",
        _table(("key", "holds"), list(_keys(Configuration))),
        f"Limits that are left out: {_usual_limits()}.",
        "## cases/ID.yaml",
        DRAFTS,
        _table(("key", "holds"), list(_keys(Case))),
    ]
    return "\n\n".join(parts) + "\n"


def _help(*command: str) -> str:
    page = io.StringIO()
    with contextlib.redirect_stdout(page):
        casewright([*command, "--help"])
    return f"```\n{page.getvalue().strip()}\n```"


def _command(name: str) -> str:
    pages = [f"### casewright {name}", _help(name)]
    for below in GROUPED.get(name, ()):
        pages += [f"#### casewright {name} {below}", _help(name, below)]
    return "\n\n".join(pages)


def _table(headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]
    lines += [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _judgement_keys() -> Iterator[tuple[str, str]]:
    known = {
        "repository": "`owner/name`, or the folder's name where there is no address",
        "base": "the commit that a candidate starts from, full id",
        "head": "the commit whose tests grade, full id",
        "landing": "`merge`, `squash`, `rebase` or `direct`",
        "subject": "the first line of the message",
        "outcome": ", ".join(f"`{standing.value}`" for standing in Standing),
        "reason": "a code of the table above, or null",
        "detail": "one sentence with the evidence",
        "graded_files": "the test files that grade",
        "excluded_files": "test files left out as graders: `path`, `reason`, `detail`",
        "fail_to_pass": "ids of tests that fail at the base and pass at the head",
        "pass_to_pass": "ids of tests that pass at both",
        "fails_by": "how each fails at the base: `id`, `how`",
        "case": "the draft's id, or null",
        "seconds": "how long it took",
        "stage": "the last stage reached: " + ", ".join(f"`{stage.value}`" for stage in Reached),
    }
    printed = judgement_object(
        Judgement(
            repository="",
            base="",
            head="",
            landing="",
            subject="",
            reached=Reached.SCANNED,
            standing=Standing.REJECTED,
        )
    )
    for key in printed:
        yield f"`{key}`", known[key]


def _keys(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, field in model.model_fields.items():
        key = f"{prefix}{field.alias or name}"
        inner, holds = _described(field.annotation)
        note = "" if field.is_required() or inner is not None else f"; default {_shown(field.default)}"
        if inner is None:
            words = f"; {NOTES[key]}" if key in NOTES else ""
            yield f"`{key}`", f"{holds}{note}{words}"
            continue
        said = " ".join((inner.__doc__ or "").split("\n\n", maxsplit=1)[0].split())
        yield f"`{key}`", f"{holds}{said.replace('``', '`')}"
        yield from _keys(inner, f"{key}{'[]' if holds.startswith('a list') else '.ID' if holds else ''}.")


def _described(annotation: Any) -> tuple[type[BaseModel] | None, str]:
    """Return the model inside an annotation, or None, and words for what is around or instead of it."""
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _described(inside[0])
    if origin in {Union, UnionType}:
        described = [_described(one) for one in inside if one is not type(None)]
        model = next((found for found, _ in described if found), None)
        words = " or ".join(told for _, told in described)
        return model, f"{words} or null" if type(None) in inside and not model else words
    if origin is tuple:
        model, words = _described(inside[0])
        return model, "a list. " if model else f"a list: {words} each"
    if origin is dict:
        model, words = _described(inside[1])
        return model, "by name. " if model else f"{words} by name"
    return _simple(annotation)


def _simple(annotation: Any) -> tuple[type[BaseModel] | None, str]:
    if get_origin(annotation) is Literal:
        return None, " or ".join(f"`{value}`" for value in get_args(annotation))
    if issubclass(annotation, BaseModel):
        return annotation, ""
    if issubclass(annotation, StrEnum):
        return None, " or ".join(f"`{member.value}`" for member in annotation)
    return None, {"str": "text", "int": "a whole number", "bool": "true or false"}[annotation.__name__]


def _shown(value: object) -> str:
    if value is None:
        return "null"
    return f"`{'[]' if value == () else value}`" if value != "" else "empty"


def _usual_limits() -> str:
    limits = Limits()
    return ", ".join(f"`{field.name}` {getattr(limits, field.name):,}" for field in fields(limits))


def main(arguments: list[str]) -> int:
    """Write the page, or with ``--check`` say whether it is current (exit code 1: it is not)."""
    os.environ["COLUMNS"] = "80"
    text = reference()
    if arguments == ["--check"]:
        current = REFERENCE.is_file() and REFERENCE.read_text(encoding="utf-8") == text
        sys.stderr.write("" if current else "docs/reference.md is not current: run python scripts/make_reference.py\n")
        return 0 if current else 1
    REFERENCE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
