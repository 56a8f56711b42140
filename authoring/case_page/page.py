"""One case as a page of its own, to read, to print and to pass on."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from typing import Final

from authoring.case import ReviewState
from authoring.case_page import sections
from authoring.case_page.markup import shown
from authoring.case_page.style import STYLE
from authoring.case_view import CaseView
from authoring.findings import blocking

_SECTIONS: Final[Mapping[str, tuple[str, Callable[[CaseView], str]]]] = {
    "task": ("Task", sections.task),
    "change": ("The change", sections.pins),
    "test-part": ("Test part", sections.test_part),
    "rest-part": ("Rest part", sections.rest_part),
    "observations": ("What was seen", sections.observations),
    "commands": ("Environment and commands", sections.commands),
    "provenance": ("Provenance", sections.provenance),
    "review": ("Review", sections.review),
}


def case_page(view: CaseView, tool: str) -> str:
    """Return the page as HTML text, to be written as UTF-8; ``tool`` names who made it.

    The policy in its head forbids scripts, styles but its own, frames, forms and any request: what a stranger's text
    might still achieve, it can't load or run anything.
    """
    case = view.case
    title = shown(case.id)
    policy = f"default-src 'none'; style-src 'sha256-{_digest(STYLE)}'; base-uri 'none'; form-action 'none'"
    entries = "".join(f'<li><a href="#{name}">{heading}</a></li>' for name, (heading, _) in _SECTIONS.items())
    body = "\n".join(
        f'<section id="{name}" aria-labelledby="{name}-heading"><h2 id="{name}-heading">{heading}</h2>\n'
        f"{make(view)}\n</section>"
        for name, (heading, make) in _SECTIONS.items()
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{STYLE}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p>{_summary(view)}</p>
<nav aria-label="Sections"><ul>{entries}</ul></nav>
</header>
<main>
{body}
</main>
<footer><p>Made by {shown(tool)} from {shown(view.origin)}. This page runs nothing and loads nothing.</p></footer>
</body>
</html>
"""


def _summary(view: CaseView) -> str:
    case = view.case
    read = "read by a person" if view.state is ReviewState.VERIFIED else "not yet read by a person"
    errors = len(blocking(view.judged.findings))
    state = f"{errors} lint {'error' if errors == 1 else 'errors'}" if errors else "no lint error"
    facts = (case.repository_id, case.language, case.category, f"version {case.case_version}", read, state)
    return " \N{MIDDLE DOT} ".join(shown(each) for each in facts)


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
