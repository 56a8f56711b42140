"""Canonical JSON bytes and the digests over them, files and trees.

A digest is written ``sha256:<64 hex digits>``. The canonical bytes of a value are its JSON with keys sorted
recursively, no whitespace, UTF-8, no final newline: what ``jq -cjS .`` prints. Tools differ on floats, large
integers, DEL, lone surrogates and keys beyond ASCII, so those are refused, when read and when written.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

from casewright.errors import InvalidInputError

PREFIX = "sha256:"
LARGEST_INTEGER = 2**53 - 1
DEEPEST = 100
_UNFIT_TEXT = re.compile("[\x7f\ud800-\udfff]")
_FIT_KEY = re.compile(r"[\x20-\x7e]*")
_CHUNK = 1 << 20


def unrepresentable(value: object) -> str | None:
    """Say what in ``value`` can't be written as canonical JSON, with its place as a JSON pointer; None if all can."""
    return _unfit(value, "", 0)


def _unfit(value: object, place: str, depth: int) -> str | None:
    fault: str | None = None
    if depth > DEEPEST:
        return f"{place[:60]}…: nested more than {DEEPEST} levels deep"
    match value:
        case None | bool():
            pass
        case str():
            fault = _unfit_text(value, place)
        case int():
            if not -LARGEST_INTEGER <= value <= LARGEST_INTEGER:
                fault = f"{place or '/'}: the integer {value if value.bit_length() < 200 else '…'} is beyond 2^53-1"
        case list() | tuple():
            faults = (_unfit(item, f"{place}/{index}", depth + 1) for index, item in enumerate(value))
            fault = next(filter(None, faults), None)
        case dict():
            fault = _unfit_object(value, place, depth)
        case _:
            kind = type(value).__name__
            fault = f"{place or '/'}: {kind} is not a string, integer, boolean, null, array or object"
    return fault


def _unfit_text(value: str, place: str) -> str | None:
    found = _UNFIT_TEXT.search(value)
    if found is None:
        return None
    return f"{place or '/'}: the text {value[:60]!a} holds U+{ord(found[0]):04X}, which JSON tools write differently"


def _unfit_object(value: dict[object, object], place: str, depth: int) -> str | None:
    for key, item in value.items():
        if not isinstance(key, str) or not _FIT_KEY.fullmatch(key):
            return f"{place or '/'}: the key {key!a} is not printable ASCII"
        fault = _unfit(item, f"{place}/{key}", depth + 1)
        if fault:
            return fault
    return None


def canonical_bytes(value: object) -> bytes:
    """Return the canonical JSON bytes of ``value``; raise ``InvalidInputError`` for what has none."""
    fault = unrepresentable(value)
    if fault:
        raise InvalidInputError(f"not representable as canonical JSON: {fault}")
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8")


def digest(value: object) -> str:
    """Return ``sha256:<hex>`` over the canonical bytes of ``value``; raises as ``canonical_bytes`` does."""
    return digest_bytes(canonical_bytes(value))


def digest_bytes(data: bytes) -> str:
    """Return ``sha256:<hex>`` of bytes."""
    return PREFIX + hashlib.sha256(data).hexdigest()


def digest_text(text: str) -> str:
    """Return ``sha256:<hex>`` of a text's UTF-8 bytes."""
    return digest_bytes(text.encode("utf-8"))


def digest_file(path: Path) -> str:
    """Return ``sha256:<hex>`` of a file's bytes, read in pieces."""
    running = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            running.update(chunk)
    return PREFIX + running.hexdigest()


def digest_tree(folder: Path) -> str:
    """Return ``sha256:<hex>`` of all that lies below a folder: names, kinds, executable bits, contents, link targets.

    Neither times nor owners count, and empty folders do: two copies of a folder have one digest.
    """
    running = hashlib.sha256()
    root = os.fsencode(folder)
    for name in sorted(_below(root)):
        path = os.path.join(root, name)  # noqa: PTH118 - names are bytes, which pathlib does not carry
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode):
            entry = (b"link", hashlib.sha256(os.readlink(path)).hexdigest().encode())  # noqa: PTH115
        elif stat.S_ISDIR(mode):
            entry = (b"folder", b"")
        elif stat.S_ISREG(mode):
            kind = b"program" if mode & 0o111 else b"file"
            entry = (kind, digest_file(Path(os.fsdecode(path))).encode())
        else:
            raise InvalidInputError(f"{os.fsdecode(path)!a} is neither a file, a folder nor a link: it has no digest")
        running.update(b"\0".join((entry[0], name, entry[1])) + b"\0\n")
    return PREFIX + running.hexdigest()


def _below(root: bytes) -> list[bytes]:
    names: list[bytes] = []
    for folder, folders, files in os.walk(root):
        names += [os.path.relpath(os.path.join(folder, name), root) for name in (*folders, *files)]  # noqa: PTH118
    return names


def read_json(data: bytes, name: str) -> object:
    """Read one JSON document strictly; ``name`` is what errors call it.

    Raises ``InvalidInputError`` for whatever two readers could understand differently: a byte order mark, bytes that
    are not UTF-8, a repeated key, a float, NaN, minus zero, an integer beyond 2^53-1, DEL, a lone surrogate, a key
    beyond ASCII, data after the end, nesting deeper than ``DEEPEST``.
    """
    if data.startswith(b"\xef\xbb\xbf"):
        raise InvalidInputError(f"{name} begins with a byte order mark", "save it as UTF-8 without one")
    try:
        text = data.decode("utf-8")
        value: object = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_float=_refuse_number,
            parse_int=_small_integer,
            parse_constant=_refuse_number,
        )
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{name} is not UTF-8 at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise InvalidInputError(f"{name}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from error
    except RecursionError as error:
        raise InvalidInputError(f"{name} is nested more than {DEEPEST} levels deep") from error
    except _UnfitError as error:
        raise InvalidInputError(f"{name}: {error}") from error
    fault = unrepresentable(value)
    if fault:
        raise InvalidInputError(f"{name}: {fault}")
    return value


class _UnfitError(Exception):
    """Something inside a document that no value may stand for; leaves ``read_json`` as ``InvalidInputError``."""


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = sorted(key for key, _ in pairs)
        repeated = next(one for one, other in pairwise(names) if one == other)
        raise _UnfitError(f"the key {repeated!a} stands twice in one object")
    return result


def _refuse_number(digits: str) -> NoReturn:
    raise _UnfitError(f"{digits[:40]} is not an integer")


def _small_integer(digits: str) -> int:
    if digits == "-0":
        raise _UnfitError("-0 is read differently by different tools; write 0")
    if len(digits) > 17:
        raise _UnfitError(f"the integer {digits[:40]} is beyond 2^53-1")
    return int(digits)
