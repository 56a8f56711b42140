"""One change judged: environment, both states observed, a verdict with its evidence.

A change is judged by a request of pure data and gives an outcome of pure data, so that an executor of any kind can
carry it. What the request's paths and ids are looked up in (repository, store, sandbox) is in ``Tools``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from casewright.errors import InfrastructureError
from casewright.repository import Repository
from casewright.store import Store
from execution.build import BuildRefusedError, environment
from execution.languages import LANGUAGES, OWN_COMMANDS
from execution.languages.base import Check, Language, PlanRequest, Refusal
from execution.observation import Observation, ReportReading
from execution.recipe import Environment, Recipe
from execution.run import observe_once
from execution.sandbox import Limits, Probe, Sandbox
from execution.sandboxes import probe
from miner.exit_code import try_by_exit_code
from miner.hunks import TestHunk, by_file, with_hunks
from miner.judgement import ExcludedFile
from miner.observe import RunRequest, State, Trial, try_change
from miner.processors import Processors
from miner.reasons import Reason
from miner.verdict import TestLists

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class AdmissionRequest:
    """A change whose shape is right and whose environment is planned.

    ``test_part`` are the files that the test part holds whole, ``hunks`` what it holds of others; paths are bytes. With
    ``by_exit_code`` no report is read: the exit codes alone decide.
    """

    base: str
    head: str
    graded: tuple[str, ...]
    test_part: tuple[bytes, ...]
    recipe: Recipe
    hunks: tuple[TestHunk, ...] = ()
    repeat: int = 3
    limits: Limits = field(default_factory=Limits)
    by_exit_code: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Tools:
    """What a judgement works with; all of it may be used by several threads at once."""

    repository: Repository
    repository_id: str
    sandbox: Sandbox
    store: Store
    pass_env: tuple[str, ...] = ()
    processors: Processors = field(default_factory=lambda: Processors(1))


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """What is known of a judged change. ``trial``, ``environment`` and ``check`` are None when it came to no run.

    ``setup`` is what a stranger runs at the change's base.
    """

    reason: Reason | None
    detail: str
    files: tuple[str, ...]
    excluded: tuple[ExcludedFile, ...] = ()
    lists: TestLists = field(default_factory=TestLists)
    built: bool = False
    trial: Trial | None = None
    environment: Environment | None = None
    setup: tuple[str, ...] = ()
    check: Check | None = None
    probe: Probe | None = None
    by_exit_code: bool = False


def plan(
    repository: Repository,
    base: str,
    head: str,
    test_files: tuple[str, ...],
    overrides: Mapping[str, str],
    inline: frozenset[str] = frozenset(),
) -> tuple[Recipe, tuple[str, ...]] | Refusal:
    """Choose a language and a recipe for a change; return it with the graded files that its runner collects.

    ``test_files`` are the files of the test part that exist at the head; ``inline`` are those that hold source too.
    Runs nothing. Of several languages the one with most test files is taken, and only where there are none the one with
    most files of both; the others' files support it. A test command of the user's own (override ``test``) runs
    all of them, whatever their language: then ``test_files`` must be those that are tests by name.
    """
    head_tree = repository.tree(head)
    rivals = {OWN_COMMANDS} if overrides.get("test") else LANGUAGES.keys() - {OWN_COMMANDS}
    claimed = {
        name: language.graded_files(test_files, head_tree) for name, language in LANGUAGES.items() if name in rivals
    }
    name = max(claimed, key=lambda name: (len(set(claimed[name]) - inline), len(claimed[name])))
    if not claimed[name]:
        return Refusal(code=Reason.UNKNOWN_LANGUAGE, detail=f"no rule runs {', '.join(test_files[:3])}")
    facts = repository.commit(head)
    recipe = LANGUAGES[name].plan(
        PlanRequest(
            head=head_tree,
            base=repository.tree(base),
            base_commit=base,
            head_commit=head,
            graded=claimed[name],
            date=facts.committer_time + 24 * 3600,
            version=repository.describe(head),
            overrides=overrides,
        )
    )
    return recipe if isinstance(recipe, Refusal) else (recipe, claimed[name])


def admit(request: AdmissionRequest, tools: Tools, say: Say) -> Evidence:
    """Judge one change. ``say`` is told each stage in a few words.

    Raises ``InfrastructureError`` and ``SandboxUnavailableError``: neither is a verdict.
    """
    language = LANGUAGES[request.recipe.language]
    say("building the environment")
    try:
        with environment(
            recipe=request.recipe,
            language=language,
            sandbox=tools.sandbox,
            store=tools.store,
            repository=tools.repository_id,
            export_head=lambda folder: tools.repository.export(request.head, folder),
            pass_env=tools.pass_env,
        ) as built:
            return _observe(request, tools, language, built, say)
    except BuildRefusedError as refused:
        return Evidence(reason=Reason(refused.refusal.code), detail=refused.refusal.detail, files=request.graded)


def _observe(request: AdmissionRequest, tools: Tools, language: Language, built: Environment, say: Say) -> Evidence:
    seen = probe(tools.sandbox)
    if not seen.denied:
        raise InfrastructureError(
            f"the sandbox {seen.sandbox} does not deny the network: {seen.detail}", "see `casewright doctor`"
        )
    with tools.store.scratch() as work:
        trees = {State.BASE: work / "base", State.HEAD: work / "head"}
        tools.repository.export(request.head, trees[State.HEAD])
        tools.repository.export(request.base, trees[State.BASE])
        complaint = _put_test_part(request, tools.repository, trees[State.BASE])
        if complaint:
            return Evidence(reason=Reason.TEST_PART_DOES_NOT_APPLY, detail=complaint, files=request.graded, built=True)

        def run(wanted: RunRequest) -> Observation:
            say(f"{wanted.state.value}{' with network' if wanted.network else ''}")
            return _run(wanted, trees[wanted.state], request, tools, language, built)

        with tools.processors.one():
            if request.by_exit_code:
                trial = try_by_exit_code(run, request.graded, request.repeat, request.limits)
            else:
                trial = try_change(run, request.graded, request.repeat, request.limits, tools.processors)
    verdict = trial.verdict
    kept = verdict.files or request.graded
    return Evidence(
        reason=verdict.reason,
        detail=verdict.detail,
        files=kept,
        excluded=verdict.excluded,
        lists=verdict.lists,
        built=True,
        trial=trial,
        environment=built,
        setup=language.setup(request.recipe, built),
        check=language.check(request.recipe, kept),
        probe=seen,
        by_exit_code=request.by_exit_code,
    )


def _put_test_part(request: AdmissionRequest, repository: Repository, tree: Path) -> str:
    """Put the test part on an exported base; return git's complaint where it does not apply."""
    if request.test_part:
        complaint = repository.apply(repository.diff_patch(request.base, request.head, request.test_part), tree)
        if complaint:
            return complaint
    base, head = repository.tree(request.base), repository.tree(request.head)
    for path, hunks in by_file(request.hunks):
        # Regular files of both trees: nothing else is split.
        spliced = with_hunks(base.read(path) or b"", head.read(path) or b"", hunks)
        (tree / os.fsdecode(path)).write_bytes(spliced)
    return ""


def _run(
    wanted: RunRequest,
    tree: Path,
    request: AdmissionRequest,
    tools: Tools,
    language: Language,
    built: Environment,
) -> Observation:
    seen = observe_once(
        sandbox=tools.sandbox,
        language=language,
        environment=built,
        check=language.check(request.recipe, wanted.files),
        files=wanted.files,
        directory=request.recipe.directory,
        tree=tree,
        limits=wanted.limits,
        variation=wanted.variation,
        network=wanted.network,
    )
    # What a report says has no part in it, neither in the verdict nor in the record.
    return replace(seen, reading=ReportReading()) if request.by_exit_code else seen
