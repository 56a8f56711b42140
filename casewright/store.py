"""The cache in the user's cache directory, shared by workspaces and processes; ``KINDS`` says of what.

An entry is named by a digest of all that made it, built under a lock in a staging folder, and put in place by one
rename; a failure leaves nothing behind. What a killed process left in staging is swept by the next one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from casewright.errors import InfrastructureError, WorkspaceError

CACHE_VARIABLE = "CASEWRIGHT_CACHE_DIR"
ENVIRONMENTS = "environments"
DOWNLOADS = "downloads"
CLONES = "clones"
RUNTIMES = "runtimes"
PACKAGES = "packages"
KINDS = (ENVIRONMENTS, DOWNLOADS, CLONES, RUNTIMES, PACKAGES)
DEFAULT_BOUND_BYTES = 20 * 1024**3
# A failed installer tidies up behind itself, so what is free afterwards is more than what there was to go on with.
NEEDED_BYTES = 64 * 1024**2


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One entry as ``casewright cache list`` shows it; ``used`` is seconds since the epoch, ``size`` bytes on disk."""

    kind: str
    key: str
    path: Path
    size: int
    used: float


def cache_root() -> Path:
    """Return the cache folder: ``CASEWRIGHT_CACHE_DIR`` when set, else the platform's own place for a user's cache."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen)
    from platformdirs import user_cache_path  # noqa: PLC0415 - a hundred modules that `check` and `cite` never need

    return user_cache_path("casewright")


class Store:
    """The cache folder, opened for use. Raises ``WorkspaceError`` when it can't be written."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root if root is not None else cache_root()
        try:
            for name in (*KINDS, "locks", "staging"):
                (self.root / name).mkdir(parents=True, exist_ok=True)
            tag = self.root / "CACHEDIR.TAG"
            if not tag.exists():
                tag.write_text("Signature: 8a477f597d28d172789f06886806bc55\n# A cache of casewright's.\n")
        except OSError as error:
            raise WorkspaceError(
                f"the cache folder {self.root} can't be used: {error.strerror}",
                f"set {CACHE_VARIABLE} to a folder that you may write",
            ) from error

    def sweep(self) -> int:
        """Remove what killed processes left in staging; return how many folders that were."""
        swept = 0
        for folder in (self.root / "staging").iterdir():
            owner = folder.name.split("-")
            if len(owner) == 3 and not _alive(owner[0], owner[1]):
                # What the killed process had started may take a moment to end: the next sweep finds the rest.
                with contextlib.suppress(InfrastructureError):
                    remove_tree(folder)
                    swept += 1
        return swept

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Path]:
        """Give a fresh folder that is gone afterwards, and that a sweep finds if this process is killed."""
        folder = self._staging()
        try:
            yield folder
        finally:
            remove_tree(folder)

    @contextlib.contextmanager
    def entry(
        self,
        kind: str,
        key: str,
        make: Callable[[Path], None],
        healthy: Callable[[Path], bool] = Path.exists,
    ) -> Iterator[Path]:
        """Give an entry, made by ``make(staging folder)`` if it is not there yet, kept from pruning while in use.

        One that is not ``healthy`` (somebody has deleted a part of it) is made anew. Whoever comes second waits for the
        first. What ``make`` raises is passed on and leaves nothing.
        """
        place = self.root / kind / key
        with self._locked(kind, key) as lock:
            if not (place.exists() and healthy(place)):
                fcntl.flock(lock, fcntl.LOCK_EX)
                if place.exists() and not healthy(place):
                    remove_tree(place)
                if not place.exists():
                    self._make(place, make)
                fcntl.flock(lock, fcntl.LOCK_SH)
            os.utime(place)
            yield place

    @contextlib.contextmanager
    def kept(self, kind: str, key: str) -> Iterator[Path | None]:
        """Give an entry that is there, kept from pruning while in use; None where there is none. Makes nothing."""
        with self._locked(kind, key):
            place = self.root / kind / key
            yield place if place.exists() else None

    @contextlib.contextmanager
    def shared(self, kind: str, key: str) -> Iterator[Path]:
        """Give a writable folder that several processes fill together, such as a download cache."""
        with self._locked(kind, key):
            place = self.root / kind / key
            place.mkdir(exist_ok=True)
            os.utime(place)
            yield place

    def entries(self) -> tuple[Entry, ...]:
        """List all entries, the least recently used first."""
        found = []
        for kind in KINDS:
            for path in (self.root / kind).iterdir():
                with contextlib.suppress(FileNotFoundError):
                    used = path.stat().st_mtime
                    found.append(Entry(kind=kind, key=path.name, path=path, size=tree_size(path), used=used))
        return tuple(sorted(found, key=lambda entry: (entry.used, entry.key)))

    def prune(self, bound: int = DEFAULT_BOUND_BYTES, *, everything: bool = False) -> tuple[Entry, ...]:
        """Remove entries nobody uses, the least recently used first, until ``bound`` bytes are kept; return them."""
        entries = self.entries()
        total = sum(entry.size for entry in entries)
        removed = []
        for entry in entries:
            if total <= bound and not everything:
                break
            if self._remove(entry):
                removed.append(entry)
                total -= entry.size
        return tuple(removed)

    def require_room(self) -> None:
        """Raise ``InfrastructureError`` when the disk under the cache is as good as full.

        For whoever has seen strangers' code fail there: an installer that ran out of disk rarely says so.
        """
        disk = os.statvfs(self.root)
        # Some file systems count no inodes, and say that they have none.
        if disk.f_bavail * disk.f_frsize < NEEDED_BYTES or (disk.f_files and not disk.f_favail):
            raise InfrastructureError(f"the disk under {self.root} is full", "free some disk space and run again")

    def _staging(self) -> Path:
        name = f"{os.getpid()}-{_started(str(os.getpid()))}-{secrets.token_hex(6)}"
        folder = self.root / "staging" / name
        try:
            folder.mkdir()
        except OSError as error:
            raise InfrastructureError(
                f"no folder can be made in {self.root}: {error.strerror}", "free some disk space and run again"
            ) from error
        return folder

    def _make(self, place: Path, make: Callable[[Path], None]) -> None:
        folder = self._staging()
        try:
            make(folder)
            folder.rename(place)
        except OSError as error:
            raise InfrastructureError(
                f"{place.name} could not be stored in {place.parent}: {error.strerror or error}",
                "free some disk space and run again",
            ) from error
        finally:
            if folder.exists():
                remove_tree(folder)

    @contextlib.contextmanager
    def _locked(self, kind: str, key: str) -> Iterator[int]:
        # flock, not lockf: it is dropped with the last descriptor, so a killed holder never leaves it behind.
        handle = os.open(self.root / "locks" / f"{kind}-{key}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_SH)
            yield handle
        finally:
            os.close(handle)

    def _remove(self, entry: Entry) -> bool:
        with self._locked(entry.kind, entry.key) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            # Renamed first, so that an entry is never seen half removed.
            doomed = self._staging()
            entry.path.rename(doomed / "entry")
            remove_tree(doomed)
            return True


def _alive(pid: str, started: str) -> bool:
    return pid.isdigit() and _started(pid) == started


def _started(pid: str) -> str:
    """Return a process's start time in clock ticks since boot, or an empty text when it is gone."""
    try:
        stat = Path("/proc", pid, "stat").read_bytes()
    except OSError:
        return ""
    # The command's name stands in brackets and may hold anything, brackets and spaces included.
    return stat.rpartition(b")")[2].split()[19].decode()


def tree_size(folder: Path) -> int:
    """Return the bytes on disk of a folder, hard links counted once, links not followed."""
    seen: set[tuple[int, int]] = set()
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                state = os.lstat(os.path.join(parent, name))  # noqa: PTH118 - os.walk gives texts, and there are many
            except FileNotFoundError:
                continue
            if (state.st_dev, state.st_ino) not in seen:
                seen.add((state.st_dev, state.st_ino))
                total += state.st_blocks * 512
    return total


def remove_tree(folder: Path) -> None:
    """Remove a folder whatever the modes of what is in it; what vanished meanwhile is no error.

    Raises ``InfrastructureError`` when something stays.
    """

    def open_up(function: Callable[[str], object], path: str, error: BaseException) -> None:
        if isinstance(error, FileNotFoundError):
            return
        parent = os.path.dirname(path)  # noqa: PTH120 - rmtree hands over texts
        try:
            os.chmod(parent, 0o700)  # noqa: PTH101
            if os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114
                os.chmod(path, 0o700)  # noqa: PTH101
                shutil.rmtree(path)
            else:
                function(path)
        except OSError as second:
            raise InfrastructureError(f"{path} could not be removed: {second.strerror}") from second

    if folder.exists():
        _rmtree(folder, open_up)
    if folder.exists():
        raise InfrastructureError(f"{folder} could not be removed", "see who is writing there")


def _rmtree(folder: Path, on_error: Callable[[Callable[[str], object], str, BaseException], None]) -> None:
    # 3.12 has ``onexc`` and deprecates ``onerror``; 3.11 knows only the latter.
    import sys  # noqa: PLC0415

    if sys.version_info >= (3, 12):
        shutil.rmtree(folder, onexc=on_error)
    else:
        shutil.rmtree(folder, onerror=lambda function, path, info: on_error(function, path, info[1]))
