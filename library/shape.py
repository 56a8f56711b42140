"""The form of a document, held against a JSON Schema: types, keys and their order, patterns, bounds. Pure.

It knows the few words that our own schemas use and refuses a schema with any other, so that nothing is skipped in
silence; what it adds to JSON Schema is the order of keys. The standard library is all it needs: ``check`` starts fast.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from authoring.consistency import Fault, Place

_KNOWN: Final = frozenset(
    [
        "$schema",
        "$defs",
        "$ref",
        "title",
        "description",
        "default",
        "type",
        "const",
        "enum",
        "anyOf",
        "pattern",
        "maxLength",
        "minimum",
        "maximum",
        "items",
        "minItems",
        "properties",
        "required",
        "additionalProperties",
    ]
)
_TYPES: Final[Mapping[str, type]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "boolean": bool,
    "null": type(None),
}
_NAMES: Final[Mapping[type, str]] = {kind: name for name, kind in _TYPES.items()}


def shape_faults(value: object, schema: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield each way in which a value is not of a schema's form, with its place."""
    yield from _Shape(schema.get("$defs", {})).faults(value, schema, ())


class _Shape:
    """One schema's definitions, and the walk over a value."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self.definitions = definitions

    def faults(self, value: object, schema: Mapping[str, Any], place: Place) -> Iterator[Fault]:
        unknown = schema.keys() - _KNOWN
        if unknown:
            raise ValueError(f"the schema uses {sorted(unknown)}, which this reader does not know")
        if "$ref" in schema:
            yield from self.faults(value, self.definitions[schema["$ref"].removeprefix("#/$defs/")], place)
        elif "anyOf" in schema:
            yield from self._any(value, schema["anyOf"], place)
        elif "type" in schema and type(value) is not _TYPES[schema["type"]]:
            message = f"is {_NAMES.get(type(value), type(value).__name__)}, not {schema['type']}"
            yield Fault(place=place, message=message)
        elif isinstance(value, dict):
            yield from self._object(value, schema, place)
        elif isinstance(value, list):
            if len(value) < schema.get("minItems", 0):
                yield Fault(place=place, message="is empty")
            for index, item in enumerate(value):
                yield from self.faults(item, schema["items"], (*place, index))
        else:
            yield from _scalar(value, schema, place)

    def _any(self, value: object, choices: list[Mapping[str, Any]], place: Place) -> Iterator[Fault]:
        """Hold a value against the one choice of its type; our schemas have no two choices of one type."""
        resolved = [self.definitions[one["$ref"].removeprefix("#/$defs/")] if "$ref" in one else one for one in choices]
        by_type = {choice.get("type", ""): choice for choice in resolved}
        if len(by_type) != len(choices) or "" in by_type:
            raise ValueError("the schema has a choice that this reader does not know")
        found = _NAMES.get(type(value), type(value).__name__)
        real = [name for name in by_type if name != "null"]
        if found in by_type or len(real) == 1:
            # Of one real choice the fault is the same as if null were not allowed.
            yield from self.faults(value, by_type.get(found, by_type[real[0]]), place)
        else:
            yield Fault(place=place, message=f"is {found}, not {' or '.join(real)}")

    def _object(self, value: dict[str, Any], schema: Mapping[str, Any], place: Place) -> Iterator[Fault]:
        properties = schema["properties"]
        for key in schema.get("required", ()):
            if key not in value:
                yield Fault(place=(*place, key), message="is missing")
        for key, item in value.items():
            if key not in properties:
                yield Fault(place=(*place, key), message="is not a key of this format")
            else:
                yield from self.faults(item, properties[key], (*place, key))
        known = [key for key in value if key in properties]
        expected = [key for key in properties if key in value]
        if known != expected:
            first = next(one for one, other in zip(known, expected, strict=True) if one != other)
            yield Fault(place=(*place, first), message="stands out of order among the keys")


def _scalar(value: object, schema: Mapping[str, Any], place: Place) -> Iterator[Fault]:
    if "const" in schema and value != schema["const"]:
        yield Fault(place=place, message=f"is {value!a}, not {schema['const']!a}")
    if "enum" in schema and value not in schema["enum"]:
        yield Fault(place=place, message=f"is {_short(value)}, not one of {', '.join(schema['enum'])}")
    if isinstance(value, str):
        if "pattern" in schema and not _compiled(schema["pattern"]).search(value):
            yield Fault(place=place, message=f"is {_short(value)}, which is not of the form {schema['pattern']}")
        if len(value) > schema.get("maxLength", len(value)):
            yield Fault(place=place, message=f"is longer than {schema['maxLength']} characters")
    elif isinstance(value, int) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield Fault(place=place, message=f"is {value}, out of bounds")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # In a JSON Schema the dollar is the end of the text; Python's also stands before a final newline.
    return re.compile(pattern.removesuffix("$") + r"\Z" if pattern.endswith("$") else pattern)


def _short(value: object) -> str:
    shown = ascii(value)
    return shown if len(shown) <= 60 else shown[:57] + "…"
