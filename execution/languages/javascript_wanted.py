"""Which node a tree asks for: the word of its files, of ``engines`` and of CI, else the date. Pure."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from execution.languages.base import TreeReader
from execution.languages.javascript_manifest import join, read_manifest, read_text, version_tuple
from execution.languages.javascript_range import in_range
from execution.languages.javascript_releases import LINES, Line, line_of, settled_line

_FILES: Final = (".nvmrc", ".node-version")
_WORKFLOWS: Final = (".github/workflows/*.yml", ".github/workflows/*.yaml")
_OTHER_CI: Final = (
    *(".travis.yml", "azure-pipelines.yml", ".circleci/config.yml", ".gitlab-ci.yml", ".cirrus.yml", "appveyor.yml"),
    *(".appveyor.yml", ".drone.yml", ".semaphore/semaphore.yml"),
)
_DEVCONTAINERS: Final = (".devcontainer/devcontainer.json", ".devcontainer.json", ".devcontainer/Dockerfile")
_SPEAKS_OF_TESTS: Final = re.compile(
    r"\btests?\b|\bcoverage\b|\bvitest\b|\bjest\b|\bmocha\b|\bava\b|\bnpm t\b|\bcheck\b", re.IGNORECASE
)
# `node-version: [12, 14]`, `node_js: 12`, `node: [..]` and the same as a list of lines.
_VERSIONS: Final = re.compile(
    r"(?:node(?:[-_.]?js)?(?:[-_ ]?versions?)?|versionSpec|nodejs_version)[\"']?[ \t]*:"
    r"(\s*\[[^\]]*\]|(?:[ \t]*\n[ \t]*-[ \t]*[^\n]+)+|[^\n]*)",
    re.IGNORECASE,
)
_IMAGE: Final = re.compile(r"\b(?:node|javascript-node|typescript-node)(?::|-)(?:\d-)?v?(\d+)")
_NUMBER: Final = re.compile(r"(?<![\w.$-])v?(\d{1,2})(?:\.(?:\d+|x)){0,2}(?![\w])", re.IGNORECASE)
_ALIAS: Final = re.compile(r"lts/(\*|-?\w+)|\b(lts|stable|latest|current|node)\b", re.IGNORECASE)


class Evidence(IntEnum):
    """How much a word on node weighs: what a file pins, what CI tests with, what a date or a range leaves open."""

    PIN = 0
    CI = 1
    DATE = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """A line of node that would do, and the evidence: ``because`` reads on after ``node 18,``.

    ``exact`` is the whole version where the evidence names one.
    """

    line: Line
    evidence: Evidence
    because: str
    exact: str = ""


def wanted_lines(tree: TreeReader, folders: tuple[str, ...], date: int) -> tuple[Wanted, ...]:
    """Return the lines of node for a tree at a date (seconds, UTC), the one to take first at the front.

    ``folders`` are those whose files speak: the tested package's, the install's, the root. What a file pins goes first,
    then what CI tests with, the newest that was out at the date and no odd line where there is an even one; then the
    line of the date. Lines that ``engines`` leaves out are left out, unless nothing else says anything.
    """
    ranges = tuple(dict.fromkeys(_engines(tree, folders)))
    found = [*_pinned(tree, folders, date), *_of_ci(tree, date)]
    usual = settled_line(date)
    by_date = [Wanted(line=usual, because="the long-term line of the commit's date", evidence=Evidence.DATE)]
    if ranges:
        named = "; ".join(f"{path} asks for {wanted}" for path, wanted in ranges)
        allowed = [one for one in (*found, *by_date) if _allowed(one.line, ranges)]
        by_engines = [line for line in LINES if _allowed(line, ranges)]
        # Of what engines allow, the nearest to the date: a line of its time, else the first that came later.
        by_engines.sort(key=lambda line: (line.settled is None, line.released > date, abs(line.released - date)))
        found = [*allowed, *(Wanted(line=line, because=named, evidence=Evidence.DATE) for line in by_engines)]
    else:
        found += by_date
    firsts: dict[int, Wanted] = {}
    for one in found:
        firsts.setdefault(one.line.major, one)
    return tuple(firsts.values())


def allows(tree: TreeReader, folders: tuple[str, ...], version: tuple[int, int, int]) -> bool:
    """Whether ``engines`` of the packages in ``folders`` allow a version of node."""
    return all(in_range(version, wanted) for _, wanted in _engines(tree, folders))


def _allowed(line: Line, ranges: tuple[tuple[str, str], ...]) -> bool:
    return all(in_range(version_tuple(line.newest), wanted) for _, wanted in ranges)


def _engines(tree: TreeReader, folders: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for folder in folders:
        manifest = read_manifest(tree, folder)
        wanted = manifest.engines.get("node", "") if manifest is not None else ""
        if manifest is not None and wanted.strip() not in {"", "*"}:
            yield manifest.path, wanted


def _pinned(tree: TreeReader, folders: tuple[str, ...], date: int) -> Iterator[Wanted]:
    for folder in folders:
        for path in (join(folder, name) for name in _FILES):
            yield from _named(read_text(tree, path) or "", path, date)
        tools = join(folder, ".tool-versions")
        match = re.search(r"^nodejs[ \t]+(\S+)", read_text(tree, tools) or "", re.MULTILINE)
        yield from _named(match[1] if match else "", tools, date)
        manifest = read_manifest(tree, folder)
        for name in ("volta", "devEngines"):
            table = manifest.raw.get(name) if manifest is not None else None
            said = _volta(table) if name == "volta" else _dev_engine(table)
            yield from _named(said, f"{name} of {join(folder, 'package.json')}", date)
    for path in _DEVCONTAINERS:
        text = read_text(tree, path) or ""
        image = _IMAGE.search(text)
        feature = re.search(r"features/node:[^{]*\{[^}]*\"version\"\s*:\s*\"([^\"]+)\"", text)
        yield from _named(image[1] if image else feature[1] if feature else "", path, date)


def _volta(table: object) -> str:
    said = table.get("node") if isinstance(table, dict) else None
    return said if isinstance(said, str) else ""


def _dev_engine(table: object) -> str:
    runtime = table.get("runtime") if isinstance(table, dict) else None
    for row in runtime if isinstance(runtime, list) else [runtime]:
        if isinstance(row, dict) and row.get("name") == "node" and isinstance(row.get("version"), str):
            return str(row["version"])
    return ""


def _named(text: str, path: str, date: int) -> Iterator[Wanted]:
    """Give the line that a version, a range's beginning or an alias of nvm names; nothing for what says nothing."""
    said = next((line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    alias = _ALIAS.match(said)
    if alias is not None:
        name = (alias[1] or alias[2]).lower()
        line = next((line for line in LINES if line.name == name), settled_line(date))
    else:
        number = re.match(r"[\^~>=v\s]*(\d+)", said)
        found = line_of(int(number[1])) if number else None
        if found is None:
            return
        line = found
    exact = re.fullmatch(r"[=v\s]*(\d+\.\d+\.\d+)", said)
    yield Wanted(
        line=line,
        evidence=Evidence.PIN,
        because=f"as {path} says ({said})",
        exact=exact[1] if exact is not None else "",
    )


def _of_ci(tree: TreeReader, date: int) -> Iterator[Wanted]:
    """Give the lines that CI runs tests with and that were out at the date, the newest even ones first."""
    found: dict[int, Wanted] = {}
    for path, text in _texts(tree):
        images = [match[1] for match in _IMAGE.finditer(text)]
        named = [number for match in _VERSIONS.finditer(text) for number in _NUMBER.findall(_uncommented(match[1]))]
        for number in (*named, *images):
            line = line_of(int(number))
            if line is not None and line.released <= date:
                found.setdefault(
                    line.major, Wanted(line=line, evidence=Evidence.CI, because=f"which {path} tests with")
                )
        if any(re.search(r"lts/\*|\blts\b", match[1], re.IGNORECASE) for match in _VERSIONS.finditer(text)):
            usual = settled_line(date)
            found.setdefault(
                usual.major,
                Wanted(line=usual, evidence=Evidence.CI, because=f"the long-term line, which {path} tests with"),
            )
    yield from sorted(found.values(), key=lambda one: (one.line.major % 2, -one.line.major))


def _tested(line: Line, because: str) -> Wanted:
    return Wanted(line=line, evidence=Evidence.CI, because=because)


def _uncommented(text: str) -> str:
    return re.sub(r"(?:^|\s)#.*", "", text)


def _texts(tree: TreeReader) -> Iterator[tuple[str, str]]:
    names = sorted(path.decode("utf-8", "surrogateescape") for path in tree.paths)
    for name in names:
        workflow = any(fnmatch.fnmatchcase(name, pattern) and name.count("/") == 2 for pattern in _WORKFLOWS)
        if workflow or name in _OTHER_CI:
            text = read_text(tree, name) or ""
            if not workflow or _SPEAKS_OF_TESTS.search(text):
                yield name, text
