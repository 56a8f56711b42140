"""Python: pytest and unittest suites, environments pinned to the date of the commit.

This module is an instance of ``execution.languages.base.Language``; each of its functions says what it decides, and the
modules beside it, named ``python_…``, hold the rules.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import execution
from execution.languages import (
    python_build,
    python_era,
    python_failure,
    python_interpreters,
    python_offline,
    python_recorded,
    python_steps,
)
from execution.languages.base import Builder, Check, PlanRequest, Refusal, TreeReader
from execution.languages.python_django import PLUGIN, django_suite
from execution.languages.python_hints import dispensable, hint_sources, minors_of_ci
from execution.languages.python_imports import suite_needs
from execution.languages.python_interpreters import Wishes
from execution.languages.python_members import graded_projects
from execution.languages.python_poetry import specifier
from execution.languages.python_project import (
    Project,
    PytestConfiguration,
    read_project,
    read_pytest_configuration,
    read_text,
    texts,
)
from execution.languages.python_reasons import (
    addition_reason,
    check_reasons,
    dependency_reasons,
    import_reasons,
    interpreter_reason,
    project_reason,
)
from execution.languages.python_requirements import choose_sources, collect_needs, distribution_names, serves
from execution.languages.python_runner import (
    PYTEST,
    check_options,
    choose_runner,
    demanded_plugins,
    holds_tests,
    is_left_out,
    is_test_name,
    own_options,
)
from execution.languages.python_scripts import read_setup_script
from execution.languages.python_sources import Source, sources, sources_beside
from execution.languages.python_version import version_variables
from execution.observation import ReportReading
from execution.package_plan import PackagePlan
from execution.recipe import Environment, Recipe, Runtime, why_of
from execution.reports import pytest_events, unittest_events
from execution.sandbox import ENVIRONMENT_DIR, RUNTIME_DIR, TOOLS_DIR, Mount, SandboxOutcome

name = "python"

JUNIT = "junit"
UNITTEST_TEXT = "unittest-text"
# The day of setuptools 60, and the first Python that has no distutils.
_OWN_DISTUTILS_SINCE = datetime(2021, 12, 19, tzinfo=UTC)
_WITHOUT_DISTUTILS = (3, 12)
_CLASSIFIER = re.compile(r"^Programming Language :: Python :: (3)\.(\d+)$")


def graded_files(candidates: tuple[str, ...], head: TreeReader) -> tuple[str, ...]:
    """Of the changed test files, those that the runner collects: by name, and because there is something to run."""
    found: list[str] = []
    shared = read_pytest_configuration(head, candidates)
    for path in candidates:
        configuration = read_pytest_configuration(head, (path,))
        # An example of a suite may bring a configuration of its own, from which the tree's keeps pytest away.
        source = None if is_left_out(path, shared) else read_text(head, path)
        if source is not None and is_test_name(path, configuration) and holds_tests(source, configuration):
            found.append(path)
    return tuple(sorted(found, key=lambda path: path.encode("utf-8", "surrogateescape")))


def plan(request: PlanRequest) -> Recipe | Refusal:
    """Choose interpreter, runner and dependencies for the head's tree, and say why in each case."""
    tree, overrides = request.head, request.overrides
    project = read_project(tree, request.graded)
    wishes = _wishes(tree, project, overrides.get("python", ""))
    chosen_runtime = python_interpreters.choose(python_interpreters.installed(), wishes, request.date)
    if isinstance(chosen_runtime, Refusal):
        return chosen_runtime
    runtime, runtime_why = chosen_runtime
    others = graded_projects(tree, request.graded)
    found = (*sources(tree, project), *(source for other in others for source in sources_beside(tree, other)))
    places, places_why = choose_sources(found)
    if not serves(places):
        hints = hint_sources(tree, project)
        found, (places, places_why) = (*found, *hints), choose_sources(found, hints)
    hinted = dispensable(places)
    wanted = _names(places)
    configuration = read_pytest_configuration(tree, request.graded)
    suite = _suite(request, project, configuration, wanted)
    if isinstance(suite, Refusal):
        return suite
    needs = collect_needs(tree, project, places, suite.added, others)
    missing = suite_needs(tree, project, configuration, request.graded, needs, places, found)
    if missing:
        needs = collect_needs(tree, project, places, (*suite.added, *(one.line for one in missing)), others)
    variables = version_variables(project, distribution_names(needs.build), request.version) if needs.install else {}
    reasons = (
        interpreter_reason(python_interpreters.installed(), wishes, request.date, runtime, runtime_why),
        why_of("runner", suite.why),
        *dependency_reasons(found, places, places_why, needs, request.date),
        *addition_reason(suite.added, configuration),
        *import_reasons(missing),
        *project_reason(project, needs, variables, request.version),
        *check_reasons(suite.notes),
    )
    return Recipe(
        language=name,
        runtime=runtime,
        runner=suite.runner,
        date=request.date,
        directory=project.directory,
        inputs=python_era.inputs(tree, project, needs, variables),
        settings=(
            ("hinted", json.dumps(hinted)),
            ("needs", needs.text()),
            ("notes", json.dumps(suite.notes)),
            ("options", json.dumps(suite.options)),
            ("variables", json.dumps(dict(variables))),
        ),
        why=tuple(reason.sentence for reason in reasons),
        reasons=reasons,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Suite:
    """How a suite is run: the runner and why, the requirements added for it, options, and what the check leaves out."""

    runner: str
    why: str
    added: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def _suite(
    request: PlanRequest, project: Project, configuration: PytestConfiguration, wanted: frozenset[str]
) -> _Suite | Refusal:
    """Choose the runner for the graded files; ``wanted`` are the names of what their places ask for."""
    tree = request.head
    demanded = demanded_plugins(configuration, own_options(tree))
    runner, why = choose_runner(tree, request.graded, wanted, request.overrides.get("runner", ""))
    plugins = tuple(one for one in demanded if not distribution_names((one,)) & wanted)
    django = None
    if "runner" not in request.overrides and PLUGIN not in wanted | distribution_names(demanded):
        django = django_suite(tree, project.directory, request.graded)
    if django is not None and not django.settings:
        return Refusal(
            code="runner-missing",
            detail=f"the suite is started by {django.script}, which names no settings of Django's in so many words",
            remedy="say the whole set-up in commands of your own (setup.commands, with check beside it)",
        )
    extra: tuple[str, ...] = ()
    if django is not None:
        runner, why = PYTEST, f"pytest with Django's settings {django.settings}, which {django.script} names"
        plugins, extra = (*plugins, PLUGIN), (f"--ds={django.settings}",)
    if runner != PYTEST:
        return _Suite(runner=runner, why=why)
    added = (*(() if PYTEST in wanted else (PYTEST,)), *plugins)
    options, notes = check_options(configuration, wanted | distribution_names(added))
    return _Suite(runner=runner, why=why, added=added, options=(*options, *extra), notes=notes)


def _wishes(tree: TreeReader, project: Project, asked: str) -> Wishes:
    script = read_setup_script(project.setup_py or "")
    stated = project.table("project")
    metadata = project.setup_cfg.get("metadata", {})
    classifiers = (
        *texts(stated.get("classifiers")),
        *script.classifiers,
        *(line.strip() for line in metadata.get("classifiers", metadata.get("classifier", "")).splitlines()),
    )
    requires = (
        stated.get("requires-python")
        or project.setup_cfg.get("options", {}).get("python_requires")
        or script.python_requires
        or project.table("tool", "flit", "metadata").get("requires-python")
        or _poetry_python(project)
    )
    pinned = read_text(tree, project.path(".python-version")) or ""
    return Wishes(
        requires=requires if isinstance(requires, str) else "",
        classified=frozenset(
            (int(match[1]), int(match[2])) for line in classifiers if (match := _CLASSIFIER.match(line))
        ),
        tested=minors_of_ci(tree),
        pinned=tuple(line.strip() for line in pinned.splitlines() if line.strip() and not line.startswith("#")),
        asked=asked,
    )


def _poetry_python(project: Project) -> str:
    wish = project.table("tool", "poetry", "dependencies").get("python")
    return specifier(wish) if isinstance(wish, str) else ""


def _names(places: tuple[Source, ...]) -> frozenset[str]:
    return distribution_names(line for source in places for line in source.lines)


def build(recipe: Recipe, builder: Builder) -> Environment | Refusal:
    """Build the environment; see ``python_build``."""
    return python_build.build(recipe, builder)


def setup(recipe: Recipe, environment: Environment) -> tuple[str, ...]:  # noqa: ARG001 - the contract's signature
    """Return the set-up commands: a hashed list stands for itself, whatever the base's manifests say."""
    return environment.setup


def failed_set_up(step: str, outcome: SandboxOutcome) -> str:
    """Return why a recorded command of a set-up failed; raises as ``python_failure.failure`` does."""
    return python_failure.failure(step, outcome).detail


def packages(setup: tuple[str, ...], base: str) -> PackagePlan:  # noqa: ARG001 - a list says all
    """Return how the packages of a recorded set-up are fetched and offered; see ``python_offline``."""
    return python_offline.package_plan(setup)


def mounts(environment: Environment) -> tuple[Mount, ...]:
    """Return environment, interpreter and the stand-alone reporters, all read-only."""
    resources = Path(execution.__file__).parent / "resources"
    return (
        Mount(source=environment.folder / "env", target=ENVIRONMENT_DIR),
        *python_steps.runtime_mounts(environment.runtime),
        Mount(source=resources, target=TOOLS_DIR),
    )


def find_runtime(version: str) -> Runtime | None:
    """Return the interpreter of exactly this version, or None."""
    return next((found for found in python_interpreters.installed() if found.version == version), None)


# It is looked for on this machine alone.
runtime_at_hand = find_runtime


def runtime_mounts(runtime: Runtime) -> tuple[Mount, ...]:
    """Return what makes ``python3.N`` visible inside."""
    return python_steps.runtime_mounts(runtime)


def env(environment: Environment, variation: Mapping[str, str]) -> Mapping[str, str]:
    """Return the variables of a run: a stranger's clean shell, with the environment and the interpreter on the path.

    Nothing else is set without a variation: a variable such as ``PYTHONDONTWRITEBYTECODE`` would be seen by the tests
    and by the interpreters that they start.
    """
    runtime = () if environment.runtime.prefix.is_relative_to("/usr") else (f"{RUNTIME_DIR}/bin",)
    folders = (f"{ENVIRONMENT_DIR}/bin", *runtime, "/usr/local/bin", "/usr/bin", "/bin")
    variables = {"LC_ALL": "C.UTF-8", "PATH": ":".join(folders)}
    if "hash_seed" in variation:
        variables["PYTHONHASHSEED"] = variation["hash_seed"]
    if "time_zone" in variation:
        variables["TZ"] = variation["time_zone"]
    return variables


def check(recipe: Recipe, files: tuple[str, ...]) -> Check:
    """Return how graded files are run, in the order given; they are paths from the tree's root.

    The environment's programs are on the path, since tests start the project's own ones by name.
    """
    at = "" if recipe.directory == "." else recipe.directory + "/"
    up = "../" * (1 + at.count("/"))
    names = tuple(path.removeprefix(at) for path in files)
    python = f"{up}env/bin/python"
    if recipe.runner == PYTEST:
        options = (f"--junitxml={up}report.xml", *json.loads(recipe.setting("options", "[]")))
        script, arguments = "pytest_report.py", (*options, *names)
        report_file, report_format = "../report.xml", JUNIT
    else:
        script, arguments = "unittest_report.py", ("-v", *names)
        report_file, report_format = "", UNITTEST_TEXT
    variables = {"SETUPTOOLS_USE_DISTUTILS": "stdlib"} if _distutils_is_the_interpreters_own(recipe) else {}
    stated = "".join(f"{variable}={value} " for variable, value in variables.items())
    return Check(
        command=f'PATH="$PWD/{up}env/bin:$PATH" {stated}{shlex.join((python, "-m", recipe.runner, *arguments))}',
        report_file=report_file,
        report_format=report_format,
        observed=(python, f"{TOOLS_DIR}/{script}", *arguments),
        env=variables,
        notes=tuple(json.loads(recipe.setting("notes", "[]"))),
    )


def _distutils_is_the_interpreters_own(recipe: Recipe) -> bool:
    """Whether a suite is older than the first setuptools that puts a distutils of its own in the place of Python's.

    The environment holds a later setuptools, since those of the day can't install in place; tests that import both ran
    into an assertion there.
    """
    older = datetime.fromtimestamp(recipe.date, tz=UTC) < _OWN_DISTUTILS_SINCE
    return older and python_steps.minor_of(recipe.runtime) < _WITHOUT_DISTUTILS


def recorded_check(runner: str, command: str) -> Check:
    """Return the check that a recorded command stands for."""
    if runner == PYTEST:
        return Check(command=command, report_file="../report.xml", report_format=JUNIT, observed=())
    return Check(command=command, report_file="", report_format=UNITTEST_TEXT, observed=())


def read(report: bytes, exit_code: int, files: tuple[str, ...], output: bytes) -> ReportReading:
    """Read what a reporter wrote; the first event tells which runner it watched."""
    first = report.split(b"\n", 1)[0]
    reader = unittest_events.read if b'"rootdir"' not in first and b'"session"' in first else pytest_events.read
    return reader(report, exit_code, files, output)


def read_recorded(check: Check, report: bytes, output: bytes) -> ReportReading:
    """Read what the recorded command left behind. Raises ``InvalidInputError`` for a report that is not XML."""
    if check.report_format == JUNIT:
        return python_recorded.read_pytest(check, report, output)
    return python_recorded.read_unittest(check, output)
