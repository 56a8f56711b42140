"""How a checked library is shown, and its pins looked up in a clone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from casewright.cli.output import one_line, shown, styled
from library.check import CheckReport, PinFacts, pin_faults
from library.cite import holdings


def reports_object(report: CheckReport) -> dict[str, Any]:
    """Return the object that ``check --format json`` prints for one file."""
    document = report.document
    return {
        "file": report.name,
        "whole": report.whole,
        "faults": report.faults,
        "library": document["library"]["id"] if document else None,
        "version": document["version"] if document else None,
        "entries_digest": document["entries_digest"] if document else None,
        "counts": document["counts"] if document else None,
        "limits": document["limits"] if document else None,
    }


def reports_text(report: CheckReport) -> str:
    """Return the same for people: whole, with counts and limits, or every fault."""
    document = report.document
    if report.faults or document is None:
        title = styled(f"{report.name}: NOT WHOLE, {len(report.faults)} faults", "bad")
        return "\n".join((title, *(f"  {one_line(fault)}" for fault in report.faults)))
    title = styled(f"{report.name}: whole", "good")
    facts = f"{document['library']['id']} version {document['version']}, entries {document['entries_digest']}"
    return "\n".join((title, *(f"  {line}" for line in shown(f"{facts}\n{holdings(document)}").splitlines())))


def with_pins(report: CheckReport) -> CheckReport:
    """Return the report with the faults of its pins, looked up in a clone of each url.

    Raises ``InfrastructureError`` when a url can't be cloned.
    """
    # Only `--online` needs git: a hundred modules that a plain check must not wait for.
    from casewright.repository import Repository, open_source
    from casewright.store import cache_root

    if report.document is None:
        return report
    clones: dict[str, Repository] = {}

    def lookup(url: str, base: str, grading: str) -> PinFacts:
        if url not in clones:
            clones[url] = open_source(url, cache_root())
        clone = clones[url]
        base_found, grading_found = map(clone.reachable_in_plain_clone, (base, grading))
        if not (base_found and grading_found):
            return PinFacts(base_found=base_found, grading_found=grading_found)
        return PinFacts(
            base_found=True,
            grading_found=True,
            base_is_ancestor=clone.is_ancestor(base, grading),
            changed=frozenset(clone.differences(base, grading)[1::2]),
        )

    try:
        return replace(report, faults=(*report.faults, *pin_faults(report.document, lookup)))
    finally:
        for clone in clones.values():
            clone.close()
