"""A text for the candidate, as a person or a command wrote it, made into what a draft holds. Pure.

A draft's texts are LF text without control characters other than newline and tab. Blanks inside are the writer's; blank
lines at either end mean nothing, and one newline ends the text.
"""

from __future__ import annotations

import re
from typing import Final

from casewright.errors import InvalidInputError

# What the fields `task` and `hints` of a draft refuse, and half characters, which have no UTF-8.
_REFUSED: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_BLANK_LINES: Final = re.compile(r"(?:[ \t]*\n)+")


def read_candidate_text(data: bytes, name: str) -> str:
    """Return the text of UTF-8 bytes with LF line ends, a byte order mark taken off.

    Raises ``InvalidInputError`` that says in which line of ``name`` a byte is no UTF-8 or a character is refused.
    """
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInputError(f"{name}, line {line}: not UTF-8 (byte {data[error.start]:#04x})") from error
    refused = _REFUSED.search(text)
    if refused is not None:
        line = text.count("\n", 0, refused.start()) + 1
        raise InvalidInputError(
            f"{name}, line {line}: holds U+{ord(refused[0]):04X}, a control character", "take it out"
        )
    return text


def settled(text: str) -> str:
    """Return a text without blank lines at its ends and with a newline after it; empty where it says nothing."""
    begin = _BLANK_LINES.match(text)
    kept = text[begin.end() if begin else 0 :].rstrip(" \t\n")
    return f"{kept}\n" if kept else ""
