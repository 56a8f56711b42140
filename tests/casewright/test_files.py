"""Files are whole or not there."""

from __future__ import annotations

import errno
import os
import subprocess
import threading
from pathlib import Path

import pytest

from casewright.errors import WorkspaceError
from casewright.files import create_file, replace_file, sweep_staged


def test_a_file_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    replace_file(path, b"one")
    path.chmod(0o640)
    replace_file(path, b"two")
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o640
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.yaml"]


def test_a_new_file_is_readable_as_the_umask_says(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        replace_file(tmp_path / "a", b"x")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    replace_file(path, b"old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WorkspaceError, match="No space left on device"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


def test_a_missing_folder_is_an_error_of_one_line(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="can't be written"):
        replace_file(tmp_path / "absent" / "a", b"x")


def test_a_file_is_created_once(tmp_path: Path) -> None:
    path = tmp_path / "v1.json"
    assert create_file(path, b"one", 0o444)
    assert not create_file(path, b"two", 0o444)
    assert path.read_bytes() == b"one"
    assert path.stat().st_mode & 0o777 == 0o444
    assert [entry.name for entry in tmp_path.iterdir()] == ["v1.json"]


def test_of_many_at_once_exactly_one_creates_the_file(tmp_path: Path) -> None:
    path = tmp_path / "v1.json"
    won: list[int] = []

    def create(number: int) -> None:
        if create_file(path, str(number).encode()):
            won.append(number)

    threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() == str(won[0]).encode()
    assert len(won) == 1


def test_what_a_killed_process_left_is_swept_and_what_a_living_one_writes_stays(tmp_path: Path) -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    dead = tmp_path / f".a.yaml.{gone.pid}-0123456789abcdef.tmp"
    alive = tmp_path / f".a.yaml.{os.getpid()}-0123456789abcdef.tmp"
    person_s = tmp_path / ".notes.tmp"
    for path in (dead, alive, person_s):
        path.write_bytes(b"half")
    assert sweep_staged(tmp_path) == 1
    assert sorted(tmp_path.iterdir()) == sorted([alive, person_s])
    assert sweep_staged(tmp_path / "absent") == 0
