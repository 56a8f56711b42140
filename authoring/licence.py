"""The licence of a repository, read from its tree: an SPDX expression, or None when it can't be told."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Final

from execution.languages.base import TreeReader

_FILE = re.compile(rb"^(licen[cs]e|copying|unlicense)([-._].*)?$", re.IGNORECASE)
_EXPRESSION = re.compile(r"^[A-Za-z0-9.+-]+( (AND|OR|WITH) [A-Za-z0-9.+-]+)*$")
# A sentence that stands in one licence's text only; the more particular ones first.
_SENTENCES: Final[tuple[tuple[str, str], ...]] = (
    ("apache license version 2.0", "Apache-2.0"),
    ("gnu affero general public license version 3", "AGPL-3.0-only"),
    ("gnu lesser general public license version 3", "LGPL-3.0-only"),
    ("gnu lesser general public license version 2.1", "LGPL-2.1-only"),
    ("gnu general public license version 3", "GPL-3.0-only"),
    ("gnu general public license version 2", "GPL-2.0-only"),
    ("mozilla public license version 2.0", "MPL-2.0"),
    ("permission to use, copy, modify, and/or distribute this software for any purpose with or without fee", "ISC"),
    ("permission to use, copy, modify, and distribute this software for any purpose with or without fee", "ISC"),
    ("permission is hereby granted, free of charge, to any person obtaining a copy", "MIT"),
    ("neither the name of", "BSD-3-Clause"),
    ("names of the contributors may not be used to endorse", "BSD-3-Clause"),
    ("redistribution and use in source and binary forms, with or without modification", "BSD-2-Clause"),
    ("this is free and unencumbered software released into the public domain", "Unlicense"),
    ("creative commons legal code cc0 1.0 universal", "CC0-1.0"),
)
_CLASSIFIERS: Final[dict[str, str]] = {
    "License :: OSI Approved :: MIT License": "MIT",
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: ISC License (ISCL)": "ISC",
    "License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}


def licence_of(tree: TreeReader) -> str | None:
    """Return the licence of a tree: what a manifest states as an SPDX expression, else what the licence file says."""
    return _stated(tree) or _written(tree)


def _stated(tree: TreeReader) -> str | None:
    project = _table(tree.read(b"pyproject.toml")).get("project")
    if isinstance(project, dict):
        if _is_expression(project.get("license")):
            return str(project["license"])
        for classifier in project.get("classifiers") or ():
            if classifier in _CLASSIFIERS:
                return _CLASSIFIERS[classifier]
    try:
        package = json.loads(tree.read(b"package.json") or b"{}")
    except ValueError:
        return None
    stated = package.get("license") if isinstance(package, dict) else None
    return str(stated) if _is_expression(stated) else None


def _table(data: bytes | None) -> dict[str, object]:
    try:
        return tomllib.loads((data or b"").decode())
    except ValueError:
        return {}


def _is_expression(value: object) -> bool:
    return isinstance(value, str) and bool(_EXPRESSION.match(value)) and value.upper() not in {"UNLICENSED", "SEE"}


def _written(tree: TreeReader) -> str | None:
    found = []
    for path in sorted(path for path in tree.paths if _FILE.match(path)):
        text = re.sub(r"[\s,*]+", " ", (tree.read(path) or b"").decode("utf-8", "replace")).lower()
        found += [name for sentence, name in _SENTENCES if re.sub(r",", "", sentence) in text.replace(",", "")][:1]
    # Several licence files (LICENSE.APACHE and LICENSE.BSD) are a choice or a sum: that is for a person to say.
    return found[0] if len(set(found)) == 1 else None
