"""Where the graded tests demand what a text calls wrong: who does as the text says fails. Pure.

Only a whole string counts, one that the text quotes as the outcome of today and nowhere else: what it gives elsewhere
may be an input of the tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from authoring.change_words import ChangeWords
from authoring.finding import Code, Finding, Severity
from authoring.leaks import finding_at

_QUOTED: Final = r"""(?:"(?P<a>[^"\n]{3,200})"|'(?P<b>[^'\n]{3,200})'|`["']?(?P<c>[^`\n]{3,200}?)["']?`)"""
_WRONG: Final = re.compile(
    rf"\b(?:but (?:(?:it|that) )?(?:is|was|got|gets|gives|gave|returns|returned|yields|becomes|I get)"
    rf"|instead(?:,? (?:I|we|it))? (?:get|got|gets|gives|returns|returned|is)|actual(?:ly)?(?: (?:result|output))?:?"
    rf"|rather than the wrong)\s*:?\s{{0,3}}{_QUOTED}",
    re.IGNORECASE,
)


def contradictions(field: str, text: str, change: ChangeWords) -> Iterator[Finding]:
    """Yield what one field (``task``, ``hints``) calls wrong and the lines that the test part adds hold."""
    for found in _WRONG.finditer(text):
        begin, end = _span(found)
        wrong = text[begin:end]
        if wrong in change.said and len(re.findall(rf"(?<!\w){re.escape(wrong)}(?!\w)", text)) == 1:
            said = "is what the text calls wrong, and the graded tests hold it"
            yield finding_at(Code.CONTRADICTED, Severity.WARNING, field, text, (begin, end), said)


def _span(found: re.Match[str]) -> tuple[int, int]:
    return found.span(str(found.lastgroup))
