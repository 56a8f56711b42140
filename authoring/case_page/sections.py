"""The parts of the page, each a function from a case to the HTML below one heading."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from authoring.case import Case, Issue, State
from authoring.case_page.diff_view import diffs
from authoring.case_page.markup import block, link, shown
from authoring.case_page.text_marks import Numbered, has_mark, kind_of, marked_text
from authoring.case_view import CaseView, limits_said, size_said
from authoring.change_files import FilePart

_MARKED_FIELDS = ("task", "hints")


def task(view: CaseView) -> str:
    """Return task and hints with their findings marked, the list of findings beside them, and the sources."""
    case = view.case
    numbered = [Numbered(number=number, finding=finding) for number, finding in enumerate(view.judged.findings, 1)]
    texts = f'<div class="text" id="task-text">{marked_text(case.task, "task", numbered)}</div>'
    if case.hints:
        texts += f'<h3>Hints</h3><div class="text" id="hints-text">{marked_text(case.hints, "hints", numbered)}</div>'
    rows = "".join(_finding(each) for each in numbered)
    found = f'<ol class="findings">{rows}</ol>' if rows else "<p>Nothing to mend.</p>"
    notes = "".join(f"<p><small>{shown(note)}.</small></p>" for note in view.judged.notes)
    return f'<div class="beside"><div>{texts}</div><div><h3>Findings</h3>{found}{notes}</div></div>{_text_from(case)}'


def _finding(numbered: Numbered) -> str:
    finding, number = numbered.finding, numbered.number
    kind = kind_of(finding)
    where = shown(finding.field)
    if has_mark(numbered, _MARKED_FIELDS):
        where = f'<a href="#mark-{number}">{where}</a>'
    end = f"Let stand: {shown(finding.waived)}" if finding.waived else shown(_sentence(finding.suggestion))
    return (
        f'<li id="finding-{number}"><span class="kind {kind}">{kind}</span> <code>{shown(finding.code)}</code>'
        f" in {where}: {shown(finding.message)}. {end}</li>"
    )


def _text_from(case: Case) -> str:
    if not case.source.text_from:
        return ""
    rows = [
        f"<h3>From {shown(row.source)}</h3><ul>{''.join(f'<li>{shown(each)}</li>' for each in row.taken)}</ul>"
        for row in case.source.text_from
    ]
    return f"<details><summary>Where the text comes from, as it was drafted</summary>{''.join(rows)}</details>"


def pins(view: CaseView) -> str:
    """Return both commits, how the change landed, and how large it is."""
    case = view.case
    head = f"<code>{case.grading_commit}</code>"
    if case.source.commit_url:
        head += f" {link(case.source.commit_url, 'on the forge')}"
    return _facts(
        [
            ("Repository", f"{shown(case.repository_id)} (<code>{shown(case.repository_url)}</code>)"),
            ("Base commit", f"<code>{case.base_commit}</code>"),
            ("Grading commit", head),
            ("Landing", f"{case.landing.style.value}: {shown(case.landing.decided_by)}"),
            ("Size", size_said(case.size)),
        ]
    )


def test_part(view: CaseView) -> str:
    """Return the graded, supporting and excluded files, as diffs where the history is at hand."""
    grading = view.case.grading
    excluded = "".join(
        f"<p>Left out as a grader, {shown(row.reason)}: <code>{shown(row.path)}</code> "
        f"<small>{shown(row.detail)}</small></p>"
        for row in grading.excluded_files
    )
    if view.files is None:
        rows = [("graded", grading.files), ("support", grading.support_files)]
        names = "".join(f"<li><code>{shown(path)}</code> {kind}</li>" for kind, paths in rows for path in paths)
        return f"{_no_files(view)}<ul>{names}</ul>{excluded}"
    return diffs([file for file in view.files if file.part is not FilePart.REST]) + excluded


def rest_part(view: CaseView) -> str:
    """Return the files of the real fix as diffs, or why they can't be shown."""
    if view.files is None:
        return _no_files(view)
    files = [file for file in view.files if file.part is FilePart.REST]
    return diffs(files) if files else "<p>No file differs besides the test part.</p>"


def _no_files(view: CaseView) -> str:
    return f'<p class="quiet">No diffs: {shown(view.why_no_files)}.</p>'


def observations(view: CaseView) -> str:
    """Return what was seen at both commits, side by side: in all, and of each test."""
    case = view.case
    seen = case.verification
    both = (
        f'<div class="pair">{_state("Base with the test part", seen.base)}{_state("Grading commit", seen.head)}</div>'
    )
    proof = [
        ("Seen", f"{seen.date}, by {shown(seen.tool)}, {'reproduced' if seen.reproduced else 'NOT reproduced'}"),
        ("With", f"{shown(seen.runtime)}, {shown(seen.runner)}, {shown(seen.platform)}"),
        ("Network denied", f"{shown(seen.network.sandbox)}: {shown(seen.network.probe)}"),
    ]
    return both + _facts(proof) + _tests(case)


def _state(title: str, state: State) -> str:
    counts = ", ".join(f"{number} {name}" for name, number in state.counts.model_dump().items() if number)
    error = f"<dt>First error</dt><dd><code>{shown(state.error)}</code></dd>" if state.error else ""
    return (
        f"<div><h3>{title}</h3><dl><dt>Summary</dt><dd><code>{shown(state.summary)}</code></dd>"
        f"<dt>Counts</dt><dd>{counts or 'no test'}</dd><dt>Exit code</dt><dd>{state.exit_code}</dd>"
        f"<dt>Runs</dt><dd>{state.repeats}, the slowest {state.seconds / 1000:.1f} s</dd>{error}</dl></div>"
    )


def _tests(case: Case) -> str:
    grading = case.grading
    if not grading.fail_to_pass:
        return "<p>Graded by the exit code alone: no test is named.</p>"
    how = {row.id: row.how.value for row in grading.fails_by}
    failing = [(test, how.get(test, "fails"), "passed") for test in grading.fail_to_pass]
    tables = [_table("Tests that must begin to pass", failing, open_=True)]
    for title, tests, base, head in (
        ("Tests that must go on passing", grading.pass_to_pass, "passed", "passed"),
        (
            "Tests whose outcome varies at the base: they grade nothing there",
            grading.unstable_at_base,
            "varies",
            "passed",
        ),
        ("Tests that are skipped at the grading commit", grading.skipped_at_head, "not counted", "skipped"),
    ):
        if tests:
            tables.append(_table(title, [(test, base, head) for test in tests], open_=False))
    return "".join(tables)


def _table(title: str, rows: Sequence[tuple[str, str, str]], *, open_: bool) -> str:
    body = "".join(
        f'<tr><th scope="row"><code>{shown(test)}</code></th><td class="{_colour(base)}">{base}</td>'
        f'<td class="{_colour(head)}">{head}</td></tr>'
        for test, base, head in rows
    )
    return (
        f"<details{' open' if open_ else ''}><summary>{title} ({len(rows)})</summary><table>"
        f'<thead><tr><th scope="col">Test</th><th scope="col">Base</th><th scope="col">Head</th></tr></thead>'
        f"<tbody>{body}</tbody></table></details>"
    )


def _colour(outcome: str) -> str:
    return "green" if outcome == "passed" else "quiet" if outcome in {"skipped", "not counted", "varies"} else "red"


def commands(view: CaseView) -> str:
    """Return environment and commands: what a stranger runs in a plain clone, each to be copied whole."""
    environment, grading = view.case.environment, view.case.grading
    facts = _facts(
        [
            ("Runtime", f"{shown(environment.runtime.name)} {shown(environment.runtime.version)}"),
            ("Network", environment.network.value),
            ("Era", f"<code>{environment.era}</code>"),
            ("Directory", f"<code>{shown(grading.directory)}</code>"),
            ("Limits", limits_said(grading.limits)),
            ("Resolved when", shown(grading.resolved_when)),
        ]
    )
    dependencies = "".join(f"<li><code>{shown(each)}</code></li>" for each in environment.dependencies)
    held = (
        f"<details><summary>Dependencies ({len(environment.dependencies)})</summary><ul>{dependencies}</ul></details>"
    )
    return (
        f"{facts}{held}<h3>Set up</h3>{block(chr(10).join(environment.setup), 'set-up commands')}"
        f"<h3>Apply the test part</h3>{block(grading.apply, 'apply command')}"
        f"<h3>Check</h3>{block(grading.check, 'check command')}"
    )


def provenance(view: CaseView) -> str:
    """Return where the change comes from: pull request, issues, dates, licence."""
    source = view.case.source
    rows = [
        ("Authored", shown(source.authored)),
        ("Committed", shown(source.committed)),
        ("Licence", shown(source.licence or "unknown")),
        ("Brought by", shown(source.proposed_by)),
    ]
    pull = source.pull_request
    if pull is not None:
        merged = f", merged {shown(pull.merged_at)}" if pull.merged_at else ""
        rows.insert(0, ("Pull request", f"{link(pull.url, f'#{pull.number} {pull.title}')}{merged}"))
    return _facts(rows) + "".join(_issue(issue) for issue in source.issues)


def _issue(issue: Issue) -> str:
    labels = f" [{', '.join(shown(label) for label in issue.labels)}]" if issue.labels else ""
    return (
        f"<details><summary>Issue #{issue.number}: {shown(issue.title)}{labels}, {shown(issue.created)}</summary>"
        f'<p>{link(issue.url, issue.url)}</p><div class="text">{shown(issue.body)}</div></details>'
    )


def review(view: CaseView) -> str:
    """Return who has read the case, and what that person let stand."""
    review_ = view.case.review
    said = [("State", view.state.value)]
    if review_.by and review_.date:
        stale = "" if view.state is review_.state else ", another text than this: it counts as unread"
        said.append(("Read by", f"{shown(review_.by)}, {shown(review_.date)}{stale}"))
    said += [
        (f"Waiver of {shown(waiver.code)}", f"<code>{shown(waiver.text)}</code>: {shown(waiver.reason)}")
        for waiver in review_.waivers
    ]
    return _facts(said)


def _facts(rows: Iterable[tuple[str, str]]) -> str:
    """Return names and values (HTML both) as a list of terms."""
    return "<dl>" + "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows) + "</dl>"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""
