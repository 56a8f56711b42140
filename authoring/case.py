"""The case: what one benchmark case pins, asks, runs and shows, in the key order of ``cases/<id>.yaml``.

These are strict models: unknown keys, wrong types, short ids and floats are refused, and the JSON Schemas are made from
them. Build one with keyword arguments (tuples for lists), or read one with ``authoring.draft.load_draft``. Rules that
join several fields stand in ``authoring.consistency``, which a library's check uses too.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from authoring.consistency import record_digest
from authoring.fields import (
    Code,
    Command,
    Count,
    Day,
    Digest,
    FullLine,
    Hex64,
    Line,
    Moment,
    ObjectId,
    Positive,
    Prose,
    RelativePath,
    RepositoryId,
    Slug,
    Text,
    Url,
    Whole,
)
from execution.observation import FailsBy

CASE_SCHEMA: Final = "casewright.case/v1"
UNCATEGORISED = "uncategorised"


class Record(BaseModel):
    """Base of every part of a case: strict, closed and immutable."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, json_schema_serialization_defaults_required=True
    )


class Style(StrEnum):
    """How a change landed on its branch."""

    MERGE = "merge"
    SQUASH = "squash"
    REBASE = "rebase"
    DIRECT = "direct"


class ReviewState(StrEnum):
    """Whether a person has read the case (``verified``) or a tool alone has written it (``auto``)."""

    AUTO = "auto"
    VERIFIED = "verified"


class Mode(StrEnum):
    """How a candidate is graded: by each test, or by the exit code alone where the user asked for that."""

    PER_TEST = "per-test"
    EXIT_CODE = "exit-code"


class NetworkUse(StrEnum):
    """What the environment needs the network for. Tests never have it."""

    SET_UP_ONLY = "set-up only"
    NEVER = "never"


class Landing(Record):
    """How the change landed, and in one sentence how that was decided."""

    style: Style
    decided_by: Line


class PullRequest(Record):
    """The pull request that brought the change."""

    url: Url
    number: Positive
    title: Line
    merged_at: Moment | None


class Issue(Record):
    """An issue that the change answers. Never candidate-visible unless a person copies from it."""

    url: Url
    number: Positive
    title: Line
    body: Text
    labels: tuple[Line, ...]
    created: Moment


class TextFrom(Record):
    """A text that the task was drafted from, and the sentences that it gave, as they were before any edit.

    The first releases kept only how many those were.
    """

    source: Line
    sentences: tuple[Line, ...] | Count

    @property
    def taken(self) -> tuple[str, ...]:
        """The sentences, or one that says how many there were where that is all that was kept."""
        return (f"({self.sentences} sentences)",) if isinstance(self.sentences, int) else self.sentences


class Source(Record):
    """Where the change comes from: addresses, dates (UTC), licence (an SPDX expression; null when unknown), texts.

    ``proposed_by`` says what brought the change forward: ``mine``, ``add-case``, an importer's name.
    """

    commit_url: Url | None
    authored: Moment
    committed: Moment
    licence: FullLine | None
    pull_request: PullRequest | None
    issues: tuple[Issue, ...]
    text_from: tuple[TextFrom, ...]
    proposed_by: Line


class Runtime(Record):
    """An interpreter and its exact version, such as ``python`` ``3.12.1``."""

    name: FullLine
    version: FullLine


class Environment(Record):
    """How a stranger makes the environment in a plain clone: ``setup`` is run by ``sh``, one command after another.

    ``era`` is 64 hex digits over all that decides it, ``dependencies`` the exact versions that it held.
    """

    runtime: Runtime
    era: Hex64
    setup: tuple[Command, ...]
    dependencies: tuple[FullLine, ...]
    network: NetworkUse


class ExcludedFile(Record):
    """A graded file that is left out as a grader: a reason's code and the evidence."""

    path: RelativePath
    reason: Code
    detail: Text


class FailureRow(Record):
    """How one fail-to-pass test fails at the base."""

    id: Text
    how: FailsBy


class Limits(Record):
    """The envelope of one run, the same when a case is admitted and when a candidate is graded."""

    seconds: Positive
    memory_mb: Positive
    processes: Positive
    output_mb: Positive
    disk_mb: Positive


class HunkRow(Record):
    """Lines of the base in a file that holds source and tests, and those of the grading commit that take their place.

    Lines count from 1. Without lines at the base the others are put in before ``base_line`` (one more than there are:
    at the end). ``item`` is what they hold, such as ``mod tests``.
    """

    path: RelativePath
    item: FullLine
    base_line: Positive
    base_lines: Count
    grading_line: Positive
    grading_lines: Count


class Grading(Record):
    """Evaluator-side: the test part, the commands and which tests decide. Paths are from the clone's root.

    ``apply`` runs at the clone's root, ``check`` in ``directory``. Test ids are the runner's own, verbatim.
    ``test_hunks`` is written where a file of the test part holds source too: only these lines of it are the test part.
    """

    mode: Mode
    files: Annotated[tuple[RelativePath, ...], Field(min_length=1)]
    support_files: tuple[RelativePath, ...]
    excluded_files: tuple[ExcludedFile, ...]
    test_hunks: Annotated[tuple[HunkRow, ...], Field(exclude_if=lambda rows: not rows)] = ()
    apply: Command
    check: Command
    resolved_when: FullLine
    fail_to_pass: tuple[Text, ...]
    pass_to_pass: tuple[Text, ...]
    fails_by: tuple[FailureRow, ...]
    skipped_at_head: tuple[Text, ...]
    unstable_at_base: tuple[Text, ...]
    limits: Limits
    directory: RelativePath


class Counts(Record):
    """How many tests ended how in one run."""

    passed: Count
    failed: Count
    error: Count
    skipped: Count
    xfailed: Count
    xpassed: Count
    todo: Count


class State(Record):
    """What was seen of one state: the runner's summary verbatim, and the telling error (or null).

    ``seconds`` is the slowest repeat in whole milliseconds: entries hold no floats.
    """

    summary: Text
    counts: Counts
    error: Text | None
    exit_code: Whole
    repeats: Positive
    seconds: Count


class Network(Record):
    """Which sandbox denied the network while tests ran, and what a program inside saw when it tried to reach out."""

    sandbox: FullLine
    probe: FullLine


class Verification(Record):
    """The proof: what was seen at base and head, on which day (UTC), with what, and that the record was reproduced."""

    date: Day
    base: State
    head: State
    runtime: FullLine
    runner: FullLine
    platform: FullLine
    network: Network
    reproduced: bool
    record_digest: Digest
    tool: FullLine


class Size(Record):
    """How large the change is: files and changed lines of the rest part, and the number of graded tests."""

    files: Count
    lines: Count
    tests: Count


class Waiver(Record):
    """A finding of ``lint`` that a person lets stand, and why; it lapses when the text that it names changes."""

    code: Code
    text: Text
    reason: FullLine


class Review(Record):
    """Who read the case and when; ``task_digest`` names the task text that was read."""

    state: ReviewState
    by: FullLine | None
    date: Day | None
    task_digest: Digest | None
    waivers: tuple[Waiver, ...]


class Case(Record):
    """One draft, its keys in file order. ``schema`` and ``hints`` may be left out when building."""

    model_config = ConfigDict(title="casewright case")

    schema_: Annotated[Literal["casewright.case/v1"], Field(alias="schema")] = CASE_SCHEMA
    id: Slug
    case_version: Positive
    repository_id: RepositoryId
    repository_url: Url
    base_commit: ObjectId
    grading_commit: ObjectId
    landing: Landing
    source: Source
    language: FullLine
    category: FullLine
    task: Prose
    hints: Prose | None = None
    environment: Environment
    grading: Grading
    verification: Verification
    size: Size
    review: Review


UNREVIEWED = Review(state=ReviewState.AUTO, by=None, date=None, task_digest=None, waivers=())


def to_plain(record: Record) -> dict[str, Any]:
    """Return a case, or a part of one, as plain JSON values with its keys in file order."""
    return record.model_dump(mode="json", by_alias=True)


def with_record_digest(case: Case) -> Case:
    """Return the case with the digest that its record has now; what a builder calls last."""
    verification = case.verification.model_copy(update={"record_digest": record_digest(to_plain(case))})
    return case.model_copy(update={"verification": verification})


def new_id(repository_id: str, head: str, pull_request: int | None = None, taken: frozenset[str] = frozenset()) -> str:
    """Return a case id: ``<name>-pr<N>`` or ``<name>-<first 10 of head>``, with the owner before it when it is taken.

    ``repository_id`` is ``owner/name``. When the name with the owner is taken too, a number is added.
    """
    owner, _, name = repository_id.rpartition("/")
    tail = f"pr{pull_request}" if pull_request is not None else head[:10]
    plain = _slug(f"{name}-{tail}")
    if plain not in taken:
        return plain
    owned = _slug(f"{owner}-{name}-{tail}") if owner else plain
    number = 2
    chosen = owned
    while chosen in taken:
        chosen, number = f"{owned}-{number}", number + 1
    return chosen


def _slug(text: str) -> str:
    kept = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in text.lower())
    return "-".join(part for part in kept.split("-") if part)[:190] or "case"
