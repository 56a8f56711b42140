"""The commands by which a Python environment would be built, written so that a person can type them. Pure.

They are foreseen: a build asks the package index and the build back-end in between, and what it then records
(``Environment.setup``) holds exact versions with hashes instead of the resolver's command.
"""

from __future__ import annotations

import json
import shlex

from execution.languages.python_backends import preparations
from execution.languages.python_requirements import Needs
from execution.languages.python_resolution import date_options
from execution.languages.python_steps import ACTIVATED, minor_of
from execution.recipe import Recipe

_PYTHON = "../env/bin/python"


def foreseen(recipe: Recipe) -> tuple[str, ...]:
    """Return the commands, run in order at a plain clone's root; uv is the resolver that casewright brings along."""
    needs = Needs.from_text(recipe.setting("needs"))
    variables: dict[str, str] = json.loads(recipe.setting("variables", "{}"))
    major, minor = minor_of(recipe.runtime)
    bare = "--without-pip " if needs.nothing else ""
    commands = [f"python{major}.{minor} -m venv {bare}../env"]
    if not needs.nothing:
        commands += _resolution(recipe, needs)
        commands.append(f"{_PYTHON} -m pip install --require-hashes --no-deps -r ../requirements.txt")
    commands += [command for _, command in preparations((major, minor), needs.installed, needs.cython)]
    stated = "".join(f"{name}={shlex.quote(value)} " for name, value in sorted(variables.items()))
    for one in needs.installed:
        folder = "." if one.directory == "." else shlex.quote(f"./{one.directory}")
        options = "--no-index --no-deps --no-build-isolation --use-pep517"
        commands.append(f"{stated}{ACTIVATED} {_PYTHON} -m pip install {options} -e {folder}")
    return tuple(commands)


def _resolution(recipe: Recipe, needs: Needs) -> list[str]:
    commands = []
    compile_command = ["uv", "pip", "compile", "--no-config", "--no-sources", "--python", _PYTHON, "--generate-hashes"]
    if needs.lock:
        words = ["uv", "export", "--frozen", "--no-hashes", "--no-emit-local", "--no-default-groups"]
        words += ["--all-packages"] if needs.everything else []
        words += [word for group in needs.groups for word in ("--group", group)]
        words += [word for extra in needs.extras for word in ("--extra", extra)]
        words += [] if recipe.directory == "." else ["--directory", recipe.directory]
        commands.append(f"{shlex.join(words)} -o ../locked.txt")
        compile_command += ["-c", "../locked.txt"]
    elif needs.constraints:
        commands.append(_written("constraints.txt", needs.constraints))
        compile_command += ["-c", "../constraints.txt"]
    lines = (*needs.lines, *needs.build)
    if lines:
        commands.append(_written("needs.in", lines))
    sources = [*(["../locked.txt"] if needs.lock else []), *(["../needs.in"] if lines else []), *needs.manifests]
    if needs.manifests:
        compile_command += [word for extra in needs.extras for word in ("--extra", extra)]
    compile_command += date_options(recipe)
    commands.append(f"{shlex.join((*compile_command, *sources))} -o ../requirements.txt")
    return commands


def _written(name: str, lines: tuple[str, ...]) -> str:
    """Return the command that writes a file; a line that would end it early is no requirement and can't be there."""
    return f"cat > ../{name} <<'EOF'\n" + "".join(line + "\n" for line in lines) + "EOF"
