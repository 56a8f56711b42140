"""Canonical bytes: strict, and the same digest as jq's."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casewright.errors import InvalidInputError
from casewright.hashing import (
    canonical_bytes,
    digest,
    digest_bytes,
    digest_file,
    digest_text,
    digest_tree,
    read_json,
    unrepresentable,
)
from tests.support.oddities import built_oddity

TEXT = st.text(st.characters(exclude_characters="\x7f", exclude_categories=["Cs"]), max_size=20)
KEYS = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
needs_jq = pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")


@needs_jq
@settings(max_examples=40, deadline=None)
@given(st.lists(VALUES, max_size=4))
def test_the_digest_is_jq_s(value: list[object]) -> None:
    document = json.dumps({"z": 1, "cases": value}).encode()
    printed = subprocess.run(["jq", "-cjS", ".cases"], input=document, check=True, capture_output=True).stdout
    assert canonical_bytes(value) == printed
    assert digest(value) == "sha256:" + hashlib.sha256(printed).hexdigest()


@given(VALUES)
def test_canonical_bytes_are_read_back(value: object) -> None:
    data = canonical_bytes(value)
    assert read_json(data, "x") == value
    assert canonical_bytes(read_json(data, "x")) == data


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"a": [1.0]}, "/a/0: float"),
        ([float("nan")], "/0: float"),
        ({"a": {"b": 2**53}}, "/a/b: the integer 9007199254740992 is beyond"),
        ([-(2**53)], "/0: the integer"),
        ([10**400], "beyond 2^53-1"),
        ("a\x7f", "U+007F"),
        (["\ud800"], "/0: the text '\\ud800' holds U+D800"),
        ({"é": 1}, "the key '\\xe9' is not printable ASCII"),
        ({"a\n": 1}, "is not printable ASCII"),
        ({1: 2}, "the key 1"),
        ({"a": b"x"}, "/a: bytes"),
        ({"a": {1, 2}}, "/a: set"),
    ],
)
def test_what_has_no_canonical_bytes_is_refused_with_its_place(value: object, told: str) -> None:
    assert told in (unrepresentable(value) or "")
    with pytest.raises(InvalidInputError, match=re.escape(told)):
        canonical_bytes(value)


def test_deep_nesting_is_refused_without_a_traceback() -> None:
    value: object = 1
    for _ in range(5000):
        value = [value]
    assert "nested more than 100 levels" in (unrepresentable(value) or "")
    with pytest.raises(InvalidInputError, match="nested more than 100 levels"):
        read_json(b'{"a":' * 3000 + b"1" + b"}" * 3000, "x")
    hundred = b"[" * 100 + b"]" * 100
    assert read_json(hundred, "x") is not None
    with pytest.raises(InvalidInputError, match="nested"):
        read_json(b"[[" + hundred + b"]]", "x")


@pytest.mark.parametrize(
    "data",
    [
        b'{"a":1,"a":2}',
        b'{"a":{"b":1,"\\u0062":2}}',
        b"[1.0]",
        b"[1e2]",
        b"[-0]",
        b"[NaN]",
        b"[Infinity]",
        b"[1e999]",
        b"[9007199254740992]",
        b"[" + b"9" * 5000 + b"]",
        b'\xef\xbb\xbf{"a":1}',
        b'{"a":"\xff"}',
        b'{"a":1}\n{"b":2}',
        b'["\\ud800"]',
        b'["\\u007f"]',
        b'["\x7f"]',
        b'{"caf\\u00e9":1}',
        b"['a']",
        b"[1,]",
        b"",
    ],
)
def test_what_two_readers_could_read_differently_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInputError, match=r"^x\b"):
        read_json(data, "x")


@settings(max_examples=300)
@given(st.binary(max_size=80))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        value = read_json(data, "x")
    except InvalidInputError:
        return
    assert canonical_bytes(value)


def test_the_shared_documents_are_judged_as_they_should_be(tmp_path: Path) -> None:
    accepted = {"01-plain": "806ccbe8a113", "16-number-like-keys": "02e649abc1b6", "20-prototype-keys": "1bb2dcbec711"}
    seen: dict[str, str] = {}
    documents = sorted((built_oddity("23-canonical-json", tmp_path) / "cases").iterdir())
    for path in documents:
        with contextlib.suppress(InvalidInputError):
            seen[path.stem] = digest(read_json(path.read_bytes(), path.name))[7:19]
    assert len(documents) == 20
    assert seen == accepted


def test_digests_of_bytes_texts_and_files_agree(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes("größe\n".encode())
    expected = "sha256:" + hashlib.sha256("größe\n".encode()).hexdigest()
    assert digest_file(path) == digest_text("größe\n") == digest_bytes("größe\n".encode()) == expected


def test_a_tree_s_digest_sees_names_contents_bits_links_and_empty_folders(tmp_path: Path) -> None:
    def tree(name: str) -> Path:
        root = tmp_path / name
        (root / "sub").mkdir(parents=True)
        (root / "sub" / "a").write_bytes(b"x")
        (root / "link").symlink_to("sub/a")
        (Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9"))).write_bytes(b"y")
        return root

    first = tree("one")
    assert digest_tree(first) == digest_tree(tree("two"))
    seen = {digest_tree(first)}
    for change in (
        lambda: (first / "sub" / "a").write_bytes(b"z"),
        lambda: (first / "sub" / "a").chmod(0o755),
        (first / "link").unlink,
        lambda: (first / "link").symlink_to("sub/b"),
        (first / "empty").mkdir,
        lambda: (first / "sub").rename(first / "bus"),
    ):
        change()
        seen.add(digest_tree(first))
    assert len(seen) == 7


def test_a_pipe_has_no_digest(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInputError, match="neither a file, a folder nor a link"):
        digest_tree(tmp_path)
