"""The language as a whole: which files it takes, its plan, its commands, its set-up's failures."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from casewright.errors import InfrastructureError
from execution.languages import go, go_failure
from execution.languages.base import Language, PlanRequest, Refusal
from execution.recipe import Recipe, Runtime
from execution.sandbox import Ended, SandboxOutcome
from execution.sandboxes.network import go_proxy, hidden, network_settings
from tests.support.memory_tree import MemoryTree

_RUNTIMES = tuple(
    Runtime(name="go", version=version, executable=Path("/opt/go/bin/go"), prefix=Path("/opt/go"))
    for version in ("1.22.1", "1.16.4")
)
_DATE = 1_720_000_000
_TEST = 'package a\nimport "testing"\nfunc TestA(t *testing.T) {}\nfunc TestB(t *testing.T) {}\n'
_FILES = {"go.mod": "module example.com/a\ngo 1.16\n", "a.go": "package a\n", "a_test.go": _TEST}


@pytest.fixture(autouse=True)
def _toolchains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(go, "installed", lambda: _RUNTIMES)


def _request(files: dict[str, str], *graded: str, base: dict[str, str] | None = None) -> PlanRequest:
    return PlanRequest(
        head=MemoryTree(files),
        base=MemoryTree(files if base is None else base),
        base_commit="b" * 40,
        head_commit="a" * 40,
        graded=graded or ("a_test.go",),
        date=_DATE,
    )


def _planned(files: dict[str, str], *graded: str, base: dict[str, str] | None = None) -> Recipe:
    recipe = go.plan(_request(files, *graded, base=base))
    assert isinstance(recipe, Recipe), recipe
    return recipe


def _refused(files: dict[str, str], *graded: str, base: dict[str, str] | None = None) -> str:
    refusal = go.plan(_request(files, *graded, base=base))
    assert isinstance(refusal, Refusal), refusal
    return f"{refusal.code}: {refusal.detail}"


def test_the_module_is_a_language() -> None:
    language: Language = go
    assert language.name == "go"


def test_files_with_tests_that_the_go_command_finds_are_graded() -> None:
    names = ["a_test.go", "in/b_test.go", "testdata/c_test.go", "_x/d_test.go", "vendor/e/e_test.go", ".f_test.go"]
    tree = MemoryTree({**_FILES, **dict.fromkeys(names, _TEST), "helper_test.go": "package a\n", "latest.go": _TEST})
    candidates = (*reversed(names), "helper_test.go", "latest.go", "gone_test.go")
    assert go.graded_files(candidates, tree) == ("a_test.go", "in/b_test.go")


def test_a_change_of_helpers_alone_collects_nothing() -> None:
    files = {**_FILES, "helper_test.go": "package a\n"}
    assert go.graded_files(("helper_test.go", "testdata/c_test.go"), MemoryTree(files)) == ("helper_test.go",)
    assert _refused(files, "helper_test.go") == "collects-nothing: helper_test.go declares no test"


def test_the_command_stands_alone_and_the_observed_one_is_the_same() -> None:
    recipe = _planned(_FILES)
    check = go.check(recipe, ("a_test.go",))
    assert check.command == (
        'GOMODCACHE="$PWD/../env/modules" GOCACHE="$PWD/../env/build" GOFLAGS= GOENV=off GOPROXY=off GOWORK=off'
        " GOTOOLCHAIN=local CGO_ENABLED=0 go test -json -count=1 -vet=off -p=1 -timeout=30m -buildvcs=false"
        " -modfile=../env/go.mod '-run=^(TestA|TestB)$' . > ../report.json"
    )
    call = check.command.partition(" go test ")[2].removesuffix(" > ../report.json")
    assert call in check.observed[2]
    assert json.loads(check.observed[4]) == {
        "graded": {"example.com/a": {"TestA": ["a_test.go"], "TestB": ["a_test.go"]}}
    }


def test_each_package_has_a_call_of_its_own_and_one_failure_hides_none() -> None:
    files = {**_FILES, "in/b_test.go": _TEST.replace("TestB", "TestC")}
    command = go.check(_planned(files, "a_test.go", "in/b_test.go"), ("in/b_test.go", "a_test.go")).command
    assert command.startswith("export ")
    assert "'-run=^(TestA|TestC)$' ./in || code=$?; go test" in command
    assert command.endswith("'-run=^(TestA|TestB)$' . || code=$?; } > ../report.json; exit $code")


def test_a_module_in_a_folder_is_built_there() -> None:
    files = {f"tools/x/{path}": text for path, text in _FILES.items()} | {"tools/x/go.sum": ""}
    recipe = _planned(files, "tools/x/a_test.go")
    check = go.check(recipe, ("tools/x/a_test.go",))
    assert recipe.directory == "tools/x"
    assert 'GOCACHE="$PWD/../../../env/build"' in check.command
    assert check.command.endswith(" . > ../../../report.json")
    assert check.report_file == "../report.json"


def test_an_older_release_knows_fewer_options() -> None:
    request = replace(_request(_FILES), overrides={"go": "1.16"})
    recipe = go.plan(request)
    assert isinstance(recipe, Recipe)
    assert "-buildvcs" not in go.check(recipe, ("a_test.go",)).command


def test_an_era_is_what_decides_the_modules() -> None:
    required = {**_FILES, "go.mod": _FILES["go.mod"] + "require example.com/b v1.0.0\n", "go.sum": "x"}
    assert _planned(_FILES).era() == _planned({**_FILES, "a.go": "package a // changed\n"}).era()
    assert _planned(_FILES).era() != _planned(required).era()
    # What is locked is not dated.
    assert _planned(required).date == 0


def test_c_is_compiled_where_something_asks_for_it() -> None:
    assert "nothing asks for it" in " ".join(_planned(_FILES).why)
    c = _planned({**_FILES, "c.go": 'package a\n\n// #include <math.h>\nimport "C"\n'})
    assert "c.go" in " ".join(c.why)
    assert c.era() != _planned(_FILES).era() or "no compiler" in " ".join(c.why)


def test_a_file_whose_constraints_do_not_hold_is_not_asked_for() -> None:
    files = {**_FILES, "w/w_windows_test.go": _TEST}
    check = go.check(_planned(files, "a_test.go", "w/w_windows_test.go"), ("a_test.go", "w/w_windows_test.go"))
    assert "./w" not in check.command
    assert _refused(files, "w/w_windows_test.go").startswith("collects-nothing")


@pytest.mark.parametrize(
    ("words", "taken"),
    [
        ("-tags=integration", True),
        ("-tags 'x integration'", True),
        ('-tags "x,integration"', True),
        ("-tags=other", False),
    ],
)
def test_a_build_tag_is_taken_from_a_ci_file(words: str, taken: bool) -> None:
    files = {
        **_FILES,
        "i_test.go": f"//go:build integration\n\n{_TEST}",
        ".github/workflows/ci.yml": f"      - run: go test {words} ./...\n",
    }
    planned = go.plan(_request(files, "i_test.go"))
    assert isinstance(planned, Recipe) is taken
    if isinstance(planned, Recipe):
        assert "-tags=integration" in go.check(planned, ("i_test.go",)).command


@pytest.mark.parametrize(
    ("files", "base", "words"),
    [
        ({"go.mod": "module example.com/a\ngo 1.30\n"}, None, "runtime-unavailable: it needs Go 1.30"),
        ({}, {"a.go": ""}, "the base has no go.mod"),
        ({}, {"go.mod": "module example.com/b\n"}, "names example.com/b at the base"),
        (
            {"go.work": "go 1.18\nuse .\n", "go.sum": "x"},
            {**_FILES, "go.work": "go 1.18\nuse .\n", "go.sum": "y"},
            "alters the modules of a workspace",
        ),
    ],
)
def test_what_is_refused(files: dict[str, str], base: dict[str, str] | None, words: str) -> None:
    assert words in _refused({**_FILES, **files}, base=base)


def _failed(output: str, ended: Ended = Ended.EXITED) -> SandboxOutcome:
    return SandboxOutcome(
        ended=ended,
        exit_code=1,
        output=output.encode(),
        output_bytes=len(output),
        report=b"",
        milliseconds=1,
        peak_memory_kb=1,
        memory_by="",
    )


@pytest.mark.parametrize(
    "log",
    [
        'go: example.com/b@v1.0.0: Get "https://x/@v/v1.0.0.mod": dial tcp: lookup x: no such host',
        "go: example.com/b@v1.0.0: reading https://x/@v/v1.0.0.zip: 503 Service Unavailable",
        "tls: failed to verify certificate: x509: certificate signed by unknown authority",
    ],
)
def test_the_network_s_faults_say_nothing_of_a_change(log: str) -> None:
    with pytest.raises(InfrastructureError, match="set-up command 2"):
        go.failed_set_up("set-up command 2", _failed(log))


def test_what_a_set_up_s_failure_tells() -> None:
    log = "go: downloading example.com/b v1.0.0\nverifying example.com/b@v1.0.0: checksum mismatch\n"
    assert "checksum mismatch" in go.failed_set_up("set-up command 2", _failed(log))
    assert "downloading" not in go.failed_set_up("set-up command 2", _failed(log))
    assert "timeout" in go.failed_set_up("set-up command 2", _failed("", Ended.TIMEOUT))


def test_the_user_s_module_proxies_cross_without_credentials(tmp_path: Path) -> None:
    there = "https://me:secret@proxy.example/go,file:///home/me/modules|direct"
    assert go_proxy({"GOPROXY": there}, tmp_path) == "https://proxy.example/go,direct"
    assert go_proxy({}, tmp_path) == ""
    (tmp_path / ".config/go").mkdir(parents=True)
    (tmp_path / ".config/go/env").write_text("GOFLAGS=-x\nGOPROXY=https://proxy.example\n", encoding="utf-8")
    assert go_proxy({}, tmp_path) == "https://proxy.example"
    assert network_settings(environ={"GOPROXY": there}, home=tmp_path).env["GOPROXY"].startswith("https://proxy")
    assert b"proxy.example" in hidden({"GOPROXY": "https://proxy.example,direct"}, {})
    assert b"direct" not in hidden({"GOPROXY": "https://proxy.example,direct"}, {})


@pytest.mark.parametrize(
    ("log", "code", "package", "settings"),
    [
        ("go: example.org/a@v1.2.3 requires go >= 1.99 (running go 1.25)", "runtime-unavailable", "example.org/a",
         (("go", "1.99"),)),
        ("verifying example.org/b/c@v0.1.0: checksum mismatch", "environment-failed", "example.org/b/c", ()),
        ("./a.c:1:10: fatal error: zlib.h: No such file or directory", "needs-system-package", "zlib1g-dev", ()),
        ("cgo: C compiler \"gcc\" not found: exec: \"gcc\": executable file not found in $PATH",
         "needs-system-package", "build-essential", ()),
    ],
)  # fmt: skip
def test_a_failed_set_up_names_what_a_person_can_do(
    log: str, code: str, package: str, settings: tuple[tuple[str, str], ...]
) -> None:
    refusal = go_failure.refusal("`go mod download`", _failed(log))
    assert (refusal.code, refusal.step, refusal.package, refusal.settings) == (
        code, "`go mod download`", package, settings,
    )  # fmt: skip
    assert refusal.lines == (log,)


def test_a_plan_tells_each_choice_with_its_evidence() -> None:
    recipe = _planned(_FILES)
    assert [reason.about for reason in recipe.reasons] == ["toolchain", "dependencies", "C"]
    assert recipe.why == tuple(reason.sentence for reason in recipe.reasons)
