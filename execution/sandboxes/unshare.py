"""The sandbox without bubblewrap: unshare(2) and mount(2), called by a set-up program of ours."""

from __future__ import annotations

import functools
import os
import resource
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from execution.sandbox import Mount, SandboxOutcome, SandboxRequest, Scratch
from execution.sandboxes.copying import copy_command, plan_copies
from execution.sandboxes.ground import (
    DEVICE_LINKS,
    DEVICES,
    ground,
    private_scratches,
    program_environment,
    resource_limits,
    shared_pages,
    size,
)
from execution.sandboxes.identity import hand_over_once, real_uid
from execution.sandboxes.supervision import Launch, Pipes, supervise
from execution.sandboxes.system import HOME, HOSTNAME, INNER_UID, account_files, resolver, system
from execution.sandboxes.trial import why_not

Entry = tuple[str, bytes, Any, Any]


class Unshare:
    """The backend of the name ``unshare``."""

    @property
    def name(self) -> str:
        """The name in records and on the command line."""
        return "unshare"

    def unavailable(self) -> str | None:
        """Why it can't be used here; None if it works. Tried once per process."""
        return _unavailable()

    def run(self, request: SandboxRequest) -> SandboxOutcome:
        """Run one program (see ``execution.sandbox.Sandbox``)."""
        return _run(request)


UNSHARE = Unshare()


@functools.cache
def _unavailable() -> str | None:
    return why_not(_run)


def _run(request: SandboxRequest) -> SandboxOutcome:
    uid = real_uid()
    for mount in request.mounts:
        if mount.writable:
            hand_over_once(mount.source)

    def plan(_pipes: Pipes, _files: Mapping[str, int]) -> Mapping[str, object]:
        return _plan(request, uid)

    return supervise(Launch(plan=plan, files={}, uid=uid, request=request))


def _plan(request: SandboxRequest, uid: int | None) -> Mapping[str, object]:
    """Return the plan of ``inside.namespaces``; paths are bytes."""
    host, layout = system(), ground(request)
    files = account_files(network=request.network) | (resolver() if request.network else {})
    return {
        "way": "namespaces",
        "uid": uid,
        "inner_uid": INNER_UID,
        "network": request.network,
        "hostname": HOSTNAME.encode(),
        "system": [(os.fsencode(path), os.fsencode(path)) for path in host.shown],
        "devices": [name.encode() for name in DEVICES if Path("/dev", name).exists()],
        "device_links": [(name.encode(), points_to.encode()) for name, points_to in DEVICE_LINKS],
        "files": [(os.fsencode(path), content) for path, content in files.items()],
        "links": [(os.fsencode(path), os.fsencode(points_to)) for path, points_to in host.links],
        "tmpfs": [(os.fsencode(target), *room) for target, *room in private_scratches(request.limits)],
        "folders": [HOME.encode()],
        "first": [_entry(entry) for entry in layout.before],
        "copies": [
            (copy.source, copy.target, copy.seen_at, copy_command(copy)) for copy in plan_copies(request, layout.after)
        ],
        "then": [_entry(entry) for entry in layout.after],
        "limits": resource_limits(request.limits),
        "shared_pages": shared_pages(request.limits),
        "process_limit": [(resource.RLIMIT_NPROC, request.limits.processes)],
        "cwd": os.fsencode(request.cwd),
        "argv": [os.fsencode(word) for word in request.argv],
        "env": program_environment(request.env),
    }


def _entry(entry: Mount | Scratch) -> Entry:
    if isinstance(entry, Scratch):
        return "tmpfs", os.fsencode(entry.target), size(entry.megabytes), None
    return "bind", os.fsencode(entry.target), os.fsencode(entry.source), entry.writable
