"""A stranger's clone and what is run in it: each command by ``sh`` in a sandbox of its own, as a case records it.

Strangers' code writes to the clone, so after it was made nothing but the sandbox touches it.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from execution.languages.base import Language
from execution.recipe import Runtime
from execution.sandbox import (
    CACHE_DIR,
    CASE_DIR,
    TREE_DIR,
    Ended,
    Limits,
    Mount,
    Sandbox,
    SandboxOutcome,
    SandboxRequest,
)
from execution.sandboxes.network import with_network


@dataclass(frozen=True, kw_only=True, slots=True)
class CloneRun:
    """``case`` is the host folder at CASE_DIR that holds the clone as ``repo``; ``mounts`` come besides the runtime's.

    ``pass_env`` names variables of the user's that a command with network may see.
    """

    language: Language
    runtime: Runtime
    sandbox: Sandbox
    case: Path
    mounts: tuple[Mount, ...] = ()
    pass_env: tuple[str, ...] = ()

    def run(
        self,
        command: str,
        limits: Limits,
        *,
        cwd: str = TREE_DIR,
        network: bool = False,
        env: Mapping[str, str] | None = None,
    ) -> SandboxOutcome:
        """Run one command; ``env`` adds to what a stranger's shell has. Raises ``SandboxUnavailableError``."""
        mounts = (Mount(source=self.case, target=CASE_DIR, writable=True), *self.mounts)
        request = SandboxRequest(
            argv=("sh", "-c", command),
            cwd=cwd,
            env={"LC_ALL": "C.UTF-8", **(env or {})},
            mounts=(*mounts, *self.language.runtime_mounts(self.runtime)),
            limits=limits,
        )
        return self.sandbox.run(with_network(request, self.pass_env) if network else request)

    def check_out(self, commit: str, limits: Limits) -> SandboxOutcome:
        """Check a commit out, whatever lies in the clone."""
        return self.run(f"git -c advice.detachedHead=false checkout -q --force --detach {shlex.quote(commit)}", limits)


def with_cache(cache: Path) -> Mount:
    """Return the mount of a repository's download cache, which ``CACHING`` leads the installers to."""
    return Mount(source=cache, target=CACHE_DIR, writable=True)


# Where the installers of a set-up with network keep what they download, so that the next one finds it.
CACHING: Mapping[str, str] = {
    "PIP_CACHE_DIR": f"{CACHE_DIR}/pip",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "npm_config_cache": f"{CACHE_DIR}/npm",
    "npm_config_update_notifier": "false",
}


def how(outcome: SandboxOutcome) -> str:
    """Return how a step ended, with its last lines."""
    ended = f"exit code {outcome.exit_code}" if outcome.ended == Ended.EXITED else outcome.ended.value
    return f"{ended}, {last_lines(outcome.output) or 'no output'}"


def last_lines(output: bytes, count: int = 6) -> str:
    """Return the last lines of an output as one line of text for people."""
    lines = [line.strip() for line in output.decode("utf-8", "replace").splitlines() if line.strip()]
    return " | ".join(lines[-count:])[:1000]
