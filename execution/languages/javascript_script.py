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
    "mocha": {
        "--require": True,
        "-r": True,
        "--import": True,
        "--loader": True,
        "--experimental-loader": True,
        "--ui": True,
        "-u": True,
        "--timeout": True,
        "-t": True,
        "--no-timeout": False,
        "--no-timeouts": False,
        "--config": True,
        "--no-config": False,
        "--package": True,
        "--opts": True,
        "--no-opts": False,
        "--file": True,
        "--exit": False,
        "--no-exit": False,
        "--check-leaks": False,
        "--global": True,
        "--globals": True,
        "--retries": True,
        "--delay": False,
        "--async-only": False,
        "-A": False,
        "--allow-uncaught": False,
        "--grep": True,
        "-g": True,
        "--fgrep": True,
        "-f": True,
        "--invert": False,
        "-i": False,
        "--extension": True,
        "--node-option": True,
        "-n": True,
        "--conditions": True,
        "-C": True,
        "--enable-source-maps": False,
        "--experimental-vm-modules": False,
        "--experimental-modules": False,
        "--experimental-json-modules": False,
        "--experimental-strip-types": False,
        "--experimental-specifier-resolution": True,
        "--es-module-specifier-resolution": True,
        "--expose-gc": False,
        "--expose_gc": False,
        "--harmony": False,
        "--no-warnings": False,
        "--preserve-symlinks": False,
        "--throw-deprecation": False,
        "--unhandled-rejections": True,
    },
    "ava": {
        "--config": True,
        "--match": True,
        "-m": True,
        "--node-arguments": True,
        "--no-worker-threads": False,
        "--serial": False,
        "-s": False,
        "--timeout": True,
        "-T": True,
    },
    "tap": {
        "--allow-natives-syntax": False,
        "--esm": False,
        "--no-esm": False,
        "--expose-gc": False,
        "--flow": False,
        "--jsx": False,
        "--node-arg": True,
        "--no-ts": False,
        "--no-typecheck": False,
        "--test-arg": True,
        "--test-env": True,
        "--timeout": True,
        "-t": True,
        "--ts": False,
        "--typecheck": False,
    },
    # Both load these into the process of the tests, as node does itself.
    "uvu": {"--require": True, "-r": True},
    "tape": {"--import": True, "--require": True, "-r": True},
}
_OPTIONS_OF_NODE: Final = KEPT_OPTIONS["node:test"]
_ALSO_CALLED: Final[Mapping[str, str]] = {"_mocha": "mocha", "ts-mocha": "mocha", "electron-mocha": "", "mochapack": ""}
# Programs to which a runner's name is an argument.
_LINTERS: Final = frozenset({"eslint", "jshint", "prettier", "semistandard", "standard", "tslint", "xo"})
# A file that a script hands to mocha before its tests, to be loaded first and not to be tested.
_SETUP_FILE: Final = re.compile(
    r"(?:.*/)?_?(?:(?:test|spec|mocha)[-_.]?)?(?:setup|bootstrap|init|hooks?|helpers?|env|globals?|common|prepare)"
    r"(?:[-_.](?:test|spec|mocha|tests))?\.[cm]?[jt]s"
)
# What runs a script as node does, and what node has to load to do the same.
_LIKE_NODE: Final[Mapping[str, tuple[str, ...]]] = {
    "node": (),
    "tsx": ("--import", "tsx"),
    "ts-node": ("-r", "ts-node/register"),
    "ts-node-esm": ("--loader", "ts-node/esm"),
    "babel-node": ("-r", "@babel/register"),
    "esno": ("--import", "tsx"),
}


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


def find_plain_invocation(scripts: Mapping[str, str]) -> Invocation | None:
    """Return how the test scripts run a test file as a plain script (``node -r esm test/index.js``), or None."""
    for name in sorted((name for name in scripts if name.startswith("test")), key=lambda name: (name != "test", name)):
        for segment in _segments(scripts[name]):
            found = _plain(segment)
            if found is not None:
                return found
    return None


def _plain(segment: Sequence[str]) -> Invocation | None:
    variables, rest = _peeled(segment)
    programs = [_program(word) for word in rest]
    program = next((name for name in programs if name in _LIKE_NODE), None)
    if program is None or "--test" in rest:
        return None
    at = programs.index(program)
    if not any(re.search(r"(?:^|[/.])(?:tests?|specs?)\b", word) for word in rest[at + 1 :]):
        return None
    options = _kept(rest[at + 1 :], _OPTIONS_OF_NODE)
    return Invocation(variables=variables, node_options=(*_LIKE_NODE[program], *options))


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


def _peeled(segment: Sequence[str]) -> tuple[tuple[str, ...], Sequence[str]]:
    """Return the variables that a command is started with, and the command without what only starts it."""
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
    return kept, segment[position:]


def _in_segment(segment: Sequence[str], runner: str) -> Invocation | None:
    variables, rest = _peeled(segment)
    names = [_program(word) for word in rest]
    if runner == "node:test":
        return _node_invocation(rest, variables)
    programs = [_ALSO_CALLED.get(name, name) for name in names]
    if runner not in programs or programs[0] in _LINTERS:
        return None
    at = programs.index(runner)
    arguments = rest[at + 1 :]
    options = _kept(arguments, KEPT_OPTIONS[runner])
    if runner == "mocha":
        options += tuple(word for path in _setup_files(arguments) for word in ("--file", path))
    if names[at] == "ts-mocha":
        variables, options = _as_ts_mocha(variables, options, arguments)
    node_options = _kept(rest[programs.index("node") + 1 : at], _OPTIONS_OF_NODE) if "node" in programs[:at] else ()
    return Invocation(variables=variables, node_options=node_options, options=options)


def _setup_files(arguments: Sequence[str]) -> tuple[str, ...]:
    """Return the arguments that are files to load before the tests, given among the test files."""
    known = KEPT_OPTIONS["mocha"]
    taken = {at + 1 for at, word in enumerate(arguments) if known.get(word)}
    return tuple(word for at, word in enumerate(arguments) if at not in taken and _SETUP_FILE.fullmatch(word))


def _as_ts_mocha(
    variables: tuple[str, ...], options: tuple[str, ...], arguments: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what makes mocha do as ts-mocha, which only starts it with a module of its own to load."""
    project = next(
        (arguments[at + 1] for at, word in enumerate(arguments[:-1]) if word in {"-p", "--project"}), "./tsconfig.json"
    )
    more = [f"TS_NODE_PROJECT={project}"]
    more += ["TS_CONFIG_PATHS=true"] if "--paths" in arguments else []
    more += ["TS_TYPE_CHECK=true"] if "--type-check" in arguments else []
    return (*variables, *more), ("-r", "ts-mocha/src/index.js", *options)


def _node_invocation(rest: Sequence[str], variables: tuple[str, ...]) -> Invocation | None:
    if "--test" not in rest and not any(word.startswith("--test-") for word in rest):
        return None
    programs = [_program(word) for word in rest]
    for program in ("node", "tsx"):
        if program in programs:
            options = _kept(rest[programs.index(program) + 1 :], _OPTIONS_OF_NODE)
            return Invocation(variables=variables, node_options=(*_LIKE_NODE[program], *options))
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
