"""Clones of urls, kept in the cache: without file contents at first, whole once a stranger's clone is asked for.

A clone without contents (``--filter=blob:none``) has the history and the names; contents come in batches, into the
cached clone, when a change is looked at. Its configuration holds no user info: where the url has some, git is told to
put it back for the one command.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NoReturn

from casewright.errors import InfrastructureError, RepositoryError
from casewright.git_command import GitOutcome, run_network_git
from casewright.git_source import public_url, repository_name
from casewright.store import CLONES, Store

_MIRRORED: Final = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
_QUIETLY: Final = ("--quiet", "--no-tags", "--no-write-fetch-head")
_WITHOUT_CONTENTS: Final = "-blobless"
_UNFILTERED: Final = b"filtering not recognized by server"
_NO_SUCH_REF: Final = b"couldn't find remote ref"
_NO_FILTER: Final = ("remote.origin.promisor", "remote.origin.partialclonefilter", "extensions.partialclone")


@contextmanager
def cached_clone(url: str, store: Store, *, whole: bool = False) -> Iterator[tuple[Path, str]]:
    """Give a bare clone of a url from the store, brought up to date, and a note when it could not be.

    A whole clone is given when ``whole`` says so, when there is one already, and for a ``file://`` url, which costs
    little; else one without contents, if the server can. The url may hold user info; the key and what is stored do
    not. Raises ``InfrastructureError`` when it can't be cloned at all; a clone that stops half-way leaves nothing.
    """
    key = _key(url)
    local = (public_url(url) or url).startswith("file://")
    filtered = not (whole or local or (store.root / CLONES / key).exists())
    if filtered:
        key += _WITHOUT_CONTENTS
    fresh: list[Path] = []

    def make(folder: Path) -> None:
        _clone(url, folder, filtered=filtered)
        fresh.append(folder)

    with store.entry(CLONES, key, make) as place:
        note = "" if fresh else _refresh(url, place, store.root / "locks" / f"fetch-{key}", filtered=filtered)
        yield place, note


@contextmanager
def kept_clone(url: str, store: Store) -> Iterator[Path | None]:
    """Give the clone of a url that the store holds, as it is, or None; a whole one rather. Asks nobody."""
    for key in (_key(url), _key(url) + _WITHOUT_CONTENTS):
        with store.kept(CLONES, key) as place:
            if place is not None:
                yield place
                return
    yield None


def fetch_nothing(object_ids: Iterable[str]) -> NoReturn:
    """Refuse a fetch, for a clone that is looked at as it is. Raises ``RepositoryError`` with what is not at hand."""
    count = sum(1 for _ in object_ids)
    files = "1 of its files is" if count == 1 else f"{count} of its files are"
    raise RepositoryError(f"{files} not at hand on this machine", "name a history that has them with --repo SOURCE")


def fetch_owed(place: Path, url: str, object_ids: Iterable[str]) -> GitOutcome:
    """Fetch objects by id into a cached clone (``place``) of ``url``, in one go."""
    return _fetch_by_id(_in(place, url), "origin", object_ids)


def fetch_named(store: Store, place: Path, url: str, ref: str) -> str | None:
    """Fetch one ref (``refs/pull/1/head``) of ``url`` into its cached clone; return its commit, None without that ref.

    It is kept under a name that no plain clone asks for. What a clone without contents lacks is not fetched here.
    Raises ``InfrastructureError`` when the url can't be asked.
    """
    name = f"refs/casewright/{ref.removeprefix('refs/')}"
    filtered = run_network_git(["--git-dir", str(place), "config", "remote.origin.promisor"]).code == 0
    with _one_fetch(store.root / "locks" / f"fetch-{place.name}"):
        options = [*_QUIETLY, *(["--filter=blob:none"] if filtered else [])]
        if not fetched_ref(
            run_network_git([*_in(place, url), "fetch", *options, "origin", f"+{ref}:{name}"]), url, ref
        ):
            return None
        found = run_network_git(["--git-dir", str(place), "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"])
    return found.out.decode("ascii").strip() or None


def fetched_ref(outcome: GitOutcome, url: str, ref: str) -> bool:
    """Say whether the fetch of a ref brought it or there is none; raise ``InfrastructureError`` for any other end."""
    if outcome.code == 0:
        return True
    if _NO_SUCH_REF in outcome.err:
        return False
    raise InfrastructureError(
        f"{ref} of {public_url(url) or url} can't be fetched: {outcome.complaint}", "run again when it can be reached"
    )


def fetch_objects(git_dir: Path, url: str, object_ids: Iterable[str]) -> GitOutcome:
    """Fetch objects by id from ``url`` into a git folder that is no clone of it and goes when we do."""
    return _fetch_by_id(["--git-dir", str(git_dir)], url, object_ids)


def _fetch_by_id(where: list[str], remote: str, object_ids: Iterable[str]) -> GitOutcome:
    options = ["-c", "fetch.negotiationAlgorithm=noop", "fetch", *_QUIETLY, "--filter=blob:none", "--stdin"]
    names = "".join(f"{name}\n" for name in object_ids).encode()
    return run_network_git([*where, *options, "--", remote], stdin=names)


def _key(url: str) -> str:
    stored = public_url(url) or url
    return f"{repository_name(stored)[:40]}-{hashlib.sha256(stored.encode()).hexdigest()[:16]}"


def _clone(url: str, folder: Path, *, filtered: bool) -> None:
    options = ["--quiet", "--bare", "--template=", "--origin=origin", *(["--filter=blob:none"] if filtered else [])]
    outcome = run_network_git(["clone", *options, "--", url, str(folder)])
    if outcome.code != 0:
        raise InfrastructureError(
            f"{public_url(url) or url} can't be cloned: {outcome.complaint}",
            "check the address, the network and your credentials",
        )
    run_network_git(["--git-dir", str(folder), "config", "remote.origin.url", public_url(url) or url])
    if filtered and _UNFILTERED in outcome.err:
        for name in _NO_FILTER:
            run_network_git(["--git-dir", str(folder), "config", "--unset-all", name])


def _refresh(url: str, place: Path, lock: Path, *, filtered: bool) -> str:
    with _one_fetch(lock):
        options = [*_QUIETLY, "--prune", *(["--filter=blob:none"] if filtered else [])]
        outcome = run_network_git([*_in(place, url), "fetch", *options, "origin", *_MIRRORED])
        if outcome.code != 0:
            return f"{public_url(url) or url} could not be reached ({outcome.complaint}): the copy in the cache is used"
        listing = run_network_git(["ls-remote", "--symref", "--", url, "HEAD"])
        target = re.match(rb"ref: (refs/heads/\S+)\tHEAD", listing.out)
        if target:
            run_network_git(["--git-dir", str(place), "symbolic-ref", "HEAD", os.fsdecode(target[1])])
    return ""


@contextmanager
def _one_fetch(lock: Path) -> Iterator[None]:
    """Let one process fetch into a clone: two at once would refuse each other's ref locks."""
    with lock.open("ab") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _in(place: Path, url: str) -> list[str]:
    """Return git's options for a cached clone whose remote is reached with the user info of ``url``."""
    stored = public_url(url) or url
    given_back = ["-c", f"url.{url}.insteadOf={stored}"] if stored != url else []
    return ["--git-dir", str(place), *given_back]
