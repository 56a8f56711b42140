"""One change of a two-commit history, judged by the command line as a person would ask for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from authoring.case import Case
from authoring.draft import load_draft
from casewright.workspace import Workspace
from tests.support.command_line import CommandLine
from tests.support.repos import Entry, RepoBuilder

Files = dict[str | bytes, Entry]


def history(folder: Path, before: Files, after: Files, message: str) -> RepoBuilder:
    """Return a repository with two commits; ``message`` is the second's, which a case is made of."""
    repo = RepoBuilder(folder)
    repo.commit("Begin with a function", before)
    repo.commit(message, after)
    return repo


def judged(cli: CommandLine, workspace: Workspace, repo: RepoBuilder) -> dict[str, Any]:
    """Return what ``add-case`` prints of the newest commit, each state run once."""
    options = ("--repeat", "1", "--format", "json")
    ran = cli("-C", workspace.root, "add-case", "--repo", repo.path, "--commit", "HEAD", *options)
    assert ran.out, ran.err
    outcome: dict[str, Any] = ran.json
    return outcome


def admitted(cli: CommandLine, workspace: Workspace, repo: RepoBuilder) -> Case:
    """Return the case of the newest commit, which must be admitted."""
    outcome = judged(cli, workspace, repo)
    assert outcome["outcome"] == "admitted", (outcome["reason"], outcome["detail"])
    return load_draft(workspace, outcome["case"]).case
