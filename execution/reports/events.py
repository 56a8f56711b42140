"""The stream that a reporter of ours writes beside a runner: one JSON object a line, read strictly.

Whatever else is on the stream was written by the code under test: it is a breach of the protocol and never skipped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass


class BreachError(Exception):
    """The stream is not what our reporter writes; the message says where it differs. Never leaves the readers."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One line of the stream: its kind and its fields. The accessors raise ``BreachError`` on another type."""

    kind: str
    fields: Mapping[str, object]

    def text(self, name: str) -> str:
        """Return a field that must be a string."""
        value = self.fields.get(name)
        if not isinstance(value, str):
            raise BreachError(f"the event {self.kind!r} has no text {name!r}")
        return value

    def number(self, name: str) -> int:
        """Return a field that must be an integer."""
        value = self.fields.get(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise BreachError(f"the event {self.kind!r} has no number {name!r}")
        return value

    def flag(self, name: str) -> bool:
        """Return a field that must be true or false."""
        value = self.fields.get(name)
        if not isinstance(value, bool):
            raise BreachError(f"the event {self.kind!r} has no flag {name!r}")
        return value

    def rows(self, name: str) -> tuple[Event, ...]:
        """Return a field that must be a list of objects, each as an event of the same kind."""
        value = self.fields.get(name)
        if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
            raise BreachError(f"the event {self.kind!r} has no list {name!r}")
        return tuple(Event(kind=self.kind, fields=row) for row in value)


def read_events(report: bytes) -> tuple[tuple[Event, ...], str]:
    """Return the events of a stream up to its first fault, and that fault in one sentence (empty when there is none).

    A last line without its newline was cut by the end of the process; it is left out and is no fault of its own, since
    the event that must stand last is then missing.
    """
    events: list[Event] = []
    *lines, _cut = report.split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            return tuple(events), f"line {number} of the report is not JSON"
        kind = fields.get("event") if isinstance(fields, dict) else None
        if not isinstance(kind, str):
            return tuple(events), f"line {number} of the report is not an event"
        events.append(Event(kind=kind, fields=fields))
    return tuple(events), ""
