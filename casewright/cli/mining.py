"""``mine`` and ``add-case`` from the settings and the options to printed results; what is judged is kept at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import Final

from authoring.case import Mode
from authoring.desk import Desk, JudgingOptions, commands, judging_digest, open_desk
from authoring.mining import Mining, mine
from authoring.sources import remember
from casewright.cli.estimate import estimate, estimate_object, estimate_text
from casewright.cli.judgement_output import funnel_text, judgement_object, judgement_row, judgement_text
from casewright.cli.options import Common
from casewright.cli.output import noted, printed, printed_json
from casewright.cli.progress import followed
from casewright.cli.scanning import candidates, line_of_json, tell_funnel
from casewright.cli.version import tool_version
from casewright.configuration import Configuration, configuration_of
from casewright.errors import ExitCode, SandboxUnavailableError, UsageError
from casewright.repository import Repository, open_source
from casewright.store import Store
from casewright.workspace import Workspace, find_workspace, locked
from execution.sandboxes import choose
from miner.change import Change
from miner.content import ContentScreens, past_around
from miner.funnel import funnel
from miner.history import Stretch, change_of
from miner.judgement import Judgement, Standing
from miner.ledger import Ledger
from miner.observer import Observer
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
    options: JudgingOptions


@dataclass(frozen=True, kw_only=True, slots=True)
class AddRequest:
    """What ``add-case`` is asked for."""

    source: str
    commit: str
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
        except SandboxUnavailableError:
            # The screens have spoken all the same, and why they dropped what they dropped is known.
            _tell_sums(common, request, session, ledger)
            raise
        _tell_sums(common, request, session, ledger)
    return ExitCode.COULD_NOT if spoilt else ExitCode.DONE


def _tell_sums(common: Common, request: MineRequest, session: _Session, ledger: Ledger) -> None:
    if not request.plan:
        tell_funnel(common, funnel_text(funnel(ledger.tallies(session.id))))


def run_add_case(common: Common, request: AddRequest) -> int:
    """Judge one commit, whatever is known of it, and print the judgement. A rejection gives exit code 1."""
    workspace = find_workspace(common.directory)
    with ExitStack() as stack:
        if not request.dry_run:
            stack.enter_context(locked(workspace))
        session = _opened(stack, common, workspace, request.source, request.options)
        if not request.dry_run:
            remember(workspace, session.id, request.source)
        change = change_of(session.repository, request.commit)
        ledger = stack.enter_context(
            Ledger.open_copy(workspace.ledger, tool=tool_version())
            if request.dry_run
            else Ledger.open(workspace.ledger, tool=tool_version())
        )
        desk = _desk(session, Stretch())
        past = past_around(session.repository, change, _with_branch(Stretch(branch=""), session).branch)
        screens = ContentScreens(session.repository, past, desk.size_limits)
        desk = replace(desk, case_id=request.case_id, dry_run=request.dry_run, screens=screens)
        with followed(common.verbosity) as observer:
            mining = _mining(session, desk, ledger, observer, jobs=1, again=True)
            with closing(_judged(mining, (change,))) as judgements:
                judgement = next(judgements)
    if common.json:
        printed_json(judgement_object(judgement), line=True)
    else:
        printed(judgement_text(judgement))
    match judgement.standing:
        case Standing.ADMITTED:
            return ExitCode.DONE
        case Standing.INFRASTRUCTURE:
            return ExitCode.COULD_NOT
        case Standing.REJECTED | Standing.CANDIDATE:
            return ExitCode.NO


@dataclass(frozen=True, kw_only=True, slots=True)
class _Session:
    """A repository opened to be judged in a workspace."""

    workspace: Workspace
    configuration: Configuration
    repository: Repository
    id: str
    store: Store
    options: JudgingOptions


def _opened(stack: ExitStack, common: Common, workspace: Workspace, source: str, options: JudgingOptions) -> _Session:
    configuration = configuration_of(workspace)
    store = Store()
    repository = stack.enter_context(open_source(source, store.root))
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
        mining = _mining(session, _desk(session, stretch), ledger, observer, jobs=jobs, again=request.again)
        judged: list[Judgement] = []
        show = _shown_by(common)
        with closing(_judged(mining, changes[:PLAN_SAMPLE] if request.plan else changes)) as judgements:
            for judgement in judgements:
                judged.append(judgement)
                if not request.plan:
                    show(judgement)
    if request.plan:
        _tell_plan(common, session, mining, changes, judged)
    return sum(judgement.standing is Standing.INFRASTRUCTURE for judgement in judged)


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
