"""The report of vitest's own ``json`` reporter, 0.7 to 4."""

from __future__ import annotations

import json
from typing import Any, Final

from execution.observation import ReportReading
from execution.reports import suites_json
from execution.sandbox import TREE_DIR

# Versions before 0.9 list tests, not files, with statuses of their own.
_FLAT_STATUS: Final = {"pass": "passed", "fail": "failed", "skip": "skipped", "todo": "todo"}


def read(report: bytes, exit_code: int | None, files: tuple[str, ...], root: str = TREE_DIR) -> ReportReading:
    """Read a report; ids are ``file::suite > test``, the suites as vitest names them.

    Versions from 0.9 to 1 put a nameless suite above all others, which shows as an id that begins with `` > ``;
    older ones tell no suites.
    """
    return suites_json.read(_by_file(report), exit_code, files, "vitest", root)


def _by_file(report: bytes) -> bytes:
    """Return a report of the old flat shape in the shape of today, any other as it is."""
    if b'"testFilePath"' not in report:
        return report
    try:
        document = json.loads(report)
    except (ValueError, RecursionError):
        return report
    rows = document.get("testResults") if isinstance(document, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) and "testFilePath" in row for row in rows):
        return report
    by_file: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        message = row.get("failureMessage")
        by_file.setdefault(str(row["testFilePath"]), []).append(
            {
                "ancestorTitles": [],
                "title": row.get("displayName"),
                "status": "skipped" if row.get("skipped") is True else _flat_status(row),
                "failureMessages": [message] if message else [],
            }
        )
    entries = [
        {
            "name": name,
            "status": "failed" if any(row["status"] == "failed" for row in rows) else "passed",
            "assertionResults": rows,
        }
        for name, rows in by_file.items()
    ]
    return json.dumps({**document, "testResults": entries}).encode()


def _flat_status(row: dict[str, Any]) -> str:
    """A test that was only announced has no status at all."""
    return _FLAT_STATUS.get(str(row["status"]), "failed") if "status" in row else "todo"
