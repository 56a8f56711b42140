"""Where npm, pnpm, yarn and bun keep what a recorded set-up downloads, and how they install without a network.

Each has a cache that can stand for the registry: npm's own also gives the package manager that a recorded command asks
for by npx. What is in a cache is held to the lock file's hashes when it is installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from execution.languages.javascript_registry import expected
from execution.languages.javascript_runtime import installed_nodes
from execution.package_plan import FOLDER, PACKAGES_DIR, PackagePlan, placed


@dataclass(frozen=True, kw_only=True, slots=True)
class _Manager:
    """Variables that lead a package manager to its cache, and those that keep it from asking a registry.

    bun has none of the latter: it asks only for what its cache lacks.
    """

    cache: Mapping[str, str]
    denied: Mapping[str, str] = field(default_factory=dict)


_NPM: Final = _Manager(
    cache={"npm_config_cache": f"{FOLDER}/npm", "npm_config_update_notifier": "false"},
    denied={"npm_config_offline": "true"},
)
# By the words that a recorded command has where it asks for the manager.
_OTHERS: Final[Mapping[str, _Manager]] = {
    "pnpm@": _Manager(
        cache={"npm_config_store_dir": f"{FOLDER}/pnpm-store", "npm_config_cache_dir": f"{FOLDER}/pnpm-cache"}
    ),
    "yarn@": _Manager(cache={"YARN_CACHE_FOLDER": f"{FOLDER}/yarn"}),
    "@yarnpkg/cli-dist@": _Manager(
        cache={
            "YARN_CACHE_FOLDER": f"{FOLDER}/yarn",
            "YARN_ENABLE_GLOBAL_CACHE": "0",
            "YARN_ENABLE_TELEMETRY": "0",
        },
        denied={"YARN_ENABLE_NETWORK": "0"},
    ),
    "bun@": _Manager(cache={"BUN_INSTALL_CACHE_DIR": f"{FOLDER}/bun"}),
}


def is_at_hand(version: str) -> bool:
    """Whether the node of this version is on this machine or, whole, in the cache."""
    if any(node.version == version for node in installed_nodes()):
        return True
    folder = expected(version).prefix
    return (folder / "bin/node").is_file() and (folder / "lib/node_modules/npm/bin/npm-cli.js").is_file()


def package_plan(setup: tuple[str, ...], base: str) -> PackagePlan:
    """Return how the packages of a recorded set-up are fetched; ``base`` is the commit whose manifests it reads."""
    words = {word for command in setup for word in command.split()}
    managers = [_NPM, *(manager for name, manager in _OTHERS.items() if any(word.startswith(name) for word in words))]
    cache = {name: value for manager in managers for name, value in manager.cache.items()}
    denied = {name: value for manager in managers for name, value in manager.denied.items()}
    return PackagePlan(
        decided_by=(*setup, base) if setup else (),
        filling=setup,
        filling_env=placed(cache, Path(PACKAGES_DIR)),
        variables={**cache, **denied},
        # What npx installed for a run is made again from the cache: only what a registry gave is kept.
        passing=("npm/_logs", "npm/_npx", "npm/_update-notifier-last-checked"),
    )
