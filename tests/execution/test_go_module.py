"""Modules and workspaces: what ``go.mod`` and ``go.work`` say, and which files go together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from execution.languages.base import Refusal
from execution.languages.go_bare import guess_layout
from execution.languages.go_module import Layout, Mode, digests, home, read_layout, read_module, together
from tests.support.memory_tree import MemoryTree

_GO_MOD = """\
// The module of the example.
module "example.com/big/v2" // major version 2

go 1.21.3
toolchain go1.22.1

require (
	example.com/a v1.0.0
	example.com/b v2.0.0+incompatible // indirect
)
require example.com/c v0.1.0

replace example.com/a => ./third/a
replace (
	example.com/b v2.0.0 => ../outside
	example.com/c => example.com/fork v0.2.0
)
exclude example.com/d v1.0.0
"""


def _layout(files: dict[str, str], directory: str = ".") -> Layout:
    layout = read_layout(MemoryTree(files), directory)
    assert isinstance(layout, Layout), layout
    return layout


def test_a_module_file_with_blocks_comments_and_quotes() -> None:
    module = read_module(MemoryTree({"sub/go.mod": _GO_MOD}), "sub")
    assert module is not None
    assert (module.path, module.go, module.toolchain) == ("example.com/big/v2", "1.21.3", "1.22.1")
    assert module.requires == {"example.com/a", "example.com/b", "example.com/c"}
    # The other lies outside of the module, and inside the tree all the same.
    assert module.local == ("outside", "sub/third/a")


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    read_module(MemoryTree({"go.mod": text.encode("utf-8", "replace").decode()}), ".")


def test_a_file_s_home_is_its_innermost_module() -> None:
    tree = MemoryTree({"go.mod": "module a", "x/go.mod": "module b", "x/y/z_test.go": "", "w/z_test.go": ""})
    assert (home(tree, "x/y/z_test.go"), home(tree, "w/z_test.go")) == ("x", ".")
    assert home(MemoryTree({"a_test.go": ""}), "a_test.go") is None


def test_a_workspace_is_the_home_of_the_modules_that_it_uses() -> None:
    tree = MemoryTree(
        {
            "go.work": "go 1.22\nuse (\n\t.\n\t./x\n)\n",
            "go.mod": "module a",
            "x/go.mod": "module b",
            "y/go.mod": "module c",
        }
    )
    assert [home(tree, f"{folder}/a_test.go") for folder in ("x", "y")] == [".", "y"]
    layout = read_layout(tree, ".")
    assert isinstance(layout, Layout)
    assert (layout.mode, [module.path for module in layout.modules]) == (Mode.WORKSPACE, ["a", "b"])
    assert layout.modules[0].go == "1.22"
    assert [layout.package(folder) for folder in (".", "in", "x", "x/in")] == ["a", "a/in", "b", "b/in"]


def test_of_several_modules_the_one_with_most_files_is_tested() -> None:
    tree = MemoryTree({"a/go.mod": "module a", "b/go.mod": "module b"})
    assert together(tree, ("a/1_test.go", "b/1_test.go", "b/2_test.go")) == ("b/1_test.go", "b/2_test.go")
    assert together(tree, ()) == ()


def test_a_vendor_folder_counts_when_it_says_what_it_holds() -> None:
    files = {"go.mod": "module a", "vendor/x/x.go": ""}
    assert _layout(files).mode is Mode.MODULE
    assert _layout({**files, "vendor/modules.txt": ""}).mode is Mode.VENDOR


def test_a_module_without_a_name_is_refused() -> None:
    refusal = read_layout(MemoryTree({"go.mod": "go 1.20\n"}), ".")
    assert isinstance(refusal, Refusal)
    assert refusal.code == "environment-failed"


def test_the_manifests_are_the_era() -> None:
    files = {"go.mod": "module a\nreplace b => ./b\n", "go.sum": "x", "b/go.mod": "module b", "a.go": "package a"}
    first = digests(MemoryTree(files), _layout(files))
    assert [path for path, _ in first] == ["b/go.mod", "go.mod", "go.sum"]
    assert digests(MemoryTree({**files, "a.go": ""}), _layout(files)) == first
    assert digests(MemoryTree({**files, "go.sum": "y"}), _layout(files)) != first


def _guessed(files: dict[str, str], *graded: str) -> str:
    layout = guess_layout(MemoryTree(files), graded)
    return layout.detail if isinstance(layout, Refusal) else layout.modules[0].path


def test_a_tree_from_before_modules_is_named_by_its_own_imports() -> None:
    files = {
        "a.go": 'package a\nimport "github.com/x/a/inner/deep"\n',
        "inner/deep/d.go": "package deep\n",
        "a_test.go": 'package a\nimport "testing"\n',
    }
    assert _guessed(files, "a_test.go") == "github.com/x/a"
    assert _guessed({"a.go": 'package a // import "gopkg.in/a.v1"\n', "a_test.go": ""}, "a_test.go") == "gopkg.in/a.v1"
    outside = 'package a_test\nimport "github.com/x/a"\n'
    assert _guessed({"a.go": "package a\n", "a_test.go": outside}, "a_test.go") == "github.com/x/a"
    assert _guessed({"a.go": "package a\n", "a_test.go": ""}, "a_test.go") == "repository"


def test_what_else_such_a_tree_needs_is_told_by_nothing() -> None:
    files = {"a.go": 'package a\nimport "golang.org/x/text"\n', "a_test.go": "", "b/b_test.go": ""}
    assert "golang.org/x/text" in _guessed(files, "a_test.go")
    # What the graded package does not import is not its matter, nor is what another system would.
    assert _guessed(files, "b/b_test.go") == "repository"
    assert _guessed({**files, "a.go": "package a\n", "a_windows.go": files["a.go"]}, "a_test.go") == "repository"
