"""What lint knows of a change, read from git: the trees are never parsed, only the files of the change.

Names that may be old are looked for in the whole base by one pass of git. Paths and contents are bytes until a record
is made of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from authoring.change_words import ChangeWords, Need, NeedKind, RestPath
from authoring.grammars import GRAMMARS
from authoring.names import LARGEST_SOURCE, SourceNames, read_names
from authoring.needs import module_name, needs_of
from authoring.tokens import SHORTEST_FRAGMENT, fragments_of, has_names, identifiers, is_distinctive, shingles, tokens
from casewright.git_tree import SUBMODULE, SYMLINK
from casewright.repository import Repository
from execution.languages.file_names import UNKNOWN, language_of_files
from miner.change import NO_FILE_MODE, FileChange, file_change
from miner.inline_tests import SplitFile, split_file
from miner.patch_sections import changed_lines, sections
from miner.path_rules import PathRules

_ENDINGS: Final[Mapping[str, str]] = {
    "py": "python", "pyi": "python", "js": "javascript", "jsx": "javascript", "mjs": "javascript", "cjs": "javascript",
    "ts": "typescript", "mts": "typescript", "cts": "typescript", "tsx": "tsx", "go": "go", "rs": "rust",
}  # fmt: skip
_COMMENT_LINE: Final = re.compile(r"\s*(?://|#|\*|/\*|--|;|%|\"\"\"|''')")
# Errors of the language itself, and special methods: every text may name them.
_OF_ANYBODY: Final = re.compile(r"^__\w+__$|(?:Error|Exception|Warning)$")
_OFFERED: Final = re.compile(
    r"\bexport\s+(?:default\s+)?(?:(?:async|declare|abstract)\s+)*"
    r"(?:function\*?|class|const|let|var|interface|type|enum)\s+(\w+)"
)
_MAKES: Final = re.compile(
    r"\b(?:def|class|function\*?|func|fn|type|struct|enum|trait|interface)\s+(?:\([^)\n]*\)\s*)?(\w+)"
)
_ALL: Final = re.compile(r"^__all__\s*(?::[^=\n]+)?\+?=\s*[\[(](.*?)[\])]", re.MULTILINE | re.DOTALL)
# What users read. Change logs tell of inner things too.
_DOCUMENTATION: Final = (
    "*.md", "*.rst", "*.txt", "*.adoc", "*.mdx", ":(exclude,icase)*change*", ":(exclude,icase)*history*",
    ":(exclude,icase)*news*", ":(exclude,icase)*release*",
)  # fmt: skip
_MOST_COMMITS: Final = 1000
_FEWEST_LETTERS: Final = 3
# Shorter strings stand in many tests by chance; longer ones nobody quotes.
_SAID_LENGTHS: Final = range(3, 201)


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangedFile:
    """One file of a change: which lines it gains at the head and loses at the base (1-based), and both contents.

    A content is empty where there is no file, where it is no text, or where it is too large to be anybody's source.
    """

    path: bytes
    new: bool
    gained: frozenset[int]
    lost: frozenset[int]
    before: bytes
    after: bytes

    @property
    def shown(self) -> str:
        """The path as text; what is no UTF-8 stands as ``\\xNN``."""
        return self.path.decode("utf-8", "backslashreplace")

    @property
    def grammar(self) -> str | None:
        """The name of the grammar that reads it, or None."""
        return _ENDINGS.get(self.shown.rpartition(".")[2]) if b"." in self.path else None


def read_change(
    repository: Repository,
    repository_id: str,
    base: str,
    head: str,
    test_part: Collection[bytes],
    split: Collection[bytes] = (),
) -> ChangeWords:
    """Return what lint knows of the change from ``base`` to ``head`` (full ids), whose test part are these paths.

    Of those in ``split`` the test part holds the tests alone. Raises ``RepositoryError`` when git fails, ``UsageError``
    when a commit is not there.
    """
    rules = PathRules()
    files = _files(repository, base, head)
    test = [file for file in files if file.path in test_part]
    rest = [file for file in files if file.path not in test_part]
    both = {file.path: sides for file in test if file.path in split and (sides := _sides(file))}
    test = [both[file.path][0] if file.path in both else file for file in test]
    rest += [sides[1] for sides in both.values()]
    source = [file for file in rest if rules.decide(file.path).source]
    test_text = "\n".join(_decoded(file.after) for file in test)
    test_words = identifiers(test_text)
    old_words = identifiers("\n".join(_decoded(file.before) for file in source))
    old_modules = identifiers("\n".join(_decoded(file.before) for file in test))
    tried = {file.path: _gained(file) for file in test if file.grammar}
    gained = {file.path: _gained(file) for file in source if file.grammar}
    brought = [gained[file.path] for file in source if file.path in gained]
    taken = {file.path: _lost(file) for file in source if file.grammar}
    maybe_new = _own_names(brought) - old_words - test_words
    wanted = tuple(
        needs_of(
            [(file.shown, tried[file.path]) for file in test if file.path in tried],
            brought,
            old_words,
            [name for name in (module_name(file.shown) for file in source if file.new) if name not in old_modules],
            frozenset().union(*(names.raised for names in taken.values())),
        )
    )
    offered = {name for names in brought for name in names.defined | names.parameters if not name.startswith("_")}
    present = _present(repository, base, maybe_new | {need.text for need in wanted})
    return ChangeWords(
        repository=repository_id,
        base=base,
        head=head,
        rest_paths=tuple(
            RestPath(path=file.shown, source=file in source, new=file.new, shown=_is_shown(file.shown, test_text))
            for file in rest
        ),
        test_paths=tuple(file.shown for file in test),
        test_names=tuple(sorted(_test_names(tried.values()))),
        fix_names=tuple(sorted(maybe_new - present - offered)),
        offered_names=tuple(sorted((maybe_new - present) & offered)),
        changed_names=_inner(repository, base, _changed_names(source, gained) - test_words - (maybe_new - present)),
        fragments=_fragments(source, test, gained),
        needs=tuple(_with_elsewhere(need, present) for need in wanted if _stays(need, present)),
        commits=_commits(repository, base, head),
        unread=tuple(sorted(_unread((*source, *test)))),
        removed=_removed(source, test, taken),
        said=_said(tried.values()),
    )


def _stays(need: Need, present: Collection[str]) -> bool:
    # A keyword is often a plain word that some other file has too: it was held against the changed files alone.
    kept = {NeedKind.NAME, NeedKind.KEYWORD, NeedKind.MODULE, NeedKind.VALUE, NeedKind.ERROR}
    return need.text not in present or need.kind in kept


def _with_elsewhere(need: Need, present: Collection[str]) -> Need:
    return replace(need, elsewhere=need.kind is NeedKind.NAME and need.text in present)


def _files(repository: Repository, base: str, head: str) -> list[ChangedFile]:
    raw = repository.differences(base, head)
    changes = [file_change(line, path) for line, path in zip(raw[::2], raw[1::2], strict=True)]
    regular = [change for change in changes if not {change.old_mode, change.new_mode} & {SUBMODULE, SYMLINK}]
    ids = {name for change in regular for name in _blob_ids(change)}
    blobs = repository.small_blobs(ids, LARGEST_SOURCE)
    patch = repository.diff_patch(base, head, [change.path for change in regular])
    lines = {section.path: changed_lines(section.data) for section in sections(patch)}
    files = []
    for change in changes:
        gained, lost = lines.get(change.path, (frozenset(), frozenset()))
        files.append(
            ChangedFile(
                path=change.path,
                new=change.old_mode.encode() == NO_FILE_MODE,
                gained=gained,
                lost=lost,
                before=_as_text(blobs.get(change.old_id, b"")),
                after=_as_text(blobs.get(change.new_id, b"")),
            )
        )
    return files


def _blob_ids(change: FileChange) -> Iterator[str]:
    for mode, name in ((change.old_mode, change.old_id), (change.new_mode, change.new_id)):
        if mode.encode() != NO_FILE_MODE:
            yield name


def _as_text(content: bytes) -> bytes:
    return b"" if b"\0" in content[:8000] else content


def _sides(file: ChangedFile) -> tuple[ChangedFile, ChangedFile] | None:
    """Return a file that holds tests beside source as two: each keeps its own lines and has the other's blank."""
    split = split_file(file.path, file.before, file.after)
    if not isinstance(split, SplitFile):
        return None
    rest = replace(
        file,
        gained=file.gained & split.outside_head,
        lost=file.lost & split.outside_base,
        before=_only(file.before, split.outside_base, keep=True),
        after=_only(file.after, split.outside_head, keep=True),
    )
    test = replace(
        file,
        gained=file.gained - split.outside_head,
        lost=file.lost - split.outside_base,
        before=_only(file.before, split.outside_base, keep=False),
        after=_only(file.after, split.outside_head, keep=False),
    )
    return test, rest


def _only(content: bytes, numbers: Collection[int], *, keep: bool) -> bytes:
    numbered = enumerate(content.split(b"\n"), start=1)
    return b"\n".join(line if (number in numbers) is keep else b"" for number, line in numbered)


def _gained(file: ChangedFile) -> SourceNames:
    return read_names(file.grammar or "", file.after, file.gained)


def _lost(file: ChangedFile) -> SourceNames:
    return read_names(file.grammar or "", file.before, file.lost)


def _own_names(brought: Iterable[SourceNames]) -> set[str]:
    """Return the names that the fix makes itself; one that it imports from elsewhere is not its own."""
    made: set[str] = set()
    for names in brought:
        made |= (names.defined | names.local | names.parameters) - names.imported
    return {name for name in made if len(name) >= _FEWEST_LETTERS and not _is_dunder(name)}


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "backslashreplace")


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _changed_names(source: Collection[ChangedFile], gained: Mapping[bytes, SourceNames]) -> set[str]:
    """Return the names of the base that stand where the fix changes code.

    Those are the functions and classes that it changes, what its lines call (where the name tells more than a word of
    any language), and the special methods that it adds.
    """
    changed: set[str] = set()
    made = {name for file in source for name in _MAKES.findall(_decoded(file.before))}
    for file in source:
        if file.grammar is None or file.new:
            continue
        after, before = gained[file.path], read_names(file.grammar, file.before, file.lost)
        old = identifiers(_decoded(file.before))
        changed |= {name for name in (after.inside & old) | before.inside if not _is_dunder(name)}
        # A name of some other library is no place in this project.
        own = {name for name in after.used | before.used if name.startswith("_") or name in made}
        changed |= {name for name in own if is_distinctive(name) and not _OF_ANYBODY.search(name)}
        changed |= {name for name in after.defined - old if _is_dunder(name)}
        changed -= _offered(file)
    return {name for name in changed if len(name) >= _FEWEST_LETTERS}


def _offered(file: ChangedFile) -> set[str]:
    """Return the names that a source says at the base to be for its users: exported, public, in ``__all__``."""
    text = _decoded(file.before)
    listed = {name for block in _ALL.findall(text) for name in identifiers(block)}
    return listed | set(_OFFERED.findall(text))


def _inner(repository: Repository, base: str, names: Collection[str]) -> tuple[str, ...]:
    """Leave out names that the documentation of the base gives: they are for users, and a task may name them."""
    public = {name for name in names if not name.startswith("_")}
    return tuple(sorted(set(names) - _present(repository, base, public, _DOCUMENTATION)))


def _present(repository: Repository, base: str, words: Collection[str], patterns: Sequence[str] = ()) -> set[str]:
    known = {word.encode("utf-8", "surrogateescape"): word for word in words}
    return {known[word] for word in repository.words_present(base, known.keys(), patterns)}


def _test_names(gained: Iterable[SourceNames]) -> set[str]:
    return {name for names in gained for name in names.defined | names.inside if re.match(r"[Tt]est(?:[A-Z_]|$)", name)}


def _is_shown(path: str, test_text: str) -> bool:
    """Say whether the tests mention a module: by its dotted name, or by the end of its path without the ending."""
    stem = path.rpartition(".")[0] or path
    parts = [part for part in stem.split("/") if part not in {"src", "lib", "__init__", "index"}]
    tail = parts[-2:] if len(parts) > 1 else parts
    if not tail:
        return True
    pattern = r"[./]".join(map(re.escape, tail))
    imported = rf"(?:from\s+[\w.]*\s+import\s[^\n]*|import\s[^\n]*)\b{re.escape(tail[-1])}\b"
    return re.search(rf"(?<!\w){pattern}(?!\w)|{imported}", test_text) is not None


def _fragments(
    source: Iterable[ChangedFile], test: Iterable[ChangedFile], gained: Mapping[bytes, SourceNames]
) -> tuple[str, ...]:
    """Return the code that the fix adds and that nobody else has: neither its own files before, nor the tests."""
    known: set[tuple[str, ...]] = set()
    sources = tuple(source)
    for content in (*(file.before for file in sources), *(file.after for file in test)):
        known |= shingles(tokens(_decoded(content)), SHORTEST_FRAGMENT)
    found: dict[str, None] = {}
    for file in sources:
        for line in gained[file.path].code if file.path in gained else _plain_code(file):
            found.update(dict.fromkeys(fragments_of(line, known)))
    return tuple(found)


def _removed(
    source: Iterable[ChangedFile], test: Iterable[ChangedFile], taken: Mapping[bytes, SourceNames]
) -> tuple[str, ...]:
    """Return the code that the fix takes away: its files have it less often at the head, and the tests never."""
    sources = tuple(source)
    before = _counted(file.before for file in sources)
    after = _counted(file.after for file in sources)
    known = {run for run, count in after.items() if count >= before.get(run, 0)}
    known |= _counted(side for file in test for side in (file.before, file.after)).keys()
    lines = (line for file in sources if file.path in taken for line in taken[file.path].code)
    return tuple(dict.fromkeys(run for line in lines for run in fragments_of(line, known, has_names)))


def _counted(contents: Iterable[bytes]) -> Counter[tuple[str, ...]]:
    """Return how often each run of ``SHORTEST_FRAGMENT`` tokens stands in some files."""
    found: Counter[tuple[str, ...]] = Counter()
    for content in contents:
        words = tokens(_decoded(content))
        found.update(zip(*(words[place:] for place in range(SHORTEST_FRAGMENT)), strict=False))
    return found


def _said(gained: Iterable[SourceNames]) -> tuple[str, ...]:
    texts = {text for names in gained for text in names.texts}
    return tuple(sorted(text for text in texts if len(text) in _SAID_LENGTHS and "\n" not in text))


def _plain_code(file: ChangedFile) -> list[str]:
    """Return the lines that a file gains in a language that no grammar reads, without lines of comments."""
    lines = _decoded(file.after).split("\n")
    added = (lines[number - 1] for number in sorted(file.gained) if number <= len(lines))
    return [line for line in added if not _COMMENT_LINE.match(line)]


def _commits(repository: Repository, base: str, head: str) -> tuple[str, ...]:
    between = repository.walk(head, exclude=[base], all_commits=True)
    return (base, head, *(commit.id.decode("ascii") for commit in islice(between, _MOST_COMMITS)))


def _unread(files: Iterable[ChangedFile]) -> set[str]:
    named = {language_of_files([file.shown]) for file in files if not file.grammar and file.gained}
    return {name for name in named if name != UNKNOWN and name not in GRAMMARS}
