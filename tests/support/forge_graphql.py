"""The GraphQL API: a query is checked against the schema as a whole, weighed, and then answered field by field."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.forge_fields import MOST_A_PAGE, Connection, FieldRefused, Node, World
from tests.support.forge_query import (
    Declared,
    Directive,
    Document,
    EnumValue,
    Field,
    Fragment,
    Operation,
    Selection,
    Spread,
    SyntaxRefused,
    Variable,
    parse,
)
from tests.support.forge_schema import POSSIBLE, SCALARS, SCHEMA

NODE_LIMIT = 500_000
_PYTHON: Mapping[str, tuple[type, ...]] = {
    "Int": (int,),
    "Boolean": (bool,),
    "ID": (str, int),
    "String": (str,),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A query that may be run, with its variables filled in, and the points that it costs."""

    operation: Operation
    fragments: Mapping[str, Fragment]
    variables: Mapping[str, Any]
    cost: int


class QueryRefused(Exception):  # noqa: N818 - an answer of the API
    """A query that isn't run at all: nothing but these errors is answered."""

    def __init__(self, errors: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(errors[0]["message"])
        self.errors = tuple(errors)


def prepare(text: str, variables: Mapping[str, Any], operation: str | None, node_limit: int = NODE_LIMIT) -> Prepared:
    """Read and check a query; raise ``QueryRefused`` for what the API would not run, all reasons at once."""
    try:
        document = parse(text)
    except SyntaxRefused as refused:
        place = [{"line": refused.line, "column": refused.column}]
        raise QueryRefused([{"message": refused.message, "locations": place}]) from refused
    chosen = _chosen(document, operation)
    check = _Check(document, chosen)
    errors = check.errors()
    if errors:
        raise QueryRefused(errors)
    given = _given(chosen, variables)
    nodes, calls = _Weight(document.fragments, given).of(chosen)
    if nodes > node_limit:
        message = (
            f"This query requests up to {nodes:,} possible nodes which exceeds the maximum limit of {node_limit:,}."
        )
        raise QueryRefused([{"type": "MAX_NODE_LIMIT_EXCEEDED", "message": message}])
    return Prepared(operation=chosen, fragments=document.fragments, variables=given, cost=max(1, round(calls / 100)))


def run(prepared: Prepared, world: World) -> dict[str, Any]:
    """Return the answer: ``data`` and, where something could not be given, ``errors`` beside it."""
    execution = _Execution(prepared, world)
    data = execution.fields(Node(type="Query", value=None), prepared.operation.selections, ())
    return {"data": data} | ({"errors": execution.errors} if execution.errors else {})


def _chosen(document: Document, name: str | None) -> Operation:
    if name is None and len(document.operations) > 1:
        raise QueryRefused([{"message": "An operation name is required"}])
    for operation in document.operations:
        if name is None or operation.name == name:
            if operation.kind != "query":
                raise QueryRefused([{"message": f"Schema is not configured for {operation.kind}s"}])
            return operation
    raise QueryRefused([{"message": f"No operation named {json.dumps(name)}"}])


class _Check:
    """Holds a query against the schema, without running anything."""

    def __init__(self, document: Document, operation: Operation) -> None:
        self._document = document
        self._operation = operation
        self._errors: list[dict[str, Any]] = []
        self._used: set[str] = set()

    def errors(self) -> list[dict[str, Any]]:
        what = f"query {self._operation.name}" if self._operation.name else "query"
        self._selections("Query", self._operation.selections, (what,))
        title = self._operation.name or "anonymous query"
        for name in self._operation.variables:
            if name not in self._used:
                self._note(f"Variable ${name} is declared by {title} but not used", "variableNotUsed", (what,))
        return self._errors

    def _note(self, message: str, code: str, path: tuple[str, ...], at: Field | None = None, **more: str) -> None:
        places = [{"line": at.line, "column": at.column}] if at else []
        extensions = {"code": code, **more}
        self._errors.append({"path": list(path), "extensions": extensions, "locations": places, "message": message})

    def _selections(self, type_: str, selections: Iterable[Selection], path: tuple[str, ...]) -> None:
        for selection in selections:
            self._directives(selection.directives, path)
            match selection:
                case Field():
                    self._field(type_, selection, (*path, selection.key))
                case Fragment():
                    self._fragment(type_, selection, (*path, f"... on {selection.condition}"))
                case Spread():
                    named = self._document.fragments.get(selection.name)
                    if named is None:
                        message = f"Fragment {selection.name} was used, but not defined"
                        self._note(message, "useAndDefineFragment", path)
                    elif f"...{selection.name}" in path:
                        self._note(f"Fragment {selection.name} contains an infinite loop", "infiniteLoop", path)
                    else:
                        self._fragment(type_, named, (*path, f"...{selection.name}"))

    def _fragment(self, type_: str, fragment: Fragment, path: tuple[str, ...]) -> None:
        condition = fragment.condition or type_
        if condition not in SCHEMA:
            message = f"No such type {condition}, so it can't be a fragment condition"
            return self._note(message, "undefinedType", path, typeName=condition)
        if not _overlap(type_, condition):
            message = f"Fragment on {condition} can't be spread inside {type_}"
            return self._note(message, "cannotSpreadFragment", path, typeName=condition)
        return self._selections(condition, fragment.selections, path)

    def _directives(self, directives: Iterable[Directive], path: tuple[str, ...]) -> None:
        for directive in directives:
            if directive.name not in ("include", "skip"):
                self._note(f"Directive @{directive.name} is not defined", "undefinedDirective", path)
            for name, value in directive.arguments.items():
                self._value(name, value, "Boolean!", f"Directive '{directive.name}'", path, None)

    def _field(self, type_: str, field: Field, path: tuple[str, ...]) -> None:
        if field.name == "__typename":
            return None
        served = SCHEMA[type_].get(field.name)
        if served is None:
            message = f"Field '{field.name}' doesn't exist on type '{type_}'"
            return self._note(message, "undefinedField", path, field, typeName=type_, fieldName=field.name)
        for name, value in field.arguments.items():
            wanted = served.arguments.get(name)
            if wanted is None:
                message = f"Field '{field.name}' doesn't accept argument '{name}'"
                self._note(message, "argumentNotAccepted", path, field, name=field.name, argumentName=name)
            else:
                self._value(name, value, wanted, f"Field '{field.name}'", path, field)
        missing = [name for name, type_ in served.arguments.items() if type_[-1] == "!" and name not in field.arguments]
        if missing:
            message = f"Field '{field.name}' is missing required arguments: {', '.join(missing)}"
            self._note(message, "missingRequiredArguments", path, field, arguments=", ".join(missing))
        if served.type in SCALARS:
            if field.selections is not None:
                message = f"Selections can't be made on scalars (field '{field.name}' returns {served.type})"
                self._note(message, "selectionMismatch", path, field)
            return None
        if field.selections is None:
            message = (
                f"Field must have selections (field '{field.name}' returns {served.type} but has no selections. "
                f"Did you mean '{field.name} {{ ... }}'?)"
            )
            return self._note(message, "selectionMismatch", path, field)
        return self._selections(served.type, field.selections, path)

    def _value(self, name: str, value: Any, wanted: str, owner: str, path: tuple[str, ...], at: Field | None) -> None:
        if not isinstance(value, Variable):
            if not _fits(value, wanted):
                message = f"Argument '{name}' on {owner} has an invalid value. Expected type '{wanted}'."
                self._note(message, "argumentLiteralsIncompatible", path, at, argumentName=name)
            return
        self._used.add(value.name)
        declared = self._operation.variables.get(value.name)
        if declared is None:
            title = self._operation.name or "anonymous query"
            message = f"Variable ${value.name} is used by {title} but not declared"
            self._note(message, "variableNotDefined", path, at, variableName=value.name)
        elif not _accepts(declared, wanted):
            message = (
                f"Nullability or type mismatch on variable ${value.name} and argument {name} "
                f"({declared.type} / {wanted})"
            )
            self._note(message, "variableMismatch", path, at, variableName=value.name)


def _overlap(one: str, other: str) -> bool:
    return bool(POSSIBLE.get(one, frozenset({one})) & POSSIBLE.get(other, frozenset({other})))


def _accepts(declared: Declared, wanted: str) -> bool:
    strict = declared.type.endswith("!") or (declared.has_default and declared.default is not None)
    same = declared.type.rstrip("!") == wanted.rstrip("!")
    return same and (strict or not wanted.endswith("!"))


def _fits(value: Any, wanted: str) -> bool:
    """Return whether a literal (or what came for a variable) has the type that is wanted."""
    if value is None:
        return not wanted.endswith("!")
    kind = wanted.rstrip("!")
    if kind == "GitObjectID":
        return isinstance(value, str) and re.fullmatch("[0-9a-f]{40}(?:[0-9a-f]{24})?", value) is not None
    kinds = _PYTHON.get(kind)
    # A bool is an int to Python, and none to GraphQL.
    return kinds is None or (isinstance(value, kinds) and (kind == "Boolean" or not isinstance(value, bool)))


def _given(operation: Operation, variables: Mapping[str, Any]) -> dict[str, Any]:
    given = {}
    for name, declared in operation.variables.items():
        if name not in variables and declared.has_default:
            given[name] = declared.default
            continue
        value = variables.get(name)
        if not _fits(value, declared.type):
            why = "Expected value to not be null" if value is None else f"Could not coerce value {json.dumps(value)}"
            problems = [{"path": [], "explanation": why}]
            message = f"Variable ${name} of type {declared.type} was provided invalid value"
            extensions = {"value": value, "problems": problems}
            raise QueryRefused([{"extensions": extensions, "message": message}])
        given[name] = value
    return given


def _filled(value: Any, variables: Mapping[str, Any]) -> Any:
    match value:
        case Variable():
            return variables.get(value.name)
        case EnumValue():
            return value.name
        case list():
            return [_filled(item, variables) for item in value]
        case dict():
            return {name: _filled(item, variables) for name, item in value.items()}
        case _:
            return value


def _left_out(directives: Iterable[Directive], variables: Mapping[str, Any]) -> bool:
    for directive in directives:
        if bool(_filled(directive.arguments.get("if"), variables)) != (directive.name == "include"):
            return True
    return False


class _Weight:
    """Counts, before anything is run, the nodes that a query may give and the lists that it makes the server read."""

    def __init__(self, fragments: Mapping[str, Fragment], variables: Mapping[str, Any]) -> None:
        self._fragments = fragments
        self._variables = variables

    def of(self, operation: Operation) -> tuple[int, int]:
        return self._selections("Query", operation.selections, 1)

    def _selections(self, type_: str, selections: Iterable[Selection], times: int) -> tuple[int, int]:
        nodes = calls = 0
        for selection in selections:
            if _left_out(selection.directives, self._variables):
                continue
            if isinstance(selection, Field):
                more = self._field(type_, selection, times)
            else:
                fragment = self._fragments[selection.name] if isinstance(selection, Spread) else selection
                more = self._selections(fragment.condition or type_, fragment.selections, times)
            nodes, calls = nodes + more[0], calls + more[1]
        return nodes, calls

    def _field(self, type_: str, field: Field, times: int) -> tuple[int, int]:
        served = SCHEMA[type_].get(field.name)
        if served is None or field.selections is None:
            return 0, 0
        if served.connection is None:
            return self._selections(served.type, field.selections, times)
        asked = _filled(dict(field.arguments), self._variables)
        count = times * abs(asked.get("first") or asked.get("last") or 0)
        nodes, calls = self._selections(served.type, field.selections, count)
        return nodes + count, calls + times


class _Execution:
    def __init__(self, prepared: Prepared, world: World) -> None:
        self._fragments = prepared.fragments
        self._variables = prepared.variables
        self._world = world
        self.errors: list[dict[str, Any]] = []

    def fields(self, node: Node, selections: Sequence[Selection], path: tuple[str | int, ...]) -> dict[str, Any]:
        asked: dict[str, list[Field]] = {}
        for field in self._collected(node.type, selections):
            asked.setdefault(field.key, []).append(field)
        if node.type == "Repository":
            # One git for all the commits of a query, and not one each.
            ids = (_filled(field.arguments.get("oid"), self._variables) for field in _flat(asked.values()))
            self._world.reader(node.value).commits(id_ for id_ in ids if isinstance(id_, str))
        return {key: self._field(node, same, (*path, key)) for key, same in asked.items()}

    def _collected(self, type_: str, selections: Iterable[Selection]) -> Iterator[Field]:
        for selection in selections:
            if _left_out(selection.directives, self._variables):
                continue
            if isinstance(selection, Field):
                yield selection
                continue
            fragment = self._fragments[selection.name] if isinstance(selection, Spread) else selection
            if fragment.condition is None or type_ in POSSIBLE.get(fragment.condition, {fragment.condition}):
                yield from self._collected(type_, fragment.selections)

    def _field(self, node: Node, same: Sequence[Field], path: tuple[str | int, ...]) -> Any:
        first = same[0]
        if first.name == "__typename":
            return node.type
        served = SCHEMA[node.type][first.name]
        asked = {name: _filled(value, self._variables) for name, value in first.arguments.items()}
        selections = [selection for field in same for selection in field.selections or ()]
        try:
            if served.connection is not None:
                _check_page(first.name, asked)
            value = served.resolve(self._world, node, asked)
        except FieldRefused as refused:
            value = refused
        if isinstance(value, Connection):
            value = Node(type=served.type, value=value, repository=node.repository)
        return self._completed(value, first, selections, path)

    def _completed(self, value: Any, field: Field, selections: Sequence[Selection], path: tuple[str | int, ...]) -> Any:
        if isinstance(value, FieldRefused):
            self._note(value, field, path)
            return None
        if isinstance(value, Node):
            return self.fields(value, selections, path)
        if isinstance(value, list):
            return [self._completed(item, field, selections, (*path, index)) for index, item in enumerate(value)]
        return value

    def _note(self, refused: FieldRefused, field: Field, path: tuple[str | int, ...]) -> None:
        error: dict[str, Any] = {
            "type": refused.kind,
            "path": list(path),
            "locations": [{"line": field.line, "column": field.column}],
            "message": refused.message,
        }
        self.errors.append(error | ({"extensions": refused.extensions} if refused.extensions else {}))


def _flat(groups: Iterable[Sequence[Field]]) -> Iterator[Field]:
    for group in groups:
        yield from group


def _check_page(name: str, asked: Mapping[str, Any]) -> None:
    wanted = [key for key in ("first", "last") if asked.get(key) is not None]
    if not wanted:
        message = f"You must provide a `first` or `last` value to properly paginate the `{name}` connection."
        raise FieldRefused("MISSING_PAGINATION_BOUNDARIES", message)
    for key in wanted:
        if asked[key] > MOST_A_PAGE:
            message = (
                f"Requesting {asked[key]} records on the `{name}` connection exceeds the `{key}` limit of"
                f" {MOST_A_PAGE} records."
            )
            raise FieldRefused("EXCESSIVE_PAGINATION", message)
        if asked[key] < 0:
            raise FieldRefused("INVALID_PAGINATION", f"`{key}` on the `{name}` connection cannot be less than zero.")
