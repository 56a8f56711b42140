"""The contract of a language: from a tree to a recipe, an environment, a check command and its report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from execution.observation import ReportReading
from execution.package_plan import PackagePlan
from execution.recipe import Environment, Recipe, Runtime
from execution.sandbox import Mount, SandboxOutcome


class TreeReader(Protocol):
    """Read access to the tree of one commit (``casewright.repository`` provides it). Paths are bytes from the root."""

    @property
    def paths(self) -> frozenset[bytes]:
        """Every file (blob) of the tree."""
        ...

    def read(self, path: bytes) -> bytes | None:
        """The bytes of a regular file, or None where there is none."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """Why no environment, or no check, can be had: a code of ``miner.reasons`` and one sentence with the evidence.

    The rest is for whoever wants to mend it, empty where nothing is known: the ``step`` that failed, the ``package``
    that it was about (a distribution, or one of the system), the telling ``lines`` of its log, what was ``tried``
    before it, a ``remedy`` in one sentence, and ``settings``: keys and values for the repository's section of
    ``casewright.yaml`` that would go round it (``("python", "3.9")``).
    """

    code: str
    detail: str
    step: str = ""
    package: str = ""
    lines: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    remedy: str = ""
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanRequest:
    """What a language module needs to choose: the head's tree, the base's, the graded files, the pins and overrides.

    ``date`` is the head's committer time plus 24 hours (seconds, UTC). ``version`` is what the tags say of the head
    (``git describe --tags --long``, empty without tags), for projects whose version comes from tags.
    ``overrides`` comes from ``casewright.yaml`` and the command line: ``python``, ``node``, ``runner``, ``setup``,
    ``test``.
    """

    head: TreeReader
    base: TreeReader
    base_commit: str
    head_commit: str
    graded: tuple[str, ...]
    date: int
    version: str = ""
    overrides: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class BuildStep:
    """One shell command of a build. ``env`` adds to the clean environment; ``seconds`` is its own time limit."""

    command: str
    network: bool
    env: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    seconds: int = 900


class Builder(Protocol):
    """A build in progress: a writable head tree at TREE_DIR, a writable ENVIRONMENT_DIR, the repository's CACHE_DIR.

    They persist between the steps of one build (``execution.build`` provides it).
    """

    @property
    def tree(self) -> Path:
        """The host folder behind TREE_DIR: read it between steps, never run anything in it outside of ``run``."""
        ...

    @property
    def folder(self) -> Path:
        """The store's staging folder of the environment (its ``env/`` is at ENVIRONMENT_DIR)."""
        ...

    def run(self, step: BuildStep) -> SandboxOutcome:
        """Run one step by ``sh -c`` in TREE_DIR inside the sandbox."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """How the graded tests are run.

    ``command`` is what a case records: run by ``sh`` in the case's directory of a plain clone, it needs nothing of
    ours and leaves its report at ``report_file`` (relative to the clone's root, e.g. ``../report.xml``; empty when the
    runner has no structured report of its own, then counts are read from the output). ``observed`` is the same run
    with our own reader on REPORT_FD: same runner, same arguments, same order, same exit code. ``env`` is what both
    need (recorded in ``command`` already, so that it stands alone).
    """

    command: str
    report_file: str
    report_format: str
    observed: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Language(Protocol):
    """One language. A module is an instance: its functions are the methods (see ``execution.languages.LANGUAGES``)."""

    @property
    def name(self) -> str: ...

    def graded_files(self, candidates: tuple[str, ...], head: TreeReader) -> tuple[str, ...]:
        """Of the changed test files, those that this language's runner collects, sorted by bytes."""
        ...

    def plan(self, request: PlanRequest) -> Recipe | Refusal:
        """Choose runtime, runner and dependencies by rules; runs nothing and reads the tree only."""
        ...

    def build(self, recipe: Recipe, builder: Builder) -> Environment | Refusal:
        """Build the environment of a recipe."""
        ...

    def setup(self, recipe: Recipe, environment: Environment) -> tuple[str, ...]:
        """What a stranger runs in a plain clone at the base of the change that the recipe was made for.

        An environment serves many changes of its era, and their bases may differ in what set-up reads.
        """
        ...

    def failed_set_up(self, step: str, outcome: SandboxOutcome) -> str:
        """Why a recorded set-up command that did not end with 0 failed, in one sentence.

        Raises ``InfrastructureError`` when the network, a registry or the disk failed: that says nothing of the case.
        """
        ...

    def packages(self, setup: tuple[str, ...], base: str) -> PackagePlan:
        """How the packages of a recorded set-up are fetched into a folder, and how it installs from there offline.

        ``base`` is the commit in whose tree the set-up is run. Raises ``UsageError`` where nobody can know what the
        commands download.
        """
        ...

    def mounts(self, environment: Environment) -> tuple[Mount, ...]:
        """What a run needs besides the tree: the environment and the runtime, read-only."""
        ...

    def find_runtime(self, version: str) -> Runtime | None:
        """The runtime of exactly this version on this machine, or None."""
        ...

    def runtime_at_hand(self, version: str) -> Runtime | None:
        """What ``find_runtime`` gives where nobody needs to be asked for it, else None."""
        ...

    def runtime_mounts(self, runtime: Runtime) -> tuple[Mount, ...]:
        """What makes the runtime's own commands (``python3.12``, ``node``) visible inside, and nothing else."""
        ...

    def env(self, environment: Environment, variation: Mapping[str, str]) -> Mapping[str, str]:
        """The environment variables of a test run. ``variation`` may hold ``hash_seed`` and ``time_zone``."""
        ...

    def check(self, recipe: Recipe, files: tuple[str, ...]) -> Check:
        """The check command over graded files, in the order given."""
        ...

    def recorded_check(self, runner: str, command: str) -> Check:
        """The check that a case's recorded command stands for; its ``observed`` is empty."""
        ...

    def read(self, report: bytes, exit_code: int, files: tuple[str, ...], output: bytes) -> ReportReading:
        """Read what ``Check.observed`` wrote to REPORT_FD."""
        ...

    def read_recorded(self, check: Check, report: bytes, output: bytes) -> ReportReading:
        """Read what ``Check.command`` left at ``report_file`` (or printed); an id that it can't tell is left out."""
        ...
