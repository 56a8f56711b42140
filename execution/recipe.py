"""What an environment is made of, and the digest that names its era."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

RULES_VERSION = "2"


@dataclass(frozen=True, kw_only=True, slots=True)
class Runtime:
    """An interpreter on this machine: its name, exact version, executable and the folder that holds it."""

    name: str
    version: str
    executable: Path
    prefix: Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Why:
    """One choice of a plan, for people: what it is about, what was chosen, by which evidence, what was passed over.

    ``about`` is a word (``interpreter``, ``runner``, ``dependencies``); ``because`` names the evidence and reads on
    after ``chosen`` and a comma; each of ``passed_over`` names something else that was there and why it was not taken.
    """

    about: str
    chosen: str
    because: str
    passed_over: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The choice in one line."""
        return f"{self.chosen}, {self.because}" if self.because else self.chosen


def why_of(about: str, sentence: str, passed_over: tuple[str, ...] = ()) -> Why:
    """Return the record of a sentence whose first comma parts what was chosen from its evidence."""
    chosen, _, because = sentence.partition(", ")
    return Why(about=about, chosen=chosen, because=because, passed_over=passed_over)


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """All that decides an environment, found by rules from the head's tree before anything runs.

    ``inputs`` are (name, digest) pairs of what the environment depends on: manifests, lock files, files that dynamic
    metadata reads, options. They, the runtime and the rules' version are the era. ``date`` (seconds since the epoch,
    UTC) pins what the index may offer; it is no part of the era, but the key of the stored environment holds it.
    ``settings`` is for the language module alone: plain strings that its ``build`` and ``check`` read.
    ``why`` tells people how each choice was made, in a line each; ``reasons`` holds the same with its evidence apart.
    Neither is part of the era: a better sentence makes no other environment.
    """

    language: str
    runtime: Runtime
    runner: str
    date: int
    directory: str = "."
    inputs: tuple[tuple[str, str], ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    why: tuple[str, ...] = ()
    reasons: tuple[Why, ...] = ()

    def era(self) -> str:
        """Return the era: 64 hex digits over runtime, inputs, runner, directory and the rules' version."""
        lines = [RULES_VERSION, self.language, self.runtime.name, self.runtime.version, self.runner, self.directory]
        lines += [f"{name}\0{digest}" for name, digest in sorted(self.inputs)]
        return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()

    def setting(self, name: str, default: str = "") -> str:
        """Return one of ``settings`` by name."""
        return dict(self.settings).get(name, default)


@dataclass(frozen=True, kw_only=True, slots=True)
class Environment:
    """An environment that was built and stored.

    ``folder`` is the store's entry: ``env/`` is mounted at the environment's constant path, ``overlay/`` (what set-up
    generated in the tree) is copied over each tree, each of ``tree_mounts`` (a path from the tree's root, such as
    ``node_modules``) is ``tree/<path>`` mounted read-only inside the tree. ``setup`` is what a stranger runs in a plain
    clone; ``dependencies`` the exact versions (``name==version`` or ``name@version``).
    """

    folder: Path
    era: str
    runtime: Runtime
    setup: tuple[str, ...]
    dependencies: tuple[str, ...]
    runner_version: str = ""
    tree_mounts: tuple[str, ...] = ()
    tmpfs: tuple[str, ...] = ()
    build_milliseconds: int = 0
    notes: tuple[str, ...] = field(default=())
