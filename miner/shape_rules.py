"""Which rules take a repository's changes apart: the built-in ones, overruled by what a workspace says of it."""

from __future__ import annotations

from pathlib import Path

from casewright.configuration import RepositorySection, configuration_of
from casewright.errors import NoWorkspaceError
from casewright.repository import Repository
from casewright.workspace import find_workspace
from miner.path_rules import Globs, PathRules
from miner.repository_id import repository_id
from miner.screen import SizeLimits


def shape_rules(repository: Repository, folder: Path) -> tuple[PathRules, SizeLimits]:
    """Return the rules for a repository as the workspace at ``folder`` has them; built-in ones where there is none.

    Raises ``DocumentError`` when the workspace's settings can't be read.
    """
    try:
        workspace = find_workspace(folder)
    except NoWorkspaceError:
        return rules_of(RepositorySection())
    section = configuration_of(workspace).repository(repository_id(repository.remote_url, repository.name))
    return rules_of(section)


def rules_of(section: RepositorySection) -> tuple[PathRules, SizeLimits]:
    """Return the rules that a repository's section gives."""
    globs = Globs(graded=section.tests.graded, support=section.tests.support, rest=section.tests.rest)
    usual = SizeLimits()
    return PathRules(globs), SizeLimits(files=section.max_files or usual.files, lines=section.max_lines or usual.lines)
