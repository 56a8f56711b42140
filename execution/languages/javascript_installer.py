"""Which package manager installs a JavaScript tree, in which version, and by which command. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from execution.languages.javascript_manifest import Lock, Manifest, lowest_version, version_tuple
from execution.sandbox import CACHE_DIR

# The newest version that reads each lock format as it was written.
PNPM_FOR_LOCK: Final = {
    "5.1": "6.35.1",
    "5.2": "6.35.1",
    "5.3": "7.33.7",
    "5.4": "7.33.7",
    "6.0": "8.15.9",
    "6.1": "8.15.9",
    "9.0": "9.15.9",
}
# The major versions that read a format without rewriting it.
PNPM_READS: Final = {
    "5.1": (3, 6),
    "5.2": (3, 6),
    "5.3": (6, 7),
    "5.4": (6, 7),
    "6.0": (8, 8),
    "6.1": (8, 8),
    "9.0": (9, 11),
}
NEWEST_PNPM: Final = {6: "6.35.1", 7: "7.33.7", 8: "8.15.9", 9: "9.15.9", 10: "10.34.9"}
YARN_CLASSIC: Final = "1.22.22"
NEWEST_BERRY: Final = {3: "3.8.7", 4: "4.18.1"}
# The last npm that runs on the nodes whose own npm is 6, which knows neither workspaces nor the third lock format.
NPM_FOR_OLD_NODE: Final = "8.19.4"
BUN: Final = "1.4.5"
# The first node that a major version starts on.
_FIRST_NODE: Final[Mapping[tuple[str, int], tuple[int, int, int]]] = {
    ("pnpm", 7): (14, 6, 0),
    ("pnpm", 8): (16, 14, 0),
    ("pnpm", 9): (18, 12, 0),
    ("pnpm", 10): (18, 12, 0),
    ("pnpm", 11): (22, 13, 0),
    ("yarn", 3): (12, 0, 0),
    ("yarn", 4): (18, 12, 0),
    ("npm", 8): (12, 13, 0),
    ("npm", 9): (14, 17, 0),
    ("npm", 10): (18, 17, 0),
    ("npm", 11): (20, 17, 0),
}
_PNPM_SETTINGS: Final = re.compile(
    r"^(?:overrides|patchedDependencies|packageExtensions|onlyBuiltDependencies):", re.MULTILINE
)
# Stands for the date in a command: an era may be pinned to another commit's date than the one that it was planned for.
DATE: Final = "{date}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Installer:
    """A package manager in an exact version.

    ``command`` installs what the lock file says and nothing else (without one, what there was by ``DATE``); ``loose``
    is for a lock file that the manifests have left behind (empty when there is none to fall back to). ``why`` tells
    how the version was chosen; ``members`` whether pnpm installs a workspace.
    """

    manager: str
    version: str
    command: str
    loose: str
    why: tuple[str, ...] = ()
    members: bool = False

    @property
    def rebuild(self) -> str:
        """The command that runs install scripts of packages, whose names follow."""
        if self.manager != "pnpm":
            return "npm rebuild"
        # Without `-r`, pnpm passes over what only members of a workspace depend on, and says nothing.
        return f"{self.command.partition(' install')[0]} rebuild{' -r' if self.members else ''}"

    @property
    def package(self) -> str:
        """The package manager as a package of the registry; empty for npm, which comes with node."""
        if self.manager == "npm":
            return ""
        berry = self.manager == "yarn" and version_tuple(self.version)[0] >= 2
        return f"{'@yarnpkg/cli-dist' if berry else self.manager}@{self.version}"


# For builds in our sandbox: one writable cache, nothing in an environment may share bytes with it, and a registry that
# is busy is asked again.
BUILD_ENV: Final = {
    "npm_config_cache": f"{CACHE_DIR}/npm",
    "npm_config_store_dir": f"{CACHE_DIR}/pnpm",
    "npm_config_package_import_method": "copy",
    "npm_config_update_notifier": "false",
    "npm_config_fund": "false",
    "npm_config_audit": "false",
    "npm_config_fetch_retries": "4",
    "npm_config_fetch_retry_factor": "2",
    "npm_config_fetch_retry_mintimeout": "2000",
    "npm_config_fetch_timeout": "120000",
    "YARN_CACHE_FOLDER": f"{CACHE_DIR}/yarn",
    "YARN_ENABLE_GLOBAL_CACHE": "0",
    "YARN_ENABLE_TELEMETRY": "0",
    "YARN_HTTP_RETRY": "5",
    "BUN_INSTALL_CACHE_DIR": f"{CACHE_DIR}/bun",
    "CI": "true",
    # Binaries that no registry carries and no test here can use: browsers, shells of desktop programs, hooks of git.
    "HUSKY": "0",
    "HUSKY_SKIP_INSTALL": "1",
    "SKIP_INSTALL_SIMPLE_GIT_HOOKS": "1",
    "LEFTHOOK": "0",
    "PUPPETEER_SKIP_DOWNLOAD": "1",
    "PUPPETEER_SKIP_CHROMIUM_DOWNLOAD": "1",
    "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1",
    "CYPRESS_INSTALL_BINARY": "0",
    "ELECTRON_SKIP_BINARY_DOWNLOAD": "1",
    "CHROMEDRIVER_SKIP_DOWNLOAD": "true",
    "GECKODRIVER_SKIP_DOWNLOAD": "true",
    "SENTRYCLI_SKIP_DOWNLOAD": "1",
    "NX_DAEMON": "false",
    "TURBO_TELEMETRY_DISABLED": "1",
    "DISABLE_OPENCOLLECTIVE": "1",
    "ADBLOCK": "1",
}


def choose_installer(
    manifest: Manifest, lock: Lock | None, node: tuple[int, int, int], *, pnpm_workspace: str | None = None
) -> Installer | None:
    """Choose how to install; None when there is nothing to install.

    ``pnpm_workspace`` is the text of ``pnpm-workspace.yaml``, None without one. It names pnpm where nothing else names
    a package manager, and from version 10 on it may hold settings, which earlier ones would pass over.
    """
    named, _, version = manifest.package_manager.partition("@")
    version = version.partition("+")[0]
    workspaces = bool(manifest.raw.get("workspaces")) or pnpm_workspace is not None
    settings_in_workspace = bool(_PNPM_SETTINGS.search(pnpm_workspace or ""))
    if lock is None and not manifest.dependencies and not workspaces:
        return None
    manager = lock.manager if lock is not None else (named or ("npm" if pnpm_workspace is None else "pnpm"))
    wanted = version if named == manager and re.match(r"\d+\.\d+\.\d+", version) else ""
    if manager == "pnpm":
        chosen = _pnpm(lock, wanted, node, settings_in_workspace=settings_in_workspace)
        return replace(chosen, members=pnpm_workspace is not None)
    if manager == "yarn":
        return _yarn(lock, wanted, node)
    if manager == "bun":
        return _bun(lock, wanted, node)
    return _npm(lock, wanted, node, workspaces=workspaces)


def npx(node: tuple[int, int, int]) -> str:
    """Return how a package is run that is not installed: npx of npm 6 asks nothing, and takes ``--yes`` for a value."""
    return "npx" if node < (15, 0, 0) else "npx --yes"


def manager_refusal(installer: Installer, node: tuple[int, int, int]) -> str | None:
    """Return why a package manager does not start on a node, or None."""
    first = _FIRST_NODE.get((installer.manager, version_tuple(installer.version)[0]))
    if first is None or node >= first:
        return None
    wanted, here = (".".join(map(str, version)) for version in (first, node))
    return f"{installer.manager} {installer.version} starts on node {wanted} and later, not on {here}"


def _npm(lock: Lock | None, named: str, node: tuple[int, int, int], *, workspaces: bool) -> Installer:
    version, why = named, f"npm {named}, as packageManager says"
    third = lock is not None and re.search(rb'"lockfileVersion":\s*3', lock.content) is not None
    if not named and node < (15, 0, 0) and (third or workspaces):
        version = NPM_FOR_OLD_NODE
        unknown = "lock file of version 3" if third else "workspaces"
        why = f"npm {version}, since that of node {node[0]} knows no {unknown}"
    start = f"{npx(node)} npm@{version}" if version else "npm"
    if lock is not None:
        return Installer(
            manager="npm",
            version=version,
            command=f"{start} ci --ignore-scripts --no-audit --no-fund",
            loose=f"{start} install --ignore-scripts --no-audit --no-fund",
            why=(why if version else f"npm, because of {lock.path}",),
        )
    plain = f"{start} install --ignore-scripts --no-audit --no-fund --no-package-lock"
    dated_why = "no lock file: what was published by the commit's date"
    return Installer(
        manager="npm",
        version=version,
        command=f"{plain} --before={DATE}",
        loose=plain,
        why=(f"{why}; {dated_why}" if version else f"npm, {dated_why}",),
    )


def lock_format(lock: Lock) -> str:
    """Return the ``lockfileVersion`` of a pnpm lock file, or an empty string."""
    match = re.search(rb"""^lockfileVersion:\s*['"]?([0-9.]+)""", lock.content, re.MULTILINE)
    return match.group(1).decode() if match else ""


def choose_pnpm(
    named: str, lock_version: str, node: tuple[int, int, int], *, settings_in_workspace: bool = False
) -> tuple[str, str]:
    """Return the pnpm version for a lock format and how it was chosen; ``named`` is ``packageManager``'s or empty."""
    lowest, highest = PNPM_READS.get(lock_version, (6, 11))
    major = version_tuple(named)[0]
    if not named:
        version = PNPM_FOR_LOCK.get(lock_version, NEWEST_PNPM[9])
        if highest >= 10 and settings_in_workspace:
            version = NEWEST_PNPM[10]
            return version, f"pnpm {version}, which reads the settings of pnpm-workspace.yaml"
        return version, f"pnpm {version}, which reads lock format {lock_version or 'unknown'}"
    if not lowest <= major <= highest:
        version = NEWEST_PNPM[10] if major > highest >= 10 else PNPM_FOR_LOCK.get(lock_version, NEWEST_PNPM[10])
        return version, f"pnpm {version} instead of {named}: the lock file has format {lock_version}"
    if major >= 11 and node < _FIRST_NODE["pnpm", 11]:
        return NEWEST_PNPM[10], f"pnpm {NEWEST_PNPM[10]} instead of {named}, which does not start on node {node[0]}"
    if _pnpm_crashes(version_tuple(named), node) and major in NEWEST_PNPM:
        newest = NEWEST_PNPM[7 if major == 6 else major]
        return newest, f"pnpm {newest} instead of {named}, which does not start on node {node[0]}"
    return named, f"pnpm {named}, as packageManager says"


def _pnpm_crashes(version: tuple[int, int, int], node: tuple[int, int, int]) -> bool:
    """Versions before 7.33.7 and 8.3.1 end in ERR_INVALID_THIS on node 20 and later."""
    return node[0] >= 20 and (version < (7, 33, 7) or (8, 0, 0) <= version < (8, 3, 1))


def _pnpm(lock: Lock | None, named: str, node: tuple[int, int, int], *, settings_in_workspace: bool) -> Installer:
    version, why = choose_pnpm(
        named, lock_format(lock) if lock else "", node, settings_in_workspace=settings_in_workspace
    )
    # Newer versions would fetch and become the one that packageManager names, or refuse to run beside it.
    settings = "--config.manage-package-manager-versions=false --config.package-manager-strict=false"
    extra = f" {settings}" if version_tuple(version) >= (9, 0, 0) and version != named else ""
    start = f"{npx(node)} pnpm@{version} install"
    return Installer(
        manager="pnpm",
        version=version,
        command=f"{start} {'--frozen-lockfile' if lock else '--no-frozen-lockfile'} --ignore-scripts{extra}",
        loose=f"{start} --no-frozen-lockfile --ignore-scripts{extra}" if lock else "",
        why=(why,),
    )


def _yarn(lock: Lock | None, named: str, node: tuple[int, int, int]) -> Installer:
    classic = lock is None or b"# yarn lockfile v1" in lock.content
    if classic and (lock is not None or version_tuple(named)[0] < 2):
        start = f"{npx(node)} yarn@{YARN_CLASSIC} install --ignore-scripts --ignore-engines --non-interactive"
        return Installer(
            manager="yarn",
            version=YARN_CLASSIC,
            command=f"{start} --frozen-lockfile" if lock else start,
            loose=f"{start} --pure-lockfile" if lock else "",
            why=(f"yarn {YARN_CLASSIC}, because of a lock file of version 1" if lock else f"yarn {YARN_CLASSIC}",),
        )
    version, why = _berry(lock, named)
    # The repository may pin its own yarn by yarnPath, which stays in charge; plug'n'play has no node_modules to mount.
    start = f"YARN_NODE_LINKER=node-modules YARN_ENABLE_SCRIPTS=0 {npx(node)} @yarnpkg/cli-dist@{version} install"
    return Installer(
        manager="yarn",
        version=version,
        command=f"{start} --immutable",
        loose=f"{start} --no-immutable",
        why=(f"yarn {version}, {why}",),
    )


def _berry(lock: Lock | None, named: str) -> tuple[str, str]:
    """Return the version of yarn 2 and later, and why; 2 is not among what the registry's package has."""
    major = version_tuple(named)[0]
    if major >= 3:
        return named, "as packageManager says"
    match = re.search(rb"^__metadata:\s+version: (\d+)", lock.content if lock else b"", re.MULTILINE)
    wrote = int(match[1]) if match else 0
    version = NEWEST_BERRY[4 if wrote >= 7 else 3]
    return version, f"which reads a lock file of version {wrote}" if wrote else "as no lock file says another"


def _bun(lock: Lock | None, named: str, node: tuple[int, int, int]) -> Installer:
    version = named or BUN
    start = f"{npx(node)} bun@{version} install --ignore-scripts"
    return Installer(
        manager="bun",
        version=version,
        command=f"{start} --frozen-lockfile" if lock else start,
        loose=start if lock else "",
        why=(f"bun {version}, because of {lock.path if lock else 'packageManager'}",),
    )


# Where a package lies in a registry, whatever stands before that: the scope and name, `-`, the archive.
_ELSEWHERE: Final = re.compile(
    rb"https?://(?!registry\.(?:yarnpkg\.com|npmjs\.org)/)[^\s\"'#]*?/(?:@[\w.-]+(?:/|%2[fF]))?[\w.-]+/-/[\w.@-]+\.tgz"
)
_SCOPED: Final = r"""s#https?://[^ \"]*/(@[^/ \"]+/[^/ \"]+/-/[^/ \"]+\.tgz)#$(npm config get registry)\1#;t"""
_PLAIN: Final = r"""s#https?://[^ \"]*/([^/ \"]+/-/[^/ \"]+\.tgz)#$(npm config get registry)\1#"""


def registry_elsewhere(lock: Lock) -> bool:
    """Whether a lock file says of packages that they lie in a registry other than the public one.

    A mirror that is gone, or one of a company: the same packages are in the registry that the user has.
    """
    return _ELSEWHERE.search(lock.content) is not None


def from_own_registry(command: str) -> str:
    """Return an install that takes packages from the user's registry whatever host the lock file names; or nothing.

    npm has a setting for that. Yarn 1 has none: it is given a lock file that names the user's registry, and the tree's
    own is put back. The others name no hosts.
    """
    if re.search(r"\bnpm(?:@\S+)? ci ", command) and "--replace-registry-host" not in command:
        return f"{command} --replace-registry-host=always"
    if re.search(r"\byarn@1\.", command) and ".kept" not in command:
        rewrite = f'sed -E -i -e "{_SCOPED}" -e "{_PLAIN}" yarn.lock'
        return f"cp yarn.lock yarn.lock.kept && {rewrite} && {command} && mv yarn.lock.kept yarn.lock"
    return ""


def dated(command: str, date: int) -> str:
    """Return a command with its date filled in (seconds, UTC)."""
    return command.replace(DATE, datetime.fromtimestamp(date, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))


def node_refusal(manifest: Manifest, node: tuple[int, int, int]) -> str | None:
    """Return why this node can't run the package (its ``engines`` begin above), or None."""
    wanted = manifest.engines.get("node", "")
    if wanted and lowest_version(wanted) > node:
        return f"{manifest.path} asks for node {wanted}, here is {'.'.join(map(str, node))}"
    return None
