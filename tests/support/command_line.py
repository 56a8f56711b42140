"""The command line as a test drives it: arguments in, exit code and both streams out, in this very process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from casewright.cli.main import main


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended: its exit code and what it wrote."""

    code: int
    out: str = ""
    err: str = ""

    @property
    def json(self) -> Any:
        """Standard output as one JSON value."""
        return json.loads(self.out)

    @property
    def rows(self) -> list[Any]:
        """Standard output as JSON Lines."""
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Runs a command line through the same ``main`` as the console script."""

    streams: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str | Path) -> Ran:
        self.streams.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = self.streams.readouterr()
        return Ran(code, out, err)
