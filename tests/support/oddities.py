"""Where the shared oddities lie: small repositories and documents with the right answer, which not every clone has."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest


def built_oddity(name: str, folder: Path) -> Path:
    """Build one oddity into ``folder`` and return it; skip the test where the oddities are absent."""
    root = Path(os.environ.get("CASEWRIGHT_ODDITIES") or Path(__file__).parents[2] / "../shared/oddities")
    script = root / name / "make.sh"
    if not script.exists():
        pytest.skip("the shared oddities are not here (set CASEWRIGHT_ODDITIES to their folder)")
    subprocess.run(["sh", str(script), str(folder)], check=True, capture_output=True)
    return folder
