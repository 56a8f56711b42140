"""Rust as a whole: its plan, its era, its commands, what a failed set-up means."""

from __future__ import annotations

from pathlib import Path

import pytest

from casewright.errors import InfrastructureError
from execution.languages import rust, rust_toolchain
from execution.languages.base import Language, PlanRequest, Refusal
from execution.languages.rust_build import failure, setup_commands
from execution.languages.rust_lock import only_in_base, read_lock
from execution.recipe import Recipe, Runtime
from execution.sandbox import Ended, SandboxOutcome
from tests.support.memory_tree import MemoryTree

_PACKAGE = '[package]\nname = "box"\nedition = "2021"\n'
_TESTS = {"tests/a.rs": "", "tests/b.rs": "", "src/lib.rs": "#[cfg(test)]\nmod tests;\n", "src/tests.rs": ""}


def _lock(*packages: tuple[str, str]) -> str:
    source = 'source = "registry+https://example.org/index"\n'
    rows = [f'[[package]]\nname = "{name}"\nversion = "{version}"\n{source}' for name, version in packages]
    return "version = 3\n" + '[[package]]\nname = "box"\nversion = "0.1.0"\n' + "".join(rows)


@pytest.fixture(autouse=True)
def one_toolchain(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = Runtime(name="rust", version="1.95.0", executable=Path("/t/bin/cargo"), prefix=Path("/t"))
    monkeypatch.setattr(rust_toolchain, "installed_toolchains", lambda: (runtime,))


def _plan(
    head: dict[str, str], *graded: str, base: dict[str, str] | None = None, commit: str = "a" * 40
) -> Recipe | Refusal:
    texts = {"Cargo.toml": _PACKAGE} | _TESTS | head
    return rust.plan(
        PlanRequest(
            head=MemoryTree(texts),
            base=MemoryTree(texts if base is None else texts | base),
            base_commit="b" * 40,
            head_commit=commit,
            graded=graded or ("tests/a.rs",),
            date=1_700_000_000,
        )
    )


def _planned(head: dict[str, str], *graded: str, base: dict[str, str] | None = None) -> Recipe:
    recipe = _plan(head, *graded, base=base)
    assert isinstance(recipe, Recipe), recipe
    return recipe


def _outcome(log: bytes, code: int = 101, ended: Ended = Ended.EXITED) -> SandboxOutcome:
    return SandboxOutcome(
        ended=ended,
        exit_code=code,
        output=log,
        output_bytes=len(log),
        report=b"",
        milliseconds=1,
        peak_memory_kb=1,
        memory_by="",
    )


def test_the_module_is_a_language() -> None:
    language: Language = rust
    assert language.name == "rust"


def test_graded_files_are_those_that_cargo_compiles() -> None:
    tree = MemoryTree({"Cargo.toml": _PACKAGE, "tests/ui/bad.rs": ""} | _TESTS)
    candidates = ("tests/ui/bad.rs", "tests/b.rs", "src/tests.rs", "tests/data.json")
    assert rust.graded_files(candidates, tree) == ("src/tests.rs", "tests/b.rs")


def test_the_command_runs_each_target_once_in_the_order_of_its_files() -> None:
    recipe = _planned({}, "src/tests.rs", "tests/a.rs", "tests/b.rs")
    command = rust.check(recipe, ("tests/b.rs", "src/tests.rs")).command
    first = command.index("""t '["tests/b.rs"]' --manifest-path Cargo.toml --test b --;""")
    chosen = r"s/^\(tests::.*\): test$/\1/p"
    second = command.index(f"""m '["src/tests.rs"]' '{chosen}' --manifest-path Cargo.toml --lib;""")
    assert first < second
    assert "tests/a.rs" not in command
    assert command.endswith('> ../report.jsonl; exit "$e"')


def test_the_compiler_is_never_told_that_it_may_be_unstable() -> None:
    command = rust.check(_planned({}), ("tests/a.rs",)).command
    assert command.count("RUSTC_BOOTSTRAP") == 1
    assert 'runner=["env","RUSTC_BOOTSTRAP=1"]' in command


def test_a_recorded_command_reads_as_the_check_that_made_it() -> None:
    check = rust.check(_planned({}), ("tests/a.rs",))
    again = rust.recorded_check("cargo-test 1.95.0", check.command)
    assert (again.command, again.report_file, again.report_format) == (
        check.command,
        check.report_file,
        check.report_format,
    )


def test_a_package_in_a_folder_is_run_there_and_reports_beside_the_clone() -> None:
    head = {"rust/Cargo.toml": _PACKAGE + "[workspace]\n", "rust/tests/a.rs": ""}
    recipe = _planned(head, "rust/tests/a.rs")
    assert recipe.directory == "rust"
    command = rust.check(recipe, ("rust/tests/a.rs",)).command
    assert "> ../../report.jsonl" in command
    assert "--manifest-path Cargo.toml --test a" in command


def test_without_dependencies_nothing_is_set_up_and_all_share_one_era() -> None:
    first, second = _planned({}), _planned({"Cargo.toml": _PACKAGE + 'version = "2.0.0"\n'})
    assert first.setting("lock") == ""
    assert first.era() == second.era()
    assert setup_commands(first, ()) == ()


def test_a_lock_file_makes_the_era() -> None:
    wanted = {"Cargo.toml": _PACKAGE + '[dependencies]\nseven = "1"\n'}
    first = _planned(wanted | {"Cargo.lock": _lock(("seven", "1.0.0"))})
    second = _planned(wanted | {"Cargo.lock": _lock(("seven", "1.0.1"))})
    assert first.setting("lock") == "tracked"
    assert first.era() != second.era()
    assert 'CARGO_HOME="$PWD/../env/cargo"' in rust.check(first, ("tests/a.rs",)).command


def test_without_a_lock_file_dependencies_are_todays_and_the_record_says_so() -> None:
    recipe = _planned({"Cargo.toml": _PACKAGE + '[dev-dependencies]\nseven = "1"\n'})
    assert recipe.setting("lock") == "made"
    assert any("no lock file" in why for why in recipe.why)
    write, fetch = setup_commands(recipe, ("cargo fetch --locked", "version = 4\nit's\n"))
    assert write == "printf %s 'version = 4\nit'\"'\"'s\n' > Cargo.lock"
    assert fetch == 'CARGO_HOME="$PWD/../env/cargo" cargo fetch --locked'


def test_where_the_bases_manifests_differ_the_heads_are_fetched_from_its_own_tree() -> None:
    head = {"Cargo.toml": _PACKAGE + '[dependencies]\nseven = "1"\n', "Cargo.lock": _lock(("seven", "1.0.0"))}
    recipe = _planned(head, base={"Cargo.toml": _PACKAGE, "Cargo.lock": _lock()})
    assert setup_commands(recipe, ("cargo fetch --locked",)) == (
        f"git worktree add --quiet --detach ../head {'a' * 40}",
        '(h="$PWD/../env/cargo" && cd ../head && CARGO_HOME="$h" cargo fetch --locked)',
        "git worktree remove --force ../head",
    )


def test_a_base_that_is_locked_to_other_versions_is_refused() -> None:
    wanted = {"Cargo.toml": _PACKAGE + '[dependencies]\nseven = "1"\n', "Cargo.lock": _lock(("seven", "1.0.1"))}
    refusal = _plan(wanted, base={"Cargo.lock": _lock(("seven", "1.0.0"))})
    assert isinstance(refusal, Refusal)
    assert refusal.code == "environment-failed"
    assert "seven 1.0.0" in refusal.detail


def test_a_base_that_depends_on_what_the_head_dropped_is_refused() -> None:
    refusal = _plan({}, base={"Cargo.toml": _PACKAGE + '[dependencies]\nseven = "1"\nlocal = { path = "local" }\n'})
    assert isinstance(refusal, Refusal)
    assert refusal.code == "environment-failed"
    assert "depends on seven, the head does not" in refusal.detail


def test_a_target_without_the_harness_has_no_runner() -> None:
    refusal = _plan({"Cargo.toml": _PACKAGE + '[[test]]\nname = "a"\nharness = false\n'})
    assert isinstance(refusal, Refusal)
    assert refusal.code == "runner-missing"


def test_what_a_lock_file_takes_from_outside() -> None:
    assert read_lock(None) is None
    assert read_lock(b"<<<") is None
    assert read_lock(b"package = 3\n") == frozenset()
    assert read_lock(_lock().encode()) == frozenset()
    head, base = _lock(("a", "1.0.0")).encode(), _lock(("a", "1.0.0"), ("b", "2.0.0")).encode()
    assert [package.name for package in only_in_base(head, base)] == ["b"]
    assert only_in_base(None, base) == ()


def test_a_plan_tells_each_choice_with_its_evidence() -> None:
    recipe = _planned({}, "src/tests.rs", "tests/a.rs")
    assert [reason.about for reason in recipe.reasons] == ["toolchain", "runner", "dependencies"]
    assert recipe.why == tuple(reason.sentence for reason in recipe.reasons)
    assert "--lib" in recipe.reasons[1].because


@pytest.mark.parametrize(
    ("log", "package", "remedy", "settings"),
    [
        (b"error: linker `cc` not found\n", "build-essential", "build-essential", ()),
        (b"The system library `openssl` required by crate `a` was not found.\n", "libssl-dev", "libssl-dev", ()),
        (b"/usr/bin/ld: cannot find -lz: No such file\n", "zlib1g-dev", "zlib1g-dev", ()),
        (b"error: package `a v1.0.0` cannot be built because it requires rustc 1.99\n", "a", "toolchain install 1.99",
         (("rust", "1.99"),)),
        (b"error: failed to run custom build command for `ring v0.16.2`\n", "ring", "", ()),
    ],
)  # fmt: skip
def test_a_failed_set_up_names_what_a_person_can_do(
    log: bytes, package: str, remedy: str, settings: tuple[tuple[str, str], ...]
) -> None:
    refusal = failure("cargo fetch", _outcome(log))
    assert (refusal.step, refusal.package, refusal.settings) == ("cargo fetch", package, settings)
    assert remedy in refusal.remedy
    assert refusal.lines


@pytest.mark.parametrize(
    ("log", "code"),
    [
        (b"error: linker `cc` not found\n", "needs-system-package"),
        (b"The system library `openssl` required by crate `openssl-sys` was not found.\n", "needs-system-package"),
        (b"error: package `a v1.0.0` cannot be built because it requires rustc 1.99\n", "runtime-unavailable"),
        (b"error: failed to parse manifest\n", "environment-failed"),
    ],
)
def test_what_the_log_of_a_set_up_means(log: bytes, code: str) -> None:
    refusal = failure("cargo fetch", _outcome(log))
    assert refusal.code == code
    assert "cargo fetch" in refusal.detail


def test_a_registry_that_does_not_answer_says_nothing_of_the_change() -> None:
    log = (
        b"error: failed to download from `https://example.org/a.crate`\nCaused by:\n  [6] Could not resolve hostname\n"
    )
    with pytest.raises(InfrastructureError):
        rust.failed_set_up("set-up command 1", _outcome(log))


def test_a_set_up_that_was_ended_says_by_what() -> None:
    assert "timeout" in failure("cargo fetch", _outcome(b"", 137, Ended.TIMEOUT)).detail
