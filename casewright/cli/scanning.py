"""A history scanned and shown: ``mine --dry-run``, and the scan that ``mine`` begins with.

What a dry run imports is what it costs: the models of drafts and configuration come in where there is a workspace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from casewright.cli.judgement_output import funnel_text, judgement_object, judgement_row
from casewright.cli.options import Common
from casewright.cli.output import noted, printed, printed_json
from casewright.cli.progress import followed
from casewright.errors import ExitCode, NoWorkspaceError
from casewright.repository import Repository, open_source
from casewright.store import cache_root
from casewright.workspace import find_workspace
from miner.change import Change
from miner.funnel import Tally, funnel
from miner.history import Stretch
from miner.judgement import Judgement, Reached, Standing
from miner.ledger import Refused
from miner.observer import Observer
from miner.path_rules import PathRules
from miner.reasons import Reason
from miner.repository_id import repository_id
from miner.scan import Found, scan, scanned
from miner.screen import SizeLimits

# A scan tells how far it is every so many changes.
SCAN_STEP: Final = 500


def candidates(
    found: Iterable[Found],
    name: str,
    *,
    observer: Observer,
    refused: Callable[[Iterator[Refused]], object],
    seen: Callable[[Judgement], None] | None = None,
    candidate: Callable[[Judgement], None] | None = None,
) -> tuple[Change, ...]:
    """Return the candidates of a scan, newest first.

    ``refused`` is handed the rows of all other changes as they come; ``seen`` and ``candidate``, where given, hear of
    each refused change and of each candidate.
    """
    passed: list[Change] = []

    def rows() -> Iterator[Refused]:
        count = 0
        for count, each in enumerate(found, start=1):
            if count % SCAN_STEP == 0:
                observer.scanning(count)
            change, reason = each.change, each.screened.reason
            if reason is None:
                passed.append(change)
                if candidate is not None:
                    candidate(scanned(each, name))
                continue
            if seen is not None:
                seen(scanned(each, name))
            yield Refused(
                base=change.base,
                head=change.head,
                landing=change.landing.value,
                reason=reason,
                subject=change.subject.decode("utf-8", "backslashreplace"),
            )
        observer.scanning(count)

    refused(rows())
    return tuple(passed)


def run_dry(common: Common, source: str, stretch: Stretch, limit: int | None) -> int:
    """The tree screens alone, also outside of a workspace; nothing is written but the cache's copy of a url."""
    counted: Counter[tuple[Reached, Standing, Reason | None]] = Counter()

    def tally(judgement: Judgement) -> None:
        counted[judgement.reached, judgement.standing, judgement.reason] += 1
        if common.json:
            line_of_json(judgement, at_once=False)
        elif judgement.standing is Standing.CANDIDATE:
            printed(judgement_row(judgement))

    with open_source(source, cache_root()) as repository, followed(common.verbosity) as observer:
        for note in repository.notes:
            noted(f"note: {note}", verbosity=common.verbosity)
        rules, sizes, branch = _settings(repository, common.directory)
        walked = replace(stretch, branch=stretch.branch or branch)
        candidates(
            scan(repository, walked, rules, sizes, limit),
            repository_id(repository.remote_url, repository.name),
            observer=observer,
            refused=lambda rows: sum(1 for _ in rows),
            seen=tally,
            candidate=tally,
        )
    tallies = (
        Tally(reached=reached, standing=standing, reason=reason, count=count)
        for (reached, standing, reason), count in counted.items()
    )
    tell_funnel(common, funnel_text(funnel(tallies)))
    return ExitCode.DONE


def _settings(repository: Repository, folder: Path) -> tuple[PathRules, SizeLimits, str]:
    """Return rules, limits and branch as the workspace at ``folder`` has them; the usual ones where there is none."""
    try:
        workspace = find_workspace(folder)
    except NoWorkspaceError:
        return PathRules(), SizeLimits(), "HEAD"
    from casewright.configuration import configuration_of
    from miner.shape_rules import rules_of

    name = repository_id(repository.remote_url, repository.name)
    section = configuration_of(workspace).repository(name)
    return *rules_of(section), section.branch or "HEAD"


def line_of_json(judgement: Judgement, *, at_once: bool = True) -> None:
    """Print one judgement as a line of JSON; a scan's many lines need not be read ``at_once``."""
    printed_json(judgement_object(judgement), line=True, at_once=at_once)


def tell_funnel(common: Common, text: str) -> None:
    """The funnel ends the table; beside JSON Lines it is a note."""
    if common.json:
        noted(text, verbosity=common.verbosity)
    else:
        printed(f"\n{text}")
