"""Packages of a case, for real: pip in the sandbox, an index on loopback, then no index at all."""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from authoring.case import Case
from authoring.package_folder import copy_folder, filled_folder, kept_folder
from casewright.errors import InfrastructureError, PackagesError, UsageError
from casewright.store import PACKAGES, Store
from execution.languages import LANGUAGES
from execution.languages.python_interpreters import installed
from execution.packages import MANIFEST, check_folder
from execution.sandbox import Sandbox, SandboxOutcome, SandboxRequest
from execution.sandboxes import choose
from tests.support.bench import Bench, a_bench, a_case
from tests.support.index import Index
from tests.support.sandbox import needs_sandbox

pytestmark = needs_sandbox
PLAIN, ROUGH, TOOL = "plain-1.0-py3-none-any.whl", "rough-1.0.tar.gz", "tinybuild-1.0-py3-none-any.whl"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with a_bench(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Bench, Case]]:
    """A bench whose folder is filled: to fill one takes two virtual environments."""
    with a_bench(tmp_path_factory.mktemp("shared")) as made:
        case = a_case(made.repo, set_up(made.index, source=ROUGH))
        with filled_folder(case, made.repository, choose(), made.store) as filled:
            assert filled.fresh
        yield made, case


def set_up(index: Index, *, source: str = "", isolated: bool = False) -> list[str]:
    """Return the set-up that a Python environment records: a list of wheels, then one of what has none."""
    minor = ".".join(installed()[-1].version.split(".")[:2])
    names = (PLAIN,) if isolated or not source else (PLAIN, TOOL)
    install = "../env/bin/python -m pip install --require-hashes --no-deps"
    commands = [
        f"python{minor} -m venv ../env",
        f"cat > ../requirements.txt <<'EOF'\n{index.hashed(*names)}EOF",
        f"{install} -r ../requirements.txt",
    ]
    if source:
        commands += [
            f"cat > ../source-requirements.txt <<'EOF'\n{index.hashed(source)}EOF",
            f"{install} {'' if isolated else '--no-build-isolation '}-r ../source-requirements.txt",
        ]
    return [*commands, "../env/bin/python -c 'import plain; assert plain.value == 1'"]


def files_of(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {MANIFEST}


def test_every_file_of_the_list_is_there_and_no_index_is_asked_again(shared: tuple[Bench, Case]) -> None:
    bench, case = shared
    asked = len(bench.index.asked)
    with filled_folder(case, bench.repository, choose(), bench.store) as again:
        assert not again.fresh
        assert files_of(again.folder.path) == {PLAIN, ROUGH, TOOL}
        for name, content in again.folder.manifest.files.items():
            assert content.sha256 == f"sha256:{hashlib.sha256(bench.index.files[name]).hexdigest()}"
    with kept_folder(case, bench.store) as kept:
        assert kept.manifest.setup == case.environment.setup
    assert len(bench.index.asked) == asked


def test_the_tools_of_an_isolated_build_are_brought_too(bench: Bench) -> None:
    case = a_case(bench.repo, set_up(bench.index, source=ROUGH, isolated=True))
    with filled_folder(case, bench.repository, choose(), bench.store) as filled:
        assert files_of(filled.folder.path) == {PLAIN, ROUGH, TOOL}


def test_cases_of_one_list_share_a_folder(shared: tuple[Bench, Case]) -> None:
    bench, first = shared
    plain = first.model_copy(update={"id": "another", "base_commit": "1" * 40})
    setup = (*first.environment.setup, "echo the project")
    second = plain.model_copy(update={"environment": first.environment.model_copy(update={"setup": setup})})
    with kept_folder(first, bench.store) as one, kept_folder(second, bench.store) as other:
        assert one.path == other.path


def test_a_file_that_is_not_the_recorded_one_is_an_error_and_nothing_is_kept(bench: Bench) -> None:
    case = a_case(bench.repo, set_up(bench.index))
    bench.index.files[PLAIN] += b"\0"
    with pytest.raises(PackagesError) as told, filled_folder(case, bench.repository, choose(), bench.store):
        pass
    assert "hash" in told.value.message.lower()
    assert list((bench.store.root / PACKAGES).iterdir()) == []


def test_what_does_not_suffice_without_a_network_is_never_put_in_place(bench: Bench) -> None:
    more = f"../env/bin/python -m pip install --no-deps -q tinybuild --index-url {bench.index.url}"
    case = a_case(bench.repo, [*set_up(bench.index), more])
    with pytest.raises(PackagesError) as told, filled_folder(case, bench.repository, choose(), bench.store):
        pass
    assert "does not suffice without a network: set-up command 5" in told.value.message
    assert list((bench.store.root / PACKAGES).iterdir()) == []


class _Interrupted:
    """A sandbox in which somebody presses Ctrl-C at the second command with network."""

    def __init__(self, inner: Sandbox) -> None:
        self._inner = inner
        self._count = 0

    @property
    def name(self) -> str:
        return self._inner.name

    def unavailable(self) -> str | None:
        return self._inner.unavailable()

    def run(self, request: SandboxRequest) -> SandboxOutcome:
        self._count += request.network
        outcome = self._inner.run(request)
        if self._count == 3:
            raise KeyboardInterrupt
        return outcome


def test_an_interruption_leaves_nothing_half_filled(bench: Bench) -> None:
    case = a_case(bench.repo, set_up(bench.index))
    held = {path.name for path in (bench.store.root / "staging").iterdir()}
    stopped = filled_folder(case, bench.repository, _Interrupted(choose()), bench.store)
    with pytest.raises(KeyboardInterrupt), stopped:
        pass
    assert any(path.endswith(".whl") for path in bench.index.asked)
    assert list((bench.store.root / PACKAGES).iterdir()) == []
    assert {path.name for path in (bench.store.root / "staging").iterdir()} == held
    with pytest.raises(PackagesError, match=r"never fetched: pytest==9\.1\.1"), kept_folder(case, bench.store):
        pass


def test_a_folder_that_somebody_touched_is_told_of_and_filled_again(shared: tuple[Bench, Case]) -> None:
    bench, case = shared
    with kept_folder(case, bench.store) as kept:
        folder = kept.path
    (folder / PLAIN).write_bytes(b"other")
    (folder / TOOL).unlink()
    (folder / "more.whl").write_bytes(b"")
    with pytest.raises(PackagesError) as told, kept_folder(case, bench.store):
        pass
    assert f"{TOOL} is missing; {PLAIN} is not what was fetched; more.whl was added" in told.value.message
    with filled_folder(case, bench.repository, choose(), bench.store) as again:
        assert again.fresh
        assert files_of(again.folder.path) == {PLAIN, ROUGH, TOOL}


def test_a_folder_of_the_user_s_is_filled_in_one_step_and_used_from_anywhere(
    shared: tuple[Bench, Case], tmp_path: Path
) -> None:
    bench, case = shared
    place = tmp_path / "usb stick" / "packages"
    with kept_folder(case, bench.store) as kept:
        assert copy_folder(kept, place)
        assert not copy_folder(kept, place)
        inodes = {path.stat().st_ino for path in kept.path.iterdir()}
    assert not inodes & {path.stat().st_ino for path in place.iterdir()}
    assert [path.name for path in place.parent.iterdir()] == ["packages"]
    elsewhere = Store(tmp_path / "another cache")
    with kept_folder(case, elsewhere, place) as found:
        assert check_folder(place, found.manifest.key) == found.manifest
    other = a_case(bench.repo, set_up(bench.index))
    with pytest.raises(PackagesError, match="of another set-up"), kept_folder(other, elsewhere, place):
        pass
    with pytest.raises(PackagesError, match="is no folder of packages"), kept_folder(case, elsewhere, tmp_path):
        pass


def test_a_place_that_holds_something_else_is_left_alone(shared: tuple[Bench, Case], tmp_path: Path) -> None:
    bench, case = shared
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("\\bye")
    with kept_folder(case, bench.store) as kept, pytest.raises(PackagesError, match="holds something else"):
        copy_folder(kept, tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]


def test_a_full_disk_is_told_and_leaves_nothing(
    shared: tuple[Bench, Case], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, case = shared

    def full(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("casewright.file_copies.shutil.copyfileobj", full)
    with kept_folder(case, bench.store) as kept, pytest.raises(InfrastructureError, match="free some disk space"):
        copy_folder(kept, tmp_path / "out" / "packages")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_case_that_installs_nothing_needs_no_folder(bench: Bench) -> None:
    minor = ".".join(installed()[-1].version.split(".")[:2])
    case = a_case(bench.repo, [f"python{minor} -m venv --without-pip ../env"])
    with kept_folder(case, bench.store) as kept:
        assert kept.manifest.files == {}


def test_commands_of_the_user_s_own_have_no_folder() -> None:
    with pytest.raises(UsageError, match="the user's own commands"):
        LANGUAGES["generic"].packages(("make",), "0" * 40)
    assert LANGUAGES["generic"].packages((), "0" * 40).filling == ()
