"""The YAML door: documents that people edit are read strictly, with a place for every fault, and written unambiguously.

Reading is stricter than YAML: what a reader of another YAML version could take for something else (a bare ``1e3``, a
date, an octal number), anchors, tags and repeated keys are faults, each with line and column, and all faults of a file
are told at once. Writing quotes whatever YAML 1.1 or 1.2 would change and uses literal blocks only for text that they
give back unchanged. Editing a file in place is ``casewright.document_edits``.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode
from ruamel.yaml.nodes import Node as YamlNode
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.representer import RoundTripRepresenter
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

from casewright.errors import DocumentError

Place = tuple[str | int, ...]
Model = TypeVar("Model", bound=BaseModel)

_TAG = "tag:yaml.org,2002:"
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,15}")
_COLON = re.compile(r"\s*:")
_SURROGATE = re.compile("[\ud800-\udfff]")
_READ_AS = {"float": "a number", "int": "a number", "timestamp": "a date", "bool": "a truth value"}
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One ``key: value`` of a mapping; ``start`` is where the key begins (an index into the document's text)."""

    key: str
    start: int
    node: Node


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """A value and the stretch of text that it was read from: ``start`` to ``end``, with no blank lines at its end.

    ``line`` and ``column`` count from 1. ``block`` tells an indented collection from one in brackets.
    """

    value: Any
    start: int
    end: int
    line: int
    column: int
    block: bool = False
    entries: tuple[Entry, ...] = ()
    items: tuple[Node, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A file as read: what it is called in errors, its text (without a byte order mark), and its root, a mapping."""

    name: str
    text: str
    root: Node


def read_document(path: Path, name: str) -> Document:
    """Read and parse a file; ``name`` is what faults call it. Raises ``DocumentError``, also when it can't be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DocumentError((f"{name}: can't be read: {error.strerror}",)) from error
    return parse_document(data, name)


def parse_document(data: bytes, name: str) -> Document:
    """Parse UTF-8 bytes that hold one YAML mapping. Raises ``DocumentError`` with every fault of the file."""
    document, faults = _parse(data, name)
    if faults:
        raise DocumentError(_lines(document, faults.items()))
    return document


def read_model(path: Path, name: str, model: type[Model], phrases: Mapping[str, str] | None = None) -> Model:
    """Read a file into a strict model. ``phrases`` says in words what a pattern asks for. Raises ``DocumentError``."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DocumentError((f"{name}: can't be read: {error.strerror}",)) from error
    return parse_model(data, name, model, phrases)[1]


def parse_model(
    data: bytes, name: str, model: type[Model], phrases: Mapping[str, str] | None = None
) -> tuple[Document, Model]:
    """Parse bytes into a strict model and keep the document for places. Raises ``DocumentError`` with every fault."""
    document, faults = _parse(data, name)
    try:
        read = model.model_validate_json(_json(document.root.value), strict=True)
    except ValidationError as error:
        found = dict(_model_faults(error, phrases or {}))
        # A value that YAML changed already has its fault; what the model says of it would only repeat that.
        raise DocumentError(_lines(document, {**found, **faults}.items())) from error
    if faults:
        raise DocumentError(_lines(document, faults.items()))
    return document, read


def fault_error(document: Document, faults: Iterable[tuple[Place, str]]) -> DocumentError:
    """Return the error for faults found in a document by rules of the caller's own."""
    return DocumentError(_lines(document, faults))


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _parse(data: bytes, name: str) -> tuple[Document, dict[Place, str]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DocumentError((f"{name}:{line}: not UTF-8 at byte {error.start}; save the file as UTF-8",)) from error
    try:
        composed = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise DocumentError((f"{name}{place}: {error.problem or error.context or 'not YAML'}",)) from error
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise DocumentError((f"{name}:{line}: holds U+{int(error.character):04X}; write it as an escape",)) from error
    except (YAMLError, RecursionError) as error:
        raise DocumentError((f"{name}: not YAML that can be read: {type(error).__name__}",)) from error
    if not isinstance(composed, MappingNode):
        raise DocumentError((f"{name}:1:1: is not a mapping of keys to values",))
    reading = _Reading(text)
    root = reading.node(composed, ())
    return Document(name=name, text=text, root=root), reading.faults


class _Reading:
    """One pass over composed nodes: values, places, and the faults found on the way."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.faults: dict[Place, str] = {}

    def node(self, node: YamlNode, place: Place) -> Node:
        if node.anchor is not None:
            self.faults[place] = f"the anchor or alias {node.anchor!r} is not allowed; write the value out"
            return self._made(node, None)
        if isinstance(node, MappingNode):
            return self._mapping(node, place)
        if isinstance(node, SequenceNode):
            items = tuple(self.node(item, (*place, index)) for index, item in enumerate(node.value))
            return self._made(node, [item.value for item in items], items=items)
        return self._made(node, self._scalar(node, place))

    def _mapping(self, node: MappingNode, place: Place) -> Node:
        entries: list[Entry] = []
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode) or key_node.tag == _TAG + "merge":
                self.faults[place] = "holds a key that is not plain text"
                continue
            key = str(key_node.value)
            value = self.node(value_node, (*place, key))
            if key in values:
                self.faults[(*place, key)] = (
                    f"the key {key!r} stands twice (again at line {key_node.start_mark.line + 1})"
                )
            values[key] = value.value
            if value_node.start_mark.index == value_node.end_mark.index:
                mark = key_node.start_mark
                # ``? key`` has no colon of its own: what follows then belongs to another key.
                after = _COLON.match(self.text, key_node.end_mark.index)
                colon = after.end() if after else key_node.end_mark.index
                value = Node(value=value.value, start=colon, end=colon, line=mark.line + 1, column=mark.column + 1)
            entries.append(Entry(key=key, start=key_node.start_mark.index, node=value))
        return self._made(node, values, entries=tuple(entries))

    def _made(self, node: YamlNode, value: Any, entries: tuple[Entry, ...] = (), items: tuple[Node, ...] = ()) -> Node:
        start, end = node.start_mark.index, node.end_mark.index
        block = isinstance(node, (MappingNode, SequenceNode)) and not node.flow_style
        if block:
            end = max((child.end for child in (*(entry.node for entry in entries), *items)), default=end)
        end = start + len(self.text[start:end].rstrip())
        return Node(
            value=value,
            start=start,
            end=end,
            line=node.start_mark.line + 1,
            column=node.start_mark.column + 1,
            block=block,
            entries=entries,
            items=items,
        )

    def _scalar(self, node: YamlNode, place: Place) -> Any:
        raw = str(node.value)
        match str(node.tag).removeprefix(_TAG):
            case "str":
                surrogate = _SURROGATE.search(raw)
                if surrogate:
                    self.faults[place] = f"holds U+{ord(surrogate[0]):04X}, half of a character"
                    return ""
                return raw
            case "null":
                return None
            case "bool" if raw in _BOOLEANS:
                return _BOOLEANS[raw]
            case "int" if _INTEGER.fullmatch(raw):
                return int(raw)
            case kind:
                read_as = {"float": "a number", "int": "a number", "timestamp": "a date", "bool": "a truth value"}.get(
                    kind
                )
                what = f"YAML reads {raw!r} as {read_as}" if read_as else f"the tag of {raw!r} is not allowed"
                self.faults[place] = f"{what}; put it in quotes if it is text"
                return raw


def _model_faults(error: ValidationError, phrases: Mapping[str, str]) -> Iterator[tuple[Place, str]]:
    for detail in error.errors(include_url=False):
        yield tuple(detail["loc"]), _sentence(detail, phrases)


def _sentence(detail: ErrorDetails, phrases: Mapping[str, str]) -> str:
    given = detail["input"]
    match detail["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is not a key that stands here"
        case "string_type" if isinstance(given, (int, bool)):
            return f"should be text; write it in quotes: {str(given).lower()!r}"
        case "string_pattern_mismatch":
            pattern = detail["ctx"]["pattern"]
            return f"{_short(given)} is not {phrases.get(pattern, 'of the form ' + pattern)}"
        case _:
            message = detail["msg"].removeprefix("Value error, ").removeprefix("Input ")
            return f"{message[:1].lower()}{message[1:]}, not {_short(given)}"


def _short(value: object) -> str:
    shown = {dict: "a mapping", list: "a list", type(None): "nothing"}.get(type(value)) or ascii(value)
    return shown if len(shown) <= 60 else shown[:57] + "…"


def _lines(document: Document, faults: Iterable[tuple[Place, str]]) -> tuple[str, ...]:
    placed = sorted((*_position(document.root, place), _dotted(place), message) for place, message in faults)
    return tuple(f"{document.name}:{line}:{column}: {where}{message}" for line, column, where, message in placed)


def _position(node: Node, place: Place) -> tuple[int, int]:
    """Return line and column of the value at a place, or of the nearest thing around it that is there."""
    for step in place:
        if isinstance(step, int):
            inner = node.items[step] if step < len(node.items) else None
        else:
            inner = next((entry.node for entry in node.entries if entry.key == step), None)
        if inner is None:
            break
        node = inner
    return node.line, node.column


def _dotted(place: Place) -> str:
    text = ""
    for step in place:
        text += f"[{step}]" if isinstance(step, int) else f".{step}"
    return f"{text.removeprefix('.')}: " if text else ""


class _Representer(RoundTripRepresenter):
    """Writes null as a word: an empty place is easily read as a forgotten value."""


_Representer.add_representer(
    type(None), lambda representer, _: representer.represent_scalar("tag:yaml.org,2002:null", "null")
)


def render(value: Mapping[str, Any], comments: Mapping[str, str] | None = None) -> str:
    """Return plain JSON values as YAML text, a comment (lines without ``#``) above each top-level key that has one.

    What ``parse_document`` reads from it is ``value`` again, and rendering that gives the same text.
    """
    writer = YAML(pure=True)
    writer.Representer = _Representer
    writer.width = sys.maxsize
    writer.indent(mapping=2, sequence=4, offset=2)
    parts: list[str] = []
    for key, item in value.items():
        comment = (comments or {}).get(key, "")
        parts += ["# " + line + "\n" if line else "#\n" for line in comment.splitlines()]
        stream = io.StringIO()
        writer.dump({_styled(key): _styled(item)}, stream)
        parts.append(stream.getvalue())
    return "".join(parts)


def _styled(value: Any) -> Any:
    if isinstance(value, str):
        return _styled_text(value)
    if isinstance(value, Mapping):
        return {_styled(key): _styled(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_styled(item) for item in value]
    return value


# Words that YAML 1.1 or 1.2 reads as something else than text, in any case of letters.
_AMBIGUOUS = frozenset({"y", "yes", "n", "no", "on", "off", "true", "false", "null", "nan", "inf"})
_PLAIN = re.compile(r"(?:\.{1,2}/|[A-Za-z_/])[^\n]*")
_HEX = re.compile(r"[0-9a-f]{7,}")


def _styled_text(text: str) -> object:
    if _survives_literal(text):
        return LiteralScalarString(text)
    plain = (
        _PLAIN.fullmatch(text) is not None
        and text.isprintable()
        and not any(mark in text for mark in (": ", " #"))
        and not text.endswith((":", " "))
        and text.lower() not in _AMBIGUOUS
        and not _HEX.fullmatch(text)
    )
    return text if plain else DoubleQuotedScalarString(text)


def _survives_literal(text: str) -> bool:
    """Whether a literal block gives this text back: several lines, nothing but print and inner tabs, no loose ends."""
    lines = text.removesuffix("\n").split("\n")
    return (
        "\n" in text
        and bool(lines[-1])
        and not text.startswith((" ", "\t", "\n"))
        and all(line.replace("\t", " ").isprintable() and not line.endswith((" ", "\t")) for line in lines)
    )
