"""What holds for every test: a cache of its own, and never a look at the user's real one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from casewright.store import CACHE_VARIABLE
from tests.support.command_line import CommandLine

# Some are set where tests run; none may decide an outcome.
_SETTINGS = (
    *("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS", "LINES"),
    *("GITHUB_TOKEN", "GH_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"),
    *("GH_HOST", "GITHUB_SERVER_URL", "GITHUB_API_URL"),
)


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep everything that a test stores out of the user's cache; one folder serves the whole run."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_VARIABLE, str(folder))
        # Whoever looks for the user's own folders all the same finds an empty home.
        home = tmp_path_factory.mktemp("home")
        for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
            patch.setenv(name, str(home / name.lower()))
        for name in _SETTINGS:
            patch.delenv(name, raising=False)
        yield folder


@pytest.fixture(autouse=True)
def the_real_cache_stays_untouched() -> Iterator[None]:
    """Fail a test that has made the folder which casewright would use for this user."""
    place = Path(os.path.expanduser("~"), ".cache", "casewright")  # noqa: PTH111 - HOME itself is not changed by us
    before = place.exists()
    yield
    assert place.exists() == before, f"a test made {place}"


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> CommandLine:
    """The command line, run in this process: ``cli("check", "x.json") == Ran(1, "", "error: ...")``."""
    return CommandLine(capfd)
