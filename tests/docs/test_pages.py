"""The pages written by hand: links resolve, commands and options are real, and nothing names a machine of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from casewright.cli.application import GROUPS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md"), *(ROOT / "changes").glob("*.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]

# Folders that every Linux machine has, and those that a run sees inside the sandbox.
# `cases` begins a JSON pointer, the place of a fault in a library.
KNOWN_ROOTS = {"bin", "dev", "etc", "lib", "opt", "proc", "run", "srv", "sys", "tmp", "usr", "var", "cases"}
# Whose addresses may stand in a page: forges of the examples, and names that are reserved for examples.
KNOWN_HOSTS = {"github.com", "example.org"}
COMMANDS = {command for commands in GROUPS.values() for command in commands}

_LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`\n]+)`")
_ABSOLUTE = re.compile(r"(?<![\w.~/:}{*\]-])/([a-z][\w.-]*)/")
_URL = re.compile(r"\b[a-z]+://[^\s<>()\"'`|]+")
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)


@pytest.fixture(params=PAGES, ids=NAMES)
def page(request: pytest.FixtureRequest) -> Path:
    assert isinstance(request.param, Path)
    return request.param


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as forges make them: lower case, blanks to hyphens, other signs gone."""
    titles = (
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in _HEADING.findall(without_code(text))
    )
    return set(titles)


def without_code(text: str) -> str:
    return _FENCE.sub("", text)


def commands_in(text: str) -> Iterator[str]:
    """Every command line of ours that a page shows: in backticks, and in blocks of shell."""
    shell = [body for kind, body in _FENCE.findall(text) if kind in {"sh", "console"}]
    lines = [line for body in shell for line in body.splitlines()]
    # In a block with outputs only what follows the prompt was typed.
    typed = [line for line in lines if line.startswith("$ ") or not any(one.startswith("$ ") for one in lines)]
    for line in (*typed, *_CODE.findall(without_code(text))):
        for part in re.split(r"&&|;|\||#", line):
            words = part.split("=")[0] if part.strip().startswith("CASEWRIGHT") else part
            found = re.match(r"\s*(?:\$ )?(?:\S*/)?casewright (.+)", words)
            if found:
                yield found[1].strip()


def section(command: str) -> str:
    """The reference's part on a command, subcommands included."""
    return re.split(
        r"^### ", text_of(DOCS / "reference.md").split(f"### casewright {command}\n")[1], flags=re.MULTILINE
    )[0]


def test_relative_links_and_their_anchors_resolve(page: Path) -> None:
    for link in _LINK.findall(without_code(text_of(page))):
        if urlsplit(link).scheme:
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{link} leads nowhere"
        if anchor:
            assert anchor in anchors(text_of(target)), f"{link}: no such heading"


def test_no_page_names_a_path_of_some_machine(page: Path) -> None:
    assert {root for root in _ABSOLUTE.findall(text_of(page)) if root not in KNOWN_ROOTS} == set()


def test_every_address_is_an_example_or_a_forge(page: Path) -> None:
    hosts = {urlsplit(address).hostname for address in _URL.findall(text_of(page))}
    assert hosts - {None, *KNOWN_HOSTS} == set()


def test_every_command_shown_is_there_with_its_options(page: Path) -> None:
    for line in commands_in(text_of(page)):
        words = line.split()
        if words[0] == "-C":
            words = words[2:]
        if words[0].startswith("-") or words[0] in {"COMMAND", "URL"}:
            continue
        assert words[0] in COMMANDS, f"there is no command {words[0]!r}: {line}"
        told = section(words[0])
        for option in re.findall(r"(?<!\S)--?[a-zA-Z][\w-]*", line):
            assert re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", told), f"{words[0]} has no {option}: {line}"


def test_the_index_leads_to_every_page() -> None:
    linked = {(DOCS / link.partition("#")[0]).resolve() for link in _LINK.findall(text_of(DOCS / "index.md"))}
    assert {page for page in DOCS.rglob("*.md") if page.name != "index.md"} <= linked


def test_the_commands_of_the_readme_are_those_of_contributors_and_of_ci() -> None:
    readme = text_of(ROOT / "README.md")
    mine, tests = [
        line for line in _FENCE.findall(readme)[0][1].splitlines() if line.strip() and not line.startswith("#")
    ]
    assert readme.index("```sh") < 200, "the readme opens with them"
    assert tests in text_of(ROOT / "CONTRIBUTING.md")
    ci = text_of(ROOT / ".ci" / "run")
    for step in tests.split(" && "):
        # The checks call the same steps by a variable for the folder, and may be quieter.
        wanted = [word for word in step.split() if word not in {".venv/bin/python", "-q", "-m", "python3", ".venv"}]
        assert any(all(word in line for word in wanted) for line in ci.splitlines()), f"not in .ci/run: {step}"
    assert ".venv/bin/casewright -C try-it mine . --limit 5" in mine


def test_every_reason_that_a_page_names_is_one() -> None:
    known = set(re.findall(r"^\| `([a-z-]+)` \| ", text_of(DOCS / "reference.md"), re.MULTILINE))
    assert len(known) > 30
    named = set(re.findall(r"\(`([a-z]+(?:-[a-z]+)+)`", text_of(DOCS / "verdict.md")))
    assert named
    assert named <= known
