"""What a tree of real processes holds in memory."""

from __future__ import annotations

import subprocess
import sys

from execution.sandboxes.watch import descendants, usage

PROGRAM = """
import os, sys, time
if os.fork() == 0:
    kept = b"x" * (30 << 20)
    memory = os.memfd_create("x")
    os.write(memory, b"x" * (20 << 20))
    print("ready", flush=True)
    time.sleep(60)
    os._exit(0)
time.sleep(60)
"""


def test_children_and_memory_that_nobody_maps_are_counted() -> None:
    with subprocess.Popen(["/bin/sh", "-c", '"$@"; true', "sh", sys.executable, "-c", PROGRAM], stdout=-1) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            pids = descendants(process.pid)
            quick = usage(process.pid, limit_kb=1 << 30)
            exact = usage(process.pid, limit_kb=1)
        finally:
            for pid in descendants(process.pid):
                subprocess.run(["kill", "-9", str(pid)], check=True)
            process.kill()
    assert len(pids) == 2
    for seen in (quick, exact):
        assert 30 << 10 <= seen.private <= 80 << 10
        assert 20 << 10 <= seen.shared <= 21 << 10
    assert exact.private <= quick.private


def test_a_process_that_is_gone_holds_nothing() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
        assert descendants(process.pid) == ()
        assert usage(process.pid, limit_kb=0).total == 0
