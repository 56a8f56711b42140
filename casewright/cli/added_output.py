"""What ``add-case`` shows of the one change that it was asked about, besides its judgement."""

from __future__ import annotations

from typing import Any

from authoring.case import to_plain
from authoring.draft import parse_draft
from casewright.cli.judgement_output import judgement_text
from casewright.cli.output import one_line, shown, styled, table
from miner.forge_facts import ForgeTexts
from miner.judgement import Judgement


def added_object(judgement: Judgement, texts: ForgeTexts | None) -> dict[str, Any]:
    """Return the further keys of the object that ``add-case --format json`` prints; no key where there is nothing."""
    found: dict[str, Any] = {}
    if texts is not None and texts.pull is not None:
        found["pull_request"] = texts.pull.url
        found["issues"] = [issue.url for issue in texts.issues]
        found["notes"] = texts.notes
    if judgement.draft and judgement.case is not None:
        found["draft"] = to_plain(parse_draft(judgement.draft.encode(), judgement.case))
    return found


def added_text(judgement: Judgement, texts: ForgeTexts | None) -> str:
    """Return the same for people: the judgement, where its text comes from, and the draft of a dry run."""
    blocks = [judgement_text(judgement)]
    if texts is not None and texts.pull is not None:
        rows = [("pull request", f"{texts.pull.url}  {one_line(texts.pull.title)}")]
        rows += [("issue", f"{issue.url}  {one_line(issue.title)}") for issue in texts.issues]
        blocks.append(table(rows))
    if judgement.draft:
        heading = styled(f"the draft that would be written as cases/{judgement.case}.yaml", "strong")
        blocks.append(f"{heading}\n{shown(judgement.draft)}".rstrip())
    return "\n\n".join(blocks)
