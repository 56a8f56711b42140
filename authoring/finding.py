"""A finding of ``lint``: what is wrong, where, how much it matters; and the table of all rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Severity(StrEnum):
    """An error keeps a case out of a release unless a person waives it; a warning does not."""

    ERROR = "error"
    WARNING = "warning"


class Code(StrEnum):
    """The rules, in the order in which their findings are told."""

    EMPTY = "task-empty"
    TOO_SHORT = "task-too-short"
    NO_BEHAVIOUR = "no-behaviour"
    NO_CONDITION = "no-condition"
    REST_PATH = "rest-path"
    REST_NAME = "rest-name"
    CHANGED_NAME = "changed-name"
    QUOTED_LINE = "quoted-line"
    REMOVED_LINE = "removed-line"
    TEST_PATH = "test-path"
    TEST_NAME = "test-name"
    COMMIT_ID = "commit-id"
    LINK = "link"
    FORGE_NUMBER = "forge-number"
    NEEDED_NAME = "needed-name"
    NEEDED_KEYWORD = "needed-keyword"
    NEEDED_OPTION = "needed-option"
    NEEDED_MODULE = "needed-module"
    NEEDED_TEXT = "needed-text"
    NEEDED_VALUE = "needed-value"
    NEEDED_ERROR = "needed-error"
    CONTRADICTED = "contradicted-text"
    CONTROL_CHARACTER = "control-character"
    NO_CATEGORY = "no-category"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing to mend. ``start`` and ``end`` are character indices into the field; ``text`` is what stands there.

    Where something is missing from the field, ``start`` equals ``end`` and ``text`` is what is missing (or empty).
    ``waived`` is the reason that a person gave for letting it stand, or empty.
    """

    code: Code
    severity: Severity
    field: str
    start: int
    end: int
    text: str
    message: str
    suggestion: str
    waived: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """What a code means to an author: how severe its findings are, what they say, one example, what to do."""

    severity: str
    meaning: str
    example: str
    mend: str


_ERROR: Final = "error"
_WARNING: Final = "warning"
RULES: Final[Mapping[Code, Rule]] = {
    Code.EMPTY: Rule(
        severity=_ERROR,
        meaning="The task says nothing.",
        example="an empty text, or `...`",
        mend="Say what should happen and when it is resolved.",
    ),
    Code.TOO_SHORT: Rule(
        severity="error below what a task can be made of, else warning",
        meaning="The task says too little to act on.",
        example="`Fix it.` (error), `Fix readonly issues` (warning)",
        mend="Say what happens today, what should happen, and with which input.",
    ),
    Code.NO_BEHAVIOUR: Rule(
        severity=_WARNING,
        meaning="The task speaks of the code and not of what a user of it sees.",
        example="`Refactor the parser into two classes.`",
        mend="Say what behaves differently afterwards.",
    ),
    Code.NO_CONDITION: Rule(
        severity=_WARNING,
        meaning="No sentence says when the task is resolved.",
        example="`The search is slow with many records.`",
        mend="Add a sentence such as: It is resolved when the search shows them.",
    ),
    Code.REST_PATH: Rule(
        severity="error; warning in a traceback, for a bare file name, and for what is no source",
        meaning="A file that the real fix changes: it says where to work.",
        example="`The bug is in src/ledger/search.py.`",
        mend="Describe what goes wrong, not where.",
    ),
    Code.REST_NAME: Rule(
        severity="error; warning where users of the code could call it",
        meaning="A name that only the real fix brings: not in the base, not used by the graded tests.",
        example="`Call _merge_untracked() first.`",
        mend="Say what should happen in your own words.",
    ),
    Code.CHANGED_NAME: Rule(
        severity=_WARNING,
        meaning="An inner function or class that the real fix changes and that the graded tests don't mention.",
        example="`_walk_index skips them.`",
        mend="Name what a user calls instead.",
    ),
    Code.QUOTED_LINE: Rule(
        severity=_ERROR,
        meaning="Code that the real fix adds stands in the text.",
        example="`if path in self.untracked: yield path`",
        mend="Take it out, or show how the code is used instead.",
    ),
    Code.REMOVED_LINE: Rule(
        severity=_WARNING,
        meaning="Code of the base that the real fix takes away stands in the text: it says which line to change.",
        example="`passes self.width - self.indent to the wrapper`",
        mend="Say what a user sees, not which line is wrong.",
    ),
    Code.TEST_PATH: Rule(
        severity=_ERROR,
        meaning="A test file that grades. Candidates must not know what is graded.",
        example="`See tests/unit/test_record_search.py.`",
        mend="Say what the test expects.",
    ),
    Code.TEST_NAME: Rule(
        severity=_ERROR,
        meaning="A test that grades.",
        example="`test_new must pass.`",
        mend="Say what the test expects.",
    ),
    Code.COMMIT_ID: Rule(
        severity=_ERROR,
        meaning="A commit's id.",
        example="`Broken since 1a2b3c4.`",
        mend="Leave it out: a candidate has no history to look in.",
    ),
    Code.LINK: Rule(
        severity="error for a pull request, commit, comparison or issue of a forge, else warning",
        meaning="An address. A forge's pages lead to the fix; others can't be opened without a network.",
        example="`https://github.com/owner/name/pull/7`",
        mend="Say here what stands behind it.",
    ),
    Code.FORGE_NUMBER: Rule(
        severity=_ERROR,
        meaning="The number of an issue or a pull request.",
        example="`(#123)`, `owner/name#7`",
        mend="Leave it out, or say what stands there.",
    ),
    Code.NEEDED_NAME: Rule(
        severity=_ERROR,
        meaning="A name that the graded tests use, that the base does not have and the text does not give.",
        example="`merge_untracked`, called by a graded test",
        mend="Give it in the task or the hints: nobody can guess it.",
    ),
    Code.NEEDED_KEYWORD: Rule(
        severity=_ERROR,
        meaning="A keyword argument or an option of an object that the graded tests pass, new and not in the text.",
        example="`include_untracked=True`",
        mend="Give it in the task or the hints.",
    ),
    Code.NEEDED_OPTION: Rule(
        severity=_ERROR,
        meaning="An option of a command line that the graded tests pass, new and not in the text.",
        example="`--untracked`",
        mend="Give it in the task or the hints.",
    ),
    Code.NEEDED_MODULE: Rule(
        severity=_ERROR,
        meaning="A module that the graded tests import and that only the fix adds.",
        example="`ledger.untracked`",
        mend="Say in the task or the hints what the module is called and what it offers.",
    ),
    Code.NEEDED_TEXT: Rule(
        severity=_WARNING,
        meaning="A text that the graded tests expect word for word, that the fix brings and the task does not give.",
        example="`no such record`",
        mend="Give the exact words, or see that the test accepts others.",
    ),
    Code.NEEDED_VALUE: Rule(
        severity=_WARNING,
        meaning="A number that the graded tests expect, that the fix brings and the task does not give.",
        example="`4096`",
        mend="Say which number, or what it follows from.",
    ),
    Code.NEEDED_ERROR: Rule(
        severity=_WARNING,
        meaning="An error that the graded tests expect, that the fix raises for another and the text does not give.",
        example="`ValueError`, where the base raises `TypeError`",
        mend="Say which error is to be raised.",
    ),
    Code.CONTRADICTED: Rule(
        severity=_WARNING,
        meaning="What the text calls the wrong outcome of today stands in the graded tests.",
        example="`should be 'a/#b' but is 'a#b/'`, where a test says `'a#b/'`",
        mend="See what the tests demand; let the task say that, or drop the case.",
    ),
    Code.CONTROL_CHARACTER: Rule(
        severity=_ERROR,
        meaning="A character that can't be seen.",
        example="U+200B",
        mend="Take it out.",
    ),
    Code.NO_CATEGORY: Rule(
        severity=_WARNING,
        meaning="The case has no category.",
        example="`category: uncategorised`",
        mend="Set one, or give the repository `categories` in casewright.yaml.",
    ),
}
