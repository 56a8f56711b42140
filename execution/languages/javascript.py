"""JavaScript and TypeScript: their test runners, installed by npm, pnpm, yarn or bun."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import execution
from casewright.errors import InfrastructureError
from execution.languages import javascript_offline
from execution.languages.base import Builder, Check, PlanRequest, Refusal, TreeReader
from execution.languages.javascript_build import build_environment
from execution.languages.javascript_check import build_check, recorded_check
from execution.languages.javascript_compile import needed_build
from execution.languages.javascript_each_file import AVA, MOCHA, TAPE, UVU
from execution.languages.javascript_failure import Failure, read_failure, telling_lines
from execution.languages.javascript_install_scripts import MODULES
from execution.languages.javascript_installer import (
    Installer,
    choose_installer,
    from_own_registry,
    manager_refusal,
    node_refusal,
    registry_elsewhere,
)
from execution.languages.javascript_manifest import (
    Lock,
    Manifest,
    ManifestError,
    ancestors,
    environment_files,
    environment_inputs,
    find_lock,
    install_root,
    join,
    read_manifest,
    read_text,
    version_tuple,
)
from execution.languages.javascript_nodes import Candidate, asked_node, candidates
from execution.languages.javascript_options import exclusions, node_options, suite_options
from execution.languages.javascript_runner import NODE, VITEST, RunnerChoice, choose_runner, collected
from execution.languages.javascript_runtime import find_exactly, runtime_env, runtime_mounts
from execution.languages.javascript_setup import borrowed_files, setup_commands, with_compile
from execution.observation import ReportReading
from execution.package_plan import PackagePlan
from execution.recipe import Environment, Recipe, Runtime, Why, why_of
from execution.reports import ava, by_file, jest, mocha, node_events, node_tap, tape, uvu, vitest
from execution.sandbox import ENVIRONMENT_DIR, TOOLS_DIR, TREE_DIR, Ended, Mount, SandboxOutcome

name: Final = "javascript"
_OTHER_NODE: Final = "install a node that it takes, or name the executable of one as node"
_FIRST_REPORTER: Final = (18, 15, 0)
_NAME_ANOTHER: Final = "install one, or name the executable of one that is here"
_READERS: Final = {
    "vitest-json": vitest.read,
    "jest-json": jest.read,
    "node-events": node_events.read,
    "node-tap": node_tap.read,
}
_SECTIONS: Final[Mapping[str, by_file.SectionReader]] = {
    MOCHA: mocha.read_section,
    AVA: ava.read_section,
    UVU: uvu.read_section,
    TAPE: tape.read_section,
}

__all__ = [
    "build",
    "check",
    "env",
    "failed_set_up",
    "find_runtime",
    "graded_files",
    "mounts",
    "name",
    "packages",
    "plan",
    "read",
    "read_recorded",
    "recorded_check",
    "runtime_at_hand",
    "runtime_mounts",
    "setup",
]


def graded_files(candidates: tuple[str, ...], head: TreeReader) -> tuple[str, ...]:
    """Of the changed test files, those that a runner collects when they are named, sorted by bytes."""
    taken = [path for path in candidates if collected(path, head)]
    return tuple(sorted(taken, key=lambda path: path.encode("utf-8", "surrogateescape")))


def plan(request: PlanRequest) -> Recipe | Refusal:
    """Choose node, runner and package manager by rules; reads the tree, asks nodes for versions and npm for others.

    Raises ``InfrastructureError`` when a node is wanted that is not here, and the npm registry does not answer.
    """
    wanted = request.overrides.get("node", "")
    try:
        if not wanted:
            return _first_that_serves(request)
        asked = asked_node(wanted)
        if asked is None:
            detail = f"there is no node {wanted} on this machine, and the npm registry has none to bring"
            return Refusal(code="runtime-unavailable", detail=detail, remedy=_NAME_ANOTHER)
        return _plan(request, asked)
    except ManifestError as error:
        return Refusal(code="environment-failed", detail=str(error))


def _first_that_serves(request: PlanRequest) -> Recipe | Refusal:
    """Plan with each node in turn until one does; a refusal that is not about node stands at once."""
    passed_over: list[str] = []
    for candidate in candidates(request.head, _speaking_folders(request), request.date):
        version = candidate.runtime.version
        planned = _plan(request, candidate) if not candidate.lacking else None
        if isinstance(planned, Recipe):
            return replace(planned, reasons=tuple(_with_tried(why, tuple(passed_over)) for why in planned.reasons))
        if planned is not None and planned.code != "runtime-unavailable":
            return planned
        passed_over.append(planned.detail if planned is not None else f"node {version}: {candidate.lacking}")
    detail = passed_over[-1] if passed_over else "there is no node on this machine, and none could be brought"
    remedy = _OTHER_NODE if passed_over else _NAME_ANOTHER
    return Refusal(code="runtime-unavailable", detail=detail, tried=tuple(passed_over[:-1]), remedy=remedy)


def _speaking_folders(request: PlanRequest) -> tuple[str, ...]:
    """Return the folders whose files say which node they want: from the tested package up to the root."""
    choice = choose_runner(request.head, request.graded, request.overrides.get("runner", ""))
    return ancestors("." if isinstance(choice, Refusal) else choice.directory)


def _with_tried(why: Why, tried: tuple[str, ...]) -> Why:
    return replace(why, passed_over=tried) if why.about == "interpreter" else why


def _plan(request: PlanRequest, candidate: Candidate) -> Recipe | Refusal:
    choice = choose_runner(request.head, request.graded, request.overrides.get("runner", ""))
    if isinstance(choice, Refusal):
        return choice
    root = install_root(request.head, choice.directory)
    manifest = read_manifest(request.head, root)
    node = version_tuple(candidate.runtime.version)
    if manifest is None:
        return _recipe(request, candidate, choice, Setting(root=root), ("no package.json: nothing is installed",))
    unfit = _runtime_refusal(request, choice, manifest, node)
    if unfit is not None:
        return unfit
    lock = find_lock(request.head, root, manifest.package_manager.partition("@")[0])
    workspace = read_text(request.head, join(root, "pnpm-workspace.yaml"))
    installer = choose_installer(manifest, lock, node, pnpm_workspace=workspace)
    if installer is not None and lock is not None and registry_elsewhere(lock):
        installer = replace(installer, command=from_own_registry(installer.command) or installer.command)
    refusal = manager_refusal(installer, node) if installer is not None else None
    if refusal is not None:
        return Refusal(code="runtime-unavailable", detail=refusal, remedy=_OTHER_NODE)
    if installer is None:
        return _recipe(request, candidate, choice, Setting(root=root), ("no dependencies: nothing is installed",))
    return _recipe(
        request,
        candidate,
        choice,
        Setting(root=root, lock=lock, installer=installer, patch=_patch(manifest)),
        installer.why,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """Where and how a tree is installed; no ``installer`` when there is nothing to install.

    ``patch`` is what the tree's own scripts run to patch what was installed, or empty.
    """

    root: str
    patch: str = ""
    lock: Lock | None = None
    installer: Installer | None = None

    @property
    def tools(self) -> str:
        """The package manager as a package, for scripts that call it by name; empty for npm, which node brings."""
        return self.installer.package if self.installer is not None else ""


def _recipe(
    request: PlanRequest, candidate: Candidate, choice: RunnerChoice, setting: Setting, why: tuple[str, ...]
) -> Recipe:
    compiled = needed_build(request.head, choice.directory, setting.root, request.graded)
    inputs: tuple[tuple[str, str], ...] = ()
    borrowed: Mapping[str, str] = {}
    if setting.installer is not None:
        files = environment_files(request.head, setting.root, setting.lock)
        beside = f" {setting.tools}" if compiled and compiled.calls_manager else ""
        inputs = (*environment_inputs(request.head, files), ("install", setting.installer.command + beside))
        # The base may be locked by another package manager's file, which the head's does not read.
        before = find_lock(request.base, setting.root, setting.installer.manager)
        borrowed = borrowed_files(
            dict(environment_inputs(request.head, files)),
            dict(environment_inputs(request.base, environment_files(request.base, setting.root, before))),
        )
    invocation = choice.invocation
    reasons = (
        why_of("interpreter", f"node {candidate.runtime.version}, {candidate.because}"),
        why_of("runner", choice.why),
        *(why_of("installer" if setting.installer else "dependencies", one) for one in why),
        *((why_of("build", f"`{compiled.command}` before the tests, {compiled.because}"),) if compiled else ()),
    )
    settings = {
        "install": setting.installer.command if setting.installer else "",
        "install_loose": setting.installer.loose if setting.installer else "",
        "install_directory": setting.root,
        "rebuild": setting.installer.rebuild if setting.installer else "",
        "patch": setting.patch,
        "lock": setting.lock.path if setting.lock else "",
        "borrowed": json.dumps(borrowed, sort_keys=True) if borrowed else "",
        "head_commit": request.head_commit,
        "variables": shlex.join((*invocation.variables, *_without_nags(setting.lock))),
        "node_options": shlex.join(node_options(request, choice)),
        "options": shlex.join((*invocation.options, *suite_options(request, choice, setting.lock))),
        "graded": shlex.join(request.graded) if choice.runner == VITEST else "",
        "compile": compiled.command if compiled else "",
        "compile_directory": compiled.directory if compiled else "",
        "tools": setting.tools if compiled and compiled.calls_manager else "",
        "exclude": shlex.join(exclusions(request, choice, setting.lock)),
    }
    return Recipe(
        language=name,
        runtime=candidate.runtime,
        runner=choice.runner,
        # A lock file is its own date; only what is resolved today has to be held back.
        date=request.date if setting.installer is not None and setting.lock is None else 0,
        directory=choice.directory,
        inputs=inputs,
        settings=tuple((key, value) for key, value in settings.items() if value),
        why=tuple(reason.sentence for reason in reasons),
        reasons=reasons,
    )


def _without_nags(lock: Lock | None) -> tuple[str, ...]:
    """Switch off a warning that programs print once their data are half a year old: it is about today, not the tree."""
    ages = lock is not None and b"caniuse-lite" in lock.content
    return ("BROWSERSLIST_IGNORE_OLD_DATA=1",) if ages else ()


def _patch(manifest: Manifest) -> str:
    """Return the command that lays a tree's patches over its dependencies, where scripts of its own do that."""
    asked = any("patch-package" in manifest.scripts.get(name, "") for name in ("postinstall", "prepare", "install"))
    return f"{MODULES}/.bin/patch-package" if asked else ""


def _runtime_refusal(
    request: PlanRequest, choice: RunnerChoice, manifest: Manifest, node: tuple[int, int, int]
) -> Refusal | None:
    nearest = read_manifest(request.head, choice.directory)
    for package in (manifest, nearest):
        reason = node_refusal(package, node) if package is not None else None
        if reason:
            return Refusal(code="runtime-unavailable", detail=reason, remedy=_OTHER_NODE)
    if choice.runner == NODE and node < _FIRST_REPORTER:
        here = ".".join(map(str, node))
        detail = f"node's own runner reports to others from 18.15 on, here is {here}"
        return Refusal(code="runtime-unavailable", detail=detail, remedy=_OTHER_NODE)
    strips = any(word.startswith(("--experimental-strip-types", "--experimental-transform")) for word in _words(choice))
    if strips and node < (22, 6, 0):
        return Refusal(
            code="runtime-unavailable",
            detail="the test script strips types, which node does from 22.6 on",
            remedy=_OTHER_NODE,
        )
    return None


def _words(choice: RunnerChoice) -> tuple[str, ...]:
    return (*choice.invocation.node_options, *choice.invocation.variables)


def build(recipe: Recipe, builder: Builder) -> Environment | Refusal:
    """Install what the recipe says; raises ``InfrastructureError`` when the network or the disk failed."""
    return build_environment(recipe, builder)


def setup(recipe: Recipe, environment: Environment) -> tuple[str, ...]:
    """Return the set-up commands of one change: an environment serves many changes, whose bases differ.

    ``Environment.setup`` holds what serves them all; this leaves out what the change at hand does not need.
    """
    return setup_commands(recipe, environment.setup)


def find_runtime(version: str) -> Runtime | None:
    """Return the node of exactly this version, brought from the npm registry where it is not here, or None."""
    return find_exactly(version)


def runtime_at_hand(version: str) -> Runtime | None:
    """Return the node of exactly this version where it is here, or in the cache already; the registry is not asked."""
    return find_exactly(version) if javascript_offline.is_at_hand(version) else None


def failed_set_up(step: str, outcome: SandboxOutcome) -> str:
    """Return why a recorded command of a set-up failed. Raises ``InfrastructureError`` for the network's faults."""
    told = f"{step}: {telling_lines(outcome.output, 4)}"
    if outcome.ended is not Ended.EXITED:
        return f"{told} ({outcome.ended.value})"
    if read_failure(outcome.output) is Failure.NETWORK:
        raise InfrastructureError(told, "try again when the registry answers")
    return told


def packages(setup: tuple[str, ...], base: str) -> PackagePlan:
    """Return how the packages of a recorded set-up are fetched and offered; see ``javascript_offline``."""
    return javascript_offline.package_plan(setup, base)


def mounts(environment: Environment) -> tuple[Mount, ...]:
    """Return the runtime's mount and that of tools beside the tree; node_modules are ``Environment.tree_mounts``."""
    tools = environment.folder / "env"
    beside = (Mount(source=tools, target=ENVIRONMENT_DIR),) if (tools / MODULES).is_dir() else ()
    reporters = Mount(source=Path(execution.__file__).parent / "resources", target=TOOLS_DIR)
    return (*runtime_mounts(environment.runtime), *beside, reporters)


def env(environment: Environment, variation: Mapping[str, str]) -> Mapping[str, str]:
    """Return PATH, and TZ where the time zone is varied (node has no hash seed to vary)."""
    zone = variation.get("time_zone", "")
    return {**runtime_env(environment.runtime), **({"TZ": zone} if zone else {})}


def check(recipe: Recipe, files: tuple[str, ...]) -> Check:
    """Return the check command over graded files, in the order given."""
    return with_compile(recipe, build_check(recipe, files))


def read(report: bytes, exit_code: int, files: tuple[str, ...], output: bytes) -> ReportReading:
    """Read what the observed check wrote: sections by file, TAP, events of node, or the JSON of jest and vitest."""
    section = _SECTIONS.get(by_file.runner_of(report))
    if section is not None:
        return by_file.read(report, exit_code, files, section, output)
    if report.startswith(b"TAP version"):
        return node_tap.read(report, exit_code, files, TREE_DIR)
    if report.startswith(b'{"event"'):
        return node_events.read(report, exit_code, files, TREE_DIR)
    if not report.strip():
        return ReportReading(breach="the runner left no report")
    # The two share a shape but for details; this field is jest's alone.
    reader = jest.read if b'"wasInterrupted"' in report else vitest.read
    return reader(report, exit_code, files, TREE_DIR)


def read_recorded(check: Check, report: bytes, output: bytes) -> ReportReading:
    """Read what the recorded command left at ``report_file``, or printed."""
    match check.report_format:
        case "mocha-xunit":
            return mocha.read_recorded(report, check.command)
        case "uvu-output":
            return uvu.read_recorded(output)
        case "ava-tap":
            return by_file.read(report, None, (), ava.read_section)
        case "tape-tap":
            return by_file.read(report, None, (), tape.read_section)
        case name:
            return _READERS[name](report, None, (), TREE_DIR)
