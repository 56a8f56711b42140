"""A whole case on a terminal, and as a JSON object."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, Final

from authoring.case import Case, State
from authoring.case_view import CaseView, limits_said, size_said
from authoring.change_files import ChangedFile, FilePart
from casewright.cli.lint_output import finding_object
from casewright.cli.marked_text import marked_lines
from casewright.cli.output import one_line, path_shown, shown, styled

# What fits most screens beside each other; a pipe has no width of its own.
_WIDTH: Final = 80
_NAMES: Final = 16
_TESTS_SHOWN: Final = 40
_TITLES: Final = {
    FilePart.GRADED: "graded",
    FilePart.SUPPORT: "support",
    FilePart.EXCLUDED: "left out",
    FilePart.REST: "rest",
}


def view_object(view: CaseView) -> dict[str, Any]:
    """Return the object that ``show --format json`` prints: the case as it stands, and what was said of it."""
    return {
        "case": dict(view.entry),
        "origin": view.origin,
        "state": view.state.value,
        "findings": [finding_object(finding) for finding in view.judged.findings],
        "notes": list(view.judged.notes),
        "files": None if view.files is None else [_file_object(file) for file in view.files],
        "why_no_files": view.why_no_files or None,
    }


def _file_object(file: ChangedFile) -> dict[str, Any]:
    return {
        "path": path_shown(file.path),
        "part": file.part.value,
        "status": file.status,
        "added": file.added,
        "deleted": file.deleted,
    }


def view_text(view: CaseView) -> str:
    """Return the same for people, folded to the screen, to 80 columns in a pipe."""
    width = max(40, min(shutil.get_terminal_size((_WIDTH, 24)).columns, 100))
    case = view.case
    facts = (case.repository_id, case.language, case.category, f"version {case.case_version}", view.state.value)
    blocks = [
        f"{styled(case.id, 'strong')}\n{', '.join(one_line(each) for each in facts)}\nfrom {view.origin}",
        _titled("task", marked_lines(case.task, "task", view.judged.findings, width)),
    ]
    if case.hints:
        blocks.append(_titled("hints", marked_lines(case.hints, "hints", view.judged.findings, width)))
    blocks += [
        _titled(f"findings ({len(view.judged.findings)})", list(_findings(view, width))),
        _titled("where the text comes from", list(_text_from(case, width))),
        _titled("change", _rows(_pins(case), width)),
        _titled("files", list(_files(view, width))),
        _titled("tests", list(_tests(case, width))),
        _titled("seen", list(_seen(case, width))),
        _titled("environment", _rows(_environment(case), width)),
        _titled("commands", list(_commands(case))),
        _titled("provenance", _rows(_provenance(case), width)),
        _titled("review", _rows(_review(view), width)),
    ]
    return "\n\n".join(blocks)


def _titled(title: str, lines: Sequence[str]) -> str:
    return "\n".join([styled(title, "strong"), *lines])


def _rows(rows: Sequence[tuple[str, str]], width: int) -> list[str]:
    lines = []
    for name, value in rows:
        lines += _hanging(f"  {name:{_NAMES}}", one_line(value), width)
    return lines


def _hanging(head: str, text: str, width: int) -> list[str]:
    """Return text behind a head, folded; a word that is longer than the line stays whole, to be copied."""
    indent = " " * len(head)
    folded = textwrap.wrap(
        text, width, initial_indent=head, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return folded or [head.rstrip()]


def _findings(view: CaseView, width: int) -> Iterator[str]:
    for number, finding in enumerate(view.judged.findings, 1):
        kind = "waived" if finding.waived else finding.severity.value
        end = f"let stand: {one_line(finding.waived)}" if finding.waived else one_line(finding.suggestion)
        said = f"{kind} {finding.code.value} in {finding.field}: {one_line(finding.message)}; {end}"
        yield from _hanging(f"  {number}. ", said, width)
    for note in view.judged.notes:
        yield from _hanging("  note: ", one_line(note), width)


def _text_from(case: Case, width: int) -> Iterator[str]:
    for row in case.source.text_from:
        yield f"  {one_line(row.source)}"
        for sentence in row.taken:
            yield from _hanging("    - ", one_line(sentence), width)


def _pins(case: Case) -> list[tuple[str, str]]:
    return [
        ("repository", case.repository_url),
        ("base", case.base_commit),
        ("grading commit", case.grading_commit),
        ("landing", f"{case.landing.style.value}: {case.landing.decided_by}"),
        ("size", size_said(case.size)),
    ]


def _files(view: CaseView, width: int) -> Iterator[str]:
    grading = view.case.grading
    if view.files is None:
        for kind, paths in ((FilePart.GRADED, grading.files), (FilePart.SUPPORT, grading.support_files)):
            yield from (f"  {_TITLES[kind]:{_NAMES}}{one_line(path)}" for path in paths)
        yield from _hanging("  the rest part is not shown: ", view.why_no_files, width)
    else:
        for kind, title in _TITLES.items():
            for file in view.files:
                if file.part is kind:
                    count = "binary" if file.added is None else f"+{file.added} -{file.deleted}"
                    yield f"  {title:{_NAMES}}{one_line(path_shown(file.path))}  {count}"
    for row in grading.excluded_files:
        yield from _hanging("  ", f"left out as a grader, {row.reason}: {row.path}: {one_line(row.detail)}", width)


def _tests(case: Case, width: int) -> Iterator[str]:
    grading = case.grading
    if not grading.fail_to_pass:
        yield "  graded by the exit code alone"
        return
    how = {row.id: row.how.value for row in grading.fails_by}
    yield f"  fail to pass ({len(grading.fail_to_pass)})"
    for test in grading.fail_to_pass[:_TESTS_SHOWN]:
        yield from _hanging(f"    {how.get(test, 'fails'):{_NAMES - 2}}", one_line(test), width)
    if len(grading.fail_to_pass) > _TESTS_SHOWN:
        yield f"    and {len(grading.fail_to_pass) - _TESTS_SHOWN} more; --format json has all"
    yield f"  pass to pass ({len(grading.pass_to_pass)})"
    for name, tests in (("skipped at head", grading.skipped_at_head), ("unstable at base", grading.unstable_at_base)):
        if tests:
            yield f"  {name} ({len(tests)})"


def _seen(case: Case, width: int) -> Iterator[str]:
    seen = case.verification
    yield from _state("base", seen.base, width)
    yield from _state("head", seen.head, width)
    reproduced = "reproduced" if seen.reproduced else "NOT reproduced"
    rows = [
        ("on", f"{seen.date} by {seen.tool}, {reproduced}"),
        ("with", f"{seen.runtime}, {seen.runner}, {seen.platform}"),
        ("network denied", f"{seen.network.sandbox}: {seen.network.probe}"),
    ]
    yield from _rows(rows, width)


def _state(name: str, state: State, width: int) -> Iterator[str]:
    runs = f"exit code {state.exit_code}, {state.repeats} runs, the slowest {state.seconds / 1000:.1f} s"
    yield from _hanging(f"  {name:{_NAMES}}", f"{one_line(state.summary)} ({runs})", width)
    if state.error:
        yield from _hanging(f"  {'':{_NAMES}}", one_line(state.error), width)


def _environment(case: Case) -> list[tuple[str, str]]:
    environment = case.environment
    return [
        ("runtime", f"{environment.runtime.name} {environment.runtime.version}"),
        ("network", environment.network.value),
        ("dependencies", f"{len(environment.dependencies)}"),
        ("era", environment.era),
        ("limits", limits_said(case.grading.limits)),
    ]


def _commands(case: Case) -> Iterator[str]:
    """Yield the commands as they are, never folded: they are there to be copied."""
    grading = case.grading
    for name, commands in (
        ("set up", case.environment.setup),
        ("apply the test part", (grading.apply,)),
        (f"check, in {one_line(grading.directory)}", (grading.check,)),
    ):
        yield f"  {name}"
        for command in commands:
            yield from (f"    {line}".rstrip() for line in shown(command).split("\n"))
    yield f"  resolved when {one_line(grading.resolved_when)}"


def _provenance(case: Case) -> list[tuple[str, str]]:
    source = case.source
    rows = [("commit", source.commit_url or "no page known")]
    if source.pull_request is not None:
        pull = source.pull_request
        merged = f", merged {pull.merged_at}" if pull.merged_at else ""
        rows += [("pull request", f"#{pull.number} {pull.title}{merged}"), ("", pull.url)]
    for issue in source.issues:
        rows += [("issue", f"#{issue.number} {issue.title}, {issue.created}"), ("", issue.url)]
    return [
        *rows,
        ("authored", source.authored),
        ("committed", source.committed),
        ("licence", source.licence or "unknown"),
        ("brought by", source.proposed_by),
    ]


def _review(view: CaseView) -> list[tuple[str, str]]:
    review = view.case.review
    rows = [("state", view.state.value)]
    if review.by and review.date:
        stale = "" if review.state is view.state else "; the task has changed since"
        rows.append(("read by", f"{review.by}, {review.date}{stale}"))
    return rows + [("waiver", f"{each.code}, {each.text}: {each.reason}") for each in review.waivers]
