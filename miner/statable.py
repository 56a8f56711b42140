"""Whether the texts of a change say enough that a task could be stated from them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

FEWEST_WORDS = 4
FEWEST_TELLING_WORDS = 2

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_URL = re.compile(r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,30}://\S+", re.IGNORECASE)
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
# A name such as joinURL says as much as the words that it is made of.
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^A-Z]+")
# Words that any commit may carry: they say that something was done, not what.
_EMPTY_WORDS = frozenset(
    """a an and as at be bug bugs build bump by change changed changes chore ci clean cleaned cleanup cleanups code
    commit do docs draft feat feature few final first fix fixed fixes fixing for format formatting from fixup
    hotfix i improve improved improvement improvements in initial into is issue issues it its lint linting main
    master minor misc miscellaneous more nit nits now of on or perf please pr prepare pull quick refactor
    refactored refactoring reformat release released reformatting remaining request revert reverted review
    revision small some squash stuff style that the these thing things this tidy tmp to todo try trying tweak
    tweaks typo typos up update updated updates updating various version vs was were wip with work""".split()
)
# Scripts that put no blanks between words: two signs are taken for one word.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")


def statable(texts: Iterable[str]) -> bool:
    """Say whether all texts together say enough that a task could be made of them.

    ``texts`` are commit messages and whatever a pull request or an issue says. Four words besides version numbers and
    formulas are enough; so are two that tell something, for ``Make hello executable`` is a task and ``Minor cleanups``
    is none.
    """
    found = [word for text in texts for word in words(text)]
    telling = [word for word in found if word.lower() not in _EMPTY_WORDS]
    return (len(found) >= FEWEST_WORDS and bool(telling)) or len(telling) >= FEWEST_TELLING_WORDS


def words(text: str) -> list[str]:
    """Return the words of a text that could say what changed."""
    for noise in (_COMMENT, _URL, _TRAILER):
        text = noise.sub(" ", text)
    lines = []
    for line in text.splitlines():
        formula = _FORMULA.match(line.strip())
        lines.append(_INTO.sub("", line.strip()[formula.end() :]) if formula else line)
    text = "\n".join(lines)
    for noise in (_VERSION, _NUMBERED, _COMMIT_ID):
        text = noise.sub(" ", text)
    pairs = "".join(_UNSPACED.findall(text))
    found = [hump for word in _WORD.findall(_UNSPACED.sub(" ", text)) for hump in _HUMP.findall(word)]
    said = [word for word in found if any(letter.isalpha() for letter in word)]
    # "Width 3" says which width; a date or a list of numbers says no more than one number does.
    numbers = [word for word in found if word.isdigit()][:1]
    return said + numbers + re.findall("..", pairs)
