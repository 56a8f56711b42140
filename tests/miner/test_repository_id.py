"""A repository is called after its address, and always something that an id can hold."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casewright.configuration import REPOSITORY_ID_PATTERN
from miner.repository_id import repository_id


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://example.org/pallets/click.git", "pallets/click"),
        ("https://example.org/pallets/click", "pallets/click"),
        ("https://example.org/group/sub/name.git/", "group/sub/name"),
        ("ssh://git@example.org/o/n.git", "o/n"),
        ("example.org:o/n.git", "o/n"),
        ("https://example.org/o/a%20b", "o/a-b"),
        ("", "box"),
    ],
)
def test_an_address_gives_owner_and_name(url: str, name: str) -> None:
    assert repository_id(url, "box") == name


@given(st.text(), st.text())
def test_whatever_the_address_an_id_comes_of_it(url: str, name: str) -> None:
    assert re.match(REPOSITORY_ID_PATTERN, repository_id(url, name))
