"""Who strangers' code runs as, and whose the folders are that it may write to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from execution.sandboxes.identity import UNPRIVILEGED_UID, hand_over, hand_over_once, is_mapped, real_uid


@pytest.mark.parametrize(
    ("uid_map", "mapped"),
    [
        ("         0          0 4294967295\n", True),
        ("0 100000 65536\n", True),
        ("0 1000 1\n1 100000 65535\n", True),
        ("0 1000 1\n", False),
        ("0 1000 60806\n", False),
        ("60806 1000 1\n", True),
        ("", False),
    ],
)
def test_a_namespace_that_lacks_the_uid_is_seen(uid_map: str, mapped: bool) -> None:
    assert is_mapped(uid_map, 60_806) is mapped


def test_root_takes_another_uid_and_others_keep_theirs() -> None:
    assert real_uid() == (UNPRIVILEGED_UID if os.getuid() == 0 else None)


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_a_folder_is_handed_over_with_all_that_it_holds_and_nothing_beyond(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    (outside / "below").mkdir(parents=True)
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "file").write_text("x")
    (folder / "link").symlink_to(outside)
    hand_over(folder)
    owned = [folder, *folder.rglob("*")]
    assert {path.lstat().st_uid for path in owned} == {UNPRIVILEGED_UID}
    assert {path.stat().st_uid for path in (outside, outside / "below")} == {0}


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_a_folder_that_was_handed_over_is_not_walked_again(tmp_path: Path) -> None:
    hand_over_once(tmp_path)
    (tmp_path / "later").write_text("x")
    hand_over_once(tmp_path)
    assert (tmp_path / "later").stat().st_uid == 0
    hand_over(tmp_path)
    assert (tmp_path / "later").stat().st_uid == UNPRIVILEGED_UID
