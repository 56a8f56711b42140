"""What a recorded Python set-up downloads, and how pip installs it without an index. Pure.

pip itself fetches the files, with the interpreter of the case and held to the hashes of the recorded list. What has no
wheel needs its build tools: they stand in the list, or pip brought them for an isolated build, which is read off its
log, since nothing else names them.
"""

from __future__ import annotations

import re
import shlex
from typing import Final

from execution.package_plan import FOLDER_URL, PACKAGES_DIR, PackagePlan

_PIP: Final = "../env/bin/python -m pip"
# Variables may stand before it: build tools call each other by name.
_INSTALL_LIST: Final = re.compile(
    r"(?P<before>(?:\w+=(?:\"[^\"]*\"|'[^']*'|[^\s\"']*) )*)\.\./env/bin/python -m pip install"
    r" --require-hashes --no-deps (?P<options>(?:--no-build-isolation )?-r \S+)"
)
_LOG: Final = f"{PACKAGES_DIR}/pip-download.log"
# Reads the log of an isolated build and brings the tools that pip brought for it, from its cache or from the index.
_BRING_TOOLS: Final = r"""
import os, re, sys, urllib.parse, urllib.request
log, folder = sys.argv[1:]
with open(log, encoding="utf-8", errors="replace") as lines:
    text = lines.read()
file = r"[^\s\"#?]+\.(?:whl|tar\.gz|tar\.bz2|zip)"
urls = set(re.findall(r'Looking up "(https?://%s)" in the cache' % file, text))
urls.update(host + path for host, path in re.findall(r'(https?://[^\s/]+) "GET (/%s) HTTP/1\.[01]" 200' % file, text))
for url in sorted(urls):
    place = os.path.join(folder, urllib.parse.unquote(url.rpartition("/")[2]))
    if not os.path.exists(place):
        with urllib.request.urlopen(url, timeout=180) as answer, open(place, "wb") as written:
            written.write(answer.read())
"""


def package_plan(setup: tuple[str, ...]) -> PackagePlan:
    """Return how the packages of a recorded set-up are fetched. Projects differ, their lists may be the same."""
    filling: list[str] = []
    needed: list[str] = []
    last = next((command for command in reversed(setup) if _INSTALL_LIST.fullmatch(command)), "")
    for command in setup:
        listed = _INSTALL_LIST.fullmatch(command)
        if listed is None:
            if _writes_list(command):
                needed.append(command)
                filling.append(command)
            elif not filling:
                filling.append(command)
            continue
        needed.append(command)
        filling += _download(listed["before"], listed["options"], last=command == last)
    return PackagePlan(
        # The interpreter and the platform are part of every folder's name.
        decided_by=tuple(needed),
        filling=tuple(filling) if needed else (),
        variables={"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": FOLDER_URL},
        passing=(_LOG.rpartition("/")[2],),
    )


def _writes_list(command: str) -> bool:
    return command.startswith("cat > ../") and "requirements.txt <<'EOF'\n" in command


def _download(before: str, options: str, *, last: bool) -> list[str]:
    """Return the commands that fetch one list, and install it where the next list is built with it."""
    fetch = f"{before}{_PIP} download --require-hashes --no-deps -d {PACKAGES_DIR} {options}"
    if "source-requirements" in options and "--no-build-isolation" not in options:
        # Each step is a sandbox of its own, with a /tmp of its own: the log waits in the folder for the next one.
        bring = f"../env/bin/python -c {shlex.quote(_BRING_TOOLS)} {_LOG} {PACKAGES_DIR}"
        return [f"PIP_LOG={_LOG} {fetch}", bring]
    if last:
        return [fetch]
    return [fetch, f"{_PIP} install --require-hashes --no-deps --no-index --find-links {PACKAGES_DIR} {options}"]
