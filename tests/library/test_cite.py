"""Citations name the exact bytes, the repositories and the limits."""

from __future__ import annotations

import re

import pytest

from casewright.documents import parse_document
from casewright.errors import InvalidInputError
from library.cite import CitationForm, cite
from tests.support.cases import BASE, HEAD, plain_case
from tests.support.libraries import released_document


def document() -> dict[str, object]:
    made = released_document([plain_case(id="a"), plain_case(id="b", repository_id="x/other_one", language="go")])
    made["library"]["title"] = 'Ours & "theirs" 100%: 2 cases'
    return made


def test_the_text_names_what_a_reader_needs() -> None:
    made = released_document([plain_case(id="a"), plain_case(id="b", repository_id="x/other_one", language="go")])
    text = cite(made)
    for part in (
        "Ours: 2 cases (ours), version 1, published 2026-09-01.",
        "By A. Maintainer.",
        "https://example.org/ours",
        str(made["entries_digest"]),
        "Licence of the library: CC-BY-4.0",
        "Repositories: x/other_one (Apache-2.0), yylo/ledger (Apache-2.0)",
        "2 cases, 2 repositories, 2 languages, 1 category; read by a person: 2, by nobody: 0",
        "Limit: Contamination is not measured",
        "Limit: A plain clone holds the fix",
    ):
        assert part in text
    assert text.endswith("\n")


def test_a_case_is_named_with_its_digest_and_pins() -> None:
    made = released_document([plain_case(id="a")])
    text = cite(made, case_id="a")
    assert f"Case: a, version 1, {made['cases'][0]['case_digest']}" in text
    assert f"Pins: https://example.org/yylo/ledger.git {BASE} {HEAD}" in text
    with pytest.raises(InvalidInputError, match="no case 'z'"):
        cite(made, case_id="z")


def test_bibtex_is_balanced_and_escapes_what_tex_would_read() -> None:
    text = cite(document(), CitationForm.BIBTEX, "b")
    assert text.startswith("@misc{ours-v1-b,\n")
    assert 'title = {Ours \\& "theirs" 100\\%: 2 cases},' in text
    assert "x/other\\_one" in text
    assert "author = {{A. Maintainer}}," in text
    assert "month = {9}," in text
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    escaped = "".join(line for line in text.splitlines() if "url" not in line)
    assert not re.search(r"(?<!\\)[&%#_]", escaped)


def test_the_citation_file_is_yaml_with_the_digest() -> None:
    made = document()
    read = parse_document(
        cite(made, CitationForm.CFF)
        .replace("date-released: 2026-09-01", 'date-released: "2026-09-01"')
        .replace("cff-version: 1.2.0", 'cff-version: "1.2.0"')
        .encode(),
        "CITATION.cff",
    ).root.value
    assert read["title"] == 'Ours & "theirs" 100%: 2 cases'
    assert read["identifiers"][0]["value"] == made["entries_digest"]
    assert read["keywords"] == ["x/other_one", "yylo/ledger"]
    assert (read["type"], read["version"], read["license"]) == ("dataset", "1", "CC-BY-4.0")
    assert "Limit: Passing is judged" in read["abstract"]


def test_a_library_without_url_licence_or_maintainers_is_cited_too() -> None:
    made = released_document([plain_case()])
    made["library"] |= {"url": None, "licence": None, "maintainers": []}
    assert "Licence of the library: not stated" in cite(made)
    assert "author" not in cite(made, CitationForm.BIBTEX)
    assert '  - name: "Ours: 1 cases"' in cite(made, CitationForm.CFF)
