"""A candidate prepared: content screens, texts, environment planned, all that its case says besides the proof.

Preparing reads git and runs nothing; it goes in the walk's order, since the first change of an era sets the era's date.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from authoring.apply_command import apply_command
from authoring.case import UNCATEGORISED, Mode
from authoring.compose import ChangeFacts, TaskText
from authoring.desk import Desk
from authoring.licence import licence_of
from authoring.statement import SourceText, TextKind, draft_statement
from casewright.configuration import CategorySection
from execution.languages.base import Refusal
from miner.admission import AdmissionRequest, plan
from miner.change import Change
from miner.content import task_lines, texts_of
from miner.forge_facts import ForgeTexts
from miner.inline_tests import NO_INLINE_TESTS, inline_tests
from miner.judgement import Judgement, Reached, Standing
from miner.parts import Parts, split
from miner.path_rules import glob_pattern
from miner.pull_texts import landed_as
from miner.reasons import Reason
from miner.screen import screen_parts, sentence, shown_path

# An era's date serves changes that are at most this much older (docs/decisions/0004).
ERA_WINDOW_SECONDS = 92 * 24 * 3600

EraDate = Callable[[str, int, int], int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A candidate that is ready to be judged."""

    change: Change
    subject: str
    repository_id: str
    repository_url: str
    licence: str | None
    category: str
    texts: tuple[SourceText, ...]
    text: TaskText
    told: ForgeTexts
    facts: ChangeFacts
    apply: str
    request: AdmissionRequest


def prepare(change: Change, desk: Desk, era_date: EraDate) -> Prepared | Judgement:
    """Return a candidate ready to be judged, or the reason against it.

    ``era_date`` gives the date that an era's environment is pinned to (see ``miner.ledger``). Raises
    ``RepositoryError`` when git fails, ``ForgeError`` when the change's texts can't be had.
    """
    repository = desk.tools.repository
    # Where a command of the user's own runs tests, nobody knows which of a source file's it runs.
    inline = NO_INLINE_TESTS if desk.overrides.get("test") else inline_tests(repository, change, desk.rules)
    parts = split(change.entries, desk.rules, inline)
    screened = screen_parts(change.entries, parts, desk.size_limits)
    if screened.reason is not None:
        return _refused(change, desk, screened.reason, sentence(screened), Reached.SCANNED)
    told = desk.texts.of(change)
    change = landed_as(change, told)
    texts = source_texts(texts_of(repository, change), told)
    finding = desk.screens.first_reason(change, parts, tuple(f"{text.title}\n{text.text}" for text in texts))
    if finding.reason is not None:
        return _refused(change, desk, finding.reason, finding.detail, Reached.SCANNED)
    # A command of the user's own is no rule that could say more of a file than its name does.
    candidates = parts.graded_at_head if desk.overrides.get("test") else parts.test_at_head
    test_files = tuple(path.decode() for path in candidates)
    split_files = frozenset(path.decode() for path in parts.inline.files)
    planned = plan(repository, change.base, change.head, test_files, desk.overrides, split_files)
    if isinstance(planned, Refusal):
        return _refused(change, desk, Reason(planned.code), planned.detail, Reached.SHAPED)
    recipe, collected = planned
    recipe = replace(recipe, date=era_date(recipe.era(), recipe.date, ERA_WINDOW_SECONDS))
    return Prepared(
        change=change,
        subject=shown_path(change.subject),
        repository_id=desk.repository_id,
        repository_url=desk.repository_url,
        licence=desk.licence or licence_of(repository.tree(change.head)),
        category=desk.category or _category(parts, desk.categories) or desk.usual_category or UNCATEGORISED,
        texts=texts,
        text=_text(texts),
        told=told,
        facts=_facts(change, desk, parts, collected),
        apply=apply_command(change.base, change.head, parts.whole_test, parts.inline.hunks),
        request=AdmissionRequest(
            base=change.base,
            head=change.head,
            graded=collected,
            test_part=parts.whole_test,
            hunks=parts.inline.hunks,
            recipe=recipe,
            repeat=desk.repeat,
            limits=desk.limits,
            by_exit_code=desk.grade_by is Mode.EXIT_CODE,
        ),
    )


def _refused(change: Change, desk: Desk, reason: Reason, detail: str, reached: Reached) -> Judgement:
    return Judgement(
        repository=desk.repository_id,
        base=change.base,
        head=change.head,
        landing=change.landing.value,
        subject=shown_path(change.subject),
        reached=reached,
        standing=Standing.REJECTED,
        reason=reason,
        detail=detail,
    )


def _facts(change: Change, desk: Desk, parts: Parts, graded: tuple[str, ...]) -> ChangeFacts:
    return ChangeFacts(
        base=change.base,
        head=change.head,
        style=change.landing.value,
        decided_by=change.landing_by,
        authored=change.author_time,
        committed=change.committer_time,
        support_files=tuple(path.decode() for path in parts.test if path.decode() not in graded),
        rest_files=len(parts.rest),
        rest_lines=task_lines(desk.tools.repository, change, parts),
        hunks=parts.inline.hunks,
    )


def source_texts(messages: tuple[str, ...], told: ForgeTexts) -> tuple[SourceText, ...]:
    """Return everything that people wrote of a change; of a part of a pull request only its own messages count."""
    found = [SourceText(kind=TextKind.COMMIT, source="commit message", title="", text=message) for message in messages]
    if told.pull is not None and told.whole:
        label = f"pull request {told.pull.reference.short}"
        pull = SourceText(kind=TextKind.PULL_REQUEST, source=label, title=told.pull.title, text=told.pull.body)
        issues = (
            SourceText(kind=TextKind.ISSUE, source=f"issue {issue.reference.short}", title=issue.title, text=issue.body)
            for issue in told.issues
        )
        found = [*issues, pull, *found]
    return tuple(found)


def _text(texts: tuple[SourceText, ...]) -> TaskText:
    statement = draft_statement(texts)
    return TaskText(task=statement.task, text_from=statement.text_from)


def _category(parts: Parts, categories: tuple[CategorySection, ...]) -> str | None:
    for section in categories:
        patterns = [re.compile(glob_pattern(glob)) for glob in section.paths]
        if any(pattern.fullmatch(path.decode("utf-8", "replace")) for pattern in patterns for path in parts.rest):
            return section.category
    return None
