"""What a candidate would have to guess: things that the graded tests need and that the text does not give. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from authoring.change_words import ChangeWords, Need, NeedKind
from authoring.finding import RULES, Code, Finding, Severity

_CODES: Final[Mapping[NeedKind, tuple[Code, Severity, str]]] = {
    NeedKind.NAME: (Code.NEEDED_NAME, Severity.ERROR, "is a name"),
    NeedKind.HOOK: (Code.NEEDED_NAME, Severity.ERROR, "is a name"),
    NeedKind.ERROR: (Code.NEEDED_ERROR, Severity.WARNING, "is an error"),
    NeedKind.KEYWORD: (Code.NEEDED_KEYWORD, Severity.ERROR, "is a keyword"),
    NeedKind.OPTION: (Code.NEEDED_OPTION, Severity.ERROR, "is an option"),
    NeedKind.MODULE: (Code.NEEDED_MODULE, Severity.ERROR, "is a module"),
    NeedKind.TEXT: (Code.NEEDED_TEXT, Severity.WARNING, "is a text"),
    NeedKind.VALUE: (Code.NEEDED_VALUE, Severity.WARNING, "is a number"),
}
_NEEDS: Final = "needs and that only the fix brings"
_USES: Final[Mapping[NeedKind, str]] = {
    NeedKind.HOOK: "sets in a subclass and that only the fix looks for",
    NeedKind.ERROR: "expects and that only the fix raises",
}
_SIGNS: Final = re.compile(r"[\s`'\"*]+")


def unfair(task: str, hints: str, change: ChangeWords) -> Iterator[Finding]:
    """Yield what a candidate who reads only ``task`` and ``hints`` can't know."""
    given = f"{task}\n{hints}"
    plain = _plain(given)
    for need in change.needs:
        if _is_given(need, given, plain):
            continue
        code, severity, what = _CODES[need.kind]
        if need.elsewhere:
            # The name may be one that everybody would choose by what is there already.
            severity = Severity.WARNING
        where = " here" if need.elsewhere else ""
        mend = RULES[code].mend
        yield Finding(
            code=code,
            severity=severity,
            field="task",
            start=len(task),
            end=len(task),
            text=need.text,
            message=f"{need.text!a} {what} that {need.path} {_USES.get(need.kind, _NEEDS)}{where}",
            suggestion=mend[:1].lower() + mend[1:].rstrip("."),
        )


def _is_given(need: Need, given: str, plain: str) -> bool:
    if need.kind is NeedKind.TEXT:
        return _plain(need.text) in plain
    return re.search(rf"(?<![\w-]){re.escape(need.text)}(?![\w-])", given) is not None


def _plain(text: str) -> str:
    """Return a text as it is compared: without case, quotes and the way it is wrapped."""
    return _SIGNS.sub(" ", text).casefold().strip()
