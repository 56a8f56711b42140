"""A whole case to start from: every field filled, nothing in it contradicts another."""

from __future__ import annotations

import json
from typing import Any

from authoring.apply_command import apply_command
from authoring.case import Case, to_plain, with_record_digest
from authoring.consistency import hunks_of_test_part, paths_of_test_part, task_digest

BASE = "d78903c79a1cb3f0664815079f6e7e15bb4fb990"
HEAD = "249689d816a838bf3c64f1ea53fb703bcd837062"
SENTENCE = "Search results leave out records that git does not know yet."
TASK = f"{SENTENCE}\n\nIt is resolved when the search shows them.\n"


def plain_case(**changes: Any) -> dict[str, Any]:
    """Return a plain case with some top-level keys replaced; the apply command and the record's digest follow."""
    counts = {"passed": 5, "failed": 2, "error": 0, "skipped": 1, "xfailed": 0, "xpassed": 0, "todo": 0}
    plain: dict[str, Any] = {
        "schema": "casewright.case/v1",
        "id": "ledger-249689d816",
        "case_version": 1,
        "repository_id": "yylo/ledger",
        "repository_url": "https://example.org/yylo/ledger.git",
        "base_commit": BASE,
        "grading_commit": HEAD,
        "landing": {"style": "squash", "decided_by": "the commit has one parent and its diff is the pull request's"},
        "source": {
            "commit_url": f"https://example.org/yylo/ledger/commit/{HEAD}",
            "authored": "2026-08-28T10:00:00Z",
            "committed": "2026-08-28T11:00:00Z",
            "licence": "Apache-2.0",
            "pull_request": None,
            "issues": [],
            "text_from": [{"source": "commit message", "sentences": [SENTENCE]}],
            "proposed_by": "mine",
        },
        "language": "python",
        "category": "backend",
        "task": TASK,
        "hints": None,
        "environment": {
            "runtime": {"name": "python", "version": "3.12.1"},
            "era": "0" * 64,
            "setup": ["python -m venv ../env", "../env/bin/python -m pip install pytest==9.1.1 -e ."],
            "dependencies": ["pytest==9.1.1"],
            "network": "set-up only",
        },
        "grading": {
            "mode": "per-test",
            "files": ["tests/unit/test_record_search.py"],
            "support_files": ["tests/conftest.py"],
            "excluded_files": [
                {"path": "tests/unit/test_old.py", "reason": "red-at-both", "detail": "test_x fails at the head too"}
            ],
            "apply": "",
            "check": "../env/bin/python -m pytest tests/unit/test_record_search.py",
            "resolved_when": "The check exits with 0 and every test that passed at the grading commit passes.",
            "fail_to_pass": [
                "tests/unit/test_record_search.py::test_new",
                "tests/unit/test_record_search.py::test_b[a: b]",
            ],
            "pass_to_pass": [f"tests/unit/test_record_search.py::test_{number}" for number in range(5)],
            "fails_by": [
                {"id": "tests/unit/test_record_search.py::test_new", "how": "error"},
                {"id": "tests/unit/test_record_search.py::test_b[a: b]", "how": "assertion"},
            ],
            "skipped_at_head": ["tests/unit/test_record_search.py::test_windows"],
            "unstable_at_base": [],
            "limits": {"seconds": 60, "memory_mb": 4096, "processes": 512, "output_mb": 64, "disk_mb": 2048},
            "directory": ".",
        },
        "verification": {
            "date": "2026-08-29",
            "base": {
                "summary": "2 failed, 5 passed, 1 skipped in 6.36s",
                "counts": dict(counts),
                "error": "sqlite3.OperationalError: no such column: creation_context",
                "exit_code": 1,
                "repeats": 3,
                "seconds": 6360,
            },
            "head": {
                "summary": "7 passed, 1 skipped in 6.10s",
                "counts": {**counts, "passed": 7, "failed": 0},
                "error": None,
                "exit_code": 0,
                "repeats": 3,
                "seconds": 6100,
            },
            "runtime": "CPython 3.12.1",
            "runner": "pytest 9.1.1",
            "platform": "linux x86_64 glibc 2.36",
            "network": {"sandbox": "bubblewrap", "probe": "denied: tcp 192.0.2.1:443: Network is unreachable"},
            "reproduced": True,
            "record_digest": "sha256:" + "0" * 64,
            "tool": "casewright 0.1.0",
        },
        "size": {"files": 2, "lines": 41, "tests": 8},
        "review": {
            "state": "verified",
            "by": "A. Reviewer",
            "date": "2026-08-30",
            "task_digest": task_digest(TASK),
            "waivers": [],
        },
    }
    return sealed({**plain, **changes})


def split_case(*rows: dict[str, Any]) -> dict[str, Any]:
    """Return a plain case whose one file holds source and tests; ``rows`` change its one hunk, or add others."""
    hunk = {"path": "src/lib.rs", "item": "mod tests", "base_line": 3, "base_lines": 5}
    hunk |= {"grading_line": 4, "grading_lines": 7}
    plain = plain_case()
    hunks = [{**hunk, **row} for row in rows or ({},)]
    # The schema fixes the order of keys.
    grading: dict[str, Any] = {}
    for key, value in plain["grading"].items():
        if key == "apply":
            grading["test_hunks"] = hunks
        grading[key] = value
    grading |= {"files": ["src/lib.rs"], "support_files": [], "excluded_files": []}
    return sealed({**plain, "grading": grading})


def sealed(plain: dict[str, Any]) -> dict[str, Any]:
    """Return a plain case with its apply command and its record's digest made to fit the rest."""
    paths = [path.encode() for path in paths_of_test_part(plain["grading"])]
    hunks = hunks_of_test_part(plain["grading"])
    apply = apply_command(plain["base_commit"], plain["grading_commit"], paths, hunks)
    return to_plain(with_record_digest(as_case({**plain, "grading": {**plain["grading"], "apply": apply}})))


def as_case(plain: dict[str, Any]) -> Case:
    """Return the model of a plain case."""
    return Case.model_validate_json(json.dumps(plain), strict=True)
