"""The mark of tests that run code in the real sandbox; where none works they are skipped with its reason."""

from __future__ import annotations

import pytest

from casewright.errors import SandboxUnavailableError
from execution.sandboxes import choose


def _why_not() -> str:
    try:
        choose()
    except SandboxUnavailableError as error:
        return str(error)
    return ""


needs_sandbox = pytest.mark.skipif(bool(_why_not()), reason=_why_not() or "a sandbox works")
