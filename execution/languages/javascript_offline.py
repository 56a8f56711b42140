"""Where npm, pnpm, yarn and bun keep what a recorded set-up downloads, and how they install without a network. Pure.

Each has a cache that can stand for the registry: npm's own also gives the package manager that a recorded command asks
for by npx. What is in a cache is held to the lock file's hashes when it is installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from execution.package_plan import FOLDER, PACKAGES_DIR, PackagePlan, placed

_CACHES: Final[Mapping[str, str]] = {
    "npm_config_cache": f"{FOLDER}/npm",
    "npm_config_store_dir": f"{FOLDER}/pnpm-store",
    "npm_config_cache_dir": f"{FOLDER}/pnpm-cache",
    "npm_config_update_notifier": "false",
    "YARN_CACHE_FOLDER": f"{FOLDER}/yarn",
    "YARN_ENABLE_GLOBAL_CACHE": "0",
    "YARN_ENABLE_TELEMETRY": "0",
    "BUN_INSTALL_CACHE_DIR": f"{FOLDER}/bun",
}
_DENIED: Final[Mapping[str, str]] = {"npm_config_offline": "true", "YARN_ENABLE_NETWORK": "0"}


def package_plan(setup: tuple[str, ...], base: str) -> PackagePlan:
    """Return how the packages of a recorded set-up are fetched; ``base`` is the commit whose manifests it reads."""
    return PackagePlan(
        decided_by=(*setup, base) if setup else (),
        filling=setup,
        filling_env=placed(_CACHES, Path(PACKAGES_DIR)),
        variables={**_CACHES, **_DENIED},
        # What npx installed for a run is made again from the cache: only what a registry gave is kept.
        passing=("npm/_logs", "npm/_npx", "npm/_update-notifier-last-checked"),
    )
