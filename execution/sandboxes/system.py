"""What every sandbox shows of the host: an allow-list of system folders, and an /etc that names nobody.

The host is looked at once per process. Nothing of its root is seen that is not named here: sources, other clones, the
user's home and sockets of daemons would otherwise be readable from inside, the answer to the task among them.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

# On a merged-usr host all but the first are symlinks, and are shown as such.
FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
# Public files that libraries look up; none of them tells one machine's user from another's.
SHARED = (
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls",
    "/etc/pki/ca-trust",
    "/etc/mime.types",
    "/etc/protocols",
    "/etc/services",
)
ZONE = "/usr/share/zoneinfo/Etc/UTC"
HOSTNAME = "casewright"
USER = "runner"
INNER_UID = 1000
HOME = "/tmp/home"  # noqa: S108 - the private /tmp of the sandbox, not the host's


@dataclass(frozen=True, kw_only=True, slots=True)
class System:
    """What the host offers: folders and files to show read-only, and symlinks (path, content) to repeat."""

    shown: tuple[str, ...]
    links: tuple[tuple[str, str], ...]


@functools.cache
def system() -> System:
    """Look at the host once."""
    shown: list[str] = []
    links: list[tuple[str, str]] = []
    for name in FOLDERS:
        path = Path(name)
        if path.is_symlink():
            links.append((name, str(path.readlink())))
        elif path.is_dir():
            shown.append(name)
    shown += [name for name in SHARED if Path(name).exists()]
    if Path(ZONE).exists():
        # The host's own zone would make a run depend on where the machine stands.
        links.append(("/etc/localtime", ZONE))
    return System(shown=tuple(shown), links=tuple(links))


def account_files(*, network: bool) -> dict[str, bytes]:
    """Return the synthetic files of /etc by path. ``network`` adds what finding a host by its name needs."""
    files = {
        "/etc/passwd": f"root:x:0:0:root:/root:/bin/sh\n{USER}:x:{INNER_UID}:{INNER_UID}:{USER}:{HOME}:/bin/sh\n"
        "nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n",
        "/etc/group": f"root:x:0:\n{USER}:x:{INNER_UID}:\nnogroup:x:65534:\n",
        "/etc/hosts": f"127.0.0.1 localhost {HOSTNAME}\n::1 localhost ip6-localhost\n",
        "/etc/hostname": f"{HOSTNAME}\n",
        "/etc/nsswitch.conf": f"passwd: files\ngroup: files\nshadow: files\nhosts: files{' dns' if network else ''}\n"
        "services: files\nprotocols: files\n",
        "/etc/timezone": "Etc/UTC\n",
    }
    return {path: text.encode() for path, text in files.items()}


def resolver() -> dict[str, bytes]:
    """Return what finds hosts by name in a sandbox with network: the host's /etc/resolv.conf, where there is one."""
    path = Path("/etc/resolv.conf")
    return {"/etc/resolv.conf": path.read_bytes()} if path.is_file() else {}
