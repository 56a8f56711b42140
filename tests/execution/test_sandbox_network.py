"""What crosses into a sandbox with network, and what is blanked of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.sandbox import CASE_DIR, Limits, SandboxRequest
from execution.sandboxes import SANDBOXES
from execution.sandboxes.network import blank, hidden, network_settings, with_network, without_credentials


def test_only_the_allow_list_crosses(tmp_path: Path) -> None:
    settings = network_settings(
        environ={
            "HTTPS_PROXY": "http://proxy.example:3128",
            "GITHUB_TOKEN": "x",
            "AWS_SECRET_ACCESS_KEY": "y",
            "HOME": "/z",
        },
        home=tmp_path,
    )
    assert settings.env == {"HTTPS_PROXY": "http://proxy.example:3128"}
    assert settings.mounts == ()


def test_what_the_user_names_crosses_too(tmp_path: Path) -> None:
    settings = network_settings(("MY_INDEX_KEY", "UNSET"), environ={"MY_INDEX_KEY": "k"}, home=tmp_path)
    assert settings.env == {"MY_INDEX_KEY": "k"}


def test_certificates_cross_at_a_constant_path(tmp_path: Path) -> None:
    (tmp_path / "own.pem").write_text("pem")
    settings = network_settings(
        environ={
            "SSL_CERT_FILE": str(tmp_path / "own.pem"),
            "PIP_CERT": "/usr/bin/env",
            "CURL_CA_BUNDLE": "/nowhere/x",
        },
        home=tmp_path,
    )
    assert settings.env == {"SSL_CERT_FILE": "/opt/casewright/authorities/SSL_CERT_FILE", "PIP_CERT": "/usr/bin/env"}
    assert [(mount.source, mount.target, mount.writable) for mount in settings.mounts] == [
        (tmp_path / "own.pem", "/opt/casewright/authorities/SSL_CERT_FILE", False)
    ]


@pytest.mark.parametrize(
    ("file", "content"),
    [
        (
            ".config/pip/pip.conf",
            "[global]\nindex-url = https://me:secret@mirror.example/simple\nextra-index-url = https://x.example\n",
        ),
        (".pip/pip.conf", "[install]\nindex-url=https://me:secret@mirror.example/simple\n"),
        (".config/uv/uv.toml", '[[index]]\nurl = "https://me:secret@mirror.example/simple"\ndefault = true\n'),
        (".config/uv/uv.toml", 'index-url = "https://me:secret@mirror.example/simple"\n'),
    ],
)
def test_one_index_without_credentials(tmp_path: Path, file: str, content: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(content)
    env = network_settings(environ={}, home=tmp_path).env
    assert env == dict.fromkeys(("UV_DEFAULT_INDEX", "PIP_INDEX_URL"), "https://mirror.example/simple")


def test_the_registry_of_npm_without_its_token(tmp_path: Path) -> None:
    (tmp_path / ".npmrc").write_text("registry = https://npm.example/\n//npm.example/:_authToken=secret\n")
    env = network_settings(environ={}, home=tmp_path).env
    assert env["npm_config_registry"] == "https://npm.example/"
    assert "secret" not in str(env)


@pytest.mark.parametrize("content", ["", "not = [toml", "[global\nindex-url", "\x00\xff"])
def test_configuration_that_is_damaged_says_nothing(tmp_path: Path, content: str) -> None:
    for file in (".config/pip/pip.conf", ".config/uv/uv.toml", ".npmrc"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(content, "latin-1")
    assert network_settings(environ={}, home=tmp_path).env == {}


def test_values_and_their_parts_are_blanked() -> None:
    env = {
        "https_proxy": "http://me:secret@proxy.example:3128",
        "PLAIN": "a-plain-value",
        "KEY": "taken-over",
        "CI": "1",
    }
    words = hidden(env, environ={"KEY": "taken-over", "CI": "1"})
    said = b"via http://me:secret@proxy.example:3128, proxy.example:3128, secret; taken-over a-plain-value 1"
    assert blank(said, words) == b"via [hidden], [hidden]:3128, [hidden]; [hidden] a-plain-value 1"


@given(st.from_regex(r"https?://([a-z]+(:[a-z0-9]*)?@)?[a-z]+\.example(:[0-9]+)?/[a-z/]*", fullmatch=True))
def test_no_credentials_are_left(address: str) -> None:
    clean = without_credentials(address)
    assert "@" not in clean
    assert clean.partition("://")[2].partition("/")[2] == address.partition("://")[2].partition("/")[2]


@pytest.mark.parametrize("name", sorted(SANDBOXES))
def test_a_run_with_network_does_not_print_them(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sandbox = SANDBOXES[name]
    if (why := sandbox.unavailable()) is not None:
        pytest.skip(why)
    (tmp_path / "own.pem").write_text("authority")
    monkeypatch.setenv("HTTPS_PROXY", "http://me:secret-word@proxy.example:3128")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "own.pem"))
    request = SandboxRequest(
        argv=("sh", "-c", 'echo "$HTTPS_PROXY"; echo "$HTTPS_PROXY" >&3; cat "$SSL_CERT_FILE"'),
        cwd=CASE_DIR,
        limits=Limits(seconds=30, disk_mb=16),
        report=True,
    )
    outcome = sandbox.run(with_network(request))
    assert outcome.output == b"[hidden]\nauthority"
    assert outcome.report == b"[hidden]\n"
    assert sandbox.run(request).output.splitlines()[0] == b""
