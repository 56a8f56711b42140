"""The probe: a program inside tries to reach out, and what it met is told.

That an address on the internet can't be reached proves little on a machine without internet. So there is a control: a
listener of ours on the host's loopback, which we reach ourselves and the program inside must not.
"""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path

from casewright.errors import SandboxUnavailableError
from execution.sandbox import CASE_DIR, Limits, Mount, Probe, Sandbox, SandboxRequest

# Nothing is sent to these unless the sandbox leaks; they only have to be outside.
PUBLIC_ADDRESS = "1.1.1.1"
PUBLIC_NAME = "example.org"
PROGRAM = """
import json, os, socket, sys

def attempt(name, step):
    try:
        step()
    except OSError as error:
        tried[name] = error.strerror or str(error)
    else:
        tried[name] = None

def tcp(address, port):
    socket.create_connection((address, port), timeout=3).close()

def udp(address, port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"casewright", (address, port))

public, name, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
tried = {}
attempt(f"TCP {public}:443", lambda: tcp(public, 443))
attempt(f"UDP {public}:53", lambda: udp(public, 53))
attempt(f"DNS {name}", lambda: socket.getaddrinfo(name, 443))
attempt("TCP to the host's loopback", lambda: tcp("127.0.0.1", port))
print(json.dumps(tried))
"""


def try_to_reach_out(sandbox: Sandbox) -> Probe:
    """Run the probe once in a sandbox without network.

    Raises ``SandboxUnavailableError`` when it can't be told whether the network is denied.
    """
    with _listener() as listener:
        port = listener.getsockname()[1]
        outcome = sandbox.run(
            SandboxRequest(
                argv=(
                    str(Path(sys.executable).resolve()),
                    "-I",
                    "-S",
                    "-c",
                    PROGRAM,
                    PUBLIC_ADDRESS,
                    PUBLIC_NAME,
                    str(port),
                ),
                cwd=CASE_DIR,
                mounts=interpreter_mounts(),
                limits=Limits(seconds=60, memory_mb=512, processes=16, output_mb=1, disk_mb=16),
            )
        )
    lines = outcome.output.decode("utf-8", "replace").strip().splitlines()
    if outcome.exit_code != 0 or not lines:
        said = lines[-1] if lines else "no output"
        raise SandboxUnavailableError(
            f"the network probe in {sandbox.name} ended with {outcome.exit_code}: {said}",
            "run `casewright doctor`",
        )
    return read_attempts(sandbox.name, json.loads(lines[-1]))


def _listener() -> socket.socket:
    """Listen on the host's loopback, and see that it can be reached there: else the control would control nothing."""
    try:
        listener = socket.create_server(("127.0.0.1", 0))
        with socket.create_connection(("127.0.0.1", listener.getsockname()[1]), timeout=3):
            listener.accept()[0].close()
    except OSError as error:
        raise SandboxUnavailableError(
            f"the host's own loopback can't be reached ({error.strerror or error}), so nothing shows that it is denied",
            "bring the loopback up (ip link set lo up)",
        ) from error
    return listener


def read_attempts(name: str, attempts: dict[str, str | None]) -> Probe:
    """Make a probe of what was tried: the error that each attempt met, None where it got through (pure)."""
    through = [what for what, error in attempts.items() if error is None]
    if through:
        return Probe(sandbox=name, denied=False, detail=f"got through: {', '.join(through)}")
    return Probe(sandbox=name, denied=True, detail="; ".join(f"{what}: {error}" for what, error in attempts.items()))


def interpreter_mounts() -> tuple[Mount, ...]:
    """Return what our own interpreter needs inside, at its own path; nothing when it is one of the system's."""
    prefix = Path(sys.base_prefix).resolve()
    return () if prefix.is_relative_to("/usr") else (Mount(source=prefix, target=str(prefix)),)
