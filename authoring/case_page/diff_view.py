"""The files of one part as coloured diffs; what nobody would read is folded, or told by its size alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from authoring.case_page.markup import attribute, bytes_shown
from authoring.change_files import READABLE_BYTES, ChangedFile

# A longer diff is folded until somebody asks for it; a page never holds more than the second number of lines.
_FOLDED_LINES: Final = 300
_LINES_OF_A_PART: Final = 8000
# A line of a minified file: its beginning is shown.
_LONG_LINE: Final = 1000
_SHOWN_OF_IT: Final = 200
_WORDS: Final = {"A": "added", "D": "deleted", "M": "changed", "T": "another kind of entry"}


def diffs(files: Sequence[ChangedFile]) -> str:
    """Return the files in order, each with a heading that names it and says what became of it."""
    room = _LINES_OF_A_PART
    pieces = []
    for file in files:
        lines = _lines(file.patch)
        fits = len(lines) <= room
        room -= len(lines) if fits else 0
        pieces.append(_file(file, lines, fits=fits))
    return "\n".join(pieces)


def _file(file: ChangedFile, lines: Sequence[bytes], *, fits: bool) -> str:
    name = bytes_shown(file.path)
    facts = [file.part.value] * (file.part.value not in {"graded", "rest"}) + [_WORDS.get(file.status, file.status)]
    head = f"<code>{name}</code> {_counts(file)} <small>{', '.join(facts)}</small>"
    why = _why_not_shown(file, lines, fits=fits)
    if why:
        return f'<p class="file">{head}<br><small>{why}</small></p>'
    oddities = _oddities(file, lines)
    note = f"<p><small>{oddities}</small></p>" if oddities else ""
    opened = "" if oddities or len(lines) > _FOLDED_LINES else " open"
    label = attribute(f"changes of {file.path.decode('utf-8', 'backslashreplace')}")
    body = "".join(_line(line) for line in lines)
    return (
        f'<details class="file"{opened}><summary>{head}</summary>{note}'
        f'<pre class="diff" tabindex="0" role="region" aria-label="{label}"><code>{body}</code></pre></details>'
    )


def _counts(file: ChangedFile) -> str:
    if file.added is None or file.deleted is None:
        return ""
    return f'<span class="plus">+{file.added:,}</span> <span class="minus">\N{MINUS SIGN}{file.deleted:,}</span>'


def _why_not_shown(file: ChangedFile, lines: Sequence[bytes], *, fits: bool) -> str:
    sizes = f"{_size(file, file.before, 'A')} before, {_size(file, file.after, 'D')} after"
    if file.added is None:
        return f"A binary file: {sizes}."
    if not file.patch and (file.added or file.deleted):
        return f"Too large to show: {sizes}."
    if not lines:
        return f"No line differs: {sizes}."
    return "" if fits else f"Left out, since the page is long already: {len(lines):,} lines."


def _size(file: ChangedFile, size: int | None, absent_when: str) -> str:
    if file.status == absent_when:
        return "nothing"
    return f"{size:,} bytes" if size is not None else f"more than {READABLE_BYTES:,} bytes"


def _oddities(file: ChangedFile, lines: Sequence[bytes]) -> str:
    """Return what makes a diff hard to read, in sentences; such a diff is folded."""
    said = []
    try:
        file.patch.decode("utf-8")
    except UnicodeDecodeError:
        said.append("It holds bytes that are no UTF-8; they stand as \\xNN.")
    if any(len(line) > _LONG_LINE for line in lines):
        said.append("Its longest lines are cut, as in a minified file.")
    return " ".join(said)


def _lines(patch: bytes) -> tuple[bytes, ...]:
    """Return the lines from the first hunk on; what git says before it stands in the heading."""
    lines = patch.removesuffix(b"\n").split(b"\n")
    first = next((place for place, line in enumerate(lines) if line.startswith(b"@@")), len(lines))
    return tuple(lines[first:])


def _line(line: bytes) -> str:
    kind = {b"+": "add", b"-": "del", b"@": "hunk", b"\\": "hunk"}.get(line[:1], "same")
    return f'<span class="{kind}">{"".join(_content(line))}\n</span>'


def _content(line: bytes) -> Iterator[str]:
    if len(line) > _LONG_LINE:
        yield bytes_shown(line[:_SHOWN_OF_IT])
        yield f" <i>\N{HORIZONTAL ELLIPSIS} {len(line) - _SHOWN_OF_IT:,} more bytes</i>"
    else:
        yield bytes_shown(line)
