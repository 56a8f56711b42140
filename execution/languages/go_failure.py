"""What the log of a failed Go set-up means: a reason of the change's own, or the network's fault. Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from casewright.errors import InfrastructureError
from execution.languages.base import Refusal
from execution.languages.system_packages import SystemNeed, package_of
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
    rb"fatal error: (\S+\.h): No such file|exec: \"(gcc|pkg-config)\": executable file not found|pkg-config.*not found"
)
_WANTS_GO: Final = re.compile(rb"requires go ?(?:>= ?|version )(\d+(?:\.\d+)*)")
_MODULE: Final = re.compile(rb"\b([\w-]+(?:\.[\w-]+)+/[\w./~-]+)@v\d|verifying ([\w./~-]+)@v")
_TELLING: Final = re.compile(rb"^go: |: |error|rror:|not found")
_NOISE: Final = re.compile(rb"^go: downloading ")


def refusal(step: str, outcome: SandboxOutcome) -> Refusal:
    """Return why a step that did not end with 0 refuses the environment.

    Raises ``InfrastructureError`` when the log says that the network or the disk failed: that says nothing of the
    change.
    """
    log = outcome.output
    lines = telling_lines(log, 4)
    told = f"{step}: {' | '.join(lines) or 'no output'}"
    if outcome.ended is not Ended.EXITED:
        detail = f"{told} ({outcome.ended.value})"
        return Refusal(code="environment-failed", detail=detail, step=step, lines=lines)
    if _NETWORK.search(log):
        raise InfrastructureError(told, "try again when the module proxy answers")
    named = _MODULE.search(log)
    package = next(group for group in named.groups() if group).decode("utf-8", "replace") if named else ""
    found = Refusal(code="environment-failed", detail=told, step=step, package=package, lines=lines)
    if _RUNTIME.search(log):
        wanted = _WANTS_GO.search(log)
        version = wanted[1].decode() if wanted else ""
        remedy = f"install Go {version or 'of a later release'} (in ~/sdk, or where your system keeps toolchains)"
        settings = (("go", version),) if version else ()
        return replace(found, code="runtime-unavailable", remedy=remedy, settings=settings)
    lacking = _SYSTEM_PACKAGE.search(log)
    if lacking is None:
        return found
    thing = next((group.decode("utf-8", "replace") for group in lacking.groups() if group), "pkg-config")
    need = SystemNeed(thing=thing, package=package_of(thing), line="")
    return replace(found, code="needs-system-package", package=need.package, remedy=need.remedy)


def telling_lines(log: bytes, most: int) -> tuple[str, ...]:
    """Return the lines of a log that say what went wrong, the first ones if none stands out."""
    lines = [line.strip() for line in log.splitlines() if line.strip() and not _NOISE.match(line)]
    telling = [line for line in lines if _TELLING.search(line)] or lines
    return tuple(line[:200].decode("utf-8", "replace") for line in telling[:most])
