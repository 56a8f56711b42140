"""A text with the spans of its findings marked: each mark leads to its finding in the list and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from authoring.case_page.markup import shown
from authoring.findings import Finding, Severity


@dataclass(frozen=True, kw_only=True, slots=True)
class Numbered:
    """A finding with its number on the page, from 1."""

    number: int
    finding: Finding


def marked_text(text: str, field: str, findings: Sequence[Numbered]) -> str:
    """Return a field's text as HTML, what each finding is about inside ``<mark data-findings="NUMBERS">``.

    A finding about something that is missing has no span and no mark. Spans may overlap: then a stretch belongs to
    several findings. The first stretch of each is preceded by its number, ``<a id="mark-NUMBER">``.
    """
    here = [each for each in findings if each.finding.field == field and each.finding.start < each.finding.end]
    cuts = sorted({0, len(text), *(place for each in here for place in (each.finding.start, each.finding.end))})
    pieces = []
    for start, end in pairwise(cuts):
        over = [each for each in here if each.finding.start <= start and end <= each.finding.end]
        begins = [each for each in over if each.finding.start == start]
        pieces += [_reference(each.number) for each in begins]
        pieces.append(_mark(shown(text[start:end]), over) if over else shown(text[start:end]))
    return "".join(pieces)


def has_mark(numbered: Numbered, fields: Sequence[str]) -> bool:
    """Say whether a finding is marked in one of these fields."""
    finding = numbered.finding
    return finding.field in fields and finding.start < finding.end


def kind_of(finding: Finding) -> str:
    """Return the word that a finding is sorted and coloured by: ``error``, ``warning`` or ``waived``."""
    return "waived" if finding.waived else finding.severity.value


def _mark(inner: str, over: Sequence[Numbered]) -> str:
    kinds = {kind_of(each.finding) for each in over}
    kind = next(one for one in (Severity.ERROR.value, Severity.WARNING.value, "waived") if one in kinds)
    numbers = " ".join(str(each.number) for each in over)
    return f'<mark class="{kind}" data-findings="{numbers}">{inner}</mark>'


def _reference(number: int) -> str:
    return f'<a class="ref" id="mark-{number}" href="#finding-{number}" aria-label="finding {number}">{number}</a>'
