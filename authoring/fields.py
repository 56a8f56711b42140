"""What a single field of a case may hold: strict types for the models, and the words for what a pattern asks for.

DEL and lone surrogates have no canonical JSON, so no text holds them; a line holds no control character at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import Field

from casewright.configuration import REPOSITORY_ID_PATTERN
from casewright.hashing import LARGEST_INTEGER

_DAY_DIGITS = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_SLUG = r"^[a-z0-9][a-z0-9-]*$"
_CODE = r"^[a-z][a-z0-9-]*$"
_OBJECT_ID = r"^([0-9a-f]{40}|[0-9a-f]{64})$"
_HEX64 = r"^[0-9a-f]{64}$"
_DIGEST = r"^sha256:[0-9a-f]{64}$"
_DAY = f"^{_DAY_DIGITS}$"
_MOMENT = f"^{_DAY_DIGITS}T([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)Z$"
_LINE = r"^[^\x00-\x1f\x7f]*$"
_FULL_LINE = r"^[^\x00-\x1f\x7f]+$"
_PROSE = r"^[^\x00-\x08\x0b-\x1f\x7f-\x9f]*$"
_TEXT = r"^[^\x7f]*$"
_COMMAND = r"^[^\x00\x7f]+$"
_RELATIVE_PATH = r"^[^\x00\x7f/][^\x00\x7f]*$"
_URL = r"^[^\x00-\x20\x7f]+$"

PHRASES: Final[Mapping[str, str]] = {
    _SLUG: "a slug of lowercase letters, digits and hyphens",
    _CODE: "a code such as red-at-both",
    REPOSITORY_ID_PATTERN: "a repository id such as owner/name",
    _OBJECT_ID: "a full lowercase object id (40 or 64 hex digits)",
    _HEX64: "64 lowercase hex digits",
    _DIGEST: "a digest (sha256: and 64 lowercase hex digits)",
    _DAY: "a day such as 2026-08-29",
    _MOMENT: "a moment in UTC such as 2026-08-29T12:30:45Z",
    _LINE: "one line without control characters",
    _FULL_LINE: "one line of text",
    _PROSE: "text without control characters other than newline and tab",
    _TEXT: "text without DEL",
    _COMMAND: "a command",
    _RELATIVE_PATH: "a path from the clone's root",
    _URL: "an address without blanks",
}

Slug = Annotated[str, Field(pattern=_SLUG, max_length=200)]
Code = Annotated[str, Field(pattern=_CODE)]
RepositoryId = Annotated[str, Field(pattern=REPOSITORY_ID_PATTERN)]
ObjectId = Annotated[str, Field(pattern=_OBJECT_ID)]
Hex64 = Annotated[str, Field(pattern=_HEX64)]
Digest = Annotated[str, Field(pattern=_DIGEST)]
Day = Annotated[str, Field(pattern=_DAY)]
Moment = Annotated[str, Field(pattern=_MOMENT)]
Line = Annotated[str, Field(pattern=_LINE)]
FullLine = Annotated[str, Field(pattern=_FULL_LINE)]
Prose = Annotated[str, Field(pattern=_PROSE)]
Text = Annotated[str, Field(pattern=_TEXT)]
Command = Annotated[str, Field(pattern=_COMMAND)]
RelativePath = Annotated[str, Field(pattern=_RELATIVE_PATH)]
Url = Annotated[str, Field(pattern=_URL)]
Count = Annotated[int, Field(ge=0, le=LARGEST_INTEGER)]
Positive = Annotated[int, Field(ge=1, le=LARGEST_INTEGER)]
Whole = Annotated[int, Field(ge=-LARGEST_INTEGER, le=LARGEST_INTEGER)]
