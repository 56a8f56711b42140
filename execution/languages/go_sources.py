"""What a Go source file says without being run: its tests, its build constraints, whether it needs C. Pure.

Sources are texts (what is not UTF-8 stands there as a lone surrogate). Files are read by their tokens alone (comments,
strings, braces), so that what stands in a string is never taken for a test.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

# What the language lexes as one piece: what stands in it is no code.
_PIECE: Final = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|`[^`]*`|'(?:\\.|[^'\\\n])*'|[{}()]|[^\W\d]\w*|[^\s\w]", re.DOTALL
)
_LINE_END: Final = re.compile(r"\n")
# `go test` takes a name where no lower-case letter follows the word.
_TEST_NAME: Final = re.compile(r"(Test|Fuzz|Example)(?:[^a-z].*)?")
_OUTPUT: Final = re.compile(r"(?://|/\*)\s*(?:unordered )?output:", re.IGNORECASE)
_CONSTRAINT: Final = re.compile(r"//go:build[ \t]+(.*)")
_OLD_CONSTRAINT: Final = re.compile(r"//[ \t]*\+build(?:[ \t]+(.*))?")
_PACKAGE: Final = re.compile(r"^[ \t]*package[ \t]", re.MULTILINE)
_IMPORTS: Final = re.compile(r'^[ \t]*import[ \t]*(?:\(([^)]*)\)|(?:[\w.]+[ \t]+)?"([^"\n]+)")', re.MULTILINE)
_QUOTED: Final = re.compile(r'"([^"\n]+)"')
_WORD: Final = re.compile(r"\s*(\|\||&&|[!()]|[\w.]+)")

# The names that `go build` reads out of a file's name, such as `file_windows_test.go`.
SYSTEMS: Final = frozenset(
    "aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris wasip1 windows"
    " zos".split()
)
MACHINES: Final = frozenset(
    "386 amd64 amd64p32 arm armbe arm64 arm64be loong64 mips mipsle mips64 mips64le mips64p32 mips64p32le ppc ppc64"
    " ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm".split()
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Built:
    """What a build is for: the tags that hold, besides those of releases, and the release (``(1, 19)``)."""

    tags: frozenset[str]
    release: tuple[int, int]

    def holds(self, tag: str) -> bool:
        """Whether a build tag holds; ``go1.N`` holds for every release from that one on."""
        if match := re.fullmatch(r"go1\.(\d+)", tag):
            return (1, int(match[1])) <= self.release
        return tag in self.tags


def declared_tests(source: str) -> tuple[str, ...]:
    """Return the tests, fuzz tests and checked examples that a ``_test.go`` file declares, in their order.

    ``TestMain`` is none, nor is an example without an ``Output:`` comment, which is compiled and never run.
    """
    found: dict[str, None] = {}
    depth, name, checked = 0, "", False
    before: list[str] = []
    for match in _PIECE.finditer(source):
        piece = match.group()
        if piece.startswith(("//", "/*")):
            # Only the last comment of an example counts.
            checked = _OUTPUT.match(piece) is not None if depth else checked
            continue
        if piece in {"{", "}"}:
            if piece == "{" and depth == 0:
                checked = False
            depth += 1 if piece == "{" else -1
            if depth == 0 and name and (not name.startswith("Example") or checked):
                found[name] = None
            name = name if depth else ""
        elif depth == 0 and piece == "(" and before[-2:-1] == ["func"]:
            word = before[-1]
            name = word if word != "TestMain" and _TEST_NAME.fullmatch(word) else ""
        elif piece not in {"(", ")"} and depth:
            checked = False
        before = [*before[-1:], piece]
    return tuple(found)


def constraint(source: str, name: str) -> str:
    """Return a file's build constraint as one expression, from its head and its name; empty when it has none."""
    head = source[: match.start()] if (match := _PACKAGE.search(_without_blocks(source))) else source
    parts = []
    lines = [line.strip() for line in _LINE_END.split(head)]
    modern = [found[1].strip() for line in lines if (found := _CONSTRAINT.fullmatch(line))]
    if modern:
        parts += modern[:1]
    else:
        old = [found[1] or "" for line in lines if (found := _OLD_CONSTRAINT.fullmatch(line))]
        parts += [_from_old(line) for line in old]
    parts += _of_name(name)
    return " && ".join(f"({part})" for part in parts) if len(parts) > 1 else "".join(parts)


def is_met(expression: str, built: Built) -> bool:
    """Whether a build constraint holds; one that can't be read does not, as for ``go build``."""
    if not expression:
        return True
    words = _WORD.findall(expression)
    if "".join(words) != re.sub(r"\s+", "", expression):
        return False
    value, rest = _either(words, built.holds)
    return value and not rest


def tags_of(expression: str) -> frozenset[str]:
    """Return the tags that a build constraint speaks of."""
    return frozenset(word for word in _WORD.findall(expression) if word not in {"||", "&&", "!", "(", ")"})


def needs_c(source: str) -> bool:
    """Whether a file imports C."""
    return '"C"' in source and "C" in _imported(source)


def imports(source: str) -> frozenset[str]:
    """Return the import paths of a file; C is none."""
    return _imported(source) - {"C"}


def _imported(source: str) -> frozenset[str]:
    found: set[str] = set()
    for group, single in _IMPORTS.findall(_without_comments(source)):
        found |= set(_QUOTED.findall(group)) if group else {single}
    return frozenset(found - {""})


def _without_blocks(source: str) -> str:
    """Blank block comments, so that the word ``package`` in one ends no head; positions stay."""
    return re.sub(r"/\*.*?\*/", lambda found: re.sub(r"[^\n]", " ", found.group()), source, flags=re.DOTALL)


def _without_comments(source: str) -> str:
    return _PIECE.sub(lambda found: "" if found.group().startswith(("//", "/*")) else found.group(), source)


def _from_old(line: str) -> str:
    """Return a ``+build`` line in the words of ``go:build``: blanks are or, commas are and."""
    options = [" && ".join(option.split(",")) for option in line.split()]
    return " || ".join(f"({option})" for option in options) or "ignore"


def _of_name(name: str) -> list[str]:
    """Return the tags of a file's name, by its last words: ``a_linux_arm64_test.go``, ``a_windows.go``."""
    words = name.partition(".")[0].removesuffix("_test").split("_")[1:]
    if len(words) > 1 and words[-2] in SYSTEMS and words[-1] in MACHINES:
        return words[-2:]
    return words[-1:] if words and words[-1] in SYSTEMS | MACHINES else []


def _either(words: list[str], holds: Callable[[str], bool]) -> tuple[bool, list[str]]:
    value, rest = _both(words, holds)
    while rest[:1] == ["||"]:
        other, rest = _both(rest[1:], holds)
        value = value or other
    return value, rest


def _both(words: list[str], holds: Callable[[str], bool]) -> tuple[bool, list[str]]:
    value, rest = _one(words, holds)
    while rest[:1] == ["&&"]:
        other, rest = _one(rest[1:], holds)
        value = value and other
    return value, rest


def _one(words: list[str], holds: Callable[[str], bool]) -> tuple[bool, list[str]]:
    match words:
        case ["!", *rest]:
            value, rest = _one(rest, holds)
            return not value, rest
        case ["(", *rest]:
            value, rest = _either(rest, holds)
            # A bracket that is never closed leaves a word that nothing takes, so the whole does not hold.
            return (value, rest[1:]) if rest[:1] == [")"] else (False, ["("])
        case [tag, *rest] if tag not in {"||", "&&", ")"}:
            return holds(tag), rest
        case _:
            return False, ["?"]
