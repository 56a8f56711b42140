"""``mine`` and ``add-case`` from the settings and the options to printed results; what is judged is kept at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import Final

from authoring.candidate import source_texts
from authoring.case import Mode
from authoring.desk import Desk, JudgingOptions, commands, judging_digest, open_desk
from authoring.draft import load_draft
from authoring.mining import Mining, mine
from authoring.sources import remember
from casewright.cli.added_output import Added, added_object, added_text, linted_draft_of
from casewright.cli.estimate import estimate, estimate_object, estimate_text
from casewright.cli.explain_output import explanation_object, explanation_text
from casewright.cli.judgement_output import funnel_text, judgement_object, judgement_row
from casewright.cli.lint_output import Linted, linted_draft
from casewright.cli.options import Common
from casewright.cli.output import noted, printed, printed_json
from casewright.cli.progress import followed
from casewright.cli.pulls import AskedPull, ask_for_pull, forge_behind, landed_change, open_forge
from casewright.cli.scanning import candidates, line_of_json, tell_funnel
from casewright.cli.version import tool_version
from casewright.configuration import Configuration, configuration_of
from casewright.errors import ExitCode, ForgeError, SandboxUnavailableError, UsageError
from casewright.repository import Repository, open_source
from casewright.store import Store
from casewright.workspace import Workspace, find_workspace, locked
from execution.sandboxes import choose
from miner.change import Change
from miner.content import ContentScreens, past_around
from miner.explanation import ChangeExplanation, explain_change
from miner.forge_cache import FORGE_CACHE, ForgeCache
from miner.forge_facts import ForgeTexts
from miner.funnel import funnel
from miner.history import Stretch, change_of
from miner.judgement import Judgement, Standing
from miner.ledger import Ledger
from miner.observer import Observer
from miner.pull_texts import NO_TEXTS, KnownTexts, PullTexts, TextsOfChanges
from miner.repository_id import repository_id
from miner.scan import scan
from miner.shape_rules import rules_of

PLAN_SAMPLE: Final = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class MineRequest:
    """What ``mine`` is asked for; ``limit`` counts candidates, an empty branch is the workspace's or HEAD."""

    source: str
    stretch: Stretch
    limit: int | None
    again: bool
    plan: bool
    pulls: bool
    options: JudgingOptions


@dataclass(frozen=True, kw_only=True, slots=True)
class AddRequest:
    """What ``add-case`` is asked for: a commit of a source, or a pull request (then the source may be left out)."""

    source: str | None
    commit: str | None
    pull: str | None
    case_id: str | None
    dry_run: bool
    options: JudgingOptions


def judging_options(
    repeat: int | None, test: str | None, setup: str | None, grade_by: str, category: str | None
) -> JudgingOptions:
    """Return the judging options of a command line. Raises ``UsageError`` for a way to grade that there is not."""
    if grade_by not in set(Mode):
        raise UsageError(f"there is no way to grade by {grade_by!r}", f"it is {' or '.join(Mode)}")
    return JudgingOptions(repeat=repeat, category=category, setup=setup or "", test=test or "", grade_by=Mode(grade_by))


def run_mine(common: Common, request: MineRequest) -> int:
    """Mine a stretch of history and print what became of each change, then the funnel.

    Infrastructure outcomes give exit code 3: the run is not over.
    """
    workspace = find_workspace(common.directory)
    with ExitStack() as stack:
        stack.enter_context(locked(workspace))
        session = _opened(stack, common, workspace, request.source, request.options)
        remember(workspace, session.id, request.source)
        ledger = stack.enter_context(Ledger.open(workspace.ledger, tool=tool_version()))
        stretch = _with_branch(request.stretch, session)
        try:
            spoilt = _mined(common, request, session, ledger, stretch)
        except (SandboxUnavailableError, ForgeError):
            # Why others were dropped is known all the same.
            _tell_sums(common, request, session, ledger)
            raise
        _tell_sums(common, request, session, ledger)
    return ExitCode.COULD_NOT if spoilt else ExitCode.DONE


def _tell_sums(common: Common, request: MineRequest, session: _Session, ledger: Ledger) -> None:
    if not request.plan:
        tell_funnel(common, funnel_text(funnel(ledger.tallies(session.id))))


def run_add_case(common: Common, request: AddRequest) -> int:
    """Judge one change, whatever is known of it, and print the judgement. A rejection gives exit code 1."""
    workspace = find_workspace(common.directory)
    with ExitStack() as stack:
        if not request.dry_run:
            stack.enter_context(locked(workspace))
        observer = stack.enter_context(followed(common.verbosity))
        asked = None if request.pull is None else ask_for_pull(request.pull, configuration_of(workspace), observer)
        source = request.source or (asked.clone_url if asked else "")
        session = _opened(stack, common, workspace, source, request.options, asked.clone_url if asked else "")
        if not request.dry_run:
            remember(workspace, session.id, source)
        if asked is None:
            change = change_of(session.repository, request.commit or "HEAD")
        else:
            change = landed_change(session.repository, asked)
            for note in asked.texts.notes:
                noted(f"note: {note}", verbosity=common.verbosity)
        ledger = stack.enter_context(
            Ledger.open_copy(workspace.ledger, tool=tool_version())
            if request.dry_run
            else Ledger.open(workspace.ledger, tool=tool_version())
        )
        desk = _desk_for(session, change, asked, request)
        explained = _explained(session, change, desk) if request.dry_run else None
        if explained is not None and not common.json:
            printed(explanation_text(explained) + "\n")
        jobs = common.jobs or len(os.sched_getaffinity(0))
        mining = _mining(session, desk, ledger, observer, jobs=jobs, again=True)
        with closing(_judged(mining, (change,))) as judgements:
            judgement = next(judgements)
        added = Added(
            judgement=judgement,
            texts=ForgeTexts() if asked is None else asked.texts,
            draft=linted_draft_of(judgement, session.repository) if judgement.draft else _written(session, judgement),
        )
    if common.json:
        shown = judgement_object(judgement) | added_object(added)
        printed_json(shown | ({"explanation": explanation_object(explained)} if explained else {}), line=True)
    else:
        printed(added_text(added))
    match judgement.standing:
        case Standing.ADMITTED:
            return ExitCode.DONE
        case Standing.INFRASTRUCTURE:
            return ExitCode.COULD_NOT
        case Standing.REJECTED | Standing.CANDIDATE:
            return ExitCode.NO


def _written(session: _Session, judgement: Judgement) -> Linted | None:
    """Return the draft that a judgement has led to, with what lint says of it; None where there is none."""
    if judgement.case is None:
        return None
    return linted_draft(session.workspace, load_draft(session.workspace, judgement.case))


def _desk_for(session: _Session, change: Change, asked: AskedPull | None, request: AddRequest) -> Desk:
    """Return the desk for one change: its texts, and the history that it is compared with."""
    repository = session.repository
    branch = _with_branch(Stretch(branch=""), session).branch
    if asked is not None and asked.pull.base_branch in repository.branches():
        branch = asked.pull.base_branch
    desk = _desk(session, Stretch())
    return replace(
        desk,
        case_id=request.case_id,
        dry_run=request.dry_run,
        screens=ContentScreens(repository, past_around(repository, change, branch), desk.size_limits),
        texts=desk.texts if asked is None else KnownTexts(texts=asked.texts),
    )


def _explained(session: _Session, change: Change, desk: Desk) -> ChangeExplanation:
    texts = tuple(f"{text.title}\n{text.text}" for text in source_texts((), desk.texts.of(change)))
    return explain_change(session.repository, change, desk.rules, desk.size_limits, texts)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Session:
    """A repository opened to be judged in a workspace."""

    workspace: Workspace
    configuration: Configuration
    repository: Repository
    id: str
    store: Store
    options: JudgingOptions


def _opened(
    stack: ExitStack, common: Common, workspace: Workspace, source: str, options: JudgingOptions, url: str = ""
) -> _Session:
    """Open a source; ``url`` is what a stranger would clone, where that is known better than the source tells it."""
    configuration = configuration_of(workspace)
    store = Store()
    repository = stack.enter_context(open_source(source, store.root))
    repository.remote_url = url or repository.remote_url
    for note in repository.notes:
        noted(f"note: {note}", verbosity=common.verbosity)
    name = repository_id(repository.remote_url, repository.name)
    # Said before a long scan, not after it.
    commands(configuration, name, options)
    return _Session(
        workspace=workspace,
        configuration=configuration,
        repository=repository,
        id=name,
        store=store,
        options=options,
    )


def _with_branch(stretch: Stretch, session: _Session) -> Stretch:
    branch = stretch.branch or session.configuration.repository(session.id).branch or "HEAD"
    return replace(stretch, branch=branch)


def _desk(session: _Session, stretch: Stretch) -> Desk:
    return open_desk(
        session.workspace,
        session.configuration,
        session.repository,
        choose(),
        session.store,
        session.options,
        stretch,
        tool=tool_version(),
        proposed_by=tool_version(),
    )


def _mining(session: _Session, desk: Desk, ledger: Ledger, observer: Observer, *, jobs: int, again: bool) -> Mining:
    return Mining(
        desk=desk,
        ledger=ledger,
        observer=observer,
        configuration=judging_digest(session.configuration, session.id, session.options),
        jobs=jobs,
        again=again,
    )


def _mined(common: Common, request: MineRequest, session: _Session, ledger: Ledger, stretch: Stretch) -> int:
    """Scan, judge and print; return how many changes the machine or the network spoilt."""
    digest = judging_digest(session.configuration, session.id, session.options)
    rules, limits = rules_of(session.configuration.repository(session.id))
    jobs = common.jobs or len(os.sched_getaffinity(0))
    with followed(common.verbosity) as observer:
        changes = candidates(
            scan(session.repository, stretch, rules, limits, request.limit),
            session.id,
            observer=observer,
            refused=lambda rows: ledger.refused(session.id, digest, rows),
            seen=line_of_json if common.json and not request.plan else None,
        )
        desk = _desk(session, stretch)
        if request.pulls:
            desk = replace(desk, texts=_texts(common, request, session, observer))
        mining = _mining(session, desk, ledger, observer, jobs=jobs, again=request.again)
        judged: list[Judgement] = []
        show = _shown_by(common)
        with closing(_judged(mining, changes[:PLAN_SAMPLE] if request.plan else changes)) as judgements:
            for judgement in judgements:
                judged.append(judgement)
                if not request.plan:
                    show(judgement)
    if isinstance(desk.texts, PullTexts):
        told = f"{desk.texts.forge.host.name} knows a pull request for {desk.texts.told_of(changes)} of {len(changes)}"
        noted(f"note: {told} changes; the others have their commit messages", verbosity=common.verbosity)
    if request.plan:
        _tell_plan(common, session, mining, changes, judged)
    return sum(judgement.standing is Standing.INFRASTRUCTURE for judgement in judged)


def _texts(common: Common, request: MineRequest, session: _Session, observer: Observer) -> TextsOfChanges:
    """Return where pull request and issue texts come from; commit messages alone, and that is said, without a forge."""
    url = session.configuration.repository(session.id).url or ""
    behind = forge_behind(session.repository, url, session.configuration)
    if behind is None:
        address = url or session.repository.remote_url or "it has no remote"
        noted(
            f"note: no forge is known for this history ({address}): tasks are drafted from commit messages;"
            " a host of GitHub Enterprise is named under forges in casewright.yaml",
            verbosity=common.verbosity,
        )
        return NO_TEXTS
    host, name = behind
    forge = open_forge(host, observer)
    if forge.token is None:
        noted(
            f"note: {host.name} is asked without a token, which it answers slowly; set GITHUB_TOKEN",
            verbosity=common.verbosity,
        )
    cache = ForgeCache(session.workspace.state / FORGE_CACHE, fresh=request.again)
    return PullTexts(forge=forge, repository=name, history=session.repository, cache=cache)


def _shown_by(common: Common) -> Callable[[Judgement], None]:
    if common.json:
        return line_of_json
    return lambda judgement: printed(judgement_row(judgement, with_detail=common.verbosity > 0))


def _tell_plan(
    common: Common, session: _Session, mining: Mining, changes: tuple[Change, ...], judged: list[Judgement]
) -> None:
    with Ledger.open_copy(session.workspace.ledger, tool=tool_version()) as copy:
        found = estimate(mining.desk, changes, judged, mining.jobs, copy.era_date)
    if common.json:
        printed_json(estimate_object(found))
    else:
        printed(estimate_text(found))


def _judged(mining: Mining, changes: tuple[Change, ...]) -> Generator[Judgement, None, None]:
    """What ``mine`` yields, as a generator that can be closed: leaving it early ends what is running."""
    yield from mine(mining, changes)
