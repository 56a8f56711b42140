"""From a change's evidence to its case: every field that a tool writes, in one place. Pure."""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from authoring.apply_command import apply_command
from authoring.case import (
    UNREVIEWED,
    Case,
    Counts,
    Environment,
    ExcludedFile,
    FailureRow,
    Grading,
    HunkRow,
    Issue,
    Landing,
    Limits,
    Mode,
    Network,
    NetworkUse,
    PullRequest,
    Runtime,
    Size,
    Source,
    State,
    Style,
    TextFrom,
    Verification,
    with_record_digest,
)
from execution.languages import OWN_COMMANDS
from execution.languages.file_names import language_of_files
from execution.observation import RED, FailsBy, Observation, Outcome
from execution.recipe import Recipe
from miner.admission import Evidence
from miner.forge_facts import ForgeTexts, IssueFacts, PullFacts
from miner.hunks import TestHunk
from miner.observe import Trial
from miner.verdict import results

RESOLVED_WHEN: Final = "the check exits with 0 and every test that passed at the grading commit passes"
RESOLVED_BY_EXIT_CODE: Final = "the check exits with 0"
# What no canonical JSON holds, and what no line of a draft does (see ``authoring.fields``).
_UNFIT: Final = re.compile("[\x7f\ud800-\udfff]")
_UNFIT_LINE: Final = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_COMMIT_PAGES: Final = {"github.com": "/commit/", "gitlab.com": "/-/commit/", "codeberg.org": "/commit/"}


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangeFacts:
    """What git says of a change. Times are seconds since the epoch, paths are texts (all of them are UTF-8 by now)."""

    base: str
    head: str
    style: str
    decided_by: str
    authored: int
    committed: int
    support_files: tuple[str, ...]
    rest_files: int
    rest_lines: int
    hunks: tuple[TestHunk, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Naming:
    """What a case is called and where it belongs."""

    id: str
    repository_id: str
    repository_url: str
    licence: str | None
    language: str
    category: str
    proposed_by: str
    tool: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskText:
    """The task and the texts that it was made from, with the sentences taken from each, a line each."""

    task: str
    text_from: tuple[tuple[str, tuple[str, ...]], ...]


def compose(
    facts: ChangeFacts,
    naming: Naming,
    text: TaskText,
    told: ForgeTexts,
    recipe: Recipe,
    evidence: Evidence,
    *,
    today: int,
    reproduced: bool,
) -> Case:
    """Return the case of an admitted change. ``today`` is seconds since the epoch.

    Raises pydantic's ``ValidationError`` for what a case can't carry (a lone surrogate in a test id, say).
    """
    trial, built, check = evidence.trial, evidence.environment, evidence.check
    if trial is None or built is None or check is None or evidence.probe is None:
        raise ValueError("a case is composed from an admitted change's evidence")
    excluded = tuple(
        ExcludedFile(path=row.path, reason=row.reason.value, detail=row.detail) for row in evidence.excluded
    )
    support = tuple(path for path in facts.support_files if path not in evidence.files)
    paths = (*evidence.files, *support, *(row.path for row in evidence.excluded))
    grading = Grading(
        mode=Mode.EXIT_CODE if evidence.by_exit_code else Mode.PER_TEST,
        files=evidence.files,
        support_files=support,
        excluded_files=excluded,
        test_hunks=tuple(_hunk(hunk) for hunk in facts.hunks),
        apply=apply_command(facts.base, facts.head, (path.encode() for path in paths), facts.hunks),
        check=check.command,
        resolved_when=RESOLVED_BY_EXIT_CODE if evidence.by_exit_code else RESOLVED_WHEN,
        fail_to_pass=evidence.lists.fail_to_pass,
        pass_to_pass=evidence.lists.pass_to_pass,
        fails_by=tuple(FailureRow(id=row.id, how=FailsBy(row.how)) for row in evidence.lists.fails_by),
        skipped_at_head=evidence.lists.skipped_at_head,
        unstable_at_base=evidence.lists.unstable_at_base,
        limits=Limits(
            seconds=trial.limits.seconds,
            memory_mb=trial.limits.memory_mb,
            processes=trial.limits.processes,
            output_mb=trial.limits.output_mb,
            disk_mb=trial.limits.disk_mb,
        ),
        directory=recipe.directory,
    )
    case = Case(
        id=naming.id,
        case_version=1,
        repository_id=naming.repository_id,
        repository_url=naming.repository_url,
        base_commit=facts.base,
        grading_commit=facts.head,
        landing=Landing(style=Style(facts.style), decided_by=facts.decided_by),
        source=_source(facts, naming, text, told),
        language=naming.language,
        category=naming.category,
        task=text.task,
        environment=Environment(
            runtime=Runtime(name=built.runtime.name, version=built.runtime.version),
            era=built.era,
            setup=evidence.setup,
            dependencies=built.dependencies,
            network=NetworkUse.SET_UP_ONLY if evidence.setup else NetworkUse.NEVER,
        ),
        grading=grading,
        verification=_verification(recipe, evidence, trial, naming.tool, today, reproduced=reproduced),
        size=Size(
            files=facts.rest_files,
            lines=facts.rest_lines,
            tests=len(evidence.lists.fail_to_pass) + len(evidence.lists.pass_to_pass),
        ),
        review=UNREVIEWED,
    )
    return with_record_digest(case)


def _hunk(hunk: TestHunk) -> HunkRow:
    return HunkRow(
        path=hunk.path.decode(),
        item=hunk.item,
        base_line=hunk.base_line,
        base_lines=hunk.base_lines,
        grading_line=hunk.grading_line,
        grading_lines=hunk.grading_lines,
    )


def _source(facts: ChangeFacts, naming: Naming, text: TaskText, told: ForgeTexts) -> Source:
    return Source(
        commit_url=commit_url(naming.repository_url, facts.head) or _beside(told.pull, facts.head),
        authored=moment(facts.authored),
        committed=moment(facts.committed),
        licence=naming.licence,
        pull_request=None if told.pull is None else _pull_request(told.pull),
        issues=tuple(_issue(issue) for issue in told.issues),
        text_from=tuple(TextFrom(source=source, sentences=taken) for source, taken in text.text_from),
        proposed_by=naming.proposed_by,
    )


def _pull_request(pull: PullFacts) -> PullRequest:
    return PullRequest(
        url=pull.url,
        number=pull.reference.number,
        title=_one_line(pull.title),
        merged_at=None if pull.merged_at is None else moment(pull.merged_at),
    )


def _issue(issue: IssueFacts) -> Issue:
    return Issue(
        url=issue.url,
        number=issue.reference.number,
        title=_one_line(issue.title),
        body=_UNFIT.sub("\ufffd", issue.body.replace("\r\n", "\n")),
        labels=tuple(_one_line(label) for label in issue.labels),
        created=moment(issue.created_at),
    )


def _beside(pull: PullFacts | None, commit: str) -> str | None:
    """Return the page of a commit by that of its pull request: on every GitHub they lie side by side."""
    repository, infix, _ = pull.url.rpartition("/pull/") if pull is not None else ("", "", "")
    return f"{repository}/commit/{commit}" if infix else None


def _one_line(text: str) -> str:
    return " ".join(_UNFIT_LINE.sub(" ", text).split())


def _verification(
    recipe: Recipe, evidence: Evidence, trial: Trial, tool: str, today: int, *, reproduced: bool
) -> Verification:
    built, probe = evidence.environment, evidence.probe
    if built is None or probe is None:
        raise ValueError("a verification needs an environment and a probe")
    return Verification(
        date=moment(today)[:10],
        base=_state(trial.bases),
        head=_state(trial.heads),
        runtime=f"{built.runtime.name} {built.runtime.version}",
        runner=f"{recipe.runner} {built.runner_version}".strip(),
        platform=f"{platform.system()} {platform.machine()}",
        network=Network(sandbox=probe.sandbox, probe=probe.detail),
        reproduced=reproduced,
        record_digest="sha256:" + "0" * 64,
        tool=tool,
    )


def _state(runs: Sequence[Observation]) -> State:
    first = runs[0]
    tally = dict.fromkeys(Outcome, 0)
    for test in results(first).values():
        tally[test.outcome] += 1
    return State(
        summary=first.reading.summary or summary_of(first),
        counts=Counts(**{outcome.value: count for outcome, count in tally.items()}),
        error=telling_error(first),
        exit_code=first.exit_code,
        repeats=len(runs),
        seconds=max(run.milliseconds for run in runs),
    )


def summary_of(run: Observation) -> str:
    """Return a summary for a run whose runner printed none: how it ended, or its counts."""
    if run.ended != "exited":
        return f"ended by {run.ended}"
    tests = results(run).values()
    red = sum(test.outcome in RED for test in tests)
    passed = sum(test.outcome is Outcome.PASSED for test in tests)
    broken = len(run.reading.broken_files)
    words = (
        [f"{red} failed"] * bool(red) + [f"{passed} passed"] * bool(passed) + [f"{broken} not loaded"] * bool(broken)
    )
    return ", ".join(words) or f"no report, exit code {run.exit_code}"


def telling_error(run: Observation) -> str | None:
    """Return the message of the first test that fails, or of the first file that can't be loaded, or None."""
    for test in run.reading.tests:
        if test.outcome in RED and test.message:
            return test.message
    return next(iter(run.reading.broken_files.values()), None)


def moment(seconds: int) -> str:
    """Return a time as ISO 8601 in UTC; one that no calendar of ours holds is set to the nearest that it does."""
    earliest, latest = -62135596800, 253402300799
    return datetime.fromtimestamp(min(max(seconds, earliest), latest), UTC).strftime("%Y-%m-%dT%H:%M:%SZ").zfill(20)


def commit_url(repository_url: str, commit: str) -> str | None:
    """Return the page of a commit on the forges whose addresses we know, else None."""
    parts = urlsplit(repository_url)
    infix = _COMMIT_PAGES.get(parts.hostname or "")
    if infix is None or parts.scheme not in {"http", "https"}:
        return None
    return f"https://{parts.hostname}{parts.path.removesuffix('/').removesuffix('.git')}{infix}{commit}"


def language_name(recipe: Recipe, files: Sequence[str]) -> str:
    """Return the language that people know: a TypeScript file makes a JavaScript case a TypeScript one.

    Where commands of the user's own run the tests, the files' names tell it.
    """
    if recipe.language == OWN_COMMANDS:
        return language_of_files(files)
    if recipe.language != "javascript":
        return recipe.language
    return "typescript" if any(path.endswith((".ts", ".tsx", ".mts", ".cts")) for path in files) else "javascript"
