"""The options that a check adds to a runner: it shall run the graded files alone and judge nothing but tests. Pure.

Coverage, stopping at the first failure and workers side by side are a suite's affairs. They are switched off only where
a configuration of the tree speaks of them, so that a recorded command stays as short as it can.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from execution.languages.base import PlanRequest
from execution.languages.javascript_each_file import AVA, MOCHA, THE_FILE
from execution.languages.javascript_manifest import (
    Lock,
    join,
    locked_version,
    read_manifest,
    read_text,
    version_tuple,
)
from execution.languages.javascript_runner import NODE, TAP, VITEST, RunnerChoice, collected

_MOCHA_CONFIGS = tuple(f".mocharc.{end}" for end in ("js", "cjs", "mjs", "yaml", "yml", "json", "jsonc"))
# tap 18 was published on 2023-09-20; a tree of an earlier day can't mean it.
_TAP_18_SINCE = 1_695_168_000


def node_options(request: PlanRequest, choice: RunnerChoice) -> tuple[str, ...]:
    """Node's options of the script, and a loader for TypeScript where the script names none but tsx is at hand."""
    options = choice.invocation.node_options
    typed = any(path.endswith(("ts", "tsx")) for path in request.graded)
    if choice.runner != NODE or options or not typed:
        return options
    manifest = read_manifest(request.head, choice.directory)
    return ("--import", "tsx") if manifest is not None and "tsx" in manifest.dependencies else options


def exclusions(request: PlanRequest, choice: RunnerChoice, lock: Lock | None) -> tuple[str, ...]:
    """Vitest takes a file name as a part of a path: other files of the tree that it would take along are excluded."""
    version = locked_version(lock, choice.runner) or choice.requirement
    if choice.runner != VITEST or version_tuple(version) < (1, 0, 0):
        return ()
    prefix = "" if choice.directory == "." else f"{choice.directory}/"
    graded = {path.removeprefix(prefix).lower() for path in request.graded}
    others = set()
    for raw in request.head.paths | request.base.paths:
        path = raw.decode("utf-8", "surrogateescape").removeprefix(prefix)
        if (
            path.lower() not in graded
            and any(part in path.lower() for part in graded)
            and (collected(prefix + path, request.head) or collected(prefix + path, request.base))
        ):
            others.add(path)
    return tuple(f"--exclude={path}" for path in sorted(others))


def suite_options(request: PlanRequest, choice: RunnerChoice, lock: Lock | None) -> tuple[str, ...]:
    """Return what switches off what the runner's configuration asks of a suite as a whole."""
    version = version_tuple(locked_version(lock, choice.runner) or choice.requirement)
    if choice.runner == VITEST:
        return _vitest(request, choice) if version >= (1, 0, 0) else ()
    if choice.runner == MOCHA:
        return _mocha(request, choice)
    if choice.runner == AVA:
        text = "".join(_texts(request, choice, tuple(f"ava.config.{end}" for end in ("js", "cjs", "mjs")), "ava"))
        return ("--no-fail-fast",) if "failFast" in text else ()
    if choice.runner == TAP:
        newer = version >= (18, 0, 0) or (version == (0, 0, 0) and request.date >= _TAP_18_SINCE)
        # In the earlier ones the report to a terminal needs a terminal's own library; plain TAP needs nothing.
        own = ("--disable-coverage", "--reporter=terse") if newer else ("--no-coverage", "--reporter=tap")
        return (*own, "--jobs=1", "--no-bail")
    return ()


def _vitest(request: PlanRequest, choice: RunnerChoice) -> tuple[str, ...]:
    names = tuple(
        f"{stem}.{end}"
        for stem in ("vitest.config", "vite.config", "vitest.workspace")
        for end in ("ts", "mts", "js", "mjs", "cjs")
    )
    text = "".join(_texts(request, choice, names, ""))
    options = (("--coverage.enabled=false", r"\bcoverage\b"), ("--bail=0", r"\bbail\b"))
    return tuple(option for option, word in options if re.search(word, text))


def _mocha(request: PlanRequest, choice: RunnerChoice) -> tuple[str, ...]:
    text = "".join(_texts(request, choice, (*_MOCHA_CONFIGS, *_named_config(choice)), "mocha"))
    old = read_text(request.head, join(choice.directory, "test/mocha.opts")) or ""
    options = []
    if re.search(r"\bbail\b|(?:^|\s)-b\b", text + old):
        options.append("--no-bail")
    if re.search(r"\bparallel\b", text):
        options.append("--no-parallel")
    # The files that a configuration names are run along with those of the command line. A pattern that begins with an
    # exclamation mark is a negated one: what is not this file is ignored.
    named_files = re.search(r"\bspec\b", text) or any(re.match(r"[^-#\s]", line) for line in old.splitlines())
    if named_files:
        options.append(f"--ignore=!{THE_FILE}")
    return tuple(options)


def _named_config(choice: RunnerChoice) -> tuple[str, ...]:
    """Return the configuration that the script names itself."""
    options = choice.invocation.options
    found = [options[at + 1] for at, word in enumerate(options[:-1]) if word == "--config"]
    found += [word.partition("=")[2] for word in options if word.startswith("--config=")]
    return tuple(path.removeprefix("./") for path in found)


def _texts(request: PlanRequest, choice: RunnerChoice, names: tuple[str, ...], field: str) -> Iterator[str]:
    """Give the configuration files of the run's folder and of the root, and a field of their ``package.json``."""
    for folder in sorted({choice.directory, "."}):
        yield from (read_text(request.head, join(folder, name)) or "" for name in names)
        manifest = read_manifest(request.head, folder)
        if manifest is not None and field in manifest.raw:
            yield str(manifest.raw[field])
