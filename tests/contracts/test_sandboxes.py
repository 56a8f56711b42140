"""The conformance suite of the sandboxes: every backend is held to all of it, as root and as an ordinary user.

Each test runs a real program in a real sandbox and asks what it could reach, write or use up. Started by root, the
suite starts itself once more as an ordinary user, so that both ways are seen on one machine.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict, Unpack

import pytest

from casewright.errors import SandboxUnavailableError
from execution.sandbox import (
    CASE_DIR,
    TREE_DIR,
    Copy,
    Ended,
    Limits,
    Mount,
    Sandbox,
    SandboxOutcome,
    SandboxRequest,
    Scratch,
)
from execution.sandboxes import SANDBOXES, probe
from execution.sandboxes.identity import real_uid
from execution.sandboxes.reach import interpreter_mounts

ROOT = Path(__file__).resolve().parents[2]
AS_USER = "CASEWRIGHT_SUITE_AS_USER"
USER_UID = 47_110
PYTHON = str(Path(sys.executable).resolve())
NODE = shutil.which("node")
SMALL = Limits(seconds=60, memory_mb=1024, processes=64, output_mb=8, disk_mb=64)


@pytest.fixture(params=sorted(SANDBOXES))
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    backend = SANDBOXES[request.param]
    why = backend.unavailable()
    if why is not None:
        pytest.skip(f"{request.param}: {why}")
    return backend


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder of the host behind a closed parent (pytest's own is open or not as its root is)."""
    with tempfile.TemporaryDirectory(prefix="casewright-suite-") as name:
        folder = Path(name)
        assert folder.stat().st_mode & 0o077 == 0
        yield folder


class Options(TypedDict, total=False):
    """What a test may ask for besides the program."""

    cwd: str
    env: dict[str, str]
    mounts: tuple[Mount, ...]
    scratch: tuple[Scratch, ...]
    copies: tuple[Copy, ...]
    network: bool
    limits: Limits
    report: bool


def run(sandbox: Sandbox, *argv: str, **options: Unpack[Options]) -> SandboxOutcome:
    options.setdefault("cwd", CASE_DIR)
    options.setdefault("limits", SMALL)
    return sandbox.run(SandboxRequest(argv=argv, **options))


def shell(sandbox: Sandbox, script: str, **options: Unpack[Options]) -> SandboxOutcome:
    return run(sandbox, "sh", "-c", script, **options)


def python(sandbox: Sandbox, program: str, *arguments: str, **options: Unpack[Options]) -> SandboxOutcome:
    options["mounts"] = (*interpreter_mounts(), *options.get("mounts", ()))
    return run(sandbox, PYTHON, "-I", "-S", "-c", program, *arguments, **options)


def text(outcome: SandboxOutcome) -> str:
    return outcome.output.decode()


def processes_with(mark: str) -> list[int]:
    """Processes on the host whose command line or environment holds a mark."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            if mark.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def gone(mark: str) -> bool:
    for _ in range(300):
        if not processes_with(mark):
            return True
        time.sleep(0.01)
    return False


class TestSecrets:
    def test_the_environment_is_the_requests_alone(self, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("FORGE_TOKEN", "made-up-secret")
        outcome = run(sandbox, "/usr/bin/env", env={"LANG": "C.UTF-8"})
        assert sorted(text(outcome).splitlines()) == [
            "HOME=/tmp/home",
            "LANG=C.UTF-8",
            "PATH=/opt/runtime/bin:/usr/local/bin:/usr/bin:/bin",
            "TMPDIR=/tmp",
        ]

    def test_no_process_inside_knows_our_environment_or_paths(
        self, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, place: Path
    ) -> None:
        monkeypatch.setenv("FORGE_TOKEN", "made-up-secret")
        (place / "data").mkdir()
        outcome = shell(
            sandbox,
            "for p in /proc/[0-9]*; do cat $p/environ $p/cmdline; done 2>/dev/null | tr '\\0' '\\n'",
            mounts=(Mount(source=place / "data", target="/opt/data"),),
        )
        assert "PATH=" in text(outcome)
        for word in ("made-up-secret", str(place), str(ROOT), sys.executable):
            assert word not in text(outcome)

    def test_home_is_empty_and_writable(self, sandbox: Sandbox) -> None:
        outcome = shell(sandbox, 'ls -A "$HOME"; echo x > "$HOME/x"; cd; pwd; cat x')
        assert text(outcome) == "/tmp/home\nx\n"

    def test_the_hosts_folders_are_not_there(self, sandbox: Sandbox, place: Path) -> None:
        (place / "answer").write_text("42")
        tried = ["/root", "/home", "/var", "/run", "/sys", "/mnt", "/media", "/boot", str(ROOT), str(place / "answer")]
        outcome = shell(sandbox, 'for p; do ls -d "$p" 2>/dev/null; done; ls /', env={}, mounts=())
        inside = text(
            run(sandbox, "sh", "-c", 'for p; do ls -d -- "$p" 2>/dev/null; done; true', "sh", *tried)
        ).splitlines()
        assert inside == []
        assert set(text(outcome).split()) <= {
            *("bin", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "srv", "tmp", "usr"),
        }

    def test_parents_of_a_mount_show_only_the_mount(self, sandbox: Sandbox, place: Path) -> None:
        (place / "data").mkdir()
        (place / "data" / "x").write_text("seen")
        (place / "other").write_text("hidden")
        outcome = shell(
            sandbox,
            "ls /opt /opt/data /opt/data/..; cat /opt/data/x",
            mounts=(Mount(source=place / "data", target="/opt/data"),),
        )
        assert text(outcome) == "/opt:\ndata\n\n/opt/data:\nx\n\n/opt/data/..:\ndata\nseen"

    def test_no_descriptor_of_ours_is_inherited(self, sandbox: Sandbox, place: Path) -> None:
        (place / "open").write_text("x")
        with (place / "open").open() as file:
            os.set_inheritable(file.fileno(), True)
            plain = shell(sandbox, "ls /proc/self/fd")
            with_report = shell(sandbox, "ls -l /proc/$$/fd", report=True)
        # The last one is the folder that ls reads.
        assert text(plain).split() == ["0", "1", "2", "3"]
        numbers = [line.split()[-3] for line in text(with_report).splitlines()[1:]]
        assert numbers == ["0", "1", "2", "3"]
        assert "/dev/null" in text(with_report).splitlines()[1]

    def test_stdin_is_empty(self, sandbox: Sandbox) -> None:
        assert run(sandbox, "cat").output == b""

    def test_the_callers_keyring_is_not_reachable(self, sandbox: Sandbox) -> None:
        program = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
print(libc.syscall(ctypes.c_long(250), 10, -3, b"user", b"casewright-suite", 0) > 0)
"""
        if os.uname().machine != "x86_64":
            pytest.skip("the number of keyctl is written for x86_64")
        add = "import ctypes\nctypes.CDLL(None).syscall(ctypes.c_long(248), b'user', b'casewright-suite', b'x', 1, -3)"
        outside = subprocess.run(
            [PYTHON, "-I", "-S", "-c", f"{add}\n{program}"], capture_output=True, text=True, check=True
        )
        if not outside.stdout.endswith("True\n"):
            pytest.skip("this kernel keeps no keys")
        assert text(python(sandbox, program)) == "False\n"


class TestNetwork:
    def test_the_probe_shows_that_it_is_denied(self, sandbox: Sandbox) -> None:
        seen = probe(sandbox)
        assert seen.denied
        assert {part.split()[0] for part in seen.detail.split("; ")} == {"TCP", "UDP", "DNS"}

    def test_only_loopback_is_there_and_it_works(self, sandbox: Sandbox) -> None:
        program = """
import socket
print([name for _, name in socket.if_nameindex()])
server = socket.create_server(("localhost", 0))
client = socket.create_connection(("localhost", server.getsockname()[1]), timeout=5)
print(socket.gethostname(), socket.gethostbyname(socket.gethostname()))
"""
        assert text(python(sandbox, program)) == "['lo']\ncasewright 127.0.0.1\n"

    def test_sockets_of_the_host_are_out_of_reach(self, sandbox: Sandbox, place: Path) -> None:
        by_path, by_name = str(place / "socket"), f"\0casewright-suite-{os.getpid()}"
        program = """
import socket, sys
for address in (sys.argv[1], chr(0) + sys.argv[2]):
    try:
        socket.socket(socket.AF_UNIX).connect(address)
        print("connected")
    except OSError as error:
        print(type(error).__name__)
"""
        with socket.socket(socket.AF_UNIX) as first, socket.socket(socket.AF_UNIX) as second:
            for listener, address in ((first, by_path), (second, by_name)):
                listener.bind(address)
                listener.listen()
                with socket.socket(socket.AF_UNIX) as control:
                    control.connect(address)
            outcome = python(sandbox, program, by_path, by_name[1:])
        assert text(outcome) == "FileNotFoundError\nConnectionRefusedError\n"

    def test_with_network_the_host_is_reached_and_names_are_looked_up(self, sandbox: Sandbox) -> None:
        program = """
import os, socket, sys
socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=5).close()
print(os.path.exists("/etc/resolv.conf"))
"""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            outcome = python(sandbox, program, str(listener.getsockname()[1]), network=True)
        assert text(outcome) == f"{Path('/etc/resolv.conf').exists()}\n"


class TestPower:
    def test_the_user_is_unprivileged_and_really_so(self, sandbox: Sandbox, place: Path) -> None:
        out = place / "out"
        out.mkdir()
        outcome = shell(
            sandbox,
            "id -un; id -u; id -g; id -G; touch /srv/case/out/mine; grep -E 'Cap|NoNewPrivs' /proc/self/status",
            mounts=(Mount(source=out, target=f"{CASE_DIR}/out", writable=True),),
        )
        lines = text(outcome).splitlines()
        assert lines[:4] == ["runner", "1000", "1000", "1000"]
        assert {line.split()[1] for line in lines[4:]} == {"0000000000000000", "1"}
        owner = (out / "mine").stat().st_uid
        taken = real_uid()
        assert owner == (os.getuid() if taken is None else taken)
        # In a container of an ordinary user's, root has no other id to take, and is no root outside.
        assert owner != 0 or taken is None

    @pytest.mark.parametrize(
        "path",
        [
            "/etc/shadow",
            "/proc/sys/kernel/core_pattern",
            "/proc/sys/vm/drop_caches",
            "/proc/sys/kernel/hostname",
            "/proc/sys/user/max_user_namespaces",
            "/proc/sysrq-trigger",
            "/dev/kmsg",
            "/dev/mem",
            "/sys/kernel/uevent_helper",
            "/etc/passwd",
            "/usr/bin/env",
            "/dev/made-up",
            "/made-up",
        ],
    )
    def test_nothing_of_the_system_opens_for_writing(self, sandbox: Sandbox, path: str) -> None:
        program = """
import os, sys
try:
    os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
    print("opened")
except OSError as error:
    print("refused")
"""
        assert text(python(sandbox, program, path)) == "refused\n"

    def test_shadow_does_not_open_for_reading(self, sandbox: Sandbox) -> None:
        assert shell(sandbox, "cd /proc/1/root; cat /etc/shadow /proc/kcore etc/shadow").exit_code != 0

    def test_no_more_user_namespaces(self, sandbox: Sandbox) -> None:
        outcome = shell(sandbox, "unshare -U true || unshare -Urm true || echo refused")
        assert text(outcome).endswith("refused\n")

    def test_nothing_can_be_mounted_or_unmounted(self, sandbox: Sandbox) -> None:
        program = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print([libc.umount2(path, 2) for path in (b"/proc/sys", b"/srv/case", b"/usr")])
print(libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None), libc.mount(None, b"/usr", None, 32 | 4096, None))
print(libc.chroot(b"/tmp"))
"""
        assert text(python(sandbox, program)) == "[-1, -1, -1]\n-1 -1\n-1\n"

    def test_setuid_programs_give_nothing(self, sandbox: Sandbox) -> None:
        outcome = shell(
            sandbox, "for p in su mount newgrp; do p=$(command -v $p) && test -u $p && $p --help; done; id -u"
        )
        assert text(outcome).splitlines()[-1] == "1000"

    def test_the_hosts_processes_are_not_seen(self, sandbox: Sandbox) -> None:
        outcome = shell(sandbox, "ls /proc | grep -c '^[0-9]'; kill -0 " + str(os.getpid()))
        assert int(text(outcome).split()[0]) <= 6
        assert outcome.exit_code != 0


class TestWriting:
    def test_read_only_mounts_stay_as_they_are(self, sandbox: Sandbox, place: Path) -> None:
        data = place / "data"
        data.mkdir()
        (data / "x").write_text("before")
        (data / "x").chmod(0o600)
        outcome = shell(
            sandbox,
            "cat /opt/data/x; echo after > /opt/data/x; chmod 777 /opt/data/x; rm -f /opt/data/x; touch /opt/data/y",
            mounts=(Mount(source=data, target="/opt/data"),),
        )
        assert text(outcome).startswith("before")
        assert [(path.name, path.read_text()) for path in data.iterdir()] == [("x", "before")]

    def test_one_file_can_be_mounted(self, sandbox: Sandbox, place: Path) -> None:
        (place / "tool").write_text("print('hello')")
        outcome = python(
            sandbox,
            "exec(open('/opt/casewright/tool').read())",
            mounts=(Mount(source=place / "tool", target="/opt/casewright/tool"),),
        )
        assert text(outcome) == "hello\n"

    def test_a_writable_mount_is_shared_by_several_runs(self, sandbox: Sandbox, place: Path) -> None:
        work = place / "work"
        (work / "deep").mkdir(parents=True)
        (work / "deep" / "old").write_text("old\n")
        (work / "link").symlink_to("/etc/hostname")
        mounts = (Mount(source=work, target="/srv/case/env", writable=True),)
        before = Path("/etc/hostname").stat() if Path("/etc/hostname").exists() else None
        assert (
            shell(
                sandbox, "echo one >> ../env/deep/old; mkdir ../env/new", cwd="/srv/case/env", mounts=mounts
            ).exit_code
            == 0
        )
        assert text(shell(sandbox, "echo two >> deep/old; cat deep/old; ls", cwd="/srv/case/env", mounts=mounts)) == (
            "old\none\ntwo\ndeep\nlink\nnew\n"
        )
        assert (work / "deep" / "old").read_text() == "old\none\ntwo\n"
        assert before is None or Path("/etc/hostname").stat().st_uid == before.st_uid

    def test_a_symlink_or_hard_link_leads_nowhere(self, sandbox: Sandbox, place: Path) -> None:
        (place / "outside").write_text("safe")
        work = place / "work"
        work.mkdir()
        (work / "absolute").symlink_to(place / "outside")
        (work / "relative").symlink_to("../outside")
        outcome = shell(
            sandbox,
            "echo x > absolute; echo x > relative; ln /usr/bin/env hard; ln -L relative hard; ls",
            cwd="/srv/case/env",
            mounts=(Mount(source=work, target="/srv/case/env", writable=True),),
        )
        assert (place / "outside").read_text() == "safe"
        assert not (work / "hard").exists()
        assert outcome.exit_code == 0

    def test_the_disk_is_bounded(self, sandbox: Sandbox) -> None:
        outcome = shell(sandbox, "for d in /srv/case /tmp; do head -c 200M /dev/zero > $d/x || du -m $d/x; done")
        sizes = [int(line.split()[0]) for line in text(outcome).splitlines() if line[0].isdigit()]
        assert len(sizes) == 2
        assert all(60 <= size <= 65 for size in sizes)

    def test_inodes_are_bounded(self, sandbox: Sandbox) -> None:
        if sandbox.name == "bubblewrap" and os.getuid() != 0:
            pytest.skip("bubblewrap has no option for the inodes of a tmpfs, and an ordinary user has no other way")
        program = """
import os
for number in range(20_000):
    try:
        open(f"/srv/case/{number}", "w").close()
    except OSError as error:
        print(error.strerror)
        break
else:
    print(number)
"""
        assert text(python(sandbox, program)) == "No space left on device\n"

    def test_a_scratch_lies_over_a_read_only_mount(self, sandbox: Sandbox, place: Path) -> None:
        modules = place / "node_modules"
        (modules / ".vite").mkdir(parents=True)
        outcome = shell(
            sandbox,
            "touch node_modules/.vite/x && ! touch node_modules/x 2>/dev/null && df -m node_modules/.vite | tail -1",
            cwd=TREE_DIR,
            mounts=(Mount(source=modules, target=f"{TREE_DIR}/node_modules"),),
            scratch=(Scratch(target=f"{TREE_DIR}/node_modules/.vite", megabytes=4),),
        )
        assert outcome.exit_code == 0
        assert text(outcome).split()[1] == "4"


class TestCopies:
    def test_a_copy_is_exact(self, sandbox: Sandbox, place: Path) -> None:
        tree = place / "tree"
        (tree / "sub" / "empty").mkdir(parents=True)
        odd = [b"new\nline", b"tab\tname", b"quote'\"", b"latin-\xe9", b"-rf", b"$(touch x)"]
        for name in odd:
            Path(os.fsdecode(bytes(tree) + b"/" + name)).write_bytes(name)
        (tree / "run").write_text("#!/bin/sh\necho ran\n")
        (tree / "run").chmod(0o755)
        (tree / "closed").write_text("closed")
        (tree / "closed").chmod(0o600)
        (tree / "link").symlink_to("sub")
        (tree / "dangling").symlink_to("/nowhere/at all")
        os.utime(tree / "run", ns=(1_000_000_007, 1_000_000_007))
        program = """
import json, os
seen = {}
for folder, folders, files in os.walk(b"."):
    for name in folders + files:
        path = os.path.join(folder, name)
        state = os.lstat(path)
        content = os.readlink(path) if os.path.islink(path) else open(path, "rb").read() if name in files else b""
        seen[path.decode("latin-1")] = (content.decode("latin-1"), oct(state.st_mode), state.st_mtime_ns, state.st_uid)
print(json.dumps(seen))
"""
        seen = json.loads(text(python(sandbox, program, cwd=TREE_DIR, copies=(Copy(source=tree, target=TREE_DIR),))))
        expected = {}
        for folder, folders, files in os.walk(bytes(tree)):
            for name in folders + files:
                path = os.path.join(folder, name)  # noqa: PTH118 - paths are bytes
                state = os.lstat(path)
                link = os.path.islink(path)  # noqa: PTH114 - paths are bytes
                content = b"" if name in folders else Path(os.fsdecode(path)).read_bytes() if not link else b""
                shown = os.fsencode(Path(os.fsdecode(path)).readlink()) if link else content
                key = (b"." + path[len(bytes(tree)) :]).decode("latin-1")
                expected[key] = [shown.decode("latin-1"), oct(state.st_mode), state.st_mtime_ns, 1000]
        assert seen == expected

    def test_the_later_copy_wins_also_over_a_folder_or_a_symlink(self, sandbox: Sandbox, place: Path) -> None:
        first, second = place / "first", place / "second"
        (first / "folder" / "deep").mkdir(parents=True)
        (first / "folder" / "deep" / "x").write_text("first")
        (first / "both").mkdir()
        (first / "both" / "a").write_text("first")
        (first / "file").write_text("first")
        (first / "link").symlink_to("both/a")
        (second / "both").mkdir(parents=True)
        (second / "both" / "b").write_text("second")
        (second / "file").mkdir()
        (second / "file" / "y").write_text("second")
        (second / "folder").write_text("second")
        (second / "link").write_text("second")
        outcome = shell(
            sandbox,
            "find . -type f | sort | while read p; do echo $p $(cat $p); done",
            cwd=TREE_DIR,
            copies=(Copy(source=first, target=TREE_DIR), Copy(source=second, target=TREE_DIR)),
        )
        assert text(outcome).splitlines() == [
            "./both/a first",
            "./both/b second",
            "./file/y second",
            "./folder second",
            "./link second",
        ]

    @pytest.mark.parametrize("obstacle", ["symlink", "dangling", "file", "folder", "nothing", "parent is a symlink"])
    def test_what_lies_at_a_mount_point_gives_way(self, sandbox: Sandbox, place: Path, obstacle: str) -> None:
        tree, modules, outside = place / "tree", place / "modules", place / "outside"
        for folder in (tree, modules, outside):
            folder.mkdir()
        (modules / "m").write_text("mounted")
        at = tree / "packages" / "a" / "node_modules"
        if obstacle == "parent is a symlink":
            (tree / "packages").symlink_to("/usr")
        else:
            at.parent.mkdir(parents=True)
            (at.parent / "kept").write_text("kept")
        if obstacle == "symlink":
            at.symlink_to(outside)
        elif obstacle == "dangling":
            at.symlink_to("/nowhere")
        elif obstacle == "file":
            at.write_text("in the way")
        elif obstacle == "folder":
            at.mkdir()
            (at / "hidden").write_text("hidden")
        outcome = shell(
            sandbox,
            "ls packages/a packages/a/node_modules; cat packages/a/node_modules/m",
            cwd=TREE_DIR,
            copies=(Copy(source=tree, target=TREE_DIR),),
            mounts=(Mount(source=modules, target=f"{TREE_DIR}/packages/a/node_modules"),),
        )
        kept = "" if obstacle == "parent is a symlink" else "kept\n"
        assert text(outcome) == f"packages/a:\n{kept}node_modules\n\npackages/a/node_modules:\nm\nmounted"
        assert list(outside.iterdir()) == []

    def test_a_copy_that_does_not_fit_is_an_error_and_no_verdict(self, sandbox: Sandbox, place: Path) -> None:
        (place / "big").write_bytes(b"x" * (20 << 20))
        with pytest.raises(SandboxUnavailableError, match="No space left on device; raise the limit disk_mb, now 8"):
            shell(
                sandbox,
                "true",
                copies=(Copy(source=place, target=TREE_DIR),),
                limits=Limits(seconds=30, disk_mb=8),
            )


class TestEnds:
    @pytest.mark.parametrize("code", [0, 1, 2, 77, 125, 126, 127])
    def test_the_exit_code_is_the_programs(self, sandbox: Sandbox, code: int) -> None:
        outcome = shell(sandbox, f"exit {code}")
        assert (outcome.ended, outcome.exit_code) == (Ended.EXITED, code)

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
    def test_a_signal_is_told(self, sandbox: Sandbox, number: int) -> None:
        outcome = shell(sandbox, f"kill -{int(number)} $$")
        assert (outcome.ended, outcome.exit_code) == (Ended.SIGNALLED, 128 + number)

    def test_a_missing_program_is_told_as_shells_do(self, sandbox: Sandbox) -> None:
        outcome = run(sandbox, "no-such-program")
        assert (outcome.ended, outcome.exit_code) == (Ended.EXITED, 127)
        assert "no-such-program" in text(outcome)

    def test_the_callers_umask_closes_nothing(self, sandbox: Sandbox, place: Path) -> None:
        (place / "data").mkdir()
        (place / "data" / "x").write_text("seen")
        before = os.umask(0o077)
        try:
            outcome = shell(
                sandbox,
                "cat x /opt/deep/er/x; touch new; stat -c %a new",
                cwd=TREE_DIR,
                copies=(Copy(source=place / "data", target=TREE_DIR),),
                mounts=(Mount(source=place / "data", target="/opt/deep/er"),),
            )
        finally:
            os.umask(before)
        assert text(outcome) == "seenseen644\n"

    def test_signals_have_their_usual_meaning(self, sandbox: Sandbox) -> None:
        outcome = shell(sandbox, "grep -E 'SigBlk|SigIgn' /proc/self/status; yes | head -n 1; umask")
        assert text(outcome).split() == ["SigBlk:", "0" * 16, "SigIgn:", "0" * 16, "y", "0022"]

    def test_signals_that_our_caller_ignores_have_their_usual_meaning_inside(self, sandbox: Sandbox) -> None:
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            outcome = shell(sandbox, "grep SigIgn /proc/self/status")
        finally:
            signal.signal(signal.SIGHUP, before)
        assert text(outcome).split() == ["SigIgn:", "0" * 16]

    def test_a_missing_mount_is_an_error_and_no_verdict(self, sandbox: Sandbox, place: Path) -> None:
        with pytest.raises(SandboxUnavailableError, match=r"nowhere.*No such file"):
            shell(sandbox, "true", mounts=(Mount(source=place / "nowhere", target="/opt/x"),))

    def test_a_missing_folder_is_an_error_and_no_verdict(self, sandbox: Sandbox) -> None:
        with pytest.raises(SandboxUnavailableError, match="could not be set up"):
            shell(sandbox, "true", cwd="/srv/case/nowhere")

    def test_time_is_up_for_everything_and_the_report_so_far_is_kept(self, sandbox: Sandbox) -> None:
        mark = f"casewright-suite-{os.getpid()}-{sandbox.name}"
        daemon = (
            "import os, signal, sys, time\n"
            "for number in range(1, 32):\n    if number not in (9, 19): signal.signal(number, signal.SIG_IGN)\n"
            "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
            "        time.sleep(600)\n    os._exit(0)\n"
            "os.write(3, b'so far\\n')\nprint('seen', flush=True)\ntime.sleep(600)\n"
        )
        outcome = python(sandbox, daemon, mark, report=True, limits=Limits(seconds=1, memory_mb=512, disk_mb=16))
        assert outcome.ended is Ended.TIMEOUT
        assert outcome.report == b"so far\n"
        assert text(outcome) == "seen\n"
        assert processes_with(mark) == []

    def test_a_daemon_does_not_outlive_the_program(self, sandbox: Sandbox) -> None:
        mark = f"casewright-suite-{os.getpid()}-daemon-{sandbox.name}"
        program = "import os, sys, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)\nsys.exit(3)"
        outcome = python(sandbox, program, mark)
        assert outcome.exit_code == 3
        assert processes_with(mark) == []

    def test_a_flood_of_output_is_stopped_and_its_ends_are_kept(self, sandbox: Sandbox) -> None:
        outcome = shell(sandbox, "echo first; yes", limits=Limits(seconds=60, output_mb=16, disk_mb=16))
        assert outcome.ended is Ended.OUTPUT_LIMIT
        assert outcome.output.startswith(b"first\ny\n")
        assert outcome.output_bytes > 16 << 20
        assert len(outcome.output) < 9 << 20

    def test_output_within_the_limit_is_counted(self, sandbox: Sandbox) -> None:
        outcome = shell(sandbox, "head -c 6M /dev/zero; echo the end >&2", limits=Limits(seconds=60, output_mb=16))
        assert (outcome.ended, outcome.exit_code) == (Ended.EXITED, 0)
        assert outcome.output_bytes == (6 << 20) + 8
        assert outcome.output.endswith(b"the end\n")

    def test_a_flood_of_reports_is_stopped(self, sandbox: Sandbox) -> None:
        outcome = shell(sandbox, "yes >&3", report=True, limits=Limits(seconds=60, output_mb=4, disk_mb=16))
        assert outcome.ended is Ended.OUTPUT_LIMIT


class TestReport:
    def test_by_descriptor_and_by_path(self, sandbox: Sandbox) -> None:
        outcome = shell(
            sandbox, "echo one >&3; echo two > /dev/fd/3; echo three > /proc/self/fd/3; echo out", report=True
        )
        assert outcome.report == b"one\ntwo\nthree\n"
        assert text(outcome) == "out\n"

    def test_a_long_report_arrives_whole(self, sandbox: Sandbox) -> None:
        outcome = shell(sandbox, "seq 1 200000 >&3", report=True)
        assert outcome.report.split() == [str(number).encode() for number in range(1, 200_001)]

    @pytest.mark.skipif(NODE is None, reason="node is not installed")
    def test_nodes_reporters_open_it_by_its_path(self, sandbox: Sandbox, place: Path) -> None:
        (place / "a.test.js").write_text("const test = require('node:test'); test('adds', () => {});")
        outcome = run(
            sandbox,
            *("node", "--test", "--test-reporter=tap", "--test-reporter-destination=/dev/fd/3", "a.test.js"),
            cwd=TREE_DIR,
            copies=(Copy(source=place, target=TREE_DIR),),
            report=True,
        )
        assert b"ok 1 - adds" in outcome.report

    def test_without_a_report_the_descriptor_is_closed(self, sandbox: Sandbox) -> None:
        assert shell(sandbox, "echo x >&3").exit_code != 0


class TestUse:
    def test_memory_of_one_process(self, sandbox: Sandbox) -> None:
        outcome = python(
            sandbox,
            "kept = []\nwhile True: kept.append(bytearray(b'x' * (16 << 20)))",
            limits=Limits(seconds=60, memory_mb=256, disk_mb=16),
        )
        assert outcome.ended is Ended.OUT_OF_MEMORY or "MemoryError" in text(outcome)
        assert outcome.peak_memory_kb < 600 << 10

    @pytest.mark.skipif(NODE is None, reason="node is not installed")
    @pytest.mark.parametrize("kept", ["new Array(1e6).fill(0).map(() => ({}))", "Buffer.alloc(32 << 20, 1)"])
    def test_memory_of_node(self, sandbox: Sandbox, kept: str) -> None:
        outcome = run(
            sandbox,
            *("node", "-e", f"const kept = []; for (;;) kept.push({kept})"),
            limits=Limits(seconds=60, memory_mb=512, disk_mb=16),
        )
        assert outcome.ended in {Ended.OUT_OF_MEMORY, Ended.SIGNALLED, Ended.EXITED}
        assert outcome.exit_code != 0
        assert outcome.peak_memory_kb < 1100 << 10

    def test_memory_of_children_adds_up(self, sandbox: Sandbox) -> None:
        outcome = python(
            sandbox,
            "import os, time\nfor _ in range(8):\n    if os.fork() == 0:\n        kept = b'x' * (100 << 20)\n"
            "        time.sleep(60)\ntime.sleep(60)",
            limits=Limits(seconds=60, memory_mb=300, disk_mb=16),
        )
        assert outcome.ended is Ended.OUT_OF_MEMORY
        assert outcome.exit_code == 128 + signal.SIGKILL

    def test_memory_that_forks_share_counts_once(self, sandbox: Sandbox) -> None:
        outcome = python(
            sandbox,
            "import os, time\nkept = b'x' * (100 << 20)\nfor _ in range(8):\n    if os.fork() == 0:\n"
            "        time.sleep(1)\n        os._exit(0)\ntime.sleep(1)\nprint('fine')",
            limits=Limits(seconds=60, memory_mb=300, disk_mb=16),
        )
        assert (outcome.ended, text(outcome)) == (Ended.EXITED, "fine\n")
        # On a busy machine a look may come between two of them.
        assert outcome.peak_memory_kb > 50 << 10

    def test_memory_without_a_process_counts(self, sandbox: Sandbox) -> None:
        outcome = python(
            sandbox,
            "import os, time\nfd = os.memfd_create('x')\n"
            "for _ in range(600): os.write(fd, bytes(1 << 20))\ntime.sleep(60)",
            limits=Limits(seconds=60, memory_mb=300, disk_mb=16),
        )
        assert outcome.ended is Ended.OUT_OF_MEMORY

    def test_shared_memory_is_bounded(self, sandbox: Sandbox) -> None:
        outcome = shell(
            sandbox, "head -c 900M /dev/zero > /dev/shm/x", limits=Limits(seconds=60, memory_mb=256, disk_mb=16)
        )
        assert "No space left" in text(outcome)

    def test_shared_memory_of_system_v_is_private_and_bounded(self, sandbox: Sandbox) -> None:
        program = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
got = 0
while got < 12 and libc.shmget(0, ctypes.c_size_t(100 << 20), 0o1600) >= 0:
    got += 1
print(got, len(open("/proc/sysvipc/shm").readlines()) - 1)
"""
        got, seen = text(python(sandbox, program, limits=Limits(seconds=60, memory_mb=512, disk_mb=16))).split()
        assert got == seen
        # An ordinary user can't set the bound of an IPC namespace.
        assert int(got) == (5 if os.getuid() == 0 else 12)

    def test_a_fork_bomb_is_bounded_by_each_sandbox_itself(self, sandbox: Sandbox) -> None:
        program = """
import os, sys, time
count = 0
try:
    while count < 500:
        if os.fork() == 0:
            time.sleep(1.5)
            os._exit(0)
        count += 1
except OSError:
    pass
print(count, flush=True)
time.sleep(1)
"""
        counts: list[int] = []
        limits = Limits(seconds=60, memory_mb=1024, processes=50, disk_mb=16)

        def bomb() -> None:
            counts.append(int(text(python(sandbox, program, limits=limits))))

        threads = [threading.Thread(target=bomb) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(counts) == 2
        assert all(40 <= count <= 50 for count in counts)

    def test_what_bounded_the_memory_is_told(self, sandbox: Sandbox) -> None:
        assert shell(sandbox, "true").memory_by == "rlimit-data and polled"


class TestSideBySide:
    def test_two_at_once_do_not_meet(self, sandbox: Sandbox) -> None:
        outputs: dict[str, str] = {}

        def work(name: str) -> None:
            outputs[name] = text(
                shell(
                    sandbox,
                    f"echo {name} > /tmp/x; echo {name} > /dev/shm/x; sleep 0.3; cat /tmp/x /dev/shm/x; ls /proc",
                )
            )

        threads = [threading.Thread(target=work, args=(name,)) for name in ("one", "two")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for name in ("one", "two"):
            assert outputs[name].split()[:2] == [name, name]
            assert sum(word.isdigit() for word in outputs[name].split()) <= 4

    def test_a_sandbox_outlives_the_thread_that_asked_for_the_first_one(self, sandbox: Sandbox) -> None:
        thread = threading.Thread(target=lambda: shell(sandbox, "true"))
        thread.start()
        thread.join()
        assert text(shell(sandbox, "sleep 0.2; echo alive")) == "alive\n"

    def test_start_up_cost(self, sandbox: Sandbox, capsys: pytest.CaptureFixture[str]) -> None:
        spent = []
        for _ in range(10):
            started = time.monotonic()
            shell(sandbox, "true")
            spent.append(time.monotonic() - started)
        with capsys.disabled():
            print(f"\n  {sandbox.name}: a start takes {min(spent) * 1000:.0f} ms at best")  # noqa: T201 - told, not judged


START = """
import signal, sys
from pathlib import Path
from execution.sandbox import *
from execution.sandboxes import SANDBOXES
# A shell without job control starts what runs in the background with interrupts ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
sandbox = SANDBOXES[sys.argv[1]]
script = "setsid sleep 600 & touch out/ready; sleep 600"
sandbox.run(SandboxRequest(argv=("sh", "-c", script, sys.argv[2]), cwd="/srv/case",
    mounts=(Mount(source=Path(sys.argv[3]), target="/srv/case/out", writable=True),),
    limits=Limits(disk_mb=16), report=True))
"""

START_AGAIN = """
import sys
from execution.sandbox import *
from execution.sandboxes import SANDBOXES
print("begun", flush=True)
while True:
    SANDBOXES[sys.argv[1]].run(SandboxRequest(argv=("sh", "-c", "sleep 0.01", sys.argv[2]), cwd="/srv/case"))
"""


class TestInterruption:
    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
    def test_nothing_is_left_when_casewright_ends(self, sandbox: Sandbox, place: Path, number: int) -> None:
        mark = f"casewright-suite-{os.getpid()}-{sandbox.name}-{int(number)}"
        mounts = Path("/proc/self/mountinfo").read_text()
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
        process = subprocess.Popen(
            [sys.executable, "-c", START, sandbox.name, mark, str(place)], env=environ, stderr=subprocess.DEVNULL
        )
        for _ in range(1000):
            if (place / "ready").exists():
                break
            time.sleep(0.01)
        assert len(processes_with(mark)) >= 2
        process.send_signal(number)
        process.wait()
        assert gone(mark)
        assert Path("/proc/self/mountinfo").read_text() == mounts

    def test_nothing_is_left_when_it_ends_while_a_sandbox_starts(self, sandbox: Sandbox) -> None:
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
        for step in range(8):
            mark = f"casewright-suite-{os.getpid()}-{sandbox.name}-start-{step}"
            process = subprocess.Popen(
                [sys.executable, "-c", START_AGAIN, sandbox.name, mark],
                env=environ,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(step * 0.011)
            process.kill()
            process.wait()
            process.stdout.close()
            assert gone(mark)


@pytest.mark.skipif(os.getuid() != 0, reason="this is the suite as an ordinary user, or it was not started by root")
def test_the_suite_as_an_ordinary_user() -> None:
    """An ordinary user's sandboxes are made in another way than root's: all of the above once more."""
    if AS_USER in os.environ or shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed")
    python = next((path for path in (sys.executable, "/usr/bin/python3") if _runs_for_the_user(path)), None)
    if python is None:
        pytest.skip("an ordinary user can't run this interpreter, and there is no other one")
    with tempfile.TemporaryDirectory(prefix="casewright-user-") as folder:
        os.chown(folder, USER_UID, USER_UID)
        outcome = subprocess.run(
            [*_as_user(python), "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", str(Path(__file__))],
            cwd=ROOT,
            env={**_user_environment(), "HOME": folder, "TMPDIR": folder, AS_USER: "1"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert outcome.returncode == 0, outcome.stdout[-6000:] + outcome.stderr[-2000:]
    assert " passed" in outcome.stdout


def _as_user(python: str) -> list[str]:
    # env stands between: what setpriv starts itself is looked up with root's power.
    return ["setpriv", f"--reuid={USER_UID}", f"--regid={USER_UID}", "--clear-groups", "env", python]


def _user_environment() -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "PYTHONPATH": os.pathsep.join([str(ROOT), *(path for path in sys.path if path.endswith("site-packages"))]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _runs_for_the_user(python: str) -> bool:
    check = "import sys, pytest, execution.sandbox; assert sys.version_info >= (3, 11)"
    try:
        return (
            subprocess.run(
                [*_as_user(python), "-c", check], env=_user_environment(), cwd=ROOT, capture_output=True, check=False
            ).returncode
            == 0
        )
    except OSError:
        return False
