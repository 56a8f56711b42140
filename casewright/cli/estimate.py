"""What a mining run would take: hours and disk, from the first few candidates and the environments that all need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from authoring.candidate import EraDate, Prepared, prepare
from authoring.desk import Desk
from casewright.cli.output import size_shown, table
from casewright.cli.progress import duration
from casewright.store import ENVIRONMENTS, tree_size
from execution.build import environment_key
from miner.change import Change
from miner.judgement import Judgement

# Preparing a candidate costs some calls of git; so many, evenly spread, tell how many environments all need.
PREPARED: Final = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """``candidates`` in all, ``judged`` of them measured; ``seconds`` of wall time for all with ``jobs`` at once.

    ``environments`` and ``disk`` (bytes) are what all candidates together need; both are upper bounds, since eras
    repeat.
    """

    candidates: int
    judged: int
    jobs: int
    seconds: int
    environments: int
    disk: int


def estimate(
    desk: Desk, changes: Sequence[Change], judged: Sequence[Judgement], jobs: int, era_date: EraDate
) -> Estimate:
    """Estimate from judged candidates; ``era_date`` must keep nothing that counts."""
    step = max(1, len(changes) // PREPARED)
    sample = changes[::step]
    prepared = [
        ready for ready in (prepare(change, desk, era_date) for change in sample) if isinstance(ready, Prepared)
    ]
    keys = {environment_key(ready.request.recipe) for ready in prepared}
    environments = round(len(keys) / max(1, len(sample)) * len(changes))
    folders = [desk.tools.store.root / ENVIRONMENTS / key for key in keys]
    sizes = [tree_size(folder) for folder in folders if folder.is_dir()]
    return extrapolated(judged, len(changes), jobs, environments, sizes)


def extrapolated(
    judged: Sequence[Judgement], candidates: int, jobs: int, environments: int, sizes: Sequence[int]
) -> Estimate:
    """Scale what was measured up: each candidate is run and reproduced, each environment is built once."""
    runs = [row.test_milliseconds + row.reproduction_milliseconds for row in judged]
    builds = [row.build_milliseconds for row in judged if row.build_milliseconds]
    milliseconds = _mean(runs) * candidates + _mean(builds) * environments
    return Estimate(
        candidates=candidates,
        judged=len(judged),
        jobs=jobs,
        seconds=round(milliseconds / 1000 / jobs),
        environments=environments,
        disk=round(_mean(sizes) * environments),
    )


def estimate_object(found: Estimate) -> dict[str, Any]:
    """Return the object that ``mine --plan --format json`` prints."""
    return {
        "candidates": found.candidates,
        "judged": found.judged,
        "jobs": found.jobs,
        "hours": round(found.seconds / 3600, 2),
        "environments": found.environments,
        "disk_bytes": found.disk,
    }


def estimate_text(found: Estimate) -> str:
    """Return the same for people."""
    if not found.judged:
        return "No candidate to estimate from."
    rows = [
        ("candidates", f"{found.candidates:,}, of which {found.judged} were judged to estimate from"),
        ("time", f"about {duration(found.seconds)} with {found.jobs} at once (--jobs)"),
        ("environments", f"at most {found.environments:,}"),
        ("disk", f"at most {size_shown(found.disk)} in the cache"),
    ]
    return table(rows)


def _mean(numbers: Sequence[int]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0
