"""Which sandbox is taken, what is said when none works, and what the probe makes of its attempts."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass

import pytest

from casewright.errors import SandboxUnavailableError, UsageError
from execution import sandboxes
from execution.sandbox import CASE_DIR, Ended, Sandbox, SandboxOutcome, SandboxRequest
from execution.sandboxes import SANDBOXES, choose
from execution.sandboxes.launcher import LAUNCHER
from execution.sandboxes.reach import read_attempts, try_to_reach_out


@dataclass(frozen=True, kw_only=True, slots=True)
class Stand:
    """A sandbox of the test."""

    name: str
    why: str | None = None
    output: bytes = b""

    def unavailable(self) -> str | None:
        return self.why

    def run(self, request: SandboxRequest) -> SandboxOutcome:
        assert not request.network
        return SandboxOutcome(
            ended=Ended.EXITED,
            exit_code=0 if self.output else 1,
            output=self.output,
            output_bytes=len(self.output),
            report=b"",
            milliseconds=1,
            peak_memory_kb=1,
            memory_by="nothing",
        )


def use(monkeypatch: pytest.MonkeyPatch, *stands: Stand) -> None:
    monkeypatch.setattr(sandboxes, "SANDBOXES", {stand.name: stand for stand in stands})


def test_the_first_that_works_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Stand(name="one", why="blocked"), Stand(name="two"), Stand(name="three"))
    assert choose().name == "two"
    assert choose("three").name == "three"


def test_all_reasons_are_told_when_none_works(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Stand(name="one", why="not installed"), Stand(name="two", why="refused"))
    with pytest.raises(SandboxUnavailableError) as caught:
        choose()
    assert str(caught.value) == "no sandbox works here (one: not installed; two: refused); run `casewright doctor`"
    with pytest.raises(SandboxUnavailableError, match=r"\(two: refused\)"):
        choose("two")


def test_an_unknown_name_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match="there is no sandbox docker; take one of bubblewrap, unshare"):
        choose("docker")


def test_one_attempt_that_gets_through_is_no_denial() -> None:
    seen = read_attempts("x", {"TCP a": "refused", "DNS b": None})
    assert (seen.denied, seen.detail) == (False, "got through: DNS b")
    assert read_attempts("x", {"TCP a": "refused", "DNS b": "unknown"}).detail == "TCP a: refused; DNS b: unknown"


def test_a_probe_that_did_not_run_shows_nothing() -> None:
    with pytest.raises(SandboxUnavailableError, match="the network probe in x ended with 1: no output"):
        try_to_reach_out(Stand(name="x"))


def test_a_sandbox_with_network_fails_the_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = next((sandbox for sandbox in SANDBOXES.values() if sandbox.unavailable() is None), None)
    if backend is None:
        pytest.skip("no sandbox works here")

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Leaking:
        inner: Sandbox
        name: str = "leaking"

        def unavailable(self) -> str | None:
            return None

        def run(self, request: SandboxRequest) -> SandboxOutcome:
            return self.inner.run(
                SandboxRequest(argv=request.argv, cwd=request.cwd, mounts=request.mounts, network=True)
            )

    seen = try_to_reach_out(Leaking(inner=backend))
    assert not seen.denied
    assert "TCP to the host's loopback" in seen.detail


@pytest.mark.parametrize("name", sorted(SANDBOXES))
def test_stopping_all_sandboxes_is_no_verdict(name: str) -> None:
    sandbox = SANDBOXES[name]
    if (why := sandbox.unavailable()) is not None:
        pytest.skip(why)
    started = threading.Event()
    errors: list[BaseException] = []

    def work() -> None:
        started.set()
        try:
            sandbox.run(SandboxRequest(argv=("sleep", "600"), cwd=CASE_DIR))
        except SandboxUnavailableError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    while thread.is_alive():
        LAUNCHER.stop_all()
        thread.join(0.05)
    assert len(errors) == 1


@pytest.mark.parametrize("name", sorted(SANDBOXES))
def test_no_descriptor_is_left_open(name: str) -> None:
    sandbox = SANDBOXES[name]
    if (why := sandbox.unavailable()) is not None:
        pytest.skip(why)
    request = SandboxRequest(argv=("true",), cwd=CASE_DIR, report=True)
    sandbox.run(request)
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - only counted
    for _ in range(3):
        sandbox.run(request)
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208 - only counted
