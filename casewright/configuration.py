"""What ``casewright.yaml`` says: the library's identity, defaults, overrides for each repository. Strict, immutable."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from casewright.documents import read_model
from casewright.hashing import digest
from casewright.workspace import CONFIGURATION, Workspace

CONFIGURATION_SCHEMA: Final = "casewright.workspace/v1"
REPOSITORY_ID_PATTERN: Final = r"^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$"

_SLUG = r"^[a-z0-9][a-z0-9-]*$"
_LINE = r"^[^\x00-\x1f\x7f]+$"
_URL = r"^[^\x00-\x20\x7f]+$"
_HOST = r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$"
_NAME = r"^[A-Za-z_][A-Za-z0-9_]*$"
# Keys of a repository's section that change no verdict, or that the digest takes another way.
_WITHOUT_A_VERDICT: Final = {"url", "licence", "branch", "categories", "statement", "limits"}
PHRASES: Final[Mapping[str, str]] = {
    _SLUG: "a slug of lowercase letters, digits and hyphens",
    _LINE: "one line of text",
    _URL: "an address without blanks",
    _HOST: "the lowercase name of a host, with its port where it has one",
    _NAME: "the name of an environment variable",
    REPOSITORY_ID_PATTERN: "a repository id such as owner/name",
}

Line = Annotated[str, Field(pattern=_LINE)]
Slug = Annotated[str, Field(pattern=_SLUG)]
Url = Annotated[str, Field(pattern=_URL)]
Positive = Annotated[int, Field(ge=1, le=2**53 - 1)]


class Section(BaseModel):
    """Base of every part of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class LibrarySection(Section):
    """Who publishes what: the header of every release. ``limits`` are added to those that every library states.

    ``title`` and ``description`` may use ``{cases}``, ``{repositories}``, ``{languages}`` and ``{categories}``.
    """

    id: Slug
    title: Line
    description: str = ""
    url: Url | None = None
    licence: Line | None = None
    maintainers: tuple[Line, ...] = ()
    limits: tuple[Line, ...] = ()


class LimitsSection(Section):
    """The envelope of one run; what is left out keeps its default (see docs/reference.md)."""

    seconds: Positive | None = None
    memory_mb: Positive | None = None
    processes: Positive | None = None
    output_mb: Positive | None = None
    disk_mb: Positive | None = None


class StatementSection(Section):
    """A command of the user's own that proposes a task's text, and how many seconds it may take (120)."""

    command: Line
    seconds: Positive | None = None


class DefaultsSection(Section):
    """What holds for every repository that does not say otherwise."""

    repeat: Positive | None = None
    limits: LimitsSection = LimitsSection()
    category: Line | None = None
    statement: StatementSection | None = None


class TestsSection(Section):
    """Globs over paths from the tree's root that overrule the rules which part a file belongs to."""

    __test__ = False

    graded: tuple[Line, ...] = ()
    support: tuple[Line, ...] = ()
    rest: tuple[Line, ...] = ()


class SetupSection(Section):
    """Commands in place of the rules' own, and names of variables of yours that set-up (never a test) may see."""

    commands: tuple[Line, ...] = ()
    pass_env: tuple[Annotated[str, Field(pattern=_NAME)], ...] = ()


class CategorySection(Section):
    """A category for changes whose rest part touches a path that one of the globs takes; the first that fits counts."""

    category: Line
    paths: Annotated[tuple[Line, ...], Field(min_length=1)]


class RepositorySection(Section):
    """What to know about one repository. Everything may be left out."""

    url: Url | None = None
    licence: Line | None = None
    branch: Line | None = None
    tests: TestsSection = TestsSection()
    python: Line | None = None
    node: Line | None = None
    go: Line | None = None
    rust: Line | None = None
    runner: Line | None = None
    setup: SetupSection = SetupSection()
    check: Line | None = None
    limits: LimitsSection = LimitsSection()
    categories: tuple[CategorySection, ...] = ()
    statement: StatementSection | None = None
    max_files: Positive | None = None
    max_lines: Positive | None = None


class WithdrawalSection(Section):
    """A case that the next release leaves out, and why; written by ``casewright withdraw``."""

    id: Slug
    reason: Line


class Configuration(Section):
    """The whole file. ``forges`` are hosts of GitHub Enterprise whose pull requests may be read."""

    model_config = ConfigDict(title="casewright.yaml")

    schema_: Annotated[Literal["casewright.workspace/v1"], Field(alias="schema")] = CONFIGURATION_SCHEMA
    library: LibrarySection
    defaults: DefaultsSection = DefaultsSection()
    forges: tuple[Annotated[str, Field(pattern=_HOST)], ...] = ()
    repositories: dict[Annotated[str, Field(pattern=REPOSITORY_ID_PATTERN)], RepositorySection] = {}
    withdrawals: tuple[WithdrawalSection, ...] = ()

    def repository(self, repository_id: str) -> RepositorySection:
        """Return what the file says of a repository; a section of defaults when it says nothing."""
        return self.repositories.get(repository_id, RepositorySection())

    def limits(self, repository_id: str) -> dict[str, int]:
        """Return the limits that are set, by field name: the repository's own before the defaults."""
        layers = (self.defaults.limits, self.repository(repository_id).limits)
        return {name: value for layer in layers for name, value in layer.model_dump(exclude_none=True).items()}

    def statement(self, repository_id: str) -> StatementSection | None:
        """Return the command that proposes texts for a repository, its own before the defaults'; None without any."""
        return self.repository(repository_id).statement or self.defaults.statement


def read_configuration(path: Path, name: str = CONFIGURATION) -> Configuration:
    """Read the file strictly. Raises ``DocumentError`` with every fault and its place."""
    return read_model(path, name, Configuration, PHRASES)


def configuration_of(workspace: Workspace) -> Configuration:
    """Read a workspace's ``casewright.yaml``; raises as ``read_configuration`` does."""
    return read_configuration(workspace.configuration_path)


def overrides(section: RepositorySection) -> dict[str, str]:
    """Return what a language module is told, by name: python, node, go, rust, runner, setup (lines), test.

    Only what is set is there.
    """
    said = {
        "python": section.python,
        "node": section.node,
        "go": section.go,
        "rust": section.rust,
        "runner": section.runner,
        "setup": "\n".join(section.setup.commands),
        "test": section.check,
    }
    return {name: value for name, value in said.items() if value}


def configuration_digest(
    configuration: Configuration, repository_id: str, options: Mapping[str, Any], rules_version: str
) -> str:
    """Return the digest of all that may change a verdict; a known change is judged again only when it differs.

    ``options`` are the judging options of the command line as plain JSON values. What only names or sorts cases
    (library identity, categories, licence, address) or proposes their texts has no part in it.
    """
    section = configuration.repository(repository_id)
    judged = section.model_dump(mode="json", exclude=_WITHOUT_A_VERDICT)
    return digest(
        {
            "repository": judged,
            "limits": configuration.limits(repository_id),
            "repeat": configuration.defaults.repeat,
            "options": dict(options),
            "rules": rules_version,
        }
    )
