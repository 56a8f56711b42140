"""What Go sources say: tests by their tokens, build constraints old and new, imports."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.languages.go_sources import Built, constraint, declared_tests, imports, is_met, needs_c, tags_of

_LINUX = Built(tags=frozenset({"linux", "amd64", "unix", "gc"}), release=(1, 19))


def test_only_what_go_test_runs_is_a_test() -> None:
    source = """
package m

func TestOne(t *testing.T) { x := map[string]int{"}": 1}; _ = x }
func Testimony(t *testing.T) {}
func TestMain(m *testing.M) {}
func Test(t *testing.T) {}
func Test_under(t *testing.T) {}
func TestÄrger(t *testing.T) {}
func (s *Suite) TestMethod() {}
func FuzzIt(f *testing.F) {}
func BenchmarkIt(b *testing.B) {}
func helper() { func TestInner() {} }
"""
    assert declared_tests(source) == ("TestOne", "Test", "Test_under", "TestÄrger", "FuzzIt")


def test_an_example_needs_an_output_comment_at_its_end() -> None:
    source = """
func ExampleChecked() {
	if true { fmt.Println("x") }
	// Output: x
}
func ExampleAnyOrder() {
	/* unordered output: x */
}
func ExampleCompiledOnly() { fmt.Println("x") }
func ExampleTooEarly() {
	// Output: x
	fmt.Println("x")
}
// Output: of nobody
func ExampleAfterOne() { fmt.Println("x") }
"""
    assert declared_tests(source) == ("ExampleChecked", "ExampleAnyOrder")


@pytest.mark.parametrize(
    "text",
    [
        "// func TestNo(t *testing.T) {}\n",
        "/* func TestNo(t *testing.T) {} */",
        'var s = "func TestNo(t *testing.T) {}"\n',
        "var s = `\nfunc TestNo(t *testing.T) {}\n`\n",
        "var r = '{'\nvar q = '\\''\n",
        'var s = "\\"{"\n',
    ],
)
def test_comments_and_strings_are_no_code(text: str) -> None:
    assert declared_tests(f"{text}func TestYes(t *testing.T) {{}}\n{text}") == ("TestYes",)


@given(st.text())
def test_no_text_breaks_the_readers(text: str) -> None:
    declared_tests(text)
    imports(text)
    is_met(constraint(text, "a_test.go"), _LINUX)


@given(
    st.lists(
        st.from_regex(r"Test[A-Z0-9_]\w{0,8}", fullmatch=True).filter(lambda name: name != "TestMain"), unique=True
    )
)
def test_names_come_back_in_their_order(names: list[str]) -> None:
    source = "package m\n" + "\n".join(f"func {name}(t *testing.T) {{ _ = `{{` }}" for name in names)
    assert declared_tests(source) == tuple(names)


@pytest.mark.parametrize(
    ("head", "name", "met"),
    [
        ("", "a_test.go", True),
        ("//go:build linux\n", "a_test.go", True),
        ("// Copyright\n\n//go:build !windows && (amd64 || arm64)\n", "a_test.go", True),
        ("//go:build integration\n", "a_test.go", False),
        ("//go:build go1.20\n", "a_test.go", False),
        ("//go:build go1.18\n", "a_test.go", True),
        ("//go:build !go1.18\n", "a_test.go", False),
        ("// +build linux,!cgo darwin\n", "a_test.go", True),
        ("// +build windows darwin\n", "a_test.go", False),
        ("// +build linux\n// +build ignore\n", "a_test.go", False),
        ("//go:build linux\n// +build windows\n", "a_test.go", True),
        ("//go:build (linux\n", "a_test.go", False),
        ("/*\npackage of the author\n*/\n//go:build windows\n", "a_test.go", False),
        ("", "a_windows_test.go", False),
        ("", "a_linux_test.go", True),
        ("", "a_linux_arm64_test.go", False),
        ("", "linux_test.go", True),
        ("", "windows_test.go", True),
    ],
)
def test_constraints(head: str, name: str, met: bool) -> None:
    assert is_met(constraint(f"{head}\npackage m\n//go:build windows\n", name), _LINUX) is met


def test_the_tags_of_a_constraint() -> None:
    assert tags_of("integration && !(linux || go1.20)") == {"integration", "linux", "go1.20"}


def test_imports_of_every_form() -> None:
    source = """
package m
import "fmt"
import x "example.com/x"
import (
	"testing"
	. "example.com/dot" // "example.com/comment"
	/* "example.com/block" */
	_ "example.com/blank"
)
"""
    assert imports(source) == {"fmt", "example.com/x", "testing", "example.com/dot", "example.com/blank"}


def test_c_is_an_import_and_no_string() -> None:
    assert needs_c('package m\n\n// #include <x.h>\nimport "C"\n')
    assert not needs_c('package m\n\nvar grade = []string{\n\t"C",\n}\n')
