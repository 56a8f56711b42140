"""What set-up with network needs of the host: proxies, certificate authorities, and where packages come from.

An allow-list crosses, nothing else: a token in the environment, a home folder or a configuration file of the user never
does. Files that a variable names are mounted read-only at a constant path, index settings are reduced to one address
each without credentials. Further variables cross when ``setup.pass_env`` of ``casewright.yaml`` names them. Values are
blanked in what a run with network prints, and a run of tests never gets them.
"""

from __future__ import annotations

import configparser
import dataclasses
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from execution.sandbox import Mount, SandboxRequest

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
# Each tool has its own name for the same file.
AUTHORITIES = (
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
    *("GIT_SSL_CAINFO", "CARGO_HTTP_CAINFO", "NIX_SSL_CERT_FILE", "YARN_HTTPS_CA_FILE_PATH", "npm_config_cafile"),
)
GO_PROXY = "GOPROXY"
PYTHON_INDEX, NODE_INDEX = ("UV_DEFAULT_INDEX", "PIP_INDEX_URL"), ("npm_config_registry", "YARN_NPM_REGISTRY_SERVER")
AUTHORITIES_DIR = "/opt/casewright/authorities"
# Words of ordinary output in a list of proxies.
_PUBLIC_PROXIES = frozenset({"direct", "off"})
# Shorter values would blank innocent words.
LEAST_HIDDEN = 6
# Variables that say nothing of anybody, and whose values are words of ordinary output.
HARMLESS = ("LANG", "LANGUAGE", "TERM", "TZ", "LC_ALL", "LC_CTYPE")


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkSettings:
    """What is added to a request: variables, and the files that they name."""

    env: Mapping[str, str]
    mounts: tuple[Mount, ...]


def with_network(request: SandboxRequest, pass_env: tuple[str, ...] = ()) -> SandboxRequest:
    """Return a request with network and what the network needs here; its own variables win."""
    settings = network_settings(pass_env)
    return dataclasses.replace(
        request, network=True, env={**settings.env, **request.env}, mounts=(*request.mounts, *settings.mounts)
    )


def network_settings(
    pass_env: tuple[str, ...] = (), environ: Mapping[str, str] | None = None, home: Path | None = None
) -> NetworkSettings:
    """Read the host's settings. ``environ`` and ``home`` are ours unless given."""
    host = dict(os.environ if environ is None else environ)
    place = Path.home() if home is None else home
    env = {name: host[name] for base in PROXIES for name in (base, base.upper()) if host.get(name)}
    mounts = []
    for name in AUTHORITIES:
        source = Path(host.get(name) or "/nowhere").absolute()
        if not source.exists():
            continue
        if _is_shown(source):
            env[name] = str(source)
        else:
            env[name] = f"{AUTHORITIES_DIR}/{name}"
            mounts.append(Mount(source=source, target=env[name]))
    index, registry = python_index(host, place), node_registry(host, place)
    env |= dict.fromkeys(PYTHON_INDEX, index) if index else {}
    env |= dict.fromkeys(NODE_INDEX, registry) if registry else {}
    proxies = go_proxy(host, place)
    env |= {GO_PROXY: proxies} if proxies else {}
    env |= {name: host[name] for name in pass_env if name in host}
    return NetworkSettings(env=env, mounts=tuple(mounts))


def network_env(pass_env: tuple[str, ...] = ()) -> Mapping[str, str]:
    """Return the variables of ``network_settings`` alone."""
    return network_settings(pass_env).env


def _is_shown(path: Path) -> bool:
    """Whether every sandbox shows this path as it is on the host."""
    return any(
        path.is_relative_to(folder) for folder in ("/usr", "/etc/ssl/certs", "/etc/pki/tls", "/etc/pki/ca-trust")
    )


def python_index(environ: Mapping[str, str], home: Path) -> str:
    """Return the one package index that the user set for uv or pip, without credentials; empty for the public one.

    Extra indexes don't cross: a package of the same name in one of them would change what a date pins.
    """
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    found = [environ.get(name, "") for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")]
    found += [_uv_index(path) for path in (config / "uv" / "uv.toml", Path("/etc/uv/uv.toml"))]
    pip = [Path(environ["PIP_CONFIG_FILE"])] if environ.get("PIP_CONFIG_FILE") else []
    pip += [config / "pip" / "pip.conf", home / ".pip" / "pip.conf", Path("/etc/pip.conf")]
    found += [_pip_index(path) for path in pip]
    return next((without_credentials(address) for address in found if address), "")


def node_registry(environ: Mapping[str, str], home: Path) -> str:
    """Return the npm registry that the user set, without credentials; empty for the public one."""
    found = [environ.get(name, "") for name in ("npm_config_registry", "NPM_CONFIG_REGISTRY")]
    for path in (home / ".npmrc", Path("/etc/npmrc")):
        lines = (line.partition("=") for line in _text(path).splitlines())
        found += [value.strip().strip("\"'") for name, _, value in lines if name.strip() == "registry"]
    return next((without_credentials(address) for address in found if address), "")


def go_proxy(environ: Mapping[str, str], home: Path) -> str:
    """Return the module proxies that the user set for Go, without credentials; empty for the public ones.

    A folder of the host (``file://``) does not cross. The separators stay: ``,`` and ``|`` mean different things.
    """
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    place = Path(environ.get("GOENV") or config / "go" / "env")
    lines = (line.partition("=") for line in _text(place).splitlines())
    found = environ.get(GO_PROXY) or next((value.strip() for name, _, value in lines if name == GO_PROXY), "")
    parts = re.findall(r"([^,|]+)([,|]?)", found)
    kept = [without_credentials(address.strip()) + end for address, end in parts if not address.startswith("file:")]
    return "".join(kept).rstrip(",|")


def _uv_index(path: Path) -> str:
    try:
        settings = tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError:
        return ""
    indexes = settings.get("index", [])
    default = [entry["url"] for entry in indexes if isinstance(entry, dict) and entry.get("default") and "url" in entry]
    return str(default[0] if default else settings.get("index-url", ""))


def _pip_index(path: Path) -> str:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(_text(path))
    except configparser.Error:
        return ""
    values = (parser.get(section, "index-url", fallback="") for section in ("install", "global"))
    return next((value.strip() for value in values if value.strip()), "")


def _text(path: Path) -> str:
    # A user's configuration that can't be read says nothing: the tools would not read it either.
    return path.read_text("utf-8", "replace") if path.is_file() and os.access(path, os.R_OK) else ""


def without_credentials(address: str) -> str:
    """Return an address without user name and password."""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def hidden(env: Mapping[str, str], environ: Mapping[str, str] | None = None) -> tuple[bytes, ...]:
    """Return what may not be seen of a run with network: values that came from the host, and hosts in them.

    Longest first, so that a part does not break up the whole.
    """
    host = os.environ if environ is None else environ
    found = set()
    for name, value in env.items():
        of_network = name.lower() in PROXIES[:3] or name in (*PYTHON_INDEX, *NODE_INDEX)
        if of_network:
            found |= set(_address_parts(value))
        elif name == GO_PROXY:
            found |= {
                part for address in re.split(r"[,|]", value) for part in _address_parts(address)
            } - _PUBLIC_PROXIES
        elif value == host.get(name) and name not in (*AUTHORITIES, *HARMLESS) and not value.startswith("/"):
            found.add(value)
    return tuple(sorted((os.fsencode(value) for value in found if len(value) >= LEAST_HIDDEN), key=len, reverse=True))


def _address_parts(address: str) -> Iterator[str]:
    yield address
    parts = urlsplit(address)
    yield parts.netloc
    yield from (part for part in (parts.username, parts.password, parts.hostname) if part and part != "localhost")


def blank(content: bytes, words: tuple[bytes, ...]) -> bytes:
    """Replace words that may not be seen."""
    if not words:
        return content
    return re.sub(b"|".join(map(re.escape, words)), b"[hidden]", content)
