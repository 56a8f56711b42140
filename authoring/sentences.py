"""A text split into its sentences, so that a draft can say which source each of them came from. Pure."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_]")
# After a sentence's end stands a blank and then something that begins one; "e.g. a list" and "v1.2 is" go on.
_END = re.compile(r"(?<=[.!?])[)\"'\u2019\u201d*_`]{0,3}[ \n]+(?=[\"'(`*_\[\u2018\u201c]{0,3}[^\W\d_a-z])")
_ABBREVIATION = re.compile(r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|resp|approx|no|nr|fig|st|mr|mrs|dr)\.$", re.IGNORECASE)
_ITEM = re.compile(r"[ \t]{0,8}(?:[-*+\u2022]|\d{1,3}[.)])[ \t]|[ \t]{0,3}#{1,6}[ \t]|[ \t]*\|")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]")
CODE_FENCE = re.compile(r"[ \t]{0,8}(`{3,}|~{3,})")


def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of an LF text in order, each as one line with its blanks run together.

    A code block counts as one sentence, and so does a title, a heading, a list item's first words, a row of a table.
    What holds no letter or digit is none.
    """
    found = []
    for block in _blocks(text):
        if CODE_FENCE.match(block):
            found.append(block)
            continue
        found += [block[start:end] for start, end in sentence_spans(block)]
    return tuple(" ".join(part.split()) for part in found if _WORD.search(part))


def sentence_spans(block: str) -> list[tuple[int, int]]:
    """Return where the sentences of a paragraph stand: start and end of each, the blanks after it included."""
    spans: list[tuple[int, int]] = []
    start = 0
    for end in _END.finditer(block):
        if not _ABBREVIATION.search(block[max(start, end.start() - 10) : end.start()]):
            spans.append((start, end.end()))
            start = end.end()
    return [*spans, (start, len(block))]


def _blocks(text: str) -> list[str]:
    """Split at blank lines, list items, headings and fences; a wrapped paragraph stays whole."""
    blocks: list[list[str]] = [[]]
    fence = ""
    for line in text.split("\n"):
        mark = CODE_FENCE.match(line)
        if fence:
            blocks[-1].append(line)
            if mark and mark[1].startswith(fence) and line.strip() == mark[1]:
                fence = ""
                blocks.append([])
        elif mark:
            fence = mark[1]
            blocks.append([line])
        elif not line.strip():
            blocks.append([])
        elif _ITEM.match(line):
            blocks.append([line])
            if _HEADING.match(line):
                blocks.append([])
        else:
            blocks[-1].append(line)
    return ["\n".join(block) for block in blocks if block]
