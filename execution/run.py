"""Environment, tree and graded files -> one observation, in the sandbox, without the network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from execution.build import overlay_of
from execution.languages.base import Check, Language
from execution.observation import Observation
from execution.recipe import Environment
from execution.sandbox import TREE_DIR, Copy, Limits, Mount, Sandbox, SandboxOutcome, SandboxRequest, Scratch

TAIL_BYTES = 4000
CACHE_TMPFS_MB = 64


def observe_once(
    *,
    sandbox: Sandbox,
    language: Language,
    environment: Environment,
    check: Check,
    files: tuple[str, ...],
    directory: str,
    tree: Path,
    limits: Limits,
    variation: Mapping[str, str],
    network: bool = False,
) -> Observation:
    """Run the check once on a fresh copy of ``tree`` and read its report.

    ``variation`` is empty for the run exactly as recorded. Raises ``SandboxUnavailableError``.
    """
    request = SandboxRequest(
        argv=check.observed,
        cwd=str(PurePosixPath(TREE_DIR) / directory),
        env={**language.env(environment, variation), **check.env},
        mounts=(*language.mounts(environment), *_tree_mounts(environment)),
        scratch=tuple(Scratch(target=f"{TREE_DIR}/{path}", megabytes=CACHE_TMPFS_MB) for path in environment.tmpfs),
        copies=tree_copies(environment, tree),
        # The one run that may reach out (does the head need it?) gets no proxy and no certificate setting of the host:
        # those are for set-up, and never reach a test.
        network=network,
        limits=limits,
        report=True,
    )
    outcome = sandbox.run(request)
    reading = language.read(outcome.report, outcome.exit_code, files, outcome.output)
    return Observation(
        reading=reading,
        exit_code=outcome.exit_code,
        ended=outcome.ended.value,
        milliseconds=outcome.milliseconds,
        peak_memory_kb=outcome.peak_memory_kb,
        output_tail=tail(outcome),
        variation=", ".join(f"{name}={value}" for name, value in variation.items()),
    )


def tree_copies(environment: Environment, tree: Path) -> tuple[Copy, ...]:
    """Return what fills the tree: generated files first, so that a file of the commit wins over one of set-up."""
    overlay = overlay_of(environment)
    generated = (Copy(source=overlay, target=TREE_DIR),) if overlay else ()
    return (*generated, Copy(source=tree, target=TREE_DIR))


def _tree_mounts(environment: Environment) -> tuple[Mount, ...]:
    return tuple(
        Mount(source=environment.folder / "tree" / path, target=f"{TREE_DIR}/{path}")
        for path in environment.tree_mounts
    )


def tail(outcome: SandboxOutcome) -> str:
    """Return the last part of what a run printed, as text for people."""
    return outcome.output[-TAIL_BYTES:].decode("utf-8", "replace")
