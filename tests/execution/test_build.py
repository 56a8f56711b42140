"""Environments are built once, whoever asks, and none can change what another one or a download cache holds."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import uv

from casewright.new_workspace import init_workspace
from casewright.store import DOWNLOADS, ENVIRONMENTS, Store
from execution.build import download_key, environment
from execution.languages import generic
from execution.languages.base import Builder, BuildStep, Language
from execution.languages.javascript_installer import BUILD_ENV
from execution.languages.python_interpreters import installed
from execution.languages.python_steps import UV, runtime_executable, runtime_mounts
from execution.recipe import Environment, Recipe
from execution.sandbox import CACHE_DIR, ENVIRONMENT_DIR, Mount
from execution.sandboxes import choose
from tests.support.command_line import CommandLine
from tests.support.index import served, usual_files
from tests.support.repos import RepoBuilder
from tests.support.sandbox import needs_sandbox

pytestmark = needs_sandbox


def built_by(*steps: BuildStep) -> Language:
    """Return a language whose builds are these steps; each must end with 0."""

    def build(recipe: Recipe, builder: Builder) -> Environment:
        for step in steps:
            outcome = builder.run(step)
            assert outcome.exit_code == 0, outcome.output
        return Environment(folder=builder.folder, era=recipe.era(), runtime=recipe.runtime, setup=(), dependencies=())

    return cast("Language", SimpleNamespace(**{**vars(generic), "build": build}))


def a_recipe(needs: str = "one") -> Recipe:
    return Recipe(language="python", runtime=installed()[-1], runner="x", date=1, inputs=(("needs", needs),))


def plain_tree(folder: Path) -> None:
    folder.mkdir()
    (folder / "a.txt").write_text("a\n")


def get(stack: ExitStack, store: Store, language: Language, recipe: Recipe, repository: str = "one/one") -> Environment:
    return stack.enter_context(
        environment(
            recipe=recipe,
            language=language,
            sandbox=choose(),
            store=store,
            repository=repository,
            export_head=plain_tree,
        )
    )


# Each build leaves a line in its repository's download cache.
COUNTED = BuildStep(command=f"sleep 0.5; echo built >> {CACHE_DIR}/builds; echo x > {ENVIRONMENT_DIR}/x", network=False)


def builds(store: Store, repository: str = "one/one") -> int:
    return (store.root / DOWNLOADS / download_key(repository) / "builds").read_text().count("built")


def test_two_changes_of_an_era_have_one_build(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with ExitStack() as stack:
        first = get(stack, store, built_by(COUNTED), a_recipe())
        second = get(stack, store, built_by(COUNTED), a_recipe())
        assert (first.folder, builds(store)) == (second.folder, 1)
        get(stack, store, built_by(COUNTED), a_recipe("two"))
        assert builds(store) == 2


def _get_in_a_process(root: Path) -> None:
    with ExitStack() as stack:
        get(stack, Store(root), built_by(COUNTED), a_recipe())


def test_two_processes_at_once_have_one_build(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_get_in_a_process, args=(tmp_path,)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0, 0]
    assert builds(Store(tmp_path)) == 1


def a_fixed_box(folder: Path) -> RepoBuilder:
    """Return a repository whose last commit can be a case and needs no index."""
    repo = RepoBuilder(folder)
    test = (
        "import unittest, box\nclass A(unittest.TestCase):\n    def test_a(self): self.assertEqual(box.area(2, 3), 6)\n"
    )
    repo.commit("Begin", {"box.py": "def area(a, b):\n    return a + b\n"})
    repo.commit(
        "Multiply the sides of the box, do not add them",
        {"box.py": "def area(a, b):\n    return a * b\n", "tests/test_box.py": test},
    )
    return repo


def test_two_workspaces_of_one_repository_have_one_build(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CASEWRIGHT_CACHE_DIR", str(tmp_path / "cache"))
    repo = a_fixed_box(tmp_path / "box")
    seen = []
    for name in ("mine", "yours"):
        workspace = init_workspace(tmp_path / name)[0].root
        ran = cli("-C", workspace, "add-case", "--repo", repo.path, "--commit", "HEAD", "-q", "--repeat", "1")
        assert ran.code == 0, ran.err
        (place,) = (tmp_path / "cache" / ENVIRONMENTS).iterdir()
        seen.append((place.name, (place / "environment.json").stat().st_mtime_ns))
    assert seen[0] == seen[1]


def files_below(folder: Path) -> Iterator[Path]:
    return (Path(parent, name) for parent, _, names in os.walk(folder) for name in names)


def inodes(folder: Path) -> set[int]:
    return {path.stat().st_ino for path in files_below(folder) if not path.is_symlink()}


def installing(run: Callable[[str], str] = lambda command: command) -> BuildStep:
    """Return a step that installs ``plain`` with uv, as an environment's list is installed."""
    recipe = a_recipe()
    command = f"{UV} pip install --no-config -q --python {runtime_executable(recipe.runtime)} --link-mode copy"
    return BuildStep(
        command=run(f"{command} --target {ENVIRONMENT_DIR}/lib plain==1.0"),
        network=True,
        env={"UV_CACHE_DIR": f"{CACHE_DIR}/uv", "UV_PYTHON_DOWNLOADS": "never"},
        mounts=(Mount(source=Path(uv.find_uv_bin()), target=UV), *runtime_mounts(recipe.runtime)),
    )


def test_no_environment_can_poison_another_nor_another_repository_s_downloads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hostile set-up writes to all that it can reach: its environment and its repository's download cache."""
    store = Store(tmp_path)
    spoil = f'find {CACHE_DIR} {ENVIRONMENT_DIR} -name plain.py -exec sh -c \'echo "#poison" >> "$0"\' {{}} \\;'
    with served(usual_files()) as index, ExitStack() as stack:
        monkeypatch.setenv("UV_DEFAULT_INDEX", index.url)
        good = get(stack, store, built_by(installing()), a_recipe())
        other = get(stack, store, built_by(installing()), a_recipe(), repository="two/two")
        assert other.folder == good.folder
        far = get(stack, store, built_by(installing()), a_recipe("far"), repository="two/two")
        bad = get(stack, store, built_by(installing(lambda command: f"{command} && {spoil}")), a_recipe("bad"))
    module = Path("env", "lib", "plain.py")
    assert "#poison" in (bad.folder / module).read_text()
    assert (good.folder / module).read_text() == (far.folder / module).read_text() == "value = 1\n"
    shelves = [store.root / DOWNLOADS / download_key(name) for name in ("one/one", "two/two")]
    assert any("#poison" in path.read_text("utf-8", "replace") for path in files_below(shelves[0]))
    assert not any("#poison" in path.read_text("utf-8", "replace") for path in files_below(shelves[1]))
    # Not by luck: nothing that was installed shares its bytes with anything.
    places = [good.folder, bad.folder, far.folder, *shelves]
    assert sum(len(inodes(place)) for place in places) == len(set[int]().union(*map(inodes, places)))
    assert {path.stat().st_nlink for place in (good.folder, far.folder) for path in files_below(place)} == {1}


@pytest.mark.parametrize(("name", "value"), [("npm_config_package_import_method", "copy")])
def test_node_s_stores_are_copied_from(name: str, value: Any) -> None:
    assert BUILD_ENV[name] == value


def test_a_repository_has_one_download_cache_for_its_builds_and_its_reproductions(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Repositories without a clone url above all: strangers' set-ups write to it, and must not meet each other's."""
    monkeypatch.setenv("CASEWRIGHT_CACHE_DIR", str(tmp_path / "cache"))
    workspace = init_workspace(tmp_path / "bench")[0].root
    for name in ("box", "crate"):
        repo = a_fixed_box(tmp_path / name)
        ran = cli("-C", workspace, "add-case", "--repo", repo.path, "--commit", "HEAD", "-q", "--repeat", "1")
        assert ran.code == 0, ran.err
    assert cli("-C", workspace, "verify").code == 0
    assert {path.name for path in (tmp_path / "cache" / DOWNLOADS).iterdir()} == {
        download_key("box"),
        download_key("crate"),
    }
