"""What changed between two versions."""

from __future__ import annotations

from library.compare import Revision, compare_cases, compare_libraries
from tests.support.cases import plain_case
from tests.support.libraries import released_document


def test_added_removed_and_revised_cases_are_named_with_their_fields() -> None:
    old = [plain_case(id="a"), plain_case(id="b"), plain_case(id="c")]
    revised = plain_case(id="b", task="Another task.\n", case_version=2)
    revised["grading"]["check"] = "make test"
    comparison = compare_cases(old, [revised, plain_case(id="c"), plain_case(id="d")])
    assert (comparison.added, comparison.removed) == (("d",), ("a",))
    assert comparison.revised == (Revision(id="b", fields=("case_version", "task", "grading.check")),)
    assert not comparison.same_entries


def test_equal_libraries_differ_in_nothing() -> None:
    document = released_document([plain_case()])
    comparison = compare_libraries(document, document)
    assert comparison.same_entries
    assert comparison.header == ()


def test_changed_words_of_the_header_are_named() -> None:
    old = released_document([plain_case()])
    new = {**old, "version": 2, "library": {**old["library"], "title": "Theirs"}, "limits": [*old["limits"], "More."]}
    assert compare_libraries(old, new).header == ("library.title", "version", "limits")


def test_true_is_not_one() -> None:
    old, new = plain_case(), plain_case()
    old["verification"]["base"]["repeats"], new["verification"]["base"]["repeats"] = 1, True
    assert compare_cases([old], [new]).revised[0].fields == ("verification.base",)
