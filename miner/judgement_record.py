"""A judgement as one line of JSON, the form that the ledger keeps, and back again.

A record may be read by a later version of this module: a field that it lacks takes its default, a key that is no longer
known is passed over. Text that is not valid Unicode (undecodable bytes as lone surrogates) survives the round trip.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, fields
from typing import Any, Final

from miner.judgement import ExcludedFile, FailsByRow, Judgement, Reached, Standing
from miner.reasons import Reason

_READERS: Final[dict[str, Callable[[Any], object]]] = {
    "reached": Reached,
    "standing": Standing,
    "reason": lambda code: None if code is None else Reason(code),
    "graded_files": tuple,
    "excluded_files": lambda rows: tuple(
        ExcludedFile(path=row["path"], reason=Reason(row["reason"]), detail=row["detail"]) for row in rows
    ),
    "fail_to_pass": tuple,
    "pass_to_pass": tuple,
    "fails_by": lambda rows: tuple(FailsByRow(id=row["id"], how=row["how"]) for row in rows),
}


def record_from_judgement(judgement: Judgement) -> str:
    """Return the judgement as one line of ASCII JSON."""
    return json.dumps(asdict(judgement), separators=(",", ":"))


def judgement_from_record(record: str) -> Judgement:
    """Return the judgement of a record; raises ``ValueError``, ``KeyError`` or ``TypeError`` if it holds none."""
    data = json.loads(record)
    if not isinstance(data, dict):
        raise TypeError(f"a record is an object, not {type(data).__name__}")
    values: dict[str, Any] = {}
    for field in fields(Judgement):
        if field.name in data:
            value = data[field.name]
            reader = _READERS.get(field.name)
            values[field.name] = value if reader is None else reader(value)
    return Judgement(**values)
