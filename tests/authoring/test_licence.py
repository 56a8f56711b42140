"""Which licence a tree states."""

from __future__ import annotations

import pytest

from authoring.licence import licence_of

MIT = b"Permission is hereby granted, free of charge, to any person\nobtaining a copy of this software"
APACHE = b"                                 Apache License\n                           Version 2.0, January 2004\n"
BSD = b"Redistribution and use in source and binary forms, with or without\nmodification, are permitted\n"


class Tree:
    """A tree of bytes."""

    def __init__(self, files: dict[bytes, bytes]) -> None:
        self._files = files

    @property
    def paths(self) -> frozenset[bytes]:
        return frozenset(self._files)

    def read(self, path: bytes) -> bytes | None:
        return self._files.get(path)


@pytest.mark.parametrize(
    ("files", "licence"),
    [
        ({}, None),
        ({b"pyproject.toml": b'[project]\nlicense = "BSD-3-Clause"\n'}, "BSD-3-Clause"),
        ({b"pyproject.toml": b'[project]\nlicense = "Apache-2.0 OR BSD-2-Clause"\n'}, "Apache-2.0 OR BSD-2-Clause"),
        ({b"pyproject.toml": b'[project]\nlicense = {file = "LICENSE"}\n', b"LICENSE": MIT}, "MIT"),
        ({b"pyproject.toml": b"not toml ["}, None),
        ({b"package.json": b'{"license": "MIT"}'}, "MIT"),
        ({b"package.json": b'{"license": "SEE LICENSE IN x"}', b"LICENSE": APACHE}, "Apache-2.0"),
        ({b"package.json": b'{"license": "UNLICENSED"}'}, None),
        ({b"LICENSE.txt": BSD + b"Neither the name of the copyright holder"}, "BSD-3-Clause"),
        ({b"COPYING": BSD}, "BSD-2-Clause"),
        ({b"LICENSE.APACHE": APACHE, b"LICENSE.BSD": BSD}, None),
        ({b"docs/LICENSE": MIT}, None),
    ],
)
def test_the_licence_of_a_tree(files: dict[bytes, bytes], licence: str | None) -> None:
    assert licence_of(Tree(files)) == licence
