"""Sentences that tell the way to the fix and not what the program does, or is to do. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from authoring.pieces import Piece
from authoring.sentences import sentence_spans

_DOES = re.compile(
    r"(?:(?:this|the) (?:pr|pull request|patch|commit|change)|this|it|i|we|also|to (?:do|fix|achieve) (?:this|that"
    r"|so),?|therefore|instead|so|here|now)?[ ,]*(?:i|we|it)?[ ]?"
    r"(?:have |has |had |also |now |just |simply |'ve )*(?:add|introduc|mov|extract|renam|refactor|rewr[io]t|split"
    r"|inlin|implement|creat|replac"
    r"|chang|updat|modif|switch|us|remov|pull|factor|wrap|convert)(?:e|es|ed|ing|s|ies|ied|ten)?\b",
    re.IGNORECASE,
)
# A private name, a file, or a word for what only the code's authors see. A public name is behaviour.
_INSIDE = re.compile(
    r"(?<![\w.])_[a-z]\w+|\b[\w/-]{1,60}\.(?:py|pyx|jsx?|tsx?|mjs|go|rs|rb|java|kt|c|h|cc|cpp|vue|svelte|php|ex|cs)\b"
    r"|\b(?:helpers?|private|internal(?:ly|s)?|utility|refactor\w*|base class|subclass|mixin|if[- ]statement"
    r"|for[- ]loop"
    r"|code path|list comprehension|lines? of code)\b",
    re.IGNORECASE,
)
# A report that goes on to tell how it is mended; a solution that it would like may be the wish itself.
_MENDED = re.compile(
    r"(?:i (?:think|believe|guess|suspect),? )?(?:(?:it|this|that)(?:['\u2019]s| is| can| could| would| should| might"
    r"| may)|(?:the|this) (?:problem|issue|bug|error) (?:is|can|could|should|might|may))(?: be)?(?: \w+){0,3}?"
    r" (?:addressed|fixed|solved|resolved|address|fix|solve|resolve) (?:it |this |that )?by \w+ing\b"
    r"|(?:i |we )?fix(?:ed|es)? (?:this|it|that) by \w+ing\b"
    r"|(?:the|a|one|my)(?: \w+){0,2} fix (?:is|would be|could be|might be|may be|seems to be) "
    r"|(?:perhaps|maybe|probably|possibly),? by \w+ing [^,]*$",
    re.IGNORECASE,
)
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+")


def without_ways(parts: list[Piece], tells: Callable[[str], bool]) -> list[Piece]:
    """Return pieces without the sentences of which ``tells`` is true, where anything else is left.

    Code and headings stay.
    """
    kept: list[Piece] = []
    number = 0
    while number < len(parts):
        end = number + 1
        if not parts[number].code and parts[number].text.strip():
            while end < len(parts) and _continues(parts[end]):
                end += 1
            text = _without_ways("\n".join(part.text for part in parts[number:end]), tells)
            kept += [Piece(text=line) for line in text.split("\n")] if text.strip() else []
        else:
            kept.append(parts[number])
        number = end
    told = any(part.code or re.search(r"[^\W\d_]{2}", part.text) for part in kept)
    return kept if told else parts


def _continues(part: Piece) -> bool:
    return bool(part.text.strip()) and not (
        part.code or _ITEM.match(part.text) or part.text.startswith(("#", "|", ">"))
    )


def _without_ways(text: str, tells: Callable[[str], bool]) -> str:
    item = _ITEM.match(text)
    start = item.end() if item else 0
    spans = sentence_spans(text[start:])
    telling = [
        text[start + begin : start + end] for begin, end in spans if not tells(text[start + begin : start + end])
    ]
    if len(telling) == len(spans):
        return text
    return text[:start] + "".join(telling).strip() if any(one.strip() for one in telling) else ""


def tells_how_to_mend(sentence: str) -> bool:
    """Say whether a sentence tells how something is to be fixed: "It's easy to address by changing the check"."""
    return _MENDED.match(sentence.strip()) is not None


def tells_the_way(sentence: str) -> bool:
    """Say whether a sentence tells what was done inside the code, or how it is to be.

    "This PR adds a helper `_fill` in `core.py`".
    """
    done = _DOES.match(sentence.strip()) is not None and _INSIDE.search(sentence) is not None
    return done or tells_how_to_mend(sentence)
