"""``environment`` from its options to the printed answer: with a workspace's settings where there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from authoring.candidate import ERA_WINDOW_SECONDS
from authoring.desk import JudgingOptions, commands
from casewright.cli.environment_output import EnvironmentView, environment_object, environment_text
from casewright.cli.options import Common
from casewright.cli.output import noted, printed, printed_json
from casewright.cli.version import tool_version
from casewright.configuration import Configuration, LibrarySection, configuration_of
from casewright.errors import ExitCode, NoWorkspaceError
from casewright.repository import Repository, open_source
from casewright.store import Store
from casewright.workspace import Workspace, find_workspace, locked
from execution.recipe import Recipe
from execution.sandboxes import choose
from miner.admission import Tools
from miner.environment import EnvironmentExplanation, build_environment, explain_environment, is_stored
from miner.ledger import Ledger
from miner.repository_id import repository_id
from miner.shape_rules import rules_of


@dataclass(frozen=True, kw_only=True, slots=True)
class EnvironmentRequest:
    """What ``environment`` is asked for; ``test`` and ``setup`` are commands of the user's own, or empty."""

    source: str
    commit: str
    build: bool
    test: str
    setup: str


def run_environment(common: Common, request: EnvironmentRequest) -> int:
    """Print the answer. Exit code 1 where there is no environment.

    Raises ``InfrastructureError`` when the network or the disk kept a build from its end.
    """
    store = Store()
    workspace, configuration = _settings(common)
    with ExitStack() as stack:
        repository = stack.enter_context(open_source(request.source, store.root))
        for note in repository.notes:
            noted(f"note: {note}", verbosity=common.verbosity)
        name = repository_id(repository.remote_url, repository.name)
        # Where nothing was said, everything that was said can be obeyed: nothing is to be graded here.
        options = JudgingOptions(test=request.test, setup=request.setup)
        overrides = commands(configuration, name, options)
        rules, _ = rules_of(configuration.repository(name))
        notes: list[str] = []
        dated = stack.enter_context(_era_dates(workspace, notes, keep=request.build))
        explained = explain_environment(repository, request.commit, rules, overrides, dated)
        view = _view(common, request, repository, name, explained, configuration, store, tuple(notes))
    if common.json:
        printed_json(environment_object(view))
    else:
        printed(environment_text(view))
    return ExitCode.DONE if view.refusal is None else ExitCode.NO


def _view(
    common: Common,
    request: EnvironmentRequest,
    repository: Repository,
    name: str,
    explained: EnvironmentExplanation,
    configuration: Configuration,
    store: Store,
    notes: tuple[str, ...],
) -> EnvironmentView:
    built = None
    if request.build and isinstance(explained.planned, Recipe):
        tools = Tools(
            repository=repository,
            repository_id=name,
            sandbox=choose(),
            store=store,
            pass_env=configuration.repository(name).setup.pass_env,
        )
        noted(f"building the environment of {explained.commit[:10]}", verbosity=common.verbosity)
        built = build_environment(explained.planned, explained.commit, tools)
    message = repository.commit(explained.commit).message
    return EnvironmentView(
        repository=name,
        subject=message.split(b"\n", 1)[0].decode("utf-8", "backslashreplace"),
        explained=explained,
        build=built,
        stored=isinstance(explained.planned, Recipe) and is_stored(explained.planned, store),
        notes=notes,
    )


def _settings(common: Common) -> tuple[Workspace | None, Configuration]:
    """Return the workspace and its settings; usual settings where there is none, since none is needed to look."""
    try:
        workspace = find_workspace(common.directory)
    except NoWorkspaceError:
        return None, Configuration(library=LibrarySection(id="none", title="none"))
    return workspace, configuration_of(workspace)


@contextmanager
def _era_dates(workspace: Workspace | None, notes: list[str], *, keep: bool) -> Iterator[Callable[[Recipe], int]]:
    """Give what pins a recipe to its era's date, as ``mine`` does it: the ledger knows it, and keeps it for a build."""
    if workspace is None:
        yield lambda recipe: recipe.date
        return

    def asked(ledger: Ledger) -> Callable[[Recipe], int]:
        def date(recipe: Recipe) -> int:
            pinned = ledger.era_date(recipe.era(), recipe.date, ERA_WINDOW_SECONDS)
            if pinned != recipe.date:
                notes.append("the era was built for a later change first, and keeps that date")
            return pinned

        return date

    with ExitStack() as stack:
        if keep:
            stack.enter_context(locked(workspace))
            yield asked(stack.enter_context(Ledger.open(workspace.ledger, tool=tool_version())))
        else:
            yield asked(stack.enter_context(Ledger.open_copy(workspace.ledger, tool=tool_version())))
