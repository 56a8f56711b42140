"""From a recipe to an installed Python environment, and to the commands by which a stranger makes the same one.

Resolved by date and installed by uv; the project itself is installed by pip with the very command that the record
holds. Everything happens inside the sandbox.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from execution.languages.base import Builder, Refusal
from execution.languages.python_backends import OLD_POETRY, preparations
from execution.languages.python_failure import failure, missing_tools
from execution.languages.python_lock import Locked, hashed_list
from execution.languages.python_requirements import Needs, distribution_names
from execution.languages.python_resolution import date_options, resolve
from execution.languages.python_steps import (
    ACTIVATED,
    PYTHON,
    UV,
    WORK,
    StepRefusedError,
    Work,
    minor_of,
    runtime_executable,
)
from execution.recipe import Environment, Recipe
from execution.sandbox import ENVIRONMENT_DIR, TREE_DIR

RUNNER_MARK = "casewright-runner="
ASKED_MARK = "casewright-asked="
_PROGRAMS = f'PATH="{ENVIRONMENT_DIR}/bin:$PATH"'
_INSTALL = f"{UV} pip install --no-config -q --python {PYTHON} --link-mode copy --require-hashes --no-deps"
# Run inside by the environment's interpreter, in the project's folder, as PEP 517 prescribes.
_ASK_BACKEND = f"""
import functools, importlib, json, sys
name, *paths = sys.argv[1:]
sys.path[:1] = paths
module, _, attribute = name.partition(":")
backend = functools.reduce(getattr, filter(None, attribute.split(".")), importlib.import_module(module))
ask = getattr(backend, "get_requires_for_build_editable", list)
print("\\n{ASKED_MARK}" + json.dumps(list(ask())))
"""


def build(recipe: Recipe, builder: Builder) -> Environment | Refusal:
    """Build the environment of a recipe; a refusal is the tree's own fault.

    Raises ``InfrastructureError`` when the network, the index or the disk failed, and ``SandboxUnavailableError``.
    """
    work = Work(
        recipe=recipe,
        builder=builder,
        needs=Needs.from_text(recipe.setting("needs")),
        variables=json.loads(recipe.setting("variables", "{}")),
    )
    try:
        make = f"{runtime_executable(recipe.runtime)} -m venv {_bare(work.needs)}{ENVIRONMENT_DIR}"
        work.run("make the virtual environment", make)
        work.run("make the working folder", f"mkdir -p {WORK}")
        locked, isolated = _resolve_and_install(work)
        for step, command in preparations(
            minor_of(work.recipe.runtime), work.needs.installed, work.needs.cython, ENVIRONMENT_DIR
        ):
            work.run(step, f"cd {TREE_DIR} && {command}")
        _install_projects(work)
        runner = _check_runner(work)
    except StepRefusedError as refused:
        return refused.refusal
    # Ahead of the runs, which see the environment read-only; a template of another Python's syntax is no failure.
    work.attempt(f"{PYTHON} -m compileall -q {ENVIRONMENT_DIR}/lib >/dev/null; rm -rf {WORK}", network=False)
    return Environment(
        folder=builder.folder,
        era=recipe.era(),
        runtime=recipe.runtime,
        setup=setup_commands(work.recipe, work.needs, work.variables, locked, isolated=isolated),
        dependencies=tuple(one.pin for one in locked),
        runner_version=runner,
        notes=tuple(work.notes),
    )


def _bare(needs: Needs) -> str:
    """Return the option that leaves pip out where it has nothing to install: it takes longer than such tests do."""
    return "--without-pip " if needs.nothing else ""


def _resolve_and_install(work: Work) -> tuple[tuple[Locked, ...], bool]:
    """Resolve and install, again whenever a build asks for a tool that nothing names; return what was installed.

    The second value says whether a part had to be built in isolation, with build tools that nothing pins.
    """
    asked: tuple[str, ...] = ()
    while True:
        locked = resolve(work, asked)
        have = {one.name for one in locked} | distribution_names(asked)
        missing = _install(work, locked)
        if missing is not None and distribution_names(missing) - have:
            asked = (*asked, *missing)
            continue
        isolated = missing is not None
        if isolated:
            _install_isolated(work, locked)
        wanted = _asked_by_backends(work)
        if not distribution_names(wanted) - have:
            return locked, isolated
        asked = (*asked, *wanted)


def _install(work: Work, locked: tuple[Locked, ...]) -> tuple[str, ...] | None:
    """Install the list; what has no wheel comes second, built with the tools of the list.

    Returns None when that worked, else the build tools that a build was seen to miss, if any.
    """
    built = work.give("requirements.txt", (hashed_list(one for one in locked if one.built),))
    if any(one.built for one in locked):
        work.run("install the dependencies", f"{_INSTALL} -r {built}", network=True)
    if all(one.built for one in locked):
        return None
    sources = work.give("source-requirements.txt", (hashed_list(one for one in locked if not one.built),))
    outcome = work.attempt(f"{_PROGRAMS} {_INSTALL} --no-build-isolation -r {sources}", network=True)
    return None if outcome.exit_code == 0 else missing_tools(outcome.output.decode("utf-8", "replace"))


def _install_isolated(work: Work, locked: tuple[Locked, ...]) -> None:
    """Build what has no wheel with build tools of its own: of the date on which they can do all, else of the commit's.

    A source of old may need a setuptools of old (``use_2to3``).
    """
    sources = work.give("source-requirements.txt", (hashed_list(one for one in locked if not one.built),))
    options = date_options(work.recipe)
    outcome = work.attempt(f"{_INSTALL} {' '.join(options)} -r {sources}", network=True)
    if outcome.exit_code != 0:
        plain = work.attempt(f"{_INSTALL} {' '.join(options[:2])} -r {sources}", network=True)
        if plain.exit_code != 0:
            raise StepRefusedError(failure("build dependencies from source", outcome))
    note = "some dependencies are built from source with build tools that the list does not hold"
    if note not in work.notes:
        work.notes.append(note)


def _install_projects(work: Work) -> None:
    for one in work.needs.installed:
        about = "" if one.directory == work.recipe.directory else f" in {one.directory}"
        work.run(f"install the project{about}", f"{_PROGRAMS} {PYTHON} -m pip install -q {_in_place(one.directory)}")


def _asked_by_backends(work: Work) -> tuple[str, ...]:
    """Return what the build back-ends ask for besides the list; they are asked because nothing else writes it down."""
    script = work.give("asked.py", (_ASK_BACKEND,))
    lines: list[str] = []
    for one in work.needs.installed:
        if not one.backend or one.backend == OLD_POETRY:
            continue
        folder = shlex.quote(str(Path(TREE_DIR) / one.directory))
        words = [PYTHON, script, shlex.quote(one.backend), *(shlex.quote(path) for path in one.backend_path)]
        outcome = work.attempt(f"cd {folder} && {_PROGRAMS} {' '.join(words)}", network=False)
        found = re.search(rf"^{ASKED_MARK}(.+)$", outcome.output.decode("utf-8", "replace"), re.MULTILINE)
        # Where it can't answer, the installation that follows fails for the same reason and says it better.
        if outcome.exit_code == 0 and found:
            lines += [str(line) for line in json.loads(found.group(1))]
    return tuple(dict.fromkeys(lines))


def _in_place(directory: str) -> str:
    """Return the arguments by which pip installs a project in place, from nothing but what is there.

    pip would install a project without a pyproject.toml in its old way, which leaves the metadata in the tree, and each
    run has a tree of its own.
    """
    folder = "." if directory == "." else shlex.quote(f"./{directory}")
    return f"--no-index --no-deps --no-build-isolation --use-pep517 -e {folder}"


def _check_runner(work: Work) -> str:
    """Return the runner's version as it is installed; a refusal when it can't be imported."""
    if work.recipe.runner != "pytest":
        return work.recipe.runtime.version
    script = f"import pytest; print('{RUNNER_MARK}' + pytest.__version__)"
    outcome = work.attempt(f"cd {WORK} && {PYTHON} -I -c {shlex.quote(script)}", network=False)
    found = re.search(rf"^{RUNNER_MARK}(\S+)$", outcome.output.decode("utf-8", "replace"), re.MULTILINE)
    if outcome.exit_code != 0 or not found:
        raise StepRefusedError(
            Refusal(
                code="runner-missing", detail=failure("import pytest", outcome).detail.removeprefix("import pytest: ")
            )
        )
    return found.group(1)


def setup_commands(
    recipe: Recipe, needs: Needs, variables: Mapping[str, str], locked: tuple[Locked, ...], *, isolated: bool
) -> tuple[str, ...]:
    """Return what a stranger runs by ``sh`` at a plain clone's root, with nothing but the interpreter and its pip."""
    major, minor = minor_of(recipe.runtime)
    commands = [f"python{major}.{minor} -m venv {_bare(needs)}../env"]
    for name, built in (("requirements.txt", True), ("source-requirements.txt", False)):
        text = hashed_list(one for one in locked if one.built is built)
        if not text:
            continue
        commands.append(f"cat > ../{name} <<'EOF'\n{text}EOF")
        before, isolation = ("", "") if built or isolated else (f"{ACTIVATED} ", "--no-build-isolation ")
        commands.append(f"{before}../env/bin/python -m pip install --require-hashes --no-deps {isolation}-r ../{name}")
    commands += [command for _step, command in preparations((major, minor), needs.installed, needs.cython)]
    stated = "".join(f"{name}={shlex.quote(value)} " for name, value in sorted(variables.items()))
    install = f"{stated}{ACTIVATED} ../env/bin/python -m pip install"
    commands += [f"{install} {_in_place(one.directory)}" for one in needs.installed]
    return tuple(commands)
