"""Which nodes to try for a tree, in order: evidence before date, this machine before the registry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from execution.languages.base import TreeReader
from execution.languages.javascript_manifest import version_tuple
from execution.languages.javascript_registry import expected, stored, why_not
from execution.languages.javascript_releases import in_use, line_of
from execution.languages.javascript_runtime import find_node, installed_nodes
from execution.languages.javascript_wanted import Evidence, Wanted, allows, wanted_lines
from execution.recipe import Runtime

_HALF_YEAR: Final = 183 * 86400


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A node to try: ``because`` is the evidence, ``lacking`` says why it can't be had (empty where it can)."""

    runtime: Runtime
    because: str
    lacking: str = ""


def asked_node(wanted: str) -> Candidate | None:
    """Return the node that the user names by path, version or beginning: of this machine, else of the registry.

    None where there is none. Raises ``InfrastructureError`` when the registry does not answer.
    """
    found = find_node(wanted)
    if found is not None:
        return Candidate(runtime=found, because=f"as asked ({wanted})")
    text = wanted.removeprefix("v")
    line = line_of(int(text)) if text.isdigit() else None
    version = line.newest if line is not None else text
    if not re.fullmatch(r"\d+\.\d+\.\d+", version) or why_not(version):
        return None
    return Candidate(runtime=expected(version), because=f"as asked ({wanted}), {_source(version)}")


def candidates(tree: TreeReader, folders: tuple[str, ...], date: int) -> Iterator[Candidate]:
    """Give the nodes to try for a tree at a date (seconds, UTC); what comes later is looked for only when asked.

    Of equal evidence this machine's nodes go first where they are of that time: there is nothing to fetch. A release of
    long after knows other time zones and formats than the suite expects. Where only the date speaks, a node of this
    machine that was in use then will do. At the end come the machine's others, whatever they are.
    Raises ``InfrastructureError`` when the registry does not answer, ``ManifestError`` for a faulty ``package.json``.
    """
    lines = wanted_lines(tree, folders, date)
    here = installed_nodes()
    given: set[Runtime] = set()
    for evidence in Evidence:
        equal = [wanted for wanted in lines if wanted.evidence is evidence]
        local = list(_of_machine(tree, folders, date, here, equal, evidence))
        yield from (one for one in local if one.runtime not in given)
        given |= {one.runtime for one in local}
        met = {version_tuple(runtime.version)[0] for runtime in given}
        for wanted in equal:
            if wanted.line.major not in met:
                yield _of_registry(wanted, tree, folders, date)
    for runtime in here:
        if runtime not in given:
            yield Candidate(runtime=runtime, because="the first of this machine that the tree takes")


def _of_machine(
    tree: TreeReader,
    folders: tuple[str, ...],
    date: int,
    here: tuple[Runtime, ...],
    equal: list[Wanted],
    evidence: Evidence,
) -> Iterator[Candidate]:
    for runtime in here:
        version = version_tuple(runtime.version)
        named = next((wanted for wanted in equal if wanted.line.major == version[0]), None)
        if not allows(tree, folders, version) or _is_of_later(version, date):
            continue
        if named is not None and (evidence is not Evidence.DATE or named == equal[0]):
            yield Candidate(runtime=runtime, because=named.because)
        elif evidence is Evidence.DATE:
            line = line_of(version[0])
            if line is not None and in_use(line, date):
                yield Candidate(runtime=runtime, because="which is on this machine and was in use at the commit's date")


def _is_of_later(version: tuple[int, int, int], date: int) -> bool:
    """Whether a release came out more than half a year after a date; of a line that the table ends before, never."""
    line = line_of(version[0])
    if line is None or not line.stands or date + _HALF_YEAR >= line.stands[-1][0]:
        return False
    return version[:2] > version_tuple(line.release_at(date + _HALF_YEAR))[:2]


def _of_registry(wanted: Wanted, tree: TreeReader, folders: tuple[str, ...], date: int) -> Candidate:
    versions = tuple(_releases(wanted, tree, folders, date))
    version = next((one for one in versions if not why_not(one)), versions[-1])
    because = f"{wanted.because}, {_source(version)}"
    return Candidate(runtime=expected(version), because=because, lacking=why_not(version))


def _releases(wanted: Wanted, tree: TreeReader, folders: tuple[str, ...], date: int) -> Iterator[str]:
    """Give the releases of a line by which the registry may serve a tree: what it names, that of the date, the last."""
    if wanted.exact:
        yield wanted.exact
    of_date = wanted.line.release_at(date)
    if allows(tree, folders, version_tuple(of_date)):
        yield of_date
    yield wanted.line.newest


def _source(version: str) -> str:
    return "from the cache" if version in stored() else "brought from the npm registry"
