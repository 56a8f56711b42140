"""What may stand after an option: each reader takes the text as typed and says what is wrong with it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

import typer

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(|[kmgt])(?:i?b)?", re.IGNORECASE)
_FACTORS: Final = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}


def whole_number(text: str) -> int:
    """Return a whole number above zero."""
    if not text.isascii() or not text.isdigit() or not int(text):
        raise typer.BadParameter(f"{text!r} is not a whole number above zero")
    return int(text)


def any_whole_number(text: str) -> int:
    """Return a whole number, zero included: a seed."""
    if not text.isascii() or not text.isdigit():
        raise typer.BadParameter(f"{text!r} is not a whole number")
    return int(text)


def person(text: str) -> str:
    """Return somebody's name: one line that says something."""
    if not text.strip() or not text.isprintable():
        raise typer.BadParameter(f"{text!r} is no name")
    return text.strip()


def waiver(text: str) -> tuple[str, str]:
    """Return the code and the reason of ``CODE=REASON``, which is one line."""
    code, _, reason = (part.strip() for part in text.partition("="))
    if not code or not reason or not reason.isprintable():
        raise typer.BadParameter(f"{text!r} is not CODE=REASON; write link='it is the subject of the task'")
    return code, reason


def since(text: str) -> int:
    """Return the first second (since the epoch) of a date or a moment; without a zone it is UTC."""
    return round(_moment(text).timestamp())


def until(text: str) -> int:
    """Return the last second (since the epoch) of a date or a moment; without a zone it is UTC."""
    moment = _moment(text)
    if _DAY.fullmatch(text):
        moment += timedelta(days=1, seconds=-1)
    return round(moment.timestamp())


def day(text: str) -> str:
    """Return a day as it stands in a library (``2024-03-31``)."""
    if not _DAY.fullmatch(text):
        raise typer.BadParameter(f"{text!r} is not a day; write 2024-03-31")
    return f"{_moment(text):%Y-%m-%d}"


def byte_size(text: str) -> int:
    """Return a number of bytes: ``500M``, ``20G``, ``1.5 GiB``; a unit is a power of 1024."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise typer.BadParameter(f"{text!r} is not a size; write 500M or 20G")
    return int(float(match[1]) * _FACTORS[match[2].lower()])


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(
            f"{text!r} is not a date; write 2024-03-31, or 2024-03-31T12:00:00Z for a moment"
        ) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
