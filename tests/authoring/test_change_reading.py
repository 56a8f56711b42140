"""What lint knows of a change, read from real repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from authoring.change_reading import read_change
from authoring.change_words import ChangeWords, NeedKind, read_words, words_bytes
from casewright.repository import open_source
from casewright.store import Store
from tests.support.repos import Entry, RepoBuilder

Files = dict[str | bytes, Entry]

BASE: Files = {
    "src/shelf/core.py": "def find(name):\n    return _walk(name)\n\n\ndef _walk(name):\n    return None\n",
    "src/shelf/other.py": "def sort_all():\n    pass\n",
    "tests/test_core.py": "from shelf.core import find\n\n\ndef test_find():\n    assert find('a') is None\n",
    "README.md": "Call `open_shelf` to begin.\n",
}
HEAD: Files = {
    "src/shelf/core.py": (
        "from shelf.extra import Missing\n\n\n"
        "def find(name, *, deep=False):\n"
        "    found_books = _walk(name)\n"
        "    if not found_books:\n"
        "        raise Missing(f'no such book: {name}')\n"
        "    return found_books or sort_all()\n\n\n"
        "def find_all():\n    return 4321\n\n\n"
        "def _walk(name):\n    return None\n"
    ),
    "src/shelf/extra.py": "class Missing(Exception):\n    pass\n",
    "tests/test_core.py": (
        "import pytest\n\nfrom shelf.core import find, find_all\nfrom shelf.extra import Missing\n\n\n"
        "def test_find():\n"
        "    with pytest.raises(Missing, match='no such book: a'):\n"
        "        find('a', deep=True)\n"
        "    assert find_all() == 4321\n"
    ),
}


def read(
    folder: Path, base: dict[str | bytes, Entry], head: dict[str | bytes, Entry], *test: str | bytes
) -> ChangeWords:
    built = RepoBuilder(folder)
    pins = built.commit("Before", base), built.commit("After", head)
    part = {path.encode() if isinstance(path, str) else path for path in test}
    with open_source(str(folder), Store().root) as repository:
        return read_change(repository, "owner/name", *pins, part)


def needs(words: ChangeWords) -> set[tuple[str, str]]:
    return {(need.kind.value, need.text) for need in words.needs}


def test_a_python_change(tmp_path: Path) -> None:
    words = read(tmp_path / "r", BASE, HEAD, "tests/test_core.py")
    assert needs(words) == {
        ("name", "Missing"), ("name", "find_all"), ("keyword", "deep"), ("module", "extra"),
        ("text", "no such book"), ("value", "4321"),
    }  # fmt: skip
    assert words.fix_names == ("found_books",)
    assert words.test_names == ("test_find",)
    assert [(path.path, path.new) for path in words.rest_paths] == [
        ("src/shelf/core.py", False), ("src/shelf/extra.py", True),
    ]  # fmt: skip
    assert any("found_books = _walk ( name )" in fragment for fragment in words.fragments)
    assert not any("no such book" in fragment for fragment in words.fragments)
    assert words.commits[:2] == (words.base, words.head)
    assert read_words(words_bytes(words)) == words


def test_inner_names_are_those_that_no_test_and_no_page_names(tmp_path: Path) -> None:
    base = {
        **BASE,
        "src/shelf/core.py": "def open_shelf():\n    return _load_all()\n\n\ndef _load_all():\n    return 1\n",
    }
    head: Files = {
        "src/shelf/core.py": "def open_shelf():\n    return _load_all() + 1\n\n\ndef _load_all():\n    return 2\n",
        "tests/test_core.py": "def test_x():\n    assert True\n",
    }
    words = read(tmp_path / "r", base, head, "tests/test_core.py")
    # `open_shelf` is changed too, but users read of it.
    assert words.changed_names == ("_load_all",)


def test_a_name_that_other_files_have_is_needed_all_the_same_and_told_apart(tmp_path: Path) -> None:
    head = {
        **HEAD,
        "src/shelf/core.py": "def find(name):\n    return None\n\n\ndef sort_all():\n    return 1\n",
        "tests/test_core.py": "from shelf.core import sort_all\n\n\ndef test_it():\n    assert sort_all()\n",
    }
    words = read(tmp_path / "r", BASE, head, "tests/test_core.py")
    (need,) = [need for need in words.needs if need.kind is NeedKind.NAME]
    assert (need.text, need.elsewhere) == ("sort_all", True)


TYPESCRIPT = """\
export interface Options { strict?: boolean }
export function parse(input: string, options: Options = {}) { return options.strict ? input : '' }
export function parseAll(input: string) { return [parse(input)] }
"""
TYPESCRIPT_TEST = """\
import { parse, parseAll } from '../src/parse'
it('x', () => { parse('a', { strict: true }); parseAll('b') })
"""
GO = """\
package shelf

import "errors"

var ErrMissing = errors.New("no such book")

func Find(name string) error { return ErrMissing }
"""
GO_TEST = """\
package shelf

import "testing"

func TestFind(t *testing.T) {
\terr := Find("a")
\tif err.Error() != "no such book" {
\t\tt.Fatal(err)
\t}
\t_ = errors.Is(err, shelf.ErrMissing)
}
"""
RUST = "pub fn find(name: &str) -> bool { true }\npub fn find_every(name: &str) -> usize { 7 }\n"
RUST_TEST = '#[test]\nfn finds() { assert_eq!(shelf::find_every("a"), 7); }\n'


@pytest.mark.parametrize(
    ("source", "states", "test", "tests", "needed"),
    [
        (
            "src/parse.ts",
            ("export function parse(input: string) { return input }\n", TYPESCRIPT),
            "test/parse.test.ts",
            TYPESCRIPT_TEST,
            {("name", "parseAll"), ("keyword", "strict")},
        ),
        (
            "shelf.go",
            ("package shelf\n\nfunc Find(name string) error { return nil }\n", GO),
            "shelf_test.go",
            GO_TEST,
            {("name", "ErrMissing"), ("text", "no such book")},
        ),
        (
            "src/lib.rs",
            ("pub fn find(name: &str) -> bool { true }\n", RUST),
            "tests/find.rs",
            RUST_TEST,
            {("name", "find_every")},
        ),
    ],
)
def test_other_languages(
    tmp_path: Path, source: str, states: tuple[str, str], test: str, tests: str, needed: set[tuple[str, str]]
) -> None:
    words = read(tmp_path / "r", {source: states[0], test: "\n"}, {source: states[1], test: tests}, test)
    assert needs(words) == needed
    assert words.unread == ()


def test_options_of_a_command_line_are_needed(tmp_path: Path) -> None:
    head: Files = {
        "src/shelf/core.py": "OPTION = '--by-colour'\n",
        "tests/test_core.py": "def test_it():\n    run(['--by-colour', '--by-size'])\n",
    }
    assert needs(read(tmp_path / "r", BASE, head, "tests/test_core.py")) == {("option", "--by-colour")}


def test_a_value_of_one_word_is_needed_where_both_say_it_and_the_base_does_not(tmp_path: Path) -> None:
    head: Files = {
        "src/shelf/core.py": "import os\n\nMARK = os.environ.get('SHELF_RUN') or 'paper-back' or 'find'\n",
        "tests/test_core.py": "def test_it():\n    assert run() in ('SHELF_RUN', 'paper-back', 'find', 'other')\n",
    }
    assert needs(read(tmp_path / "r", BASE, head, "tests/test_core.py")) == {
        ("text", "SHELF_RUN"), ("text", "paper-back"),
    }  # fmt: skip


def test_a_language_without_a_grammar_is_told(tmp_path: Path) -> None:
    head: Files = {
        "src/find.c": "/* comment_word (a) [b] */\nint found = walk_shelf(name, 3) + open_shelf(name);\n",
        "tests/test_find.c": "int main(void) { return 0; }\n",
    }
    words = read(tmp_path / "r", BASE, head, "tests/test_find.c")
    assert words.unread == ("c",)
    assert any("walk_shelf ( name , 3 )" in fragment for fragment in words.fragments)
    assert not any("comment_word" in fragment for fragment in words.fragments)


def test_odd_names_and_contents(tmp_path: Path) -> None:
    head: Files = {
        b"src/caf\xe9 (x).py": b"def br\xff(: '\xff\n",
        "src/a\nb.py": "def odd_line(): pass\n",
        "src/blob.py": b"\0\1\2",
        'tests/test "q".py': "from x import odd_line\n",
        "src/shelf/core.py": None,
    }
    words = read(tmp_path / "r", BASE, head, 'tests/test "q".py')
    assert "src/caf\\xe9 (x).py" in {path.path for path in words.rest_paths}
    assert ("name", "odd_line") in needs(words)
    assert read_words(words_bytes(words)) == words


def test_a_change_without_source_gives_nothing_to_look_for(tmp_path: Path) -> None:
    head: Files = {"README.md": "More.\n", "tests/test_core.py": "def test_x(): pass\n"}
    words = read(tmp_path / "r", BASE, head, "tests/test_core.py")
    assert (words.fix_names, words.fragments, words.needs) == ((), (), ())


def changed(folder: Path, source: tuple[str, str], tests: tuple[str, str]) -> ChangeWords:
    (before, after), (old_test, new_test) = source, tests
    base: Files = {"src/shelf.py": before, "tests/test_shelf.py": old_test}
    return read(folder, base, {"src/shelf.py": after, "tests/test_shelf.py": new_test}, "tests/test_shelf.py")


def test_what_a_subclass_in_a_test_sets_is_needed_where_only_the_fix_knows_it(tmp_path: Path) -> None:
    words = changed(
        tmp_path / "r",
        (
            "class View:\n    kind = 'a'\n",
            "class View:\n    kind = 'a'\n    init_each = 1\n\n    def go(self):\n        return self.after_going()\n",
        ),
        (
            "import shelf\n",
            """\
import shelf


class Mine(shelf.View):
    init_each = False
    kind = 'b'
    own = 1

    def after_going(self):
        return self.own


class Alone:
    other = 1
""",
        ),
    )
    assert needs(words) == {("hook", "init_each"), ("hook", "after_going")}


def test_a_hook_that_the_fix_asks_for_by_a_string_is_needed(tmp_path: Path) -> None:
    words = changed(
        tmp_path / "r",
        ("def go(view):\n    return view\n", "def go(view):\n    return getattr(view, 'runs_alone', False)\n"),
        (
            "import shelf\n",
            "import shelf\n\n\nclass Mine(dict):\n    runs_alone = True\n    by_itself = 1\n",
        ),
    )
    assert needs(words) == {("hook", "runs_alone")}


def test_a_hook_that_the_base_has_anywhere_is_known(tmp_path: Path) -> None:
    base: Files = {
        "src/shelf.py": "class View:\n    pass\n",
        "src/base.py": "class Kind:\n    def convert(self): ...\n",
    }
    head: Files = {
        **base,
        "src/shelf.py": "class View:\n    def convert(self):\n        return 1\n",
        "tests/test_shelf.py": "import shelf\n\n\nclass Mine(shelf.View):\n    def convert(self):\n        return 2\n",
    }
    assert needs(read(tmp_path / "r", base, head, "tests/test_shelf.py")) == set()


def test_a_value_may_begin_with_an_underscore(tmp_path: Path) -> None:
    words = changed(
        tmp_path / "r",
        ("def name():\n    return 'help'\n", "def name():\n    return '_shelf_default'\n"),
        ("import shelf\n", "import shelf\n\n\ndef test_name():\n    assert shelf.name() == '_shelf_default'\n"),
    )
    assert needs(words) == {("text", "_shelf_default")}


def test_a_message_of_two_literals_is_found_whole(tmp_path: Path) -> None:
    words = changed(
        tmp_path / "r",
        (
            "def put(book):\n    pass\n",
            "def put(book):\n    raise ValueError(f'{book} is kept for the ' 'binder. Ask')\n",
        ),
        ("import shelf\n", "import shelf\n\n\ndef test_put():\n    raises(match='is kept for the binder')\n"),
    )
    assert needs(words) == {("text", "is kept for the binder")}


@pytest.mark.parametrize(
    ("expected", "shared"),
    [
        ("'a' is kept for the", {("text", "is kept for the")}),
        ("a for the binder. Ask", set()),
        ("all of it is", set()),
    ],
)
def test_what_a_test_expects_may_begin_before_a_placeholder_and_break_off(
    tmp_path: Path, expected: str, shared: set[tuple[str, str]]
) -> None:
    words = changed(
        tmp_path / "r",
        ("def put(book):\n    pass\n", "def put(book):\n    raise No(f'{book} is kept for the ' 'binder. Ask')\n"),
        ("import shelf\n", f'import shelf\n\n\ndef test_put():\n    raises(match="{expected}")\n'),
    )
    assert needs(words) == shared


def test_another_error_than_before_is_needed(tmp_path: Path) -> None:
    tests = (
        "import shelf\n",
        "import shelf, pytest\n\n\ndef test_put():\n    with pytest.raises(ValueError):\n        shelf.put(1)\n",
    )
    put = "def put(book):\n    raise {}(book)\n\n\ndef get(book):\n    call(ValueError)\n"
    words = changed(tmp_path / "r", (put.format("TypeError"), put.format("ValueError")), tests)
    assert needs(words) == {("error", "ValueError")}
    asserted = "def put(book):\n    assert book\n\n\ndef get(book):\n    call(ValueError)\n"
    words = changed(tmp_path / "t", (asserted, put.format("ValueError")), tests)
    assert needs(words) == {("error", "ValueError")}
    # Where nothing was raised before, most people would raise the same.
    words = changed(tmp_path / "s", ("def put(book):\n    pass\n", put.format("ValueError")), tests)
    assert needs(words) == set()


def test_code_that_the_fix_takes_away_is_known(tmp_path: Path) -> None:
    words = changed(
        tmp_path / "r",
        (
            "def put(self):\n    return wrap(text, self.width - self.indent)\n\n\ndef old(a):\n    return a.b[a] + c\n",
            "def put(self):\n    return wrap(text, self.width)\n\n\ndef new(a):\n    return a.b[a] + c\n",
        ),
        ("import shelf\n", "import shelf\n\n\ndef test_put():\n    pass\n"),
    )
    assert [run for run in words.removed if "indent" in run] == ["text , self . width - self . indent )"]
    assert not [run for run in words.removed if "a . b" in run]


def test_code_that_stands_elsewhere_too_is_taken_away_where_it_gets_rarer(tmp_path: Path) -> None:
    kept = "\n\ndef title(self):\n    return self.width - self.indent\n"
    words = changed(
        tmp_path / "r",
        (
            f"def put(self):\n    wrap(self.width - self.indent)\n{kept}",
            f"def put(self):\n    wrap(self.width)\n{kept}",
        ),
        ("import shelf\n", "import shelf\n\n\ndef test_put():\n    pass\n"),
    )
    assert any("self . width - self . indent" in run for run in words.removed)


def test_short_strings_of_new_test_lines_are_kept(tmp_path: Path) -> None:
    words = changed(
        tmp_path / "r",
        ("def put(book):\n    pass\n", "def put(book):\n    return book\n"),
        (
            "def test_old():\n    assert put('old') == 'older'\n",
            "def test_old():\n    assert put('old') == 'older'\n    assert put('bar#abc') == 'bar#abc/' != 'a' * 2\n",
        ),
    )
    assert words.said == ("bar#abc", "bar#abc/")
