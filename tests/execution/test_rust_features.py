"""With which features a test file is run."""

from __future__ import annotations

import pytest

from execution.languages.rust_features import feature_arguments
from execution.languages.rust_package import find_target
from tests.support.memory_tree import MemoryTree

_PACKAGE = '[package]\nname = "box"\nedition = "2021"\n[features]\nfast = []\nsmall = []\n'
_SPEAKS = '#[test]\nfn a() {}\n\n#[cfg(feature = "fast")]\n#[test]\nfn b() {}\n'


def _arguments(*, ci: str = "", test: str = _SPEAKS, manifest: str = _PACKAGE) -> tuple[str, ...]:
    tree = MemoryTree({"Cargo.toml": manifest, "tests/a.rs": test, ".github/workflows/ci.yml": ci})
    target = find_target("tests/a.rs", tree)
    assert target is not None
    return feature_arguments("tests/a.rs", target, tree)


@pytest.mark.parametrize(
    ("ci", "arguments"),
    [
        ("", ()),
        ("run: cargo test\n", ()),
        ("run: cargo test --all-features\n", ("--all-features",)),
        ("run: cargo build --all-features\n", ()),
        ("run: cargo +nightly test --all-features\n", ()),
        ("run: cargo test --features fast\n", ("--features", "fast")),
        ("run: cargo test --no-default-features --features='small,fast' && true\n", ("--features", "fast")),
        ("run: cargo test --features small\n", ()),
        ("run: cargo test; cargo build --features fast\n", ()),
    ],
)
def test_what_ci_asks_for_counts_where_the_file_speaks_of_it(ci: str, arguments: tuple[str, ...]) -> None:
    assert _arguments(ci=ci) == arguments


def test_a_file_that_speaks_of_no_feature_gets_the_default_ones() -> None:
    assert _arguments(ci="cargo test --all-features\n", test="#[test]\nfn a() {}\n") == ()


def test_what_only_a_nightly_compiler_takes_is_left_alone() -> None:
    assert _arguments(ci="cargo test --all-features\n", manifest=_PACKAGE + "nightly = []\n") == ()


def test_what_the_target_asks_for_is_always_given() -> None:
    required = _PACKAGE + '[[test]]\nname = "a"\nrequired-features = ["small"]\n'
    assert _arguments(ci="cargo test --features fast\n", manifest=required) == ("--features", "small,fast")
