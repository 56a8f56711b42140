"""The shell command that puts a case's test part on its base, in the one form that every reader can derive."""

from __future__ import annotations

from collections.abc import Iterable

_DIFF = (
    "git --literal-pathspecs diff-tree -r -p --binary --full-index --no-renames --no-ext-diff --no-textconv --no-color "
    "-U3 --src-prefix=a/ --dst-prefix=b/"
)
_PATCH = "../test-part.patch"


def apply_command(base: str, grading: str, paths: Iterable[bytes]) -> str:
    """Return the command, run by ``sh`` at the root of a plain clone with the base checked out.

    ``base`` and ``grading`` are full object ids, ``paths`` the whole test part, in any order. Two commands, not a pipe,
    so that a failing diff is not read as a patch that does not apply. Bytes that are not UTF-8 are kept as surrogate
    escapes (such a path can't be in a case; ``explain`` still shows its command).
    """
    names = " ".join(shell_word(path) for path in sorted(set(paths)))
    return f"{_DIFF} {base} {grading} -- {names} > {_PATCH} && git apply --whitespace=nowarn {_PATCH}"


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
