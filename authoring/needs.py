"""What graded tests use that only the fix brings: nobody could guess it unless the text gives it. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields, replace
from functools import reduce
from typing import Final

from authoring.change_words import Need, NeedKind
from authoring.names import SourceNames

_OPTION: Final = re.compile(r"(?<![\w-])--[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?![\w-])")
_VALUE: Final = re.compile(r"(?!__\w+__$)_*[^\W\d_][\w.:-]{2,}\w")
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_TELLING_NUMBER: Final = re.compile(r"0[xob][0-9a-f_]{2,}|[0-9_]{3,}|[0-9]+\.[0-9]+", re.IGNORECASE)
_FEWEST_LETTERS: Final = 2
_SHORTEST_TEXT: Final = 8
_FEWEST_SHARED: Final = 3


def needs_of(
    test: Sequence[tuple[str, SourceNames]],
    brought: Sequence[SourceNames],
    old_words: Collection[str],
    new_modules: Sequence[str],
    no_longer_raised: Collection[str] = (),
) -> Iterator[Need]:
    """Yield what the added lines of test files (path, names) use of what the fix brings, each thing once.

    ``old_words`` are the words of the changed source files at the base, ``new_modules`` the names of modules that the
    fix adds, ``no_longer_raised`` the errors that the lines which it removes raise. Whether the base has a name
    elsewhere is still to be looked up.
    """
    if not brought:
        return
    # What one file of the fix makes and another imports is the fix's own; what it imports itself is somebody else's.
    fix = reduce(_both, (replace(names, defined=names.defined - names.imported) for names in brought))
    told: set[tuple[NeedKind, str]] = set()
    for path, names in test:
        for kind, text in _of_one(names, fix, old_words, new_modules):
            if (kind, text) not in told:
                told.add((kind, text))
                yield Need(kind=kind, text=text, path=path)
        # Where the base raises nothing there, the error is mostly the one that anybody would choose.
        for error in sorted(names.awaited & fix.raised - set(no_longer_raised)) if no_longer_raised else ():
            if not told & {(NeedKind.NAME, error), (NeedKind.ERROR, error)}:
                told.add((NeedKind.ERROR, error))
                yield Need(kind=NeedKind.ERROR, text=error, path=path)


def _of_one(
    names: SourceNames, fix: SourceNames, old_words: Collection[str], new_modules: Sequence[str]
) -> Iterator[tuple[NeedKind, str]]:
    own = (names.defined | names.local | names.parameters) - names.imported
    called = ((names.used | names.imported) - own) & fix.defined
    for name in sorted(_telling(called) - set(old_words)):
        yield NeedKind.NAME, name
    # A hook may be asked for by a string: `getattr(view, "name", None)`.
    sought = fix.defined | fix.used | set(fix.texts)
    for name in sorted(_telling(names.hooks & sought) - called - set(old_words)):
        yield NeedKind.HOOK, name
    # What the fix itself passes on to others (`stdout=`) is theirs.
    taken = fix.parameters | fix.defined | ((fix.used | set(fix.texts)) - fix.keywords)
    for name in sorted(_telling((names.keywords & taken) - names.imported - called) - set(old_words)):
        yield NeedKind.KEYWORD, name
    options = {option for text in fix.texts for option in _OPTION.findall(text)}
    for option in sorted({option for text in names.texts for option in _OPTION.findall(text)} & options):
        yield NeedKind.OPTION, option
    for module in new_modules:
        if any(re.search(rf"(?:^|[./:]){re.escape(module)}(?:$|\.[cm]?[jt]sx?$)", name) for name in names.modules):
            yield NeedKind.MODULE, module
    for text in (*_texts(names, fix), *_values(names, fix)):
        yield NeedKind.TEXT, text
    for number in sorted(names.numbers & fix.numbers):
        if _TELLING_NUMBER.fullmatch(number) and not _is_round(number):
            yield NeedKind.VALUE, number


def _is_round(number: str) -> bool:
    """Say whether a number is one that everybody would choose: a power of two or of ten, or one less."""
    plain = number.replace("_", "")
    if not plain.isdigit():
        return False
    value = int(plain)
    return any(one & (one - 1) == 0 or str(one).strip("0") == "1" for one in (value, value + 1))


def _telling(names: Collection[str]) -> set[str]:
    return {name for name in names if len(name) >= _FEWEST_LETTERS and not re.fullmatch(r"__\w+__", name)}


def module_name(path: str) -> str:
    """Return what a source file is called when it is imported: its stem, or its folder's name for an index."""
    stem = path.rpartition(".")[0] or path
    parts = stem.split("/")
    return parts[-2] if parts[-1] in {"__init__", "index", "mod"} and len(parts) > 1 else parts[-1]


def _texts(names: SourceNames, fix: SourceNames) -> Iterator[str]:
    """Yield the longest common pieces of what a test expects and what the fix says."""
    said = [piece for piece in map(_trimmed, fix.texts) if _is_message(piece)]
    for expected in dict.fromkeys(map(_trimmed, names.texts)):
        for piece in said:
            if piece in expected:
                yield piece
            elif _is_message(expected) and expected in piece:
                yield expected
            else:
                # Beside a placeholder the test has its own words on one side, and breaks off on the other.
                for overlap in (_overlap(expected, piece), _overlap(piece, expected)):
                    if _is_message(overlap) and len(overlap.split()) >= _FEWEST_SHARED:
                        yield overlap


def _overlap(first: str, second: str) -> str:
    """Return the longest text with which one text ends and the other begins, whole words alone."""
    words = second.split(" ")
    for count in range(len(words) - 1, 0, -1):
        begun = " ".join(words[:count])
        if first.endswith(f" {begun}"):
            return begun
    return ""


def _values(names: SourceNames, fix: SourceNames) -> Iterator[str]:
    """Yield strings of one word that both say, but for names and options, which are told as such."""
    told = names.used | names.imported | names.keywords | names.modules
    for value in sorted(set(names.texts) & set(fix.texts) - told):
        if _VALUE.fullmatch(value) and not _OPTION.fullmatch(value):
            yield value


def _trimmed(text: str) -> str:
    """Return a text without the blanks, quotes and colons that stand beside a placeholder."""
    return text.strip().strip("'\"`:;,. ")


def _is_message(text: str) -> bool:
    return len(text) >= _SHORTEST_TEXT and "\n" not in text and " " in text and len(_WORD.findall(text)) >= 2


def _both(one: SourceNames, other: SourceNames) -> SourceNames:
    # Each part of the record is a set or a tuple of strings; sets are united, tuples follow each other.
    parts = {part.name: (getattr(one, part.name), getattr(other, part.name)) for part in fields(SourceNames)}
    return SourceNames(**{name: a | b if isinstance(a, frozenset) else a + b for name, (a, b) in parts.items()})
