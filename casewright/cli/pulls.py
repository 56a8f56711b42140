"""Pull requests on the command line: which one is meant, which forge is asked, with whose token, for which change."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from casewright.cli.version import tool_version
from casewright.configuration import Configuration
from casewright.errors import InfrastructureError, InvalidInputError
from casewright.repository import Repository
from miner.change import Change
from miner.forge_facts import ForgeTexts, PullFacts
from miner.forge_host import ForgeHost, default_host, forge_host, forge_of, known_hosts, token_for
from miner.history import change_between
from miner.landing import NotLanded, landed
from miner.observer import Observer
from miner.pull_reference import parse_pull_reference
from miner.pull_request import Forge, MissingError
from miner.pull_texts import issues_closed_by


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedPull:
    """A merged pull request as its forge tells it, and where its repository can be cloned from."""

    pull: PullFacts
    texts: ForgeTexts
    clone_url: str


def ask_for_pull(text: str, configuration: Configuration, observer: Observer) -> AskedPull:
    """Read the pull request that somebody names, and the issues that it closes.

    Raises ``UsageError`` for what names none, ``InvalidInputError`` for one that is not merged, ``ForgeError``.
    """
    known = known_hosts(os.environ, configuration.forges)
    reference = parse_pull_reference(text, default_host(os.environ), known)
    forge = open_forge(forge_host(reference.host, os.environ), observer)
    pull = forge.pull(reference)
    if pull.merged_at is None:
        raise InvalidInputError(
            f"pull request {pull.reference.short} is not merged", "only what has landed has a commit to grade by"
        )
    notes: tuple[str, ...] = ()
    try:
        pull = replace(pull, linked=forge.linked(pull.reference))
    except MissingError as error:
        # Some servers have no GraphQL, and some tokens may not use it: the texts name most issues too.
        notes = (str(error),)
    texts = issues_closed_by(forge, pull)
    return AskedPull(
        pull=pull,
        texts=replace(texts, notes=(*notes, *texts.notes)),
        clone_url=forge.host.clone_url(pull.reference.repository),
    )


def open_forge(host: ForgeHost, observer: Observer) -> Forge:
    """Return a forge that is asked with the user's own token, pauses being shown by ``observer``."""
    return Forge(host, token_for(host.name, os.environ), observer.pausing, agent=tool_version().replace(" ", "/"))


def forge_behind(repository: Repository, url: str, configuration: Configuration) -> tuple[ForgeHost, str] | None:
    """Return the forge that a history has, and what the repository is called there; None when none is known."""
    return forge_of(url or repository.remote_url, os.environ, configuration.forges)


def landed_change(repository: Repository, asked: AskedPull) -> Change:
    """Return the change that a pull request made, its pins decided from git.

    A local copy that lacks the merge is brought up to date for this session. Raises ``InfrastructureError`` when the
    pins can't be had.
    """
    pull = asked.pull
    complaint = ""
    if pull.merge_commit is not None and repository.known(pull.merge_commit) is None:
        complaint = repository.refresh(asked.clone_url)
    pins = landed(repository, pull)
    if isinstance(pins, NotLanded):
        told = f" (and {asked.clone_url} could not be fetched: {complaint})" if complaint else ""
        raise InfrastructureError(f"{pins.message}{told}", pins.hint)
    change = change_between(repository, pins.base, pins.head, pins.landing, pins.decided_by)
    # The last of several commits would name a part of it.
    return replace(change, subject=pull.title.encode("utf-8", "replace"))
