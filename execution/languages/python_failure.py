"""What a failed step of a set-up means: the network's fault, a missing system package, or the tree's own. Pure."""

from __future__ import annotations

import re

from casewright.errors import InfrastructureError
from execution.languages.base import Refusal
from execution.sandbox import Ended, SandboxOutcome

TELLING_LINES = 4
LINE_LENGTH = 200

_NETWORK = re.compile(
    r"error sending request|dns error|failed to lookup address|Connection (?:refused|reset|timed out)|"
    r"operation timed out|tcp connect error|Network is unreachable|Temporary failure in name resolution|"
    r"\b(?:429 Too Many|500 Internal Server|502 Bad Gateway|503 Service|504 Gateway)|"
    r"invalid peer certificate|UnknownIssuer|"
    r"CERTIFICATE_VERIFY_FAILED|ReadTimeoutError|NewConnectionError|error decoding response body|"
    r"No space left on device|"
    r"connection closed before message completed|Max retries exceeded"
)
_SYSTEM = re.compile(
    r"fatal error: .+\.h(?:pp)?: No such file|command '?\S*(?:gcc|g\+\+|cc|clang|gfortran)'? failed: No such file|"
    r"(?:gcc|g\+\+|cc|cmake|ninja|make|swig|pkg-config|rustc|cargo|gfortran): (?:command )?not found|"
    r"pg_config executable not found|mysql_config not found|cannot find -l\w+|can't find Rust compiler|"
    r"the Rust package manager, is not installed|Could not find (?:a package configuration|lib\w+)|"
    r"Please make sure the libxml2 and libxslt development packages are installed|Unknown compiler\(s\)|"
    r"Dependency lookup for \S+ .*failed|No package '\S+' found|development headers"
)
_TELLING = re.compile(r"error|failed|fatal|No solution|not found|because|Could not", re.IGNORECASE)


def failure(step: str, outcome: SandboxOutcome) -> Refusal:
    """Return why a step that did not end with 0 refuses the environment.

    Raises ``InfrastructureError`` when the network, a registry or the disk failed, which says nothing about the tree.
    """
    text = re.sub(r"\x1b\[[\d;]*m", "", outcome.output.decode("utf-8", "replace"))
    lines = telling_lines(text)
    if outcome.ended is not Ended.EXITED:
        return Refusal(code="environment-failed", detail=f"{step}: ended by {outcome.ended.value}; {lines}")
    if _NETWORK.search(text):
        raise InfrastructureError(f"{step}: {lines}", "look at the network and the package index, then run again")
    if _SYSTEM.search(text):
        return Refusal(code="needs-system-package", detail=f"{step}: {_first(_SYSTEM, text)}")
    return Refusal(code="environment-failed", detail=f"{step}: {lines}")


def telling_lines(text: str) -> str:
    """Return the last lines that name an error, else the last lines, joined into one sentence."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    chosen = [line for line in lines if _TELLING.search(line)] or lines
    return " | ".join(line[:LINE_LENGTH] for line in chosen[-TELLING_LINES:]) or "it printed nothing"


def _first(pattern: re.Pattern[str], text: str) -> str:
    return next((line.strip()[:LINE_LENGTH] for line in text.splitlines() if pattern.search(line)), "")
