"""What preparing and concluding need beyond the change itself: the repository, its settings, and who is working."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from authoring.case import Mode
from casewright.configuration import (
    CategorySection,
    Configuration,
    StatementSection,
    configuration_digest,
    overrides,
)
from casewright.errors import UsageError
from casewright.repository import Repository
from casewright.store import Store
from casewright.workspace import Workspace
from execution.languages.generic_command import wants_report
from execution.recipe import RULES_VERSION
from execution.sandbox import Limits, Sandbox
from miner.admission import Tools
from miner.content import ContentScreens, PastChanges
from miner.history import Stretch
from miner.path_rules import PathRules
from miner.pull_texts import NO_TEXTS, TextsOfChanges
from miner.repository_id import repository_id
from miner.screen import SizeLimits
from miner.shape_rules import rules_of

USUAL_REPEAT = 3
# A draft of a repository that nobody can clone says so; `cut` refuses it.
UNPUBLISHED = "unpublished:"


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgingOptions:
    """What ``mine`` and ``add-case`` are told about judging; None and empty where nothing was said."""

    repeat: int | None = None
    category: str | None = None
    setup: str = ""
    test: str = ""
    grade_by: Mode = Mode.PER_TEST

    def digested(self) -> Mapping[str, object]:
        """Return what may change a verdict, as plain JSON values."""
        return {"repeat": self.repeat, "setup": self.setup, "test": self.test, "grade_by": self.grade_by.value}


@dataclass(frozen=True, kw_only=True, slots=True)
class Desk:
    """Everything in one place; nothing here changes while a run goes on.

    ``licence`` and ``category`` are None where nobody said; ``overrides`` is what the language module is told,
    ``statement`` the user's own command that proposes texts.
    """

    workspace: Workspace
    tools: Tools
    repository_id: str
    repository_url: str
    rules: PathRules
    size_limits: SizeLimits
    limits: Limits
    screens: ContentScreens
    repeat: int
    tool: str
    proposed_by: str
    overrides: Mapping[str, str]
    grade_by: Mode = Mode.PER_TEST
    licence: str | None = None
    category: str | None = None
    usual_category: str | None = None
    categories: tuple[CategorySection, ...] = ()
    case_id: str | None = None
    dry_run: bool = False
    texts: TextsOfChanges = NO_TEXTS
    statement: StatementSection | None = None


def open_desk(
    workspace: Workspace,
    configuration: Configuration,
    repository: Repository,
    sandbox: Sandbox,
    store: Store,
    options: JudgingOptions,
    stretch: Stretch,
    *,
    tool: str,
    proposed_by: str,
) -> Desk:
    """Return the desk for one repository of a workspace; the command line's options win over the workspace's.

    Raises ``UsageError`` for commands that can't be obeyed (see ``commands``).
    """
    name = repository_id(repository.remote_url, repository.name)
    section = configuration.repository(name)
    rules, size_limits = rules_of(section)
    tip = stretch.commit_range.partition("..")[2] or stretch.branch
    past = PastChanges(repository, tip, all_commits=stretch.all_commits)
    said = commands(configuration, name, options)
    return Desk(
        workspace=workspace,
        tools=Tools(
            repository=repository,
            repository_id=name,
            sandbox=sandbox,
            store=store,
            pass_env=section.setup.pass_env,
        ),
        repository_id=name,
        repository_url=section.url or repository.remote_url or f"{UNPUBLISHED}{name}",
        rules=rules,
        size_limits=size_limits,
        limits=replace(Limits(), **configuration.limits(name)),
        screens=ContentScreens(repository, past, size_limits),
        repeat=options.repeat or configuration.defaults.repeat or USUAL_REPEAT,
        tool=tool,
        proposed_by=proposed_by,
        overrides=said,
        grade_by=options.grade_by,
        licence=section.licence,
        category=options.category,
        categories=section.categories,
        usual_category=configuration.defaults.category,
        statement=configuration.statement(name),
    )


def commands(configuration: Configuration, name: str, options: JudgingOptions) -> Mapping[str, str]:
    """Return what the language module is told of a repository, the command line's words before the workspace's.

    Raises ``UsageError`` where something that was said could only be ignored: a set-up command without a test command,
    a test command without a report although each test is to be graded, wishes for a runtime or a runner that a command
    of the user's own does not get.
    """
    given = {"setup": options.setup, "test": options.test}
    said = {**overrides(configuration.repository(name)), **{key: value for key, value in given.items() if value}}
    if "setup" in said and "test" not in said:
        raise UsageError(
            f"a set-up command needs a test command beside it: {said['setup'].splitlines()[0]!r}",
            "give --test-cmd too (or `check` in casewright.yaml)",
        )
    if options.grade_by is Mode.PER_TEST and "test" in said and not wants_report(said["test"]):
        raise UsageError(
            f"the test command {said['test']!r} has no {{report}}, so no single test can be graded",
            "write {report} where its JUnit XML or TAP goes, or grade by the whole with --grade-by exit-code",
        )
    ignored = [key for key in ("python", "node", "go", "rust", "runner") if key in said]
    if "test" in said and ignored:
        raise UsageError(
            f"casewright.yaml asks for {ignored[0]} {said[ignored[0]]!r}, which a command of your own does not get",
            f"leave `{ignored[0]}` of {name} out there, or leave the command out",
        )
    return said


def judging_digest(configuration: Configuration, name: str, options: JudgingOptions) -> str:
    """Return the digest under which a change's judgement is known again."""
    return configuration_digest(configuration, name, options.digested(), RULES_VERSION)
