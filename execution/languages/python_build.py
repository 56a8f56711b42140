"""From a recipe to an installed Python environment, and to the commands by which a stranger makes the same one.

Resolved by date and installed by uv; the project itself is installed by pip with the very command that the record
holds. Everything happens inside the sandbox; what the resolver wrote is read from outside with care, since strangers'
build
scripts run in the same folder.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import uv
from packaging.version import Version

from casewright.errors import InfrastructureError, InvalidInputError
from execution.languages.base import Builder, BuildStep, Refusal
from execution.languages.python_failure import failure
from execution.languages.python_interpreters import FIRST_RELEASES
from execution.languages.python_lock import Locked, hashed_list, merge, read_pylock
from execution.languages.python_requirements import Needs, distribution_names
from execution.recipe import Environment, Recipe, Runtime
from execution.sandbox import CACHE_DIR, ENVIRONMENT_DIR, RUNTIME_DIR, TREE_DIR, Mount, SandboxOutcome

UV = "/opt/casewright-tools/uv"
INPUTS = "/opt/casewright-inputs"
WORK = f"{ENVIRONMENT_DIR}/.casewright"
PYTHON = f"{ENVIRONMENT_DIR}/bin/python"
RUNNER_MARK = "casewright-runner="
ASKED_MARK = "casewright-asked="
# Run inside by the environment's interpreter, in the project's folder, as PEP 517 prescribes.
_ASK_BACKEND = f"""
import functools, importlib, json, sys
name, *paths = sys.argv[1:]
sys.path[:1] = paths
module, _, attribute = name.partition(":")
backend = functools.reduce(getattr, filter(None, attribute.split(".")), importlib.import_module(module))
ask = getattr(backend, "get_requires_for_build_editable", None) or getattr(backend, "get_requires_for_build_wheel",
list)
print("\\n{ASKED_MARK}" + json.dumps(list(ask())))
"""

# The first day on which every usual back-end could install a project in place (PEP 660).
EDITABLE_SINCE = datetime(2022, 10, 1, tzinfo=UTC)
# A back-end that knows an interpreter comes out around its first release.
BACKEND_AFTER_RELEASE = timedelta(days=45)
OLDEST_PIP = Version("21.3")
_BUILD_TOOLS = (
    "setuptools", "wheel", "hatchling", "hatch-vcs", "editables", "pathspec", "trove-classifiers", "flit-core", "flit",
    "poetry-core", "pdm-backend", "pdm-pep517", "setuptools-scm", "meson-python", "scikit-build-core", "maturin", "pip",
)  # fmt: skip
# Distributions whose old releases were published anew at a later day: to a date before it they do not exist, and the
# resolver would go back to what never needed them (pytest 3 instead of 5).
_REPUBLISHED = {"atomicwrites": datetime(2022, 7, 9, tzinfo=UTC)}


class _StepRefusedError(Exception):
    """A step failed for a reason of the tree's own; carries the refusal. Never leaves this module."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.detail)
        self.refusal = refusal


@dataclass(frozen=True, kw_only=True, slots=True)
class _Work:
    """A build in progress: the recipe with its settings read, and where to run."""

    recipe: Recipe
    builder: Builder
    needs: Needs
    variables: Mapping[str, str]
    notes: list[str] = field(default_factory=list)

    def run(
        self, step: str, command: str, *, network: bool = False, env: Mapping[str, str] | None = None
    ) -> SandboxOutcome:
        """Run a step; raises ``_StepRefusedError`` or ``InfrastructureError`` when it does not end with 0."""
        outcome = self.attempt(command, network=network, env=env)
        if outcome.exit_code != 0:
            raise _StepRefusedError(failure(step, outcome))
        return outcome

    def attempt(self, command: str, *, network: bool, env: Mapping[str, str] | None = None) -> SandboxOutcome:
        """Run a step and return how it ended."""
        mounts = [
            Mount(source=Path(uv.find_uv_bin()), target=UV),
            Mount(source=self.builder.folder / "inputs", target=INPUTS),
            *runtime_mounts(self.recipe.runtime),
        ]
        environment = {**_clean_env(), **self.variables, **(env or {})}
        return self.builder.run(BuildStep(command=command, network=network, env=environment, mounts=tuple(mounts)))

    def give(self, name: str, lines: tuple[str, ...]) -> str:
        """Write an input for the next step and return its path inside."""
        folder = self.builder.folder / "inputs"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return f"{INPUTS}/{name}"


def _clean_env() -> dict[str, str]:
    return {
        "LC_ALL": "C.UTF-8",
        "UV_CACHE_DIR": f"{CACHE_DIR}/uv",
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_NO_PROGRESS": "1",
        "UV_LINK_MODE": "copy",
        "PIP_CACHE_DIR": f"{CACHE_DIR}/pip",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INPUT": "1",
    }


def runtime_mounts(runtime: Runtime) -> tuple[Mount, ...]:
    """Return the interpreter's folder as a mount; one below /usr is inside anyway."""
    if runtime.prefix.is_relative_to("/usr"):
        return ()
    mounts = [Mount(source=runtime.prefix, target=RUNTIME_DIR)]
    if any((runtime.prefix / "lib").glob("libpython3*.so.*")):
        # An interpreter that was built with its library apart looks for it where it was installed, and nowhere else.
        mounts.append(Mount(source=runtime.prefix / "lib", target=str(runtime.prefix / "lib")))
    return tuple(mounts)


def runtime_executable(runtime: Runtime) -> str:
    """Return the interpreter's path inside the sandbox."""
    if runtime.prefix.is_relative_to("/usr"):
        return str(runtime.executable)
    return f"{RUNTIME_DIR}/bin/{runtime.executable.name}"


def minor_of(runtime: Runtime) -> tuple[int, int]:
    """Return the minor version as numbers."""
    release = Version(runtime.version).release
    return release[0], release[1]


def build(recipe: Recipe, builder: Builder) -> Environment | Refusal:
    """Build the environment of a recipe; a refusal is the tree's own fault.

    Raises ``InfrastructureError`` when the network, the index or the disk failed, and ``SandboxUnavailableError``.
    """
    work = _Work(
        recipe=recipe,
        builder=builder,
        needs=Needs.from_text(recipe.setting("needs")),
        variables=json.loads(recipe.setting("variables", "{}")),
    )
    work.give("none.in", ())
    try:
        work.run("make the virtual environment", f"{runtime_executable(recipe.runtime)} -m venv {ENVIRONMENT_DIR}")
        work.run("make the working folder", f"mkdir -p {WORK}")
        locked = _resolve(work)
        isolated = _install(work, locked)
        asked = _asked_by_backend(work, locked)
        if asked:
            locked = _resolve(work, asked)
            isolated = _install(work, locked)
        _install_project(work)
        runner = _check_runner(work)
    except _StepRefusedError as refused:
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


def _resolve(work: _Work, asked: tuple[str, ...] = ()) -> tuple[Locked, ...]:
    """Resolve to exact versions with hashes; once more, with build tools, if something has to be built."""
    build_lines = (*work.needs.build, *_newer_pip(work), *asked)
    locked = _resolve_once(work, build_lines)
    if any(not one.built for one in locked) and not {"setuptools", "wheel"} <= {one.name for one in locked}:
        locked = _resolve_once(work, (*build_lines, "setuptools", "wheel"))
    return locked


def _newer_pip(work: _Work) -> tuple[str, ...]:
    """An interpreter of old brings a pip that can't install in place; then the list holds a newer one."""
    printed = work.run("ask pip for its version", f"{PYTHON} -m pip --version").output.decode("utf-8", "replace")
    found = re.search(r"\bpip (\d+(?:\.\d+)*)", printed)
    if found and Version(found.group(1)) < OLDEST_PIP:
        return (f"pip>={OLDEST_PIP}",)
    return ()


def _resolve_once(work: _Work, build_lines: tuple[str, ...]) -> tuple[Locked, ...]:
    needs = work.needs
    if needs.lock:
        exported = _export(work)
        pinned = _compile(work, "locked", [work.give("locked.in", exported)], dated=False, options=("--no-deps",))
        loose = work.give("loose.in", (*needs.lines, *build_lines))
        constraint = work.give("constraints.in", tuple(one.pin for one in pinned))
        rest = _compile(work, "loose", [loose, *_tree_files(needs)], dated=True, options=("-c", constraint))
        return merge(pinned, rest)
    loose = work.give("loose.in", (*needs.lines, *build_lines))
    sources = [loose, *_tree_files(needs)]
    if needs.manifest:
        sources.append(f"{TREE_DIR}/{needs.manifest}")
    options = tuple(word for extra in needs.extras for word in ("--extra", extra))
    if not needs.constraints:
        return _compile(work, "loose", sources, dated=True, options=options)
    constraint = work.give("constraints.in", needs.constraints)
    try:
        return _compile(work, "loose", sources, dated=True, options=(*options, "-c", constraint))
    except _StepRefusedError:
        work.notes.append("the lock file does not serve this interpreter; the versions are those of the date")
        return _compile(work, "loose", sources, dated=True, options=options)


def _tree_files(needs: Needs) -> list[str]:
    return [f"{TREE_DIR}/{path}" for path in needs.files]


def _export(work: _Work) -> tuple[str, ...]:
    """Return what uv.lock holds for the chosen groups as plain pins with markers."""
    folder = shlex.quote(str(Path(TREE_DIR) / work.recipe.directory))
    words = [
        UV,
        "export",
        "--frozen",
        "--no-header",
        "--no-annotate",
        "--no-hashes",
        "--no-emit-local",
        "--no-default-groups",
    ]
    words += [word for group in work.needs.groups for word in ("--group", shlex.quote(group))]
    words += [word for extra in work.needs.extras for word in ("--extra", shlex.quote(extra))]
    words += ["--python", PYTHON, "--directory", folder, "-q", "-o", f"{WORK}/exported.txt"]
    work.run("export uv.lock", " ".join(words))
    text = _read_written(work, "exported.txt")
    return tuple(line for line in text.splitlines() if line.strip() and not line.startswith(("#", "-e", ".", "/")))


def _compile(
    work: _Work, name: str, sources: list[str], *, dated: bool, options: tuple[str, ...] = ()
) -> tuple[Locked, ...]:
    """Resolve requirement files to distributions with hashes."""
    words = [UV, "pip", "compile", "--no-config", "--no-sources", "-q", "--format", "pylock.toml", "--python", PYTHON]
    words += ["-o", f"{WORK}/pylock.{name}.toml", *options]
    words += _date_options(work.recipe) if dated else []
    words += [shlex.quote(source) for source in sources]
    # In a folder of its own: neither the tree's configuration of uv nor an older answer steers the resolution.
    command = f"cd {WORK} && rm -f pylock.{name}.toml && {' '.join(words)}"
    work.run("resolve the dependencies", command, network=True)
    locked, elsewhere = read_pylock(_read_written(work, f"pylock.{name}.toml"), minor_of(work.recipe.runtime))
    if elsewhere:
        work.notes.append(f"left out, since no index holds them: {', '.join(elsewhere)}")
    return locked


def _date_options(recipe: Recipe) -> list[str]:
    """Return the options that pin the index to the date; build tools get the later of it and what they need to work."""
    date = datetime.fromtimestamp(recipe.date, tz=UTC)
    released = FIRST_RELEASES.get(minor_of(recipe.runtime))
    tools_date = max(date, EDITABLE_SINCE, released + BACKEND_AFTER_RELEASE if released else date)
    words = ["--exclude-newer", _stamp(date)]
    if tools_date > date:
        words += [word for tool in _BUILD_TOOLS for word in ("--exclude-newer-package", f"{tool}={_stamp(tools_date)}")]
    for name, republished in _REPUBLISHED.items():
        if republished > date:
            words += ["--exclude-newer-package", f"{name}={_stamp(republished)}"]
    return words


def _stamp(date: datetime) -> str:
    return date.strftime("%Y-%m-%dT%H:%M:%SZ")


def _install(work: _Work, locked: tuple[Locked, ...]) -> bool:
    """Install the list; what has no wheel comes second, built with the tools of the list.

    Returns whether that second part had to be built in isolation, with build tools that nothing pins.
    """
    install = f"{UV} pip install --no-config -q --python {PYTHON} --link-mode copy --require-hashes --no-deps"
    built = work.give("requirements.txt", (hashed_list(one for one in locked if one.built),))
    if any(one.built for one in locked):
        work.run("install the dependencies", f"{install} -r {built}", network=True)
    if all(one.built for one in locked):
        return False
    sources = work.give("source-requirements.txt", (hashed_list(one for one in locked if not one.built),))
    outcome = work.attempt(f"{install} --no-build-isolation -r {sources}", network=True)
    if outcome.exit_code == 0:
        return False
    dates = " ".join(_date_options(work.recipe))
    work.run("build dependencies from source", f"{install} {dates} -r {sources}", network=True)
    work.notes.append("some dependencies are built from source with build tools that the list does not hold")
    return True


def _install_project(work: _Work) -> None:
    if not work.needs.install:
        return
    work.run(
        "install the project",
        f"{PYTHON} -m pip install -q --no-index --no-deps --no-build-isolation -e {_project(work.recipe)}",
    )


def _asked_by_backend(work: _Work, locked: tuple[Locked, ...]) -> tuple[str, ...]:
    """Return what the build back-end asks for besides the list; it is asked because nothing else writes it down."""
    needs = work.needs
    if not needs.backend:
        return ()
    script = work.give("asked.py", (_ASK_BACKEND,))
    folder = shlex.quote(str(Path(TREE_DIR) / work.recipe.directory))
    words = [PYTHON, script, shlex.quote(needs.backend), *(shlex.quote(path) for path in needs.backend_path)]
    outcome = work.attempt(f"cd {folder} && {' '.join(words)}", network=False)
    found = re.search(rf"^{ASKED_MARK}(.+)$", outcome.output.decode("utf-8", "replace"), re.MULTILINE)
    if outcome.exit_code != 0 or not found:
        # The installation that follows fails for the same reason and says it better.
        return ()
    here = {one.name for one in locked}
    lines = tuple(str(line) for line in json.loads(found.group(1)))
    return lines if distribution_names(lines) - here else ()


def _project(recipe: Recipe) -> str:
    return "." if recipe.directory == "." else shlex.quote(f"./{recipe.directory}")


def _check_runner(work: _Work) -> str:
    """Return the runner's version as it is installed; a refusal when it can't be imported."""
    if work.recipe.runner != "pytest":
        return work.recipe.runtime.version
    script = f"import pytest; print('{RUNNER_MARK}' + pytest.__version__)"
    outcome = work.attempt(f"cd {WORK} && {PYTHON} -I -c {shlex.quote(script)}", network=False)
    found = re.search(rf"^{RUNNER_MARK}(\S+)$", outcome.output.decode("utf-8", "replace"), re.MULTILINE)
    if outcome.exit_code != 0 or not found:
        raise _StepRefusedError(
            Refusal(
                code="runner-missing", detail=failure("import pytest", outcome).detail.removeprefix("import pytest: ")
            )
        )
    return found.group(1)


def _read_written(work: _Work, name: str) -> str:
    """Read what a step wrote in the working folder; a link that a build script left there is not followed."""
    folder = work.builder.folder / "env" / ".casewright"
    path = folder / name
    if folder.is_symlink() or path.is_symlink() or not path.is_file():
        raise InvalidInputError(
            f"the step left no file {name}", "run again; if it stays so, the build scripts interfere"
        )
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InfrastructureError(f"{name} can't be read: {error}", "look at the cache folder") from error


def setup_commands(
    recipe: Recipe, needs: Needs, variables: Mapping[str, str], locked: tuple[Locked, ...], *, isolated: bool
) -> tuple[str, ...]:
    """Return what a stranger runs by ``sh`` at a plain clone's root, with nothing but the interpreter and its pip."""
    major, minor = minor_of(recipe.runtime)
    commands = [f"python{major}.{minor} -m venv ../env"]
    for name, built in (("requirements.txt", True), ("source-requirements.txt", False)):
        text = hashed_list(one for one in locked if one.built is built)
        if not text:
            continue
        commands.append(f"cat > ../{name} <<'EOF'\n{text}EOF")
        isolation = "" if built or isolated else "--no-build-isolation "
        commands.append(f"../env/bin/python -m pip install --require-hashes --no-deps {isolation}-r ../{name}")
    if needs.install:
        stated = "".join(f"{name}={shlex.quote(value)} " for name, value in sorted(variables.items()))
        commands.append(
            f"{stated}../env/bin/python -m pip install --no-index --no-deps --no-build-isolation -e {_project(recipe)}"
        )
    return tuple(commands)
