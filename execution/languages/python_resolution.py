"""From what is needed to exact versions with hashes: by the lock file where there is one, else by the date.

uv answers; what it wrote stands in a folder that strangers' build scripts can reach, and is read with care.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from packaging.version import Version

from casewright.errors import InvalidInputError
from execution.languages.python_interpreters import FIRST_RELEASES
from execution.languages.python_lock import Locked, merge, read_pylock
from execution.languages.python_steps import PYTHON, UV, WORK, StepRefusedError, Work, minor_of, read_written, refused
from execution.recipe import Recipe
from execution.sandbox import TREE_DIR

# The first day on which every usual back-end could install a project in place (PEP 660).
EDITABLE_SINCE = datetime(2022, 10, 1, tzinfo=UTC)
# A back-end that knows an interpreter comes out around its first release.
BACKEND_AFTER_RELEASE = timedelta(days=45)
OLDEST_PIP = Version("21.3")
_BUILD_TOOLS = (
    "setuptools", "wheel", "hatchling", "hatch-vcs", "editables", "pathspec", "trove-classifiers", "flit-core", "flit",
    "poetry-core", "pdm-backend", "pdm-pep517", "setuptools-scm", "meson-python", "scikit-build-core", "maturin", "pip",
)  # fmt: skip
# A setuptools that can install in place takes no importlib-metadata of old, which Python 3.7 needs for want of its own.
_METADATA_SINCE = (3, 8)
# Distributions whose old releases were published anew at a later day: to a date before it they do not exist, and the
# resolver would go back to what never needed them (pytest 3 instead of 5).
_REPUBLISHED = {"atomicwrites": datetime(2022, 7, 9, tzinfo=UTC)}


def resolve(work: Work, asked: tuple[str, ...] = ()) -> tuple[Locked, ...]:
    """Resolve to exact versions with hashes; once more, without them, where mere hints of CI stand in the way."""
    hinted: list[str] = json.loads(work.recipe.setting("hinted", "[]"))
    try:
        return _resolve(work, asked)
    except StepRefusedError as refused_once:
        if not hinted:
            raise
        why = refused_once.refusal.detail
    note = f"left out what CI installs besides ({', '.join(hinted)}), since it did not resolve: {why}"
    if note not in work.notes:
        work.notes.append(note)
    lines = tuple(line for line in work.needs.lines if line not in hinted)
    return _resolve(replace(work, needs=replace(work.needs, lines=lines)), asked)


def _resolve(work: Work, asked: tuple[str, ...]) -> tuple[Locked, ...]:
    """Resolve; once more, with build tools, if something has to be built."""
    if work.needs.nothing and not asked:
        return ()
    build_lines = (*work.needs.build, *_newer_pip(work), *asked)
    locked = _resolve_once(work, build_lines)
    if any(not one.built for one in locked) and not {"setuptools", "wheel"} <= {one.name for one in locked}:
        locked = _resolve_once(work, (*build_lines, "setuptools", "wheel"))
    return locked


def _newer_pip(work: Work) -> tuple[str, ...]:
    """An interpreter of old brings a pip that can't install in place; then the list holds a newer one."""
    printed = work.run("ask pip for its version", f"{PYTHON} -m pip --version").output.decode("utf-8", "replace")
    found = re.search(r"\bpip (\d+(?:\.\d+)*)", printed)
    if found and Version(found.group(1)) < OLDEST_PIP:
        return (f"pip>={OLDEST_PIP}",)
    return ()


def _resolve_once(work: Work, build_lines: tuple[str, ...]) -> tuple[Locked, ...]:
    needs = work.needs
    if needs.lock:
        pins, elsewhere = _export(work)
        locked = work.give("locked.in", pins)
        pinned = _compile_locked(work, locked)
        if elsewhere:
            work.notes.append(f"of {', '.join(elsewhere)} the index's release is taken, not the source that is locked")
        loose = work.give("loose.in", (*needs.lines, *elsewhere, *build_lines))
        constraint = work.give("constraints.in", tuple(one.pin for one in pinned))
        rest = _compile(work, "loose", [loose], dated=True, options=("-c", constraint))
        return merge(pinned, rest)
    sources = [work.give("loose.in", (*needs.lines, *build_lines))]
    sources += [f"{TREE_DIR}/{manifest}" for manifest in needs.manifests]
    options = tuple(word for extra in needs.extras for word in ("--extra", extra))
    if not needs.constraints:
        return _compile(work, "loose", sources, dated=True, options=options)
    constraint = work.give("constraints.in", needs.constraints)
    try:
        return _compile(work, "loose", sources, dated=True, options=(*options, "-c", constraint))
    except StepRefusedError:
        work.notes.append("the lock file does not serve this interpreter; the versions are those of the date")
        return _compile(work, "loose", sources, dated=True, options=options)


def _compile_locked(work: Work, source: str) -> tuple[Locked, ...]:
    """Return the distributions of a lock with their hashes, as the index had their files on the date.

    A release may get further wheels later. A lock that is younger than its commit says is taken from the index of
    today.
    """
    try:
        return _compile(work, "locked", [source], dated=True, options=("--no-deps",))
    except StepRefusedError:
        return _compile(work, "locked", [source], dated=False, options=("--no-deps",))


def _export(work: Work) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what uv.lock holds for the chosen groups: pins with markers, and names that come from no index."""
    folder = shlex.quote(str(Path(TREE_DIR) / work.recipe.directory))
    words = [UV, "export", "--frozen", "--no-header", "--no-annotate", "--no-hashes", "--no-emit-local"]
    words += ["--no-default-groups", *(["--all-packages"] if work.needs.everything else [])]
    words += [word for group in work.needs.groups for word in ("--group", shlex.quote(group))]
    words += [word for extra in work.needs.extras for word in ("--extra", shlex.quote(extra))]
    words += ["--python", PYTHON, "--directory", folder, "-q", "-o", f"{WORK}/exported.txt"]
    work.run("export uv.lock", " ".join(words))
    text = read_written(work, "exported.txt")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(("#", "-e", ".", "/"))]
    pins = tuple(line for line in lines if " @ " not in line)
    return pins, tuple(re.sub(r" @ [^\s;]+", "", line) for line in lines if " @ " in line)


def _compile(
    work: Work, name: str, sources: list[str], *, dated: bool, options: tuple[str, ...] = ()
) -> tuple[Locked, ...]:
    """Resolve requirement files to distributions with hashes."""
    words = [UV, "pip", "compile", "--no-config", "--no-sources", "-q", "--format", "pylock.toml", "--python", PYTHON]
    words += ["-o", f"{WORK}/pylock.{name}.toml", *options]
    words += date_options(work.recipe) if dated else []
    words += [shlex.quote(source) for source in sources]
    # In a folder of its own: neither the tree's configuration of uv nor an older answer steers the resolution.
    command = f"cd {WORK} && rm -f pylock.{name}.toml && {' '.join(words)}"
    work.run("resolve the dependencies", command, network=True)
    text = read_written(work, f"pylock.{name}.toml")
    try:
        locked, elsewhere = read_pylock(text, minor_of(work.recipe.runtime))
    except InvalidInputError as error:
        raise refused(error.message) from error
    if elsewhere:
        work.notes.append(f"left out, since no index holds them: {', '.join(elsewhere)}")
    return locked


def date_options(recipe: Recipe) -> list[str]:
    """Return the options that pin the index to the date; build tools get the later of it and what they need to work."""
    date = datetime.fromtimestamp(recipe.date, tz=UTC)
    released = FIRST_RELEASES.get(minor_of(recipe.runtime))
    tools_date = max(date, EDITABLE_SINCE, released + BACKEND_AFTER_RELEASE if released else date)
    words = ["--exclude-newer", _stamp(date)]
    tools = _BUILD_TOOLS if minor_of(recipe.runtime) >= _METADATA_SINCE else (*_BUILD_TOOLS, "importlib-metadata")
    if tools_date > date:
        words += [word for tool in tools for word in ("--exclude-newer-package", f"{tool}={_stamp(tools_date)}")]
    for name, republished in _REPUBLISHED.items():
        if republished > date:
            words += ["--exclude-newer-package", f"{name}={_stamp(republished)}"]
    return words


def _stamp(date: datetime) -> str:
    return date.strftime("%Y-%m-%dT%H:%M:%SZ")
