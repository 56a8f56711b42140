"""The cache: built once, whole or not at all, swept after a kill, pruned only when unused."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from casewright.errors import InfrastructureError, WorkspaceError
from casewright.store import ENVIRONMENTS, Store, remove_tree, tree_size


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "cache")


def fill(folder: Path) -> None:
    (folder / "file").write_bytes(b"x" * 5000)


def test_an_entry_is_made_once(store: Store) -> None:
    made = []

    def make(folder: Path) -> None:
        made.append(folder)
        fill(folder)

    for _ in range(2):
        with store.entry(ENVIRONMENTS, "key", make) as place:
            assert (place / "file").stat().st_size == 5000
    assert len(made) == 1
    assert list((store.root / "staging").iterdir()) == []


def test_who_comes_second_waits_for_the_first(store: Store) -> None:
    started, go = threading.Event(), threading.Event()
    made = []

    def slow(folder: Path) -> None:
        made.append("slow")
        started.set()
        assert go.wait(10)
        fill(folder)

    def use(make: object) -> None:
        with store.entry(ENVIRONMENTS, "key", make):  # type: ignore[arg-type] # handed on as it came
            pass

    first = threading.Thread(target=use, args=(slow,))
    first.start()
    assert started.wait(10)
    second = threading.Thread(target=use, args=(lambda _folder: made.append("second"),))
    second.start()
    go.set()
    first.join(10)
    second.join(10)
    assert made == ["slow"]


def test_half_an_entry_is_made_anew(store: Store) -> None:
    def whole(place: Path) -> bool:
        return (place / "file").exists()

    with store.entry(ENVIRONMENTS, "key", fill, whole) as place:
        (place / "file").unlink()
    with store.entry(ENVIRONMENTS, "key", fill, whole) as place:
        assert (place / "file").exists()


def test_a_failure_leaves_nothing(store: Store) -> None:
    def fails(folder: Path) -> None:
        fill(folder)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"), store.entry(ENVIRONMENTS, "key", fails):
        pass
    assert store.entries() == ()
    assert list((store.root / "staging").iterdir()) == []


def test_a_full_disk_is_no_verdict(store: Store) -> None:
    def full(folder: Path) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(InfrastructureError, match="No space left on device"), store.entry(ENVIRONMENTS, "key", full):
        pass


def test_what_a_killed_process_left_is_swept_and_what_a_live_one_uses_is_not(store: Store) -> None:
    script = (
        "import os, sys; from pathlib import Path; from casewright.store import Store\n"
        "with Store(Path(sys.argv[1])).scratch() as folder:\n"
        "    (folder / 'litter').write_text('x'); os.kill(os.getpid(), 9)\n"
    )
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", script, str(store.root)], check=False, cwd=root)
    assert len(list((store.root / "staging").iterdir())) == 1
    with store.scratch() as mine:
        assert store.sweep() == 1
        assert mine.exists()
    assert list((store.root / "staging").iterdir()) == []


def test_pruning_takes_the_oldest_first_and_spares_what_is_in_use(store: Store) -> None:
    for age, key in enumerate(("new", "old", "oldest")):
        with store.entry(ENVIRONMENTS, key, fill) as place:
            pass
        os.utime(place, (1_700_000_000 - age, 1_700_000_000 - age))
    with store.shared(ENVIRONMENTS, "oldest"):
        os.utime(store.root / ENVIRONMENTS / "oldest", (1, 1))
        removed = store.prune(bound=tree_size(store.root / ENVIRONMENTS / "new"))
    assert [entry.key for entry in removed] == ["old", "new"]
    assert [entry.key for entry in store.entries()] == ["oldest"]
    assert [entry.key for entry in store.prune(everything=True)] == ["oldest"]


def test_a_cache_that_can_not_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(WorkspaceError, match="can't be used"):
        Store(blocked / "cache")


def test_a_tree_is_removed_whatever_its_modes(tmp_path: Path) -> None:
    folder = tmp_path / "tree" / "locked"
    folder.mkdir(parents=True)
    (folder / "file").write_text("x")
    (tmp_path / "tree" / "link").symlink_to("/")
    folder.chmod(0)
    remove_tree(tmp_path / "tree")
    assert not (tmp_path / "tree").exists()


def test_a_disk_that_is_as_good_as_full_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    store.require_room()
    real = os.statvfs(tmp_path)

    def nearly_full(_: Path) -> os.statvfs_result:
        return os.statvfs_result((*real[:4], 1000, *real[5:]))

    monkeypatch.setattr(os, "statvfs", nearly_full)
    with pytest.raises(InfrastructureError, match="is full; free some disk space"):
        store.require_room()
