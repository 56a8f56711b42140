"""What changed from one version of a library to another: cases added, removed, revised, and in which fields. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from casewright.hashing import canonical_bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Revision:
    """A case that is in both versions and not the same; ``fields`` are dotted names such as ``grading.check``."""

    id: str
    fields: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """The difference between two versions; ids are sorted. ``header`` names fields outside the entries."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    revised: tuple[Revision, ...]
    header: tuple[str, ...] = ()

    @property
    def same_entries(self) -> bool:
        return not (self.added or self.removed or self.revised)


def compare_cases(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> Comparison:
    """Compare two lists of entries by id; ``case_digest`` is not a field of its own."""
    before = {case["id"]: case for case in old}
    after = {case["id"]: case for case in new}
    revised = []
    for case_id in sorted(before.keys() & after.keys()):
        fields = tuple(_changed(before[case_id], after[case_id], depth=2))
        if fields:
            revised.append(Revision(id=case_id, fields=fields))
    return Comparison(
        added=tuple(sorted(after.keys() - before.keys())),
        removed=tuple(sorted(before.keys() - after.keys())),
        revised=tuple(revised),
    )


def compare_libraries(old: Mapping[str, Any], new: Mapping[str, Any]) -> Comparison:
    """Compare two whole documents."""
    entries = compare_cases(old["cases"], new["cases"])
    computed = {"cases", "entries_digest", "header_digest", "changes", "counts", "previous", "rejections"}
    header = tuple(field for field in _changed(old, new, depth=2) if field.split(".")[0] not in computed)
    return Comparison(added=entries.added, removed=entries.removed, revised=entries.revised, header=header)


def _changed(old: Mapping[str, Any], new: Mapping[str, Any], depth: int, prefix: str = "") -> Iterator[str]:
    for key in dict.fromkeys((*old, *new)):
        if key == "case_digest" and not prefix:
            continue
        before, after = old.get(key), new.get(key)
        if canonical_bytes(before) == canonical_bytes(after):
            continue
        if depth > 1 and isinstance(before, Mapping) and isinstance(after, Mapping):
            yield from _changed(before, after, depth - 1, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"
