"""How often an environment comes out right with no configuration: python benchmarks/environments/measure.py CLONES OUT

CLONES is a folder with a clone (bare or not) of each repository of repositories.json, at ``owner/name``, ``name`` or
``owner+name/repo``. Results go to OUT, a JSON object a line; a pair that is there already is not measured again.
`--only TEXT` takes the repositories whose name or language contains it, `--summary` prints the shares and the reasons
only; `--cut` makes runs shorter for a first look, and is no measurement.
What counts is written in README.md beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from casewright.errors import CasewrightError
from casewright.repository import Repository, open_source
from casewright.store import ENVIRONMENTS, Store, remove_tree, tree_size
from execution.build import BuildRefusedError, environment, environment_key
from execution.languages import LANGUAGES
from execution.languages.base import Language, Refusal
from execution.observation import RED, Observation, Outcome
from execution.recipe import Environment, Recipe
from execution.run import observe_once
from execution.sandbox import Limits, Sandbox
from execution.sandboxes import choose
from miner.admission import plan
from miner.path_rules import PathRules, Side

LIST = Path(__file__).with_name("repositories.json")
CUT_SECONDS = 600
# One word of a command may hold 128 KiB, and names of files are its largest part.
FILES_BYTES = 60_000
RIGHT_SHARE = 0.95


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """One repository at one commit."""

    repository: str
    language: str
    commit: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Bench:
    """What the measurement works with."""

    clones: Path
    store: Store
    sandbox: Sandbox
    cut_seconds: int = CUT_SECONDS


def pairs(only: str) -> Iterator[Pair]:
    """Give every pair of the list, the newest commits first, so that a cut measurement has all repositories in it."""
    rows = json.loads(LIST.read_text(encoding="utf-8"))
    for number in reversed(range(5)):
        for row in rows:
            if only in f"{row['repository']} {row['language']}":
                yield Pair(repository=row["repository"], language=row["language"], commit=row["commits"][number])


def clone_of(clones: Path, repository: str) -> Path:
    """Return the folder of a repository's clone."""
    owner, _, name = repository.partition("/")
    places = (clones / owner / name, clones / f"{owner}+{name}" / "repo", clones / name)
    found = next((place for place in places if place.is_dir()), None)
    if found is None:
        raise SystemExit(f"no clone of {repository} in {clones}: clone it there")
    return found


def measured(pair: Pair, bench: Bench) -> dict[str, Any]:
    """Build the environment of a pair and run its suite; return what came of it."""
    row: dict[str, Any] = {"repository": pair.repository, "language": pair.language, "commit": pair.commit}
    started = time.monotonic()
    try:
        with open_source(str(clone_of(bench.clones, pair.repository)), bench.store.root) as repository:
            row.update(_measured(pair, bench, repository))
    except CasewrightError as error:
        row.update(right=False, reason="infrastructure", detail=str(error))
    except Exception as error:  # noqa: BLE001 - one pair that we can't judge is a result, not the end of the others
        row.update(right=False, reason="bug", detail="".join(traceback.format_exception(error))[-2000:])
    row["seconds"] = round(time.monotonic() - started, 1)
    return row


def _measured(pair: Pair, bench: Bench, repository: Repository) -> dict[str, Any]:
    commit = repository.commit(pair.commit)
    base = commit.parents[0] if commit.parents else commit.id
    rules = PathRules()
    tests = tuple(
        path.decode("utf-8", "surrogateescape")
        for path in sorted(repository.tree(commit.id).paths)
        if rules.decide(path).side is Side.GRADED
    )
    row: dict[str, Any] = {"tests_in_tree": len(tests)}
    planned = plan(repository, base, commit.id, tests, {})
    if isinstance(planned, Refusal):
        return row | _refused(planned)
    recipe, files = planned
    language = LANGUAGES[recipe.language]
    row |= {"runtime": f"{recipe.runtime.name} {recipe.runtime.version}", "runner": recipe.runner}
    row |= {"era": recipe.era(), "files": len(files)}
    try:
        with environment(
            recipe=recipe,
            language=language,
            sandbox=bench.sandbox,
            store=bench.store,
            repository=pair.repository,
            export_head=lambda folder: repository.export(commit.id, folder),
        ) as built:
            row |= {"build_seconds": built.build_milliseconds / 1000, "disk_mb": tree_size(built.folder) // 1_000_000}
            row |= {"notes": list(built.notes)}
            with tempfile.TemporaryDirectory() as work:
                tree = Path(work) / "tree"
                repository.export(commit.id, tree)
                row |= _suite(recipe, language, built, files, tree, bench)
    except BuildRefusedError as refused:
        return row | _refused(refused.refusal)
    finally:
        place = bench.store.root / ENVIRONMENTS / environment_key(recipe)
        if place.is_dir():
            remove_tree(place)
    return row


def _refused(refusal: Refusal) -> dict[str, Any]:
    return {
        "right": False,
        "reason": refusal.code,
        "detail": refusal.detail,
        "step": refusal.step,
        "package": refusal.package,
        "tried": list(refusal.tried),
    }


def _suite(
    recipe: Recipe, language: Language, built: Environment, files: tuple[str, ...], tree: Path, bench: Bench
) -> dict[str, Any]:
    left = bench.cut_seconds
    seen: list[tuple[tuple[str, ...], Observation]] = []
    waiting = list(_parts(files))
    while waiting and left > 0:
        part = waiting.pop(0)
        observation = observe_once(
            sandbox=bench.sandbox,
            language=language,
            environment=built,
            check=language.check(recipe, part),
            files=part,
            directory=recipe.directory,
            tree=tree,
            limits=Limits(seconds=left),
            variation={},
        )
        left -= observation.milliseconds // 1000
        refused = observation.reading.broken_files.keys() if observation.reading.whole else ()
        kept = tuple(file for file in part if file not in refused)
        if not observation.reading.tests and 0 < len(kept) < len(part):
            # What the tree's own settings leave out is no part of its suite, and hid all that is.
            waiting.insert(0, kept)
            continue
        seen.append((part, observation))
    return _counted(seen)


def _parts(files: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    part: list[str] = []
    size = 0
    for file in files:
        if part and size + len(file) + 1 > FILES_BYTES:
            yield tuple(part)
            part, size = [], 0
        part.append(file)
        size += len(file) + 1
    yield tuple(part)


def _counted(seen: list[tuple[tuple[str, ...], Observation]]) -> dict[str, Any]:
    outcomes = Counter(test.outcome for _, run in seen for test in run.reading.tests)
    broken = {file: why for _, run in seen for file, why in run.reading.broken_files.items()}
    red = sum(outcomes[outcome] for outcome in RED)
    ran = sum(outcomes.values()) - outcomes[Outcome.SKIPPED] - outcomes[Outcome.TODO]
    files = sum(len(part) for part, _ in seen)
    breaches = [run.reading.breach for _, run in seen if run.reading.breach and run.ended == "exited"]
    failed = [test for _, run in seen for test in run.reading.tests if test.outcome in RED]
    row: dict[str, Any] = {
        "outcomes": {str(outcome): count for outcome, count in sorted(outcomes.items())},
        "broken_files": len(broken),
        "ended": [run.ended for _, run in seen],
        "test_seconds": round(sum(run.milliseconds for _, run in seen) / 1000, 1),
        "share": round((ran - red) / ran, 4) if ran else 0.0,
        "failing": [f"{test.id}: {test.message[:200]}" for test in failed[:8]],
        "broken": [f"{file}: {why[:300]}" for file, why in list(broken.items())[:5]],
    }
    if not ran:
        last = seen[-1][1]
        reason = "report-missing" if breaches else "collects-nothing"
        row["output"] = last.output_tail[-1500:]
        return row | {"right": False, "reason": reason, "detail": breaches[0] if breaches else last.ended}
    if breaches:
        row["output"] = seen[-1][1].output_tail[-1500:]
        return row | {"right": False, "reason": "report-missing", "detail": breaches[0]}
    if len(broken) > (1 - RIGHT_SHARE) * files:
        return row | {"right": False, "reason": "not-collected", "detail": f"{len(broken)} of {files} files"}
    if row["share"] < RIGHT_SHARE:
        return row | {"right": False, "reason": "tests-fail", "detail": f"{red} of {ran} tests"}
    return row | {"right": True, "reason": "", "detail": ""}


def summary(rows: list[dict[str, Any]]) -> None:
    """Print the share of each language, every pair that is not right, and what a build takes."""
    for language in sorted({row["language"] for row in rows}):
        mine = [row for row in rows if row["language"] == language]
        right = sum(row["right"] for row in mine)
        print(f"{language}: {right} of {len(mine)} ({right / len(mine):.0%})")
    for row in sorted(rows, key=lambda row: (row["language"], row["reason"], row["repository"])):
        if not row["right"]:
            detail = " ".join(str(row["detail"]).split())[:160]
            print(f"  {row['repository']} {row['commit'][:8]} {row.get('runner', '')}: {row['reason']}: {detail}")
    built = sorted(row["build_seconds"] for row in rows if "build_seconds" in row)
    disk = sorted(row["disk_mb"] for row in rows if "disk_mb" in row)
    if built:
        middle = len(built) // 2
        print(f"built {len(built)}: median {built[middle]:.1f} s, largest {built[-1]:.1f} s")
        print(f"disk of an environment: median {disk[middle]} MB, largest {disk[-1]} MB")


def main() -> int:
    """Measure what is not measured yet, then print the summary."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("clones", type=Path)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--cut", type=int, default=CUT_SECONDS)
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--summary", action="store_true")
    chosen = arguments.parse_args()
    known = [json.loads(line) for line in chosen.out.read_text().splitlines()] if chosen.out.exists() else []
    done = {(row["repository"], row["commit"]) for row in known}
    if not chosen.summary:
        bench = Bench(clones=chosen.clones, store=Store(), sandbox=choose(), cut_seconds=chosen.cut)
        missing = [pair for pair in pairs(chosen.only) if (pair.repository, pair.commit) not in done]
        with ThreadPoolExecutor(chosen.jobs) as pool, chosen.out.open("a", encoding="utf-8") as out:
            for future in as_completed([pool.submit(measured, pair, bench) for pair in missing]):
                row = future.result()
                known.append(row)
                out.write(json.dumps(row) + os.linesep)
                out.flush()
                print(
                    row["repository"], row["commit"][:8], row["right"], row["reason"], row["seconds"], file=sys.stderr
                )
    summary(known)
    return 0


if __name__ == "__main__":
    sys.exit(main())
