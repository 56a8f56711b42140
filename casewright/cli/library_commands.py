"""``cut``, ``withdraw``, ``check``, ``diff`` and ``cite``: released libraries."""

from __future__ import annotations

import typer


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
