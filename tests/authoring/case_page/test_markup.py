"""Nothing that a stranger wrote becomes markup, and nothing of it stays out of sight."""

from __future__ import annotations

import html
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from authoring.case_page.markup import attribute, block, bytes_shown, link, shown
from tests.support.browser import elements


@given(st.text())
def test_text_opens_no_tag_and_holds_all_that_can_be_seen(text: str) -> None:
    made = shown(text)
    assert {element.name for element in elements(made)} <= {"span"}
    bare = html.unescape(re.sub(r'<span class="unseen" title="[^"<>]*">(.*?)</span>', r"\1", made))
    for character in text:
        if character.isprintable():
            assert character in bare
    assert not any(unicodedata.category(one) in {"Cc", "Cf"} and one not in "\n\t" for one in bare)


@given(st.text())
def test_an_attribute_ends_where_it_should(text: str) -> None:
    (element,) = elements(f'<p title="{attribute(text)}" id="after"></p>')
    assert element.attributes["id"] == "after"


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("a < b & 'c' \"d\" ]]>", "a &lt; b &amp; &#x27;c&#x27; &quot;d&quot; ]]&gt;"),
        ("a\n\tb\u00a0\u3000c", "a\n\tb\u00a0\u3000c"),
        ("\u202e", '<span class="unseen" title="RIGHT-TO-LEFT OVERRIDE">U+202E</span>'),
        ("\r", '<span class="unseen" title="a character without a name">U+000D</span>'),
        ("\udce9", "\\xe9"),
        ("caf\u00e9 \U0001f600 \u05d0", "caf\u00e9 \U0001f600 \u05d0"),
    ],
)
def test_what_it_looks_like(text: str, made: str) -> None:
    assert shown(text) == made


def test_bytes_that_are_no_text_are_shown_by_number() -> None:
    assert bytes_shown(b"caf\xe9<") == "caf\\xe9&lt;"


def test_only_a_web_page_is_linked() -> None:
    assert link("javascript:alert(1)", "x<") == "x&lt;"
    assert link("file:///etc/passwd", "x") == "x"
    (element,) = elements(link('https://x.org/"onclick="a', "x"))
    assert element.attributes == {"href": 'https://x.org/"onclick="a', "rel": "noreferrer noopener"}


def test_a_block_keeps_a_command_as_it_is() -> None:
    pre, code = elements(block("cat <<'E' > x && y\n\tz", 'the "set-up"'))
    assert pre.attributes["aria-label"] == 'the "set-up"'
    assert code.text == "cat <<'E' > x && y\n\tz"
