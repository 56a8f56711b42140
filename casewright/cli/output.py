"""What is written to standard output and to standard error, and how strangers' text is shown: the one door for both.

Everything that people read passes ``shown``: bytes that are no UTF-8 (lone surrogates, the way Python decodes paths)
and control characters appear as ``\\xNN``, so that no file name and no commit message can steer a terminal. JSON passes
``plain``, which does the same for the bytes; the control characters are JSON's own business.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TextIO

COLOURS: Final[Mapping[str, str]] = {"good": "32", "bad": "31", "quiet": "2", "strong": "1"}
GAP: Final = "  "
_COLOUR: Final = re.compile("\x1b\\[[0-9]+m")
_LINE: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_INDENTED: Final = json.JSONEncoder(ensure_ascii=False, indent=2)


class OutputClosedError(Exception):
    """Whoever read our standard output has gone away (``| head``): stop quietly."""


def printed(text: str, *, at_once: bool = True) -> None:
    """Write a line, or several, to standard output; it is read at once unless ``at_once`` is false.

    Raises ``OutputClosedError`` when nobody reads any more.
    """
    try:
        sys.stdout.write(text + "\n")
        if at_once:
            sys.stdout.flush()
    except BrokenPipeError as error:
        raise OutputClosedError from error


def printed_json(value: object, *, line: bool = False, at_once: bool = True) -> None:
    """Write a value as JSON to standard output: indented, or on one line of its own (JSON Lines)."""
    encoder = _LINE if line else _INDENTED
    try:
        text = encoder.encode(value)
        text.encode()
    except (TypeError, UnicodeEncodeError):
        # Rare: an undecodable byte, or a collection that JSON does not know. A scan prints too many rows to look first.
        text = encoder.encode(plain(value))
    printed(text, at_once=at_once)


def noted(text: str, *, verbosity: int = 0) -> None:
    """Write a note to standard error, unless ``-q`` was given (``verbosity`` below zero)."""
    if verbosity >= 0:
        sys.stderr.write(text + "\n")


def shown(text: str) -> str:
    """Return text as people see it: undecodable bytes and control characters as ``\\xNN``, newlines and tabs kept."""
    text = _decodable(text)
    if text.isprintable():
        return text
    return "".join(_visible(character) for character in text)


def one_line(text: str) -> str:
    """Return ``shown`` text on one line: every run of blanks and line ends is one space."""
    return " ".join(shown(text).split())


def plain(value: object) -> object:
    """Return a value that JSON can hold: undecodable bytes in its strings as ``\\xNN``, collections copied."""
    if isinstance(value, str):
        return _decodable(value)
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    return value


def path_shown(path: bytes) -> str:
    """Return a path of a repository for people and for JSON."""
    return path.decode("utf-8", "backslashreplace")


def size_shown(size: int) -> str:
    """Return a number of bytes for people, in powers of 1024."""
    number = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "B" or number >= 10 else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:,.1f} TiB"


def table(rows: Sequence[Sequence[str]], headings: Sequence[str] = (), *, right: Sequence[int] = ()) -> str:
    """Return rows as aligned columns; columns whose number is in ``right`` are set to the right.

    A cell keeps the blanks it begins with. On a terminal the last column is wrapped to the screen; in a pipe each row
    stays one line.
    """
    whole = [tuple(headings)] if headings else []
    whole += [tuple(_cell(cell) for cell in row) for row in rows]
    if not whole:
        return ""
    last = len(whole[0]) - 1
    widths = [max(_width(row[column]) for row in whole) for column in range(last)]
    left = sum(widths) + len(GAP) * last
    room = shutil.get_terminal_size().columns - left if sys.stdout.isatty() else 0
    lines = []
    for place, row in enumerate(whole):
        cells = [_padded(row[column], widths[column], to_the_right=column in right) for column in range(last)]
        for part in _wrapped(row[last], room):
            line = GAP.join((*cells, part)).rstrip()
            lines.append(styled(line, "strong") if headings and place == 0 else line)
            cells = [" " * width for width in widths]
    return "\n".join(lines)


def fitted(beginning: str, text: str) -> str:
    """Return a line whose end, ``text``, is cut to the screen on a terminal; in a pipe it stays whole."""
    room = shutil.get_terminal_size().columns - _width(_COLOUR.sub("", beginning)) if sys.stdout.isatty() else 0
    if room < 20 or _width(text) <= room:
        return beginning + text
    kept = text
    while _width(kept) >= room:
        kept = kept[:-1]
    return f"{beginning}{kept.rstrip()}…"


def styled(text: str, style: str, stream: TextIO | None = None) -> str:
    """Return text in a colour where ``stream`` (standard output unless given) is a terminal and NO_COLOR is not set."""
    out = sys.stdout if stream is None else stream
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not out.isatty():
        return text
    return f"\x1b[{COLOURS[style]}m{text}\x1b[0m"


def _decodable(text: str) -> str:
    if text.isascii():
        return text
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = text.encode("utf-8", "backslashreplace")
    return data.decode("utf-8", "backslashreplace")


def _visible(character: str) -> str:
    if character.isprintable() or character in "\n\t":
        return character
    number = ord(character)
    # Besides controls: format characters that reorder a line (bidirectional overrides), and unassigned ones.
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"


def _cell(text: str) -> str:
    indent = len(text) - len(text.lstrip(" "))
    return " " * indent + one_line(text)


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def _padded(text: str, width: int, *, to_the_right: bool) -> str:
    blanks = " " * (width - _width(text))
    return blanks + text if to_the_right else text + blanks


def _wrapped(text: str, room: int) -> list[str]:
    # Below 20 columns wrapping makes a column of single words: let the terminal break the line then.
    if room < 20 or _width(text) <= room:
        return [text]
    return textwrap.wrap(text, room) or [""]
