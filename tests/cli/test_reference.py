"""docs/reference.md is what the code says, and names every command and every reason."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from casewright.cli.application import GROUPS
from miner.reasons import EXPLANATIONS, Reason

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference.md"


def test_the_page_is_current() -> None:
    checked = subprocess.run(
        [sys.executable, "scripts/make_reference.py", "--check"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, checked.stderr) == (0, "")


def test_every_command_and_every_reason_is_on_it() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for commands in GROUPS.values():
        for command in commands:
            assert f"### casewright {command}\n" in page
    for reason in Reason:
        assert page.count(f"| `{reason}` | {EXPLANATIONS[reason].stage.value} |") == 1
