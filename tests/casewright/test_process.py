"""Commands that we trust: what comes back of them, and what is left of them (nothing)."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from casewright.errors import InfrastructureError
from casewright.process import CommandRequest, Stream, run


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def until(condition: object) -> bool:
    assert callable(condition)
    for _ in range(500):
        if condition():
            return True
        time.sleep(0.01)
    return False


def test_streams_and_code_are_kept_apart(tmp_path: Path) -> None:
    outcome = run(CommandRequest(argv=("sh", "-c", "pwd; printf 'x\\0y'; echo no >&2; exit 7"), cwd=tmp_path))
    assert outcome.code == 7
    assert outcome.stdout == os.fsencode(tmp_path) + b"\nx\0y"
    assert outcome.stderr == b"no\n"
    assert outcome.complaint == "no"
    assert not outcome.succeeded
    assert not outcome.truncated


def test_the_environment_is_the_given_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "1")
    outcome = run(CommandRequest(argv=("/usr/bin/env",), env={"ONLY": "this"}))
    assert outcome.stdout == b"ONLY=this\n"
    assert b"SECRET=1" in run(CommandRequest(argv=("/usr/bin/env",))).stdout


def test_much_input_and_much_output_do_not_wait_for_each_other() -> None:
    data = bytes(range(256)) * 40_000
    assert run(CommandRequest(argv=("cat",), stdin=data)).stdout == data


def test_nothing_is_read_from_our_own_input() -> None:
    assert run(CommandRequest(argv=("cat",))).stdout == b""


def test_output_is_bounded_and_the_command_still_ends() -> None:
    outcome = run(CommandRequest(argv=("sh", "-c", "yes | head -c 3000000; exit 3"), output_limit=1000))
    assert outcome.stdout == b"y\n" * 500
    assert outcome.truncated
    assert outcome.code == 3


def test_bytes_are_accepted_as_arguments(tmp_path: Path) -> None:
    name = b"odd\xff\nname"
    Path(os.fsdecode(bytes(tmp_path) + b"/" + name)).write_text("here")
    assert run(CommandRequest(argv=("cat", name), cwd=tmp_path)).stdout == b"here"


@pytest.mark.parametrize("noisy", [False, True])
def test_time_out_kills_the_whole_group(tmp_path: Path, noisy: bool) -> None:
    note = tmp_path / "pid"
    script = f"sleep 600 & echo $! > {note}; trap '' TERM INT; {'yes' if noisy else 'wait'}"
    outcome = run(CommandRequest(argv=("sh", "-c", script), seconds=0.5, output_limit=1000))
    assert outcome.timed_out
    assert outcome.code == -signal.SIGKILL
    assert until(lambda: not alive(int(note.read_text())))


def test_a_command_that_closes_its_output_is_still_bound_by_time() -> None:
    outcome = run(CommandRequest(argv=("sh", "-c", "exec sleep 600 >&- 2>&-"), seconds=0.3))
    assert outcome.timed_out


def test_a_daemon_that_holds_the_pipes_does_not_hold_us(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    outcome = run(CommandRequest(argv=("sh", "-c", f"setsid sleep 60 & echo $! > {note}; echo done"), seconds=30))
    os.kill(int(note.read_text()), signal.SIGKILL)
    assert outcome.stdout == b"done\n"
    assert outcome.succeeded


def test_an_interrupt_kills_the_command(tmp_path: Path) -> None:
    note = tmp_path / "pid"

    def read() -> Iterator[bytes]:
        with Stream(CommandRequest(argv=("sh", "-c", f"echo $$ > {note}; echo one; sleep 600"))) as stream:
            for chunk in stream:
                yield chunk
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(read())
    assert not alive(int(note.read_text()))


def test_a_stream_left_early_kills_the_command() -> None:
    with Stream(CommandRequest(argv=("yes",))) as stream:
        first = next(iter(stream))
    assert first.startswith(b"y\ny\n")
    assert stream._process.returncode == -signal.SIGKILL


def test_a_stream_tells_how_it_ended() -> None:
    with Stream(CommandRequest(argv=("sh", "-c", "echo a; echo b; echo trouble >&2; exit 5"))) as stream:
        content = b"".join(stream)
        outcome = stream.finish()
    assert (content, outcome.code, outcome.complaint) == (b"a\nb\n", 5, "trouble")


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match=r"no-such-program can't be run.*install no-such-program"):
        run(CommandRequest(argv=("no-such-program",)))
    with pytest.raises(InfrastructureError, match="no such folder"):
        run(CommandRequest(argv=("true",), cwd=tmp_path / "nowhere"))
