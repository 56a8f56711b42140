"""A judgement survives the round trip through its record, and a record survives a change of version."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miner.judgement import ExcludedFile, FailsByRow, Judgement, Reached, Standing
from miner.judgement_record import judgement_from_record, record_from_judgement
from miner.reasons import Reason

# Lone surrogates too: that is how undecodable bytes of a subject or a log arrive.
texts = st.text(alphabet=st.characters(), max_size=20)
judgements = st.builds(
    Judgement,
    repository=texts,
    base=st.just("a" * 40),
    head=st.just("b" * 40),
    landing=st.just("merge"),
    subject=texts,
    reached=st.sampled_from(Reached),
    standing=st.sampled_from(Standing),
    reason=st.none() | st.sampled_from(Reason),
    detail=texts,
    graded_files=st.lists(texts, max_size=3).map(tuple),
    excluded_files=st.lists(
        st.builds(ExcludedFile, path=texts, reason=st.sampled_from(Reason), detail=texts), max_size=3
    ).map(tuple),
    fail_to_pass=st.lists(texts, max_size=3).map(tuple),
    pass_to_pass=st.lists(texts, max_size=3).map(tuple),
    fails_by=st.lists(st.builds(FailsByRow, id=texts, how=texts), max_size=3).map(tuple),
    case=st.none() | texts,
    milliseconds=st.integers(0, 10**9),
)


@given(judgements)
def test_a_judgement_comes_back_as_it_was_on_one_line_of_ascii(judgement: Judgement) -> None:
    record = record_from_judgement(judgement)
    assert record.isascii()
    assert "\n" not in record
    assert judgement_from_record(record) == judgement


@given(judgements)
def test_a_key_of_a_later_version_is_passed_over_and_a_missing_one_takes_its_default(judgement: Judgement) -> None:
    data = json.loads(record_from_judgement(judgement))
    data["of_the_future"] = 1
    del data["milliseconds"]
    assert judgement_from_record(json.dumps(data)).milliseconds == 0


@pytest.mark.parametrize("record", ["", "[]", "{}", "null", '{"reached": "nowhere"}'])
def test_what_holds_no_judgement_is_refused(record: str) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        judgement_from_record(record)
