"""Why a sandbox can't be used here, in words for ``casewright doctor``: what blocks it, and the line that changes it.

The proof is always a trial run; the settings are read only to explain its failure, the most telling one first.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from execution.sandboxes import SANDBOXES

# pidfd_open(2) for both; mount_setattr(2), which makes a whole tree of mounts read-only at once, for our own.
LEAST_KERNELS = {"bubblewrap": (5, 3), "unshare": (5, 12)}
INSTALL = "apt install bubblewrap (or dnf, zypper, pacman, apk: the package is called bubblewrap)"


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnosis:
    """One backend: ``usable``, or why not and the line that changes it."""

    sandbox: str
    usable: bool
    reason: str = ""
    remedy: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """The settings that decide over sandboxes; None where the kernel has no such setting."""

    system: str
    kernel: tuple[int, int]
    root: bool
    bubblewrap: bool
    max_user_namespaces: int | None = None
    unprivileged_clone: int | None = None
    apparmor_restricts: int | None = None
    container: str = ""
    seccomp: bool = False


def diagnose() -> tuple[Diagnosis, ...]:
    """Try every backend, and explain each that does not work."""
    here = machine()
    found = []
    for name, sandbox in SANDBOXES.items():
        why = sandbox.unavailable()
        if why is None:
            found.append(Diagnosis(sandbox=name, usable=True))
        else:
            reason, remedy = explain(name, why, here)
            found.append(Diagnosis(sandbox=name, usable=False, reason=reason, remedy=remedy))
    return tuple(found)


def explain(name: str, why: str, here: Machine) -> tuple[str, str]:
    """Return the reason and the remedy of a backend that failed with ``why`` on a machine (pure)."""
    return next((reason, remedy) for holds, reason, remedy in _obstacles(name, why, here) if holds)


def _obstacles(name: str, why: str, here: Machine) -> Iterator[tuple[bool, str, str]]:
    """What may stand in the way, the most telling first: whether it does here, the reason, the remedy."""
    yield (
        here.system != "Linux",
        f"this is {here.system}; the sandbox needs Linux",
        "run casewright on Linux, in WSL 2 or in a virtual machine",
    )
    yield name == "bubblewrap" and not here.bubblewrap, "bwrap is not installed", INSTALL
    yield (
        here.max_user_namespaces == 0,
        "user.max_user_namespaces is 0",
        "sysctl -w user.max_user_namespaces=15000",
    )
    yield (
        here.unprivileged_clone == 0 and not here.root,
        "kernel.unprivileged_userns_clone is 0",
        "sysctl -w kernel.unprivileged_userns_clone=1",
    )
    least = LEAST_KERNELS[name]
    restriction = "kernel.apparmor_restrict_unprivileged_userns"
    yield (
        bool(here.apparmor_restricts),
        f"AppArmor restricts user namespaces ({restriction} is 1)",
        f"sysctl -w {restriction}=0, or install an AppArmor profile that lets bwrap make them",
    )
    options = ["seccomp=unconfined", "apparmor=unconfined", "systempaths=unconfined"]
    yield (
        bool(here.container),
        f"this is a container ({here.container}) whose rules refuse namespaces or mounts: {why}",
        f"start it with {' '.join(f'--security-opt {option}' for option in options)}, or run casewright outside of it",
    )
    yield (
        here.kernel < least,
        f"the kernel {here.kernel[0]}.{here.kernel[1]} is older than {least[0]}.{least[1]}",
        "boot a newer kernel",
    )
    yield here.seccomp, f"a seccomp filter is in force: {why}", "start casewright from a session without that filter"
    yield True, why, "see docs/security.md for what the sandbox needs"


def machine() -> Machine:
    """Read the settings of this machine."""
    release = platform.release().split(".")
    numbers = [int("".join(filter(str.isdigit, part.split("-")[0])) or 0) for part in release[:2]]
    return Machine(
        system="Linux" if sys.platform == "linux" else platform.system(),
        kernel=(numbers[0], numbers[1] if len(numbers) > 1 else 0),
        root=os.getuid() == 0,
        bubblewrap=shutil.which("bwrap") is not None,
        max_user_namespaces=_number("/proc/sys/user/max_user_namespaces"),
        unprivileged_clone=_number("/proc/sys/kernel/unprivileged_userns_clone"),
        apparmor_restricts=_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
        container=_container(),
        seccomp=_has_filter(),
    )


def _number(path: str) -> int | None:
    try:
        return int(Path(path).read_text("ascii"))
    except (OSError, ValueError):
        return None


def _container() -> str:
    """The kind of container that we are in, or nothing."""
    for path, kind in (("/.dockerenv", "Docker"), ("/run/.containerenv", "Podman")):
        if Path(path).exists():
            return kind
    try:
        return Path("/run/systemd/container").read_text("utf-8").strip()
    except OSError:
        return "Kubernetes" if "KUBERNETES_SERVICE_HOST" in os.environ else ""


def _has_filter() -> bool:
    try:
        lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    except OSError:
        return False
    return any(line.split() == ["Seccomp:", "2"] for line in lines)
