"""The sections of a template: which say something of the task, which the forge asked for, which tell of the fix."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from authoring.pieces import Piece

_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)$")
_BOLD = re.compile(r" {0,3}(?:\*\*([^*]{1,100})\*\*|__([^_]{1,100})__)[ \t]*:?[ \t]*$")
_LABEL = re.compile(r" {0,3}([A-Z][^.!?:`*|]{1,60}):[ \t]*$")
# Deeper than any heading with signs, so that each of those ends what a bold line began.
_BOLD_LEVEL: Final = 7
_LABEL_LEVEL: Final = 8


class Meaning(Enum):
    """What becomes of a section: it stays whole or without its heading, goes, or goes where other text is left."""

    KEPT = "kept"
    LABEL = "label"
    DROPPED = "dropped"
    FIX = "fix"
    SURROUNDINGS = "surroundings"


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A heading (None before the first one) with its level and what it means, and the pieces below it."""

    heading: Piece | None
    level: int
    meaning: Meaning
    body: tuple[Piece, ...]


_LABELS = re.compile(
    r"description|pull request|bug report|branch description|motivation background|details?|describe (?:the"
    r"|your) (?:bug|issue|problem"
    r"|changes?|feature)|(?:a )?(?:short |brief |detailed "
    r"|general )?"
    r"(?:bug|issue|problem|feature|pr|change) (?:description|summary|statement|report|request)|feature"
    r"|summary(?: of the (?:issue|problem|bug))?"
    r"|overview|the (?:issue|problem)|issue|problem|bug|proposal|purpose|context|background|motivation|why|details"
    r"|what (?:does )?this pr (?:does|do)(?: why (?:we|it is) need(?:ed)?(?: it)?)?|what (?:is"
    r"|s) (?:the )?(?:problem|bug|issue)"
    r"|what happened|what (?:is|s) (?:this|the) (?:pr|change)(?: about| for)?|what is the purpose of this (?:pr"
    r"|pull request)"
    r"|does this pr introduce a user facing change|user facing changes?|release notes?(?: entry)?"
    r"|is your feature request related to a problem(?: please describe)?|describe the solution you d like"
    r"|clear and concise description of the problem|suggested behaviou?r|what|why is this (?:change )?needed"
    r"|rationale|intent"
    r"|describe the issue|brief description of what is fixed or changed|other comments|(?:additional|other|extra"
    r"|more)(?: context| info(?:rmation)?| details| notes)?|type your issue here|notes?"
    r"|proposed new feature or change|pull request (?:description|summary)"
)
_DROPPED = re.compile(
    r"(?:pr |pull request |contribution |contributor |author |submission |review |merge |final "
    r"|reviewer )?check ?lists?(?: .*)?"
    r"|before (?:submitting|you|opening|creating).*|preflight checklist|validations?|prerequisites?|tests?"
    r"|testing(?: done| steps| instructions| notes| plan)?|tests? (?:added|plans?|coverage|cases?|results?|status"
    r"|instructions|steps|strategy|evidence)"
    r"|(?:automated|manual|unit|new|regression|e2e) tests?(?:ing)?|how (?:has|was|were|is|to|do i|did you|can i"
    r"|should)(?: \w+){0,4} tests?(?:ed|ing)?(?: .*)?|how (?:tested|i tested(?: .*)?)|verification(?: steps)?"
    r"|qa(?: .*)?|validation"
    r"|type(?:s)? of changes?|kind of change|(?:what )?type of (?:pr|change) is (?:this|it)|what kind of (?:pr"
    r"|change) (?:is this|does this .*)|what type of pr is this|types? of changes? introduced.*"
    r"|(?:related|linked|closes?|closed|fixed|associated|referenced?|relevant|addressed) (?:issues?|tickets?|prs?"
    r"|pull requests?|links?|bugs?)(?: .*)?|(?:issue|ticket|jira|bug) (?:links?|numbers?|id|reference)"
    r"|(?:trac )?ticket(?: number)?|issues?(?: fixed| closed)|fixes|closes|resolves"
    r"|which issues? (?:s )?(?:this|does this|is|are).*|links?|references?(?: to other issues or prs)?|see also"
    r"|reviewers?|assignees?|special notes (?:for|to) (?:your|the) reviewers?|notes? (?:for|to) (?:the )?reviewers?"
    r"|review notes|reviewer notes"
    r"|deployment(?: notes?)?|rollout.*|docs?(?: updates?)?|documentation(?: updates?)?|change ?log(?: entry)?"
    r"|commits|ai (?:generation )?(?:disclosure|usage|assistance|policy)(?: .*)?|(?:use of )?ai(?: tools?)? (?:usage"
    r"|use|assistance|disclosure).*"
    r"|additional documentation.*|acknowledge?ments?|credits?|thanks|code of conduct|contributing"
    r"|search(?:ed)? (?:for )?(?:existing|similar|duplicate) issues?|is there an existing issue(?: for this)?"
    r"|duplicates?"
    r"|are you (?:willing|interested|able|open).*|would you (?:be willing|like to).*|participation|self ?service"
    r"|who can (?:help|review).*|priority|severity|impact on .*|breaking change checklist|license|cla|sponsor.*"
    r"|funding.*|first time contributor.*"
    r"|summary by (?:coderabbit|sourcery|cubic|copilot|codeant).*|(?:coderabbit|sourcery|copilot|codecov"
    r"|ellipsis) .*|walkthrough|poem|finishing touches|sequence diagrams?.*|estimated code review effort"
    r"|file walkthrough|pr (?:type|description by .*)|codecov report.*|bundle report.*|deploy preview.*|"
    r"schedule|automerge|rebasing|ignore|configuration|review these changes.*|commit by commit.*"
)
_OF_THE_FIX = re.compile(
    r"(?:proposed |possible |suggested |potential |recommended |the |my |our |implemented )?(?:fix(?:es)?|solution"
    r"|changes|implementation|patch|approach|workarounds?)(?: .*)?"
    r"|(?:summary|list|overview|description) of (?:the )?(?:changes|proposed changes|implementation)|(?:key|main"
    r"|code|technical|major|core|notable|internal|implementation|api|source) changes?|changes? (?:made|proposed"
    r"|introduced|summary|overview|list|in this (?:pr|pull request))"
    r"|what (?:i|we|has|have|was|is|s) (?:did|do|changed?|been changed|done|new|the fix|the solution)"
    r"|what (?:changed|changes)|what did (?:you|i|we) (?:do|change)|how(?: (?:it works|does it work|it s (?:done"
    r"|implemented|fixed)|this works|is it (?:done|fixed|implemented)|i fixed it|was it fixed))?"
    r"|(?:implementation|technical|design|internal) (?:details?|notes?|overview|decisions?|considerations?)|design"
    r"|root causes?(?: analysis)?|the cause|cause|analysis|diagnosis|investigation|under the hood|internals"
    r"|refactor(?:ing)?s?|files? changed|modified files|proposed implementation"
    r"|(?:describe )?alternatives?(?: solutions?)?(?: you ve)?(?: considered)?|trade ?offs?|what (?:i|we) (?:tried"
    r"|found)|proposal for (?:the )?fix|suggest(?:ed|ion)s?(?: fix(?:es)?| solution| implementation)?|to do|todo"
    r"|next steps|future work|follow ups?|out of scope|benchmarks?(?: .*)?|performance(?: impact| results?)?"
    r"|has this been .*|migration(?: guide)?"
)
_SURROUNDINGS = re.compile(
    r"(?:(?:your|my|local|test|runtime|development|system|software) )?(?:environments?|setup)(?: (?:info(?:rmation)?"
    r"|details))?|(?:\w+ and \w+ versions|system config(?:uration)?)|(?:system|software|package|platform|device"
    r"|debug|environment|env|runtime|version"
    r"|python) (?:info(?:rmation)?|versions?|details|specs?)"
    r"|versions?(?: info(?:rmation)?)?|(?:python|node|npm|os|operating system|browsers?|\w+) versions?|(?:desktop"
    r"|smartphone)(?: please complete the following information)?|os|operating system|platforms?|what (?:version|os"
    r"|browser|operating system|platform|python version).*|which version.*|(?:used )?package manager"
    r"|runtime environment|runtime|django version|affected versions?|versions? affected|installed versions"
    r"|(?:affected )?versions? of \w+|debug output"
)
_KEPT = re.compile(
    r"(?:steps|how) to (?:reproduce|replicate|repro).*|(?:minimal |code |bug )?(?:reproduc(?:tion|er|ible).*"
    r"|repro(?: steps)?|example(?: .*)?|code(?: sample| snippet)?)|(?:expected|actual|current|desired|observed|new"
    r"|old|previous) (?:behaviou?rs?|results?|output|outcome)(?: .*)?"
    r"|(?:expected|actual|logs?|traceback|stack ?trace|error(?: message| output| logs?)?|output|usage|use ?cases?"
    r"|breaking changes?|screenshots?|acceptance criteria|requirements|relevant log output)"
)
_BELIEVED_LABELS = (_LABELS, _KEPT, _DROPPED, _OF_THE_FIX, _SURROUNDINGS)


def meaning_of(words: str) -> Meaning:
    """Return what a heading with these words means; one that is in no known template is the author's own and stays."""
    plain = _plain(words)
    for pattern, meaning in (
        (_KEPT, Meaning.KEPT),
        (_LABELS, Meaning.LABEL),
        (_SURROUNDINGS, Meaning.SURROUNDINGS),
        (_DROPPED, Meaning.DROPPED),
        (_OF_THE_FIX, Meaning.FIX),
    ):
        if pattern.fullmatch(plain):
            return meaning
    return Meaning.KEPT


def heading_of(line: str) -> tuple[int, str] | None:
    """Return the level and the words of a heading: ``## Title``, a bold line, or a template's label with a colon."""
    found = _ATX.match(line)
    if found:
        return len(found[1]), found[2].strip("# \t")
    found = _BOLD.match(line)
    if found:
        return _BOLD_LEVEL, found[1] or found[2]
    found = _LABEL.match(line)
    if found and any(rule.fullmatch(_plain(found[1])) for rule in _BELIEVED_LABELS):
        return _LABEL_LEVEL, found[1]
    return None


def sections(parts: Sequence[Piece], *, titled: bool) -> list[Section]:
    """Cut pieces at their headings; a heading below one of a section that goes belongs to that section.

    ``titled``: the first line is somebody's title and begins no section, and what was done is all that the text tells.
    """
    opening = next((part for part in parts if part.text.strip()), None) if titled else None
    found: list[Section] = []
    heading: Piece | None = None
    level, meaning = 0, Meaning.LABEL
    body: list[Piece] = []
    for part in parts:
        title = None if part.code or part is opening or not part.text.strip() else heading_of(part.text)
        # A message has no template: a line that ends in a colon is its author's own.
        if titled and title is not None and title[0] == _LABEL_LEVEL:
            title = None
        if title is None or (title[0] > level > 0 and meaning in {Meaning.DROPPED, Meaning.FIX, Meaning.SURROUNDINGS}):
            body.append(part)
            continue
        found.append(Section(heading=heading, level=level, meaning=meaning, body=tuple(body)))
        heading, body = part, []
        level, meaning = title[0], meaning_of(title[1])
        if titled and meaning is Meaning.FIX:
            meaning = Meaning.LABEL
    return [*found, Section(heading=heading, level=level, meaning=meaning, body=tuple(body))]


def _plain(words: str) -> str:
    letters = "".join(letter if letter.isalnum() else " " for letter in words[:200].lower())
    return " ".join(word for word in letters.split() if word not in {"optional", "required"})
