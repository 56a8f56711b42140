"""What stands inside a line and belongs to the forge: links, images, tags, numbers of issues, ids of commits. Pure.

A link stays as the words that people gave it; an address is never kept, since a candidate has no network and an address
often leads to the fix. Inline code stays as it was typed.
"""

from __future__ import annotations

import re

from authoring.pieces import code_spans

_OWNED_NUMBER = r"(?<![\w.&/-])[\w.-]{1,100}/[\w.-]{1,100}#\d+\b"
_PLAIN_NUMBER = r"(?<![\w&/])#\d+\b|\bgh-\d+\b"
_ANY_NUMBER = rf"(?:{_OWNED_NUMBER}|{_PLAIN_NUMBER})"
_LABEL = r"((?:[^\[\]\n]|\[[^\[\]\n]{0,80}\]){0,300})"
_ADDRESS = r"(?:https?|ftp|git|ssh)://"
_TARGET = (
    r"\([ \t]{0,4}(<[^<>\n]{0,2000}>|[^()\s]{1,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,2000})?)"
    r"(?:[ \t]{1,4}[\"'][^\"\n]{0,300}[\"'])?[ \t]{0,4}\)"
)
_IMAGE = re.compile(rf"!\[{_LABEL}\](?:{_TARGET}|\[[^\[\]\n]{{0,100}}\])")
_LINKED_IMAGE = re.compile(rf"\[[ \t]{{0,4}}(!\[{_LABEL}\]{_TARGET})[ \t]{{0,4}}\]{_TARGET}")
_LINK = re.compile(rf"(?<!!)\[{_LABEL}\]{_TARGET}")
_REFERENCE_LINK = re.compile(r"(?<![!\w`])\[([^\[\]\n]{2,200})\]\[[^\[\]\n]{0,100}\]")
_BARE_ADDRESS = re.compile(rf"<{_ADDRESS}[^>\s]{{0,2000}}>|\b{_ADDRESS}[^\s<>)\]\x00]+|<mailto:[^>\s]{{1,200}}>")
_IMG_TAG = re.compile(r"<img\b[^<>\n]{0,2000}>", re.IGNORECASE)
_ALT = re.compile(r"\balt[ ]?=[ ]?(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_CODE_TAG = re.compile(r"<(code|kbd|samp|tt)>([^<>`\n]{1,300})</\1>", re.IGNORECASE)
_HEADING_TAG = re.compile(r"<h([1-6])\b[^<>\n]{0,300}>", re.IGNORECASE)
_ITEM_TAG = re.compile(r"<li\b[^<>\n]{0,300}>", re.IGNORECASE)
_BREAK_TAG = re.compile(r"<(?:br|hr)[ ]?/?>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:a|abbr|article|b|blockquote|center|cite|code|dd|del|details|dfn|div|dl|dt|em|figcaption|figure|font"
    r"|h[1-6]|i|ins"
    r"|kbd|li|ol|p|picture|pre|q|s|samp|section|small|source|span|strike|strong|sub|summary|sup|table|tbody|td|tfoot|th"
    r"|thead|tr|tt|u|ul|var|video)(?:\s[^<>\n]{0,2000})?/?>",
    re.IGNORECASE,
)
_FOLD_TAG = re.compile(r"</?(?:details|summary)(?:\s[^<>\n]{0,200})?>", re.IGNORECASE)
_BADGE = re.compile(
    r"shields\.io|badge|badgen\.net|codecov\.io|coveralls|travis-ci|circleci|appveyor|readthedocs\.org/projects"
    r"|gitpod\.io"
    r"|actions/workflows|stackblitz\.com/button|app\.codesandbox|dependabot-badges|img\.youtube|open-in|opencollective",
    re.IGNORECASE,
)
# Names that a forge or a machine gave to a picture tell nothing.
_IMAGE_NAME = re.compile(
    r"(?:image|img|screenshot|screen ?shot|screen capture|grafik|capture|picture|photo|alt[ -]?text|untitled"
    r"|screenshots?)?"
    r"[ _-]?[\d\W_]*(?:at)?[\d\W_]*(?:am|pm|a\.m\.|p\.m\.)?(?:\.(?:png|jpe?g|gif|webp))?",
    re.IGNORECASE,
)
_LISTED = rf"{_ANY_NUMBER}(?:[ \t]{{0,3}}(?:,|and\b|&|/)[ \t]{{0,3}}{_ANY_NUMBER})*"
_CLOSING = re.compile(
    r"[(\[]?(?:,?[ \t]?\b(?:this|it|which|that|and|also|should|will|hopefully|partially|(?:intending |trying "
    r"|attempts? )?to)"
    r"[ \t]{1,3}|,[ \t]{1,3}){0,3}\b(?:fix(?:e[sd]|ing)?|close[sd]?|closing|resolve[sd]?|resolving|address(?:es|ed)?"
    r"|refs?"
    r"|reproduces?|see(?: also)?|re|cf\.?)[ \t]{0,3}:?[ \t]{1,3}(?:parts?[ \t]of[ \t]{1,3})?(?:(?:issues?|bugs?"
    r"|tickets?|prs?"
    r"|pull requests?)[ \t]{1,3})?"
    rf"{_LISTED}[)\]]?\.?",
    re.IGNORECASE,
)
_PARENTHESISED = re.compile(
    r"[(\[][ \t]{0,3}(?:(?:issues?|prs?|bugs?|tickets?|pull requests?|see(?: also)?|cf\.?|from|in|re|part of|via|was"
    rf"|backport of|related to)[ \t:]{{1,3}}){{0,2}}{_LISTED}[ \t]{{0,3}}[)\]]",
    re.IGNORECASE,
)
_OBJECT_ID = r"(?<![\w#.-])(?!\d+e\d+\b)(?=[0-9a-f]{0,63}[0-9])(?=[0-9a-f]{0,63}[a-f])[0-9a-f]{7,64}(?![\w-])"
_POINTER = rf"(?:{_LISTED}|{_OBJECT_ID})"
_THING = r"(?:(?:the )?(?:issue|bug|ticket|pr|pull request|commit)[ \t])?"
_REPORTED = re.compile(
    r"(?:(?<=[^\s.!?:]),?[ \t]|\b(?=(?:as|this is|an?|follow\w*|related"
    r"|similar)\b))(?<!got )(?<!was )(?<!were )(?<!been )(?<!be )(?<!is )(?<!are )\b"
    r"(?:(?:as )?(?:@[\w-]{1,40} )?(?:introduced"
    r"|seen|shown|noticed|said|stated|wrote|pointed out|reported"
    r"|discussed"
    r"|described|mentioned|requested|noted|suggested|explained|raised|proposed|outlined|follow(?:s|ed|ing)?[ -]?up"
    r"|similar"
    r"|related|caused|broken|regressed|started)|(?:this is )?an? follow[ -]?up)[ \t](?:in|by|at|on|to|of|with|from"
    r"|since)"
    rf"[ \t]{_THING}{_POINTER}",
    re.IGNORECASE,
)
_AT_END = re.compile(
    rf",?[ \t](?:in|by|from|of|to|per|with|after|since|via|like|for|on|on top of)[ \t]{_THING}{_POINTER}"
    r"(?=[ \t]?(?:[.,;:)\]]|$))",
    re.IGNORECASE,
)
_NAMED = re.compile(
    rf"^[ \t]*(?:for )?(?:issues?|bugs?|tickets?|prs?|pull requests?)[ \t]{_LISTED}[ \t]?(?::|-+|\u2013)?[ \t]*(?=\S|$)"
    rf"|(?<=\()(?:issues?|bugs?|prs?|commits?)[ \t]{_POINTER}",
    re.IGNORECASE,
)
_NUMBER = re.compile(_ANY_NUMBER, re.IGNORECASE)
_ID = re.compile(_OBJECT_ID)
_THANKS = re.compile(
    r"(?:(?<=[.!?] )|^)(?:many |big |special )?(?:thanks|thank you|kudos|credits?|props"
    r"|h/t)\b[^.!?\n]{0,40}@[\w-]+[^.!?\n]{0,100}(?:[.!?]|$)"
    r"|\(?\b(?:/?cc|ping|reported by|suggested by|patch by|based on (?:work|a patch) by|authored by|by|r\?"
    r"|hat tip to)[ :]{1,2}"
    r"(?<![\w/])@[\w-]+(?:(?:,| and|,? @)[ ]?@?[\w-]+)*(?![\w/.(-])\)?",
    re.IGNORECASE,
)
_SAYS = r"(?:says?|said|asks?|asked|shows?|describes?|explains?|notes?|mentions?|reports?|suggests?|states?)"
# Clauses whose only object is somewhere else: "As described in #12, names …", "…, as #12 asks".
_AS_ELSEWHERE = re.compile(
    r"(?:(?:(?<=[.!?] )|^)as|,[ ]as)[ ](?:(?:(?:was|is|already)[ ]){0,2}(?:described|reported|discussed|mentioned|noted"
    r"|explained|suggested|requested|proposed|stated|said|shown|seen)[ ](?:in|by|at|on)[ ])?"
    rf"{_THING}{_POINTER}(?:[ ]{_SAYS}\b)?(?:,[ ](\w)|(?=[ ]?(?:[.;:)]|$)))",
    re.IGNORECASE,
)
_SEEN_ELSEWHERE = (
    r"(?:(?<=[.!?] )|^)(?:please[ ])?(?:(?:also[ ])?see(?:[ ]also)?|refer[ ]to|check(?:[ ]out)?"
    r"|(?:more|further|full|additional)[ ](?:info(?:rmation)?|details?|context|discussion)(?:[ ](?:is|can be found))?"
    r"(?:[ ](?:at|in|on|here))?)[ ]?:?[ ](?:the[ ])?(?:issues?[ ]|prs?[ ])?{}"
    r"(?:[ ]for[ ](?:(?:the|some|more|further|full|additional|all)[ ]){{0,3}}(?:details?|info(?:rmation)?|context"
    r"|discussions?|background|reference|motivation|explanation))?(?:[.;][ ]?|$)"
)
_SEE_NUMBER = re.compile(_SEEN_ELSEWHERE.format(_POINTER), re.IGNORECASE)
# A number that its sentence can't do without gives way to words that say no more.
_NEEDED = re.compile(
    rf"(?<![\w-])(?i:(before|after|until|since|without|merging|reverting|applying|with|by)|as|like|in|on|of|from|to|for"
    rf"|where|what|that|which|because|though|than)[ ]({_THING}{_POINTER})(?=[ ][a-z\x00])"
)
_BEGINNING = re.compile(
    r"(?:(?<=[.!?] )|^)(?=(?:\S{1,200}[ ]){1,3}(broke|introduced|changed|made|added|removed|caused|fixed)\b)"
    rf"((?i:{_THING}){_POINTER})"
)
_EMPTY_PAIR = re.compile(r"(?<!\S)(?:\((?:see|cf\.?|via|from|refs?|link|docs|here|also|\W){0,9}\)|\[[ \t]{0,9}\])")
# Where an address stood; no text holds this sign, since control characters are taken out first.
_GONE = "\x02"
# What only pointed to an address at the end of a clause: "as found in …", "here: …".
_POINTING = re.compile(
    r"(?:,?[ \t](?:as )?(?:discovered|found|seen|noticed|spotted|observed|reported|described|discussed|mentioned"
    r"|documented|explained))?"
    rf",?[ \t](?:here|in|at|see|via|from|(?:as )?per|according to)[ \t]?:?[ \t]{_GONE}(?=[.,;)]|$)",
    re.IGNORECASE,
)
# An address that is what its sentence speaks of.
_PAGE = re.compile(
    rf"(?:(?<=[.!?] )|^){_GONE}(?=[ ](?:no longer|is|was|has|says|said|does|doesn|shows|describes|explains|gives"
    rf"|still|now"
    r"|redirects|can|will|should|seems)\b)"
)
_ELSEWHERE = re.compile(rf"\b(is|be|are|was)[ ]{_GONE}(?=[.,;)]|$)")
# A sentence that ends in an address without which it says all that it can.
_LED_TO = re.compile(rf"^((?:\S+[ ]+){{4,60}}\S+?)[ ]?:[ ]{_GONE}$")
# The mark of a footnote, which goes with its address.
_NOTE = re.compile(r"(?<=[^\s(\[])[ ]?\[(\^?\d{1,3})\](?![(\[:\w])")
_SEE_ADDRESS = re.compile(_SEEN_ELSEWHERE.format(_GONE), re.IGNORECASE)
_GOES_ON = re.compile(r"\b(?:in|by|of|from|since|with|to|as|on|after|before|until|land|revert)$", re.IGNORECASE)
_AT_START = re.compile(rf"{_POINTER}(?=[ ][a-z]|[.,;])")
# A line without any of these holds nothing of the forge; most lines of a long text are such.
_SIGNS = re.compile(r"[#@<&\[]|://|[Gg][Hh]-\d|[0-9a-fA-F]{7}")
_HELD = re.compile("\x00([A-P]+)\x01")


def clean_line(line: str, *, html: bool, notes: frozenset[str] = frozenset()) -> str:
    """Return a line of prose without what belongs to the forge, its indent kept.

    ``html``: tags are marks, not text. ``notes``: the numbers of footnotes that go.

    May return several lines, where a tag breaks the line.
    """
    if not _SIGNS.search(line):
        return line.rstrip()
    held: list[str] = []
    guarded = _guard(line, held)
    fresh = _without_links(guarded)
    if notes:
        fresh = _NOTE.sub(lambda found: "" if found[1] in notes else found[0], fresh)
    if html:
        fresh = _without_tags(fresh)
    elif "<" in fresh:
        fresh = _FOLD_TAG.sub("", _IMG_TAG.sub(lambda found: _img_text(found[0]), fresh))
    fresh = fresh.replace("&nbsp;", " ")
    if _NUMBER.search(fresh) or _ID.search(fresh):
        fresh = _without_pointers(fresh)
    fresh = _THANKS.sub("", fresh)
    if fresh == guarded and _restore(guarded, held) == line:
        return _restore(fresh, held).rstrip()
    fresh = _EMPTY_PAIR.sub("", fresh)
    return _restore("\n".join(_tidied(part, line) for part in fresh.split("\n")), held)


def with_a_word_for(line: str, above: str) -> str:
    """Return a line that begins with a number or an id with words in their place, where the line above needs them."""
    found = _GOES_ON.search(above) and _AT_START.match(line)
    if not found:
        return line
    return ("an earlier commit" if _ID.match(found[0]) else "another change") + line[found.end() :]


def _guard(line: str, held: list[str]) -> str:
    """Put a sign in the place of each inline code, for rules to leave alone; a commit's id alone is no code."""
    parts: list[str] = []
    reached = 0
    for start, end in code_spans(line):
        span = line[start:end]
        parts.append(line[reached:start])
        if not _ID.fullmatch(span.strip("` ")):
            parts.append(f"\x00{_letters(len(held))}\x01")
            held.append(span)
        reached = end
    return "".join([*parts, line[reached:]])


def _restore(text: str, held: list[str]) -> str:
    return _HELD.sub(lambda found: held[_number(found[1])], text)


def _letters(number: int) -> str:
    return "".join(chr(ord("A") + int(digit, 16)) for digit in f"{number:x}")


def _number(letters: str) -> int:
    return int("".join(f"{ord(letter) - ord('A'):x}" for letter in letters), 16)


def _without_links(line: str) -> str:
    if "](" in line or "][" in line:
        line = _LINKED_IMAGE.sub(lambda found: "" if _BADGE.search(found[3] + found[4]) else found[1], line)
        line = _IMAGE.sub(lambda found: "" if _BADGE.search(found[2] or "") else _screenshot(found[1]), line)
        line = _LINK.sub(lambda found: _link_text(found[1]), line)
        line = _REFERENCE_LINK.sub(lambda found: found[1], line)
    if ":" not in line:
        return line
    line = _SEE_ADDRESS.sub("", _BARE_ADDRESS.sub(_address_text, line))
    line = _ELSEWHERE.sub(r"\1 elsewhere", _PAGE.sub("A page", _POINTING.sub("", line)))
    return _LED_TO.sub(r"\1.", line).replace(_GONE, "")


def _without_pointers(line: str) -> str:
    """Return a line without numbers of issues and ids of commits, and without what said but where they stand."""
    line = _AS_ELSEWHERE.sub(_after_elsewhere, _SEE_NUMBER.sub("", line))
    line = _CLOSING.sub(_stop_of, line)
    line = _BEGINNING.sub(_neutral, line)
    for rule in (_PARENTHESISED, _REPORTED, _AT_END, _NAMED):
        line = rule.sub("", line)
    line = _NEEDED.sub(_neutral, line)
    return _ID.sub("", _NUMBER.sub("", line))


def _after_elsewhere(found: re.Match[str]) -> str:
    following = found[1] or ""
    return f", {following}" if found[0].startswith(",") and following else following.upper()


def _neutral(found: re.Match[str]) -> str:
    change, pointer = found[1], found[2]
    said = "an earlier commit" if _ID.search(pointer) else "another change" if change else "another issue"
    return found[0][: found.start(2) - found.start()] + (said if found.start(2) > found.start() else said.capitalize())


def _address_text(found: re.Match[str]) -> str:
    # A full stop after an address ends the sentence, not the address.
    return f"{_GONE}." if found[0].endswith(".") else _GONE


def _stop_of(found: re.Match[str]) -> str:
    """Return the full stop that ends the sentence before a closing formula, as far as the formula took it along."""
    before = found.string[max(0, found.start() - 3) : found.start()].rstrip()
    return "." if found[0].endswith(".") and before and before[-1] not in ".!?:;-" else ""


def _link_text(label: str) -> str:
    """Return the words of a link; a number, an id or an address as its label says nothing."""
    bare = label.strip()
    return "" if _NUMBER.fullmatch(bare) or _ID.fullmatch(bare) or _BARE_ADDRESS.fullmatch(bare) else label


def _screenshot(name: str) -> str:
    bare = name.strip()
    return "[screenshot]" if _IMAGE_NAME.fullmatch(bare[:200]) else f"[screenshot: {bare}]"


def _img_text(tag: str) -> str:
    alt = _ALT.search(tag)
    if _BADGE.search(tag if alt is None else tag[: alt.start()] + tag[alt.end() :]):
        return ""
    return _screenshot((alt[1] or alt[2] or "") if alt else "")


def _without_tags(line: str) -> str:
    if "<" not in line:
        return line
    line = _IMG_TAG.sub(lambda found: _img_text(found[0]), line)
    line = _CODE_TAG.sub(lambda found: f"`{found[2]}`", line)
    line = _HEADING_TAG.sub(lambda found: "#" * int(found[1]) + " ", line)
    line = _ITEM_TAG.sub("- ", line)
    # A row of a table is one line.
    line = _BREAK_TAG.sub(" " if line.lstrip().startswith("|") else "\n", line)
    return _TAG.sub("", line)


def _tidied(part: str, line: str) -> str:
    indent = part[: len(part) - len(part.lstrip())] if line[:1].isspace() else ""
    body = re.sub(r"[ \t]{2,}", " ", part.strip()) if not part.lstrip().startswith("|") else part.strip()
    if not re.match(r"[ \t]*(?:[-:]|\.{2})|.{0,200}<li\b", line, re.IGNORECASE):
        body = re.sub(r"^[:;,.\u2013\u2014-]+(?:\s+|$)", "", body)
    body = re.sub(r"(?<=[^\s|])[ \t]+([.,;:!?])(?=\s|$)", r"\1", body)
    body = re.sub(r",(?=[.;:!?](?:\s|$))", "", body)
    return (indent + body).rstrip()
