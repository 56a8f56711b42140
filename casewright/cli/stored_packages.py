"""Which packages the stored environments consist of: exact versions, and how many environments hold each."""

from __future__ import annotations

import json
from collections import Counter

from casewright.store import ENVIRONMENTS, Store
from execution.build import RECORD


def stored_packages(store: Store) -> dict[str, int]:
    """Return every ``name==version`` (Python) and ``name@version`` (JavaScript) with the environments that hold it.

    An environment whose record can't be read counts for nothing: it is made again when it is needed.
    """
    counts: Counter[str] = Counter()
    for entry in store.entries():
        if entry.kind == ENVIRONMENTS:
            counts.update(_packages((entry.path / RECORD).read_bytes() if (entry.path / RECORD).is_file() else b""))
    return dict(sorted(counts.items()))


def _packages(record: bytes) -> set[str]:
    try:
        listed = json.loads(record)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return set()
    # A dependency may carry hashes on further lines; the name and version are the first word.
    return {str(dependency).split()[0] for dependency in listed if str(dependency).strip()}
