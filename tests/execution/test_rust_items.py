"""The items of test builds in a Rust source: which they are, their lines, and when nobody can tell."""

from __future__ import annotations

import pytest

from execution.languages.inline_item import UnsafeItemError
from execution.languages.rust_items import items_of_tests


def _labels(source: str) -> list[tuple[str, int, int, str]]:
    return [(item.label, item.first, item.lines, item.selects) for item in items_of_tests(source.encode())]


def test_a_module_at_the_end_has_its_lines_from_the_mark_on() -> None:
    source = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {}\n}\n"
    assert _labels(source) == [("mod tests", 3, 5, "tests::")]
    assert _labels(source.rstrip("\n")) == [("mod tests", 3, 5, "tests::")]
    assert _labels(source.replace("\n", "\r\n")) == [("mod tests", 3, 5, "tests::")]


def test_items_of_every_kind_end_where_the_language_ends_them() -> None:
    source = """\
use std::fmt;
#[cfg(test)]
use std::{io, fs};
#[cfg(test)]
const LIST: &[T] = &[T { a: 1 }, T { a: 2 }];
#[cfg(test)]
#[derive(Debug)]
pub(crate) struct Pair(u8, [u8; 2]);
#[cfg(test)]
impl Pair {
    const N: usize = { 2 };
}
#[cfg(test)]
pub(crate) const fn seven() -> usize {
    7
}
/// Says why.
#[cfg(test)]
unsafe fn helper<'a>(x: &'a str) -> char where 'a: 'a {
    '}'
}
#[cfg(test)]
mod far;
#[cfg(test)]
thread_local! {
    static X: u8 = 1;
}
#[cfg(test)] extern crate proptest;
fn after() {}
"""
    assert [(label, first, lines) for label, first, lines, _ in _labels(source)] == [
        ("use", 2, 2),
        ("const LIST", 4, 2),
        ("struct Pair", 6, 3),
        ("impl", 9, 4),
        ("fn seven", 13, 4),
        ("fn helper", 17, 5),
        ("mod far", 22, 2),
        ("thread_local!", 24, 4),
        ("extern crate proptest", 28, 1),
    ]


@pytest.mark.parametrize(
    ("attribute", "counts"),
    [
        ("cfg(test)", True),
        ("cfg(all(test, unix))", True),
        ('cfg(all(feature = "std", all(unix, test)))', True),
        ("cfg(any(test))", True),
        ('cfg(any(test, feature = "bench"))', False),
        ("cfg(not(test))", False),
        ("cfg(all(not(test), unix))", False),
        ('cfg(feature = "test")', False),
        ("cfg_attr(test, allow(dead_code))", False),
        ("test", True),
        ('tokio::test(flavor = "multi_thread")', True),
        ("bench", True),
        ("inline", False),
    ],
)
def test_an_attribute_counts_where_it_keeps_its_item_to_test_builds(attribute: str, counts: bool) -> None:
    assert bool(_labels(f"#[{attribute}]\nfn a() {{}}\n")) is counts


def test_tests_are_named_as_the_harness_names_them() -> None:
    source = (
        "#[test]\nfn alone() {}\n#[cfg(test)]\nfn helper() {}\n#[cfg(test)]\nmod r#try {\n}\n#[cfg(test)]\nmod far;\n"
    )
    assert [selects for _, _, _, selects in _labels(source)] == ["alone", "", "try::", ""]


def test_an_item_inside_of_another_is_not_at_the_top() -> None:
    assert _labels("mod inner {\n    #[cfg(test)]\n    mod tests {\n    }\n}\n") == []
    assert _labels("macro_rules! m {\n    () => { #[cfg(test)] mod tests {} };\n}\n") == []


def test_attributes_of_the_file_belong_to_no_item() -> None:
    source = "#![cfg(test)]\n#![allow(dead_code)]\nfn a() {}\n#[cfg(test)]\nmod tests {}\n"
    assert _labels(source) == [("mod tests", 4, 2, "tests::")]


def test_what_gives_macros_to_the_rest_is_bound_to_its_place() -> None:
    source = b"#[cfg(test)]\n#[macro_use]\nmod macros;\n#[cfg(test)]\nmacro_rules! m {\n}\n#[cfg(test)]\nmod tests {}\n"
    assert [(item.label, item.bound) for item in items_of_tests(source)] == [
        ("mod macros", True),
        ("macro_rules! m", True),
        ("mod tests", False),
    ]


@pytest.mark.parametrize(
    "source",
    [
        "fn a() {} #[cfg(test)]\nmod tests {}\n",
        "#[cfg(test)]\nmod tests {} fn b() {}\n",
        "#[cfg(test)]\nmod tests {\n",
        "#[cfg(test)]\nmod tests { ( }\n",
        "}\n",
        "/* begins\n",
    ],
)
def test_where_lines_can_not_be_told_nothing_is(source: str) -> None:
    with pytest.raises(UnsafeItemError):
        items_of_tests(source.encode())
