"""The git door: a repository opened for reading, its history, trees, patches and checkouts.

Everything here is bytes until it is shown: paths, patches, subjects, messages. Commits, trees and blobs are named by
full lowercase hex ids. ``open_source`` is the way in; several threads may share what it gives.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from types import MappingProxyType, TracebackType
from typing import Self

from casewright.errors import SourceError, UsageError
from casewright.git_blobs import Blobs, FetchOwed
from casewright.git_clones import (
    cached_clone,
    fetch_named,
    fetch_nothing,
    fetch_objects,
    fetch_owed,
    fetched_ref,
    kept_clone,
)
from casewright.git_command import Git, run_network_git
from casewright.git_log import RawCommit, log_arguments, read_log, read_seconds
from casewright.git_patches import LineCount, line_counts, patch_of, raw_entries, stable_patch_ids
from casewright.git_source import (
    Located,
    is_url,
    locate,
    make_private,
    public_url,
    repository_name,
)
from casewright.git_tree import SUBMODULE, Tree, TreeEntry
from casewright.git_words import words_in_tree
from casewright.git_workbench import Workbench
from casewright.git_worktree import apply_patch, clone_plainly, export_tree
from casewright.store import Store

EMPTY_TREES: Mapping[str, str] = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Commit:
    """One commit. Times are seconds since the epoch; ``message`` is UTF-8 as far as the commit's encoding is known."""

    id: str
    tree: str
    parents: tuple[str, ...]
    author_time: int
    committer_time: int
    message: bytes


class Repository:
    """A repository that is open for reading; close it, or use it in a ``with``.

    ``source`` is what was given, without user info; ``remote_url`` what a stranger would clone, or an empty text;
    ``notes`` are things that a user should be told once.
    """

    def __init__(
        self,
        *,
        source: str,
        address: str,
        clone: Path | None,
        git: Git,
        located: Located,
        scratch: Path,
        store: Store,
        fetch: FetchOwed,
        closing: ExitStack,
    ) -> None:
        self.source = source
        self.name = repository_name(source)
        self.remote_url = ""
        self.notes: tuple[str, ...] = ()
        self.object_format = located.object_format
        self.shallow = bool(located.shallow)
        self.refs = located.refs
        self._git = git
        self._located = located
        self._scratch = scratch
        self._closing = closing
        self._address = address
        self._clone = clone
        self._store = store
        self._stand_in: Path | None = None
        self._blobs = Blobs(git, source, public_url(located.promisor) or located.promisor, fetch)
        self._numbers = itertools.count()
        self._lock = Lock()
        self._trees: dict[str, Tree] = {}
        self._reachable: frozenset[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give back what is held: a child process, a private git folder, the lock on a cached clone."""
        self._blobs.close()
        self._closing.close()

    @property
    def git_dir(self) -> Path:
        """Our private git folder (bare, borrowing the source's objects); it goes when the repository is closed."""
        return self._git.git_dir

    @property
    def empty_tree(self) -> str:
        """The id of the tree without entries."""
        return EMPTY_TREES[self.object_format]

    # names and commits

    def resolve(self, revision: str) -> str:
        """Return the full id of the commit that a revision names; branches of ``origin`` are known by their bare name.

        Raises ``UsageError`` naming what is unknown, ``SourceError`` when HEAD leads to a branch without a commit.
        """
        if revision == "HEAD" and (tip := self._located.head_commit):
            return tip
        for name in (revision, f"refs/remotes/origin/{revision}"):
            outcome = self._git.attempt("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
            if outcome.code == 0:
                return outcome.out.decode("ascii").strip()
        if revision == "HEAD":
            branches = ", ".join(sorted(self.branches())) or "none"
            raise SourceError(f"HEAD of {self.source} leads to no commit", f"choose a branch; there are: {branches}")
        raise UsageError(
            f"{revision!r} names no commit of {self.source}",
            "it is a shallow clone: git fetch --unshallow may bring it"
            if self.shallow
            else "see git branch -a, git tag",
        )

    def branches(self) -> tuple[str, ...]:
        """Return the names of the source's branches."""
        heads = (name.removeprefix(b"refs/heads/") for name in self.refs if name.startswith(b"refs/heads/"))
        return tuple(name.decode("utf-8", "backslashreplace") for name in heads)

    def known(self, revision: str) -> str | None:
        """Return the full id of the commit that a revision names, or None where there is none."""
        outcome = self._git.attempt("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        return outcome.out.decode("ascii").strip() if outcome.code == 0 else None

    def first_parents(self, tip: str, count: int | None = None) -> tuple[str, ...]:
        """Return the ids of the first-parent line from ``tip``, itself first, at most ``count`` of them."""
        limit = () if count is None else (f"--max-count={count}",)
        return tuple(self._git.run("rev-list", "--first-parent", *limit, tip, "--").decode("ascii").split())

    def mentioning(self, tip: str, text: str) -> tuple[str, ...]:
        """Return the ids of all commits that ``tip`` reaches whose message holds a text, newest first."""
        found = self._git.run("rev-list", "--encoding=UTF-8", "--fixed-strings", f"--grep={text}", tip, "--")
        return tuple(found.decode("ascii").split())

    def commit(self, revision: str) -> Commit:
        """Return one commit with its whole message."""
        wanted = self.resolve(revision)
        fields = self._git.run(
            "log", "-1", "--no-walk", "--encoding=UTF-8", "--format=%T%x00%P%x00%at%x00%ct%x00%B", wanted
        )
        tree, parents, authored, committed, message = fields.split(b"\0", 4)
        return Commit(
            id=wanted,
            tree=tree.decode("ascii"),
            parents=tuple(parents.decode("ascii").split()),
            author_time=read_seconds(authored),
            committer_time=read_seconds(committed),
            message=message.removesuffix(b"\n"),
        )

    def messages(self, base: str, head: str) -> tuple[bytes, ...]:
        """Return the messages of the commits that ``head`` has and ``base`` has not, oldest first."""
        found = self._git.run("log", "-z", "--reverse", "--encoding=UTF-8", "--format=%B", f"{base}..{head}")
        return tuple(message for message in found.split(b"\0") if message)

    def describe(self, revision: str) -> str:
        """Return ``git describe --tags --long`` of a revision, or an empty text when no tag leads there."""
        outcome = self._git.attempt("describe", "--tags", "--long", self.resolve(revision))
        return outcome.out.decode("utf-8", "backslashreplace").strip() if outcome.code == 0 else ""

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Say whether ``newer`` is ``older`` or follows it."""
        return self._git.attempt("merge-base", "--is-ancestor", older, newer).code == 0

    def merge_base(self, first: str, second: str) -> str:
        """Return the best common ancestor of two commits, or an empty text."""
        return self._git.attempt("merge-base", first, second).out.decode("ascii").strip()

    def walk(
        self,
        tip: str,
        *,
        exclude: Sequence[str] = (),
        all_commits: bool = False,
        since: int | None = None,
        until: int | None = None,
        paths: Sequence[bytes] = (),
    ) -> Iterator[RawCommit]:
        """Yield commits from ``tip``, newest first, each with its raw difference to its first parent.

        By default the first-parent line with merges; with ``all_commits`` every reachable commit that is no merge.
        ``exclude`` are commits whose history is left out; ``since`` and ``until`` bound the committer time (seconds,
        both ends included); ``paths`` choose commits that touch them, the difference stays whole. Commits without a
        parent come too.
        """
        arguments = log_arguments(
            self.resolve(tip), tuple(self.resolve(name) for name in exclude), all_commits=all_commits, paths=paths
        )
        for record in read_log(self._git.stream(*arguments)):
            time = record.committer_time
            if (since is None or time >= since) and (until is None or time <= until):
                yield record

    def fetch_ref(self, ref: str) -> str | None:
        """Fetch one ref (``refs/pull/1/head``) of the source's url; return its commit, or None when there is none.

        A clone of our own keeps it; else only our private git folder receives it, for this session. Raises
        ``InfrastructureError`` when the url can't be asked.
        """
        if self._clone is not None:
            return fetch_named(self._store, self._clone, self._address, ref)
        url = self._reached_as(self.remote_url)
        if not url:
            return None
        # A server that is told which commits a partial clone has takes it to have their files too, and sends changes to
        # files that are not there: so it is told nothing and sends all.
        telling = ["-c", "fetch.negotiationAlgorithm=noop"] if self._blobs.partial else []
        outcome = run_network_git(
            ["--git-dir", str(self.git_dir), *telling, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--",
             url, f"+{ref}:refs/casewright/fetched"],
        )  # fmt: skip
        return self.resolve("refs/casewright/fetched") if fetched_ref(outcome, url, ref) else None

    def refresh(self, url: str) -> str:
        """Bring the branches and tags of ``url`` as they are now into our private git folder, for this session.

        For a local copy that has fallen behind, which itself is never written; branches that the url no longer has go.
        Returns git's complaint, or an empty text when it worked.
        """
        outcome = run_network_git(
            ["--git-dir", str(self.git_dir), "fetch", "--quiet", "--prune", "--no-tags", "--no-write-fetch-head", "--",
             self._reached_as(url), "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"],
        )  # fmt: skip
        with self._lock:
            self._reachable = None
        return "" if outcome.code == 0 else outcome.complaint

    def _reached_as(self, url: str) -> str:
        """Return how the user reaches a url: by the source's own remote where that is the same place (by ssh, say)."""
        if self._address:
            return self._address
        origin = self._located.origin
        return origin if not url or public_url(origin) == url else url

    def reachable_in_plain_clone(self, commit: str) -> bool:
        """Say whether a branch or a tag of the source leads to a commit, as it must for ``git clone`` to bring it."""
        with self._lock:
            if self._reachable is None:
                found = self._git.run("rev-list", "--branches", "--tags")
                self._reachable = frozenset(found.decode("ascii").split())
        return commit in self._reachable

    # trees and blobs

    def tree(self, revision: str) -> Tree:
        """Return the tree of a commit, or of a tree id."""
        outcome = self._git.attempt("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{tree}}")
        tree_id = outcome.out.decode("ascii").strip() or self.commit(revision).tree
        with self._lock:
            return self._trees.setdefault(tree_id, Tree(tree_id, self.list_tree, self._blobs.read))

    def list_tree(self, tree_id: str) -> dict[bytes, TreeEntry]:
        """Return every file, symlink and submodule of a tree."""
        entries = {}
        for line in self._git.run("ls-tree", "-r", "-z", "--full-tree", tree_id).split(b"\0"):
            if line:
                facts, _, path = line.partition(b"\t")
                mode, _, object_id = facts.decode("ascii").split(" ")
                entries[path] = TreeEntry(mode, object_id)
        return entries

    def small_blobs(self, object_ids: Iterable[str], limit: int) -> dict[str, bytes]:
        """Return the content of those blobs that hold at most ``limit`` bytes; others are left out."""
        return self._blobs.small(object_ids, limit)

    def words_present(self, revision: str, words: Collection[bytes], patterns: Sequence[str] = ()) -> set[bytes]:
        """Return those words (bytes without a newline) that stand whole in some text file of a revision's tree.

        ``patterns`` are git's pathspecs of the files that count, all without any.
        """
        tree = self.tree(revision)
        if self._blobs.partial:
            self._blobs.bring(entry.id for entry in tree.entries.values() if entry.mode != SUBMODULE)
        return words_in_tree(self._git, tree.id, words, self._scratch / f"words-{next(self._numbers)}", patterns)

    # differences

    def differences(self, base: str, head: str) -> tuple[bytes, ...]:
        """Return git's raw line and path by turns for each file that differs, sorted by path, without renames.

        A raw line is ``:OLDMODE NEWMODE OLDID NEWID STATUS``.
        """
        return raw_entries(self._git, base, head)

    def owes_contents(self) -> bool:
        """Say whether this is a clone without file contents, so that looking at a change may need the network."""
        return self._blobs.partial

    def bring_contents(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Have the files of differences (base, head) at hand, in one go, where this is a clone without contents.

        Raises ``RepositoryError`` when they can't be had.
        """
        if not self._blobs.partial:
            return
        ids: set[str] = set()
        for base, head in pairs:
            for raw in self.differences(base, head)[::2]:
                old_mode, new_mode, old, new, _ = raw[1:].decode("ascii").split(" ")
                sides = ((old_mode, old), (new_mode, new))
                ids.update(name for mode, name in sides if mode not in {"000000", SUBMODULE})
        self._blobs.bring(ids)

    def diff_patch(self, base: str, head: str, paths: Sequence[bytes]) -> bytes:
        """Return the patch from ``base`` to ``head`` over exactly these paths, as a case's recorded command gives it.

        No paths give no patch.
        """
        self.bring_contents([(base, head)])
        return patch_of(self._git, base, head, paths)

    def numstat(self, base: str, head: str, paths: Sequence[bytes] = ()) -> tuple[LineCount, ...]:
        """Return added and deleted lines of each changed file, of all files when no paths are given."""
        self.bring_contents([(base, head)])
        return line_counts(self._git, base, head, paths)

    def patch_id(self, base: str, head: str) -> str:
        """Return ``git patch-id --stable`` of a difference, or an empty text when there is none."""
        return self.patch_ids([(base, head)])[0]

    def patch_ids(self, pairs: Sequence[tuple[str, str]]) -> list[str]:
        """Return the stable patch-id of each (base commit, head commit), many from one pass of git."""
        self.bring_contents(pairs)
        return stable_patch_ids(self._git, pairs)

    def tree_after(
        self,
        revision: str,
        patches: Sequence[bytes],
        touched: Iterable[bytes],
        entries: Mapping[bytes, TreeEntry] = MappingProxyType({}),
    ) -> str | None:
        """Return the id of a tree after patches, each whole or not at all; None when one does not apply.

        Works on a private index, without a checkout; empty patches change nothing. ``touched`` are the paths that the
        patches are about: of the tree only these are at hand, so a patch has to bring all that it adds. ``entries`` are
        set when the patches have been applied.
        """
        tree = self.tree(revision)
        before = {path: tree.entries[path] for path in touched if path in tree.entries}
        self._blobs.bring(entry.id for entry in before.values() if entry.mode != SUBMODULE)
        with self._workbench(tree) as bench:
            for entry in before.values():
                if entry.mode != SUBMODULE:
                    bench.put(entry.id, self._blobs.read(entry.id))
            if not all(bench.apply(patch) for patch in patches if patch):
                return None
            if entries:
                bench.set(entries.items())
            return bench.write()

    def tree_with(self, revision: str, entries: Mapping[bytes, TreeEntry | None]) -> str:
        """Return the id of a tree with entries set (or removed where None): the state that a patch would give."""
        with self._workbench(self.tree(revision)) as bench:
            bench.set((path, entry) for path, entry in entries.items())
            return bench.write()

    # folders

    def export(self, revision: str, folder: Path) -> None:
        """Check a tree out into an empty folder as a plain clone has it, without a ``.git``.

        The tree's own attributes count (``eol=crlf``), except that filters run nothing; ``export-ignore`` is for
        archives and does not count; submodules are empty folders.
        """
        tree = self.tree(revision)
        if self._blobs.partial:
            self._blobs.bring(entry.id for entry in tree.entries.values() if entry.mode != SUBMODULE)
        index = self._new_index()
        try:
            export_tree(self._git, tree.id, folder, index)
        finally:
            index.unlink(missing_ok=True)

    def apply(self, patch: bytes, folder: Path) -> str:
        """Apply a patch to an exported tree with ``git apply``, whole or not at all.

        Returns an empty text, or git's complaint when it does not apply. An empty patch is refused as git refuses it.
        """
        return apply_patch(self._git, patch, folder, self._scratch / f"index-{next(self._numbers)}")

    def plain_clone(self, folder: Path, url: str = "") -> None:
        """Make what ``git clone -c core.autocrlf=false URL`` makes, the history at hand standing in for the url.

        Only branches and tags, and what they reach, arrive; ``remote.origin.url`` is the url. A clone without file
        contents can't stand in: a whole one of the url is made first, once, and kept in the cache; where that is
        another url than ours, it is cloned itself. Raises ``RepositoryError``, ``InfrastructureError``.
        """
        if self._blobs.partial and url != self.remote_url:
            clone_plainly(None, url, folder)
        else:
            clone_plainly(self._whole(), url, folder)

    def _whole(self) -> Path:
        """Return a git folder that holds everything, for as long as this repository is open."""
        if not self._blobs.partial:
            return self.git_dir
        with self._lock:
            if self._stand_in is None:
                address = self._address or self._located.promisor
                self._stand_in, _ = self._closing.enter_context(cached_clone(address, self._store, whole=True))
            return self._stand_in

    def _new_index(self) -> Path:
        return self._scratch / f"index-{next(self._numbers)}"

    @contextmanager
    def _workbench(self, tree: Tree) -> Iterator[Workbench]:
        with TemporaryDirectory(dir=self._scratch, prefix="bench-") as place:
            yield Workbench(Path(place), tree.entries, self.object_format)


def open_source(source: str, cache: Path, *, whole: bool = False) -> Repository:
    """Open a local repository (worktree or bare) or a clone url, which is kept in the cache and refreshed.

    ``cache`` is the folder of ``casewright.store``; ``whole`` asks for a clone of a url with all file contents, for who
    is going to make a stranger's clone anyway. Raises ``SourceError`` when the source is no repository that can be
    read, ``InfrastructureError`` when a url can't be cloned.
    """
    store = Store(cache)
    store.sweep()
    with ExitStack() as stack:
        if is_url(source):
            place, note = stack.enter_context(cached_clone(source, store, whole=whole))
            repository = _open_clone(source, place, store, partial(fetch_owed, place, source), stack.pop_all())
            repository.notes += (note,) if note else ()
            return repository
        located = locate(Path(source).expanduser())
        remote = public_url(located.origin)
        remote = "" if remote.startswith("file://") else remote
        repository = _open(source, located, store, None, stack.pop_all())
    repository.remote_url = remote
    repository.name = repository_name(remote or str(Path(source).expanduser().resolve()))
    return repository


def open_kept(url: str, cache: Path) -> Repository | None:
    """Open the clone of a url that the cache holds, as it is, or return None: nobody is asked, now or later.

    What a clone without file contents lacks is a ``RepositoryError`` then.
    """
    store = Store(cache)
    with ExitStack() as stack:
        place = stack.enter_context(kept_clone(url, store))
        return None if place is None else _open_clone(url, place, store, fetch_nothing, stack.pop_all())


def _open_clone(url: str, place: Path, store: Store, fetch: FetchOwed, stack: ExitStack) -> Repository:
    """Open a clone of our own; ``stack`` holds it."""
    repository = _open(public_url(url) or url, locate(place), store, fetch, stack, address=url, clone=place)
    repository.remote_url = public_url(url) or url
    return repository


def _open(
    shown: str,
    located: Located,
    store: Store,
    fetch: FetchOwed | None,
    stack: ExitStack,
    *,
    address: str = "",
    clone: Path | None = None,
) -> Repository:
    """Open what was located. What a given partial clone lacks goes into our private folder: it is never written."""
    with stack:
        scratch = stack.enter_context(store.scratch())
        git_dir = scratch / "git"
        git_dir.mkdir()
        make_private(git_dir, located)
        repository = Repository(
            source=shown,
            address=address,
            clone=clone,
            git=Git(git_dir, EMPTY_TREES[located.object_format]),
            located=located,
            scratch=scratch,
            store=store,
            fetch=fetch or partial(fetch_objects, git_dir, located.promisor),
            closing=stack.pop_all(),
        )
    if located.shallow:
        told = "commits beyond its boundary are not seen, and the boundary commits are no changes"
        repository.notes = (f"{shown} is a shallow clone: {told}; git fetch --unshallow brings the rest",)
    return repository
