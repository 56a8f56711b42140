"""From a recipe and the head's tree to an installed environment in the store, built once for its era and date."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from casewright.errors import InfrastructureError
from casewright.store import DOWNLOADS, ENVIRONMENTS, Store
from execution.languages.base import BuildStep, Language, Refusal
from execution.recipe import Environment, Recipe, Runtime
from execution.sandbox import (
    CACHE_DIR,
    ENVIRONMENT_DIR,
    TREE_DIR,
    Limits,
    Mount,
    Sandbox,
    SandboxOutcome,
    SandboxRequest,
)
from execution.sandboxes.network import with_network

RECORD = "environment.json"
RECORD_SCHEMA = 1
# Set-up gets room that tests don't: compilers and resolvers are hungry, and what they make is judged by the tests.
BUILD_LIMITS = Limits(seconds=1800, memory_mb=8192, processes=2048, output_mb=256, disk_mb=8192)

Exporter = Callable[[Path], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Build:
    """A build in progress; see ``execution.languages.base.Builder``."""

    sandbox: Sandbox
    tree: Path
    folder: Path
    cache: Path
    pass_env: tuple[str, ...]

    def run(self, step: BuildStep) -> SandboxOutcome:
        """Run one step by ``sh -c`` in TREE_DIR inside the sandbox."""
        limits = Limits(
            seconds=step.seconds,
            memory_mb=BUILD_LIMITS.memory_mb,
            processes=BUILD_LIMITS.processes,
            output_mb=BUILD_LIMITS.output_mb,
            disk_mb=BUILD_LIMITS.disk_mb,
        )
        request = SandboxRequest(
            argv=("sh", "-c", step.command),
            env=step.env,
            mounts=(
                Mount(source=self.tree, target=TREE_DIR, writable=True),
                Mount(source=self.folder / "env", target=ENVIRONMENT_DIR, writable=True),
                Mount(source=self.cache, target=CACHE_DIR, writable=True),
                *step.mounts,
            ),
            limits=limits,
        )
        return self.sandbox.run(with_network(request, self.pass_env) if step.network else request)


class BuildRefusedError(Exception):
    """The environment can't be had, for a reason that is the change's own; carries the ``Refusal``."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.detail)
        self.refusal = refusal


@contextlib.contextmanager
def environment(
    *,
    recipe: Recipe,
    language: Language,
    sandbox: Sandbox,
    store: Store,
    repository: str,
    export_head: Exporter,
    pass_env: tuple[str, ...] = (),
) -> Iterator[Environment]:
    """Give the environment of a recipe, built now or earlier, kept from pruning while in use.

    ``export_head`` writes the head's tree into an empty folder; ``repository`` names the download cache; ``pass_env``
    names variables of the user's that set-up may see.
    Raises ``BuildRefusedError``, and ``InfrastructureError`` when the network or the disk failed.
    """
    key = environment_key(recipe)

    def make(staging: Path) -> None:
        started = time.monotonic()
        with store.scratch() as work, store.shared(DOWNLOADS, download_key(repository)) as cache:
            tree = work / "tree"
            export_head(tree)
            before = _files(tree)
            (staging / "env").mkdir()
            build = _Build(sandbox=sandbox, tree=tree, folder=staging, cache=cache, pass_env=pass_env)
            built = language.build(recipe, build)
            if isinstance(built, Refusal):
                store.require_room()
                raise BuildRefusedError(built)
            _keep_generated(tree, before, staging / "overlay")
        milliseconds = round((time.monotonic() - started) * 1000)
        _write_record(staging, built, milliseconds)

    with store.entry(ENVIRONMENTS, key, make, _whole) as folder:
        yield _read_record(folder)


def environment_key(recipe: Recipe) -> str:
    """Return the store's key of a recipe: its era and the date that its index was asked for."""
    return hashlib.sha256(f"{recipe.era()}\n{recipe.date}\n".encode()).hexdigest()


def download_key(repository: str) -> str:
    """Return the store's key of a repository's download cache, from its id: one for all that is downloaded for it."""
    return hashlib.sha256(repository.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _files(tree: Path) -> frozenset[bytes]:
    root = os.fsencode(tree)
    found: set[bytes] = set()
    for parent, folders, names in os.walk(root):
        found.update(os.path.join(parent, name) for name in names)  # noqa: PTH118 - bytes
        found.update(
            os.path.join(parent, name)  # noqa: PTH118
            for name in folders
            if os.path.islink(os.path.join(parent, name))  # noqa: PTH114, PTH118
        )
    return frozenset(path[len(root) + 1 :] for path in found)


def _keep_generated(tree: Path, before: frozenset[bytes], overlay: Path) -> None:
    """Copy what set-up generated in the tree: not bytecode, not egg-info (dist-info is in the environment)."""
    for path in sorted(_files(tree) - before):
        parts = path.split(b"/")
        if b"__pycache__" in parts or b"node_modules" in parts or path.endswith(b".pyc"):
            continue
        if any(part.endswith((b".egg-info", b".dist-info")) for part in parts) or parts[0] in {b"build", b".git"}:
            continue
        source = tree / os.fsdecode(path)
        target = overlay / os.fsdecode(path)
        if source.is_symlink() or not source.is_file():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


_SEEN_WHOLE: set[Path] = set()


def _whole(folder: Path) -> bool:
    """Say whether a stored environment has as many files as it was stored with; looked at once in a process.

    A cache is a place where people clean up: half an environment would make verdicts that nobody could explain.
    """
    if folder not in _SEEN_WHOLE:
        try:
            stated = json.loads((folder / RECORD).read_text(encoding="utf-8"))["files"]
        except (OSError, ValueError, KeyError, TypeError):
            return False
        if stated != len(_files(folder)):
            return False
        _SEEN_WHOLE.add(folder)
    return True


def _write_record(folder: Path, built: Environment, milliseconds: int) -> None:
    plain = asdict(built)
    # The record itself is one of them.
    plain["files"] = len(_files(folder)) + 1
    plain.pop("folder")
    plain["build_milliseconds"] = milliseconds
    plain["runtime"]["executable"] = str(built.runtime.executable)
    plain["runtime"]["prefix"] = str(built.runtime.prefix)
    (folder / RECORD).write_text(json.dumps({"schema": RECORD_SCHEMA, **plain}, indent=1), encoding="utf-8")


def _read_record(folder: Path) -> Environment:
    try:
        plain = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        plain.pop("files")
        if plain.pop("schema") != RECORD_SCHEMA:
            raise InfrastructureError(f"the stored environment {folder.name} was made by another version", _PRUNE)
        runtime = plain.pop("runtime")
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()
        }
        return Environment(
            folder=folder,
            runtime=Runtime(
                name=runtime["name"],
                version=runtime["version"],
                executable=Path(runtime["executable"]),
                prefix=Path(runtime["prefix"]),
            ),
            **values,
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InfrastructureError(f"the stored environment {folder.name} is damaged: {error}", _PRUNE) from error


_PRUNE = "remove it with `casewright cache prune --all`"


def overlay_of(environment: Environment) -> Path | None:
    """Return the folder of what set-up generated in the tree, or None when it generated nothing."""
    folder = environment.folder / "overlay"
    return folder if folder.is_dir() else None
