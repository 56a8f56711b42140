"""How a cut and a comparison are shown, and what the ledger gives a release: the changes that were refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from casewright.cli.judgement_output import detail_of
from casewright.cli.output import one_line, shown, styled
from casewright.errors import UsageError
from casewright.workspace import Workspace
from library.cite import holdings
from library.compare import Comparison
from library.cut import CutReport
from library.selection import Spread
from miner.judgement import Standing
from miner.ledger import Ledger


def spread_of(text: str | None) -> tuple[Spread, ...]:
    """Return what ``--spread`` lists, separated by commas. Raises ``UsageError`` for what there is not."""
    names = [name.strip() for name in (text or "").split(",") if name.strip()]
    unknown = [name for name in names if name not in set(Spread)]
    if unknown:
        raise UsageError(f"cases can't be spread by {unknown[0]!r}", f"choose among {', '.join(Spread)}")
    return tuple(Spread(name) for name in dict.fromkeys(names))


def rejection_rows(workspace: Workspace) -> Iterator[Mapping[str, Any]]:
    """Give every change that was looked at and refused, for the file beside a release."""
    ledger = Ledger.open_to_read(workspace.ledger)
    if ledger is None:
        return
    with ledger:
        for judgement in ledger.latest():
            if judgement.standing is Standing.REJECTED and judgement.reason is not None:
                yield {
                    "repository": judgement.repository,
                    "base": judgement.base,
                    "head": judgement.head,
                    "landing": judgement.landing,
                    "subject": shown(judgement.subject),
                    "reason": judgement.reason.value,
                    "detail": shown(detail_of(judgement)),
                }


def cut_object(report: CutReport, workspace: Workspace) -> dict[str, Any]:
    """Return the object that ``cut --format json`` prints."""
    return {
        "path": workspace.shown(report.path) if report.path else None,
        "version": report.version,
        "entries_digest": report.entries_digest or None,
        "nothing_new": report.nothing_new,
        **comparison_object(report.comparison),
        "left_out": [{"case": draft.id, "problems": draft.problems} for draft in report.left_out],
        "counts": report.counts,
        "limits": report.limits,
    }


def cut_text(report: CutReport, workspace: Workspace) -> str:
    """Return the same for people."""
    lines: list[str] = []
    if report.path is not None:
        lines.append(styled(f"released {workspace.shown(report.path)}, version {report.version}", "good"))
        lines += [f"  entries {report.entries_digest}", *comparison_text(report.comparison).splitlines()]
        if report.rejections is not None:
            lines.append(f"what was refused, and why, stands in {workspace.shown(report.rejections)}")
        lines += holdings({"counts": report.counts, "limits": report.limits}).splitlines()
    elif report.nothing_new:
        lines.append(f"nothing to release: the entries are those of version {report.version}")
    else:
        lines.append(styled("nothing was released: not every draft is ready (--skip-unready leaves them out)", "bad"))
    for draft in report.left_out:
        lines.append(f"left out: {draft.id}" if report.path else f"not ready: {draft.id}")
        lines += [f"  {one_line(problem)}" for problem in draft.problems]
    return "\n".join(lines)


def comparison_object(comparison: Comparison) -> dict[str, Any]:
    """Return the object that ``diff --format json`` prints."""
    return {
        "added": comparison.added,
        "removed": comparison.removed,
        "revised": [{"id": one.id, "fields": one.fields} for one in comparison.revised],
        "header": comparison.header,
    }


def comparison_text(comparison: Comparison) -> str:
    """Return the same for people."""
    lines = [f"+ {case_id}" for case_id in comparison.added]
    lines += [f"- {case_id}" for case_id in comparison.removed]
    lines += [f"~ {one.id}: {', '.join(one.fields)}" for one in comparison.revised]
    if comparison.header:
        lines.append(f"header: {', '.join(comparison.header)}")
    return "\n".join(lines) or "no case differs"
