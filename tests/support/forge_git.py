"""The bare repositories that a forge serves: made from a given one without writing to it, and read for the API."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.repos import git

_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PERSON = re.compile(r"(?P<name>.*?) ?<(?P<email>[^>]*)> (?P<time>\d+) (?P<zone>[+-]\d{4})")

# Blobless clones, any commit by its id, and nothing to be pushed.
_SERVED = """\
[uploadpack]
\tallowFilter = true
\tallowAnySHA1InWant = true
[http]
\tuploadpack = true
\treceivepack = false
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    """Who made a commit and when (seconds since the epoch)."""

    name: str
    email: str
    time: int


@dataclass(frozen=True, kw_only=True, slots=True)
class HostedCommit:
    """A commit as git has it; the message is whole, without the line feed at its end."""

    id: str
    tree: str
    parents: tuple[str, ...]
    author: Person
    committer: Person
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangedFile:
    """A file that differs between two commits; a path that isn't UTF-8 is shown as GitHub does, with U+FFFD."""

    path: str
    previous: str | None
    status: str
    blob: str
    additions: int
    deletions: int
    patch: str | None


def publish(source: Path, folder: Path, *, branches: Sequence[str] | None, default_branch: str | None) -> str:
    """Make ``folder`` a bare repository with the branches and tags of ``source``; return its default branch.

    Objects are borrowed, not copied: the source is only read, and a long history costs nothing. Done again, branches
    and tags follow the source, and ``refs/pull`` stays. ``branches`` names those to show (None: all).
    """
    format_ = git(source, "rev-parse", "--show-object-format").decode().strip()
    objects = git(source, "rev-parse", "--path-format=absolute", "--git-path", "objects").decode().rstrip("\n")
    if not folder.exists():
        folder.mkdir(parents=True)
        git(folder, "init", "-q", "--bare", "--template=", f"--object-format={format_}", ".")
        with (folder / "config").open("a", encoding="utf-8") as configuration:
            configuration.write(_SERVED)
        (folder / "objects/info").mkdir(exist_ok=True)
        (folder / "objects/info/alternates").write_text(f"{objects}\n", encoding="utf-8")
    wanted = _refs(source, branches)
    gone = set(_refs(folder, None)) - set(wanted)
    lines = [f"update {ref} {id_}\n" for ref, id_ in wanted.items()] + [f"delete {ref}\n" for ref in gone]
    git(folder, "update-ref", "--stdin", stdin="".join(lines).encode("utf-8", "surrogateescape"))
    chosen = default_branch or _branch_of_head(source)
    git(folder, "symbolic-ref", "HEAD", f"refs/heads/{chosen}")
    return chosen


def _refs(folder: Path, branches: Sequence[str] | None) -> dict[str, str]:
    listed = git(folder, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags")
    pairs = [line.split(" ", 1) for line in listed.decode("utf-8", "surrogateescape").splitlines()]
    shown = None if branches is None else {f"refs/heads/{branch}" for branch in branches}
    return {ref: id_ for id_, ref in pairs if shown is None or ref.startswith("refs/tags/") or ref in shown}


def _branch_of_head(source: Path) -> str:
    head = git(source, "rev-parse", "--symbolic-full-name", "HEAD").decode().strip()
    return head.removeprefix("refs/heads/") if head.startswith("refs/heads/") else "main"


class Reader:
    """Reads one served repository; safe for several threads. What it gives is decoded, since JSON is all it is for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._commits: dict[str, HostedCommit] = {}

    def resolve(self, revision: str) -> str | None:
        """Return the full id of the commit that an id, short id, branch or tag names; None where there is none."""
        if revision.startswith("-") or not revision:
            return None
        answer = git(
            self.folder,
            "cat-file",
            "--batch-check=%(objectname) %(objecttype)",
            stdin=f"{revision}^{{commit}}\n".encode(),
        )
        words = answer.decode("utf-8", "replace").split()
        return words[0] if len(words) == 2 and words[1] == "commit" else None

    def ref(self, name: str) -> str | None:
        """Return the id that a ref (without ``refs/``) points to, or None."""
        listed = git(self.folder, "for-each-ref", "--format=%(objectname) %(refname)", f"refs/{name}")
        for line in listed.decode("utf-8", "replace").splitlines():
            id_, _, ref = line.partition(" ")
            if ref == f"refs/{name}":
                return id_
        return None

    def set_ref(self, name: str, commit: str) -> None:
        """Point a ref (without ``refs/``) at a commit."""
        git(self.folder, "update-ref", f"refs/{name}", commit)

    def kind(self, object_id: str) -> str | None:
        """Return what an object is (``commit``, ``tree``, ``blob``, ``tag``), None where it is absent."""
        if not _ID.fullmatch(object_id):
            return None
        answer = git(self.folder, "cat-file", "--batch-check=%(objecttype)", stdin=f"{object_id}\n".encode())
        word = answer.decode().strip()
        return word if word in ("commit", "tree", "blob", "tag") else None

    def commit(self, commit_id: str) -> HostedCommit | None:
        """Return a commit by its full id, or None."""
        return self.commits([commit_id]).get(commit_id)

    def commits(self, ids: Iterable[str]) -> dict[str, HostedCommit]:
        """Return those of some commits that are there, read by one git; full ids only."""
        wanted = [id_ for id_ in dict.fromkeys(ids) if _ID.fullmatch(id_)]
        with self._lock:
            missing = [id_ for id_ in wanted if id_ not in self._commits]
        if missing:
            stream = git(self.folder, "cat-file", "--batch", stdin="".join(f"{id_}\n" for id_ in missing).encode())
            read = _commits_of_batch(stream)
            with self._lock:
                self._commits.update(read)
        with self._lock:
            return {id_: self._commits[id_] for id_ in wanted if id_ in self._commits}

    def listed(self, *revisions: str) -> list[str]:
        """Return what ``git rev-list`` lists, oldest first."""
        out = git(self.folder, "rev-list", "--reverse", "--topo-order", *revisions, "--")
        return out.decode().split()

    def is_ancestor(self, old: str, new: str) -> bool:
        """Return whether ``old`` is ``new`` or one of its ancestors."""
        return not self.listed("--max-count=1", old, f"^{new}")

    def merge_base(self, one: str, other: str) -> str | None:
        """Return the best common ancestor, or None for histories without one."""
        # ``git merge-base`` says by its exit code that there is none; a symmetric difference lists the bases with "^".
        out = git(self.folder, "rev-parse", "--revs-only", f"{one}...{other}").decode().split()
        bases = [word[1:] for word in out if word.startswith("^")]
        return bases[0] if bases else None

    def changed(self, old: str, new: str) -> list[ChangedFile]:
        """Return the files that differ between two commits, in git's order, renames found."""
        flags = ("-r", "-z", "-M", "--no-ext-diff", "--no-textconv")
        raw = git(self.folder, "diff-tree", *flags, "--raw", "--abbrev=64", old, new)
        counts = _counts(git(self.folder, "diff-tree", *flags, "--numstat", old, new))
        return [self._file(old, new, entry, counts) for entry in _raw_entries(raw)]

    def _file(self, old: str, new: str, entry: _RawEntry, counts: dict[bytes, tuple[int, int]]) -> ChangedFile:
        added, removed = counts.get(entry.path, (0, 0))
        paths = [path for path in (entry.previous, entry.path) if path is not None]
        text = git(
            self.folder, "--literal-pathspecs", "diff-tree", "-r", "-p", "-M", "--no-ext-diff", "--no-textconv",
            old, new, "--", *paths,
        )  # fmt: skip
        at = text.find(b"\n@@ ")
        return ChangedFile(
            path=entry.path.decode("utf-8", "replace"),
            previous=None if entry.previous is None else entry.previous.decode("utf-8", "replace"),
            status=entry.status,
            blob=entry.blob,
            additions=added,
            deletions=removed,
            patch=None if at < 0 else text[at + 1 :].decode("utf-8", "replace").rstrip("\n"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _RawEntry:
    status: str
    blob: str
    path: bytes
    previous: bytes | None


_STATUS = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "C": "copied", "T": "changed"}


def _raw_entries(raw: bytes) -> list[_RawEntry]:
    fields = iter(raw.split(b"\0"))
    entries = []
    for head in fields:
        if not head:
            break
        _, _, old, new, letter = head.decode().split(" ")
        first = next(fields)
        renamed = letter[0] in "RC"
        entries.append(
            _RawEntry(
                status=_STATUS[letter[0]],
                blob=old if letter[0] == "D" else new,
                path=next(fields) if renamed else first,
                previous=first if renamed else None,
            )
        )
    return entries


def _counts(numstat: bytes) -> dict[bytes, tuple[int, int]]:
    fields = iter(numstat.split(b"\0"))
    counts = {}
    for head in fields:
        if not head:
            break
        added, removed, path = head.split(b"\t", 2)
        if not path:
            next(fields)
            path = next(fields)
        # A dash stands for a binary file.
        counts[path] = (0 if added == b"-" else int(added), 0 if removed == b"-" else int(removed))
    return counts


def _commits_of_batch(stream: bytes) -> dict[str, HostedCommit]:
    commits = {}
    at = 0
    while at < len(stream):
        end = stream.index(b"\n", at)
        words = stream[at:end].split()
        at = end + 1
        if words[-1] == b"missing":
            continue
        size = int(words[2])
        if words[1] == b"commit":
            commit = parse_commit(words[0].decode(), stream[at : at + size])
            commits[commit.id] = commit
        at += size + 1
    return commits


def parse_commit(commit_id: str, raw: bytes) -> HostedCommit:
    """Return a commit from its object's bytes; bytes that its encoding does not know are replaced."""
    head, _, message = raw.partition(b"\n\n")
    # A header goes on over lines that begin with a blank (signatures do).
    lines = [line.split(b" ", 1) for line in head.split(b"\n") if not line.startswith(b" ")]
    named = {line[0].decode("ascii", "replace"): line[-1] for line in lines}
    return HostedCommit(
        id=commit_id,
        tree=named["tree"].decode(),
        parents=tuple(line[-1].decode() for line in lines if line[0] == b"parent"),
        author=_person(named["author"]),
        committer=_person(named["committer"]),
        message=_decoded(message, named.get("encoding", b"utf-8").decode("ascii", "replace")).rstrip("\n"),
    )


def _decoded(message: bytes, encoding: str) -> str:
    try:
        return message.decode(encoding, "replace")
    except LookupError:
        return message.decode("utf-8", "replace")


def _person(line: bytes) -> Person:
    match = _PERSON.fullmatch(line.decode("utf-8", "replace"))
    if match is None:
        return Person(name="", email="", time=0)
    return Person(name=match["name"], email=match["email"], time=int(match["time"]))
