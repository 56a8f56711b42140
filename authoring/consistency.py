"""The rules that join several fields of a case, over the plain object that a draft and a library entry both are.

No models are needed here: a library's check starts fast and reads entries that no model has seen. What a single field
may hold (types, patterns, which keys there are) is the schema's part and must have been checked before.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from authoring.apply_command import apply_command
from casewright.hashing import digest, digest_text
from miner.hunks import TestHunk

Place = tuple[str | int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """Something wrong at a place (keys and list indices from the case's root), and what to do about it."""

    place: Place
    message: str


def record_digest(plain: Mapping[str, Any]) -> str:
    """Return the digest of a case's record: url, pins, environment, grading, verification (less this digest itself).

    These are the fields that a tool wrote from what it saw, so an edit by hand there shows.
    """
    verification = {key: value for key, value in plain["verification"].items() if key != "record_digest"}
    names = ("repository_url", "base_commit", "grading_commit", "environment", "grading")
    return digest({**{name: plain[name] for name in names}, "verification": verification})


def task_digest(task: str) -> str:
    """Return the digest that ``review`` keeps of a task text: over its UTF-8 bytes."""
    return digest_text(task)


def faults(plain: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield every contradiction inside one case whose fields are right one by one."""
    if plain["base_commit"] == plain["grading_commit"]:
        yield Fault(place=("grading_commit",), message="is the base commit too: nothing is graded")
    elif len(plain["base_commit"]) != len(plain["grading_commit"]):
        yield Fault(place=("grading_commit",), message="has another length than the base commit")
    yield from _path_faults(plain["grading"])
    yield from _hunk_faults(plain["grading"])
    yield from _command_faults(plain)
    yield from _test_faults(plain["grading"])
    yield from _proof_faults(plain)
    yield from _review_faults(plain["review"])
    expected = record_digest(plain)
    if plain["verification"]["record_digest"] != expected:
        yield Fault(
            place=("verification", "record_digest"),
            message=f"the record was edited by hand (its digest is {expected}); verify the case again",
        )


def paths_of_test_part(grading: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the whole test part: graded, support and excluded files, each once, sorted by bytes."""
    names = {*grading["files"], *grading["support_files"], *(row["path"] for row in grading["excluded_files"])}
    return tuple(sorted(names, key=str.encode))


def hunks_of_test_part(grading: Mapping[str, Any]) -> tuple[TestHunk, ...]:
    """Return what the test part holds of files that hold source too, in the record's order."""
    rows = grading.get("test_hunks", ())
    return tuple(TestHunk(**{**row, "path": row["path"].encode("utf-8", "surrogateescape")}) for row in rows)


def effective_state(plain: Mapping[str, Any]) -> str:
    """Return ``verified`` only if a person has read exactly the task text that stands there now, else ``auto``."""
    review = plain["review"]
    read = review["state"] == "verified" and review["task_digest"] == task_digest(plain["task"])
    return "verified" if read else "auto"


def _path_faults(grading: Mapping[str, Any]) -> Iterator[Fault]:
    seen: dict[str, str] = {}
    excluded = [row["path"] for row in grading["excluded_files"]]
    for key, names in (
        ("files", grading["files"]),
        ("support_files", grading["support_files"]),
        ("excluded_files", excluded),
    ):
        if list(names) != sorted(names, key=str.encode):
            yield Fault(place=("grading", key), message="is not sorted by bytes")
        for index, name in enumerate(names):
            place = ("grading", key, index)
            if posixpath.normpath(name) != name or name.startswith("../") or name in {".", ".."}:
                yield Fault(place=place, message=f"{name!r} is not a plain path from the clone's root")
            if name in seen:
                yield Fault(place=place, message=f"{name!r} stands in {seen[name]} already")
            seen[name] = key
    directory = grading["directory"]
    if posixpath.normpath(directory) != directory or directory.split("/")[0] == "..":
        yield Fault(place=("grading", "directory"), message=f"{directory!r} is not a plain path from the clone's root")


def _hunk_faults(grading: Mapping[str, Any]) -> Iterator[Fault]:
    named = set(paths_of_test_part(grading))
    before: tuple[bytes, int] = (b"", 0)
    if grading.get("test_hunks", None) == []:
        yield Fault(place=("grading", "test_hunks"), message="is empty: leave the key out")
    for index, hunk in enumerate(hunks_of_test_part(grading)):
        place = ("grading", "test_hunks", index)
        path = hunk.path.decode("utf-8", "surrogateescape")
        if path not in named:
            yield Fault(place=(*place, "path"), message=f"{path!r} is no file of the test part")
        if not (hunk.base_lines or hunk.grading_lines):
            yield Fault(place=place, message="changes nothing")
        if (hunk.path, hunk.base_line) < before:
            yield Fault(place=place, message="overlaps the hunk before it, or is not sorted by path and line")
        before = (hunk.path, hunk.base_line + hunk.base_lines)


def _command_faults(plain: Mapping[str, Any]) -> Iterator[Fault]:
    paths = [path.encode() for path in paths_of_test_part(plain["grading"])]
    hunks = hunks_of_test_part(plain["grading"])
    expected = apply_command(plain["base_commit"], plain["grading_commit"], paths, hunks)
    if plain["grading"]["apply"] != expected:
        yield Fault(place=("grading", "apply"), message=f"differs from what pins and files give: {expected}")


def _test_faults(grading: Mapping[str, Any]) -> Iterator[Fault]:
    lists = ("fail_to_pass", "pass_to_pass", "skipped_at_head", "unstable_at_base")
    if grading["mode"] == "exit-code":
        for key in (*lists, "fails_by"):
            if grading[key]:
                yield Fault(place=("grading", key), message="must be empty when the exit code alone grades")
        return
    if not grading["fail_to_pass"]:
        yield Fault(place=("grading", "fail_to_pass"), message="is empty: the case grades nothing")
    seen: dict[str, str] = {}
    for key in lists:
        for index, test in enumerate(grading[key]):
            # A test may be unstable at the base and pass at the head, but it has one place in the record.
            if test in seen:
                yield Fault(place=("grading", key, index), message=f"{test!r} stands in {seen[test]} already")
            seen[test] = key
    failing = set(grading["fail_to_pass"])
    for index, row in enumerate(grading["fails_by"]):
        if row["id"] not in failing:
            yield Fault(place=("grading", "fails_by", index, "id"), message=f"{row['id']!r} is not in fail_to_pass")


def _proof_faults(plain: Mapping[str, Any]) -> Iterator[Fault]:
    base, head = plain["verification"]["base"], plain["verification"]["head"]
    if base["exit_code"] == 0 and not _ends_early(plain["grading"]):
        yield Fault(place=("verification", "base", "exit_code"), message="is 0: the base was not seen to fail")
    if head["exit_code"] != 0:
        yield Fault(place=("verification", "head", "exit_code"), message="is not 0: the head was not seen to pass")
    for kind in ("failed", "error"):
        if head["counts"][kind]:
            yield Fault(
                place=("verification", "head", "counts", kind), message="is not 0: the head was not seen to pass"
            )
    grading = plain["grading"]
    needed = len(grading["fail_to_pass"]) + len(grading["pass_to_pass"])
    if grading["mode"] == "per-test" and head["counts"]["passed"] < needed:
        message = f"is less than the {needed} tests that fail_to_pass and pass_to_pass name"
        yield Fault(place=("verification", "head", "counts", "passed"), message=message)


def _ends_early(grading: Mapping[str, Any]) -> bool:
    """Say whether the base ends before any of the fail-to-pass tests, whatever its exit code: what is missing fails."""
    return bool(grading["fails_by"]) and all(row["how"] in {"crash", "missing"} for row in grading["fails_by"])


def _review_faults(review: Mapping[str, Any]) -> Iterator[Fault]:
    for key in ("by", "date", "task_digest"):
        if review["state"] == "verified" and review[key] is None:
            yield Fault(place=("review", key), message="is missing: say who read the case, when, and which text")
