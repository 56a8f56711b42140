"""How an environment is shown, planned, refused or built: as a JSON object, and as text for people."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from casewright.cli.output import one_line, shown, styled
from casewright.documents import render
from execution.languages.base import Refusal
from execution.recipe import Environment, Recipe, Why, why_of
from miner.environment import EnvironmentBuild, EnvironmentExplanation

# What fits most screens beside each other; a pipe has no width of its own.
_WIDTH: Final = 80
_NAMES: Final = 14
_FILES_SHOWN: Final = 10
_DEPENDENCIES_SHOWN: Final = 60
_FILES_OF_TREE: Final = 3
# A word of a shell command: quoted blanks don't part it.
_WORD: Final = re.compile(r"""(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\])+""")
_HEREDOC: Final = re.compile(r"<<'?(\w+)'?\n")
_HASH: Final = re.compile(r"\s*\\?\n?\s*--hash=\S+")


@dataclass(frozen=True, kw_only=True, slots=True)
class EnvironmentView:
    """What is shown: the repository's id and the commit's subject, the plan, how a build ended if one was asked for.

    ``stored`` says whether the environment is in the cache now; ``notes`` are sentences about the plan's footing.
    """

    repository: str
    subject: str
    explained: EnvironmentExplanation
    build: EnvironmentBuild | None = None
    stored: bool = False
    notes: tuple[str, ...] = ()

    @property
    def refusal(self) -> Refusal | None:
        """Why there is no environment, or None."""
        planned = self.explained.planned
        ended = planned if self.build is None else self.build.ended
        return ended if isinstance(ended, Refusal) else None

    @property
    def outcome(self) -> str:
        """``planned``, ``built`` or ``refused``."""
        if self.refusal is not None:
            return "refused"
        return "planned" if self.build is None else "built"


def reasons_of(recipe: Recipe) -> tuple[Why, ...]:
    """Return the reasons of a plan; those of a language that keeps sentences alone have no subject."""
    return recipe.reasons or tuple(why_of("", sentence) for sentence in recipe.why)


def environment_object(view: EnvironmentView) -> dict[str, Any]:
    """Return the object that ``environment --format json`` prints (its keys are documented and stay)."""
    explained, refusal = view.explained, view.refusal
    recipe = explained.planned if isinstance(explained.planned, Recipe) else None
    return {
        "repository": view.repository,
        "commit": explained.commit,
        "base": explained.base or None,
        "outcome": view.outcome,
        "test_files": list(explained.graded),
        "test_files_are_of_the_change": explained.of_change,
        "language": recipe.language if recipe else None,
        "runtime": {"name": recipe.runtime.name, "version": recipe.runtime.version} if recipe else None,
        "runner": recipe.runner if recipe else None,
        "directory": recipe.directory if recipe else None,
        "date": _moment(recipe.date) if recipe and recipe.date else None,
        "era": recipe.era() if recipe else None,
        "reasons": [
            {"about": why.about, "chosen": why.chosen, "because": why.because, "passed_over": list(why.passed_over)}
            for why in (reasons_of(recipe) if recipe else ())
        ],
        "commands": list(explained.commands),
        "check": explained.check or None,
        "stored": view.stored,
        "notes": list(view.notes),
        "built": _built_object(view.build),
        "refusal": _refusal_object(refusal) if refusal else None,
    }


def _built_object(build: EnvironmentBuild | None) -> dict[str, Any] | None:
    if build is None or isinstance(build.ended, Refusal):
        return None
    made = build.ended
    return {
        "reused": build.reused,
        "seconds": made.build_milliseconds / 1000,
        "runner_version": made.runner_version,
        "dependencies": list(made.dependencies),
        "setup": list(made.setup),
        "notes": list(made.notes),
    }


def _refusal_object(refusal: Refusal) -> dict[str, Any]:
    return {
        "reason": str(refusal.code),
        "detail": refusal.detail,
        "step": refusal.step or None,
        "package": refusal.package or None,
        "lines": list(refusal.lines),
        "tried": list(refusal.tried),
        "remedy": refusal.remedy or None,
        "settings": _nested(refusal.settings),
    }


def environment_text(view: EnvironmentView) -> str:
    """Return the same for people, folded to the screen, to 80 columns in a pipe."""
    width = max(40, min(shutil.get_terminal_size((_WIDTH, 24)).columns, 100))
    explained, refusal = view.explained, view.refusal
    blocks = [_rows(_heading(view), width)]
    if isinstance(explained.planned, Recipe):
        built = view.build.ended if view.build is not None else None
        blocks.append(_titled("chosen", list(_reasons(reasons_of(explained.planned), width))))
        if isinstance(built, Environment):
            blocks += _built_blocks(built, reused=bool(view.build and view.build.reused), width=width)
        else:
            blocks.append(_titled("commands of its set-up", _commands(explained.commands, width)))
        blocks.append(_titled("command of its tests", _check(explained, width)))
    if refusal is not None:
        blocks.append("\n".join(_refused(refusal, view.repository, width)))
    return "\n\n".join(block for block in blocks if block)


def _heading(view: EnvironmentView) -> Iterator[tuple[str, str]]:
    explained = view.explained
    yield "commit", f"{explained.commit[:10]}  {view.subject}"
    if isinstance(explained.planned, Recipe):
        stored = "built already, in the cache" if view.stored else "not built yet"
        yield "environment", f"{explained.planned.era()[:12]}, {stored}"
    files = explained.graded[:_FILES_SHOWN]
    more = len(explained.graded) - len(files)
    if explained.of_change:
        listed = ", ".join(files) + (f" and {more} more" if more else "")
        yield "tests", f"{listed} (the change's own)"
    elif explained.graded:
        yield "tests", f"{explained.tests_in_tree} of the tree, since the change has none of its own"
    for note in view.notes:
        yield "note", note


def _reasons(reasons: Iterable[Why], width: int) -> Iterator[str]:
    before = ""
    for why in reasons:
        name = "" if why.about == before else why.about
        yield from _row(name, why.sentence, width)
        for other in why.passed_over:
            yield from _row("", f"not {other}", width, style="quiet")
        before = why.about


def _built_blocks(built: Environment, *, reused: bool, width: int) -> list[str]:
    seconds = f"{built.build_milliseconds / 1000:.0f} s"
    how = f"taken from the cache; its build took {seconds}" if reused else f"built in {seconds}"
    rows = [("runtime", f"{built.runtime.name} {built.runtime.version}"), ("runner", built.runner_version or "?")]
    rows += [("tried", note) for note in built.notes]
    pins = ", ".join(built.dependencies[:_DEPENDENCIES_SHOWN])
    more = len(built.dependencies) - _DEPENDENCIES_SHOWN
    rows.append(("installed", (pins + (f" and {more} more" if more > 0 else "")) or "nothing"))
    return [
        _titled(how, [line for name, value in rows for line in _row(name, value, width)], style="good"),
        _titled(
            "commands of its set-up, as a case records them (hashes left out)",
            _commands(built.setup, width, hashes=False),
        ),
    ]


def _refused(refusal: Refusal, repository: str, width: int) -> Iterator[str]:
    yield styled(f"no environment: {refusal.code}", "bad")
    rows = [("why", refusal.detail), ("step", refusal.step), ("package", refusal.package)]
    rows += [("tried", tried) for tried in refusal.tried]
    for name, value in rows:
        yield from _row(name, value, width) if value else ()
    for place, line in enumerate(refusal.lines):
        yield from _row("log" if place == 0 else "", line, width)
    if refusal.remedy:
        yield from _row("what helps", refusal.remedy, width)
    if refusal.settings:
        yield ""
        yield styled("in casewright.yaml", "strong")
        settings = render({"repositories": {repository: _nested(refusal.settings)}})
        yield from (f"  {shown(line)}" for line in settings.splitlines())


def _nested(settings: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return settings as the file holds them: ``setup.commands`` is a list in a section of its own."""
    found: dict[str, Any] = {}
    for name, value in settings:
        section, dot, key = name.partition(".")
        if dot:
            inner = found.setdefault(section, {})
            inner[key] = [*inner.get(key, ()), value]
        else:
            found[name] = value
    return found


def _check(explained: EnvironmentExplanation, width: int) -> list[str]:
    """Return the check over the change's files; over a whole tree's, its first files stand for all."""
    command = explained.check
    rest = explained.graded[_FILES_OF_TREE:]
    if explained.of_change or not rest:
        return _commands((command,), width)
    at = command.find(rest[0])
    if at < 0:
        return _commands((command,), width)
    return [*_commands((command[:at].rstrip(),), width), f"  # … and {len(rest)} more files of the tree"]


def _commands(commands: Iterable[str], width: int, *, hashes: bool = True) -> list[str]:
    lines: list[str] = []
    for command in commands:
        text = shown(command) if hashes else _HASH.sub("", shown(command))
        lines += [f"  {line}" if line else "" for line in folded(text, width - 2)]
    return lines


def folded(command: str, width: int) -> list[str]:
    r"""Return a shell command on lines of at most ``width`` columns where its words allow, as one would type it.

    A line goes on with a backslash at its end; what a here-document holds is left as it is.
    """
    heredoc = _HEREDOC.search(command)
    first, rest = (command[: heredoc.end() - 1], command[heredoc.end() :]) if heredoc else (command, "")
    if "\n" in first:
        return command.splitlines()
    lines: list[str] = []
    current = ""
    for word in _WORD.findall(first):
        longer = f"{current} {word}" if current else word
        # Two columns are kept for the backslash.
        if current.strip() and len(longer) > width - 2:
            lines.append(f"{current} \\")
            current = f"    {word}"
        else:
            current = longer
    return [*lines, current, *(rest.splitlines() if heredoc else ())]


def _rows(rows: Iterable[tuple[str, str]], width: int) -> str:
    return "\n".join(line for name, value in rows for line in _row(name, value, width))


def _row(name: str, value: str, width: int, style: str = "") -> Iterator[str]:
    indent = " " * _NAMES
    lines = textwrap.wrap(one_line(value), width - _NAMES, break_on_hyphens=False) or [""]
    for place, line in enumerate(lines):
        text = styled(line, style) if style else line
        yield f"{name:<{_NAMES}}{text}" if place == 0 else indent + text


def _titled(title: str, lines: Iterable[str], style: str = "strong") -> str:
    body = "\n".join(lines)
    return f"{styled(title, style)}\n{body}" if body.strip() else ""


def _moment(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
