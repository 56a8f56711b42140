"""What a setting of tox means without knowing the environment's name: references, and lines for some factors. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping

_FACTORS = re.compile(r"^([\w.,!{}\s-]+?):\s+(.*)$")
_VERSION = re.compile(r"(?:py)?3\.?\d+")
# Names of factors that an environment which runs the tests on this system has.
_OURS = re.compile(r"py|py3|python|python3|tests?|unit|unittests?|pytest|linux|cpython")


def referred(sections: Mapping[str, Mapping[str, str]], text: str, depth: int = 4) -> str:
    """Return a value with what other sections hold (``{[base]deps}``) in its place.

    A variable of the environment has the value that stands there for want of it: nobody sets it here.
    """

    def value(match: re.Match[str]) -> str:
        return sections.get(match[1], {}).get(match[2], "")

    text = re.sub(r"\{env:[^:{}]*:?([^{}]*)\}", r"\1", text)
    replaced = re.sub(r"\{\[([^\]]+)\]([\w-]+)\}", value, text)
    return replaced if replaced == text or not depth else referred(sections, replaced, depth - 1)


def lines_for_tests(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines that hold where tests are run, without their factors and the tree's own folder."""
    found: list[str] = []
    for line in lines:
        match = _FACTORS.match(line)
        if match and not factors_hold(match[1]):
            continue
        found.append(re.sub(r"\{(?:toxinidir|tox_root)\}[/\\]?", "", match[2] if match else line))
    return tuple(line for line in found if "{" not in line)


def factors_hold(text: str) -> bool:
    """Tell whether one of several alternatives of factors (``py{38,39}-tests, unit``) is one of a run of tests.

    One Python version alone is an exception for that version; several are all that are tested on.
    """
    terms = [term for part in _split(text) for term in _expanded(part)]
    versions = {factor for term in terms for factor in term.split("-") if _VERSION.fullmatch(factor)}
    return any(all(_holds(factor, several=len(versions) > 1) for factor in term.split("-")) for term in terms)


def _holds(factor: str, *, several: bool) -> bool:
    if factor.startswith("!"):
        return not _holds(factor[1:], several=False)
    return bool(_OURS.fullmatch(factor)) or (several and bool(_VERSION.fullmatch(factor)))


def _split(text: str) -> Iterator[str]:
    """Split at the commas outside of braces."""
    yield from (part.strip() for part in re.split(r",(?![^{]*\})", text) if part.strip())


def _expanded(part: str) -> Iterator[str]:
    pieces = re.split(r"\{([^{}]*)\}", part)
    choices = [list(_alternatives(piece)) if place % 2 else [piece] for place, piece in enumerate(pieces)]
    yield from ("".join(chosen).strip() for chosen in itertools.islice(itertools.product(*choices), 200))


def _alternatives(text: str) -> Iterator[str]:
    for one in text.split(","):
        span = re.fullmatch(r"\s*(\d{1,3})-(\d{1,3})\s*", one)
        if span:
            yield from (str(number) for number in range(int(span[1]), int(span[2]) + 1))
        else:
            yield one.strip()
