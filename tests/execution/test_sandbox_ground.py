"""The ground plan of a sandbox: order, sizes, variables; and what a copy leaves out."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from execution.sandbox import CASE_DIR, TREE_DIR, Copy, Limits, Mount, SandboxRequest, Scratch
from execution.sandboxes.copying import PlannedCopy, copy_command, plan_copies, quoted
from execution.sandboxes.ground import ground, is_below, private_scratches, program_environment, size

HOST = Path("/host")


def test_parents_come_first_and_copies_lie_between() -> None:
    request = SandboxRequest(
        argv=("true",),
        mounts=(
            Mount(source=HOST, target=f"{TREE_DIR}/node_modules"),
            Mount(source=HOST, target="/srv/case/env"),
            Mount(source=HOST, target="/opt/runtime"),
        ),
        scratch=(Scratch(target=f"{TREE_DIR}/node_modules/.vite", megabytes=8),),
        copies=(Copy(source=HOST, target=TREE_DIR),),
    )
    plan = ground(request)
    assert [entry.target for entry in plan.before] == [CASE_DIR, "/opt/runtime", "/srv/case/env"]
    assert [entry.target for entry in plan.after] == [f"{TREE_DIR}/node_modules", f"{TREE_DIR}/node_modules/.vite"]


def test_the_case_is_a_scratch_of_the_disk_limit_whatever_is_asked() -> None:
    request = SandboxRequest(
        argv=("true",), scratch=(Scratch(target=CASE_DIR, megabytes=1),), limits=Limits(disk_mb=77)
    )
    assert ground(request).before == (Scratch(target=CASE_DIR, megabytes=77),)


def test_a_mount_at_the_copys_own_place_comes_before_it() -> None:
    request = SandboxRequest(
        argv=("true",),
        mounts=(Mount(source=HOST, target=TREE_DIR, writable=True),),
        copies=(Copy(source=HOST, target=TREE_DIR),),
    )
    assert [entry.target for entry in ground(request).before] == [CASE_DIR, TREE_DIR]


def test_names_that_begin_alike_are_not_below() -> None:
    assert is_below("/srv/case/repo/x", "/srv/case/repo")
    assert not is_below("/srv/case/repository", "/srv/case/repo")
    assert not is_below("/srv/case/repo", "/srv/case/repo")


def test_inodes_follow_the_size_but_small_scratches_have_some() -> None:
    assert size(2048) == (2 << 30, 262_144, 0o755)
    assert size(1)[1] == 4096
    assert [target for target, *_ in private_scratches(Limits())] == ["/tmp", "/dev/shm"]


def test_defaults_give_way_to_the_request() -> None:
    env = program_environment({"PATH": "/x", "ODD": "\udcff"})
    assert env == {b"HOME": b"/tmp/home", b"TMPDIR": b"/tmp", b"PATH": b"/x", b"ODD": b"\xff"}


@given(st.binary(max_size=30).filter(lambda text: b"\0" not in text))
def test_quoting_is_undone_by_sh(text: bytes) -> None:
    script = b"printf %s " + quoted(text)
    assert subprocess.run(["/bin/sh", "-c", script], capture_output=True, check=True).stdout == text


def _left_out(tree: Path, mounted: str) -> tuple[bytes, ...]:
    request = SandboxRequest(argv=("true",), copies=(Copy(source=tree, target=TREE_DIR),))
    return plan_copies(request, (Mount(source=HOST, target=f"{TREE_DIR}/{mounted}"),))[0].left_out


def test_a_symlink_on_the_way_to_a_mount_point_is_left_out_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "packages").symlink_to("/etc")
    assert _left_out(tmp_path, "packages/a/node_modules") == (b"packages",)
    assert _left_out(tmp_path, "other/node_modules") == ()


def test_only_the_mount_point_is_left_out_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "packages" / "a" / "node_modules").mkdir(parents=True)
    assert _left_out(tmp_path, "packages/a/node_modules") == (b"packages/a/node_modules",)


def test_names_that_tar_might_read_as_patterns_are_taken_as_they_are(tmp_path: Path) -> None:
    tree, copy = tmp_path / "tree", tmp_path / "copy"
    odd = [b"*", b"a[b]", b"a?", b"back\\slash", b"new\nline", b"-x", b"quote'"]
    tree.mkdir()
    for name in (*odd, b"ab", b"kept"):
        os.mkdir(os.path.join(bytes(tree), name))  # noqa: PTH102, PTH118 - names are bytes
    planned = PlannedCopy(source=b"", target=bytes(copy), seen_at=bytes(tree), left_out=tuple(odd))
    subprocess.run(["/bin/sh", "-c", copy_command(planned)], check=True)
    assert sorted(os.listdir(bytes(copy))) == [b"ab", b"kept"]  # noqa: PTH208 - names are bytes
