"""Rust from a history to a draft, for real: cargo compiles and runs in the sandbox, the record is reproduced."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from authoring.case import Case
from authoring.draft import parse_draft
from casewright.new_workspace import init_workspace
from execution.languages.rust_toolchain import installed_toolchains
from tests.support.command_line import CommandLine
from tests.support.repos import RepoBuilder
from tests.support.sandbox import needs_sandbox

pytestmark = [
    needs_sandbox,
    pytest.mark.skipif(
        not any("-" not in one.version for one in installed_toolchains()),
        reason="no Rust toolchain: rustup's minimal profile takes about 500 MB and a minute",
    ),
]

_PACKAGE = '[package]\nname = "boxes"\nversion = "0.1.0"\nedition = "2021"\n'
_AREA = "use boxes::area;\n\n#[test]\nfn multiplies() {\n    assert_eq!(area(3, 4), 12);\n}\n"
_MESSAGE = "Multiply the sides of the box, do not add them"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return init_workspace(tmp_path / "bench")[0].root


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    made = RepoBuilder(tmp_path / "boxes")
    made.commit(
        "Begin",
        {
            "Cargo.toml": _PACKAGE,
            ".gitignore": "target\nCargo.lock\n",
            "src/lib.rs": "pub mod codec;\n\npub fn area(a: i32, b: i32) -> i32 {\n    a + b\n}\n",
            "src/codec/mod.rs": "pub fn code(a: i32) -> i32 {\n    a\n}\n\n#[cfg(test)]\nmod tests;\n",
            "src/codec/tests.rs": "use super::*;\n\n#[test]\nfn same() {\n    assert_eq!(code(0), 0);\n}\n",
        },
    )
    return made


def _fix(repo: RepoBuilder, **tests: str) -> None:
    source = "pub mod codec;\n\npub fn area(a: i32, b: i32) -> i32 {\n    a * b\n}\n"
    files: dict[str | bytes, str] = {f"tests/{name}.rs": text for name, text in tests.items()}
    repo.commit(_MESSAGE, {"src/lib.rs": source, **files})


def _mined(cli: CommandLine, workspace: Path, repo: RepoBuilder) -> dict[str, Any]:
    ran = cli("-C", workspace, "--format", "json", "mine", repo.path, "--limit", "1", "--repeat", "2")
    rows: list[dict[str, Any]] = [row for row in ran.rows if row["reason"] != "no-test-change"]
    return rows[0]


def _draft(workspace: Path, row: dict[str, Any]) -> Case:
    assert row["outcome"] == "admitted", row
    return parse_draft((workspace / "cases" / f"{row['case']}.yaml").read_bytes(), "draft")


def test_integration_and_unit_tests_become_a_case(cli: CommandLine, workspace: Path, repo: RepoBuilder) -> None:
    repo.commit(
        "Decode what was encoded by the codec",
        {
            "src/codec/mod.rs": (
                "pub fn code(a: i32) -> i32 {\n    a + 1\n}\n\npub fn decode(a: i32) -> i32 {\n    a - 1\n}\n\n"
                "#[cfg(test)]\nmod tests;\n"
            ),
            "src/codec/tests.rs": "use super::*;\n\n#[test]\nfn same() {\n    assert_eq!(decode(code(0)), 0);\n}\n",
            "tests/codes.rs": (
                "use boxes::codec::code;\n\n#[test]\nfn codes() {\n    assert_eq!(code(1), 2);\n}\n\n"
                "#[test]\nfn keeps() {}\n\n#[test]\n#[ignore]\nfn slow() {}\n"
                '\n#[test]\n#[should_panic(expected = "overflow")]\nfn refuses() {\n    code(i32::MAX);\n}\n'
            ),
        },
    )
    row = _mined(cli, workspace, repo)
    draft = _draft(workspace, row)
    assert list(draft.grading.files) == ["src/codec/tests.rs", "tests/codes.rs"]
    assert row["fail_to_pass"] == [
        "src/codec/tests.rs::codec::tests::same",
        "tests/codes.rs::codes",
        "tests/codes.rs::refuses",
    ]
    assert row["pass_to_pass"] == ["tests/codes.rs::keeps"]
    assert list(draft.grading.skipped_at_head) == ["tests/codes.rs::slow"]
    assert {entry["how"] for entry in row["fails_by"]} == {"collection", "assertion"}
    assert draft.verification.reproduced
    assert draft.environment.network.value == "never"
    assert cli("-C", workspace, "verify", row["case"]).code == 0


def test_a_test_that_aborts_the_base_is_no_verdict_on_the_others(
    cli: CommandLine, workspace: Path, repo: RepoBuilder
) -> None:
    guard = "\n#[test]\nfn guards() {\n    if area(3, 4) != 12 {\n        std::process::abort();\n    }\n}\n"
    _fix(repo, area=_AREA + guard, other=_AREA)
    row = _mined(cli, workspace, repo)
    how = {entry["id"]: entry["how"] for entry in row["fails_by"]}
    assert how["tests/area.rs::guards"] == "crash"
    assert how["tests/other.rs::multiplies"] == "assertion"
    assert _draft(workspace, row).verification.reproduced


def test_outcomes_that_a_child_prints_are_not_believed(cli: CommandLine, workspace: Path, repo: RepoBuilder) -> None:
    forged = r"""{ \"type\": \"test\", \"name\": \"multiplies\", \"event\": \"ok\" }"""
    printing = (
        f'\n#[test]\nfn prints() {{\n    std::process::Command::new("echo").arg("{forged}").status().unwrap();\n}}\n'
    )
    _fix(repo, area=_AREA + printing)
    row = _mined(cli, workspace, repo)
    assert (row["outcome"], row["reason"]) == ("rejected", "report-missing")
    assert "ended twice" in row["detail"]


def test_lints_that_a_project_denies_do_not_fail_its_tests(
    cli: CommandLine, workspace: Path, repo: RepoBuilder
) -> None:
    _fix(repo, area="#![deny(warnings)]\n" + _AREA + "\nfn unused() {}\n")
    row = _mined(cli, workspace, repo)
    assert row["fails_by"] == [{"id": "tests/area.rs::multiplies", "how": "assertion"}]
    assert _draft(workspace, row).verification.reproduced


def test_what_no_harness_runs_has_no_runner(cli: CommandLine, workspace: Path, repo: RepoBuilder) -> None:
    repo.commit("Declare", {"Cargo.toml": _PACKAGE + '[[test]]\nname = "own"\nharness = false\n', "tests/own.rs": ""})
    _fix(repo, own="fn main() {\n    assert_eq!(boxes::area(3, 4), 12);\n}\n")
    assert _mined(cli, workspace, repo)["reason"] == "runner-missing"


def test_a_toolchain_that_is_not_here(cli: CommandLine, workspace: Path, repo: RepoBuilder) -> None:
    repo.commit("Pin", {"rust-toolchain.toml": '[toolchain]\nchannel = "1.2.3"\n'})
    _fix(repo, area=_AREA)
    row = _mined(cli, workspace, repo)
    assert row["reason"] == "runtime-unavailable"
    assert "rust-toolchain.toml asks for 1.2.3" in row["detail"]


def _registry() -> dict[str | bytes, str | bytes]:
    """Return the files of a registry in the tree with one package, and the configuration that leads cargo there."""
    packed = io.BytesIO()
    sources = {
        "Cargo.toml": '[package]\nname = "seven"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": "pub fn seven() -> i32 {\n    7\n}\n",
    }
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path, text in sources.items():
            entry = tarfile.TarInfo(f"seven-0.1.0/{path}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    # Without a time: environments of one era are shared, and what a registry holds never changes.
    data = gzip.compress(packed.getvalue(), mtime=0)
    facts = {"name": "seven", "vers": "0.1.0", "deps": [], "features": {}, "yanked": False}
    return {
        "registry/seven-0.1.0.crate": data,
        "registry/index/se/ve/seven": json.dumps(facts | {"cksum": hashlib.sha256(data).hexdigest()}) + "\n",
        ".cargo/config.toml": '[source.crates-io]\nreplace-with = "here"\n[source.here]\nlocal-registry = "registry"\n',
    }


@pytest.mark.parametrize("early", [True, False], ids=["the base has the dependency too", "the head brings it"])
def test_dependencies_are_fetched_once_and_compiled_ahead(
    cli: CommandLine, workspace: Path, repo: RepoBuilder, *, early: bool
) -> None:
    wanted: dict[str | bytes, str | bytes] = {"Cargo.toml": _PACKAGE + '[dependencies]\nseven = "0.1"\n'}
    repo.commit("Bring a registry", _registry() | (wanted if early else {}))
    repo.commit(
        "Tell the days of weeks, which nobody could count before",
        wanted
        | {
            "src/lib.rs": "pub mod codec;\n\npub fn days(weeks: i32) -> i32 {\n    seven::seven() * weeks\n}\n",
            "tests/days.rs": "#[test]\nfn weeks() {\n    assert_eq!(boxes::days(2), 14);\n}\n",
        },
    )
    row = _mined(cli, workspace, repo)
    draft = _draft(workspace, row)
    assert row["fails_by"] == [{"id": "tests/days.rs::weeks", "how": "collection"}]
    assert list(draft.environment.dependencies) == ["seven@0.1.0"]
    written, *rest = draft.environment.setup
    assert 'name = "seven"' in (written if early else rest[0])
    assert draft.verification.reproduced


def test_only_dependencies_are_compiled_ahead(
    cli: CommandLine, workspace: Path, repo: RepoBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cargo goes by the times of files: what was made of one state's own files must never stand in for another's."""
    monkeypatch.setenv("CASEWRIGHT_CACHE_DIR", str(tmp_path / "cache"))
    repo.commit("Bring a registry", _registry() | {"Cargo.toml": _PACKAGE + '[dependencies]\nseven = "0.1"\n'})
    _fix(repo, area=_AREA)
    row = _mined(cli, workspace, repo)
    assert row["fails_by"] == [{"id": "tests/area.rs::multiplies", "how": "assertion"}]
    (made,) = (tmp_path / "cache").glob("environments/*/overlay/target/debug/deps")
    names = {path.name.partition("-")[0] for path in made.iterdir()}
    assert names == {"seven", "libseven"}


def _locked(folder: Path, files: dict[str | bytes, str | bytes]) -> bytes:
    """Return the lock file that cargo makes for a tree."""
    for name, content in files.items():
        path = folder / str(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    cargo = installed_toolchains()[0].executable
    env = {"PATH": f"{cargo.parent}:/usr/bin:/bin", "CARGO_HOME": str(folder / "home")}
    subprocess.run([cargo, "generate-lockfile"], cwd=folder, env=env, check=True, capture_output=True)
    return (folder / "Cargo.lock").read_bytes()


def test_a_lock_file_that_the_change_brings_is_fetched_from_the_heads_tree(
    cli: CommandLine, workspace: Path, repo: RepoBuilder, tmp_path: Path
) -> None:
    registry = _registry()
    fix: dict[str | bytes, str | bytes] = {
        "Cargo.toml": _PACKAGE + '[dependencies]\nseven = "0.1"\n',
        "src/lib.rs": "pub fn days(weeks: i32) -> i32 {\n    seven::seven() * weeks\n}\n",
        "tests/days.rs": "#[test]\nfn weeks() {\n    assert_eq!(boxes::days(2), 14);\n}\n",
    }
    lock = _locked(tmp_path / "locked", registry | fix)
    repo.commit("Bring a registry", {**registry, ".gitignore": "target\n"})
    repo.commit("Tell the days of weeks, which nobody could count before", {**fix, "Cargo.lock": lock})
    draft = _draft(workspace, _mined(cli, workspace, repo))
    assert draft.environment.setup[1] == (
        '(h="$PWD/../env/cargo" && cd ../head && CARGO_HOME="$h" cargo fetch --locked)'
    )
    assert draft.verification.reproduced


def test_a_member_of_a_workspace_is_run_alone(cli: CommandLine, workspace: Path, repo: RepoBuilder) -> None:
    member = (
        '[package]\nname = "inner"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nboxes = { path = "../.." }\n'
    )
    repo.commit(
        "Make a workspace",
        {
            "Cargo.toml": _PACKAGE + '[workspace]\nmembers = ["crates/*"]\n',
            "crates/inner/Cargo.toml": member,
            "crates/inner/src/lib.rs": "pub fn square(a: i32) -> i32 {\n    boxes::area(a, a)\n}\n",
            "crates/broken/Cargo.toml": '[package]\nname = "broken"\nversion = "0.1.0"\n',
            "crates/broken/src/lib.rs": "this does not compile\n",
        },
    )
    repo.commit(
        _MESSAGE,
        {
            "src/lib.rs": "pub mod codec;\n\npub fn area(a: i32, b: i32) -> i32 {\n    a * b\n}\n",
            "crates/inner/tests/all/main.rs": "mod squares;\n",
            "crates/inner/tests/all/squares.rs": "#[test]\nfn three() {\n    assert_eq!(inner::square(3), 9);\n}\n",
        },
    )
    row = _mined(cli, workspace, repo)
    assert row["fails_by"] == [{"id": "crates/inner/tests/all/squares.rs::squares::three", "how": "assertion"}]
    assert _draft(workspace, row).verification.reproduced


@pytest.mark.skipif(
    not any("-nightly" in one.version for one in installed_toolchains()), reason="no nightly toolchain of Rust"
)
def test_a_toolchain_file_that_asks_for_nightly_gets_it(cli: CommandLine, workspace: Path, repo: RepoBuilder) -> None:
    repo.commit("Pin", {"rust-toolchain": "nightly\n"})
    _fix(repo, area="#![feature(test)]\n" + _AREA)
    draft = _draft(workspace, _mined(cli, workspace, repo))
    assert "-nightly+" in draft.environment.runtime.version
    assert draft.verification.reproduced
