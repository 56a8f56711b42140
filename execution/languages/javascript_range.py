"""Version ranges of npm: does a version lie in one. Pure.

Prereleases count as the release that they lead to: nothing here chooses one.
"""

from __future__ import annotations

import re
from typing import Final

Version = tuple[int, int, int]

_HYPHEN: Final = re.compile(r"(\S+)\s+-\s+(\S+)")
_COMPARATOR: Final = re.compile(r"(>=|<=|>|<|=|~>|~|\^)?\s*v?((?:\d+|[xX*])(?:\.(?:\d+|[xX*])){0,2})(?:[-+][\w.+-]*)?")
_HIGHEST: Final = 10**9


def in_range(version: Version, wanted: str) -> bool:
    """Whether a version lies in an npm range; every version lies in a range that can't be read."""
    alternatives = [_interval(part) for part in wanted.split("||")]
    readable = [interval for interval in alternatives if interval is not None]
    return not readable or any(low <= version < high for low, high in readable)


def _interval(text: str) -> tuple[Version, Version] | None:
    """Return the versions of one alternative as an interval, open above; None where the text is no range."""
    text = _HYPHEN.sub(r">=\1 <=\2", text.strip())
    low, high = (0, 0, 0), (_HIGHEST, 0, 0)
    place = 0
    for match in _COMPARATOR.finditer(text):
        if text[place : match.start()].strip(" ,"):
            return None
        place = match.end()
        floor, ceiling = _bounds(match[1] or "", match[2])
        low, high = max(low, floor), min(high, ceiling)
    return None if text[place:].strip(" ,") else (low, high)


def _bounds(sign: str, text: str) -> tuple[Version, Version]:
    said = [int(part) for part in text.split(".") if part.isdigit()]
    if not said:
        return (0, 0, 0), (_HIGHEST, 0, 0)
    first, above = _padded(said), (_HIGHEST, 0, 0)
    # The leftmost part that is not zero may not change.
    fixed = next((place for place, part in enumerate(said) if part), len(said) - 1)
    bounds: dict[str, tuple[Version, Version]] = {
        ">=": (first, above),
        ">": (_next(said), above),
        "<": ((0, 0, 0), first),
        "<=": ((0, 0, 0), _next(said)),
        "^": (first, _next(said[: fixed + 1])),
        "~": (first, _next(said[:2])),
        "~>": (first, _next(said[:2])),
    }
    return bounds.get(sign, (first, _next(said)))


def _padded(parts: list[int]) -> Version:
    major, minor, patch = (*parts, 0, 0)[:3]
    return (major, minor, patch)


def _next(parts: list[int]) -> Version:
    return _padded([*parts[:-1], parts[-1] + 1])
