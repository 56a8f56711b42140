"""How to cite a library, or one of its cases: what names the exact bytes, and its limits beside its counts. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from library.counting import totals
from library.release import find_case


class CitationForm(StrEnum):
    """The forms that a citation can have."""

    TEXT = "text"
    BIBTEX = "bibtex"
    CFF = "cff"


def cite(document: Mapping[str, Any], form: CitationForm = CitationForm.TEXT, case_id: str | None = None) -> str:
    """Return the citation of a checked library, or of one case of it, ending with a newline.

    Raises ``InvalidInputError`` when the library has no case of that id.
    """
    case = find_case(document, case_id) if case_id is not None else None
    match form:
        case CitationForm.TEXT:
            return _text(document, case)
        case CitationForm.BIBTEX:
            return _bibtex(document, case)
        case CitationForm.CFF:
            return _cff(document, case)


def holdings(document: Mapping[str, Any]) -> str:
    """Return counts and limits together, as every table shows them; several lines."""
    counts = document["counts"]
    numbers = totals(counts)
    lines = [
        ", ".join(_counted(number, name) for name, number in numbers.items())
        + f"; read by a person: {counts['review']['verified']}, by nobody: {counts['review']['auto']}"
    ]
    return "\n".join([*lines, *(f"Limit: {text}" for text in document["limits"])])


def _counted(number: int, name: str) -> str:
    single = {"repositories": "repository", "categories": "category"}.get(name, name.removesuffix("s"))
    return f"{number} {single if number == 1 else name}"


def _repositories(document: Mapping[str, Any]) -> list[str]:
    return [row["name"] for row in document["counts"]["repositories"]]


def _licences(document: Mapping[str, Any]) -> str:
    by_repository: dict[str, set[str]] = {}
    for case in document["cases"]:
        by_repository.setdefault(case["repository_id"], set()).add(case["source"]["licence"] or "not known")
    return ", ".join(f"{name} ({' and '.join(sorted(found))})" for name, found in sorted(by_repository.items()))


def _text(document: Mapping[str, Any], case: Mapping[str, Any] | None) -> str:
    library = document["library"]
    lines = [f"{library['title']} ({library['id']}), version {document['version']}, published {document['published']}."]
    if library["maintainers"]:
        lines.append(f"By {', '.join(library['maintainers'])}.")
    if library["url"]:
        lines.append(library["url"])
    lines.append(f"Entries: {document['entries_digest']}")
    if case:
        lines += [
            f"Case: {case['id']}, version {case['case_version']}, {case['case_digest']}",
            f"Pins: {case['repository_url']} {case['base_commit']} {case['grading_commit']}",
        ]
    lines += [
        f"Licence of the library: {library['licence'] or 'not stated'}",
        f"Repositories: {_licences(document)}",
        holdings(document),
    ]
    return "\n".join(lines) + "\n"


def _note(document: Mapping[str, Any], case: Mapping[str, Any] | None) -> str:
    note = f"version {document['version']}, entries {document['entries_digest']}"
    return f"{note}, case {case['id']} {case['case_digest']}" if case else note


def _bibtex(document: Mapping[str, Any], case: Mapping[str, Any] | None) -> str:
    library = document["library"]
    key = f"{library['id']}-v{document['version']}" + (f"-{case['id']}" if case else "")
    fields = {
        "title": library["title"],
        "author": " and ".join(f"{{{_escaped(name)}}}" for name in library["maintainers"]),
        "year": document["published"][:4],
        "month": document["published"][5:7].lstrip("0"),
        "version": str(document["version"]),
        "url": library["url"] or "",
        "note": f"{_note(document, case)}; repositories: {', '.join(_repositories(document))}",
    }
    # Names of maintainers and the address are protected or verbatim already.
    raw = {"author", "url"}
    rows = [f"  {name} = {{{value if name in raw else _escaped(value)}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *rows, "}"]) + "\n"


def _escaped(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return re.sub(r"[\\~^&%$#_{}]", lambda found: special.get(found[0], "\\" + found[0]), text)


def _cff(document: Mapping[str, Any], case: Mapping[str, Any] | None) -> str:
    """A citation file (CFF 1.2.0). JSON strings are YAML strings, so no YAML writer is needed."""
    library = document["library"]
    authors = library["maintainers"] or [library["title"]]
    lines = [
        "cff-version: 1.2.0",
        'message: "Cite the library with its version and entries digest, and name the repositories."',
        "type: dataset",
        f"title: {_quoted(library['title'])}",
        "authors:",
        *(f"  - name: {_quoted(name)}" for name in authors),
        f"version: {_quoted(str(document['version']))}",
        f"date-released: {document['published']}",
        *([f"url: {_quoted(library['url'])}"] if library["url"] else []),
        *([f"license: {_quoted(library['licence'])}"] if library["licence"] else []),
        "identifiers:",
        "  - type: other",
        f"    value: {_quoted(document['entries_digest'])}",
        '    description: "Digest of the entries: jq -cjS .cases FILE | sha256sum"',
    ]
    if case:
        lines += [
            "  - type: other",
            f"    value: {_quoted(case['case_digest'])}",
            f"    description: {_quoted('Digest of the case ' + case['id'])}",
        ]
    lines += ["keywords:", *(f"  - {_quoted(name)}" for name in _repositories(document))]
    lines.append(f"abstract: {_quoted(holdings(document))}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text)
