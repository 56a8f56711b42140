"""What a text gives away: where the fix is, what it is called, how it is written, which tests grade it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from authoring.change_words import ChangeWords, RestPath
from authoring.finding import RULES, Code, Finding, Severity
from authoring.prose import Prose
from authoring.tokens import SHORTEST_FRAGMENT, is_code, is_distinctive, placed_tokens, shingles

# Names that say nothing of where a file is: each project has dozens.
_USUAL_FILES: Final = re.compile(
    r"(?:__init__|__main__|main|index|mod|lib|setup|conftest|utils?|types?|core|base|common|helpers?|constants?)\.\w+"
)
_PATH_SIGNS: Final = frozenset(".@+-_/\\")
_JOINING: Final = frozenset(".,=+-*/%&|<>([{")
# Longer than any path that a person writes.
_LONGEST_PATH: Final = 300


def leaks(field: str, prose: Prose, change: ChangeWords, graded_ids: Sequence[str]) -> Iterator[Finding]:
    """Yield what one field (``task``, ``hints``) gives away of a change; ``graded_ids`` are the tests that decide."""
    for path in change.rest_paths:
        yield from _rest_path(field, prose, path)
    yield from _fix_names(field, prose, change)
    yield from _changed_names(field, prose, change)
    yield from _quoted_lines(field, prose, change)
    for test_path in change.test_paths:
        yield from _test_path(field, prose, test_path)
    yield from _test_names(field, prose, {*test_functions(graded_ids), *change.test_names})


def finding_at(
    code: Code, severity: Severity, field: str, text: str, span: tuple[int, int], message: str, suggestion: str = ""
) -> Finding:
    """Return a finding about what stands at ``span`` of a field; its message begins with that."""
    begin, end = span
    found = text[begin:end]
    return Finding(
        code=code,
        severity=severity,
        field=field,
        start=begin,
        end=end,
        text=found,
        message=f"{found!a} {message}",
        suggestion=suggestion or _lower(RULES[code].mend),
    )


def test_functions(graded_ids: Iterable[str]) -> set[str]:
    """Return the names of test functions and classes in ids; titles of JavaScript tests are sentences and no names."""
    names: set[str] = set()
    for test in graded_ids:
        bare = test.partition("[")[0]
        names |= {
            part
            for part in re.split(r"::|[./ ]", bare.rpartition(".py::")[2] or bare)
            if re.fullmatch(r"test_\w+|Test[A-Z_]\w*|\w+_test", part)
        }
    return names


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:].rstrip(".")


def _rest_path(field: str, prose: Prose, path: RestPath) -> Iterator[Finding]:
    traced = False
    for span, whole in _mentions(prose.text, path.path):
        name = path.path.rpartition("/")[2]
        if not whole and (not path.source or _USUAL_FILES.fullmatch(name)):
            continue
        if not path.source and "/" not in path.path:
            continue
        trace = prose.is_trace(span[0])
        if trace and traced:
            # One traceback goes through a file many times.
            continue
        traced = traced or trace
        error = whole and path.source and not trace
        said = "is a file that the fix adds" if path.new else "is a file that the fix changes"
        yield finding_at(
            Code.REST_PATH,
            Severity.ERROR if error else Severity.WARNING,
            field,
            prose.text,
            span,
            f"{said} (in a traceback)" if trace else said,
        )
    if path.source and path.path.endswith((".py", ".pyi")) and not path.shown:
        yield from _dotted(field, prose, path)


def _dotted(field: str, prose: Prose, path: RestPath) -> Iterator[Finding]:
    parts = [part for part in path.path.rpartition(".")[0].split("/") if part not in {"src", "lib", "__init__"}]
    if len(parts) < 2:
        return
    pattern = r"\.".join(map(re.escape, parts))
    for found in re.finditer(rf"(?<![\w./]){pattern}(?![\w/]|\.py)", prose.text):
        yield finding_at(
            Code.REST_PATH, Severity.WARNING, field, prose.text, found.span(), "is a module that the fix changes"
        )


def _mentions(text: str, path: str) -> Iterator[tuple[tuple[int, int], bool]]:
    """Yield where a text names a path: its span, and whether by more than its last component."""
    parts = path.split("/")
    for found in re.finditer(rf"(?<![\w-]){re.escape(parts[-1])}(?![\w-]|\.\w)", text):
        before = _path_before(text, found.start())
        given = [part for part in re.split(r"[/\\]", before) if part not in {"", "."}]
        if before and not before.endswith(("/", "\\")):
            continue
        shared = 0
        while shared < min(len(given), len(parts) - 1) and given[-1 - shared] == parts[-2 - shared]:
            shared += 1
        if given and not shared:
            # The same name in another folder is another file.
            continue
        yield (found.start() - len(before), found.end()), bool(shared) or len(parts) == 1


def _path_before(text: str, place: int) -> str:
    """Return what of a path stands just before a place."""
    begin = place
    while begin > max(0, place - _LONGEST_PATH) and (text[begin - 1].isalnum() or text[begin - 1] in _PATH_SIGNS):
        begin -= 1
    return text[begin:place]


def _fix_names(field: str, prose: Prose, change: ChangeWords) -> Iterator[Finding]:
    for span in _named(prose, change.fix_names):
        yield finding_at(Code.REST_NAME, Severity.ERROR, field, prose.text, span, "is a name that only the fix brings")
    for span in _named(prose, change.offered_names):
        said = "is a name that the fix brings and no test uses: is it asked for, or the way it was done?"
        yield finding_at(Code.REST_NAME, Severity.WARNING, field, prose.text, span, said)


def _changed_names(field: str, prose: Prose, change: ChangeWords) -> Iterator[Finding]:
    for span in _named(prose, change.changed_names):
        yield finding_at(
            Code.CHANGED_NAME,
            Severity.WARNING,
            field,
            prose.text,
            span,
            "stands where the fix changes code, and no test names it",
        )


def _named(prose: Prose, names: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where one of the names stands as a name: a word of a sentence is no name of a variable."""
    if not names:
        return
    known = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    for found in re.finditer(rf"(?<![\w-])(?:{known})(?![\w-])", prose.text):
        called = prose.text[found.end() : found.end() + 1] == "("
        if is_distinctive(found[0]) or called or prose.is_code(found.start()):
            yield found.span()


def _quoted_lines(field: str, prose: Prose, change: ChangeWords) -> Iterator[Finding]:
    for span, plain in _runs(prose, change.fragments):
        if is_code(plain):
            yield finding_at(Code.QUOTED_LINE, Severity.ERROR, field, prose.text, span, "is code that the fix adds")
    for span, plain in _runs(prose, change.removed):
        # What breaks off after a sign was like it no longer than that.
        alike = len(plain) - (plain[-1] in _JOINING)
        # A traceback shows the line where it broke to everybody who tries.
        seen = prose.is_traced_code(span[0])
        if alike >= SHORTEST_FRAGMENT and not seen and (is_code(plain) or prose.is_code(span[0])):
            said = "is code that the fix takes away"
            yield finding_at(Code.REMOVED_LINE, Severity.WARNING, field, prose.text, span, said)


def _runs(prose: Prose, fragments: Sequence[str]) -> Iterator[tuple[tuple[int, int], list[str]]]:
    """Yield where a text holds ``SHORTEST_FRAGMENT`` or more tokens of the fragments in a row, and the tokens."""
    known = {run for fragment in fragments for run in shingles(fragment.split(), SHORTEST_FRAGMENT)}
    words = placed_tokens(prose.text) if known else []
    plain = [word for word, _, _ in words]
    place = 0
    while place + SHORTEST_FRAGMENT <= len(words):
        end = place
        while tuple(plain[end : end + SHORTEST_FRAGMENT]) in known:
            end += 1
        if end > place:
            last = end - 1 + SHORTEST_FRAGMENT
            yield (words[place][1], words[last - 1][2]), plain[place:last]
            place = last
        else:
            place += 1


def _test_path(field: str, prose: Prose, path: str) -> Iterator[Finding]:
    name = path.rpartition("/")[2]
    telling = re.search(r"test|spec", name, re.IGNORECASE) is not None and name != "conftest.py"
    for span, whole in _mentions(prose.text, path):
        if whole or telling:
            yield finding_at(Code.TEST_PATH, Severity.ERROR, field, prose.text, span, "is a file of the hidden tests")


def _test_names(field: str, prose: Prose, names: set[str]) -> Iterator[Finding]:
    wanted = sorted((name for name in names if len(name) > 5), key=len, reverse=True)
    if not wanted:
        return
    known = "|".join(map(re.escape, wanted))
    for found in re.finditer(rf"(?<![\w.-])(?:{known})(?!\w|\.\w)", prose.text):
        yield finding_at(Code.TEST_NAME, Severity.ERROR, field, prose.text, found.span(), "is a test that grades")
