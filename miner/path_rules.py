"""What a path is by its name alone: a test that a runner collects, what supports tests, source, or something else.

Rules look at whole path components and at file name patterns of languages, never at substrings: ``contest/latest.py``
and ``attestation/`` have nothing to do with tests. Per-repository globs overrule them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

LOCK_FILE = "lock-file"


class Side(StrEnum):
    """Where a file of a change goes. ``graded`` and ``support`` together are the test part."""

    GRADED = "graded"
    SUPPORT = "support"
    REST = "rest"


class Decision(NamedTuple):
    """One path's side, the name of the rule that put it there, and whether it is source (of the rest part only).

    Names alone put a path on one side; a file that is split by its lines may be on the test side and be source too.
    """

    side: Side
    rule: str
    source: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Globs:
    """Per-repository globs that overrule the rules, tried in this order. ``**`` crosses folders, ``*`` does not."""

    graded: tuple[str, ...] = ()
    support: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()


_TEST_FOLDERS = frozenset(
    {"tests", "test", "__tests__", "__snapshots__", "__mocks__", "__fixtures__", "typing_tests", "testdata"}
)  # fmt: skip
_TEST_FOLDER = re.compile(
    r"[a-z0-9]+([_-][a-z0-9]+)*[_-]tests"
    r"|tests?[_-](data|examples?|files|fixtures?|cases?|assets|resources|inputs?|outputs?|suite|results|apps?)"
)
# A folder that helps tests even where every script of its test folder would be collected.
_HELPER_FOLDERS = frozenset(
    {"fixtures", "fixture", "__fixtures__", "data", "testdata", "helpers", "helper", "support", "utils", "util",
     "mocks", "mock", "__mocks__", "stubs", "resources", "snapshots", "__snapshots__", "assets", "common", "lib",
     "setup"}
)  # fmt: skip
_HELPER_STEM = re.compile(r"_?(helpers?|utils?|setup|teardown|index|common|globals?|mocks?|fixtures?|support)([.-].*)?")
_DOCUMENT_FOLDERS = frozenset({"doc", "docs", "documentation", "website"})
_EXAMPLE_FOLDERS = frozenset({"example", "examples", "sample", "samples", "demo", "demos", "playground"})
_SCRIPT_FOLDERS = frozenset({"scripts", "script"})
_BENCHMARK_FOLDER = re.compile(r"bench|benches|bench[_-].*|benchmark.*")
_CI_FOLDERS = frozenset({"ci"})
# Folders that hold one project each: what stands at a project's root is judged there as at the repository's root.
_WORKSPACE_FOLDERS = frozenset({"packages", "apps", "libs", "crates", "modules", "plugins"})

# Folders of source where a file ``test.js`` is one of many of its kind: a command, a task, an environment called test.
_FOLDERS_OF_KINDS = frozenset(
    {"api", "build", "builders", "cli", "cmd", "cmds", "command", "commands", "config", "configs", "env",
     "environment", "environments", "envs", "generators", "helper", "helpers", "lib", "models", "modes", "pages",
     "plugins", "presets", "routes", "rules", "schemas", "scripts", "services", "stages", "targets", "task", "tasks",
     "tools", "types", "util", "utils", "views"}
)  # fmt: skip

_JS = r"(?:js|jsx|ts|tsx|mjs|cjs|mts|cts)"
_GRADED_NAMES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("python-test-name", re.compile(r"tests?_.*\.py|.+_test\.py")),
    ("javascript-test-name", re.compile(rf".+[._-](test|spec)\.{_JS}|test-.+\.{_JS}")),
    ("javascript-test-name", re.compile(r".+\.(test|spec)\.(vue|svelte|coffee)|.+\.cy\.[jt]sx?")),
    ("go-test-name", re.compile(r".+_test\.go")),
    ("java-test-name", re.compile(r"[A-Za-z0-9_$]+(Test|Tests|TestCase|IT)\.(java|kt|groovy)")),
    ("scala-test-name", re.compile(r"[A-Za-z0-9_]+(Test|Tests|Spec|Suite)\.scala|[A-Za-z0-9_]+Spec\.(groovy|hs|kt)")),
    ("csharp-test-name", re.compile(r"[A-Za-z0-9_.]+(Test|Tests)\.(cs|fs|vb)")),
    ("ruby-test-name", re.compile(r".+_(spec|test)\.rb|test_.+\.rb")),
    ("php-test-name", re.compile(r"[A-Za-z0-9_]+Test\.php|.+\.phpt")),
    ("elixir-test-name", re.compile(r".+_test\.exs")),
    ("dart-test-name", re.compile(r".+_test\.dart")),
    ("swift-test-name", re.compile(r"[A-Za-z0-9_]+Tests?\.swift")),
    ("c-test-name", re.compile(r".+_(test|tests|unittest)\.(c|cc|cpp|cxx)|test_.+\.(c|cc|cpp|cxx)")),
    ("shell-test-name", re.compile(r".+\.bats")),
    ("perl-test-name", re.compile(r".+\.t")),
    ("lua-test-name", re.compile(r".+_(spec|test)\.lua")),
    ("clojure-test-name", re.compile(r".+_test\.clj[cs]?")),
    ("rust-test-name", re.compile(r"tests\.rs|.+_tests?\.rs")),
)  # fmt: skip
_SUPPORT_NAMES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("conftest", re.compile(r"conftest\.py")),
    ("spec-helper", re.compile(r"(spec|rails|test)_helper\.(rb|exs)")),
    # Types are checked by a compiler: no runner collects these unless it is asked to in a mode of its own.
    ("typing-test", re.compile(rf".+\.(test|spec)-d\.{_JS}")),
    ("snapshot", re.compile(rf".+\.(test|spec)\.{_JS}\.(snap|md)")),
)
_SPEC_CODE = re.compile(rf".+\.(rb|{_JS}|coffee)")
_DOCUMENT_NAME = re.compile(
    r".+\.(md|markdown|rst|adoc|asciidoc|mdx)"
    r"|(readme|licen[cs]e|copying|notice|authors|contributors|changelog|changes|history|news|todo|install"
    r"|maintainers|codeowners|citation|security|thanks|credits|upgrading|release[-_]?notes)([.-].*)?",
    re.IGNORECASE,
)
_MANIFEST_NAME = re.compile(
    r"package\.json|setup\.(py|cfg)|pyproject\.toml|Pipfile|requirements.*\.(txt|in)|constraints.*\.txt"
    r"|environment\.ya?ml|go\.(mod|work)|Cargo\.toml|Gemfile|.+\.gemspec|pom\.xml|(build|settings)\.gradle(\.kts)?"
    r"|composer\.json|mix\.exs|MANIFEST\.in|deno\.jsonc?|jsr\.json|pnpm-workspace\.yaml|lerna\.json|.+\.csproj|.+\.sln"
)
_LOCK_NAME = re.compile(
    r".+\.lock|.+\.lockb|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.(sum|work\.sum)|pylock.*\.toml"
    r"|gradle\.lockfile"
)
_CONFIGURATION_NAME = re.compile(
    r"\..+|.+\.(toml|cfg|ini|ya?ml|json|jsonc|json5|conf|properties|editorconfig)|makefile|gnumakefile|justfile"
    r"|dockerfile(\..*)?|.*\.dockerfile|docker-compose.*|jenkinsfile|procfile|vagrantfile|rakefile|brewfile"
    rf"|.+\.(config|conf|setup|workspace)\.{_JS}|(gulp|grunt|jake)file\.{_JS}|(noxfile|tasks|fabfile|conftest|toxfile)\.py"
    r"|taskfile.*|runtime\.txt|flake\.nix|default\.nix|shell\.nix|.+\.mk|netlify\..*",
    re.IGNORECASE,
)
_RUNNER_CONFIGURATION = re.compile(
    r"(vitest|jest|karma|playwright|cypress|vite|rollup|webpack|babel|eslint|prettier|tsup|build|ava|wdio)\.config\..*"
    r"|tsconfig(\..*)?\.json|tox\.ini|pytest\.ini|mypy\.ini|\.(eslint|babel|prettier|mocha|stylelint)rc(\..*)?"
)


class PathRules:
    """The rules with a repository's globs; each path is decided once."""

    def __init__(self, globs: Globs | None = None) -> None:
        chosen = globs or Globs()
        self._globs = tuple(
            (side, tuple(re.compile(glob_pattern(glob)) for glob in patterns))
            for side, patterns in (
                (Side.GRADED, chosen.graded),
                (Side.SUPPORT, chosen.support),
                (Side.REST, chosen.rest),
            )
            if patterns
        )
        self._decided: dict[bytes, Decision] = {}

    def decide(self, path: bytes) -> Decision:
        """Return where a path belongs and by which rule."""
        decision = self._decided.get(path)
        if decision is None:
            decision = self._decided[path] = self._decide(path.decode("utf-8", "surrogateescape"))
        return decision

    def _decide(self, path: str) -> Decision:
        for side, patterns in self._globs:
            if any(pattern.fullmatch(path) for pattern in patterns):
                return Decision(side, "repository-glob", source=side is Side.REST)
        folders = path.split("/")
        name = folders.pop()
        return _test_decision(folders, name) or _rest_decision(folders, name)


def _test_decision(folders: Sequence[str], name: str) -> Decision | None:
    folder = _test_folder(folders, name)
    for rule, pattern in _SUPPORT_NAMES:
        if pattern.fullmatch(name):
            return Decision(Side.SUPPORT, rule)
    for rule, pattern in _GRADED_NAMES:
        if pattern.fullmatch(name) and not _is_data(folders):
            return Decision(Side.GRADED, rule)
    if folder is None:
        named = re.fullmatch(rf"tests?\.{_JS}", name) and (_is_project_root(folders) or _is_unit_of_source(folders))
        return Decision(Side.GRADED, "javascript-test-name") if named else None
    below = folders[folder + 1 :]
    rule = f"{folders[folder]}/"
    return Decision(Side.GRADED if _collected_below(folders[folder], below, name) else Side.SUPPORT, rule)


def _is_unit_of_source(folders: Sequence[str]) -> bool:
    """Say whether a folder holds one unit of a project's sources with its test beside it (``src/add/test.ts``)."""
    below = folders[folders.index("src") + 1 :] if "src" in folders else ()
    return bool(below) and below[-1].lower() not in _FOLDERS_OF_KINDS


def _test_folder(folders: Sequence[str], name: str) -> int | None:
    """Return the position of the folder that makes a path a test's, the outermost one."""
    documents = _starts_in(folders, _DOCUMENT_FOLDERS)
    for position, folder in enumerate(folders):
        low = folder.lower()
        if low in _TEST_FOLDERS or _TEST_FOLDER.fullmatch(low):
            return position
        if documents:
            continue
        # ``numpy/testing`` and ``@angular/core/testing`` are shipped; a project's own ``testing`` is at its top.
        if low == "testing" and position == 0:
            return position
        if low == "spec" and _is_project_root(folders[:position]) and _is_spec_file(folders[position + 1 :], name):
            return position
    return None


def _is_spec_file(below: Sequence[str], name: str) -> bool:
    return _SPEC_CODE.fullmatch(name) is not None or any(folder in _HELPER_FOLDERS for folder in below)


def _is_data(folders: Sequence[str]) -> bool:
    """Say whether a path is a fixture: below a test folder, a file in ``fixtures`` only looks like a test."""
    lows = [folder.lower() for folder in folders]
    for position, low in enumerate(lows):
        if low == "testdata" or low.strip("_") in {"fixtures", "mocks", "snapshots"}:
            return low == "testdata" or any(above in _TEST_FOLDERS for above in (*lows[:position], low))
    return False


def _collected_below(folder: str, below: Sequence[str], name: str) -> bool:
    """Say whether a runner collects a file of a test folder although its name is not a test's."""
    if any(part.lower() in _HELPER_FOLDERS for part in below):
        return False
    stem, _, suffix = name.rpartition(".")
    if stem == "index" and not below and re.fullmatch(_JS, suffix):
        # What ``node test`` runs: the whole suite of many a small package. Whether it is one, its text says.
        return folder.lower() in {"test", "tests"}
    if re.fullmatch(_JS, suffix):
        return folder.lower() in {"test", "tests", "__tests__", "spec"} and not (
            _HELPER_STEM.fullmatch(stem) or stem.endswith(".d") or _RUNNER_CONFIGURATION.fullmatch(name)
        )
    if suffix == "rs":
        # Cargo compiles ``tests/api.rs`` and ``tests/api/main.rs``; beside the latter lie the modules of one program.
        return folder == "tests" and len(below) < 2 and (not below or name != "mod.rs")
    return name in {"tests.py", "test.py", "runtests.jl"}


def _rest_decision(folders: Sequence[str], name: str) -> Decision:
    rule = _rest_rule(folders, name)
    return Decision(Side.REST, rule, source=rule == "source")


def _rest_rule(folders: Sequence[str], name: str) -> str:  # noqa: PLR0911 - one line for each kind reads best
    if _LOCK_NAME.fullmatch(name):
        return LOCK_FILE
    if _MANIFEST_NAME.fullmatch(name) or (folders[:1] == ["requirements"] and name.endswith((".txt", ".in"))):
        return "manifest"
    if _starts_in(folders, _DOCUMENT_FOLDERS) or _DOCUMENT_NAME.fullmatch(name):
        return "documentation"
    if folders and (folders[0].startswith(".") or folders[0] in _CI_FOLDERS):
        return "configuration"
    if _starts_in(folders, _EXAMPLE_FOLDERS):
        return "example"
    if _starts_in(folders, _SCRIPT_FOLDERS):
        return "script"
    if any(_BENCHMARK_FOLDER.fullmatch(folder.lower()) for folder in _project_folder(folders)):
        return "benchmark"
    if _RUNNER_CONFIGURATION.fullmatch(name) or name in {".gitignore", ".gitattributes", ".gitmodules"}:
        return "configuration"
    if _is_project_root(folders) and _CONFIGURATION_NAME.fullmatch(name):
        return "configuration"
    return "source"


def _is_project_root(folders: Sequence[str]) -> bool:
    return not folders or (len(folders) == 2 and folders[0] in _WORKSPACE_FOLDERS)


def _project_folder(folders: Sequence[str]) -> Sequence[str]:
    """Return the first folder below the repository's root and below a workspace project's root."""
    nested = folders[2:3] if folders[:1] and folders[0] in _WORKSPACE_FOLDERS else []
    return [*folders[:1], *nested]


def _starts_in(folders: Sequence[str], names: frozenset[str]) -> bool:
    return any(folder.lower() in names for folder in _project_folder(folders))


def glob_pattern(glob: str) -> str:
    wild = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    pieces = [wild.get(piece, re.escape(piece)) for piece in re.split(r"(\*\*/|\*\*|\*|\?)", glob)]
    # A folder's name stands for all that lies in it.
    return "(?s:" + "".join(pieces) + (".*" if glob.endswith("/") else "") + ")"
