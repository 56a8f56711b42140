"""How a change that is explained is shown: as a JSON object, and as text."""

from __future__ import annotations

from typing import Any

from casewright.cli.output import path_shown, styled, table
from miner.explanation import ChangeExplanation
from miner.parts import Parts
from miner.reasons import EXPLANATIONS


def explanation_object(explained: ChangeExplanation) -> dict[str, Any]:
    """Return the object that ``explain --format json`` prints (its keys are documented and stay).

    A file that is split is in two of ``parts``; ``split`` says by which lines.
    """
    parts = explained.parts
    return {
        "base": explained.base,
        "head": explained.head,
        "landing": explained.landing,
        "landing_by": explained.landing_by,
        "parts": {
            "test": _paths(parts.graded),
            "support": _paths(parts.support),
            "rest": _paths(parts.rest),
        },
        "rules": [_rule(parts, path) for path in sorted(parts.decisions)],
        "split": [
            {
                "path": path_shown(hunk.path),
                "item": hunk.item,
                "base": _span(hunk.base_line, hunk.base_lines),
                "grading": _span(hunk.grading_line, hunk.grading_lines),
            }
            for hunk in parts.inline.hunks
        ],
        "graded_files": _paths(parts.graded_at_head),
        "round_trip": explained.round_trip,
        "screens": [reason.value for reason in explained.screens],
    }


def explanation_text(explained: ChangeExplanation) -> str:
    """Return the same for people."""
    parts = explained.parts
    pins = [
        ("base", explained.base),
        ("head", explained.head or "(a patch: no commit)"),
        ("landing", f"{explained.landing or 'none'}, because {explained.landing_by}"),
        ("subject", explained.subject.decode("utf-8", "backslashreplace")),
        ("round trip", "base + test part + rest part = head" if explained.round_trip else "FAILS"),
    ]
    blocks = [table([row for row in pins if row[1]])]
    for title, paths in (
        ("graded test files", parts.graded),
        ("files that support tests", parts.support),
        ("rest part", parts.rest),
    ):
        rows = [(f"  {path_shown(path)}", _said(parts, path, rest=paths is parts.rest)) for path in paths]
        blocks.append(styled(f"{title} ({len(paths)})", "strong") + ("\n" + table(rows) if rows else ""))
    if explained.screens:
        rows = [(f"  {reason.value}", EXPLANATIONS[reason].sentence) for reason in explained.screens]
        blocks.append(styled("would be rejected before anything runs", "bad") + "\n" + table(rows))
    else:
        blocks.append(styled("passes every screen of its shape", "good"))
    return "\n\n".join(blocks)


def _rule(parts: Parts, path: bytes) -> dict[str, str]:
    row = {"path": path_shown(path), "rule": parts.decisions[path].rule}
    return row | ({"note": _why_whole(parts, path)} if path in parts.inline.whole else {})


def _span(line: int, lines: int) -> dict[str, int]:
    return {"line": line, "lines": lines}


def _said(parts: Parts, path: bytes, *, rest: bool) -> str:
    """Return the rule of a path for people, with the items of a file that is split."""
    rule = parts.decisions[path].rule
    if path in parts.inline.whole:
        return f"{rule} ({_why_whole(parts, path)})"
    if path not in parts.inline.files:
        return rule
    items = ", ".join(dict.fromkeys(hunk.item for hunk in parts.inline.files[path].hunks))
    return f"all but {items}" if rest else f"{rule}: {items}"


def _why_whole(parts: Parts, path: bytes) -> str:
    return f"not split from its tests: {parts.inline.whole[path]}"


def _paths(paths: tuple[bytes, ...]) -> list[str]:
    return [path_shown(path) for path in sorted(paths)]
