"""What a repository is called in cases and in ``casewright.yaml``: ``owner/name``, from its address."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote, urlsplit

_UNFIT: Final = re.compile(r"[^A-Za-z0-9._-]+")


def repository_id(url: str, name: str) -> str:
    """Return the id: the path of ``url`` (a clone url, or empty), else ``name``; what an id can't hold becomes ``-``.

    ``https://host/owner/name.git`` and ``host:owner/name.git`` both give ``owner/name``.
    """
    path = urlsplit(url).path if "://" in url else url.rpartition(":")[2]
    words = [_UNFIT.sub("-", word) for word in unquote(path).removesuffix("/").removesuffix(".git").split("/")]
    kept = [word for word in words if word.strip(".-")]
    return "/".join(kept) or _UNFIT.sub("-", name).strip(".-") or "repository"
