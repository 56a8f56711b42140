"""Rust: ``cargo test`` over integration tests, test modules in files of their own and those inside of source files.

This module is an instance of ``execution.languages.base.Language``. Documentation tests grade nothing: see
``docs/decisions``.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import shlex
from collections import Counter
from collections.abc import Mapping
from typing import Final

from execution.languages import rust_offline
from execution.languages.base import Builder, Check, PlanRequest, Refusal, TreeReader
from execution.languages.rust_build import MADE, TRACKED, build_environment, failure, setup_commands
from execution.languages.rust_check import RUNNER, build_check
from execution.languages.rust_check import recorded_check as check_of_command
from execution.languages.rust_features import feature_arguments
from execution.languages.rust_lock import LOCK, only_in_base, read_lock
from execution.languages.rust_package import (
    Target,
    find_target,
    join,
    needs_registry,
    only_in_bases_manifests,
    package_name,
    packages_around,
    workspace_root,
)
from execution.languages.rust_toolchain import choose_toolchain, find_toolchain, runtime_env
from execution.languages.rust_toolchain import runtime_mounts as toolchain_mounts
from execution.observation import ReportReading
from execution.package_plan import PackagePlan
from execution.recipe import Environment, Recipe, Runtime, Why
from execution.reports import cargo
from execution.sandbox import ENVIRONMENT_DIR, Mount, SandboxOutcome

name: Final = "rust"
_CONFIGURATION: Final = (".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", "rust-toolchain")


def graded_files(candidates: tuple[str, ...], head: TreeReader) -> tuple[str, ...]:
    """Of the changed test files, those that cargo compiles into a target, sorted by bytes."""
    taken = [path for path in candidates if path.endswith(".rs") and find_target(path, head) is not None]
    return tuple(sorted(taken, key=lambda path: path.encode("utf-8", "surrogateescape")))


def plan(request: PlanRequest) -> Recipe | Refusal:
    """Choose the toolchain, the folder and the targets by rules; reads the tree and asks toolchains for versions."""
    targets = {path: target for path in request.graded if (target := find_target(path, request.head)) is not None}
    if not any(target.harness for target in targets.values()):
        return Refusal(
            code="runner-missing",
            detail=f"{', '.join(request.graded[:3])}: `harness = false`, so nothing tells test from test",
            step="choosing a runner",
        )
    roots = Counter(workspace_root(target.manifest, request.head) for target in targets.values())
    root = roots.most_common(1)[0][0]
    first = next(target for target in targets.values() if workspace_root(target.manifest, request.head) == root)
    manifests = packages_around(root, tuple({target.manifest for target in targets.values()}), request.head)
    folders = tuple(dict.fromkeys((first.manifest.rpartition("/")[0] or ".", root, ".")))
    chosen = choose_toolchain(request.head, folders, request.overrides.get("rust", ""))
    if isinstance(chosen, Refusal):
        return chosen
    runtime, why = chosen
    locking = _locking(request, root, manifests)
    if isinstance(locking, Refusal):
        return locking
    lock, about = locking
    reasons = (why, _runner_reason(targets), about)
    inputs = _inputs(request.head, root, manifests)
    settings = {
        "targets": json.dumps(
            {path: _row(path, target, root, request.head) for path, target in targets.items()}, sort_keys=True
        ),
        "graded": shlex.join(request.graded),
        "packages": shlex.join(sorted({package_name(path, request.head) for path in manifests} - {""})),
        "lock": lock,
        "differs": "yes" if lock and inputs != _inputs(request.base, root, manifests) else "",
        "head_commit": request.head_commit,
    }
    return Recipe(
        language=name,
        runtime=runtime,
        runner=RUNNER,
        # A lock file is its own date, and cargo can't ask a registry what it held on a day.
        date=0,
        directory=root,
        inputs=inputs if lock else (),
        settings=tuple((key, value) for key, value in settings.items() if value),
        why=tuple(reason.sentence for reason in reasons),
        reasons=reasons,
    )


def _runner_reason(targets: Mapping[str, Target]) -> Why:
    """Say what is run of the files at hand, and which of them are not compiled into a target with a harness."""
    names = dict.fromkeys(" ".join(target.arguments) for target in targets.values())
    silent = tuple(f"{path}: `harness = false`" for path, target in targets.items() if not target.harness)
    return Why(
        about="runner",
        chosen="cargo test",
        because=f"{len(targets)} of the changed files are in a target ({', '.join(names)})",
        passed_over=silent,
    )


def _row(path: str, target: Target, root: str, head: TreeReader) -> dict[str, object]:
    # Of a package outside of the workspace that cargo runs in, nothing is fetched: it runs where it needs nothing.
    manifest = ("--manifest-path", posixpath.relpath(target.manifest, root))
    arguments = [*manifest, *target.arguments, *feature_arguments(path, target, head)]
    return {"arguments": arguments, "selected": target.selected}


def _locking(request: PlanRequest, root: str, manifests: tuple[str, ...]) -> tuple[str, Why] | Refusal:
    """Return how dependencies are locked (empty: there are none) and why, or why the base can't have its own.

    The environment holds what the head is locked to; a base that asks for other versions would fail for want of them.
    """
    path = join(root, LOCK).encode("utf-8", "surrogateescape")
    ours, theirs = request.head.read(path), request.base.read(path)
    packages = read_lock(ours)
    if packages is None:
        dropped = only_in_bases_manifests(manifests, request.head, request.base)
        if dropped:
            detail = f"the base depends on {', '.join(dropped[:3])}, the head does not: one environment can't hold both"
            return _cannot_hold_both(detail, dropped[0])
        if not needs_registry(manifests, request.head):
            return "", _dependencies("none: nothing is fetched", "no manifest asks for what is not in the tree")
        return MADE, _dependencies(
            "today's versions, which the case records", "there is no lock file, and cargo knows no dates"
        )
    missing = only_in_base(ours, theirs)
    if missing:
        shown = ", ".join(f"{package.name} {package.version}" for package in missing[:3])
        detail = f"the base is locked to {shown}, the head is not: one environment can't hold both"
        return _cannot_hold_both(detail, missing[0].name)
    if not packages:
        return "", _dependencies("none: nothing is fetched", f"{LOCK} holds the tree's own packages only")
    return TRACKED, _dependencies(f"{len(packages)} packages of {LOCK}", "which goes before any date")


def _dependencies(chosen: str, because: str) -> Why:
    return Why(about="dependencies", chosen=chosen, because=because)


def _cannot_hold_both(detail: str, package: str) -> Refusal:
    return Refusal(code="environment-failed", detail=detail, step="choosing dependencies", package=package)


def _inputs(tree: TreeReader, root: str, manifests: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    folders = tuple(dict.fromkeys((root, ".")))
    paths = {*manifests, join(root, LOCK), *(join(folder, entry) for folder in folders for entry in _CONFIGURATION)}
    found = ((path, tree.read(path.encode("utf-8", "surrogateescape"))) for path in sorted(paths))
    return tuple((path, hashlib.sha256(data).hexdigest()) for path, data in found if data is not None)


def build(recipe: Recipe, builder: Builder) -> Environment | Refusal:
    """Fetch and compile the dependencies; raises ``InfrastructureError`` when the network or the disk failed."""
    return build_environment(recipe, builder)


def setup(recipe: Recipe, environment: Environment) -> tuple[str, ...]:
    """Return the set-up commands of one change; see ``rust_build.setup_commands``."""
    return setup_commands(recipe, environment.setup)


def failed_set_up(step: str, outcome: SandboxOutcome) -> str:
    """Return why a recorded command of a set-up failed. Raises ``InfrastructureError`` for the network's faults."""
    return failure(step, outcome).detail


def packages(setup: tuple[str, ...], base: str) -> PackagePlan:
    """Return how the packages of a recorded set-up are fetched and offered; see ``rust_offline``."""
    return rust_offline.package_plan(setup, base)


def mounts(environment: Environment) -> tuple[Mount, ...]:
    """Return the toolchain and, where there are dependencies, the environment that holds them, read-only."""
    held = (Mount(source=environment.folder / "env", target=ENVIRONMENT_DIR),) if environment.dependencies else ()
    return (*runtime_mounts(environment.runtime), *held)


def find_runtime(version: str) -> Runtime | None:
    """Return the toolchain of exactly this version, or None."""
    return find_toolchain(version)


# It is looked for on this machine alone.
runtime_at_hand = find_runtime


def runtime_mounts(runtime: Runtime) -> tuple[Mount, ...]:
    """Return the mount that shows a toolchain, and nothing else of the home that it lies in."""
    return toolchain_mounts(runtime)


def env(environment: Environment, variation: Mapping[str, str]) -> Mapping[str, str]:
    """Return PATH, and TZ where the time zone is varied: Rust seeds its hash maps anew in every process by itself."""
    zone = variation.get("time_zone", "")
    return {"LC_ALL": "C.UTF-8", **runtime_env(environment.runtime), **({"TZ": zone} if zone else {})}


def check(recipe: Recipe, files: tuple[str, ...]) -> Check:
    """Return the check command over graded files, in the order given."""
    return build_check(recipe, files)


def recorded_check(runner: str, command: str) -> Check:  # noqa: ARG001 - the contract's signature
    """Return the check that a case's recorded command stands for."""
    return check_of_command(command)


def read(report: bytes, exit_code: int, files: tuple[str, ...], output: bytes) -> ReportReading:
    """Read what the observed check wrote: messages of cargo and events of the test harness."""
    return cargo.read(report, exit_code, files, output)


def read_recorded(check: Check, report: bytes, output: bytes) -> ReportReading:  # noqa: ARG001 - the contract
    """Read what the recorded command left at ``report_file``: the same lines, files named in them."""
    return cargo.read(report, None, (), output)
