"""Which package manager installs, in which version and by which command."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from execution.languages.javascript_installer import (
    Installer,
    choose_installer,
    choose_pnpm,
    dated,
    from_own_registry,
    manager_refusal,
    node_refusal,
    registry_elsewhere,
)
from execution.languages.javascript_manifest import Lock, Manifest, find_lock, read_manifest
from tests.support.memory_tree import MemoryTree

_NODE = (20, 20, 2)


def _chosen(files: dict[str, str], **fields: object) -> Installer | None:
    tree = MemoryTree({"package.json": json.dumps(fields), **files})
    manifest = read_manifest(tree, ".")
    assert isinstance(manifest, Manifest)
    named = manifest.package_manager.partition("@")[0]
    return choose_installer(manifest, find_lock(tree, ".", named), _NODE)


@pytest.mark.parametrize(
    ("named", "lock_format", "version"),
    [
        ("", "5.3", "7.33.7"),
        ("", "6.0", "8.15.9"),
        ("8.6.10", "6.0", "8.6.10"),
        ("8.1.0", "6.0", "8.15.9"),
        ("6.32.3", "5.3", "7.33.7"),
        ("7.9.0", "5.4", "7.33.7"),
        ("10.7.1", "9.0", "10.7.1"),
        ("11.2.0", "9.0", "10.34.9"),
        ("10.1.0", "6.0", "8.15.9"),
    ],
)
def test_pnpm_reads_the_lock_and_starts_on_this_node(named: str, lock_format: str, version: str) -> None:
    assert choose_pnpm(named, lock_format, _NODE)[0] == version


def test_an_old_pnpm_is_fine_on_an_old_node() -> None:
    assert choose_pnpm("7.9.0", "5.4", (16, 20, 0))[0] == "7.9.0"


def test_npm_installs_what_the_lock_says_and_nothing_else() -> None:
    chosen = _chosen({"package-lock.json": "{}"}, dependencies={"a": "1"})
    assert chosen is not None
    assert chosen.command.startswith("npm ci --ignore-scripts")


def test_without_a_lock_the_date_decides() -> None:
    chosen = _chosen({}, devDependencies={"a": "1"})
    assert chosen is not None
    assert dated(chosen.command, 1_600_000_000).endswith("--before=2020-09-13T12:26:40Z")
    assert "--before" not in chosen.loose


def test_nothing_to_install() -> None:
    assert _chosen({}, scripts={"test": "node --test"}) is None


def test_pnpm_is_told_to_stay_the_version_that_was_asked_for() -> None:
    chosen = _chosen(
        {"pnpm-lock.yaml": "lockfileVersion: '9.0'\n"}, packageManager="pnpm@11.0.0", dependencies={"a": "1"}
    )
    assert chosen is not None
    assert chosen.version == "10.34.9"
    assert "--config.manage-package-manager-versions=false" in chosen.command


def test_a_hash_after_the_version_is_no_part_of_it() -> None:
    lock = {"pnpm-lock.yaml": "lockfileVersion: '6.0'\n"}
    chosen = _chosen(lock, packageManager="pnpm@8.10.2+sha256.abc", dependencies={"a": "1"})
    assert chosen is not None
    assert chosen.version == "8.10.2"


def test_yarn_classic_and_berry_are_told_apart_by_the_lock() -> None:
    classic = _chosen({"yarn.lock": "# yarn lockfile v1\n"}, dependencies={"a": "1"})
    berry = _chosen({"yarn.lock": "__metadata:\n  version: 8\n"}, packageManager="yarn@4.1.0", dependencies={"a": "1"})
    assert classic is not None
    assert berry is not None
    assert (classic.version, berry.version) == ("1.22.22", "4.1.0")
    assert "YARN_NODE_LINKER=node-modules" in berry.command


@pytest.mark.parametrize(
    ("wanted", "refused"), [(">=22", True), (">=18", False), ("^12 || ^14", False), ("<18", False)]
)
def test_a_node_that_is_too_old_is_refused_and_one_that_is_newer_is_not(wanted: str, refused: bool) -> None:
    manifest = read_manifest(MemoryTree({"package.json": json.dumps({"engines": {"node": wanted}})}), ".")
    assert manifest is not None
    assert (node_refusal(manifest, _NODE) is not None) is refused


def test_an_old_node_s_npx_asks_nothing_and_its_npm_knows_less() -> None:
    old = (14, 21, 3)
    manifest = read_manifest(MemoryTree({"package.json": json.dumps({"dependencies": {"a": "1"}})}), ".")
    assert manifest is not None
    third = MemoryTree({"package-lock.json": '{"lockfileVersion": 3}'})
    first = MemoryTree({"package-lock.json": '{"lockfileVersion": 1}'})
    commands = [choose_installer(manifest, find_lock(tree, ".", "npm"), old) for tree in (third, first)]
    assert [chosen.command.split(" ci ")[0] for chosen in commands if chosen] == ["npx npm@8.19.4", "npm"]
    yarn = choose_installer(manifest, find_lock(MemoryTree({"yarn.lock": "# yarn lockfile v1\n"}), ".", "yarn"), old)
    assert yarn is not None
    assert yarn.command.startswith("npx yarn@1.22.22 ")


@pytest.mark.parametrize(
    ("wrote", "named", "version"),
    [(4, "", "3.8.7"), (6, "", "3.8.7"), (8, "", "4.18.1"), (8, "yarn@4.1.0", "4.1.0"), (4, "yarn@2.4.1", "3.8.7")],
)
def test_berry_reads_the_lock_as_it_was_written(wrote: int, named: str, version: str) -> None:
    fields = {"packageManager": named} if named else {}
    chosen = _chosen({"yarn.lock": f"__metadata:\n  version: {wrote}\n"}, dependencies={"a": "1"}, **fields)
    assert chosen is not None
    assert (chosen.version, chosen.package) == (version, f"@yarnpkg/cli-dist@{version}")


def test_settings_of_pnpm_10_are_not_left_to_pnpm_9() -> None:
    assert choose_pnpm("", "9.0", _NODE, settings_in_workspace=True)[0] == "10.34.9"
    assert choose_pnpm("", "9.0", _NODE)[0] == "9.15.9"


def test_a_package_manager_that_does_not_start_on_a_node_is_refused() -> None:
    chosen = _chosen({"pnpm-lock.yaml": "lockfileVersion: '9.0'\n"}, dependencies={"a": "1"})
    assert chosen is not None
    assert "starts on node 18.12.0 and later" in (manager_refusal(chosen, (16, 20, 2)) or "")
    assert manager_refusal(chosen, _NODE) is None


_LOCK = """# yarn lockfile v1
a@1:
  resolved "https://mirror.invalid/a/-/a-1.0.0.tgz#0a"
"@b/c@1":
  resolved "https://company.invalid/api/npm/all/@b/c/-/c-1.0.0.tgz#0b"
d@1:
  resolved "https://registry.yarnpkg.com/d/-/d-1.0.0.tgz#0c"
"""


def test_a_mirror_in_a_lock_file_gives_way_to_the_user_s_registry(tmp_path: Path) -> None:
    assert registry_elsewhere(Lock(path="yarn.lock", manager="yarn", content=_LOCK.encode()))
    assert not registry_elsewhere(Lock(path="yarn.lock", manager="yarn", content=_LOCK.encode().split(b"\n", 5)[5]))
    (tmp_path / "yarn.lock").write_text(_LOCK)
    # An npm that knows nothing but its registry, and a yarn that shows the lock file that it was given.
    (tmp_path / "npm").write_text("#!/bin/sh\necho https://own.invalid/\n")
    (tmp_path / "npx").write_text("#!/bin/sh\ncat yarn.lock\n")
    for name in ("npm", "npx"):
        (tmp_path / name).chmod(0o755)
    command = from_own_registry("npx --yes yarn@1.22.22 install")
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=env, check=True, capture_output=True, text=True)
    assert [line.split('"')[1] for line in done.stdout.splitlines() if "resolved" in line] == [
        "https://own.invalid/a/-/a-1.0.0.tgz#0a",
        "https://own.invalid/@b/c/-/c-1.0.0.tgz#0b",
        "https://own.invalid/d/-/d-1.0.0.tgz#0c",
    ]
    assert (tmp_path / "yarn.lock").read_text() == _LOCK
    assert from_own_registry(command) == ""


def test_npm_is_told_to_take_its_own_registry() -> None:
    assert from_own_registry("npm ci --no-audit") == "npm ci --no-audit --replace-registry-host=always"
    assert from_own_registry("npx --yes pnpm@9.0.0 install") == ""


def test_a_pnpm_workspace_without_a_lock_is_pnpm_s() -> None:
    manifest = read_manifest(MemoryTree({"package.json": "{}"}), ".")
    assert manifest is not None
    chosen = choose_installer(manifest, None, _NODE, pnpm_workspace="packages:\n  - a\noverrides:\n  x: 1\n")
    assert chosen is not None
    assert chosen.command == "npx --yes pnpm@10.34.9 install --no-frozen-lockfile --ignore-scripts" + _STAY
    assert chosen.rebuild == "npx --yes pnpm@10.34.9 rebuild -r"
    assert choose_installer(manifest, None, _NODE) is None


_STAY = " --config.manage-package-manager-versions=false --config.package-manager-strict=false"
