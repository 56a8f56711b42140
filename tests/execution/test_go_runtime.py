"""Toolchains: which one serves a module at a date, and what of it a sandbox is shown."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from execution.languages.base import Refusal
from execution.languages.go_runtime import choose, find_exactly, installed, passed_over, released, runtime_mounts
from execution.recipe import Runtime
from execution.sandbox import RUNTIME_DIR


def _runtime(version: str, prefix: str = "/opt/somewhere") -> Runtime:
    return Runtime(name="go", version=version, executable=Path(prefix, "bin/go"), prefix=Path(prefix))


_HERE = tuple(map(_runtime, ("1.17.13", "1.19.8", "1.21.0", "1.21.13", "1.22.1", "1.24.2")))


def _chosen(date: str, *, needed: str = "", toolchain: str = "", asked: str = "") -> str:
    seconds = int(datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp())
    found = choose(_HERE, needed=needed, toolchain=toolchain, asked=asked, date=seconds)
    return f"{found.code}: {found.detail}" if isinstance(found, Refusal) else found[0].version


@pytest.mark.parametrize(
    ("date", "needed", "toolchain", "asked", "version"),
    [
        ("2023-01-15", "1.16", "", "", "1.19.8"),
        # A release of this month is not used yet.
        ("2023-08-15", "1.16", "", "", "1.19.8"),
        ("2023-12-15", "1.16", "", "", "1.21.13"),
        ("2024-06-01", "1.21", "1.21.0", "", "1.21.0"),
        ("2024-06-01", "1.21", "1.21.9", "", "1.22.1"),
        # Older than all that will do: the oldest of them, with its fixes.
        ("2018-01-01", "1.13", "", "", "1.17.13"),
        ("2023-02-01", "1.20", "", "", "1.21.13"),
        ("2023-02-01", "1.21.5", "", "", "1.21.13"),
        ("2023-02-01", "1.21rc2", "", "", "1.21.13"),
        ("2026-01-01", "", "", "", "1.24.2"),
        ("2026-01-01", "1.16", "", "1.19", "1.19.8"),
        ("2026-01-01", "1.16", "", "go1.21.0", "1.21.0"),
    ],
)
def test_the_choice(date: str, needed: str, toolchain: str, asked: str, version: str) -> None:
    assert _chosen(date, needed=needed, toolchain=toolchain, asked=asked) == version


def test_what_is_not_here_is_named_with_what_is() -> None:
    told = _chosen("2026-01-01", needed="1.25")
    assert told.startswith("runtime-unavailable: ")
    assert "1.25 or later" in told
    assert "1.24.2" in told
    assert _chosen("2026-01-01", asked="1.18").startswith("runtime-unavailable")
    nothing = choose((), needed="1.16", toolchain="", asked="", date=0)
    assert isinstance(nothing, Refusal)
    assert nothing.detail.endswith("are: none")


def test_what_was_passed_over_says_why() -> None:
    date = int(datetime(2023, 12, 15, tzinfo=UTC).timestamp())
    here = sorted(_HERE, key=lambda runtime: runtime.version, reverse=True)
    assert passed_over(here, _runtime("1.21.13"), needed="1.18", asked="", date=date) == (
        "1.24.2: had not settled at the date",
        "1.22.1: had not settled at the date",
        "1.21.0: go 1.21.13 goes first",
        "1.19.8: go 1.21.13 goes first",
        "1.17.13: older than 1.18, which go.mod asks for",
    )
    assert passed_over(here[-1:], _runtime("1.19.8"), needed="", asked="1.19", date=0) == (
        "1.17.13: go 1.19 is asked for",
    )


def test_when_releases_came_out() -> None:
    months = {
        version: datetime.fromtimestamp(released(version), UTC).strftime("%Y-%m") for version in ("1.14", "1.21.3")
    }
    assert months == {"1.14": "2020-02", "1.21.3": "2023-08"}


def test_a_toolchain_is_shown_whole_in_one_place() -> None:
    (mount,) = runtime_mounts(_runtime("1.22.1"))
    assert (str(mount.source), mount.target, mount.writable) == ("/opt/somewhere", RUNTIME_DIR, False)


@pytest.mark.skipif(not installed(), reason="no Go toolchain is on this machine")
def test_the_toolchains_of_this_machine() -> None:
    for runtime in installed():
        assert runtime.name == "go"
        assert runtime.executable.is_file()
        assert find_exactly(runtime.version) == runtime
    assert find_exactly("1.0.99") is None
