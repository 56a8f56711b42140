"""What admission costs beside the tests themselves: python benchmarks/admission.py SOURCE [--limit 30] [--jobs 2]

Judges the newest candidates of a repository twice in one run: as `mine` does, and by a script that makes a fresh
environment for every single run. Both begin with the same warm download cache and leave reproduction out, which is
timed apart at the end. Prints the wall time over (sandboxed test seconds + era build seconds) / jobs, the wall times
of both ways as a ratio, peak memory, and whether the verdicts are the same.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from authoring.candidate import Prepared, prepare
from authoring.conclusion import recorded
from authoring.desk import Desk, JudgingOptions, open_desk
from authoring.reproduce import Reproduction, reproduce
from casewright.configuration import configuration_of
from casewright.new_workspace import init_workspace
from casewright.repository import open_source
from casewright.store import DOWNLOADS, ENVIRONMENTS, Store, remove_tree
from execution.build import environment
from execution.languages import LANGUAGES
from execution.observation import Observation
from execution.run import observe_once
from execution.sandboxes import choose
from miner.admission import Evidence, admit
from miner.history import Stretch
from miner.judgement import Judgement
from miner.ledger import Ledger
from miner.observe import RunRequest, State, Trial, try_change
from miner.scan import scan


@contextmanager
def desk_for(source: str, folder: Path, store: Store) -> Iterator[Desk]:
    """Open a desk in a workspace of its own."""
    workspace, _ = init_workspace(folder)
    with open_source(source, store.root) as repository:
        yield open_desk(
            workspace,
            configuration_of(workspace),
            repository,
            choose(),
            store,
            JudgingOptions(),
            Stretch(),
            tool="benchmark",
            proposed_by="benchmark",
        )


def prepared_changes(desk: Desk, limit: int, ledger: Ledger) -> list[Prepared]:
    """Return the newest candidates that are ready to be judged, in the walk's order."""
    ready = []
    for found in scan(desk.tools.repository, Stretch(), desk.rules, desk.size_limits):
        if found.screened.reason is None:
            outcome = prepare(found.change, desk, ledger.era_date)
            if not isinstance(outcome, Judgement):
                ready.append(outcome)
        if len(ready) == limit:
            break
    return ready


def said(reason: object, files: Sequence[str], fail_to_pass: Sequence[str]) -> str:
    return f"{reason or 'admitted'} {sorted(files)} {sorted(fail_to_pass)}"


def our_way(prepared: Prepared, desk: Desk) -> Evidence:
    return admit(prepared.request, desk.tools, lambda stage: None)  # noqa: ARG005 - nobody listens here


def fresh_way(prepared: Prepared, desk: Desk, folder: Path) -> Trial:
    """Judge a change with a new environment for each run; the download cache is shared."""
    request, tools = prepared.request, desk.tools
    language = LANGUAGES[request.recipe.language]
    with tempfile.TemporaryDirectory(dir=folder) as work:
        trees = {State.HEAD: Path(work) / "head", State.BASE: Path(work) / "base"}
        tools.repository.export(request.head, trees[State.HEAD])
        tools.repository.export(request.base, trees[State.BASE])
        tools.repository.apply(
            tools.repository.diff_patch(request.base, request.head, request.test_part), trees[State.BASE]
        )

        def run(wanted: RunRequest) -> Observation:
            with tempfile.TemporaryDirectory(dir=folder) as place:
                store = Store(Path(place))
                (store.root / DOWNLOADS).rmdir()
                (store.root / DOWNLOADS).symlink_to(tools.store.root / DOWNLOADS)
                with environment(
                    recipe=request.recipe,
                    language=language,
                    sandbox=tools.sandbox,
                    store=store,
                    repository=tools.repository_id,
                    export_head=lambda tree: tools.repository.export(request.head, tree),
                ) as built:
                    return observe_once(
                        sandbox=tools.sandbox,
                        language=language,
                        environment=built,
                        check=language.check(request.recipe, wanted.files),
                        files=wanted.files,
                        directory=request.recipe.directory,
                        tree=trees[wanted.state],
                        limits=wanted.limits,
                        variation=wanted.variation,
                        network=wanted.network,
                    )

        return try_change(run, request.graded, request.repeat, request.limits)


def timed(jobs: int, work: Callable[[Prepared], object], changes: Sequence[Prepared]) -> tuple[float, list[object]]:
    started = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        outcomes = list(pool.map(work, changes))
    return time.monotonic() - started, outcomes


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("source")
    arguments.add_argument("--limit", type=int, default=30)
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--no-fresh", action="store_true", help="leave the other way out")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        warm = Store(folder / "warm")
        with (
            desk_for(chosen.source, folder / "workspace", warm) as desk,
            Ledger.open(folder / "ledger.db", tool="benchmark") as ledger,
        ):
            changes = prepared_changes(desk, chosen.limit, ledger)
            # Builds once, unmeasured, so that the network's mood weighs on neither way.
            eras = {change.request.recipe.era(): change for change in changes}
            timed(chosen.jobs, lambda change: our_way(replace_repeat(change), desk), list(eras.values()))
            for entry in warm.entries():
                if entry.kind == ENVIRONMENTS:
                    remove_tree(entry.path)
            return measure(chosen.jobs, changes, desk, folder, fresh=not chosen.no_fresh)


def replace_repeat(prepared: Prepared) -> Prepared:
    return replace(prepared, request=replace(prepared.request, repeat=1))


def measure(jobs: int, changes: list[Prepared], desk: Desk, folder: Path, *, fresh: bool) -> int:
    wall, outcomes = timed(jobs, lambda change: our_way(change, desk), changes)
    evidence = [outcome for outcome in outcomes if isinstance(outcome, Evidence)]
    tests = sum(each.trial.milliseconds for each in evidence if each.trial) / 1000
    builds = {each.environment.folder: each.environment.build_milliseconds for each in evidence if each.environment}
    floor = (tests + sum(builds.values()) / 1000) / jobs
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{len(changes)} changes, {sum(each.reason is None for each in evidence)} admitted, {len(builds)} environments"
    )
    print(f"tests {tests:.1f} s, builds {sum(builds.values()) / 1000:.1f} s, {jobs} jobs: wall {wall:.1f} s")
    print(f"wall over (tests + builds) / jobs: {wall / floor:.2f}; own process {peak} MB")
    same = True
    if fresh:
        other, trials = timed(jobs, lambda change: fresh_way(change, desk, folder), changes)
        ours = [said(each.reason, each.files, each.lists.fail_to_pass) for each in evidence]
        theirs = [
            said(each.verdict.reason, each.verdict.files or change.request.graded, each.verdict.lists.fail_to_pass)
            for each, change in zip(trials, changes, strict=True)
            if isinstance(each, Trial)
        ]
        same = ours == theirs
        print(f"a fresh environment for every run: wall {other:.1f} s, {other / wall:.2f} times ours")
        print(f"same verdicts: {same}")
    pairs = [(change, each) for change, each in zip(changes, evidence, strict=True) if each.reason is None]
    started = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(lambda pair: again(pair[0], pair[1], desk), pairs))
    spent = time.monotonic() - started
    print(f"reproduction of {len(pairs)}: wall {spent:.1f} s, differing {sum(bool(each.difference) for each in found)}")
    return 0 if same else 1


def again(change: Prepared, evidence: Evidence, desk: Desk) -> Reproduction:
    language = LANGUAGES[change.request.recipe.language]
    return reproduce(recorded(change, evidence), desk.tools.repository, language, desk.tools.sandbox, desk.tools.store)


if __name__ == "__main__":
    sys.exit(main())
