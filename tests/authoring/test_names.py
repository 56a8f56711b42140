"""Names, texts and code that stand on some lines of a source, in each language that a grammar reads."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from authoring.grammars import GRAMMARS
from authoring.names import LARGEST_SOURCE, SourceNames, read_names

PYTHON = b'''\
from shelf.books import Book as Item
import shelf.index

LIMIT = 4096


class Shelf(Base):
    """Docs with a_word in them."""

    size: int = 1

    def put(self, book, place=0, *, quietly: bool = False, **rest):
        self.count = f"has {place} of them" + "plain"
        # a comment with another_word
        kept = index.find(book, deep=True)
        return kept
'''
TYPESCRIPT = b"""\
import { a as other } from "./books";
export const LIMIT = 4096;
export interface Options { quietly?: boolean; put(): void }
export function place(shelf: Shelf, { deep }: Options = {}) {
  const kept = `has ${deep} of them`;
  shelf.count = find({ strict: true, kept });
  return shelf.put("plain text");
}
class Shelf { private size = 1; get(x) {} }
enum Kind { Paper }
"""
GO = b"""\
package shelf
import "example.org/books"
const Limit = 4096
type Shelf struct { Size int }
func (s *Shelf) Put(book Book, place int) error {
\tkept := books.Find(book, Options{Deep: true})
\treturn errors.New("no such book")
}
"""
RUST = b"""\
use shelf::Book;
const LIMIT: i32 = 4096;
pub struct Shelf { size: i32 }
enum Kind { Paper, Cloth(i32) }
pub fn put(book: Book, place: i32) -> Shelf {
    let kept = Shelf { size: place };
    kept.check("no such book");
    Shelf::sorted(kept)
}
"""


def test_python_names_are_told_by_what_they_do() -> None:
    names = read_names("python", PYTHON)
    assert names.defined == {"LIMIT", "Shelf", "size", "put", "count"}
    assert names.local == {"kept"}
    assert names.parameters >= {"book", "place", "quietly", "rest"}
    assert names.imported >= {"Book", "Item", "index"}
    assert names.modules >= {"shelf.books", "shelf.index"}
    assert names.used >= {"find", "count"}
    assert names.keywords == {"deep"}
    assert names.texts == ("has ", " of them", "plain")
    assert "4096" in names.numbers


def test_comments_docstrings_and_messages_are_no_code() -> None:
    code = "\n".join(read_names("python", PYTHON).code)
    assert "kept = index . find ( book , deep = True )" in code
    assert not {"a_word", "another_word", "of them"} & set(code.split())
    assert "of them" not in code


def test_only_the_lines_asked_for_count() -> None:
    names = read_names("python", PYTHON, [15])
    assert names.local == {"kept"}
    assert names.keywords == {"deep"}
    assert not names.defined
    assert names.inside == {"Shelf", "put"}
    assert names.code == ("kept = index . find ( book , deep = True )",)


@pytest.mark.parametrize(
    ("language", "source", "defined", "local", "used", "keywords", "text"),
    [
        (
            "typescript", TYPESCRIPT,
            {"LIMIT", "Options", "quietly", "put", "place", "count", "Shelf", "size", "get", "Kind", "Paper"},
            {"kept"}, {"put", "find"}, {"strict", "kept"}, "plain text",
        ),
        ("go", GO, {"Limit", "Shelf", "Size", "Put"}, {"kept"}, {"Find", "New"}, {"Deep"}, "no such book"),
        (
            "rust", RUST, {"LIMIT", "Shelf", "size", "Kind", "Paper", "Cloth", "put"}, {"kept"},
            {"check", "sorted"}, {"size"}, "no such book",
        ),
    ],
)  # fmt: skip
def test_other_languages_are_read_alike(
    language: str, source: bytes, defined: set[str], local: set[str], used: set[str], keywords: set[str], text: str
) -> None:
    names = read_names(language, source)
    assert names.defined == defined
    assert names.local == local
    assert names.used >= used
    assert names.keywords == keywords
    assert text in names.texts
    assert "4096" in names.numbers


def test_names_of_javascript_are_those_of_typescript_without_types() -> None:
    names = read_names("javascript", b"exports.place = function (shelf) { return shelf.put({ deep: 1 }) }\n")
    assert names.defined == {"place"}
    assert names.used >= {"put"}
    assert names.keywords == {"deep"}
    assert "View" in read_names("tsx", b"export const View = () => <Shelf deep={true} />;\n").defined


def test_a_bundle_is_nobodys_source() -> None:
    assert read_names("javascript", b"a.b();\n" * (LARGEST_SOURCE // 7 + 1)).used == frozenset()


@settings(max_examples=60, deadline=None)
@given(language=st.sampled_from(sorted(GRAMMARS)), source=st.binary(max_size=400), lines=st.sets(st.integers(-2, 30)))
def test_any_bytes_are_read(language: str, source: bytes, lines: set[int]) -> None:
    assert isinstance(read_names(language, source, lines), SourceNames)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), language=st.sampled_from(["python", "typescript", "go", "rust"]), noise=st.binary(max_size=12))
def test_a_broken_source_is_read_as_far_as_it_goes(data: st.DataObject, language: str, noise: bytes) -> None:
    source = {"python": PYTHON, "typescript": TYPESCRIPT, "go": GO, "rust": RUST}[language]
    begin, end = sorted(data.draw(st.tuples(*(st.integers(0, len(source)) for _ in "ab"))))
    names = read_names(language, source[:begin] + noise + source[end:])
    for found in (*names.defined, *names.used, *names.texts):
        found.encode()


def test_deep_nesting_costs_no_stack() -> None:
    names = read_names("python", b"x = " + b"[" * 5000 + b"a.b" + b"]" * 5000 + b"\n")
    assert isinstance(names, SourceNames)


def test_adjacent_literals_are_one_text() -> None:
    names = read_names("python", b'say(\n    f"has {one} of "\n    "them all. "\n    f"{two}, no more"\n)\n')
    assert names.texts == ("has ", " of them all. ", ", no more")


def test_of_adjacent_literals_only_those_on_the_lines_are_read() -> None:
    names = read_names("python", b'say(\n    "kept as "\n    "it was, "\n    "but longer"\n)\n', [3, 4])
    assert names.texts == ("it was, but longer",)


def test_what_a_subclass_sets_in_its_body_is_a_hook() -> None:
    source = b"class One(Base):\n    deep = True\n    kind: str = 'a'\n    def put(self):\n        self.held = 1\n"
    assert read_names("python", source).hooks == {"deep", "kind", "put"}
    assert read_names("python", b"class One:\n    deep = True\n").hooks == frozenset()
    script = b"class One extends Base { deep = 1; put() { this.held = 1 } }\nclass Two { other = 1 }\n"
    assert read_names("javascript", script).hooks == {"deep", "put"}
    assert read_names("typescript", script).hooks == {"deep", "put"}


def test_errors_that_are_raised_and_errors_that_are_awaited() -> None:
    names = read_names(
        "python",
        b"raise ValueError('a') from e\nraise lost.Missing\nraise\n"
        b"with pytest.raises((KeyError, shelf.Gone), match=Pattern): pass\nself.assertRaises(OSError, call, Other)\n",
    )
    assert names.raised == {"ValueError", "Missing"}
    assert names.awaited == {"KeyError", "Gone", "OSError"}
    script = b"throw new TypeError('a');\nexpect(() => f()).toThrow(RangeError);\nexpect(f).toThrow('words');\n"
    assert read_names("javascript", script).raised == {"TypeError"}
    assert read_names("javascript", script).awaited == {"RangeError"}
