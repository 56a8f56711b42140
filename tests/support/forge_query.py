"""GraphQL's query language, read by recursive descent: text in, a tree out, or the error that the API would give."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

_TOKEN = re.compile(
    r"""
    (?P<skip>[\s,\ufeff]+|\#[^\n\r]*)
  | (?P<block>\"\"\"(?:[^"\\]|\\(?:\"\"\"|.)|\"(?!\"\"))*\"\"\")
  | (?P<string>"(?:[^"\\\n\r]|\\(?:u[0-9A-Fa-f]{4}|["\\/bfnrt]))*")
  | (?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9A-Za-z_.]))
  | (?P<name>[A-Za-z_][0-9A-Za-z_]*)
  | (?P<mark>\.\.\.|[!$():=@\[\]{}|&])
    """,
    re.VERBOSE | re.DOTALL,
)


class SyntaxRefused(Exception):  # noqa: N818 - an answer of the API
    """The text is no query; the message is the API's, the place is a line and a column from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable where a value could stand."""

    name: str


@dataclass(frozen=True, slots=True)
class EnumValue:
    """A name where a value could stand: ``MERGED``."""

    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Directive:
    """``@include`` or ``@skip`` with its condition."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """A field that is asked for; ``selections`` is None where no braces follow."""

    name: str
    key: str
    arguments: Mapping[str, Any]
    directives: tuple[Directive, ...]
    selections: tuple[Selection, ...] | None
    line: int
    column: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Fragment:
    """Fields for one type: inline (``... on Commit { }``), or a named one where it is defined."""

    condition: str | None
    directives: tuple[Directive, ...]
    selections: tuple[Selection, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Spread:
    """A named fragment where it is used."""

    name: str
    directives: tuple[Directive, ...]


Selection = Field | Fragment | Spread


@dataclass(frozen=True, kw_only=True, slots=True)
class Declared:
    """A variable's declaration; ``type`` is as written, ``[ID!]!`` say."""

    type: str
    default: Any
    has_default: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """A query (or a mutation, which nobody here runs) with its variables."""

    kind: str
    name: str | None
    variables: Mapping[str, Declared]
    selections: tuple[Selection, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """All that one text holds."""

    operations: tuple[Operation, ...]
    fragments: Mapping[str, Fragment]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def parse(text: str) -> Document:
    """Return a query's tree; raise ``SyntaxRefused`` where it isn't one."""
    return _Parser(text).document()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._read()
        self._index = 0

    def _read(self) -> list[_Token]:
        tokens = []
        at = 0
        while at < len(self._text):
            match = _TOKEN.match(self._text, at)
            if match is None:
                self._refuse(f"Parse error on {json.dumps(self._text[at])} (error)", at)
            kind = str(match.lastgroup)
            if kind != "skip":
                tokens.append(_Token(kind=kind, text=match[0], at=at))
            at = match.end()
        return [*tokens, _Token(kind="end", text="", at=len(self._text))]

    def _refuse(self, message: str, at: int) -> NoReturn:
        line, column = self._place(at)
        raise SyntaxRefused(f"{message} at [{line}, {column}]", line, column)

    def _place(self, at: int) -> tuple[int, int]:
        before = self._text[:at]
        return before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1

    @property
    def _now(self) -> _Token:
        return self._tokens[self._index]

    def _is(self, text: str) -> bool:
        return self._now.text == text and self._now.kind in ("mark", "name")

    def _take(self, text: str) -> bool:
        found = self._is(text)
        self._index += found
        return found

    def _need(self, text: str) -> None:
        if not self._take(text):
            self._unexpected(json.dumps(text))

    def _name(self) -> str:
        token = self._now
        if token.kind != "name":
            self._unexpected("a name")
        self._index += 1
        return token.text

    def _unexpected(self, wanted: str) -> NoReturn:
        token = self._now
        if token.kind == "end":
            self._refuse("Unexpected end of document", token.at)
        self._refuse(f"Expected {wanted}, actual: {token.kind.upper()} ({json.dumps(token.text)})", token.at)

    def document(self) -> Document:
        operations: list[Operation] = []
        fragments: dict[str, Fragment] = {}
        while self._now.kind != "end":
            if self._take("fragment"):
                name = self._name()
                self._need("on")
                fragments[name] = Fragment(
                    condition=self._name(), directives=self._directives(), selections=self._selections()
                )
            else:
                operations.append(self._operation())
        if not operations:
            self._refuse("Unexpected end of document", len(self._text))
        return Document(operations=tuple(operations), fragments=fragments)

    def _operation(self) -> Operation:
        if self._is("{"):
            return Operation(kind="query", name=None, variables={}, selections=self._selections())
        kind = self._now.text
        if kind not in ("query", "mutation", "subscription"):
            self._unexpected("an operation")
        self._index += 1
        name = self._name() if self._now.kind == "name" else None
        variables: dict[str, Declared] = {}
        if self._take("("):
            while not self._take(")"):
                self._need("$")
                variable = self._name()
                self._need(":")
                type_ = self._type()
                has_default = self._take("=")
                default = self._value() if has_default else None
                variables[variable] = Declared(type=type_, default=default, has_default=has_default)
        self._directives()
        return Operation(kind=kind, name=name, variables=variables, selections=self._selections())

    def _type(self) -> str:
        if self._take("["):
            inner = self._type()
            self._need("]")
            type_ = f"[{inner}]"
        else:
            type_ = self._name()
        return type_ + "!" if self._take("!") else type_

    def _selections(self) -> tuple[Selection, ...]:
        self._need("{")
        selections = []
        while not self._take("}"):
            selections.append(self._selection())
        if not selections:
            self._index -= 1
            self._unexpected("a field")
        return tuple(selections)

    def _selection(self) -> Selection:
        if self._take("..."):
            if self._now.kind == "name" and not self._is("on"):
                return Spread(name=self._name(), directives=self._directives())
            condition = self._name() if self._take("on") else None
            return Fragment(condition=condition, directives=self._directives(), selections=self._selections())
        line, column = self._place(self._now.at)
        key = name = self._name()
        if self._take(":"):
            name = self._name()
        arguments = self._arguments()
        directives = self._directives()
        return Field(
            name=name,
            key=key,
            arguments=arguments,
            directives=directives,
            selections=self._selections() if self._is("{") else None,
            line=line,
            column=column,
        )

    def _arguments(self) -> dict[str, Any]:
        arguments: dict[str, Any] = {}
        if self._take("("):
            while not self._take(")"):
                name = self._name()
                self._need(":")
                arguments[name] = self._value()
        return arguments

    def _directives(self) -> tuple[Directive, ...]:
        directives = []
        while self._take("@"):
            directives.append(Directive(name=self._name(), arguments=self._arguments()))
        return tuple(directives)

    def _value(self) -> Any:
        token = self._now
        if self._take("$"):
            return Variable(self._name())
        if self._take("["):
            items = []
            while not self._take("]"):
                items.append(self._value())
            return items
        if self._take("{"):
            fields: dict[str, Any] = {}
            while not self._take("}"):
                name = self._name()
                self._need(":")
                fields[name] = self._value()
            return fields
        read = _LITERALS.get(token.kind)
        if read is None:
            self._unexpected("a value")
        self._index += 1
        return read(token.text)


def _word(text: str) -> Any:
    return {"true": True, "false": False, "null": None}.get(text, EnumValue(text))


def _block(raw: str) -> str:
    """Return a block string's text: common indentation and blank lines at both ends go."""
    lines = raw[3:-3].replace('\\"""', '"""').splitlines()
    indents = [len(line) - len(line.lstrip(" \t")) for line in lines[1:] if line.strip(" \t")]
    depth = min(indents, default=0)
    cut = lines[:1] + [line[depth:] for line in lines[1:]]
    while cut and not cut[0].strip(" \t"):
        del cut[0]
    while cut and not cut[-1].strip(" \t"):
        del cut[-1]
    return "\n".join(cut)


_LITERALS: Mapping[str, Callable[[str], Any]] = {
    "name": _word,
    "number": json.loads,
    "string": lambda text: json.loads(text, strict=False),
    "block": _block,
}
