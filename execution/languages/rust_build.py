"""Fetching what a Rust tree depends on, and compiling it ahead, so that a run compiles the tree's own packages only."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final

from casewright.errors import InfrastructureError
from execution.languages.base import Builder, BuildStep, Refusal
from execution.languages.rust_check import HOME_FOLDER, LINTS, exported, target_arguments
from execution.languages.rust_lock import LOCK, Locked, read_lock
from execution.languages.rust_package import join
from execution.languages.rust_toolchain import runtime_env, runtime_mounts
from execution.languages.system_packages import SystemNeed, package_of
from execution.recipe import Environment, Recipe
from execution.sandbox import Ended, SandboxOutcome

TRACKED: Final = "tracked"
MADE: Final = "made"
_FETCH: Final = "cargo fetch --locked"
# A lock file that names an older version of the tree's own packages is common; what it says of others is kept.
_FETCH_LOOSE: Final = "cargo fetch"
_FETCH_SECONDS: Final = 900
_COMPILE_SECONDS: Final = 1800
_ELSEWHERE: Final = "../head"

_STALE: Final = re.compile(rb"(?:needs to be updated but|because) --locked was passed")
_NETWORK: Final = re.compile(
    rb"[Cc]ould(?:n't| not) resolve host|failed to (?:download|fetch|query replaced source|update registry)"
    rb"|network failure|spurious network error|failed to get `?[^\n]*` as a dependency[^\x00]*(?:timed out|\[\d+\])"
    rb"|download of config\.json failed|No space left on device"
)
# Its group is what is lacking, where the log names it.
_SYSTEM_PACKAGE: Final = re.compile(
    rb"The system library `(\S+)` required by crate|linker `(\S+)` not found|fatal error: (\S+\.h): No such file"
    rb"|ld: cannot find -l([^\s:]+)|is `(cmake)` not installed|Unable to find lib(clang)"
    rb"|pkg-config (?:exited|has not been)"
)
_RUNTIME: Final = re.compile(
    rb"requires rustc \d|rustc \S+ is not supported by|feature `\S+` is required|may not be used on the stable release"
)
_TELLING: Final = re.compile(rb"^\s*(?:error|fatal)|not found|No such file", re.IGNORECASE)
_WANTS_RUSTC: Final = re.compile(rb"requires rustc (\d+(?:\.\d+)*)")
_CRATE: Final = re.compile(
    rb"package `(\S+) v?\d[^`]*` cannot be built|build command for `(\S+) v|required by crate `([^`]+)`"
    rb"|could not compile `([^`]+)`|failed to select a version for(?: the requirement)? `(\S+?)[` ]"
)
# Cargo gives each cause on the line below these words, the nearest to the root last.
_CAUSE: Final = b"Caused by:"


def build_environment(recipe: Recipe, builder: Builder) -> Environment | Refusal:
    """Fetch and compile what the recipe says; without dependencies there is nothing to do.

    Raises ``InfrastructureError`` when the network, the registry or the disk failed.
    """
    setup: tuple[str, ...] = ()
    locked: frozenset[Locked] = frozenset()
    notes = list(recipe.why)
    lock = builder.tree / join(recipe.directory, LOCK)
    if recipe.setting("lock"):
        fetched = _fetch(recipe, builder)
        if isinstance(fetched, Refusal):
            return fetched
        if lock.is_symlink() or not lock.is_file():
            return Refusal(code="environment-failed", detail="cargo left no lock file")
        text = lock.read_bytes()
        locked = read_lock(text) or frozenset()
        setup = (fetched, text.decode("utf-8", "replace")) if recipe.setting("lock") == MADE else (fetched,)
        refusal = _compile(recipe, builder, notes)
        if refusal is not None:
            return refusal
    return Environment(
        folder=builder.folder,
        era=recipe.era(),
        runtime=recipe.runtime,
        setup=setup,
        dependencies=tuple(sorted(f"{package.name}@{package.version}" for package in locked)),
        runner_version=recipe.runtime.version,
        notes=tuple(notes),
    )


def setup_commands(recipe: Recipe, shared: tuple[str, ...]) -> tuple[str, ...]:
    """Return what a stranger runs in a plain clone at the base of one change.

    ``shared`` is how the dependencies were fetched, and the lock file where it is ours. Both states use the head's
    dependencies, so where the base's manifests differ they are fetched from a copy of the head's tree.
    """
    if not shared:
        return ()
    fetch, *ours = shared
    own = join(recipe.directory, LOCK)
    written = [f"printf %s {shlex.quote(text)} > {shlex.quote(own)}" for text in ours]
    if not recipe.setting("differs"):
        return (*written, _fetch_in(recipe.directory, fetch))
    head = str(PurePosixPath(_ELSEWHERE) / recipe.directory)
    return (
        f"git worktree add --quiet --detach {_ELSEWHERE} {recipe.setting('head_commit')}",
        *written,
        *(f"cp {shlex.quote(own)} {shlex.quote(join(head, LOCK))}" for _ in ours),
        _fetch_in(head, fetch),
        f"git worktree remove --force {_ELSEWHERE}",
    )


def failure(step: str, outcome: SandboxOutcome) -> Refusal:
    """Return why a command of a set-up that failed refuses the environment.

    Raises ``InfrastructureError`` when the network, a registry or the disk failed: that says nothing of the change.
    """
    log = outcome.output
    lines = _telling(log)
    told = " | ".join(lines) or "it printed nothing"
    if outcome.ended is not Ended.EXITED:
        detail = f"{step} was ended by {outcome.ended.value}: {told}"
        return Refusal(code="environment-failed", detail=detail, step=step, lines=lines)
    if _NETWORK.search(log):
        raise InfrastructureError(f"{step}: {told}", "look at the network and the registry, then run again")
    refusal = Refusal(
        code="environment-failed",
        detail=f"{step} ended with {outcome.exit_code}: {told}",
        step=step,
        package=_crate(log),
        lines=lines,
    )
    if _RUNTIME.search(log):
        wanted = _WANTS_RUSTC.search(log)
        newer = wanted[1].decode() if wanted else ""
        return replace(
            refusal,
            code="runtime-unavailable",
            remedy=f"install a toolchain that it takes (for example: rustup toolchain install {newer or 'stable'})",
            settings=(("rust", newer),) if newer else (),
        )
    lacking = _SYSTEM_PACKAGE.search(log)
    if lacking is None:
        return refusal
    thing = next((group.decode("utf-8", "replace") for group in lacking.groups() if group), "")
    need = SystemNeed(thing=thing, package=package_of(thing), line="") if thing else None
    package, remedy = (need.package, need.remedy) if need else (refusal.package, "")
    return replace(refusal, code="needs-system-package", package=package, remedy=remedy)


def _crate(log: bytes) -> str:
    """Return the package that a log is about, without its version; empty where it names none."""
    named = _CRATE.search(log)
    return next(group for group in named.groups() if group).decode("utf-8", "replace") if named else ""


def _telling(log: bytes) -> tuple[str, ...]:
    lines = [line.strip()[:200] for line in log.splitlines() if line.strip()]
    causes = [line for before, line in pairwise(lines) if before == _CAUSE]
    errors = [line for line in lines if _TELLING.search(line) and line not in causes]
    telling = [*errors[:2], *causes[-2:]] or lines[-4:]
    return tuple(line.decode("utf-8", "replace") for line in telling)


def _fetch(recipe: Recipe, builder: Builder) -> str | Refusal:
    """Fetch the dependencies into the environment; return the command that did it."""
    if recipe.setting("lock") == MADE:
        # Where the resolver knows how, it takes the newest versions that the package's rust-version allows.
        made = _run(
            recipe, builder, "CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS=fallback cargo generate-lockfile", network=True
        )
        if made.ended is not Ended.EXITED or made.exit_code != 0:
            return failure("cargo generate-lockfile", made)
    outcome = _run(recipe, builder, _FETCH, network=True)
    used = _FETCH
    if outcome.exit_code != 0 and _STALE.search(outcome.output):
        outcome, used = _run(recipe, builder, _FETCH_LOOSE, network=True), _FETCH_LOOSE
    if outcome.ended is not Ended.EXITED or outcome.exit_code != 0:
        return failure(used, outcome)
    return used


def _compile(recipe: Recipe, builder: Builder, notes: list[str]) -> Refusal | None:
    """Compile the graded targets of the head, then drop what was made of the tree's own packages.

    Those must be compiled anew in each state: cargo goes by the times of files, and a tree that was written before they
    were compiled would be taken for compiled. What does not compile here is for the runs to tell; only a system that
    lacks something is told now.
    """
    for arguments, _ in target_arguments(recipe, tuple(shlex.split(recipe.setting("graded")))):
        outcome = _run(recipe, builder, f"cargo test --offline --no-run {LINTS} {shlex.join(arguments)}", network=False)
        if outcome.ended is Ended.EXITED and outcome.exit_code == 0:
            continue
        said = failure(f"compiling {shlex.join(arguments)}", outcome)
        if said.code == "needs-system-package":
            return said
        notes.append(said.detail)
    names = " ".join(f"-p {shlex.quote(name)}" for name in shlex.split(recipe.setting("packages")))
    _run(recipe, builder, f"cargo clean --offline {names} || rm -rf target", network=False)
    return None


def _run(recipe: Recipe, builder: Builder, command: str, *, network: bool) -> SandboxOutcome:
    inside = "" if recipe.directory == "." else f"cd {shlex.quote(recipe.directory)} && "
    return builder.run(
        BuildStep(
            command=f"{inside}{exported(recipe)} && {command}",
            network=network,
            env=runtime_env(recipe.runtime),
            mounts=runtime_mounts(recipe.runtime),
            seconds=_FETCH_SECONDS if network else _COMPILE_SECONDS,
        )
    )


def _fetch_in(folder: str, fetch: str) -> str:
    if folder == ".":
        return f'CARGO_HOME="$PWD/../{HOME_FOLDER}" {fetch}'
    return f'(h="$PWD/../{HOME_FOLDER}" && cd {shlex.quote(folder)} && CARGO_HOME="$h" {fetch})'
