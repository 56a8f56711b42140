"""A build of a Python environment in progress: how its steps run inside, and how their answers come back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import uv
from packaging.version import Version

from casewright.errors import InfrastructureError
from execution.languages.base import Builder, BuildStep, Refusal
from execution.languages.python_failure import failure
from execution.languages.python_requirements import Needs
from execution.recipe import Recipe, Runtime
from execution.sandbox import CACHE_DIR, ENVIRONMENT_DIR, RUNTIME_DIR, Mount, SandboxOutcome

UV = "/opt/casewright-tools/uv"
INPUTS = "/opt/casewright-inputs"
WORK = f"{ENVIRONMENT_DIR}/.casewright"
PYTHON = f"{ENVIRONMENT_DIR}/bin/python"
# Build tools call each other by name (meson, ninja, cython, uv-build), which an activated environment would allow.
ACTIVATED = 'PATH="$PWD/../env/bin:$PATH"'


class StepRefusedError(Exception):
    """A step failed for a reason of the tree's own; carries the refusal. Never leaves ``python_build.build``."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.detail)
        self.refusal = refusal


def refused(detail: str) -> StepRefusedError:
    """Return the refusal of an answer that a build script has spoiled."""
    return StepRefusedError(Refusal(code="environment-failed", detail=detail))


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """A build in progress: the recipe with its settings read, and where to run."""

    recipe: Recipe
    builder: Builder
    needs: Needs
    variables: Mapping[str, str]
    notes: list[str] = field(default_factory=list)

    def run(
        self, step: str, command: str, *, network: bool = False, env: Mapping[str, str] | None = None
    ) -> SandboxOutcome:
        """Run a step; raises ``StepRefusedError`` or ``InfrastructureError`` when it does not end with 0."""
        outcome = self.attempt(command, network=network, env=env)
        if outcome.exit_code != 0:
            raise StepRefusedError(failure(step, outcome))
        return outcome

    def attempt(self, command: str, *, network: bool, env: Mapping[str, str] | None = None) -> SandboxOutcome:
        """Run a step and return how it ended."""
        (self.builder.folder / "inputs").mkdir(exist_ok=True)
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
    if (runtime.prefix / "include").is_dir():
        # Whatever compiles an extension is told to look for the headers where the interpreter was installed.
        mounts.append(Mount(source=runtime.prefix / "include", target=str(runtime.prefix / "include")))
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


def read_written(work: Work, name: str) -> str:
    """Read what a step wrote in the working folder; a link that a build script left there is not followed."""
    folder = work.builder.folder / "env" / ".casewright"
    path = folder / name
    if folder.is_symlink() or path.is_symlink() or not path.is_file():
        raise refused(f"the resolver's answer {name} is not where it was written")
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InfrastructureError(f"{name} can't be read: {error}", "look at the cache folder") from error
