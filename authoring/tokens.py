"""Texts and code as tokens: what of a line of code is worth recognising, and where it stands in a task. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

# Fewer tokens in a row, and a call of any function looks like any other.
SHORTEST_FRAGMENT: Final = 6
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*")
# has_underscore, hasHumps, HasHumps, has2digits: nobody writes such a word who does not mean the name.
_DISTINCTIVE: Final = re.compile(r"\w*[^\W_]_+[^\W_]\w*|_+\w{2,}|\w*[a-z0-9][A-Z]\w*|[^\W\d_]+\d+\w*")
_FEWEST_SIGNS: Final = 2
_FEWEST_TOGETHER: Final = 4


def tokens(text: str) -> list[str]:
    """Return the words and signs of a text, blanks left out."""
    return _TOKEN.findall(text)


def placed_tokens(text: str) -> list[tuple[str, int, int]]:
    """Return the same with the character index at which each begins and ends."""
    return [(found[0], found.start(), found.end()) for found in _TOKEN.finditer(text)]


def identifiers(text: str) -> set[str]:
    """Return every word of a text that could be a name."""
    return set(_IDENTIFIER.findall(text))


def is_distinctive(name: str) -> bool:
    """Say whether a name can't be taken for a word of a sentence."""
    return _DISTINCTIVE.fullmatch(name) is not None


def shingles(words: Sequence[str], length: int) -> set[tuple[str, ...]]:
    """Return every run of ``length`` tokens."""
    return {tuple(words[place : place + length]) for place in range(len(words) - length + 1)}


def is_code(run: Sequence[str]) -> bool:
    """Say whether tokens are code and no prose: names enough to know it by, and signs that prose does not have."""
    names = {word for word in run if len(word) > 2 and word[0].isalpha()}
    signs = [word for word in run if not (word[0].isalnum() or word[0] == "_") and word not in ".,'\"`;:!?-"]
    return bool(names) and len(signs) >= _FEWEST_SIGNS and len(names) + len(signs) >= _FEWEST_TOGETHER


def has_names(run: Sequence[str]) -> bool:
    """Say whether tokens hold two names at least: enough to know code by, where it is told to be code."""
    return len({word for word in run if len(word) > 2 and word[0].isalpha()}) > 1


def fragments_of(
    line: str, known: set[tuple[str, ...]], tells: Callable[[Sequence[str]], bool] = is_code
) -> Iterator[str]:
    """Yield the longest runs of a line's tokens that hold no known run of ``SHORTEST_FRAGMENT``, if one ``tells``."""
    words = tokens(line)
    start: int | None = None
    last = len(words) - SHORTEST_FRAGMENT
    for place in range(last + 2):
        fresh = place <= last and tuple(words[place : place + SHORTEST_FRAGMENT]) not in known
        if fresh and start is None:
            start = place
        elif not fresh and start is not None:
            run = words[start : place - 1 + SHORTEST_FRAGMENT]
            if tells(run):
                yield " ".join(run)
            start = None
