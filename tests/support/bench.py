"""What tests of a case's packages stand on: a repository, a store, an index on loopback, and cases by their set-up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from authoring.case import Case
from casewright.repository import Repository, open_source
from casewright.store import Store
from execution.languages.python_interpreters import installed
from tests.support.cases import as_case, plain_case, sealed
from tests.support.index import Index, served, usual_files
from tests.support.repos import Entry, RepoBuilder


@dataclass(frozen=True, kw_only=True, slots=True)
class Bench:
    """A repository, a store, and an index that serves while the test runs."""

    repo: RepoBuilder
    repository: Repository
    store: Store
    index: Index


@contextmanager
def a_bench(folder: Path, files: Mapping[str | bytes, Entry] | None = None) -> Iterator[Bench]:
    """Give a bench whose repository has one commit."""
    repo = RepoBuilder(folder / "repo")
    repo.commit("Begin", dict(files or {"a.py": "one = 1\n"}))
    store = Store(folder / "cache")
    with pytest.MonkeyPatch.context() as patch, served(usual_files()) as index:
        patch.setenv("PIP_INDEX_URL", index.url)
        patch.delenv("UV_DEFAULT_INDEX", raising=False)
        with open_source(str(repo.path), store.root) as repository:
            yield Bench(repo=repo, repository=repository, store=store, index=index)


def a_case(
    repo: RepoBuilder, setup: list[str], language: str = "python", runtime: tuple[str, str] | None = None
) -> Case:
    """Return a case at the repository's commit whose set-up is at hand; nothing else of it is looked at.

    ``runtime`` is a name and an exact version; the oldest Python of this machine unless given.
    """
    name, version = runtime or ("python", installed()[-1].version)
    plain = plain_case(base_commit=repo.git("rev-parse", "HEAD").strip(), language=language)
    plain["environment"] |= {"runtime": {"name": name, "version": version}, "setup": setup}
    return as_case(sealed(plain))
