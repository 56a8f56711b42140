"""Folders of packages for npm, Go and cargo: each has its registry on loopback, and then none.

What is filled was set up once more from the folder with the network denied, so a folder that is given is the proof.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import http.server
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from authoring.package_folder import filled_folder, kept_folder
from casewright.errors import InfrastructureError
from execution.languages import javascript, javascript_offline
from execution.languages.go_runtime import installed as installed_go
from execution.languages.javascript_runtime import find_node
from execution.languages.rust_toolchain import installed_toolchains
from execution.sandboxes import choose
from tests.support.bench import a_bench, a_case
from tests.support.repos import Entry
from tests.support.sandbox import needs_sandbox

pytestmark = needs_sandbox
Answer = Callable[[str], bytes | None]


@contextmanager
def answering(answer: Callable[[str, str], bytes | None]) -> Iterator[tuple[str, list[str]]]:
    """Serve what ``answer`` gives for (our address, a path); give the address and the list of what was asked."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = answer(f"http://{self.headers['Host']}", self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()


def packed(files: Mapping[str, str]) -> bytes:
    """Return a gzipped tar archive."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return gzip.compress(target.getvalue(), mtime=0)


TINY = packed(
    {
        "package/package.json": '{"name": "tiny", "version": "1.0.0", "main": "index.js"}',
        "package/index.js": "module.exports = 7\n",
    }
)


def npm_registry(address: str, path: str) -> bytes | None:
    if path == "/tiny":
        version = {"name": "tiny", "version": "1.0.0", "dist": {"tarball": f"{address}/tiny/-/tiny-1.0.0.tgz"}}
        return json.dumps({"name": "tiny", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}).encode()
    return TINY if path.endswith("/tiny-1.0.0.tgz") else None


def npm_files(address: str, integrity: str) -> dict[str | bytes, Entry]:
    manifest = {"name": "box", "version": "1.0.0", "dependencies": {"tiny": "^1.0.0"}}
    locked = {"version": "1.0.0", "resolved": f"{address}/tiny/-/tiny-1.0.0.tgz", "integrity": integrity}
    lock = {
        "name": "box",
        "version": "1.0.0",
        "lockfileVersion": 3,
        "requires": True,
        "packages": {"": manifest, "node_modules/tiny": locked},
    }
    return {"package.json": json.dumps(manifest), "package-lock.json": json.dumps(lock)}


NPM_SET_UP = ["npm ci --ignore-scripts --no-audit --no-fund", "test $(node -p 'require(\"tiny\")') = 7"]
needs_node = pytest.mark.skipif(find_node() is None, reason="no node is on this machine")


def integrity(data: bytes) -> str:
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()


@needs_node
def test_npm_installs_its_lock_file_from_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = find_node()
    assert node is not None
    with answering(npm_registry) as (address, asked):
        monkeypatch.setenv("npm_config_registry", address)
        with a_bench(tmp_path, npm_files(address, integrity(TINY))) as bench:
            case = a_case(bench.repo, NPM_SET_UP, "javascript", ("node", node.version))
            with filled_folder(case, bench.repository, choose(), bench.store) as filled:
                assert any("content-v2" in path for path in filled.folder.manifest.files)
                assert not any("_logs" in path for path in filled.folder.manifest.files)
            count = len(asked)
            assert any(path.endswith(".tgz") for path in asked)
            with kept_folder(case, bench.store) as kept:
                assert kept.manifest.variables["npm_config_offline"] == "true"
            assert len(asked) == count


@needs_node
def test_a_tarball_that_is_not_the_locked_one_fills_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = find_node()
    assert node is not None
    with answering(npm_registry) as (address, _):
        monkeypatch.setenv("npm_config_registry", address)
        with a_bench(tmp_path, npm_files(address, integrity(b"another"))) as bench:
            case = a_case(bench.repo, NPM_SET_UP, "javascript", ("node", node.version))
            filling = filled_folder(case, bench.repository, choose(), bench.store)
            with pytest.raises(InfrastructureError, match="EINTEGRITY"), filling:
                pass
            assert list((bench.store.root / "packages").iterdir()) == []


def test_offline_no_registry_is_asked_for_a_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASEWRIGHT_CACHE_DIR", str(tmp_path))
    with answering(npm_registry) as (address, asked):
        monkeypatch.setenv("npm_config_registry", address)
        assert javascript.runtime_at_hand("18.99.0") is None
        assert asked == []
    node = find_node()
    assert node is None or javascript.runtime_at_hand(node.version) == node


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("npm ci", set()),
        ("npx --yes pnpm@9.15.9 install", {"npm_config_store_dir", "npm_config_cache_dir"}),
        ("npx yarn@1.22.22 install", {"YARN_CACHE_FOLDER"}),
        ("(cd web && npx --yes bun@1.1.0 install)", {"BUN_INSTALL_CACHE_DIR"}),
        (
            "YARN_NODE_LINKER=node-modules npx --yes @yarnpkg/cli-dist@4.1.0 install",
            {"YARN_CACHE_FOLDER", "YARN_ENABLE_GLOBAL_CACHE", "YARN_ENABLE_TELEMETRY", "YARN_ENABLE_NETWORK"},
        ),
    ],
)
def test_only_the_manager_that_is_asked_for_is_told_of_the_folder(command: str, names: set[str]) -> None:
    plan = javascript_offline.package_plan((command,), "0" * 40)
    always = {"npm_config_cache", "npm_config_offline", "npm_config_update_notifier"}
    assert plan.variables.keys() - always == names
    assert "npm_config_offline" not in plan.filling_env


MOD = "module example.com/words\n\ngo 1.14\n"
WORDS = {"go.mod": MOD, "words.go": 'package words\n\nfunc Hello() string { return "hello" }\n'}


def go_proxy(_address: str, path: str) -> bytes | None:
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        for name, text in WORDS.items():
            archive.writestr(f"example.com/words@v1.0.0/{name}", text)
    answers = {"info": b'{"Version":"v1.0.0"}', "mod": MOD.encode(), "zip": zipped.getvalue()}
    prefix = "/example.com/words/@v/v1.0.0."
    return answers.get(path.removeprefix(prefix)) if path.startswith(prefix) else None


def go_sum() -> str:
    """Return the lines of ``go.sum``: a digest over the digests of the files, sorted by name."""

    def digest(files: Mapping[str, str]) -> str:
        lines = "".join(
            f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in sorted(files.items())
        )
        return "h1:" + base64.b64encode(hashlib.sha256(lines.encode()).digest()).decode()

    whole = digest({f"example.com/words@v1.0.0/{name}": text for name, text in WORDS.items()})
    return f"example.com/words v1.0.0 {whole}\nexample.com/words v1.0.0/go.mod {digest({'go.mod': MOD})}\n"


@pytest.mark.skipif(not installed_go(), reason="no Go toolchain is on this machine")
def test_go_takes_its_modules_from_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files: dict[str | bytes, Entry] = {
        "go.mod": "module example.com/calc\n\ngo 1.14\n\nrequire example.com/words v1.0.0\n",
        "go.sum": go_sum(),
        "calc.go": 'package calc\n\nimport "example.com/words"\n\nvar Greeting = words.Hello()\n',
    }
    places = 'GOMODCACHE="$PWD/../env/modules" GOCACHE="$PWD/../env/build" GOTOOLCHAIN=local GOSUMDB=off'
    setup = [
        "mkdir -p ../env",
        f"GOFLAGS=-modcacherw {places} go mod download",
        f"GOFLAGS=-modcacherw {places} go build ./...",
    ]
    with answering(go_proxy) as (address, asked), a_bench(tmp_path, files) as bench:
        monkeypatch.setenv("GOPROXY", address)
        case = a_case(bench.repo, setup, "go", ("go", installed_go()[-1].version))
        with filled_folder(case, bench.repository, choose(), bench.store) as filled:
            assert "go/example.com/words/@v/v1.0.0.zip" in filled.folder.manifest.files
        assert any(path.endswith(".zip") for path in asked)


CRATE = packed(
    {
        "seven-0.1.0/Cargo.toml": '[package]\nname = "seven"\nversion = "0.1.0"\nedition = "2021"\n',
        "seven-0.1.0/src/lib.rs": "pub fn seven() -> i32 {\n    7\n}\n",
    }
)
SUM = hashlib.sha256(CRATE).hexdigest()


def crates(address: str, path: str) -> bytes | None:
    facts = {"name": "seven", "vers": "0.1.0", "deps": [], "features": {}, "yanked": False, "cksum": SUM}
    return {
        "/index/config.json": json.dumps({"dl": f"{address}/crates"}).encode(),
        "/index/se/ve/seven": json.dumps(facts).encode() + b"\n",
        "/crates/seven/0.1.0/download": CRATE,
    }.get(path)


@pytest.mark.skipif(
    not any("-" not in one.version for one in installed_toolchains()), reason="no Rust toolchain is on this machine"
)
def test_cargo_finds_its_crates_laid_beside_the_clone(tmp_path: Path) -> None:
    toolchain = next(one for one in installed_toolchains() if "-" not in one.version)
    source = "registry+https://github.com/rust-lang/crates.io-index"
    with answering(crates) as (address, asked):
        files: dict[str | bytes, Entry] = {
            "Cargo.toml": '[package]\nname = "boxes"\nversion = "0.1.0"\n[dependencies]\nseven = "0.1"\n',
            "Cargo.lock": (
                'version = 3\n\n[[package]]\nname = "boxes"\nversion = "0.1.0"\ndependencies = [\n "seven",\n]\n\n'
                f'[[package]]\nname = "seven"\nversion = "0.1.0"\nsource = "{source}"\nchecksum = "{SUM}"\n'
            ),
            "src/lib.rs": "pub fn days() -> i32 {\n    seven::seven()\n}\n",
            ".cargo/config.toml": (
                f'[source.crates-io]\nreplace-with = "here"\n[source.here]\nregistry = "sparse+{address}/index/"\n'
            ),
        }
        fetch = 'CARGO_HOME="$PWD/../env/cargo" cargo fetch --locked'
        with a_bench(tmp_path, files) as bench:
            case = a_case(bench.repo, [fetch], "rust", ("rust", toolchain.version))
            with filled_folder(case, bench.repository, choose(), bench.store) as filled:
                assert any(path.endswith("seven-0.1.0.crate") for path in filled.folder.manifest.files)
                assert filled.folder.manifest.laid == {"cargo": "../env/cargo"}
        assert "/crates/seven/0.1.0/download" in asked
