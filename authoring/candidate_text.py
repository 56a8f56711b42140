"""A text for the candidate, as a person or a command wrote it, made into what a draft holds. Pure.

A draft's texts are LF text without control characters other than newline and tab. Blank lines at either end and blanks
at the end of a line mean nothing (YAML could only quote them, and the whole text with them); one newline ends the text.
"""

from __future__ import annotations

import re
from typing import Final

from casewright.errors import InvalidInputError

# What the fields `task` and `hints` of a draft refuse, and half characters, which have no UTF-8.
_REFUSED: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


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
    """Return a text without blanks at its lines' ends, without blank lines at its own, and with a newline after it.

    Empty where it says nothing.
    """
    kept = "\n".join(line.rstrip(" \t") for line in text.split("\n")).strip("\n")
    return f"{kept}\n" if kept else ""
