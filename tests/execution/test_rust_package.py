"""Which target cargo compiles a test file into, and which packages lie together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.languages.rust_package import (
    find_target,
    module_path,
    needs_registry,
    packages_around,
    workspace_root,
)
from tests.support.memory_tree import MemoryTree

_BOX = '[package]\nname = "box"\nedition = "2021"\n'


def _tree(**more: str) -> MemoryTree:
    files = {
        "Cargo.toml": _BOX,
        "src/lib.rs": "mod codec;\n#[cfg(test)]\nmod tests;\n",
        "src/main.rs": "mod shell;\n",
        "src/bin/tool/main.rs": "mod tests;\n",
        "tests/api.rs": "mod common;\nmod cases;\n",
        "tests/common/mod.rs": "pub fn help() {}\n",
        "tests/cases/mod.rs": "#[test]\nfn a() {}\n",
        "tests/all/main.rs": "mod text;\n",
        "crates/inner/Cargo.toml": '[package]\nname = "inner"\n[[test]]\nname = "own"\npath = "checks/own.rs"\n',
        "crates/inner/checks/own.rs": "",
        "crates/inner/tests/unlisted.rs": "",
    }
    return MemoryTree(files | {path.replace("__", "/"): text for path, text in more.items()})


@pytest.mark.parametrize(
    ("path", "arguments", "module"),
    [
        ("tests/api.rs", ("--test", "api"), ""),
        ("tests/all/main.rs", ("--test", "all"), ""),
        ("tests/all/text.rs", ("--test", "all"), "text"),
        ("tests/cases/mod.rs", ("--test", "api"), "cases"),
        ("src/tests.rs", ("--lib",), "tests"),
        ("src/codec/tests.rs", ("--lib",), "codec::tests"),
        ("src/codec/tests/mod.rs", ("--lib",), "codec::tests"),
        ("src/codec/tests/deep.rs", ("--lib",), "codec::tests::deep"),
        ("src/shell/tests.rs", ("--bin", "box"), "shell::tests"),
        ("src/bin/tool/tests.rs", ("--bin", "tool"), "tests"),
        ("crates/inner/checks/own.rs", ("--test", "own"), ""),
    ],
)
def test_the_target_of_a_file(path: str, arguments: tuple[str, ...], module: str) -> None:
    target = find_target(path, _tree())
    assert target is not None
    assert (target.arguments, target.module) == (arguments, module)
    inner = path.startswith("crates/inner/")
    assert target.manifest == ("crates/inner/Cargo.toml" if inner else "Cargo.toml")


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("tests/all/unknown.rs", id="a module that its program does not declare"),
        pytest.param("tests/ui/fail.rs", id="a folder without a main"),
        pytest.param("src/other/tests.rs", id="a module that no root declares"),
        pytest.param("benches/speed_test.rs", id="a benchmark"),
        pytest.param("tests/common/mod.rs", id="help that tests share"),
        pytest.param("src/codec/mod.rs", id="a source with tests in it"),
        pytest.param("src/main.rs", id="a program"),
        pytest.param("crates/inner/tests/unlisted.rs", id="not listed, in the edition that lists"),
    ],
)
def test_what_cargo_does_not_run(path: str) -> None:
    assert find_target(path, _tree()) is None


def test_a_file_outside_of_any_package_has_no_target() -> None:
    assert find_target("tests/api.rs", MemoryTree({"tests/api.rs": "", "Cargo.toml": "[workspace]\n"})) is None


def test_a_manifest_that_is_no_toml_is_none() -> None:
    assert find_target("tests/api.rs", MemoryTree({"tests/api.rs": "", "Cargo.toml": "<<<<"})) is None


def test_features_that_a_target_or_its_file_asks_for() -> None:
    manifest = _BOX + '[[test]]\nname = "api"\nrequired-features = ["std"]\n'
    tree = MemoryTree({"Cargo.toml": manifest, "tests/api.rs": '#![cfg(feature = "serde")]\n'})
    target = find_target("tests/api.rs", tree)
    assert target is not None
    assert target.features == ("std", "serde")


def test_a_target_without_the_harness() -> None:
    manifest = _BOX + '[[test]]\nname = "api"\nharness = false\n'
    target = find_target("tests/api.rs", MemoryTree({"Cargo.toml": manifest, "tests/api.rs": ""}))
    assert target is not None
    assert not target.harness


def test_modules_go_by_folders() -> None:
    assert module_path("src/lib.rs", "src/lib.rs") == ""
    assert module_path("tests/api.rs", "src/lib.rs") is None


def test_cargo_runs_where_the_workspace_is() -> None:
    tree = MemoryTree(
        {
            "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\nexclude = ["crates/fuzz"]\n',
            "crates/a/Cargo.toml": '[package]\nname = "a"\n[dependencies]\nc = { path = "../../c" }\n',
            "crates/b/Cargo.toml": '[package]\nname = "b"\n[dev-dependencies]\nrand = "0.8"\n',
            "crates/fuzz/Cargo.toml": '[package]\nname = "fuzz"\n',
            "c/Cargo.toml": '[package]\nname = "c"\n',
            "d/Cargo.toml": '[package]\nname = "d"\n',
        }
    )
    assert workspace_root("crates/a/Cargo.toml", tree) == "."
    assert workspace_root("crates/fuzz/Cargo.toml", tree) == "crates/fuzz"
    around = packages_around(".", ("crates/a/Cargo.toml",), tree)
    assert around == ("Cargo.toml", "c/Cargo.toml", "crates/a/Cargo.toml", "crates/b/Cargo.toml")
    assert needs_registry(around, tree)
    assert not needs_registry(("crates/a/Cargo.toml", "c/Cargo.toml"), tree)


@pytest.mark.parametrize(
    "manifest",
    [
        '[target."cfg(unix)".dependencies]\nlibc = "0.2"\n',
        '[dependencies]\nserde = { version = "1", optional = true }\n',
        '[workspace.dependencies]\nserde = "1"\n',
        '[build-dependencies]\ncc = { git = "https://example.org/cc" }\n',
    ],
)
def test_every_sort_of_dependency_needs_a_registry(manifest: str) -> None:
    assert needs_registry(("Cargo.toml",), MemoryTree({"Cargo.toml": manifest}))


def test_a_dependency_of_the_workspace_is_what_the_workspace_says() -> None:
    tree = MemoryTree({"Cargo.toml": "[dependencies]\ninner.workspace = true\n"})
    assert not needs_registry(("Cargo.toml",), tree)


_KEYS = (
    "package",
    "lib",
    "test",
    "bin",
    "workspace",
    "dependencies",
    "target",
    "patch",
    "features",
    "dev-dependencies",
)
_VALUES = ("1", '"src/lib.rs"', "[]", "{}", '["a"]', "[{}]", "{ path = 3 }", "{ members = 1, exclude = [2] }", "false")


@given(st.dictionaries(st.sampled_from(_KEYS), st.sampled_from(_VALUES)))
def test_a_manifest_of_any_make_is_read(rows: dict[str, str]) -> None:
    text = "".join(f"{key} = {value}\n" for key, value in rows.items())
    tree = MemoryTree({"Cargo.toml": text, "tests/a.rs": "", "src/lib.rs": "mod tests;", "src/tests.rs": ""})
    for path in ("tests/a.rs", "src/tests.rs"):
        target = find_target(path, tree)
        assert target is None or target.manifest == "Cargo.toml"
    assert workspace_root("Cargo.toml", tree) == "."
    assert packages_around(".", ("Cargo.toml",), tree) == ("Cargo.toml",)
    assert needs_registry(("Cargo.toml",), tree) in {True, False}


@given(st.binary(max_size=80))
def test_bytes_that_are_no_manifest_are_survived(data: bytes) -> None:
    find_target("tests/a.rs", MemoryTree({"Cargo.toml": data.decode("latin-1"), "tests/a.rs": ""}))
