"""What the log of a failed JavaScript install means: a way round it, a reason, or the network. Pure."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from execution.languages.javascript_installer import from_own_registry
from execution.languages.system_packages import system_need

_STALE_LOCK: Final = re.compile(
    rb"ERR_PNPM_OUTDATED_LOCKFILE|ERR_PNPM_FROZEN_LOCKFILE|ERR_PNPM_LOCKFILE_(?:CONFIG_MISMATCH|BREAKING_CHANGE)"
    rb"|can only install packages when your package\.json and|Your lockfile needs to be updated|YN0028"
    rb"|lockfile had changes, but lockfile is frozen|is not up[ -]to[ -]date with|Missing: .* from lock file"
)
_NOTHING_THEN: Final = re.compile(rb"ETARGET|notarget|ENOVERSIONS|No versions available|with a date before")
# A tag is no range: it names nothing once its author has moved it away.
_TAG: Final = re.compile(rb"No matching version found for ((?:@[\w.-]+/)?[a-z0-9][\w.-]*)@[a-z][a-z-]*(?![\w.]*\w)")
_NPX: Final = re.compile(rb"EDUPLICATEWORKSPACE|EBADDEVENGINES")
_PEERS: Final = re.compile(rb"\bERESOLVE\b")
_RUNTIME: Final = re.compile(rb"ERR_PNPM_UNSUPPORTED_ENGINE|code EBADENGINE|The engine \"node\" is incompatible")
_NETWORK: Final = re.compile(
    rb"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENETUNREACH|EHOSTUNREACH"
    rb"|socket hang up|network (?:request|timeout|connectivity)|UNABLE_TO_(?:GET|VERIFY)|SELF_SIGNED_CERT"
    rb"|[Ss]elf[- ]signed certificate|unable to (?:get|verify)|CERT_HAS_EXPIRED"
    rb"|ERR_PNPM_(?:META_)?FETCH_FAIL|ERR_PNPM_FETCH_(?:5\d\d|403|429)|npm (?:ERR!|error) code E(?:5\d\d|403|429)"
    rb"|Request failed \"?(?:5\d\d|403|429)|ENOSPC|Could not resolve host"
)
_SYSTEM_PACKAGE: Final = re.compile(
    rb"gyp ERR! (?:find Python|stack Error: not found: make)|fatal error: \S+\.h: No such file"
    rb"|Package \S+ was not found in the pkg-config search path|error while loading shared libraries: \S+"
    rb"|ENOENT[^\n]*spawn git|spawn git ENOENT|(?:g\+\+|make|cc): (?:command )?not found"
)
# What a registry or a package manager calls a package that it can't give.
_PACKAGE: Final = re.compile(
    r"404\s+'?((?:@[\w.-]+/)?[\w.-]+@[^'\s]+)'? (?:is not in|could not)|The requested resource '([^']+)' could not"
    r"|No matching version found for ((?:@[\w.-]+/)?[\w.-]+@\S+?)(?:\.\s|\.?$|\s)"
    r"|ERR_PNPM_FETCH_404\]?\s+GET \S+?/((?:@[\w.-]+(?:/|%2[fF]))?[\w.-]+): Not Found"
    r"|ERR_PNPM_NO_MATCHING_VERSION\]?\s+No matching version found for (\S+)"
    r"|Couldn't find (?:package \"|any versions for \")([^\"]+)\"|(\S+)@\S+: No candidates found"
    r"|ERESOLVE[^\n]*(?:resolve|overriding)|peer (\S+@\"[^\"]+\") from",
    re.MULTILINE,
)
_COMMANDS: Final = "say the whole set-up in commands of your own (setup.commands, with check beside it)"
# Lines that stand in every log, whatever failed.
_SAYS_NOTHING: Final = re.compile(
    rb"A complete log of this run|^npm warn |404 Note that|^npm (?:ERR!|error)(?: 404)?$|Unknown env config"
)
_TELLING: Final = re.compile(rb"ERR|rror|not found|nsupported|incompatible|EBADENGINE|WARN.*lock")


class Failure(StrEnum):
    """What kind of failure a log shows; where a reason of a refusal has the same name, so has the value."""

    STALE_LOCK = "stale-lock"
    NOTHING_THEN = "nothing-then"
    PEERS = "peers"
    NPX = "npx"
    NETWORK = "network"
    NEEDS_SYSTEM_PACKAGE = "needs-system-package"
    RUNTIME_UNAVAILABLE = "runtime-unavailable"
    OTHER = "environment-failed"


_REMEDIES: Final = {
    Failure.NPX: _COMMANDS,
    Failure.STALE_LOCK: f"the lock file doesn't fit its package.json; {_COMMANDS}",
    Failure.NETWORK: "look at the network and the registry, then run again",
    Failure.NOTHING_THEN: f"no such version was in the registry by the commit's date; {_COMMANDS}",
    Failure.PEERS: f"its packages ask for different versions of one another; {_COMMANDS}",
    Failure.RUNTIME_UNAVAILABLE: "name a node of this machine that it takes (its path, or its version) as node",
    Failure.NEEDS_SYSTEM_PACKAGE: "install what it asks for on this system, then run again",
    Failure.OTHER: _COMMANDS,
}

# In the order in which they are tried: a network that failed explains everything that a log says besides.
_SIGNS: Final = (
    (Failure.NPX, _NPX),
    (Failure.STALE_LOCK, _STALE_LOCK),
    (Failure.NETWORK, _NETWORK),
    (Failure.NOTHING_THEN, _NOTHING_THEN),
    (Failure.PEERS, _PEERS),
    (Failure.RUNTIME_UNAVAILABLE, _RUNTIME),
    (Failure.NEEDS_SYSTEM_PACKAGE, _SYSTEM_PACKAGE),
)


def read_failure(log: bytes) -> Failure:
    """Return what kind of failure the log of an install shows."""
    return next((failure for failure, sign in _SIGNS if sign.search(log)), Failure.OTHER)


def way_round(failure: Failure, command: str, loose: str, log: bytes = b"") -> str:
    """Return the command to try after ``command`` failed, or an empty string.

    ``loose`` is the same install without what the lock file or the date asks for (empty when there is none).
    """
    match failure:
        case Failure.STALE_LOCK | Failure.NOTHING_THEN if loose and loose != command:
            return loose
        case Failure.NOTHING_THEN:
            return _without_tag(command, log)
        case Failure.NETWORK:
            # The host that a lock file names may be gone, or closed to everybody here.
            return from_own_registry(command)
        case Failure.NPX if "npx --yes " in command and "--prefix" not in command:
            # npx looks at the package that it stands in, though it only fetches another package manager for it.
            return command.replace("npx --yes ", "npx --yes --prefix .. ")
        case Failure.PEERS if command.startswith("npm ") and "--legacy-peer-deps" not in command:
            # Lock files of npm 6 and before hold trees whose peers npm 7 and later refuse.
            return f"{command} --legacy-peer-deps"
        case _:
            return ""


def _without_tag(command: str, log: bytes) -> str:
    """Return an npm install that takes the newest release of what is asked for by a tag (``next``) that is gone."""
    gone = _TAG.search(log)
    if gone is None or not command.startswith("npm install") or "--no-save" in command:
        return ""
    return f"{command} --no-save {gone[1].decode('utf-8', 'replace')}@latest"


def package_of_log(log: bytes) -> str:
    """Return the package that a registry or a package manager could not give, as the log names it, or nothing."""
    for match in _PACKAGE.finditer(log.decode("utf-8", "replace")):
        found = next((group for group in match.groups() if group), "")
        if found:
            return found
    return ""


def remedy(failure: Failure, log: bytes) -> str:
    """Return what a person can do about a failed install, in one sentence."""
    if b"404" in log and package_of_log(log):
        return (
            "where it is published in a registry of your own, name the variable that holds its address or its token"
            f" under setup.pass_env; else {_COMMANDS}"
        )
    need = system_need(log.decode("utf-8", "replace")) if failure is Failure.NEEDS_SYSTEM_PACKAGE else None
    return need.remedy if need else _REMEDIES[failure]


def telling_lines(log: bytes, most: int) -> str:
    """Return the lines of a log that say what went wrong, the first ones if none stands out, as one line of text."""
    lines = [line.strip() for line in log.splitlines() if line.strip() and not _SAYS_NOTHING.search(line.strip())]
    telling = [line for line in lines if _TELLING.search(line)] or lines
    return " | ".join(line[:200].decode("utf-8", "replace") for line in telling[:most]) or "no output"
