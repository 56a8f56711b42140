"""Go: ``go test -json`` over the packages of the graded files, with the toolchains that this machine has.

A test belongs to the graded file that declares it; subtests go with their parent. A package compiles as a whole, so a
file that does not compile takes the package's other graded files along.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from execution.languages import go_offline
from execution.languages.base import Builder, Check, PlanRequest, Refusal, TreeReader
from execution.languages.go_bare import guess_layout
from execution.languages.go_build import build_environment
from execution.languages.go_choice import choose_c, choose_tags, collected, met_files
from execution.languages.go_command import (
    MOST_NAMES,
    RUNNER,
    GradedFile,
    build_check,
    encode,
    setup_commands,
)
from execution.languages.go_command import recorded_check as recorded
from execution.languages.go_failure import refusal
from execution.languages.go_module import (
    Layout,
    Mode,
    digests,
    exists,
    folder_of,
    home,
    join,
    read_layout,
    read_module,
    read_text,
    together,
)
from execution.languages.go_runtime import choose, find_exactly, installed, numbers, passed_over
from execution.languages.go_runtime import runtime_mounts as mounts_of
from execution.languages.go_sources import declared_tests
from execution.observation import ReportReading
from execution.package_plan import PackagePlan
from execution.recipe import Environment, Recipe, Runtime, Why, why_of
from execution.reports import gotest
from execution.sandbox import ENVIRONMENT_DIR, Mount, SandboxOutcome

name: Final = "go"


def graded_files(candidates: tuple[str, ...], head: TreeReader) -> tuple[str, ...]:
    """Of the changed test files, those that hold tests and that one ``go`` can build, sorted by bytes."""
    taken = together(head, collected(candidates, head))
    return tuple(sorted(taken, key=lambda path: path.encode("utf-8", "surrogateescape")))


def plan(request: PlanRequest) -> Recipe | Refusal:
    """Choose toolchain, modules and tags by rules; reads the tree and asks the toolchains for their versions."""
    directory = home(request.head, request.graded[0])
    layout = guess_layout(request.head, request.graded) if directory is None else read_layout(request.head, directory)
    if isinstance(layout, Refusal):
        return layout
    unfit = _unfit(request, layout)
    if unfit is not None:
        return unfit
    needed = max((module.go for module in layout.modules), key=numbers)
    asked = request.overrides.get("go", "")
    toolchain = layout.modules[0].toolchain
    chosen = choose(installed(), needed=needed, toolchain=toolchain, asked=asked, date=request.date)
    if isinstance(chosen, Refusal):
        return chosen
    runtime, sentence = chosen
    others = passed_over(installed(), runtime, needed=needed, asked=asked, date=request.date)
    return _recipe(request, layout, runtime, why_of("toolchain", sentence, others))


def _unfit(request: PlanRequest, layout: Layout) -> Refusal | None:
    """Return why both states can't be built in one way, or None where they can."""
    if layout.mode is Mode.BARE:
        there = exists(request.base, "go.mod")
        return Refusal(code="environment-failed", detail="the base has a go.mod, the head none") if there else None
    for module in layout.modules:
        before = read_module(request.base, module.directory)
        path = join(module.directory, "go.mod")
        if before is None:
            return Refusal(code="environment-failed", detail=f"the base has no {path}, so its packages have no names")
        if before.path != module.path:
            words = f"{path} names {before.path} at the base and {module.path} at the head, so no test keeps its name"
            return Refusal(code="environment-failed", detail=words)
    if layout.mode is Mode.WORKSPACE and digests(request.head, layout) != digests(request.base, layout):
        words = "the change alters the modules of a workspace, and Go can't give both states the head's"
        return Refusal(code="environment-failed", detail=words)
    return None


def _recipe(request: PlanRequest, layout: Layout, runtime: Runtime, why: Why) -> Recipe | Refusal:
    c, why_c = choose_c(request.head, layout)
    tags, why_tags = choose_tags(request.head, request.graded, runtime)
    met = met_files(request.head, request.graded, runtime, tags, c=c)
    if not met:
        words = f"the build constraints of {request.graded[0]} hold neither here nor with a tag that a CI file names"
        return Refusal(code="collects-nothing", detail=words)
    graded = {path: _graded(request.head, layout, path, met) for path in request.graded}
    if not any(one.names for one in graded.values()):
        return Refusal(code="collects-nothing", detail=f"{request.graded[0]} declares no test")
    if sum(len(one.package) + sum(map(len, one.names)) for one in graded.values()) > MOST_NAMES:
        return Refusal(code="environment-failed", detail="the graded files hold more tests than one command can name")
    kind = f"{layout.mode.value} {layout.modules[0].path} {'with' if c else 'without'} C"
    requires = any(module.requires for module in layout.modules)
    settings = {
        "mode": layout.mode.value,
        "module": layout.modules[0].path,
        "graded": encode(graded),
        "head_commit": request.head_commit,
        "tags": ",".join(tags),
        "c": "1" if c else "",
        "sum": "1" if exists(request.head, join(layout.directory, "go.sum")) else "",
        "requires": "1" if requires else "",
    }
    reasons = (
        why,
        why_of("dependencies", _why_modules(layout, requires=requires)),
        why_of("C", why_c),
        *(why_of("build tags", sentence) for sentence in why_tags),
    )
    return Recipe(
        language=name,
        runtime=runtime,
        runner=RUNNER,
        # go.mod and go.sum are their own date: they hold exact versions.
        date=0,
        directory=layout.directory,
        inputs=(
            *digests(request.head, layout),
            ("build", kind),
        ),
        settings=tuple((key, value) for key, value in settings.items() if value),
        why=tuple(reason.sentence for reason in reasons),
        reasons=reasons,
    )


def _graded(tree: TreeReader, layout: Layout, path: str, met: frozenset[str]) -> GradedFile:
    folder = folder_of(path)
    inner = folder if layout.directory == "." else folder.removeprefix(layout.directory).removeprefix("/") or "."
    names = declared_tests(read_text(tree, path) or "") if path in met else ()
    return GradedFile(package=layout.package(folder), folder="." if inner == "." else f"./{inner}", names=names)


def _why_modules(layout: Layout, *, requires: bool) -> str:
    if layout.mode is Mode.BARE:
        return f"no go.mod, and nothing but Go's own library is asked for: one that names {layout.modules[0].path}"
    if layout.mode is Mode.VENDOR:
        return "modules from the vendor folder, each state's own"
    if layout.mode is Mode.WORKSPACE:
        return f"the workspace of {join(layout.directory, 'go.work')}"
    if not requires:
        return f"{join(layout.directory, 'go.mod')} requires no module: nothing is downloaded"
    return f"the versions of {join(layout.directory, 'go.mod')}, held to the hashes of go.sum"


def build(recipe: Recipe, builder: Builder) -> Environment | Refusal:
    """Download and compile what the recipe says; raises ``InfrastructureError`` when the network or the disk failed."""
    return build_environment(recipe, builder)


def setup(recipe: Recipe, environment: Environment) -> tuple[str, ...]:  # noqa: ARG001 - the contract's signature
    """Return the set-up commands of one change: they take the head's manifests from the change's own head."""
    return setup_commands(recipe)


def failed_set_up(step: str, outcome: SandboxOutcome) -> str:
    """Return why a recorded command of a set-up failed. Raises ``InfrastructureError`` for the network's faults."""
    return refusal(step, outcome).detail


def packages(setup: tuple[str, ...], base: str) -> PackagePlan:
    """Return how the packages of a recorded set-up are fetched and offered; see ``go_offline``."""
    return go_offline.package_plan(setup, base)


def mounts(environment: Environment) -> tuple[Mount, ...]:
    """Return the environment and the toolchain, read-only."""
    return (Mount(source=environment.folder / "env", target=ENVIRONMENT_DIR), *mounts_of(environment.runtime))


def find_runtime(version: str) -> Runtime | None:
    """Return the toolchain of exactly this version, or None."""
    return find_exactly(version)


# It is looked for on this machine alone.
runtime_at_hand = find_runtime


def runtime_mounts(runtime: Runtime) -> tuple[Mount, ...]:
    """Return what makes ``go`` this toolchain, and nothing else."""
    return mounts_of(runtime)


def env(environment: Environment, variation: Mapping[str, str]) -> Mapping[str, str]:  # noqa: ARG001 - the contract
    """Return TZ where the time zone is varied; Go varies the order of its maps by itself."""
    zone = variation.get("time_zone", "")
    return {"TZ": zone} if zone else {}


def check(recipe: Recipe, files: tuple[str, ...]) -> Check:
    """Return the check command over graded files, in the order given."""
    return build_check(recipe, files)


def recorded_check(runner: str, command: str) -> Check:  # noqa: ARG001 - the contract's signature
    """Return the check that a case's recorded command stands for."""
    return recorded(command)


def read(report: bytes, exit_code: int, files: tuple[str, ...], output: bytes) -> ReportReading:
    """Read what the observed check wrote: our line, then the events of ``go test -json``."""
    return gotest.read(report, exit_code, files, output)


def read_recorded(check: Check, report: bytes, output: bytes) -> ReportReading:  # noqa: ARG001 - the contract
    """Read what the recorded command left at ``report_file``."""
    return gotest.read(report, None, (), output)
