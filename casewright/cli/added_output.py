"""What ``add-case`` shows of the one change that it was asked about, besides its judgement."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from authoring.case import to_plain
from authoring.draft import Draft, parse_draft
from authoring.known_change import words_of
from authoring.lint import blocking, lint, notes
from casewright.cli.judgement_output import judgement_text
from casewright.cli.lint_output import Linted, linted_object, linted_text
from casewright.cli.output import one_line, shown, styled, table
from casewright.repository import Repository
from miner.forge_facts import ForgeTexts
from miner.judgement import Judgement


@dataclass(frozen=True, kw_only=True, slots=True)
class Added:
    """A judgement, what a forge told of the change, and the draft: that of a dry run is written nowhere."""

    judgement: Judgement
    texts: ForgeTexts
    draft: Linted | None


def linted_draft_of(judgement: Judgement, repository: Repository) -> Linted:
    """Return the draft that a dry run would have written, linted by its history. Raises ``RepositoryError``."""
    name = judgement.case or "case"
    data = judgement.draft.encode()
    case = parse_draft(data, name)
    words = words_of(repository, case)
    draft = Draft(path=Path(f"{name}.yaml"), name=f"{name}.yaml", data=data, case=case)
    return Linted(draft=draft, findings=lint(case, words), notes=notes(case, words))


def added_object(added: Added) -> dict[str, Any]:
    """Return the further keys of the object that ``add-case --format json`` prints; no key where there is nothing."""
    found: dict[str, Any] = {}
    if added.texts.pull is not None:
        found["pull_request"] = added.texts.pull.url
        found["issues"] = [issue.url for issue in added.texts.issues]
        found["notes"] = added.texts.notes
    if added.draft is not None:
        found["findings"] = linted_object(added.draft)["findings"]
        if added.judgement.draft:
            found["draft"] = to_plain(added.draft.draft.case)
    return found


def added_text(added: Added) -> str:
    """Return the same for people: the judgement, where its text comes from, and the draft of a dry run."""
    blocks = [judgement_text(added.judgement)]
    if added.texts.pull is not None:
        rows = [("pull request", f"{added.texts.pull.url}  {one_line(added.texts.pull.title)}")]
        rows += [("issue", f"{issue.url}  {one_line(issue.title)}") for issue in added.texts.issues]
        blocks.append(table(rows))
    if added.draft is not None and not added.judgement.draft:
        blocks.append(_next_step(added.draft))
    elif added.draft is not None:
        heading = styled(f"the draft that would be written as cases/{added.draft.draft.name}", "strong")
        blocks.append(f"{heading}\n{shown(added.judgement.draft)}".rstrip())
        blocks.append(styled("what lint says of it", "strong") + "\n" + linted_text(added.draft))
    return "\n\n".join(blocks)


def _next_step(linted: Linted) -> str:
    """Return in one line what lint says of a draft that was written, and what its author does next."""
    case_id = linted.draft.case.id
    counted = Counter(finding.code.value for finding in linted.findings if not finding.waived)
    told = ", ".join(code if count == 1 else f"{code} ({count})" for code, count in counted.items())
    if blocking(linted.findings):
        return f"to mend: {told}; `casewright edit {case_id}` opens the task"
    said = f"to look at: {told}" if told else "lint finds nothing"
    return f"{said}; `casewright review {case_id} --by NAME` says that you have read the task"
