"""Which toolchain a tree gets; the compilers here are scripts that tell a version."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from casewright.errors import InfrastructureError
from execution.languages import rust_toolchain
from execution.languages.base import Refusal
from execution.languages.rust_toolchain import choose_toolchain, find_toolchain, installed_toolchains
from execution.sandbox import RUNTIME_DIR
from tests.support.memory_tree import MemoryTree

_PACKAGE = '[package]\nname = "box"\n'


def _install(home: Path, name: str, release: str, day: str = "2024-01-04") -> None:
    folder = home / "toolchains" / name / "bin"
    folder.mkdir(parents=True)
    for program, text in (("rustc", f"rustc {release}\nrelease: {release}\ncommit-date: {day}\n"), ("cargo", "")):
        path = folder / program
        path.write_text(f"#!/bin/sh\ncat <<'E'\n{text}E\n", encoding="utf-8")
        path.chmod(0o755)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("RUSTUP_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/nowhere")
    installed_toolchains.cache_clear()
    yield tmp_path
    installed_toolchains.cache_clear()


@pytest.fixture
def several(home: Path) -> Path:
    _install(home, "1.70.0", "1.70.0")
    _install(home, "nightly-2024-01-05", "1.77.0-nightly")
    _install(home, "stable", "1.75.0")
    return home


def _chosen(tree: dict[str, str], *folders: str) -> str:
    found = choose_toolchain(MemoryTree(tree), folders or (".",))
    assert not isinstance(found, Refusal), found
    return found[0].version


def _refused(tree: dict[str, str]) -> str:
    refusal = choose_toolchain(MemoryTree(tree), (".",))
    assert isinstance(refusal, Refusal)
    assert refusal.code == "runtime-unavailable"
    return refusal.detail


@pytest.mark.usefixtures("several")
def test_releases_come_first_the_newest_of_them_at_the_front() -> None:
    assert [one.version for one in installed_toolchains()] == ["1.75.0", "1.70.0", "1.77.0-nightly+2024-01-04"]
    assert _chosen({"Cargo.toml": _PACKAGE}) == "1.75.0"


@pytest.mark.usefixtures("several")
@pytest.mark.parametrize(
    ("name", "text", "version"),
    [
        ("rust-toolchain", "1.70\n", "1.70.0"),
        ("rust-toolchain", "stable", "1.75.0"),
        ("rust-toolchain", "nightly-2024-01-05", "1.77.0-nightly+2024-01-04"),
        ("rust-toolchain.toml", '[toolchain]\nchannel = "nightly"\n', "1.77.0-nightly+2024-01-04"),
        ("rust-toolchain.toml", '[toolchain]\ncomponents = ["clippy"]\n', "1.75.0"),
    ],
)
def test_a_toolchain_file_decides(name: str, text: str, version: str) -> None:
    assert _chosen({name: text}) == version


@pytest.mark.usefixtures("several")
def test_the_nearest_toolchain_file_counts() -> None:
    assert _chosen({"crates/a/rust-toolchain": "1.70", "rust-toolchain": "1.75"}, "crates/a", ".") == "1.70.0"


@pytest.mark.usefixtures("several")
@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ({"rust-toolchain": "1.56.1"}, "rust-toolchain asks for 1.56.1"),
        ({"rust-toolchain": "nightly-2020-02-02"}, "asks for nightly-2020-02-02"),
        ({"Cargo.toml": _PACKAGE + 'rust-version = "1.80"\n'}, "it takes rust-version 1.80"),
        ({"Cargo.toml": _PACKAGE + 'edition = "2024"\n'}, "it takes edition 2024"),
        ({"Cargo.toml": '[workspace.package]\nrust-version = "1.80"\n'}, "it takes rust-version 1.80"),
    ],
)
def test_what_is_not_here_is_told(tree: dict[str, str], words: str) -> None:
    detail = _refused(tree)
    assert words in detail
    assert "1.75.0" in detail


@pytest.mark.usefixtures("several")
def test_the_users_own_wish_goes_before_a_toolchain_file() -> None:
    tree = MemoryTree({"rust-toolchain": "1.70"})
    for wish, version in (("1.75", "1.75.0"), ("nightly", "1.77.0-nightly+2024-01-04"), ("", "1.70.0")):
        found = choose_toolchain(tree, (".",), wish)
        assert not isinstance(found, Refusal)
        assert found[0].version == version
    refusal = choose_toolchain(tree, (".",), "1.56")
    assert isinstance(refusal, Refusal)
    assert "casewright.yaml asks for 1.56" in refusal.detail
    assert refusal.settings == ()


@pytest.mark.usefixtures("several")
def test_a_choice_names_what_was_passed_over_and_a_refusal_what_may_be_tried() -> None:
    found = choose_toolchain(MemoryTree({"rust-toolchain": "1.70"}), (".",))
    assert not isinstance(found, Refusal)
    assert found[1].sentence == "rust 1.70.0, which rust-toolchain asks for (1.70)"
    assert found[1].passed_over == ("1.75.0: rust-toolchain asks for 1.70",)
    refusal = choose_toolchain(MemoryTree({"rust-toolchain": "1.56.1"}), (".",))
    assert isinstance(refusal, Refusal)
    assert (refusal.package, refusal.settings) == ("rust 1.56.1", (("rust", "1.75.0"),))
    assert "rustup toolchain install 1.56.1" in refusal.remedy


@pytest.mark.usefixtures("home")
def test_no_toolchain_at_all() -> None:
    assert _refused({}) == "there is no Rust toolchain on this machine"


def test_a_toolchain_is_found_by_its_version_and_shown_alone(several: Path) -> None:
    found = find_toolchain("1.70.0")
    assert found is not None
    assert find_toolchain("1.70") is None
    (mount,) = rust_toolchain.runtime_mounts(found)
    assert (mount.source, mount.target, mount.writable) == (several / "toolchains" / "1.70.0", RUNTIME_DIR, False)
    assert rust_toolchain.runtime_env(found)["PATH"].startswith(f"{RUNTIME_DIR}/bin:")


def test_a_compiler_that_tells_nothing_is_the_machines_fault(home: Path) -> None:
    _install(home, "stable", "none")
    with pytest.raises(InfrastructureError, match="does not tell its version"):
        installed_toolchains()
