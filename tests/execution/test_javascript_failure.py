"""What logs of failed installs mean; the excerpts are of installs that were run for this, with folders left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.languages.javascript_failure import (
    Failure,
    package_of_log,
    read_failure,
    remedy,
    telling_lines,
    way_round,
)

NPM_NOISE = b'npm warn Unknown env config "store-dir". This will stop working in the next major version of npm.\n'
NPM_END = b"npm error A complete log of this run can be found in: _logs/2026-12-01-debug-0.log\n"
ETARGET = (
    NPM_NOISE
    + b"npm error code ETARGET\nnpm error notarget No matching version found for vitest@999.0.0 with a date before.\n"
    + NPM_END
)
E404 = (
    b"npm error code E404\nnpm error 404 Not Found - GET example.org/no-such-thing\nnpm error 404\n"
    b"npm error 404 The requested resource 'no-such-thing@1' could not be found or you do not have permission.\n"
    + NPM_END
)
ERESOLVE = (
    b"npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\nnpm error Found: react@16.0.0\n"
)
STALE = (
    b"npm error code EUSAGE\nnpm error `npm ci` can only install packages when your package.json and package-lock.json"
    b" are in sync.\nnpm error Missing: left-pad@1.3.0 from lock file\n"
)
PNPM_STALE = (
    b'ERR_PNPM_OUTDATED_LOCKFILE Cannot install with "frozen-lockfile" because pnpm-lock.yaml is not up to date\n'
)
PNPM_404 = b"ERR_PNPM_FETCH_404  GET https://example.org/no-such-thing: Not Found - 404\n"
GIT_HOST = (
    b"npm error code 128\nnpm error An unknown git error occurred\n"
    b"npm error fatal: unable to access 'https://example.org/x.git/': Could not resolve host: example.org\n"
)
GYP = b"gyp info spawn make\ngyp ERR! stack Error: not found: make\n"
HEADER = b"../src/a.cc:1:10: fatal error: vips/vips8.h: No such file or directory\n"
ENGINE = (
    b'error box@1.0.0: The engine "node" is incompatible with this module. Expected version ">=99". Got "20.20.2"\n'
)


@pytest.mark.parametrize(
    ("log", "failure", "package", "helps"),
    [
        (ETARGET, Failure.NOTHING_THEN, "vitest@999.0.0", "by the commit's date"),
        (E404, Failure.OTHER, "no-such-thing@1", "setup.pass_env"),
        (ERESOLVE, Failure.PEERS, "", "different versions of one another"),
        (STALE, Failure.STALE_LOCK, "", "lock file"),
        (PNPM_STALE, Failure.STALE_LOCK, "", "lock file"),
        (PNPM_404, Failure.OTHER, "no-such-thing", "setup.pass_env"),
        (GIT_HOST, Failure.NETWORK, "", "network"),
        (b"npm error code ECONNREFUSED\n", Failure.NETWORK, "", "network"),
        (GYP, Failure.NEEDS_SYSTEM_PACKAGE, "", "apt install build-essential"),
        (HEADER, Failure.NEEDS_SYSTEM_PACKAGE, "", "apt install libvips-dev"),
        (ENGINE, Failure.RUNTIME_UNAVAILABLE, "", "node"),
        (b"", Failure.OTHER, "", "setup.commands"),
    ],
)
def test_failures_are_told_apart(log: bytes, failure: Failure, package: str, helps: str) -> None:
    assert read_failure(log) is failure
    assert package_of_log(log) == package
    assert helps in remedy(failure, log)


def test_what_stands_in_every_log_is_not_telling() -> None:
    told = telling_lines(ETARGET, 4)
    assert told.startswith("npm error code ETARGET | npm error notarget No matching version found for vitest@999.0.0")
    assert "complete log" not in told
    assert "Unknown env" not in told


@given(st.binary(max_size=300))
def test_any_log_is_read(log: bytes) -> None:
    assert remedy(read_failure(log), log)
    assert "\n" not in telling_lines(log, 4)
    package_of_log(log)


@pytest.mark.parametrize(
    ("asked", "command", "other"),
    [
        ("typescript@next.", "npm install -x", "npm install -x --no-save typescript@latest"),
        ("@a/b@canary with a date", "npm install -x", "npm install -x --no-save @a/b@latest"),
        ("typescript@next.", "npm install -x --no-save a@latest", ""),
        ("typescript@^5.0.", "npm install -x", ""),
        ("typescript@5.0.1.", "npm install -x", ""),
        ("typescript@next.", "npx --yes pnpm install", ""),
    ],
)
def test_a_tag_that_is_gone_stands_for_the_newest_release(asked: str, command: str, other: str) -> None:
    log = f"npm error code ETARGET\nnpm error notarget No matching version found for {asked}\n".encode()
    assert read_failure(log) is Failure.NOTHING_THEN
    assert way_round(Failure.NOTHING_THEN, command, command, log) == other
    assert way_round(Failure.NOTHING_THEN, command, "npm loose", log) == "npm loose"
