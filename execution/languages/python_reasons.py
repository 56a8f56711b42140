"""Why a Python plan is as it is, for people: each choice with its evidence, and what was passed over. Pure.

Nothing is decided here: the modules that decide hand over what they chose, and this one says it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from execution.languages.python_imports import Missing
from execution.languages.python_interpreters import Wishes
from execution.languages.python_interpreters import passed_over as interpreters_passed_over
from execution.languages.python_project import Project, PytestConfiguration
from execution.languages.python_requirements import Needs, names_runner
from execution.languages.python_runner import plugin_demands
from execution.languages.python_sources import Source
from execution.recipe import Runtime, Why, why_of

# So many places are named that were passed over.
_MOST_PASSED_OVER = 5


def interpreter_reason(available: Iterable[Runtime], wishes: Wishes, date: int, chosen: Runtime, sentence: str) -> Why:
    """Return why this interpreter, with every newer minor version of this machine that was passed over."""
    return why_of("interpreter", sentence, interpreters_passed_over(available, wishes, date, chosen))


def dependency_reasons(
    found: tuple[Source, ...], chosen: tuple[Source, ...], sentence: str, needs: Needs, date: int
) -> tuple[Why, ...]:
    """Return why these dependencies in these versions."""
    reasons = [why_of("dependencies", sentence, _places_passed_over(found, chosen))]
    reasons += [
        why_of("dependencies", f"the project's own as {manifest} gives them, asked of its build back-end")
        for manifest in needs.manifests
    ]
    day = datetime.fromtimestamp(date, tz=UTC).strftime("%Y-%m-%d %H:%M")
    if needs.lock:
        reasons.append(why_of("versions", f"those of {needs.lock}, which goes before any date"))
    elif needs.constraints:
        count = len(needs.constraints)
        reasons.append(
            why_of("versions", f"{count} from the project's lock file, the rest as of {day} UTC (commit + 24 hours)")
        )
    elif not needs.nothing:
        reasons.append(why_of("versions", f"as of {day} UTC, 24 hours after the commit; there is no lock file"))
    return tuple(reasons)


def _places_passed_over(found: tuple[Source, ...], chosen: tuple[Source, ...]) -> tuple[str, ...]:
    filled = [source for source in found if source.lines or source.extras or source.groups]
    taken = {one.label for one in chosen}
    speaks = any(names_runner(one) for one in chosen)
    told: dict[str, list[str]] = {}
    for source in filled:
        if source.label in taken:
            continue
        why = "the runner is named already" if speaks and names_runner(source) else "not named for tests"
        if source.label not in told.setdefault(why, []):
            told[why].append(source.label)
    return tuple(f"{', '.join(_few(labels))}: {why}" for why, labels in told.items())


def _few(labels: list[str]) -> list[str]:
    more = len(labels) - _MOST_PASSED_OVER
    return [*labels[:_MOST_PASSED_OVER], *([f"{more} more"] if more > 0 else [])]


def addition_reason(added: tuple[str, ...], configuration: PytestConfiguration) -> tuple[Why, ...]:
    """Return why requirements are added that no place names: a runner, and plugins that its configuration demands."""
    if not added:
        return ()
    demands = plugin_demands(configuration)
    parts = [f"{name} ({demands[name]})" if name in demands else name for name in added]
    return (why_of("additions", f"{'; '.join(parts)}, which nothing that is installed otherwise names"),)


def import_reasons(missing: tuple[Missing, ...]) -> tuple[Why, ...]:
    """Return why requirements are added that tests import: who imports each, and who in the tree names it."""
    return tuple(
        why_of("additions", f"{one.line}, since {one.importer} imports it and {one.named_by or 'nobody'} names it")
        for one in missing
    )


def project_reason(project: Project, needs: Needs, variables: Mapping[str, str], described: str) -> tuple[Why, ...]:
    """Return whether the project itself is installed, and where its version comes from if that is the tags."""
    at = "" if project.directory == "." else f" ({project.directory})"
    if not needs.install:
        return (why_of("project", f"not installed{at}, since no manifest says how"),)
    reasons = []
    beside = [one.directory for one in needs.installed if one.directory != project.directory]
    if beside:
        reasons.append(why_of("project", f"{', '.join(beside)} installed in place as well, since the tree holds it"))
    if len(beside) < len(needs.installed):
        backend = str(project.table("build-system").get("build-backend") or "setuptools")
        reasons.append(why_of("project", f"installed in place{at}, built by {backend.partition(':')[0]}"))
    if variables:
        tag = described or "nothing, so a version is made up"
        stated = ", ".join(f"{name}={value}" for name, value in sorted(variables.items()))
        reasons.append(why_of("version", f"{stated}, since it comes from tags; git describe says {tag}"))
    return tuple(reasons)


def check_reasons(notes: tuple[str, ...]) -> tuple[Why, ...]:
    """Return what the check does otherwise than the project's own run."""
    return tuple(Why(about="check", chosen=note, because="") for note in notes)
