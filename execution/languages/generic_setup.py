"""Set-up by commands of the user's own: run in the head's tree, kept with all that they leave there and in ``../env``.

The head's tree is a plain export here and a clone for a stranger: a command that asks git for the history fails.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from casewright.errors import InfrastructureError
from execution.languages.base import Builder, BuildStep, Refusal
from execution.languages.system_packages import system_need
from execution.recipe import Environment, Recipe
from execution.sandbox import CACHE_DIR, Ended, SandboxOutcome

SECONDS: Final = 1800
# A stranger has no `../env` before set-up; for us a folder is there, so the first command makes the two alike.
MAKE_ENVIRONMENT: Final = "mkdir -p ../env"
_VARIABLES: Final = {
    "LC_ALL": "C.UTF-8",
    "PIP_CACHE_DIR": f"{CACHE_DIR}/pip",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "npm_config_cache": f"{CACHE_DIR}/npm",
    "npm_config_update_notifier": "false",
}
_NETWORK: Final = re.compile(
    r"Could not resolve host|[Tt]emporary failure in name resolution|[Cc]onnection (?:refused|reset|timed out)"
    r"|Network is unreachable|dial tcp|i/o timeout|EAI_AGAIN|ENOTFOUND|ECONNRE(?:FUSED|SET)|ETIMEDOUT|TLS handshake"
    r"|certificate (?:verify failed|signed by unknown)|CERTIFICATE_VERIFY_FAILED|UnknownIssuer|Max retries exceeded"
    r"|error sending request|\b(?:429 Too Many|50[0-4] [A-Z]\w+)|No space left on device"
)
_TELLING: Final = re.compile(r"error|failed|fatal|not found|Could not|No such file", re.IGNORECASE)
_NOT_FOUND: Final = 127
_REMEDY: Final = "try the command in a plain clone, and mend it under setup.commands (or --setup-cmd)"


def build(recipe: Recipe, builder: Builder) -> Environment | Refusal:
    """Run the commands one after another, each by ``sh`` in the tree's root; the first that fails ends it.

    Raises ``InfrastructureError`` when the log says that the network or the disk failed.
    """
    commands: list[str] = json.loads(recipe.setting("setup", "[]"))
    before = frozenset(_entries(builder.tree))
    for number, command in enumerate(commands, start=1):
        outcome = builder.run(BuildStep(command=command, network=True, env=_VARIABLES, seconds=SECONDS))
        if outcome.ended is not Ended.EXITED or outcome.exit_code != 0:
            return failure(f"set-up command {number} ({command})", outcome)
    _keep(builder.tree, before, builder.folder / "overlay")
    return Environment(
        folder=builder.folder,
        era=recipe.era(),
        runtime=recipe.runtime,
        setup=(MAKE_ENVIRONMENT, *commands) if commands else (),
        dependencies=(),
    )


def setup_commands(recipe: Recipe, shared: tuple[str, ...]) -> tuple[str, ...]:
    """Return the set-up of one change from the commands that serve its era.

    Both states use what the head asks for, so where the base's manifests differ they are borrowed from the head for the
    set-up and put back after it.
    """
    borrowed: dict[str, str] = json.loads(recipe.setting("borrowed", "{}"))
    if not shared or not borrowed:
        return shared
    taken = _quoted(borrowed, "added", "changed")
    gone, known, added = (
        _quoted(borrowed, "removed"), _quoted(borrowed, "changed", "removed"), _quoted(borrowed, "added")
    )  # fmt: skip
    restore = "git --literal-pathspecs restore"
    return (
        *((f"{restore} --source={recipe.setting('head_commit')} --worktree -- {taken}",) if taken else ()),
        *((f"rm -f -- {gone}",) if gone else ()),
        *shared,
        *((f"{restore} --worktree -- {known}",) if known else ()),
        *((f"rm -f -- {added}",) if added else ()),
    )


def _quoted(borrowed: dict[str, str], *kinds: str) -> str:
    return " ".join(shlex.quote(path) for path, how in borrowed.items() if how in kinds)


def failure(step: str, outcome: SandboxOutcome) -> Refusal:
    """Return why a command that did not end with 0 refuses the environment.

    Raises ``InfrastructureError`` when the network or the disk failed, which says nothing of the change.
    """
    text = outcome.output.decode("utf-8", "replace")
    lines = [line.strip()[:200] for line in text.splitlines() if line.strip()]
    telling = tuple(([line for line in lines if _TELLING.search(line)] or lines)[-4:])
    told = " | ".join(telling) or "it printed nothing"
    if outcome.ended is not Ended.EXITED:
        detail = f"{step} was ended by {outcome.ended.value}; {told}"
        return Refusal(code="environment-failed", detail=detail, step=step, lines=telling, remedy=_REMEDY)
    if _NETWORK.search(text):
        raise InfrastructureError(f"{step}: {told}", "look at the network, then run again")
    need = system_need(text)
    missing = outcome.exit_code == _NOT_FOUND or need is not None
    return Refusal(
        code="needs-system-package" if missing else "environment-failed",
        detail=f"{step} ended with {outcome.exit_code}: {told}",
        step=step,
        package=need.package if need else "",
        lines=telling,
        remedy=need.remedy if need else _REMEDY,
    )


def _keep(tree: Path, before: frozenset[bytes], overlay: Path) -> None:
    """Copy what the commands made in the tree: files, links as links, folders. Bytecode is of no use elsewhere."""
    target = os.fsencode(overlay)
    root = os.fsencode(tree)
    for path in sorted(frozenset(_entries(tree)) - before):
        if path.endswith(b".pyc") or path == b".git" or path.startswith(b".git/"):
            continue
        source, copy = os.path.join(root, path), os.path.join(target, path)  # noqa: PTH118 - bytes
        mode = os.lstat(source).st_mode
        os.makedirs(copy if stat.S_ISDIR(mode) else os.path.dirname(copy), exist_ok=True)  # noqa: PTH103, PTH120
        if stat.S_ISLNK(mode):
            os.symlink(os.readlink(source), copy)  # noqa: PTH115, PTH211
        elif stat.S_ISREG(mode):
            shutil.copy2(source, copy)


def _entries(tree: Path) -> Iterator[bytes]:
    root = os.fsencode(tree)
    for parent, folders, names in os.walk(root):
        for entry in (*folders, *names):
            yield os.path.join(parent, entry)[len(root) + 1 :]  # noqa: PTH118 - bytes
