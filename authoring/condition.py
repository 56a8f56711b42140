"""When a task counts as resolved: whether its text says so, and a sentence to propose where it does not. Pure.

A proposal is worded from the titles that people gave, never from the fix or its tests, so that it says no more than a
candidate is told. It stands as the last paragraph of the task, for an author to keep or to polish.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from authoring.sentences import CODE_FENCE, sentences

LONGEST_TITLE: Final = 160
MOST_TITLES: Final = 3
PLAIN_CONDITION: Final = "Resolved when everything described above holds."

# A sentence that says how things are to be, and not only how they are.
_DEMAND = re.compile(
    r"\b(?:should(?:n['\u2019]t)?|must(?:n['\u2019]t)?|shall|ought to|(?<!as )expect(?:ed|s|ing|ation|ations)?"
    r"|resolved (?:when|if|once)|done (?:when|once)|no longer|supposed to|desired"
    r"|would (?:be|make) (?:\w+ )?(?:nice|good|great|useful|better|helpful|sense)|(?:would|['\u2019]d) (?:like|love"
    r"|prefer|expect))\b",
    re.IGNORECASE,
)
# "X instead of Y" tells a fault or the way to the fix as often as a wish; it is a wish in an order to the program.
_COMPARISON = re.compile(r"\b(?:instead of|rather than)\b", re.IGNORECASE)
_ORDERED = re.compile(r"(?:[-*+] )?(?:please )?([a-z]+)\b", re.IGNORECASE)
# "This should fix it" tells of the fix, "you should see" of a reproduction, "maybe I should" of nothing.
_NO_DEMAND = re.compile(
    r"\b(?:should (?:also )?(?:fix|close|resolve|address|solve|help|see|reproduce|probably be closed)|should i\b"
    r"|i should|you should|should we|we should (?:discuss|talk)|must be a|must have been|not expected to work)\b",
    re.IGNORECASE,
)
_EXPECTATION = re.compile(r"\b(?:(?<!as )expect(?:ed|ation|ations)?|desired|acceptance)\b", re.IGNORECASE)
_HEADING = re.compile(r"#{1,6} |\*\*[^*]+\*\*:?$|[^.!?`]{1,60}:$")
_INLINE_CODE = re.compile(r"`[^`\n]*`")
_QUOTED = re.compile(r"\"[^\"\n]*\"")
_WORD = re.compile(r"[^\W_]+(?:['\u2019.][^\W_]+)*")

_FAULT_WORDS: Final = (
    r"\w*(?:Error|Exception|Warning)|errors?|exceptions?|tracebacks?|fail(?:s|ed|ing|ures?)?|crash(?:es|ed|ing)?",
    r"broken|breaks?|wrong(?:ly)?|incorrect(?:ly)?|(?:does|do|is|are|was|were|did|has|have)(?:n['\u2019]t| not)",
    r"not (?:\w+ing|\w+ed|working|possible)|can['\u2019]t|cannot|unable|missing|leaks?|leaking|hangs?|raises",
    r"throws|ignore[sd]|ignoring|los(?:es|t|ing)|unexpected(?:ly)?|regressions?(?! tests?)|bugs?|segfaults?",
    r"duplicated?|twice|refuse[sd]|(?:wo|could)(?:n['\u2019]t| not)|reject(?:s|ed)|never|dead-?locks?|race condition",
    r"inconsistent(?:ly)?|mis\w+ed|corrupt(?:s|ed|ion)?|deprecated|infinite|stuck|slow|invalid|problems?|issues?",
    r"swallow(?:s|ed)|overwrit(?:es|ten)|mangled?|typos?|stops|stopped|forgets?|drops|differs?|overlaps?",
    r"flickers|truncates?|skips",
)
_FAULT = re.compile(rf"\b(?:{'|'.join(_FAULT_WORDS)})\b", re.IGNORECASE)
_POSSIBLE = re.compile(
    r"(?:add |provide |offer |have |need |allow )?(?:an? |the )?(?:way|ability|possibility|option"
    r"|is it possible|it is possible|be able|support for being able|how) to (?=\w)",
    re.IGNORECASE,
)
_SUPPORT = re.compile(
    r"(?:(?:add|provide|implement|introduce) )?(?:basic |initial )?support (?:for|of) ", re.IGNORECASE
)
_ENSURE = re.compile(r"(?:ensure|make sure|guarantee|assure)(?: that)? (?=\w)", re.IGNORECASE)
_NOT = re.compile(r"(?:don['\u2019]t|do not) (?=[a-z])", re.IGNORECASE)
_FIX = re.compile(
    r"(?:fix(?:es|ed|ing)?|correct(?:s|ed)?|repair(?:s|ed)?|resolves?|resolved|address(?:es|ed)?)(?: up)?:? "
    r"(?:(?:the |an? )?(?:bugs?|issues?|problems?) (?:where|when|in which|that|with) )?(?=\S)",
    re.IGNORECASE,
)
_REMOVE = re.compile(r"(?:removed?|drop(?:ped)?|deleted?|get rid of) (?=\S)", re.IGNORECASE)
# What a title says of the place before it says what is to be done there: ``parser: allow blanks``.
_SCOPE = re.compile(r"(?:\[[\w .-]{1,30}\] ?)?[\w./-]{1,60}: (?=\S)|\[[\w .-]{1,30}\] (?=\S)")
# After "load" or "log", these say that it is a noun.
_HAPPENS = re.compile(
    r"(?:fail(?:s|ed)?|is|are|was|were|does|do|did|has|can(?:not)?|crash(?:es|ed)?|hangs?|raises|throws|never|not"
    r"|leaks?|stops|skips|drops|differs?|lost|broken)\b",
    re.IGNORECASE,
)
_ADVERB = re.compile(r"(?:(?!apply|reply|supply|multiply|imply)[a-z]+ly|also|always|now) (?=[a-z])", re.IGNORECASE)
_SECOND_ORDER = re.compile(
    r", (?:and )?(?:fix|add|remove|update|use|make|freeze|drop|change|improve|rename) ", re.IGNORECASE
)
# What no title of a task says: how a branch came in.
_BRANCH_MERGED = re.compile(r"merge (?:pull request|pr|mr|merge request|branch)\b", re.IGNORECASE)
_ADD = re.compile(r"(?:add(?:ed)?|introduced?|implement(?:ed)?|created?) (?=\S)", re.IGNORECASE)
# Imperatives that say what is to be done to the program.
_WORK: Final = frozenset(
    """adapt adjust allocate align bring build bump change clean cleanup clarify consolidate correct corrected
    deprecate disable document enable enhance fill fixed give harden implement improve improved increase make
    migrate modernise modernize move optimise optimize port reduce refactor rename reorganise reorganize replace
    rework retry revise rewrite run separate simplify speed start support switch teach test turn unify update
    upgrade""".split()
)
# Imperatives that say what the program does, so that "the project handles dots" is the same wish as a state.
_BEHAVIOUR: Final = frozenset(
    """accept allow apply avoid call catch check coerce collect compare convert copy count decode deduplicate default
    delegate detect disallow display distinguish emit encode escape exclude expand expose extend find flush follow
    forbid forward generate give handle hide honor honour ignore include infer inherit invoke keep let limit load
    log match merge normalise normalize omit open parse pass permit preserve prevent print produce propagate provide
    quote raise read recognise recognize record reject remember render report require reset resolve respect restore
    return round save set show skip sort split stop store strip support throw tolerate treat trim unescape unwrap
    use validate warn wrap write yield""".split()
)


def has_resolved_condition(text: str) -> bool:
    """Say whether a text tells how things are to be: a sentence that demands a behaviour, or an expectation's section.

    Words in code and in quotes don't count: ``TypeError: expected str`` is what happens, not what is wanted.
    """
    found = sentences(text)
    for number, sentence in enumerate(found):
        if CODE_FENCE.match(sentence):
            continue
        if _HEADING.match(sentence) and _EXPECTATION.search(sentence):
            if number + 1 < len(found) and not _HEADING.match(found[number + 1]):
                return True
            continue
        prose = _QUOTED.sub('""', _INLINE_CODE.sub("``", sentence))
        if sentence.endswith("?") or _NO_DEMAND.search(prose) or not _demands(prose):
            continue
        # "As expected." and "Expected:" demand nothing yet.
        if len(_WORD.findall(sentence)) >= 3:
            return True
    return False


def resolved_condition(titles: Sequence[str]) -> str:
    """Return one line that says when a task is resolved, for the titles of what it was drafted from.

    Titles are cleaned lines. Where no condition can be made of them, the line says plainly that
    all of the text is to hold.
    """
    bare = [" ".join(title.split()).removeprefix("* ").removeprefix("- ").rstrip(".!?:;, ") for title in titles]
    usable = [title for title in bare if title and len(title) <= LONGEST_TITLE]
    if not usable or len(usable) != len(bare) or len(usable) > MOST_TITLES:
        return PLAIN_CONDITION
    wishes = [_scoped_wish(title) for title in _said_once(usable)]
    if not all(wishes):
        return PLAIN_CONDITION
    proposed = " ".join(f"Resolved when {wish}." for wish in wishes)
    # A question inside a title would make one of the whole.
    return proposed if has_resolved_condition(proposed) else PLAIN_CONDITION


def _said_once(titles: Sequence[str]) -> list[str]:
    """Return titles without those that another one holds as well, backticks and case aside; of equals the first."""
    plain = [" " + title.replace("`", "").lower() + " " for title in titles]
    return [
        title
        for number, title in enumerate(titles)
        if not any(
            plain[number] in other and (plain[number] != other or place < number)
            for place, other in enumerate(plain)
            if place != number
        )
    ]


def _demands(prose: str) -> bool:
    """Say whether a sentence without its code and quotes says how the program is to behave."""
    if _DEMAND.search(prose):
        return True
    order = _ORDERED.match(prose)
    ordered = order is not None and order[1].lower() in _BEHAVIOUR - {"use"}
    return ordered and _COMPARISON.search(prose) is not None


def _wish(title: str) -> str:
    """Turn a title into what follows "resolved when"; where no clause can be made of it, it is quoted after a colon.

    Returns nothing where the quotation would not read as one: "Add dots to names".
    """
    for opening, clause in (
        (_POSSIBLE, "it is possible to {}"),
        (_SUPPORT, "there is support for {}"),
        (_ENSURE, "{}"),
        (_NOT, "the project does not {}"),
    ):
        found = opening.match(title)
        if found and found.end() < len(title):
            return clause.format(title[found.end() :])
    found = _FIX.match(title)
    if found:
        rest = title[found.end() :]
        return f"this no longer happens: {rest}" if _FAULT.search(rest) else f"this is fixed: {rest}"
    adverb = _ADVERB.match(title)
    word, _, rest = title[adverb.end() if adverb else 0 :].partition(" ")
    verb = _present(word.lower())
    # "Validate colors, fix the default" orders two things, and a verb turned into the present would fit but one.
    if verb in _BEHAVIOUR and rest and not _SECOND_ORDER.search(rest):
        return f"the project {adverb[0].lower() if adverb else ''}{_third_person(verb)} {rest}"
    ordered = verb in _WORK or _ADD.match(title) or _REMOVE.match(title)
    if _FAULT.search(title) and not ordered:
        return f"this no longer happens: {title}"
    removed, added = _REMOVE.match(title), _ADD.match(title)
    if removed or added:
        return (
            f"this is gone: {title[removed.end() :]}" if removed else _presence(title[added.end() :] if added else "")
        )
    # A title that is no order may name what is wrong or what is wanted; this is true of both.
    return f"this is done: {title}" if verb in _WORK or _SECOND_ORDER.search(title) else f"this is settled: {title}"


def _presence(added: str) -> str:
    """Return the clause that says that what a title adds is there; nothing where the title says where to put it."""
    if re.match(r"an? \S", added, re.IGNORECASE):
        return f"there is {added[:1].lower()}{added[1:]}"
    return "" if " to " in added else f"this is there: {added}"


def _scoped_wish(title: str) -> str:
    """Return what follows "resolved when", without the place that a title names first, where an order follows it."""
    if _BRANCH_MERGED.match(title):
        return ""
    scope = _SCOPE.match(title)
    if scope and (_orders(title[scope.end() :]) or not _FAULT.search(title)):
        wish = _wish(title[scope.end() :])
        if not wish.startswith("this is settled"):
            return wish
    return _wish(title)


def _orders(title: str) -> bool:
    """Say whether a title begins with what is to be done, and not with a noun of which a fault is told."""
    adverb = _ADVERB.match(title)
    word, _, rest = title[adverb.end() if adverb else 0 :].partition(" ")
    return _present(word.lower()) in _WORK | _BEHAVIOUR and rest != "" and not _HAPPENS.match(rest)


def _present(verb: str) -> str:
    """Return the order that a verb in the past stands for, as in "Allowed blanks"; any other word as it is."""
    for form in (verb, verb[:-1], verb[:-2]) if verb.endswith("ed") else (verb,):
        if form in _BEHAVIOUR or form in _WORK:
            return form
    return verb


def _third_person(verb: str) -> str:
    if verb.endswith(("s", "x", "ch", "sh", "z")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"
