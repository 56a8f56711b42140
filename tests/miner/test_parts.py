"""The split: where a path goes and why, every file on one side, conflicts of files and folders on one side."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miner.parts import split
from miner.path_rules import Globs, PathRules, Side

GRADED, SUPPORT, REST = Side.GRADED, Side.SUPPORT, Side.REST


def _entry(status: str) -> bytes:
    return b":100644 100644 %s %s %s" % (b"1" * 40, b"2" * 40, status.encode())


def _entries(**statuses: str) -> list[bytes]:
    return [piece for path, status in sorted(statuses.items()) for piece in (_entry(status), path.encode())]


@pytest.mark.parametrize(
    ("path", "side"),
    [
        ("tests/test_box.py", GRADED),
        ("pkg/box_test.py", GRADED),
        ("src/pkg/tests/test_deep.py", GRADED),
        ("tests/auth/tests.py", GRADED),
        ("src/box.test.ts", GRADED),
        ("src/box.spec.tsx", GRADED),
        ("src/__tests__/box.js", GRADED),
        ("test/box.mjs", GRADED),
        ("test.js", GRADED),
        ("packages/box/test.js", GRADED),
        ("src/add/test.ts", GRADED),
        ("packages/box/src/fp/add/test.js", GRADED),
        ("src/test.ts", REST),
        ("config/add/test.js", REST),
        ("spec/box_spec.rb", GRADED),
        ("spec/parser.js", GRADED),
        ("pkg/box_test.go", GRADED),
        ("src/test/java/BoxTest.java", GRADED),
        ("src/test/java/BoxTests.java", GRADED),
        ("tests/cli.rs", GRADED),
        ("tests/cli/main.rs", GRADED),
        ("tests/cli/text.rs", GRADED),
        ("t/basic.t", GRADED),
        ("tests/BoxTest.php", GRADED),
        ("docs/tests/test_examples.py", GRADED),
        ("conftest.py", SUPPORT),
        ("tests/conftest.py", SUPPORT),
        ("tests/__init__.py", SUPPORT),
        ("tests/data/points.json", SUPPORT),
        ("tests/README.md", SUPPORT),
        ("testing/plugin.py", SUPPORT),
        ("pkg/test-examples/a.al", SUPPORT),
        ("unit_tests/helper.py", SUPPORT),
        ("typing_tests/check.py", SUPPORT),
        ("src/__snapshots__/box.test.ts.snap", SUPPORT),
        ("src/__mocks__/fs.js", SUPPORT),
        ("test/utils.ts", SUPPORT),
        ("test/fixtures/app/index.ts", SUPPORT),
        ("test/index.js", GRADED),
        ("tests/tests_main.py", GRADED),
        ("packages/box/tests/index.mjs", GRADED),
        ("test/support/index.js", SUPPORT),
        ("__tests__/index.ts", SUPPORT),
        ("test/types.test-d.ts", SUPPORT),
        ("test/vitest.config.ts", SUPPORT),
        ("tests/common/mod.rs", SUPPORT),
        ("tests/cli/mod.rs", SUPPORT),
        ("tests/ui/deep/fail.rs", SUPPORT),
        ("pkg/testdata/x_test.go", SUPPORT),
        ("spec/spec_helper.rb", SUPPORT),
        ("spec/fixtures/a.json", SUPPORT),
        ("contest/score.py", REST),
        ("contest/latest.py", REST),
        ("contest.go", REST),
        ("attestation/sign.py", REST),
        ("src/spec/parser.ts", REST),
        ("docs/spec/api.md", REST),
        ("docs/testing/index.md", REST),
        ("docs/spec/api.js", REST),
        ("flask/testing.py", REST),
        ("numpy/testing/utils.py", REST),
        ("core/testing/index.ts", REST),
        ("jinja2/tests.py", REST),
        ("setuptools/command/test.py", REST),
        ("src/commands/test.js", REST),
        ("testimony.py", REST),
        ("packages/test-utils/src/mount.ts", REST),
        ("Latest.java", REST),
        ("tsconfig.test.json", REST),
    ],
)
def test_components_and_names_decide(path: str, side: Side) -> None:
    assert PathRules().decide(path.encode()).side is side


@pytest.mark.parametrize(
    "path",
    ["src/box.py", "pkg/table.bin", "bin/hello", "run.bat", "lib/box.d.cts", "tasks/release.py", "vendor/lib", "box",
     "src/docs/render.py", "pkg/data/price list.csv", "src/config.json", "django/contrib/admin/templates/a.html"],
)  # fmt: skip
def test_code_data_and_files_of_unknown_kind_are_source(path: str) -> None:
    decision = PathRules().decide(path.encode())

    assert (decision.side, decision.rule, decision.source) == (REST, "source", True)


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("README.md", "documentation"),
        ("src/README.rst", "documentation"),
        ("CHANGES", "documentation"),
        ("docs/conf.py", "documentation"),
        ("packages/a/docs/x.js", "documentation"),
        ("examples/a.py", "example"),
        ("benchmarks/scan.py", "benchmark"),
        ("bench/a.rs", "benchmark"),
        ("scripts/release.sh", "script"),
        (".github/workflows/ci.yml", "configuration"),
        ("noxfile.py", "configuration"),
        ("vitest.config.ts", "configuration"),
        ("packages/a/tsconfig.json", "configuration"),
        ("Makefile", "configuration"),
        (".gitignore", "configuration"),
        ("setup.py", "manifest"),
        ("packages/a/package.json", "manifest"),
        ("requirements/dev.txt", "manifest"),
        ("pnpm-lock.yaml", "lock-file"),
        ("uv.lock", "lock-file"),
    ],
)
def test_what_is_neither_test_nor_source_is_named(path: str, rule: str) -> None:
    decision = PathRules().decide(path.encode())

    assert (decision.side, decision.rule, decision.source) == (REST, rule, False)


def test_globs_of_a_repository_overrule_the_rules() -> None:
    rules = PathRules(Globs(graded=("checks/**/*.py",), support=("fixtures/",), rest=("tests/tools/*", "conftest.py")))

    assert rules.decide(b"checks/a.py") == (GRADED, "repository-glob", False)
    assert rules.decide(b"checks/deep/er/a.py").side is GRADED
    assert rules.decide(b"checks/a.txt").rule == "source"
    assert rules.decide(b"fixtures/deep/a.bin").side is SUPPORT
    assert rules.decide(b"tests/tools/x.py") == (REST, "repository-glob", True)
    assert rules.decide(b"tests/tools/deep/test_x.py").side is GRADED


def test_a_change_is_split_with_deleted_tests_apart() -> None:
    parts = split(
        _entries(
            **{"README.md": "M", "box.py": "M", "tests/gone_test.py": "D", "tests/test_a.py": "A", "tests/x": "M"}
        ),
        PathRules(),
    )

    assert parts.graded == (b"tests/gone_test.py", b"tests/test_a.py")
    assert parts.graded_at_head == (b"tests/test_a.py",)
    assert parts.support == (b"tests/x",)
    assert parts.test == (b"tests/gone_test.py", b"tests/test_a.py", b"tests/x")
    assert parts.rest == (b"README.md", b"box.py")
    assert parts.source == (b"box.py",)


def test_a_file_that_gives_way_to_tests_goes_with_them() -> None:
    parts = split(_entries(**{"box.py": "M", "tests": "D", "tests/test_a.py": "A"}), PathRules())

    assert parts.test == (b"tests", b"tests/test_a.py")
    assert parts.decisions[b"tests"].rule == "file-and-folder"


def test_a_file_that_gives_way_to_tests_and_source_goes_with_the_source() -> None:
    # To git the path of the file names all below it, so a test part with it would bring the source.
    entries = _entries(**{"src": "D", "src/a.py": "A", "src/tests/b.py": "A", "test_c.py": "A"})
    parts = split(entries, PathRules())

    assert parts.rest == (b"src", b"src/a.py", b"src/tests/b.py")
    assert parts.test == (b"test_c.py",)


def test_tests_that_give_way_to_a_file_go_with_it() -> None:
    parts = split(_entries(**{"box": "A", "box/test_a.py": "D", "box/b.py": "D", "test_c.py": "A"}), PathRules())

    assert parts.rest == (b"box", b"box/b.py", b"box/test_a.py")
    assert parts.source == (b"box", b"box/b.py")
    assert parts.graded == (b"test_c.py",)


@given(st.dictionaries(st.text("ab/t", min_size=1, max_size=5), st.sampled_from("AMD"), max_size=6))
def test_every_file_is_on_exactly_one_side(files: dict[str, str]) -> None:
    parts = split(_entries(**files), PathRules())

    assert sorted([*parts.graded, *parts.support, *parts.rest]) == sorted(path.encode() for path in files)
    assert set(parts.graded_at_head) <= set(parts.graded)
    assert set(parts.source) <= set(parts.rest)


@given(st.binary(min_size=1, max_size=30))
def test_any_bytes_are_decided(path: bytes) -> None:
    assert PathRules().decide(path).side in Side
