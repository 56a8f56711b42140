"""The reader of ``git log --raw -z``: fields are counted, wherever the output is cut and whatever it holds."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from casewright.git_log import LAST_SECOND, RawCommit, read_log, read_seconds

_ID = st.binary(min_size=20, max_size=20).map(lambda raw: raw.hex().encode())
_TEXT = st.binary(max_size=12).map(lambda raw: raw.replace(b"\0", b":"))
_PATH = st.binary(min_size=1, max_size=12).map(lambda raw: raw.replace(b"\0", b":"))
_RAW = st.tuples(_ID, _ID, st.sampled_from(b"AMDT")).map(
    lambda parts: b":100644 100644 %s %s %c" % (parts[0], parts[1], parts[2])
)


@st.composite
def _commits(draw: st.DrawFn) -> RawCommit:
    entries = [piece for raw, path in draw(st.lists(st.tuples(_RAW, _PATH), max_size=4)) for piece in (raw, path)]
    parents = b" ".join(draw(st.lists(_ID, max_size=3)))
    time = draw(st.integers(min_value=0, max_value=LAST_SECOND))
    return RawCommit(draw(_ID), parents, draw(_ID), time, time, draw(_TEXT), entries)


def _as_git_prints(commits: list[RawCommit]) -> bytes:
    fields = []
    for commit in commits:
        time = str(commit.author_time).encode()
        fields += [commit.id, commit.parents, commit.tree, time, time, commit.subject]
        if commit.entries:
            fields += [b"\n" + commit.entries[0], *commit.entries[1:]]
    return b"".join(field + b"\0" for field in fields)


@given(st.lists(_commits(), max_size=5), st.lists(st.integers(min_value=0, max_value=4000), max_size=6))
def test_reads_what_git_prints_wherever_it_is_cut(commits: list[RawCommit], cuts: list[int]) -> None:
    output = _as_git_prints(commits)
    ends = sorted({0, *(min(cut, len(output)) for cut in cuts), len(output)})
    pieces = [output[start:end] for start, end in itertools.pairwise(ends)]

    assert list(read_log(pieces)) == commits


def test_dates_that_git_cannot_read_or_no_calendar_holds_are_bounded() -> None:
    assert read_seconds(b"") == 0
    assert read_seconds(b"99999999999999999999") == LAST_SECOND
    assert read_seconds(b"1600000000") == 1_600_000_000
