"""What an environment made by commands of the user's own depends on, as far as files tell. Pure.

The commands themselves, the manifests and lock files at the tree's root, and the files that the commands name.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Mapping
from typing import Final

from execution.languages.base import TreeReader

COMMANDS: Final = "commands"
_MANIFEST: Final = re.compile(
    r"package\.json|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|pnpm-workspace\.yaml|deno\.jsonc?"
    r"|pyproject\.toml|setup\.(?:py|cfg)|Pipfile|.*requirements.*\.(?:txt|in)|constraints.*\.txt|pylock.*\.toml"
    r"|environment\.ya?ml|go\.(?:mod|sum|work)|go\.work\.sum|Cargo\.toml|rust-toolchain(?:\.toml)?|Gemfile|.+\.gemspec"
    r"|composer\.json|mix\.exs|rebar\.config|pom\.xml|(?:build|settings)\.gradle(?:\.kts)?|gradle\.properties"
    r"|CMakeLists\.txt|conanfile\.(?:txt|py)|vcpkg\.json|meson\.build|configure\.ac|(?:GNU)?[Mm]akefile"
    r"|Package\.(?:swift|resolved)|pubspec\.yaml|.+\.cabal|stack\.yaml|cabal\.project|dune-project|.+\.opam|.+\.nimble"
    r"|project\.clj|deps\.edn|build\.sbt|.+\.(?:csproj|fsproj|sln|rockspec)|cpanfile|Makefile\.PL|DESCRIPTION"
    r"|\.tool-versions|.+\.lockb?"
)


def inputs(tree: TreeReader, commands: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return (name, digest) pairs, sorted; none without commands, since then nothing is made.

    A word of a command that is the path of a file counts: a script that sets up is part of what it makes.
    """
    if not commands:
        return ()
    named = {word.removeprefix("./") for command in commands for word in _words(command)}
    found = []
    for raw in tree.paths:
        path = raw.decode("utf-8", "surrogateescape")
        if path in named or ("/" not in path and _MANIFEST.fullmatch(path)):
            found.append((path, hashlib.sha256(tree.read(raw) or b"").hexdigest()))
    return tuple(sorted((*found, (COMMANDS, hashlib.sha256("\n".join(commands).encode()).hexdigest()))))


def borrowed_files(head: tuple[tuple[str, str], ...], base: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    """Return the files that set-up finds differently at the base: path to ``changed``, ``added`` or ``removed``."""
    there, before = dict(head), dict(base)
    return {
        path: "added" if path not in before else "removed" if path not in there else "changed"
        for path in sorted({*there, *before} - {COMMANDS})
        if there.get(path) != before.get(path)
    }


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()
