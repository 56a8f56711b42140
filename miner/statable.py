"""Whether the texts of a change say enough that a task could be stated from them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

FEWEST_WORDS = 4

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
_TRAILER = re.compile(
    r"^(signed-off-by|co-authored-by|reviewed-by|acked-by|tested-by|reported-by|suggested-by|change-id|git-svn-id"
    r"|cherry-picked-from|pull-request|pr-url|reviewed-on|see-also)\s*:.*$",
    re.IGNORECASE | re.MULTILINE,
)
# Only the formula goes: the name of a branch or the title of what is reverted may say something.
_FORMULA = re.compile(
    r"^(merge (pull|merge) request \S+( (from|in|into)\b)?"
    r"|merged? in\b"
    r"|merge (remote-tracking )?(branch(es)?|commit|tag|changes?)\b"
    r"|merge\b"
    r"|revert(s|ed)?\b:?"
    r"|this reverts commit [0-9a-f]{7,64}[^\n]*"
    r"|\(cherry picked from commit [0-9a-f]+\))",
    re.IGNORECASE | re.MULTILINE,
)
_INTO = re.compile(r"(?<=['\"\w])\s+(into|of)\s+['\"]?[\w./:@-]+['\"]?\s*$", re.IGNORECASE | re.MULTILINE)
_VERSION = re.compile(r"\bv?\d+(\.(\d+|x))+([-.+]?(a|b|c|rc|alpha|beta|pre|dev|post|final)[.-]?\d*)?\b", re.IGNORECASE)
_NUMBERED = re.compile(r"(?<!\w)(#|gh-|gh#|pr-)\d+", re.IGNORECASE)
_COMMIT_ID = re.compile(r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b")
_WORD = re.compile("[^\\W_]+(?:['\u2019][^\\W_]+)*")
# Scripts that put no blanks between words: two signs are taken for one word.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")


def statable(texts: Iterable[str]) -> bool:
    """Say whether all texts together hold at least four words besides version numbers and formulas.

    ``texts`` are commit messages and whatever a pull request or an issue says.
    """
    return sum(word_count(text) for text in texts) >= FEWEST_WORDS


def word_count(text: str) -> int:
    """Return how many words of a text could say what changed."""
    for noise in (_COMMENT, _URL, _TRAILER):
        text = noise.sub(" ", text)
    lines = []
    for line in text.splitlines():
        formula = _FORMULA.match(line.strip())
        said = _INTO.sub("", line.strip()[formula.end() :]) if formula else line
        lines.append(said)
    text = "\n".join(lines)
    for noise in (_VERSION, _NUMBERED, _COMMIT_ID):
        text = noise.sub(" ", text)
    unspaced = len(_UNSPACED.findall(text))
    words = [word for word in _WORD.findall(_UNSPACED.sub(" ", text)) if any(letter.isalpha() for letter in word)]
    return len(words) + unspaced // 2
