"""How a package's own scripts start its test runner: variables, options of node, options of the runner. Pure.

Scripts are shell text of strangers. They are read for what matters to a single run of chosen files and never executed:
linters, coverage, watch modes and file patterns are passed over.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

_OPERATORS: Final = frozenset({"&&", "||", ";", "|", "&", "(", ")"})
_STARTERS: Final = frozenset({"npx", "exec", "cross-env", "env", "c8", "nyc", "dotenv", "--", "bunx", "dlx", "time"})
_MANAGERS: Final = frozenset({"npm", "pnpm", "yarn", "bun"})
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
# What says where a run happens or how it looks is not a matter of the tests.
_DROPPED_VARIABLES: Final = frozenset({"CI", "FORCE_COLOR", "NO_COLOR", "PATH", "COVERAGE", "HOME"})

# The options that change what tests see; True when a value follows. Everything else is passed over.
KEPT_OPTIONS: Final[Mapping[str, Mapping[str, bool]]] = {
    "vitest": {
        "--config": True,
        "-c": True,
        "--environment": True,
        "--globals": False,
        "--pool": True,
        "--project": True,
        "--mode": True,
        "--no-isolate": False,
    },
    "jest": {
        "--config": True,
        "-c": True,
        "--env": True,
        "--testEnvironment": True,
        "--preset": True,
        "--rootDir": True,
        "--selectProjects": True,
    },
    "node:test": {
        "--import": True,
        "--loader": True,
        "--experimental-loader": True,
        "--require": True,
        "-r": True,
        "--conditions": True,
        "-C": True,
        "--env-file": True,
        "--enable-source-maps": False,
        "--experimental-vm-modules": False,
        "--experimental-test-module-mocks": False,
        "--experimental-test-snapshots": False,
        "--experimental-strip-types": False,
        "--experimental-transform-types": False,
        "--experimental-specifier-resolution": True,
        "--no-warnings": False,
        "--expose-gc": False,
        "--test-force-exit": False,
        "--test-timeout": True,
    },
}
_OPTIONS_OF_NODE: Final = KEPT_OPTIONS["node:test"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Invocation:
    """How a script starts a runner. ``variables`` are NAME=VALUE, ``node_options`` and ``options`` single words."""

    variables: tuple[str, ...] = ()
    node_options: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


def find_invocation(scripts: Mapping[str, str], runner: str) -> Invocation | None:
    """Return how the scripts start ``runner`` (of ``KEPT_OPTIONS``): ``test`` first, else any that does."""
    names = sorted(scripts, key=lambda name: (name != "test", not name.startswith("test"), name))
    for name in names:
        found = _in_script(scripts, name, runner, ())
        if found is not None:
            return found
    return None


def words(scripts: Mapping[str, str], name: str = "test") -> tuple[str, ...]:
    """Return the program names of a script and of the scripts that it calls, in order of appearance."""
    found: list[str] = []
    _collect(scripts, name, (), found)
    return tuple(found)


def _collect(scripts: Mapping[str, str], name: str, seen: tuple[str, ...], found: list[str]) -> None:
    for segment in _segments(scripts.get(name, "")):
        called = _called_script(segment, scripts)
        if called and called not in seen and called != name:
            _collect(scripts, called, (*seen, name), found)
        else:
            found += [_program(word) for word in segment]


def _segments(script: str) -> list[list[str]]:
    lexer = shlex.shlex(script, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    segments: list[list[str]] = [[]]
    try:
        for word in lexer:
            if word in _OPERATORS:
                segments.append([])
            else:
                segments[-1].append(word)
    except ValueError:
        # A quote that is never closed: what stands before it is still worth reading.
        pass
    return [segment for segment in segments if segment]


def _program(word: str) -> str:
    """Return the program that a word names: ``./node_modules/jest/bin/jest.js`` is ``jest``."""
    return re.sub(r"\.(?:[cm]?js)$", "", word.rpartition("/")[2])


def _called_script(segment: Sequence[str], scripts: Mapping[str, str]) -> str:
    """Return the script that ``npm run NAME``, ``npm test``, ``yarn NAME`` … calls, or an empty string."""
    rest = [word for word in segment if not _ASSIGNMENT.match(word)]
    if not rest or rest[0] not in _MANAGERS:
        return ""
    plain = [word for word in rest[1:] if not word.startswith("-")]
    if plain[:1] in (["run"], ["run-script"]):
        plain = plain[1:]
    elif plain[:1] == ["exec"]:
        return ""
    return plain[0] if plain and plain[0] in scripts else ""


def _in_script(scripts: Mapping[str, str], name: str, runner: str, seen: tuple[str, ...]) -> Invocation | None:
    for segment in _segments(scripts.get(name, "")):
        called = _called_script(segment, scripts)
        if called and called != name and called not in seen:
            found = _in_script(scripts, called, runner, (*seen, name))
        else:
            found = _in_segment(segment, runner)
        if found is not None:
            return found
    return None


def _in_segment(segment: Sequence[str], runner: str) -> Invocation | None:
    variables: list[str] = []
    position = 0
    while position < len(segment):
        word = segment[position]
        if _ASSIGNMENT.match(word):
            variables.append(word)
        elif word not in _STARTERS and word not in _MANAGERS:
            break
        position += 1
    kept = tuple(
        word for word in variables if word.partition("=")[0] not in _DROPPED_VARIABLES and not re.search(r"[$`]", word)
    )
    rest = segment[position:]
    programs = [_program(word) for word in rest]
    if runner == "node:test":
        return _node_invocation(rest, kept)
    if runner not in programs:
        return None
    at = programs.index(runner)
    if "node" in programs[:at]:
        return Invocation(
            variables=kept,
            node_options=_kept(rest[programs.index("node") + 1 : at], _OPTIONS_OF_NODE),
            options=_kept(rest[at + 1 :], KEPT_OPTIONS[runner]),
        )
    return Invocation(variables=kept, options=_kept(rest[at + 1 :], KEPT_OPTIONS[runner]))


def _node_invocation(rest: Sequence[str], variables: tuple[str, ...]) -> Invocation | None:
    if "--test" not in rest and not any(word.startswith("--test-") for word in rest):
        return None
    programs = [_program(word) for word in rest]
    for program, loader in (("node", ()), ("tsx", ("--import", "tsx"))):
        if program in programs:
            options = _kept(rest[programs.index(program) + 1 :], _OPTIONS_OF_NODE)
            return Invocation(variables=variables, node_options=(*loader, *options))
    return None


def _kept(arguments: Sequence[str], known: Mapping[str, bool]) -> tuple[str, ...]:
    kept: list[str] = []
    position = 0
    while position < len(arguments):
        word = arguments[position]
        name, equals, _ = word.partition("=")
        if name in known:
            kept.append(word)
            if known[name] and not equals and position + 1 < len(arguments):
                position += 1
                kept.append(arguments[position])
        position += 1
    return tuple(kept)
