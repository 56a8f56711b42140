"""Changes to a document that people edit: the new values are put in, everything else stays byte for byte as it is.

The text is spliced at the smallest value that differs, so comments, order, quoting, blank lines and line ends of all
the rest are kept. A list keeps the items that it begins and ends with; only what lies between is written anew.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from casewright.documents import Document, Entry, Node, parse_document, render
from casewright.errors import DocumentError

_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Splice:
    """Text to put in place of the stretch from ``start`` to ``end``."""

    start: int
    end: int
    text: str


def updated(data: bytes, name: str, changes: Mapping[str, Any]) -> bytes:
    """Return a document's bytes with its top-level keys of ``changes`` set to those values (plain JSON values).

    Where a value is a mapping, keys that it no longer has are taken out; top-level keys that ``changes`` does not name
    are never touched. Raises ``DocumentError`` when ``data`` is not a document.
    """
    crlf = data.count(b"\r\n") == data.count(b"\n") > 0
    document = parse_document(data.replace(b"\r\n", b"\n") if crlf else data, name)
    wanted = {**document.root.value, **changes}
    if _same(wanted, document.root.value):
        return data
    text = _spliced(document, _mapping_splices(document, document.root, wanted))
    if not _gives(text, wanted):
        # An unusual layout (several values on a line, comments in odd places): the named keys are written anew, whole.
        text = _spliced(document, _whole_splices(document, changes))
        if not _gives(text, wanted):
            text = render(wanted)
    edited = text.replace("\n", "\r\n") if crlf else text
    return (_MARK if data.startswith(_MARK) else b"") + edited.encode()


def _same(one: object, other: object) -> bool:
    # Python takes True for 1; JSON does not.
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _gives(text: str, wanted: Mapping[str, Any]) -> bool:
    try:
        return _same(parse_document(text.encode(), "the edited text").root.value, wanted)
    except DocumentError:
        return False


def _spliced(document: Document, splices: Iterator[_Splice]) -> str:
    text = document.text
    for splice in sorted(splices, key=lambda one: (one.start, one.end), reverse=True):
        text = text[: splice.start] + splice.text + text[splice.end :]
    return text


def _whole_splices(document: Document, changes: Mapping[str, Any]) -> Iterator[_Splice]:
    entries = {entry.key: entry for entry in document.root.entries}
    for key, value in changes.items():
        if key in entries:
            yield _replacement(document.text, entries[key].start, entries[key].node.end, render({key: value}), 0)
        else:
            yield _Splice(start=len(document.text), end=len(document.text), text="\n" + render({key: value}))


def _mapping_splices(document: Document, node: Node, wanted: Mapping[str, Any]) -> Iterator[_Splice]:
    indent = node.column - 1
    for entry in node.entries:
        if entry.key not in wanted:
            yield _removal(document.text, entry.start, entry.node.end)
        elif not _same(entry.node.value, wanted[entry.key]):
            yield from _value_splices(document, entry, wanted[entry.key], indent)
    there = {entry.key: entry for entry in node.entries}
    names = list(wanted)
    before: Entry | None = None
    pending: list[str] = []
    for key in wanted:
        if key in there:
            before = there[key]
            continue
        pending.append(key)
        following = names[names.index(key) + 1 :]
        if not following or following[0] in there:
            lines = _indented(render({name: wanted[name] for name in pending}), indent)
            yield _insertion(document.text, node, before, lines)
            pending = []


def _value_splices(document: Document, entry: Entry, wanted: Any, indent: int) -> Iterator[_Splice]:
    node = entry.node
    if node.block and node.entries and isinstance(wanted, Mapping) and wanted:
        yield from _mapping_splices(document, node, wanted)
    elif node.block and node.items and isinstance(wanted, list) and wanted:
        yield from _list_splices(document, entry, wanted, indent)
    else:
        rendered = render({entry.key: wanted})
        if rendered.count("\n") == 1 and node.start < node.end:
            yield _Splice(start=node.start, end=node.end, text=rendered.split(": ", 1)[1].rstrip("\n"))
        else:
            yield _replacement(document.text, entry.start, node.end, rendered, indent)


def _list_splices(document: Document, entry: Entry, wanted: list[Any], indent: int) -> Iterator[_Splice]:
    node, text = entry.node, document.text
    old = [item.value for item in node.items]
    head = _common(old, wanted)
    tail = min(_common(old[::-1], wanted[::-1]), len(old) - head, len(wanted) - head)
    dashes = [dash for dash in (_dash(text, item) for item in node.items) if dash is not None]
    if len(dashes) < len(old):
        yield _replacement(text, entry.start, node.end, render({entry.key: wanted}), indent)
        return
    rendered = render({"-": wanted[head : len(wanted) - tail]}).partition("\n")[2] if head + tail < len(wanted) else ""
    lines = _indented("".join(line.removeprefix("  ") for line in rendered.splitlines(keepends=True)), node.column - 1)
    if head + tail < len(old):
        start, end = dashes[head], node.items[len(old) - tail - 1].end
        if not lines:
            yield _removal(text, start, end)
        else:
            yield _Splice(start=_line_start(text, start), end=_line_end(text, end), text=lines.rstrip("\n"))
    elif head:
        end = _line_end(text, node.items[head - 1].end)
        yield _Splice(start=end, end=end, text="\n" + lines.rstrip("\n"))
    else:
        start = _line_start(text, dashes[0])
        yield _Splice(start=start, end=start, text=lines)


def _common(one: list[Any], other: list[Any]) -> int:
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: _same(*pair), pairs))


def _dash(text: str, item: Node) -> int | None:
    """Return the index of the dash before a list item on its own line; None for a layout that can't be spliced."""
    before = text[_line_start(text, item.start) : item.start]
    return item.start - len(before) + before.index("-") if before.strip() == "-" else None


def _replacement(text: str, start: int, end: int, rendered: str, indent: int) -> _Splice:
    new = _indented(rendered, indent).strip("\n").removeprefix(" " * indent)
    rest = text[end : _line_end(text, end)]
    if rest.strip().startswith("#") and "\n" in new:
        # Behind a literal block the comment would become part of the text: it moves above the key.
        return _Splice(start=start, end=end + len(rest), text=f"{rest.strip()}\n{' ' * indent}{new}")
    return _Splice(start=start, end=end, text=new)


def _removal(text: str, start: int, end: int) -> _Splice:
    return _Splice(start=_line_start(text, start), end=min(_line_end(text, end) + 1, len(text)), text="")


def _insertion(text: str, node: Node, before: Entry | None, rendered: str) -> _Splice:
    if before is None:
        start = _line_start(text, node.start)
        return _Splice(start=start, end=start, text=rendered)
    end = _line_end(text, before.node.end)
    return _Splice(start=end, end=end, text="\n" + rendered.rstrip("\n"))


def _indented(text: str, indent: int) -> str:
    return "".join(" " * indent + line if line.strip() else line for line in text.splitlines(keepends=True))


def _line_start(text: str, index: int) -> int:
    return text.rfind("\n", 0, index) + 1


def _line_end(text: str, index: int) -> int:
    end = text.find("\n", index)
    return len(text) if end < 0 else end
