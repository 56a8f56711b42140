"""What a library counts, what it must say of its limits, and the numbers that its prose may state. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from authoring.consistency import effective_state

# What every library says of itself, in these words: a reader compares libraries, not phrasings.
STATED_LIMITS: Final = (
    "Contamination is not measured: a model may have seen this history; a resolved case never shows the contrary.",
    "A plain clone holds the fix in its object store: hand a candidate what `casewright checkout` makes, nothing else.",
    "Passing is judged by the graded tests alone; that is the strength of the judgement and its ceiling.",
)

_WORDS: Final = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
_THINGS: Final[Mapping[str, str]] = {
    "case": "cases",
    "cases": "cases",
    "repository": "repositories",
    "repositories": "repositories",
    "repos": "repositories",
    "language": "languages",
    "languages": "languages",
    "category": "categories",
    "categories": "categories",
}
_CLAIM = re.compile(
    rf"(?<![\w.,#-])(\d[\d,]*|{'|'.join(_WORDS)})\s+"
    # One word between may be an adjective ("6 open cases"), but "two of the cases" counts something else.
    rf"(?:(?!(?:of|the|in|per|from|to|and|or|a)\b)[a-z-]+\s+)?({'|'.join(_THINGS)})\b",
    re.IGNORECASE,
)


def count_cases(cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the ``counts`` of a header: how many cases, and how many of each repository, language and category."""
    states = Counter(effective_state(case) for case in cases)
    modes = Counter(case["grading"]["mode"] for case in cases)
    return {
        "cases": len(cases),
        "repositories": _rows(case["repository_id"] for case in cases),
        "languages": _rows(case["language"] for case in cases),
        "categories": _rows(case["category"] for case in cases),
        "review": {"verified": states["verified"], "auto": states["auto"]},
        "modes": {"per_test": modes["per-test"], "exit_code": modes["exit-code"]},
    }


def _rows(names: Iterator[str]) -> list[dict[str, Any]]:
    return [{"name": name, "cases": count} for name, count in sorted(Counter(names).items())]


def totals(counts: Mapping[str, Any]) -> dict[str, int]:
    """Return the four numbers that prose may state, by the name of their placeholder."""
    return {
        "cases": counts["cases"],
        "repositories": len(counts["repositories"]),
        "languages": len(counts["languages"]),
        "categories": len(counts["categories"]),
    }


def filled(text: str, counts: Mapping[str, Any]) -> str:
    """Put the numbers in place of ``{cases}``, ``{repositories}``, ``{languages}`` and ``{categories}``."""
    for name, number in totals(counts).items():
        text = text.replace("{" + name + "}", str(number))
    return text


def limits(maintainers: Sequence[str], counts: Mapping[str, Any], further: Sequence[str]) -> list[str]:
    """Return the ``limits`` of a header: who owns what, what every library states, then the author's own."""
    names = ", ".join(row["name"] for row in counts["repositories"])
    publisher = ", ".join(maintainers) or "its maintainers"
    owners = f"The graded work belongs to the owners of {names}; the library is published by {publisher}."
    return [owners, *STATED_LIMITS, *(filled(text, counts) for text in further)]


def wrong_claims(text: str, counts: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a sentence for each number in a text that disagrees with what the library holds."""
    right = totals(counts)
    wrong = []
    for claim in _CLAIM.finditer(text):
        number, thing = claim[1].lower(), _THINGS[claim[2].lower()]
        stated = _WORDS.index(number) if number in _WORDS else int(number.replace(",", ""))
        if stated != right[thing]:
            wrong.append(f"says {' '.join(claim[0].split())!r}, but there are {right[thing]}; use {{{thing}}}")
    return tuple(wrong)
