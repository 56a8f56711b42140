"""Text without what belongs to the forge and not to the task. Pure, linear time, no text makes it fail.

What goes: comments, badges, addresses, numbers of issues, ids of commits, trailers, merge and revert formulas, what
templates and bots wrote, checklists, sections on tests, quoted diffs and mails, sections that tell how it was fixed.
What stays as it was typed: code blocks (but for blanks at the ends of their lines) and inline code, indents, lists,
tables, line breaks.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from authoring.boilerplate import footnotes, is_rule, without_boilerplate
from authoring.inline_marks import clean_line, with_a_word_for
from authoring.pieces import Piece, joined, pieces, visible, without_comments
from authoring.sections import Meaning, Section, heading_of, sections
from authoring.ways import tells_how_to_mend, tells_the_way, without_ways

# A round may bring to light what the next one takes out; people's texts need two.
MOST_ROUNDS: Final = 6


class TextKind(StrEnum):
    """Who wrote a text and for whom, in the order in which a task is rather drafted from it."""

    ISSUE = "issue"
    PULL_REQUEST = "pull request"
    COMMIT = "commit message"


_TRAILER = re.compile(
    r"(?:[a-z]+(?:-[a-z]+)*-by|cc|change-id|reviewed-on|differential revision|cherry-picked-from|pr-url|backport-of"
    r"|assisted-by|pull-request|git-dch|topic|release-note)\s*:\s*\S.*|"
    r"(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|refs?|references|see[- ]also|see|bug|link|links|related(?: to)?|issue"
    r"|issues|pr|"
    r"pull request|part of|ticket|closes issue|fixes issue|jira)\s*:\s*(?:(?:[\w.-]{1,100}/[\w.-]{1,100})?#\d+"
    r"|gh-\d+|https?://\S+|\d+|[0-9a-f]{7,64}\b)[\s\S]*|"
    r"\(cherry picked from commit [0-9a-f]+\)|git-svn-id:.*|\[(?:skip ci|ci skip|no ci|skip actions)\]",
    re.IGNORECASE,
)
_MERGE = re.compile(
    r"merge (?:pull request|pr|mr|merge request) \S+.*|merge (?:remote-tracking )?(?:branch(?:es)?|tag|commit) ['\"].*|"
    r"merge branch \S+ (?:of|into) \S+|merged in \S+ \(pull request.*\)|see merge request\b.*|auto-?merge\b.*|"
    # A branch into a branch; "Merge defaults into options" is a task.
    r"merge \S+ (?:in)?to [`'\"]?(?:main|master|develop|dev|stable|trunk|next|maint\S*|release\S*|v?\d[\w.]*)\W*",
    re.IGNORECASE,
)
_REVERT = re.compile(r"(?:revert|reapply) [\"'].*|this reverts (?:commit|merge request)\b.*", re.IGNORECASE)
# What a squash lists of the work on it and not of the change.
_WORK = re.compile(
    r"(?:wip|merge|lint(?:ing)?|(?:fix(?:es|ed)? )?(?:lint|linter|linting|typo+s?|nits?|style|formatting|flake8|mypy"
    r"|ruff|black|pep8|prettier)(?: (?:errors?|issues?|warnings?|checks?))?|format(?:ting)?|fixup!?.*"
    r"|squash!?.*|amend!.*"
    r"|cleanup|tidy"
    r"|apply (?:suggestions?|changes) from (?:code )?review|(?:apply|address|incorporate|implement)(?:ed"
    r"|ing)? (?:\w+ ){0,2}(?:code )?(?:review|feedback|comments?|suggestions?|nits?)(?: \w+){0,4}|(?:update|add"
    r"|edit)s? (?:the )?(?:change ?log|changes(?:\.\w+)?|news|history|whats?new)(?: \w+)?"
    r"|auto(?:matic)? fixes from pre-commit.*|\[pre-commit\.ci\].*|\[autofix\.ci\].*|apply automated (?:fixes"
    r"|updates).*|style: .{0,20}pre-commit.*|run (?:black|ruff|prettier|pre-commit|formatter|lint(?:er)?)|(?:fix"
    r"|update|adjust|correct)(?:s|ed|ing)? (?:the |some |broken |failing |unit )*tests?|(?:add(?:ed|s|ing)?|more"
    r"|wrote|write) (?:a |an |some |more |the |new |missing |unit |regression |failing )*tests?(?: for (?:it|this"
    r"|that))?"
    r"|merge .*(?:main|master|develop|upstream|remote|origin|branch).*|(?:code )?review(?: comments?| feedback"
    r"| fixes)?|update (?:tests?|docs?|documentation|readme(?:\.md)?|lock ?file)|docs?|tests?|updates?|update comments?"
    r"|rebase.*|trigger ci"
    r"|empty commit|retrigger.*|bump version|self[- ]review)\W*",
    re.IGNORECASE,
)
_TYPE = re.compile(r"(?:build|chore|ci|docs?|feat|fix|perf|refactor|style|tests?|types)(?:\([^)\n]{0,60}\))?!?:\s+")
_BULLET = re.compile(r"[ \t]{0,6}[*+-][ \t]+")
_TESTS_SENTENCE = re.compile(
    r"(?:also |and |i |we |i've |have |this (?:pr |commit )?)*(?:add(?:ed|s|ing)?|includ(?:ed|es|ing)|updat(?:ed|es"
    r"|ing)|wrote|writes?|extend(?:ed|s)?)(?: also)? (?:\w+ ){0,3}(?:unit|regression|integration|new|more"
    r"|corresponding)?[ -]?tests?(?: (?:cases?|coverage|for|to|that|which|covering|in|as well|accordingly"
    r"|where)\b.{0,120})?[.!]?"
    r"|(?:unit |regression |integration |new )*tests? (?:(?:were|are|was|is|have been|has been) )?(?:added|included"
    r"|updated|attached|passing|pass|green)(?: .{0,60})?[.!]?|with (?:unit |regression )?tests?\.?"
    r"|all (?:existing )?tests? (?:still )?pass(?:ed|es|ing)?(?: .{0,40})?[.!]?|(?:no"
    r"|missing) tests? (?:\w+ )?for .{0,60}"
    r"|(?:no|missing) tests?(?: (?:yet"
    r"|added|needed|required))?[.!]?|tested (?:locally|manually|on|with|by)\b.{0,120}",
    re.IGNORECASE,
)
_BESIDES = re.compile(
    r"\b(?:and|then|but) (?:also )?(?:fix|remove|change|update|make|refactor|handle|support|rename"
    r"|add(?!s? tests?\b))",
    re.IGNORECASE,
)
_LEFTOVER = re.compile(
    r"(?:(?:this|it|which|that|pr|should|also|will|hopefully|partially|partly|the|a|an|and|or|to|of|in|with|on|for"
    r"|from|by|as|is|via|at|cc|xref|issues?|bugs?|tickets?|pull requests?|prs?|comments?|above|below|linked|one|for"
    r"|examples?|since|broken|regression|discovered|found|seen|noticed|spotted|observed|more|info"
    r"|information|details?|discussions?|context|refer|reported|fix(?:e[sd]|ing)?"
    r"|clos(?:e[sd]?|ing)|resolv(?:e[sd]?|ing)|address(?:e[sd])?|refs?|references?|re|see|cf|related|links?|linked"
    r"|duplicate|part|for|examples?|since|broken|regression|introduced|follow|up|followup|supersedes?|replaces?"
    r"|depends?|requires?|blocked|alternative|continuation"
    r"|based|ported|backport(?:ed)?|cherry|picked|commit|merged?|here|playground|stackblitz|repro|fyi|ping|ticket"
    r"|jira|upstream|downstream|originally|follows?|after|previous(?:ly)?|similar|same|sibling|companion|tracking"
    r"|relates?)\b[\s,.:;&/()\[\]*-]*)+",
    re.IGNORECASE,
)
_SELF_REFERENCE = re.compile(
    r"((?:^|(?<=[.!?] ))[*-]?[ \t]*)(?:this|the) (?:pr|pull request|mr|merge request|patch|commit|changeset"
    r"|change)[ ](?:is to |aims to |attempts to |will |just |simply |also |therefore )*"
    r"(adds?|allows?|changes?|ensures?|fix(?:es)?|handles?|improves?|introduces?|makes?|prevents?|removes?|returns?"
    r"|supports?|updates?|avoids?|enables?|corrects?|implements?|provides?|extends?|restores?|replaces?|reverts?"
    r"|drops?|switch(?:es)?|bumps?|stops?|keeps?|raises?)(?=\s+\S)",
    re.IGNORECASE,
)
_OF_THE_ISSUE = re.compile(
    r"(?:hopefully |partially |this (?:pr )?)?(?:closes?|fix(?:es)?|resolves?|addresses|supersedes|reverts) (?:the "
    r"|this |that )?(?:issues?|tickets?|bugs?|prs?|pull requests?)(?: (?:above|below|linked|mentioned|described"
    r"|at hand))*\W*",
    re.IGNORECASE,
)
_LABEL_ALONE = re.compile(
    r"(?:[*_]{0,2})(?:fixes|closes|resolves|issues?|related(?: issues?| prs?)?|references?|refs?|links?"
    r"|see(?: also)?|pr|ticket|demo|docs|source|tracking issue|discussion|cc|jira)[*_]{0,2}:[*_]{0,2}\W*",
    re.IGNORECASE,
)
_END_INSIDE = re.compile(r"[.!?][)\"'`*_]{0,3} +[A-Z]")
_VALUE = re.compile(
    r"[ \t]*(?:[-*+|][ \t]*)?[*_`]{0,3}([^:=|\n]{1,60}?)[*_`]{0,3}[ \t]*(?:[:=|]|\s-\s)[ \t]*(.{0,400})$"
)
_TELLING_WORD = re.compile(r"[^\W\d_]{2,}")
_ONLY_MARKS = " \t-*+\u2022.,;:()[]>|#_=~!&/"


def cleaned(text: str, kind: TextKind = TextKind.COMMIT) -> str:
    """Return a text without what belongs to the forge, as LF text without blank lines at its edges."""
    current = visible(text)
    for _ in range(MOST_ROUNDS):
        fresh = _round(current, kind)
        if fresh == current:
            break
        current = fresh
    return current


def _round(text: str, kind: TextKind) -> str:
    titled = kind is TextKind.COMMIT
    if titled:
        # A message is no page of a forge: what is indented at its beginning is its title.
        text = text.lstrip()
    parts = pieces(without_comments(text))
    notes = footnotes(parts)
    parts = without_boilerplate(parts, lists_of_work=kind is TextKind.ISSUE, titled=titled)
    parts = _told(sections(parts, titled=titled))
    parts = _clean_lines(_without_trailers(parts), html=not titled, notes=notes)
    parts = without_ways(parts, tells_the_way if kind is TextKind.PULL_REQUEST else tells_how_to_mend)
    parts = _without_rules(_without_empty_headings(parts))
    return joined(parts).strip("\n")


def _told(found: list[Section]) -> list[Piece]:
    """Return what tells of the task; what tells of the fix stays only where there is nothing else."""
    told = [_pieces_of(section) for section in found if section.meaning is not Meaning.FIX]
    if not any(part.code or _TELLING_WORD.search(part.text) for body in told for part in body):
        told = [_pieces_of(section) for section in found]
    kept: list[Piece] = []
    for body in told:
        if kept and body and kept[-1].text.strip():
            kept.append(Piece(text=""))
        kept += body
    return kept


def _pieces_of(section: Section) -> list[Piece]:
    match section.meaning:
        case Meaning.DROPPED:
            return []
        case Meaning.SURROUNDINGS:
            return [part for part in section.body if not part.code and _tells_something(part.text)]
        case Meaning.KEPT if section.heading is not None:
            return [section.heading, *section.body]
        case _:
            return list(section.body)


def _tells_something(line: str) -> bool:
    """Say whether a line on somebody's machine is more than a name and a version: the case pins those itself."""
    if heading_of(line) is not None:
        return False
    value = _VALUE.match(line)
    return len(_TELLING_WORD.findall(value[2] if value else line)) > 4


def _without_empty_headings(parts: list[Piece]) -> list[Piece]:
    """Take out headings below which nothing stands before the next one of their level."""
    kept: list[Piece] = []
    following: int | None = 0
    for part in reversed(parts):
        heading = None if part.code or not part.text.strip() else heading_of(part.text)
        if heading is not None and following is not None and heading[0] >= following:
            continue
        if heading is not None:
            following = heading[0]
        elif part.code or part.text.strip():
            following = None
        kept.append(part)
    return kept[::-1]


def _without_rules(parts: list[Piece]) -> list[Piece]:
    """Take out thematic breaks; the underline of a title stays with it."""
    kept: list[Piece] = []
    for part in parts:
        if not part.code and is_rule(part.text):
            above = kept[-1].text.strip() if kept and not kept[-1].code else ""
            if not above or len(part.text.strip()) > len(above) + 3 or is_rule(above):
                kept.append(Piece(text=""))
                continue
        kept.append(part)
    return kept


def _without_trailers(parts: list[Piece]) -> list[Piece]:
    """Take out the last block of lines when each of them has the shape ``Token: value`` or continues one."""
    end = len(parts)
    while end and not parts[end - 1].code and not parts[end - 1].text.strip():
        end -= 1
    start = end
    while start and parts[start - 1].text.strip() and not parts[start - 1].code:
        start -= 1
    block = [part.text for part in parts[start:end]]
    shaped = all(
        re.match(r"[A-Za-z][A-Za-z0-9-]*: \S|\s+\S", line) or _TRAILER.fullmatch(line.strip()) for line in block
    )
    known = any(_TRAILER.fullmatch(line.strip()) for line in block)
    return parts[:start] if start and shaped and known else parts[:end]


def _clean_lines(parts: list[Piece], *, html: bool, notes: frozenset[str]) -> list[Piece]:
    kept: list[Piece] = []
    first = True
    skipped = 0
    for number, part in enumerate(parts):
        if number < skipped:
            continue
        if part.code or not part.text.strip():
            kept.append(part)
            continue
        if not first and (wrapped := _tells_of_work(parts, number)):
            skipped = number + wrapped
            continue
        above = parts[number - 1] if number else part
        line = part.text if above.code else with_a_word_for(part.text, above.text)
        fresh = clean_line(line, html=html, notes=notes)
        if _belongs_to_the_forge(part.text.strip(), fresh.strip()):
            continue
        if not first:
            fresh = _SELF_REFERENCE.sub(lambda found: found[1] + found[2][:1].upper() + found[2][1:], fresh)
        if fresh.strip(_ONLY_MARKS) or (fresh == part.text and (_is_drawn(fresh) or is_rule(fresh))):
            kept += [Piece(text=line.rstrip()) for line in fresh.split("\n")]
            first = False
        elif not _BULLET.match(part.text):
            _drop_lead(kept, parts[number + 1 :][:2], titled=not html)
    return kept


def _drop_lead(kept: list[Piece], following: list[Piece], *, titled: bool) -> None:
    """Take out a line that led up to an address alone ("This was discussed here:"), where nothing else follows it."""
    if any(part.code or _BULLET.match(part.text) or part.text.startswith((">", "|")) for part in following):
        return
    end = len(kept)
    while end and not kept[end - 1].text.strip():
        end -= 1
    if end <= (1 if titled else 0) or kept[end - 1].code:
        return
    lead = kept[end - 1].text
    above = kept[end - 2].text.strip() if end > 1 else ""
    if lead.endswith(":") and heading_of(lead) is None and not _END_INSIDE.search(lead) and above[-1:] in ("", *".!?:"):
        del kept[end - 1 :]


def _belongs_to_the_forge(bare: str, fresh: str) -> bool:
    """Say whether nothing of a line is about the task, as it stands (``bare``) or after its marks went (``fresh``)."""
    for one in {bare, fresh, _BULLET.sub("", bare, count=1)}:
        if any(rule.fullmatch(one) for rule in (_TRAILER, _MERGE, _REVERT, _OF_THE_ISSUE, _LABEL_ALONE)):
            return True
    return (
        fresh != bare
        and len(fresh) < 300
        and _LEFTOVER.fullmatch(_BULLET.sub("", fresh, count=1).strip("*_ ")) is not None
    )


def _tells_of_work(parts: list[Piece], number: int) -> int:
    """Return of how many lines a sentence or list item consists that tells of tests or of work on the change, or 0."""
    opening = parts[number].text
    item = _BULLET.match(opening)
    if not item and number and parts[number - 1].text.strip() and not parts[number - 1].code:
        return 0
    lines = [opening[item.end() :] if item else opening]
    for part in parts[number + 1 : number + 6]:
        if part.code or not part.text.strip() or _BULLET.match(part.text) or part.text.startswith(("#", "|")):
            break
        lines.append(part.text)
    said = " ".join(" ".join(lines).split())
    if len(said) > 300 or _BESIDES.search(said):
        return 0
    return (
        len(lines) if _TESTS_SENTENCE.fullmatch(said) or (item and _WORK.fullmatch(_TYPE.sub("", said, count=1))) else 0
    )


def _is_drawn(line: str) -> bool:
    """Say whether a line of signs alone is part of something drawn: a table's rule, or what is set in below code."""
    return (line.lstrip().startswith("|") and "-" in line) or line.startswith(("    ", "\t"))
