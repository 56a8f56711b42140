"""What the log of a failed Go set-up means: a reason of the change's own, or the network's fault. Pure."""

from __future__ import annotations

import re
from typing import Final

from casewright.errors import InfrastructureError
from execution.languages.base import Refusal
from execution.sandbox import Ended, SandboxOutcome

_NETWORK: Final = re.compile(
    rb"dial tcp|i/o timeout|no such host|[Cc]onnection (?:refused|reset)|[Nn]etwork is unreachable|TLS handshake"
    rb"|x509: |proxyconnect|unexpected EOF|Client\.Timeout|\b(?:403 Forbidden|429 Too Many|50[0-4] [A-Z]\w+)"
    rb"|Could not resolve host|No space left on device|server misbehaving"
)
_RUNTIME: Final = re.compile(
    rb"requires go ?>= ?\d|requires go version|invalid go version|running go \d|unknown directive"
)
_SYSTEM_PACKAGE: Final = re.compile(
    rb"fatal error: \S+\.h: No such file|pkg-config.*not found|exec: \"(?:gcc|pkg-config)\": executable file not found"
)
_TELLING: Final = re.compile(rb"^go: |: |error|rror:|not found")
_NOISE: Final = re.compile(rb"^go: downloading ")


def refusal(step: str, outcome: SandboxOutcome) -> Refusal:
    """Return why a step that did not end with 0 refuses the environment.

    Raises ``InfrastructureError`` when the log says that the network or the disk failed: that says nothing of the
    change.
    """
    told = f"{step}: {telling_lines(outcome.output, 4)}"
    if outcome.ended is not Ended.EXITED:
        return Refusal(code="environment-failed", detail=f"{told} ({outcome.ended.value})")
    if _NETWORK.search(outcome.output):
        raise InfrastructureError(told, "try again when the module proxy answers")
    if _RUNTIME.search(outcome.output):
        return Refusal(code="runtime-unavailable", detail=told)
    code = "needs-system-package" if _SYSTEM_PACKAGE.search(outcome.output) else "environment-failed"
    return Refusal(code=code, detail=told)


def telling_lines(log: bytes, most: int) -> str:
    """Return the lines of a log that say what went wrong, the first ones if none stands out, as one line of text."""
    lines = [line.strip() for line in log.splitlines() if line.strip() and not _NOISE.match(line)]
    telling = [line for line in lines if _TELLING.search(line)] or lines
    return " | ".join(line[:200].decode("utf-8", "replace") for line in telling[:most]) or "no output"
