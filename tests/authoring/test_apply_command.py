"""The apply command, run by a real ``sh``."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from authoring.apply_command import apply_command, shell_word
from miner.hunks import TestHunk, with_hunks

BASE = "a" * 40
HEAD = "b" * 40


def test_one_file_gives_exactly_the_documented_command() -> None:
    assert apply_command(BASE, HEAD, [b"tests/test_a.py"]) == (
        "git --literal-pathspecs diff-tree -r -p --binary --full-index --no-renames --no-ext-diff --no-textconv "
        f"--no-color -U3 --src-prefix=a/ --dst-prefix=b/ {BASE} {HEAD} -- 'tests/test_a.py' > ../test-part.patch"
        " && git apply --whitespace=nowarn ../test-part.patch"
    )


def test_paths_are_sorted_by_bytes_and_named_once() -> None:
    command = apply_command(BASE, HEAD, ["é".encode(), b"b", b"a/z", b"b"])
    assert "-- 'a/z' 'b' 'é' >" in command


@pytest.mark.parametrize(
    "name",
    [b"it's", b"a b", b"-n", b"$HOME", b"`id`", b"a\nb", b"-a\\n%s\nb'c", b"\n\nx", b"a\n", b"caf\xe9", b"a\\c\nb"],
)
def test_sh_gives_the_name_back(name: bytes) -> None:
    assert _through_sh(name) == name


@settings(max_examples=60, deadline=None)
@given(st.binary(min_size=1, max_size=12).filter(lambda name: b"\0" not in name))
def test_sh_gives_any_name_back(name: bytes) -> None:
    assert _through_sh(name) == name


def test_the_command_stays_on_one_line_unless_a_name_ends_in_a_newline() -> None:
    assert "\n" not in shell_word(b"a\nb\nc")


def test_the_command_applies_oddly_named_files(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    names = ["tests/a 'b'.txt", "tests/new\nline.txt", "tests/[x]*.txt", "tests/\\n.txt"]
    _git(repo, "init", "-q")
    base = _commit(repo, dict.fromkeys([*names, "src.txt", "tests/x.txt"], "one\n"))
    head = _commit(repo, dict.fromkeys([*names, "src.txt", "tests/x.txt"], "two\n"))
    _git(repo, "checkout", "-q", base)
    subprocess.run(["sh", "-ec", apply_command(base, head, [name.encode() for name in names])], cwd=repo, check=True)
    changed = subprocess.run(["git", "diff", "--name-only", "-z"], cwd=repo, check=True, capture_output=True).stdout
    assert sorted(changed.rstrip(b"\0").split(b"\0")) == sorted(name.encode() for name in names)


def _through_sh(name: bytes) -> bytes:
    script = b"printf '%s.' " + shell_word(name).encode("utf-8", "surrogateescape")
    return subprocess.run([b"sh", b"-c", script], check=True, capture_output=True).stdout[:-1]


def _git(repo: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Dev", "-c", "user.email=dev@example.com"]
    ran = subprocess.run(["git", *identity, *arguments], cwd=repo, check=True, capture_output=True, text=True)
    return ran.stdout.strip()


def _commit(repo: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        path = repo / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    _git(repo, "add", "-A")
    _git(repo, "commit", "-q", "-m", "a change")
    return _git(repo, "rev-parse", "HEAD")


def _hunk(path: bytes, *lines: int) -> TestHunk:
    return TestHunk(
        path=path,
        item="mod tests",
        base_line=lines[0],
        base_lines=lines[1],
        grading_line=lines[2],
        grading_lines=lines[3],
    )


def test_a_split_file_is_written_from_lines_of_both_commits() -> None:
    assert apply_command(BASE, HEAD, [b"src/lib.rs"], [_hunk(b"src/lib.rs", 3, 5, 4, 7)]) == (
        f"git cat-file blob '{BASE}:src/lib.rs' > ../base-file"
        f" && git cat-file blob '{HEAD}:src/lib.rs' > ../grading-file"
        " && { head -n 2 ../base-file; head -n 10 ../grading-file | tail -n +4; tail -n +8 ../base-file; }"
        " > 'src/lib.rs'"
    )


def test_whole_files_come_first_and_a_failing_git_ends_it(tmp_path: Path) -> None:
    command = apply_command(BASE, HEAD, [b"tests/a.rs", b"src/lib.rs"], [_hunk(b"src/lib.rs", 1, 0, 1, 1)])
    assert command.startswith(apply_command(BASE, HEAD, [b"tests/a.rs"]) + " && git cat-file blob ")
    repo = tmp_path / "repo"
    repo.mkdir()
    _git(repo, "init", "-q")
    base = _commit(repo, {"src/lib.rs": "one\n"})
    wrong = apply_command(base, HEAD, [b"src/lib.rs"], [_hunk(b"src/lib.rs", 1, 1, 1, 1)])
    assert subprocess.run(["sh", "-c", wrong], cwd=repo, check=False, capture_output=True).returncode != 0
    assert (repo / "src/lib.rs").read_text() == "one\n"


_CONTENT = st.lists(st.sampled_from([b"a\n", b"b\r\n", b"\n", b"\0c\n", b"\xff\n"]), max_size=6)
_END = st.sampled_from([b"", b"end"])


@settings(max_examples=25, deadline=None)
@given(_CONTENT, _END, _CONTENT, _END, st.data())
def test_sh_gives_the_bytes_that_the_miner_had(
    old: list[bytes], old_end: bytes, new: list[bytes], new_end: bytes, data: st.DataObject
) -> None:
    base, head = b"".join(old) + old_end, b"".join(new) + new_end
    hunks, place = [], 1
    for _ in range(data.draw(st.integers(1, 3))):
        first = data.draw(st.integers(place, len(old) + 1))
        count = data.draw(st.integers(0, len(old) + 1 - first))
        taken = data.draw(st.integers(1, len(new) + 1))
        hunks.append(_hunk(b"it's a\nname.rs", first, count, taken, data.draw(st.integers(0, len(new) + 1 - taken))))
        place = first + count
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder) / "repo"
        repo.mkdir()
        _git(repo, "init", "-q")
        old_pin, new_pin = (_commit_bytes(repo, {hunks[0].path: content}) for content in (base, head))
        _git(repo, "checkout", "-q", old_pin)
        subprocess.run(["sh", "-ec", apply_command(old_pin, new_pin, [], hunks)], cwd=repo, check=True)
        assert (repo / "it's a\nname.rs").read_bytes() == with_hunks(base, head, hunks)


def _commit_bytes(repo: Path, files: dict[bytes, bytes]) -> str:
    for path, content in files.items():
        (repo / path.decode()).write_bytes(content)
    _git(repo, "add", "-A")
    _git(repo, "commit", "-q", "--allow-empty", "-m", "x")
    return _git(repo, "rev-parse", "HEAD").strip()
