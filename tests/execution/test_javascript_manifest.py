"""What a JavaScript tree says of itself: lock files, ranges, and what an era depends on."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.languages import javascript_manifest as manifest
from execution.languages.javascript_manifest import Lock
from tests.support.memory_tree import MemoryTree


@pytest.mark.parametrize(
    ("requirement", "lowest"),
    [
        (">=14", (14, 0, 0)),
        ("^12.20.0 || ^14.18.0 || >=16.0.0", (12, 20, 0)),
        (">= 18.12 <21", (18, 12, 0)),
        ("20.x", (20, 0, 0)),
        ("16 - 20", (16, 0, 0)),
        ("<=16", (0, 0, 0)),
        ("*", (0, 0, 0)),
        ("", (0, 0, 0)),
    ],
)
def test_the_lowest_version_of_a_range(requirement: str, lowest: tuple[int, int, int]) -> None:
    assert manifest.lowest_version(requirement) == lowest


@given(st.text(max_size=60))
def test_any_text_as_a_range_gives_some_version(text: str) -> None:
    assert len(manifest.lowest_version(text)) == 3


_LOCKS = {
    "pnpm 5.4": "packages:\n\n  /vitest/0.28.5:\n    resolution: {integrity: sha512-x}\n",
    "pnpm 6.0": "packages:\n\n  /vitest@0.28.5(jsdom@22.1.0):\n    resolution: {}\n",
    "pnpm 9.0": "packages:\n\n  vitest@0.28.5:\n    resolution: {}\n\nsnapshots:\n\n  vitest@0.28.5(jsdom@1.0.0):\n",
    "npm 3": '{"packages": {\n    "node_modules/vitest": {\n      "version": "0.28.5",\n',
    "npm 1": '{"dependencies": {\n    "vitest": {\n      "version": "0.28.5",\n',
    "yarn 1": 'vitest@^0.28.0:\n  version "0.28.5"\n  resolved "x"\n',
    "yarn 4": '"vitest@npm:^0.28.0":\n  version: 0.28.5\n',
    "bun": '    "vitest": ["vitest@0.28.5", "", {}],\n',
}


@pytest.mark.parametrize("kind", list(_LOCKS))
def test_the_locked_version_is_read_from_every_lock_format(kind: str) -> None:
    text = _LOCKS[kind] + "# vitest-mock@9.9.9, @x/vitest@8.8.8\n"
    assert manifest.locked_version(Lock(path="lock", manager="", content=text.encode()), "vitest") == "0.28.5"


def _package(**fields: object) -> str:
    return json.dumps({"name": "a", "version": "1.0.0", **fields})


def test_an_era_does_not_see_versions_and_scripts_but_dependencies() -> None:
    old = MemoryTree({"package.json": _package(dependencies={"b": "1"}, scripts={"test": "x"}), "a.js": "1"})
    new = MemoryTree({"package.json": _package(version="2.0.0", dependencies={"b": "1"}), "a.js": "2"})
    other = MemoryTree({"package.json": _package(dependencies={"b": "2"})})
    digests = [
        manifest.environment_inputs(tree, manifest.environment_files(tree, ".", None)) for tree in (old, new, other)
    ]
    assert digests[0] == digests[1]
    assert digests[0] != digests[2]


def test_a_workspace_depends_on_each_member_and_on_its_patches() -> None:
    tree = MemoryTree(
        {
            "package.json": _package(workspaces=["packages/*"]),
            "package-lock.json": "{}",
            ".npmrc": "x=y",
            "packages/a/package.json": "{}",
            "packages/a/index.js": "",
            "packages/a/node_modules/b/package.json": "{}",
            "patches/b.patch": "",
        }
    )
    lock = manifest.find_lock(tree, ".", "")
    assert lock is not None
    assert manifest.environment_files(tree, ".", lock) == (
        ".npmrc",
        "package-lock.json",
        "package.json",
        "packages/a/package.json",
        "patches/b.patch",
    )


def test_the_lock_of_the_named_package_manager_wins() -> None:
    tree = MemoryTree({"yarn.lock": "", "package-lock.json": "{}"})
    assert [getattr(manifest.find_lock(tree, ".", named), "path", None) for named in ("npm", "")] == [
        "package-lock.json",
        "yarn.lock",
    ]
    assert manifest.find_lock(MemoryTree({}), ".", "npm") is None


def test_an_install_starts_where_the_lock_file_lies() -> None:
    tree = MemoryTree({"web/package.json": "{}", "web/pnpm-lock.yaml": "", "web/app/package.json": "{}"})
    assert manifest.nearest_package(tree, "web/app/src/a.test.ts") == "web/app"
    assert manifest.install_root(tree, "web/app") == "web"
    assert manifest.nearest_package(tree, "a.test.ts") is None


@pytest.mark.parametrize("text", ["{", "[]", '"x"', "\ufeff{"])
def test_a_manifest_that_is_no_object_is_said_with_its_path(text: str) -> None:
    with pytest.raises(manifest.ManifestError, match=r"web/package\.json is not"):
        manifest.read_manifest(MemoryTree({"web/package.json": text}), "web")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["dependencies", "scripts", "workspaces", "x"]), inner, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_any_json_is_a_manifest_or_a_manifest_error(value: object) -> None:
    tree = MemoryTree({"package.json": json.dumps(value)})
    try:
        found = manifest.read_manifest(tree, ".")
    except manifest.ManifestError:
        assert not isinstance(value, dict)
    else:
        assert found is not None
        assert all(isinstance(text, str) for text in [*found.dependencies.values(), *found.scripts.values()])
        assert manifest.environment_inputs(tree, ("package.json",))[0][0] == "package.json"
