"""Which package manager installs a JavaScript tree, in which version, and by which command. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from execution.languages.javascript_manifest import Lock, Manifest, lowest_version, version_tuple
from execution.sandbox import CACHE_DIR

# The newest version that reads each lock format, tried on node 20. pnpm 7 reads 5.3 and 5.4, npm reads all of its own.
PNPM_FOR_LOCK: Final = {
    "5.1": "6.35.1",
    "5.2": "6.35.1",
    "5.3": "7.33.7",
    "5.4": "7.33.7",
    "6.0": "8.15.9",
    "9.0": "9.15.9",
}
PNPM_READS: Final = {"5.1": (3, 6), "5.2": (3, 6), "5.3": (6, 7), "5.4": (6, 7), "6.0": (8, 8), "9.0": (9, 10)}
NEWEST_PNPM: Final = {6: "6.35.1", 7: "7.33.7", 8: "8.15.9", 9: "9.15.9", 10: "10.34.9"}
YARN_CLASSIC: Final = "1.22.22"
NEWEST_BERRY: Final = {2: "2.4.3", 3: "3.8.7", 4: "4.18.1"}
BUN: Final = "1.4.5"
# Stands for the date in a command: an era may be pinned to another commit's date than the one that it was planned for.
DATE: Final = "{date}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Installer:
    """A package manager in an exact version.

    ``command`` installs what the lock file says and nothing else (without one, what there was by ``DATE``); ``loose``
    is for a lock file that the manifests have left behind (empty when there is none to fall back to). ``why`` tells
    how the version was chosen.
    """

    manager: str
    version: str
    command: str
    loose: str
    why: tuple[str, ...] = ()


# For builds in our sandbox: one writable cache, and nothing in an environment may share bytes with it.
BUILD_ENV: Final = {
    "npm_config_cache": f"{CACHE_DIR}/npm",
    "npm_config_store_dir": f"{CACHE_DIR}/pnpm",
    "npm_config_package_import_method": "copy",
    "npm_config_update_notifier": "false",
    "npm_config_fund": "false",
    "npm_config_audit": "false",
    "YARN_CACHE_FOLDER": f"{CACHE_DIR}/yarn",
    "YARN_ENABLE_GLOBAL_CACHE": "0",
    "YARN_ENABLE_TELEMETRY": "0",
    "BUN_INSTALL_CACHE_DIR": f"{CACHE_DIR}/bun",
    "CI": "true",
}


def choose_installer(manifest: Manifest, lock: Lock | None, node: tuple[int, int, int]) -> Installer | None:
    """Choose how to install; None when there is nothing to install."""
    named, _, version = manifest.package_manager.partition("@")
    version = version.partition("+")[0]
    if lock is None and not manifest.dependencies and not manifest.raw.get("workspaces"):
        return None
    manager = lock.manager if lock is not None else (named or "npm")
    wanted = version if named == manager else ""
    if manager == "pnpm":
        return _pnpm(lock, wanted, node)
    if manager == "yarn":
        return _yarn(lock, wanted)
    if manager == "bun":
        return _bun(lock, wanted)
    return _npm(lock)


def _npm(lock: Lock | None) -> Installer:
    if lock is not None:
        return Installer(
            manager="npm",
            version="",
            command="npm ci --ignore-scripts --no-audit --no-fund",
            loose="npm install --ignore-scripts --no-audit --no-fund",
            why=(f"npm, because of {lock.path}",),
        )
    plain = "npm install --ignore-scripts --no-audit --no-fund --no-package-lock"
    return Installer(
        manager="npm",
        version="",
        command=f"{plain} --before={DATE}",
        loose=plain,
        why=("npm, no lock file: what was published by the commit's date",),
    )


def lock_format(lock: Lock) -> str:
    """Return the ``lockfileVersion`` of a pnpm lock file, or an empty string."""
    match = re.search(rb"""^lockfileVersion:\s*['"]?([0-9.]+)""", lock.content, re.MULTILINE)
    return match.group(1).decode() if match else ""


def choose_pnpm(named: str, lock_version: str, node: tuple[int, int, int]) -> tuple[str, str]:
    """Return the pnpm version for a lock format and how it was chosen; ``named`` is ``packageManager``'s or empty."""
    lowest, highest = PNPM_READS.get(lock_version, (6, 10))
    major = version_tuple(named)[0]
    if not named:
        version = PNPM_FOR_LOCK.get(lock_version, NEWEST_PNPM[9])
        return version, f"pnpm {version}, which reads lock format {lock_version or 'unknown'}"
    if not lowest <= major <= highest:
        version = PNPM_FOR_LOCK.get(lock_version, NEWEST_PNPM[10])
        return version, f"pnpm {version} instead of {named}: the lock file has format {lock_version}"
    if _pnpm_crashes(version_tuple(named), node) and major in NEWEST_PNPM:
        newest = NEWEST_PNPM[7 if major == 6 else major]
        return newest, f"pnpm {newest} instead of {named}, which does not start on node {node[0]}"
    return named, f"pnpm {named}, as packageManager says"


def _pnpm_crashes(version: tuple[int, int, int], node: tuple[int, int, int]) -> bool:
    """Versions before 7.33.7 and 8.3.1 end in ERR_INVALID_THIS on node 20 and later."""
    return node[0] >= 20 and (version < (7, 33, 7) or (8, 0, 0) <= version < (8, 3, 1))


def _pnpm(lock: Lock | None, named: str, node: tuple[int, int, int]) -> Installer:
    version, why = choose_pnpm(named, lock_format(lock) if lock else "", node)
    # Newer versions would fetch and become the one that packageManager names, or refuse to run beside it.
    settings = "--config.manage-package-manager-versions=false --config.package-manager-strict=false"
    extra = f" {settings}" if version_tuple(version) >= (9, 0, 0) and version != named else ""
    start = f"npx --yes pnpm@{version} install"
    return Installer(
        manager="pnpm",
        version=version,
        command=f"{start} {'--frozen-lockfile' if lock else '--no-frozen-lockfile'} --ignore-scripts{extra}",
        loose=f"{start} --no-frozen-lockfile --ignore-scripts{extra}" if lock else "",
        why=(why,),
    )


def _yarn(lock: Lock | None, named: str) -> Installer:
    classic = lock is None or b"# yarn lockfile v1" in lock.content
    if classic and (lock is not None or version_tuple(named)[0] < 2):
        start = f"npx --yes yarn@{YARN_CLASSIC} install --ignore-scripts --ignore-engines --non-interactive"
        return Installer(
            manager="yarn",
            version=YARN_CLASSIC,
            command=f"{start} --frozen-lockfile" if lock else start,
            loose=f"{start} --pure-lockfile" if lock else "",
            why=(f"yarn {YARN_CLASSIC}, because of a lock file of version 1" if lock else f"yarn {YARN_CLASSIC}",),
        )
    major = version_tuple(named)[0]
    version = named if major >= 2 else NEWEST_BERRY[3]
    # The repository may pin its own yarn by yarnPath, which stays in charge; plug'n'play has no node_modules to mount.
    env = "YARN_NODE_LINKER=node-modules YARN_ENABLE_SCRIPTS=0"
    package = "@yarnpkg/cli-dist"
    start = f"{env} npx --yes {package}@{version} install"
    return Installer(
        manager="yarn",
        version=version,
        command=f"{start} --immutable",
        loose=f"{start} --no-immutable",
        why=(f"yarn {version}" + (", as packageManager says" if named else ", because of the lock file's format"),),
    )


def _bun(lock: Lock | None, named: str) -> Installer:
    version = named or BUN
    start = f"npx --yes bun@{version} install --ignore-scripts"
    return Installer(
        manager="bun",
        version=version,
        command=f"{start} --frozen-lockfile" if lock else start,
        loose=start if lock else "",
        why=(f"bun {version}, because of {lock.path if lock else 'packageManager'}",),
    )


def dated(command: str, date: int) -> str:
    """Return a command with its date filled in (seconds, UTC)."""
    return command.replace(DATE, datetime.fromtimestamp(date, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))


def node_refusal(manifest: Manifest, node: tuple[int, int, int]) -> str | None:
    """Return why this node can't run the package (its ``engines`` begin above), or None."""
    wanted = manifest.engines.get("node", "")
    if wanted and lowest_version(wanted) > node:
        return f"{manifest.path} asks for node {wanted}, here is {'.'.join(map(str, node))}"
    return None
