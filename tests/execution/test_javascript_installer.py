"""Which package manager installs, in which version and by which command."""

from __future__ import annotations

import json

import pytest

from execution.languages.javascript_installer import Installer, choose_installer, choose_pnpm, dated, node_refusal
from execution.languages.javascript_manifest import Manifest, find_lock, read_manifest
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
