"""The integrity check of a released library: fails closed, tells every fault with its place.

A place is a JSON pointer into the file. The check reads plain JSON, needs no models, no network and no git; looking the
pins up in a clone is left to a function of the caller's (``pin_faults``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from authoring.consistency import Fault, Place, hunks_of_test_part, paths_of_test_part
from authoring.consistency import faults as case_faults
from casewright.errors import InvalidInputError
from casewright.hashing import digest_file, read_json
from library.compare import compare_cases
from library.counting import STATED_LIMITS, count_cases, wrong_claims
from library.release import (
    LIBRARY_SCHEMA,
    case_digest,
    entries_digest,
    header_digest,
    rejections_name,
    release_bytes,
    released,
)
from library.shape import shape_faults

_SCHEMA_FILE = Path(__file__).parent / "formats" / "library-v1.schema.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckReport:
    """What a check found. ``faults`` are lines ``/json/pointer: what is wrong``; none means that the file is whole.

    ``document`` is the library where the file could be read as one, with or without faults.
    """

    name: str
    faults: tuple[str, ...]
    document: Mapping[str, Any] | None = None

    @property
    def whole(self) -> bool:
        return not self.faults


@dataclass(frozen=True, kw_only=True, slots=True)
class PinFacts:
    """What a clone says of a case's pins; ``changed`` are the paths that differ between them, as bytes."""

    base_found: bool
    grading_found: bool
    base_is_ancestor: bool = False
    changed: frozenset[bytes] = frozenset()


PinLookup = Callable[[str, str, str], PinFacts]


def check_file(path: Path) -> CheckReport:
    """Check a released file and the rejections beside it. Raises ``InvalidInputError`` when it can't be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"{path} can't be read: {error.strerror}", "name a file of releases/") from error
    report = check_library(data, path.name)
    if report.document is None:
        return report
    beside = _rejection_faults(path, report.document) if not report.faults else ()
    return CheckReport(name=report.name, faults=(*report.faults, *beside), document=report.document)


def check_library(data: bytes, name: str) -> CheckReport:
    """Check the bytes of a library; ``name`` is what errors call it. Nothing is raised: all is in the report."""
    try:
        document = read_json(data, name)
    except InvalidInputError as error:
        return CheckReport(name=name, faults=(f"/: {error.message.removeprefix(name + ': ')}",))
    stranger = _stranger(document)
    if stranger or not isinstance(document, dict):
        return CheckReport(name=name, faults=(f"/schema: {stranger}",))
    form = tuple(shape_faults(document, json.loads(_SCHEMA_FILE.read_bytes())))
    if form:
        return CheckReport(name=name, faults=_shown(form), document=None)
    found = _shown((*_entry_faults(document), *_header_faults(document)))
    if not found and data != release_bytes(document):
        found = ("/: the bytes are not those of a release (indents, line ends or escapes were changed)",)
    return CheckReport(name=name, faults=found, document=document)


def load_library(path: Path) -> Mapping[str, Any]:
    """Return a library that the check finds whole. Raises ``InvalidInputError`` with the first faults otherwise."""
    report = check_file(path)
    if report.document is None or report.faults:
        more = f" (and {len(report.faults) - 3} more)" if len(report.faults) > 3 else ""
        raise InvalidInputError(
            f"{path} is not whole: {'; '.join(report.faults[:3])}{more}", f"see `casewright check {path}`"
        )
    return report.document


def check_history(folder: Path, library: str | None = None) -> tuple[CheckReport, ...]:
    """Check every version of a folder and the chain that ``previous`` makes of them; one report for each file.

    Raises ``InvalidInputError`` when the folder holds no released library.
    """
    files = released(folder, library)
    if not files:
        raise InvalidInputError(f"there is no released library in {folder}", "name a folder such as releases/")
    reports: list[CheckReport] = []
    before: Mapping[str, Any] | None = None
    expected = ("", 0)
    for file in files:
        report = check_file(file.path)
        chain: list[Fault] = []
        same = file.library == expected[0]
        if file.version != (expected[1] + 1 if same else 1):
            missing = expected[1] + 1 if same else 1
            chain.append(Fault(place=("previous",), message=f"version {missing} of {file.library} is not here"))
        elif report.document is not None and same and before is not None:
            chain += _chain_faults(before, report.document)
        reports.append(CheckReport(name=report.name, faults=(*report.faults, *_shown(chain)), document=report.document))
        before, expected = report.document, (file.library, file.version)
    return tuple(reports)


def pin_faults(document: Mapping[str, Any], lookup: PinLookup) -> tuple[str, ...]:
    """Hold each case's pins against what ``lookup(url, base, grading)`` says of a plain clone of the url."""
    found: list[Fault] = []
    for index, case in enumerate(document["cases"]):
        facts = lookup(case["repository_url"], case["base_commit"], case["grading_commit"])
        place = ("cases", index)
        for key, there in (("base_commit", facts.base_found), ("grading_commit", facts.grading_found)):
            if not there:
                found.append(Fault(place=(*place, key), message=f"{case[key]} is not in a plain clone"))
        if not (facts.base_found and facts.grading_found):
            continue
        if not facts.base_is_ancestor:
            found.append(Fault(place=(*place, "base_commit"), message="is no ancestor of the grading commit"))
        part = paths_of_test_part(case["grading"])
        # Of a file that is split only its tests are covered.
        whole = {path.encode() for path in part} - {hunk.path for hunk in hunks_of_test_part(case["grading"])}
        if facts.changed <= whole:
            found.append(Fault(place=(*place, "grading"), message="covers the whole change: nothing is left to do"))
        found += [
            Fault(place=(*place, "grading"), message=f"{path!r} does not change between the pins")
            for path in part
            if path.encode() not in facts.changed
        ]
    return _shown(found)


def _stranger(document: object) -> str:
    """Say why a document is not of the format that this program reads; empty when it is."""
    if not isinstance(document, dict):
        return "is missing: this is not a library"
    schema = document.get("schema")
    later = re.fullmatch(r"casewright\.library/v([0-9]+)", schema) if isinstance(schema, str) else None
    if schema == LIBRARY_SCHEMA:
        return ""
    if later:
        return f"is {schema}, which this casewright can't read (it reads {LIBRARY_SCHEMA}); use a later casewright"
    return f"is {schema!a}, not {LIBRARY_SCHEMA}"


def _entry_faults(document: Mapping[str, Any]) -> Iterator[Fault]:
    cases = document["cases"]
    ids = [case["id"] for case in cases]
    for index, case in enumerate(cases):
        place = ("cases", index)
        if index and ids[index - 1] == case["id"]:
            yield Fault(place=(*place, "id"), message=f"{case['id']} stands twice")
        elif index and ids[index - 1] > case["id"]:
            yield Fault(place=(*place, "id"), message=f"{case['id']} is not sorted")
        expected = case_digest(case)
        if case["case_digest"] != expected:
            yield Fault(place=(*place, "case_digest"), message=f"is not the digest of this case, {expected}")
        for fault in case_faults(case):
            yield Fault(place=(*place, *fault.place), message=fault.message)
        if not case["verification"]["reproduced"]:
            yield Fault(place=(*place, "verification", "reproduced"), message="is false")
    expected = entries_digest(cases)
    if document["entries_digest"] != expected:
        yield Fault(place=("entries_digest",), message=f"is not the digest of the cases, {expected}")


def _header_faults(document: Mapping[str, Any]) -> Iterator[Fault]:
    counts = count_cases(document["cases"])
    for key, value in counts.items():
        if document["counts"][key] != value:
            yield Fault(place=("counts", key), message=f"disagrees with the cases, which give {json.dumps(value)}")
    texts: dict[Place, str] = {
        ("library", "title"): document["library"]["title"],
        ("library", "description"): document["library"]["description"],
        ("changes", "note"): document["changes"]["note"],
        **{("limits", index): text for index, text in enumerate(document["limits"])},
    }
    for place, text in texts.items():
        for claim in wrong_claims(text, counts):
            yield Fault(place=place, message=claim)
    if tuple(document["limits"][1 : len(STATED_LIMITS) + 1]) != STATED_LIMITS:
        yield Fault(place=("limits",), message="does not begin with what every library states")
    if (document["previous"]["version"] if document["previous"] else 0) != document["version"] - 1:
        yield Fault(place=("previous",), message="is not the version before this one")
    yield from _withdrawal_faults(document)
    name = rejections_name(document["library"]["id"], document["version"])
    if document["rejections"]["file"] != name:
        yield Fault(place=("rejections", "file"), message=f"is not {name}")
    expected = header_digest(document)
    if document["header_digest"] != expected:
        yield Fault(place=("header_digest",), message=f"is not the digest of the header, {expected}")


def _withdrawal_faults(document: Mapping[str, Any]) -> Iterator[Fault]:
    ids = {case["id"] for case in document["cases"]}
    added = document["changes"]["added"]
    if document["previous"] is None and added != sorted(ids):
        yield Fault(place=("changes", "added"), message="a first version adds all its cases")
    for key in ("added", "removed"):
        wrong = [one for one in document["changes"][key] if (one in ids) is (key == "removed")]
        if wrong:
            yield Fault(place=("changes", key), message=f"disagrees with the cases: {', '.join(wrong)}")
    for index, row in enumerate(document["withdrawn"]):
        if row["id"] in ids:
            yield Fault(place=("withdrawn", index, "id"), message=f"{row['id']} is among the cases")


def _chain_faults(before: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[Fault]:
    previous = document["previous"]
    if previous is None or previous["entries_digest"] != before["entries_digest"]:
        message = f"does not name the entries of version {before['version']}, {before['entries_digest']}"
        yield Fault(place=("previous", "entries_digest"), message=message)
    comparison = compare_cases(before["cases"], document["cases"])
    computed = {
        "added": list(comparison.added),
        "removed": list(comparison.removed),
        "revised": [{"id": one.id, "fields": list(one.fields)} for one in comparison.revised],
    }
    for key, value in computed.items():
        if document["changes"][key] != value:
            yield Fault(place=("changes", key), message=f"is not what changed since version {before['version']}")


def _rejection_faults(path: Path, document: Mapping[str, Any]) -> tuple[str, ...]:
    beside = path.parent / document["rejections"]["file"]
    if not beside.is_file():
        return (f"/rejections/file: {beside.name} is not beside the library",)
    if digest_file(beside) != f"sha256:{document['rejections']['sha256']}":
        return (f"/rejections/sha256: is not that of {beside.name}",)
    return ()


def _shown(found: tuple[Fault, ...] | list[Fault] | Iterator[Fault]) -> tuple[str, ...]:
    return tuple(f"/{'/'.join(str(step) for step in fault.place)}: {fault.message}" for fault in found)
