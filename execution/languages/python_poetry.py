"""From Poetry's own way of writing dependencies to PEP 508 requirements. Pure.

https://python-poetry.org/docs/dependency-specification/ describes the source; what has no counterpart (a path, a git
repository) is left out by returning None.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_PARTS = re.compile(r"^\d+(\.\d+)*")


def requirements(dependencies: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the requirements of one of Poetry's dependency tables, without Python itself and optional ones."""
    lines: list[str] = []
    for name, wish in dependencies.items():
        if name.lower() == "python":
            continue
        for one in wish if isinstance(wish, list) else [wish]:
            line = requirement(name, one)
            if line is not None:
                lines.append(line)
    return tuple(lines)


def requirement(name: str, wish: object) -> str | None:
    """Return one dependency as a requirement, or None when it is optional or comes from no index."""
    if isinstance(wish, str):
        return f"{name}{specifier(wish)}"
    if not isinstance(wish, dict) or wish.get("optional") or not isinstance(wish.get("version", "*"), str):
        return None
    if any(key in wish for key in ("git", "path", "url", "file")):
        return None
    extras = wish.get("extras")
    extra = f"[{','.join(str(item) for item in extras)}]" if isinstance(extras, list) and extras else ""
    markers = [str(wish["markers"])] if isinstance(wish.get("markers"), str) else []
    if isinstance(wish.get("python"), str):
        markers += python_markers(wish["python"])
    if isinstance(wish.get("platform"), str):
        markers.append(f"sys_platform == '{wish['platform']}'")
    marker = " ; " + " and ".join(f"({one})" for one in markers) if markers else ""
    return f"{name}{extra}{specifier(str(wish.get('version', '*')))}{marker}"


def python_markers(wish: str) -> list[str]:
    """Return a constraint on Python as environment markers; of alternatives the first is kept."""
    found: list[str] = []
    for part in specifier(wish).split(","):
        match = re.match(r"^(===|==|!=|>=|<=|~=|>|<)(.+)$", part)
        if match:
            found.append(f"python_full_version {match[1]} '{match[2]}'")
    return found


def specifier(wish: str) -> str:
    """Return a version constraint as PEP 440 specifiers, empty for any; of ``||`` alternatives the last is kept."""
    wish = wish.rsplit("||", maxsplit=1)[-1].strip()
    parts = [part.strip() for part in re.split(r",|(?<=[\d*])\s+(?=[<>=!~^])", wish) if part.strip()]
    return ",".join(filter(None, (_one(part) for part in parts)))


def _one(part: str) -> str:
    part = part.replace(" ", "")
    if part in {"*", ""}:
        return ""
    if part.startswith("^"):
        return _between(part[1:], _caret(part[1:]))
    if part.startswith("~") and not part.startswith("~="):
        return _between(part[1:], _tilde(part[1:]))
    if part[0] in "<>=!~":
        return f"={part}" if re.match(r"^=[^=]", part) else part
    return f"=={part}"


def _between(low: str, high: str) -> str:
    return f">={low},<{high}"


def _numbers(version: str) -> list[int]:
    match = _PARTS.match(version)
    return [int(number) for number in match.group(0).split(".")] if match else [0]


def _caret(version: str) -> str:
    """The leftmost number that is not zero stays: ``^1.2`` is below 2, ``^0.3`` below 0.4, ``^0.0`` below 0.1."""
    numbers = _numbers(version)
    place = next((index for index, number in enumerate(numbers) if number), len(numbers) - 1)
    return ".".join(str(number) for number in [*numbers[:place], numbers[place] + 1])


def _tilde(version: str) -> str:
    """``~1.2.3`` and ``~1.2`` stay below 1.3, ``~1`` below 2."""
    numbers = _numbers(version)
    place = min(1, len(numbers) - 1)
    return ".".join(str(number) for number in [*numbers[:place], numbers[place] + 1])
