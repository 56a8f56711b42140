"""The JSON Schemas of the formats: draft, configuration and library, made from the models.

The library's schema also lies in ``library/formats`` as a file, so that ``check`` needs no models; a test holds it
current. Write it anew with ``write_library_schema``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from authoring.case import Case, Record
from authoring.fields import Count, Day, Digest, FullLine, Hex64, Positive, Prose, Slug, Url, Whole
from casewright.configuration import Configuration
from library.release import LIBRARY_SCHEMA
from library.selection import Spread

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
LIBRARY_SCHEMA_FILE: Final = Path(__file__).parent / "formats" / "library-v1.schema.json"


class LibraryIdentity(Record):
    """Who publishes what under which name."""

    id: Slug
    title: FullLine
    description: Prose
    url: Url | None
    licence: FullLine | None
    maintainers: tuple[FullLine, ...]


class Previous(Record):
    """The version before this one."""

    version: Positive
    entries_digest: Digest


class RevisedCase(Record):
    """A case that changed, and in which fields (dotted names)."""

    id: Slug
    fields: tuple[FullLine, ...]


class Changes(Record):
    """What changed since the previous version, computed; ``note`` is the author's."""

    added: tuple[Slug, ...]
    removed: tuple[Slug, ...]
    revised: tuple[RevisedCase, ...]
    note: Prose


class CountRow(Record):
    """How many cases one repository, language or category has."""

    name: FullLine
    cases: Positive


class ReviewCounts(Record):
    """How many cases a person has read, and how many nobody has."""

    verified: Count
    auto: Count


class ModeCounts(Record):
    """How many cases are graded by each test, and how many by the exit code alone."""

    per_test: Count
    exit_code: Count


class LibraryCounts(Record):
    """What the library holds, computed."""

    cases: Count
    repositories: tuple[CountRow, ...]
    languages: tuple[CountRow, ...]
    categories: tuple[CountRow, ...]
    review: ReviewCounts
    modes: ModeCounts


class SelectionRecord(Record):
    """How the cases were chosen from those that were ready."""

    since: Day | None
    limit: Positive | None
    spread: tuple[Spread, ...]
    seed: Whole


class Rejections(Record):
    """The file beside the library that lists what was refused, with its sha256."""

    file: FullLine
    sha256: Hex64


class Withdrawn(Record):
    """A case of an earlier version that is no longer part of the library, and why."""

    id: Slug
    case_digest: Digest
    reason: FullLine


class LibraryCase(Case):
    """A draft's object unchanged, and its digest."""

    model_config = ConfigDict(title="library case")

    case_digest: Digest


class Library(Record):
    """A released version, its keys in file order."""

    model_config = ConfigDict(title="casewright library")

    schema_: Annotated[Literal["casewright.library/v1"], Field(alias="schema")] = LIBRARY_SCHEMA
    library: LibraryIdentity
    version: Positive
    published: Day
    previous: Previous | None
    changes: Changes
    counts: LibraryCounts
    selection: SelectionRecord | None
    limits: Annotated[tuple[FullLine, ...], Field(min_length=1)]
    rejections: Rejections
    withdrawn: tuple[Withdrawn, ...]
    header_digest: Digest
    entries_digest: Digest
    cases: tuple[LibraryCase, ...]


def json_schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schemas by the name of the format: ``draft``, ``configuration``, ``library``."""
    return {
        "draft": _schema(Case, "validation"),
        "configuration": _schema(Configuration, "validation"),
        "library": _schema(Library, "serialization"),
    }


def _schema(model: type[BaseModel], mode: Literal["validation", "serialization"]) -> dict[str, Any]:
    return {"$schema": DIALECT, **model.model_json_schema(mode=mode, by_alias=True)}


def write_library_schema() -> None:
    """Write the library's schema to the file that ``check`` reads; for developers, after a change of the models."""
    LIBRARY_SCHEMA_FILE.write_text(json.dumps(json_schemas()["library"], indent=2) + "\n", encoding="utf-8")
