"""The shell command that puts a case's test part on its base, in the one form that every reader can derive."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from miner.hunks import TestHunk, by_file

_DIFF = (
    "git --literal-pathspecs diff-tree -r -p --binary --full-index --no-renames --no-ext-diff --no-textconv --no-color "
    "-U3 --src-prefix=a/ --dst-prefix=b/"
)
_PATCH = "../test-part.patch"
_BASE = "../base-file"
_GRADING = "../grading-file"


def apply_command(base: str, grading: str, paths: Iterable[bytes], hunks: Sequence[TestHunk] = ()) -> str:
    """Return the command, run by ``sh`` at the root of a plain clone with the base checked out.

    ``base`` and ``grading`` are full object ids, ``paths`` the files of the test part, in any order, ``hunks`` what it
    holds of files that hold source too (none of ``paths``). Two commands, not a pipe, so that a failing diff is not
    read as a patch that does not apply. Bytes that are not UTF-8 are kept as surrogate escapes (such a path can't be in
    a case; ``explain`` still shows its command).
    """
    whole = sorted(set(paths) - {hunk.path for hunk in hunks})
    names = " ".join(shell_word(path) for path in whole)
    patch = f"{_DIFF} {base} {grading} -- {names} > {_PATCH} && git apply --whitespace=nowarn {_PATCH}"
    steps = [patch] if whole or not hunks else []
    return " && ".join([*steps, *(_splice(base, grading, path, own) for path, own in by_file(hunks))])


def _splice(base: str, grading: str, path: bytes, hunks: Sequence[TestHunk]) -> str:
    """Return the commands that write one file from lines of both commits.

    Both are files before anything is cut from them, so that a failing git is not read as an empty file. Lines are taken
    from the end of a beginning: ``head`` and ``tail`` keep a last line without a newline as it is.
    """
    pieces: list[str] = []
    place = 1
    for hunk in hunks:
        pieces += _lines(_BASE, place, hunk.base_line - place)
        pieces += _lines(_GRADING, hunk.grading_line, hunk.grading_lines)
        place = hunk.base_line + hunk.base_lines
    pieces.append(f"tail -n +{place} {_BASE}")
    blobs = ((base, _BASE), (grading, _GRADING))
    reads = [f"git cat-file blob {shell_word(commit.encode() + b':' + path)} > {file}" for commit, file in blobs]
    return " && ".join([*reads, f"{{ {'; '.join(pieces)}; }} > {shell_word(path)}"])


def _lines(file: str, first: int, count: int) -> list[str]:
    if count == 0:
        return []
    beginning = f"head -n {first + count - 1} {file}"
    return [beginning if first == 1 else f"{beginning} | tail -n +{first}"]


def shell_word(path: bytes) -> str:
    """Quote one path for ``sh``: in single quotes, or through ``printf`` where a newline would break the line.

    A command substitution drops newlines at the end, so a path that ends in one stands in plain quotes over two lines.
    """
    text = path.decode("utf-8", "surrogateescape")
    if "\n" not in text or text.endswith("\n"):
        return _quoted(text)
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n")
    return f'"$(printf %b {_quoted(escaped)})"'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
