"""The environment of one commit: explained without running anything, and built where that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from casewright.repository import Repository
from casewright.store import ENVIRONMENTS, Store
from execution.build import BuildRefusedError, environment, environment_key
from execution.foreseen import foreseen_commands
from execution.languages import LANGUAGES
from execution.languages.base import Refusal
from execution.languages.inline_item import UnsafeItemError
from execution.languages.inline_tests import ENDINGS, reader_of
from execution.recipe import Environment, Recipe
from miner.admission import Tools, plan
from miner.change import Change
from miner.history import change_of
from miner.inline_tests import NO_INLINE_TESTS, inline_tests
from miner.parts import Parts, split
from miner.path_rules import PathRules, Side
from miner.reasons import Reason

# A suite's choice of runner and project shows in its first files; reading thousands would only take longer.
MOST_TEST_FILES: Final = 200

# What a person writes who says the whole set-up; the words in capitals are to be replaced.
_OWN_COMMANDS: Final = (("setup.commands", "COMMAND THAT INSTALLS"), ("check", "COMMAND {files} REPORT TO {report}"))
_NONE: Final[frozenset[str]] = frozenset()
_PASSED_ON: Final = (("setup.pass_env", "UV_INDEX"),)
_OWN_COMMANDS_REMEDY: Final = (
    "say by commands of your own how the tests are set up and run (a report: JUnit XML or TAP)"
)

Dated = Callable[[Recipe], int]


@dataclass(frozen=True, kw_only=True, slots=True)
class EnvironmentExplanation:
    """What would be built for a commit, or why nothing can be.

    ``graded`` are the test files that it is planned for: those of the change that the commit makes, or, where it
    changes none (``of_change`` is false), the first ``MOST_TEST_FILES`` of the tree; ``tests_in_tree`` counts them all
    then. ``commands`` are foreseen, ``check`` is how the tests would be run. ``base`` is empty for a root commit.
    """

    commit: str
    base: str
    graded: tuple[str, ...]
    of_change: bool
    tests_in_tree: int
    planned: Recipe | Refusal
    commands: tuple[str, ...] = ()
    check: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class EnvironmentBuild:
    """How a build ended: with an environment (``reused``: it was there already), or with a refusal."""

    ended: Environment | Refusal
    reused: bool = False


def explain_environment(
    repository: Repository, revision: str, rules: PathRules, overrides: Mapping[str, str], dated: Dated
) -> EnvironmentExplanation:
    """Explain the environment of any commit, as ``mine`` would plan it.

    ``dated`` gives the date that a recipe's era is pinned to. Raises ``UsageError`` for a revision that is unknown.
    """
    facts = repository.commit(revision)
    base = facts.parents[0] if facts.parents else ""
    parts = _changed_parts(repository, change_of(repository, facts.id), rules, overrides) if base else None
    changed = _changed_tests(repository, facts.id, parts, overrides) if parts else ()
    split_files = frozenset(path.decode("utf-8", "surrogateescape") for path in parts.inline.files) if parts else _NONE
    planned = plan(repository, base, facts.id, changed, overrides, split_files) if changed else None
    of_change = planned is not None and not _unrunnable(planned)
    in_tree: tuple[str, ...] = ()
    if planned is None or not of_change:
        in_tree = _tests_of_tree(repository, facts.id, rules)
        planned = _planned_for_tree(repository, base or facts.id, facts.id, in_tree, overrides)
    explained = EnvironmentExplanation(
        commit=facts.id,
        base=base,
        graded=changed if of_change else in_tree[:MOST_TEST_FILES],
        of_change=of_change,
        tests_in_tree=len(in_tree),
        planned=with_remedy(planned) if isinstance(planned, Refusal) else planned[0],
    )
    if isinstance(planned, Refusal):
        return explained
    recipe = replace(planned[0], date=dated(planned[0]))
    return replace(
        explained,
        graded=planned[1],
        planned=recipe,
        commands=foreseen_commands(recipe),
        check=LANGUAGES[recipe.language].check(recipe, planned[1]).command,
    )


def build_environment(recipe: Recipe, commit: str, tools: Tools) -> EnvironmentBuild:
    """Build the environment of a recipe into the store, where the miner finds it; what is there is taken.

    Raises ``InfrastructureError`` when the network or the disk failed, and ``SandboxUnavailableError``.
    """
    reused = is_stored(recipe, tools.store)
    try:
        with environment(
            recipe=recipe,
            language=LANGUAGES[recipe.language],
            sandbox=tools.sandbox,
            store=tools.store,
            repository=tools.repository_id,
            export_head=lambda folder: tools.repository.export(commit, folder),
            pass_env=tools.pass_env,
        ) as built:
            return EnvironmentBuild(ended=built, reused=reused)
    except BuildRefusedError as refused:
        return EnvironmentBuild(ended=with_remedy(refused.refusal))


def with_remedy(refusal: Refusal) -> Refusal:
    """Return a refusal with a remedy where it has none, and with the lines of ``casewright.yaml`` that a remedy means.

    A way that is open for every tree is better than none: commands of the user's own.
    """
    if refusal.settings:
        return refusal
    remedy = refusal.remedy or _OWN_COMMANDS_REMEDY
    if not refusal.remedy or "setup.commands" in remedy:
        return replace(refusal, remedy=remedy, settings=_OWN_COMMANDS)
    return replace(refusal, settings=_PASSED_ON) if "setup.pass_env" in remedy else refusal


def is_stored(recipe: Recipe, store: Store) -> bool:
    """Say whether the environment of a recipe is in the store already."""
    return (store.root / ENVIRONMENTS / environment_key(recipe)).is_dir()


def _changed_parts(repository: Repository, change: Change, rules: PathRules, overrides: Mapping[str, str]) -> Parts:
    # A command of the user's own is no rule that could say which tests of a source file it runs.
    inline = NO_INLINE_TESTS if overrides.get("test") else inline_tests(repository, change, rules)
    return split(change.entries, rules, inline)


def _changed_tests(repository: Repository, head: str, parts: Parts, overrides: Mapping[str, str]) -> tuple[str, ...]:
    # Nor one that could say more of a file than its name does.
    paths = parts.graded_at_head if overrides.get("test") else parts.test_at_head
    there = repository.tree(head).paths
    return tuple(path.decode("utf-8", "surrogateescape") for path in paths if path in there)


def _tests_of_tree(repository: Repository, commit: str, rules: PathRules) -> tuple[str, ...]:
    """Return the files of a tree that are tests by their names; where there are none, those that hold some."""
    tree = repository.tree(commit)
    paths = sorted(path for path in tree.paths if rules.decide(path).side is Side.GRADED)
    if not paths:
        sources = (path for path in sorted(tree.paths) if path.endswith(ENDINGS) and rules.decide(path).source)
        paths = [path for path in sources if _holds_tests(path, tree.read(path) or b"")]
    return tuple(path.decode("utf-8", "surrogateescape") for path in paths)


def _holds_tests(path: bytes, content: bytes) -> bool:
    reader = reader_of(path)
    try:
        return reader is not None and any(item.selects for item in reader(content))
    except UnsafeItemError:
        return False


def _planned_for_tree(
    repository: Repository, base: str, head: str, tests: tuple[str, ...], overrides: Mapping[str, str]
) -> tuple[Recipe, tuple[str, ...]] | Refusal:
    if not tests:
        return Refusal(
            code=Reason.UNKNOWN_LANGUAGE,
            detail="no file of the tree has the name of a test",
            remedy="name the test files by globs under tests.graded of the repository in casewright.yaml",
        )
    return plan(repository, base, head, tests[:MOST_TEST_FILES], overrides)


def _unrunnable(planned: tuple[Recipe, tuple[str, ...]] | Refusal) -> bool:
    """Whether the change's test files are none that a rule runs: fixtures, mostly. The tree may hold some."""
    return isinstance(planned, Refusal) and planned.code == Reason.UNKNOWN_LANGUAGE
