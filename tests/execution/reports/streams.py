"""Streams of events for the tests of the readers, made as the reporters make them."""

from __future__ import annotations

import json
from collections.abc import Mapping


def stream(*events: Mapping[str, object]) -> bytes:
    """Return events as lines of JSON."""
    return b"".join(json.dumps(event).encode("ascii") + b"\n" for event in events)


def session(cwd: str = "/srv/case/repo") -> dict[str, object]:
    """Return the event that a pytest stream begins with."""
    return {"event": "session", "version": "9.0.0", "rootdir": cwd, "cwd": cwd}


def collected(*ids: str, cwd: str = "/srv/case/repo") -> dict[str, object]:
    """Return the event that names what will run."""
    items = [{"id": name, "path": f"{cwd}/{name.split('::')[0]}"} for name in ids]
    return {"event": "collected", "items": items}


def report(name: str, when: str, outcome: str, **more: object) -> dict[str, object]:
    """Return what pytest says of one phase of a test."""
    fields: dict[str, object] = {"xfail": False, "subtest": False, "by": "", "message": ""}
    return {"event": "report", "id": name, "when": when, "outcome": outcome, **fields, **more}


def phases(name: str, call: str, **more: object) -> tuple[dict[str, object], ...]:
    """Return the three phases of a test whose body has one outcome."""
    return (report(name, "setup", "passed"), report(name, "call", call, **more), report(name, "teardown", "passed"))


def ended(code: int) -> tuple[dict[str, object], ...]:
    """Return the two events of an end."""
    return ({"event": "finish", "exit": code, "cut": ""}, {"event": "end", "exit": code})
