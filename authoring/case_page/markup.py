"""Strangers' text as HTML: nothing of it can become markup, and what a reader could not see is written out."""

from __future__ import annotations

import unicodedata
from html import escape


def shown(text: str) -> str:
    """Return a text for between tags: escaped, each character that can't be seen as its number with its name.

    Newlines, tabs and blanks of all widths stay; controls, bidirectional overrides, line separators, characters of zero
    width and unassigned ones don't. Lone surrogates, the way Python decodes stray bytes, become ``\\xNN``.
    """
    if text.isprintable():
        return escape(text)
    return "".join(_piece(character) for character in text)


def attribute(text: str) -> str:
    """Return a text for between the double quotes of an attribute, unseen characters as ``U+NNNN``."""
    return escape("".join(each if _plain(each) else f"U+{ord(each):04X}" for each in text), quote=True)


def bytes_shown(data: bytes) -> str:
    """Return bytes as ``shown`` text; what is no UTF-8 stands as ``\\xNN``."""
    return shown(data.decode("utf-8", "backslashreplace"))


def block(text: str, label: str) -> str:
    """Return a block to copy from: one click selects all of it, and the keyboard reaches it."""
    return (
        f'<pre class="copy" tabindex="0" role="region" aria-label="{attribute(label)}"><code>{shown(text)}</code></pre>'
    )


def link(url: str, text: str) -> str:
    """Return a link where an address is a web page's, else its text alone: no other scheme is followed from a page."""
    if not url.startswith(("https://", "http://")):
        return shown(text)
    return f'<a href="{attribute(url)}" rel="noreferrer noopener">{shown(text)}</a>'


def _plain(character: str) -> bool:
    return character.isprintable() or character in "\n\t" or unicodedata.category(character) == "Zs"


def _piece(character: str) -> str:
    if _plain(character):
        return escape(character)
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:
        return f"\\x{number - 0xDC00:02x}"
    name = unicodedata.name(character, "a character without a name")
    return f'<span class="unseen" title="{attribute(name)}">U+{number:04X}</span>'
