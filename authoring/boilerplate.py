"""Lines that a template, a bot or a mail program wrote and no person: checklists, placeholders, footers. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from authoring.pieces import Piece

_CHECK = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[[ \txX]?\](?:[ \t]+(.*))?$")
_PROCESS = re.compile(
    r"\b(?:i|we|my|you|your|i've)\b|\b(?:tests?|tested|testing|docs?|documentation|docstrings?|change ?log"
    r"|changes? file|newsfile|news fragment|contributing|code of conduct|lint|linter|linting|ci|pr"
    r"|pull request|bug ?fix|new feature|breaking change|refactor\w*|read|search(?:ed)?|confirm|agree|commits?"
    r"|squash|style guide|cla|self-review|reviewed|issue|ticket|branch|rebased?|chore|dependenc\w+|enhancement"
    r"|documentation update|other)\b",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"[>*_ \t(-]*(?:"
    r"(?:please|pls)[ ,](?:fill|describe|provide|include|add|explain|replace|delete|remove|read|make sure|ensure|check"
    r"|give|enter|complete|paste|list|specify|note|see|search|write|tick|put|link|mention|attach|don'?t|do not|use"
    r"|submit"
    r"|open|only)\b[^\n]{0,300}\b(?:issues?|prs?|pull requests?|sections?|template|form|description|details|information"
    r"|info|steps|versions?|here|below|above|context|screenshots?|guide(?:lines?)?|contributing|reproduc\w+|environment"
    r"|logs?|questions?|following|forum|discussions?|bug report|feature request|tracker|text|comment)\b.*"
    r"|a (?:clear and concise|concise|clear|short|brief) (?:and \w+ )?(?:description|summary|explanation) of\b.*"
    r"|(?:describe|explain|summari[sz]e|tell us|write) (?:here|your|what|why|how|the (?:bug|issue|problem"
    r"|changes?))\b.*(?:here|below|\.{3})\.?"
    r"|(?:replace|delete|remove|fill in|insert|enter|type|paste) (?:this|these|me|the|your|any|in)\b.*(?:comment"
    r"|section|text|template|line|here|below|lines).*|if applicable,? (?:add|please|provide).*"
    r"|add any other (?:context|information|screenshots).*"
    r"|ex\. i'?m always frustrated when.*|_?no response_?\.?|n/?a\.?|none\.?|nothing\.?|tbd\.?|\(?(?:optional"
    r"|required)\)?|nope\.?|\.{3}|\u2026|todo:?|same as above\.?|see (?:above|below|title|the title"
    r"|commit(?: messages?)?)\.?|not applicable\.?|not relevant\.?"
    r"|\(?(?:write|add|put|your) (?:your )?(?:answer|description|text|code|content)s? (?:here|goes here|below).*"
    r"|(?:your|the) (?:code|answer|description|content|text)s? (?:goes )?here.*|steps to reproduce the behaviou?r:?"
    r"|\d[.)][ \t]*(?:go to|click on|scroll down to|see error|open) ?['\"\u2018\u201c]?\.{0,4}['\"\u2019\u201d]?"
    r"|\d{1,2}[.)][ \t]*(?:\.{3}|\u2026)?|thanks? (?:you )?(?:for|in advance)\b.{0,120}|thank you!?|thanks!?"
    r"|cheers!?|hi(?: there| all| team| folks| everyone)?[,!.]?|hello(?: there| all| team| everyone)?[,!.]?"
    r"|first of all,? thanks.{0,120}|(?:hi|hello|hey)\b[^.!?\n]{0,20}\bthank(?:s| you)\b[^.!?\n]{0,120}[.!?]?"
    r"|\[!(?:note|tip|important|warning|caution)\]|(?:many |big |huge |special )?(?:thanks|credits?|props"
    r"|kudos) (?:also )?to [^.!?]{1,80}\.?|\[e\.g\..*\]|(?:-[ \t]*)?(?:os|browser|version"
    r"|device)[ \t]*:?[ \t]*\[?e\.g\..*"
    r"|provide a general summary of.*|tell us (?:what|how|why).*|what(?:'s| is) (?:wrong|the expected behavio).*\?$"
    r"|give a brief description.*|include a (?:minimal|code).*(?:example|here)\.?"
    r"|this (?:section|template|line|text|comment) (?:can|should|may|must|is to) be (?:deleted|removed|replaced"
    r"|filled).*"
    r"|\u2193.*|\\?----+ ?>8 ?-*.*"
    r"|(?:write|tell us) what (?:you|happen|should).*|write your [^.!?]{0,40} here:?|\d[.)][ \t]*step \d[ .]*"
    r"|additional information that may be relevant\b.*"
    r"|(?:\*\*)?[\w-]{1,30} version(?:\*\*)?:(?:\*\*)?(?: [\w.+-]{1,20}){0,4}"
    r")[*_ \t)]*",
    re.IGNORECASE,
)
# What a form's code block asks for, left as it was.
_UNFILLED = re.compile(
    r"[ \t]*(?:<(?:code|version|output|backtrace)>|paste (?:a|an|the|your) (?:minimal|full|complete)\b.*)?",
    re.IGNORECASE,
)
_BOT_LINE = re.compile(
    r"[>*_ \t\W]{0,12}(?:generated (?:by|with|using)\b.*|(?:this (?:pr|pull request|commit|description|summary"
    r"|change|issue) (?:was|is|has been|were) (?:auto-?|automatically |mostly |partly )?(?:generated|created|written"
    r"|opened|authored|marked) (?:by|with|using|as|from)\b.*)"
    r"|auto-?generated (?:by|with)\b.*|co-authored with .*(?:claude|copilot|chatgpt|cursor|gemini).*|created (?:by"
    r"|with) (?:claude|copilot|cursor|renovate|dependabot|devin|pyup).*|copilot:.*|this (?:issue|pr"
    r"|pull request) has been automatically\b.*|it will be closed if no further activity.*"
    r"|for more information,? see pre-commit\.ci.*|\[pre-commit\.ci\].*|pre-commit(?:-ci"
    r"|\.ci)? (?:auto)?.*autoupdate.*|sent from my .*|posted (?:by|via) .*|this pr contains the following updates:?"
    r"|you can trigger a rebase.*|dependabot will (?:resolve|merge|not).*|\[//\]: # .*|\[comment\]: .*"
    r"|\[!\[.*|signed-off-by:.*|powered by .*|reviewed by (?:cursor|bugbot).*|written by (?:cursor|claude).*"
    r"|summary by (?:coderabbit|sourcery|cubic).*|link to devin.*|requested by:? @.*|want to back this issue.*"
    r"|we accept bounties.*|upvote & fund.*|\[?polar\.sh.*"
    r"|(?:deploy preview|netlify|vercel|codecov|coverage (?:remained|increased|decreased)).{0,200}"
    r"|merging this pr will.*|\u2b06\ufe0f.*|\U0001f916.*|\U0001f4a1 you can make copilot.*"
    r"|\U0001f4da documentation preview.*|documentation preview.*"
    r"|backport(?:ed)? (?:of|from)(?: pr)?[ :]*#?\d*.*|\(?backport(?:ed)? (?:of|from|to)? ?[\w.#/ -]{0,40}\)?"
    r"|manual backport.*|forward-?port(?:ed)? (?:of|from).*"
    r"|(?:release notes|change ?log|commits|upgrade guide)\]\([^)\n]*\)"
    r"|/(?:kind|area|sig|assign|cc|priority|lgtm|approve|hold|milestone|label|triage|ok-to-test|retest|remove-\w+"
    r"|test|close|reopen|lifecycle)\b.*)",
    re.IGNORECASE,
)
# From such a line on nothing was written by a person.
_BOT_FOOTER = re.compile(
    r"[>*_ \t#]*(?:\[//\]: # \(dependabot.*|dependabot (?:commands and options|will resolve any conflicts).*"
    r"|you can trigger dependabot actions.*|<!-- rebase-check.*|this pr (?:has been|was) generated by \[?(?:mend"
    r"|renovate).*|\u2139\ufe0f? ?(?:artifact update notice|note)|release notes for .*|updated-dependencies:"
    r"|this pull request is automatically built with.*|install the latest `?.*pkg\.pr\.new.*)",
    re.IGNORECASE,
)
# A bot that updates a dependency goes on with that project's own news.
_UPDATES = re.compile(r"[>*_ \t]*this pr contains the following updates:?", re.IGNORECASE)
_NEWS_OF_UPDATES = re.compile(r" {0,3}#{1,6}[ \t]+release notes\b", re.IGNORECASE)
_BOT_FOLD = re.compile(
    r"(?:release notes|change ?log|commits|dependabot commands(?: and options)?|maintainer changes"
    r"|vulnerabilities fixed|walkthrough|\U0001f4dd? ?coderabbit.*|additional details and impacted files|tips"
    r"|review details)",
    re.IGNORECASE,
)
_SUMMARY = re.compile(r"<summary>(.{0,300}?)</summary>", re.IGNORECASE)
_REFERENCE = re.compile(r" {0,3}\[[^\]\n]{1,200}\]:[ \t]+(?:<?https?://|#|/|\.)\S*.*$")
# A footnote that is an address alone, with a colon or without.
_NOTE = re.compile(r" {0,3}\[(\^?\d{1,3})\]:?[ \t]+<?https?://\S+$")
_DIFF_START = re.compile(r"diff --(?:git|cc|combined) ")
_DIFF_LINE = re.compile(
    r"[-+ \\@]|index [0-9a-f]|new file mode|deleted file mode|old mode|new mode|similarity index|rename (?:from|to)"
    r"|copy (?:from|to)|Binary files|diff --|$"
)
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", re.MULTILINE)
_FENCE_INFO = re.compile(
    r"[ \t]{0,12}(?:`{3,}|~{3,})[ \t]*\{?[ \t]*(diff|patch|suggestion|mermaid|release-note)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(r":[ \t]*$|\b(?:patch|diff|fix(?:es|ed)?|change)\b", re.IGNORECASE)
_REPLY = re.compile(
    r"[> \t]*(?:on .{4,200} wrote|am .{4,200} schrieb.*|.{2,120} (?:wrote|writes)"
    r"|-+ ?original message ?-+)[ \t]*:?[ \t]*$",
    re.IGNORECASE,
)
_RULE = re.compile(r"[ \t]{0,3}(?:(?:-[ \t]?){3,}|(?:\*[ \t]?){3,}|(?:_[ \t]?){3,}|={3,})[ \t]*$")


def without_boilerplate(parts: Sequence[Piece], *, lists_of_work: bool, titled: bool) -> list[Piece]:
    """Return pieces without what a template or a bot wrote.

    ``lists_of_work``: an issue's checklist may tell the task. ``titled``: the first line is somebody's title.
    """
    kept: list[Piece] = []
    title = next((part for part in parts if part.text.strip()), None) if titled else None
    for part in without_replies(without_diffs(without_footers(parts))):
        line = part.text
        if part.code or not line.strip() or part is title:
            kept.append(part)
            continue
        check = _CHECK.match(line)
        if check:
            if lists_of_work and check[1] and not _PROCESS.search(check[1]):
                kept.append(Piece(text=f"{line[: len(line) - len(line.lstrip())]}- {check[1]}"))
            continue
        bare = line.strip()
        # What is set in by more belongs to something above it, code without a blank line before it, say.
        if (
            len(line) - len(line.lstrip()) < 4
            and len(bare) < 600
            and not bare.startswith("#")
            and (_PLACEHOLDER.fullmatch(bare) or _BOT_LINE.fullmatch(bare))
        ):
            continue
        if not _REFERENCE.match(line) and not _NOTE.match(line):
            kept.append(part)
    return kept


def footnotes(parts: Sequence[Piece]) -> frozenset[str]:
    """Return the numbers of the footnotes that hold an address alone."""
    found = (_NOTE.match(part.text) for part in parts if not part.code)
    return frozenset(note[1] for note in found if note)


def without_diffs(parts: Sequence[Piece]) -> list[Piece]:
    """Return pieces without quoted diffs and suggestions, which show the fix; a release note loses its fence alone.

    The line that leads up to a diff goes with it, and so does a fence with nothing in it.
    """
    kept: list[Piece] = []
    inside = False
    for part in parts:
        # Context lines of an unfenced diff look like an indented block.
        if part.code and inside and part.text[:1] == " " and not _FENCE_INFO.match(part.text):
            continue
        starts = _DIFF_START.match(part.text) is not None and not part.code
        if (starts and not inside) or (part.code and _shows_a_diff(part.text)):
            _drop_lead(kept)
        if part.code:
            kept += _code_kept(part)
            continue
        inside = starts or (inside and bool(part.text.strip()) and _DIFF_LINE.match(part.text) is not None)
        if not inside:
            kept.append(part)
    return kept


def _shows_a_diff(block: str) -> bool:
    info = _FENCE_INFO.match(block)
    if info:
        return info[1].lower() != "release-note"
    return _DIFF_START.search(block) is not None or _HUNK.search(block) is not None


def _code_kept(part: Piece) -> list[Piece]:
    """Return what is left of a code block: itself, a release note's text, nothing of a diff or of an empty fence."""
    inner = [line for line in part.text.split("\n") if not line.strip().startswith(("```", "~~~"))]
    if _shows_a_diff(part.text) or all(_UNFILLED.fullmatch(line) for line in inner):
        return []
    return [Piece(text=line.strip()) for line in inner] if _FENCE_INFO.match(part.text) else [part]


def _drop_lead(kept: list[Piece]) -> None:
    """Take out a last paragraph of one line that leads up to a diff: "I think this would fix it:"."""
    end = len(kept)
    while end and not kept[end - 1].text.strip():
        end -= 1
    alone = end == 1 or (end > 1 and not kept[end - 2].code and not kept[end - 2].text.strip())
    if end and alone and not kept[end - 1].code and _LEAD.search(kept[end - 1].text):
        del kept[end - 1 :]


def without_footers(parts: Sequence[Piece]) -> list[Piece]:
    """Return pieces up to a bot's footer, without the folded lists that a bot quotes."""
    kept: list[Piece] = []
    folded = 0
    updates = False
    for part in parts:
        lowered = part.text.lower()
        if part.code:
            if not folded:
                kept.append(part)
            continue
        updates = updates or _UPDATES.match(part.text) is not None
        if _BOT_FOOTER.match(part.text) or (updates and _NEWS_OF_UPDATES.match(part.text)):
            break
        summary = _SUMMARY.search(part.text)
        if summary and _BOT_FOLD.fullmatch(summary[1].strip()):
            folded = 1
            if kept and kept[-1].text.strip().lower() == "<details>":
                kept.pop()
        elif folded:
            folded += lowered.count("<details")
        if folded:
            folded = max(0, folded - lowered.count("</details>"))
            continue
        kept.append(part)
    return kept


def without_replies(parts: Sequence[Piece]) -> list[Piece]:
    """Return pieces without quoted mail: a line that says who wrote, and the quoted lines below it."""
    kept: list[Piece] = []
    quoted = False
    for number, part in enumerate(parts):
        if part.code:
            quoted = False
        elif _quotes(parts, number):
            quoted = True
            continue
        elif quoted and (part.text.lstrip().startswith(">") or not part.text.strip()):
            continue
        else:
            quoted = False
        kept.append(part)
    return kept


def is_rule(line: str) -> bool:
    """Say whether a line is a thematic break or the underline of a title."""
    return _RULE.match(line) is not None


def _quotes(parts: Sequence[Piece], number: int) -> bool:
    """Say whether a line introduces quoted lines; a line that ends in "wrote" alone does not."""
    if len(parts[number].text) > 300 or not _REPLY.match(parts[number].text):
        return False
    following = next((part for part in parts[number + 1 : number + 4] if part.text.strip()), None)
    return following is not None and following.text.lstrip().startswith(">")
