"""The report of ``jest --json``."""

from __future__ import annotations

from execution.observation import ReportReading
from execution.reports import suites_json
from execution.sandbox import TREE_DIR


def read(report: bytes, exit_code: int | None, files: tuple[str, ...], root: str = TREE_DIR) -> ReportReading:
    """Read a report; ids are ``file::suite > test``."""
    return suites_json.read(report, exit_code, files, "jest", root)
