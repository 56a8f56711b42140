"""What a failed step of a set-up means: the network's fault, a missing system package, or the tree's own. Pure.

A refusal names the step, the package that it was about, the telling lines, and what a person can do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from casewright.errors import InfrastructureError
from execution.languages.base import Refusal
from execution.languages.system_packages import system_need
from execution.sandbox import Ended, SandboxOutcome

TELLING_LINES = 4
LINE_LENGTH = 200
SENTENCE_LENGTH: Final = 400

_NETWORK = re.compile(
    r"error sending request|dns error|failed to lookup address|Connection (?:refused|reset|timed out)|"
    r"operation timed out|tcp connect error|Network is unreachable|Temporary failure in name resolution|"
    r"\b(?:429 Too Many|500 Internal Server|502 Bad Gateway|503 Service|504 Gateway)|"
    r"invalid peer certificate|UnknownIssuer|"
    r"CERTIFICATE_VERIFY_FAILED|ReadTimeoutError|NewConnectionError|error decoding response body|"
    r"connection closed before message completed|Max retries exceeded|Could not resolve host"
)
_DISK = re.compile(r"No space left on device|Disk quota exceeded")
_FETCHED = re.compile(r"Failed to fetch: \S+|Failed to (?:download|clone)[^\n]*")
_TELLING = re.compile(r"error|failed|fatal|No solution|not found|because|Could not", re.IGNORECASE)
_ANSI = re.compile(r"\x1b\[[\d;]*m")
# uv and pip name what they were building or looking for.
_DISTRIBUTION = re.compile(
    r"Failed to (?:download and )?build `([^`@]+?)(?: @ [^`]*)?`|Failed building (?:editable|wheel) for ([\w.-]+)|"
    r"Because ([\w.\[\]-]+) was not found|there (?:is|are) no versions? of ([\w.-]+)"
)
_EXCEPTION = re.compile(r"^\s*((?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning|Exit)\b.*)$")
_COMPILER = re.compile(r"^\s*((?:\S+:\d+(?::\d+)?: (?:fatal )?error|cc1\w*: fatal error): .*)$", re.MULTILINE)
_RESOLVER = re.compile(r"(?:cause:|\u2570\u2500\u25b6|\u00d7)\s*(Because .+?)(?:\n\s*\n|\n\s*hint:|\Z)", re.DOTALL)
_COMMANDS: Final = "say the whole set-up in commands of your own (setup.commands, with check beside it)"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sign:
    """A known cause: what shows it, what to do, and the newest minor version that is spared, where one is."""

    pattern: re.Pattern[str]
    remedy: str
    python: str = ""


def _sign(pattern: str, remedy: str, python: str = "") -> _Sign:
    return _Sign(pattern=re.compile(pattern), remedy=remedy, python=python)


_NO_MODULE: Final = re.compile(r"(?:No module named|Cannot import|[Pp]lease install) ['\"`]?(\w+)")
# What sources ask for when they are built, by module. Facts of the package index.
_TOOL_OF_MODULE: Final[Mapping[str, str]] = {
    "Cython": "cython", "cython": "cython", "numpy": "numpy", "cffi": "cffi", "pbr": "pbr",
    "setuptools_scm": "setuptools-scm", "pkgconfig": "pkgconfig", "pybind11": "pybind11", "flit_core": "flit-core",
    "hatchling": "hatchling", "hatch_vcs": "hatch-vcs", "poetry": "poetry-core", "pdm": "pdm-backend",
    "mesonpy": "meson-python", "skbuild": "scikit-build", "scikit_build_core": "scikit-build-core",
    "maturin": "maturin", "setuptools_rust": "setuptools-rust", "versioneer": "versioneer", "expandvars": "expandvars",
    "packaging": "packaging", "six": "six", "setuptools": "setuptools", "wheel": "wheel", "jinja2": "jinja2",
    "incremental": "incremental", "setuptools_git_versioning": "setuptools-git-versioning", "toml": "toml",
    "pytest_runner": "pytest-runner", "ptr": "pytest-runner", "extension_helpers": "extension-helpers",
}  # fmt: skip
_OLDER: Final = "it is too old for this interpreter; name an older one that is on this machine"
_SIGNS: Final = (
    _sign(r"tp_print\b.*has no member|has no member named .tp_print", _OLDER, "3.8"),
    _sign(r"has no member named .exc_(?:type|value)", _OLDER, "3.7"),
    _sign(r"cannot import name '\w+' from 'collections'|module 'collections' has no attribute", _OLDER, "3.9"),
    _sign(r"longintrepr\.h: No such|PyFrameObject|has no attribute '(?:getargspec|formatargspec)'", _OLDER, "3.10"),
    _sign(r"No module named '(?:imp|distutils|asyncore|asynchat)'|ImpImporter|ob_wstr|PyUnicode_AsUnicode", _OLDER,
          "3.11"),
    _sign(r"has no attribute 'SafeConfigParser'|has no attribute 'readfp'", _OLDER, "3.11"),
    _sign(r"Missing parentheses in call to 'print'|multiple exception types must be parenthesized",
          f"it is written for Python 2, which casewright does not run by rule; {_COMMANDS}"),
    _sign(r"use_2to3 is invalid", f"it needs a setuptools before 58; {_COMMANDS}"),
    _sign(r"\(40[13] |status client error \(40[13]|401 Error|403 Client Error",
          "the index wants to know who asks: name the variables that hold its address or its token under"
          " setup.pass_env"),
    _sign(r"was not found in the package registry|No matching distribution found",
          "where it is published on an index of your own, name the variable that holds its address under"
          " setup.pass_env"),
    _sign(r"[Tt]here (?:is|are) no versions? of",
          f"no such version was on the index by the commit's date; {_COMMANDS}"),
    _sign(r"No solution found when resolving|ResolutionImpossible",
          f"another interpreter may have versions that go together; else {_COMMANDS}"),
    _sign(r"uv\.lock.*(?:needs to be updated|outdated)|unable to find lockfile|Failed to parse `?uv\.lock",
          f"the lock file doesn't fit its manifest; {_COMMANDS}"),
)  # fmt: skip
_NEEDS_PYTHON: Final = re.compile(
    r"does not satisfy Python\s*(?P<bound>[<>=!~][^\s,]*)|requires a different Python: \S+ not in '(?P<other>[^']+)'"
)


def failure(step: str, outcome: SandboxOutcome) -> Refusal:
    """Return why a step that did not end with 0 refuses the environment.

    Raises ``InfrastructureError`` when the network, a registry or the disk failed, which says nothing about the tree.
    """
    text = _ANSI.sub("", outcome.output.decode("utf-8", "replace"))
    lines = _telling(text)
    told = " | ".join(lines) or "it printed nothing"
    if outcome.ended is not Ended.EXITED:
        return Refusal(
            code="environment-failed",
            detail=f"{step}: ended by {outcome.ended.value}; {told}",
            step=step,
            lines=lines,
            remedy=_COMMANDS,
        )
    if _DISK.search(text):
        raise InfrastructureError(f"{step}: {told}", "make room on the disk, then run again")
    if _NETWORK.search(text):
        asked = _FETCHED.search(text)
        about = f"{asked[0]}: " if asked else ""
        raise InfrastructureError(f"{step}: {about}{told}", "look at the network and the package index, then run again")
    distribution = _distribution(text)
    need = system_need(text)
    if need is not None:
        about = f" (asked by {distribution})" if distribution else ""
        named = need.package if need.package == need.thing else f"{need.thing}, which {need.package} holds"
        return Refusal(
            code="needs-system-package",
            detail=f"{step}: {named}{about}: {need.line}",
            step=step,
            package=need.package,
            lines=lines,
            remedy=need.remedy,
        )
    remedy, settings = _way_round(text)
    return Refusal(
        code="environment-failed",
        detail=f"{step}: {_sentence(text, distribution) or told}",
        step=step,
        package=distribution,
        lines=lines,
        remedy=remedy,
        settings=settings,
    )


def missing_tools(text: str) -> tuple[str, ...]:
    """Return the build tools, as distributions, that the log of a build says are not there. Only known ones are named.

    A source without its version tool builds as ``0.0.0``, which the installer does not take for what it asked for.
    """
    named = [_TOOL_OF_MODULE[name] for name in _NO_MODULE.findall(text) if name in _TOOL_OF_MODULE]
    if re.search(r"version `0\.0\.0` does not match", text):
        named.append("setuptools-scm")
    return tuple(dict.fromkeys(named))


def telling_lines(text: str) -> str:
    """Return the last lines that name an error, else the last lines, joined into one sentence."""
    return " | ".join(_telling(text)) or "it printed nothing"


def _telling(text: str) -> tuple[str, ...]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    chosen = [line for line in lines if _TELLING.search(line)] or lines
    return tuple(line[:LINE_LENGTH] for line in chosen[-TELLING_LINES:])


def _distribution(text: str) -> str:
    match = _DISTRIBUTION.search(text)
    return next((group for group in match.groups() if group), "") if match else ""


def _sentence(text: str, distribution: str) -> str:
    """Return the one sentence that tells: the resolver's own, or the last exception of a build."""
    resolver = _RESOLVER.search(text)
    if resolver:
        return " ".join(resolver[1].split())[:SENTENCE_LENGTH]
    raised = [match[1] for line in text.splitlines() if (match := _EXCEPTION.match(line))]
    compiler = _COMPILER.search(text)
    raised += [compiler[1]] if compiler else []
    if not raised:
        return ""
    about = f"{distribution} does not build: " if distribution else ""
    return f"{about}{raised[-1].strip()}"[:SENTENCE_LENGTH]


def _way_round(text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return what a person can do, and the settings that would do it where they are known."""
    wanted = _NEEDS_PYTHON.search(text)
    if wanted:
        bound = wanted["bound"] or wanted["other"]
        lowest = re.match(r">=?\s*(3\.\d+)", bound)
        remedy = f"it asks for Python {bound}; name an interpreter of this machine that fits"
        return remedy, ((("python", lowest[1]),) if lowest else ())
    for sign in _SIGNS:
        if sign.pattern.search(text):
            return sign.remedy, ((("python", sign.python),) if sign.python else ())
    return _COMMANDS, ()
