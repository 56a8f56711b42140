"""The pins of a landed pull request, or why there are none."""

from __future__ import annotations

from dataclasses import dataclass

from miner.change import Landing


@dataclass(frozen=True, kw_only=True, slots=True)
class Pins:
    """Base and head (full ids) of what landed; ``decided_by`` is one plain sentence with the evidence."""

    base: str
    head: str
    landing: Landing
    decided_by: str


@dataclass(frozen=True, kw_only=True, slots=True)
class NotLanded:
    """There are no pins: ``message`` says what is wrong and with what value, ``hint`` what to do."""

    message: str
    hint: str
