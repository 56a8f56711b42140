"""Texts in the styles of many projects' templates, each with the task that is drafted from it.

A file of ``texts/`` holds the kind, the title, the text as people wrote it, and below a line of its own the whole task.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from authoring.cleaning import cleaned
from authoring.statement import SourceText, TextKind, draft_statement

TEXTS = sorted((Path(__file__).parent / "texts").glob("*.txt"))


def parts_of(path: Path) -> tuple[SourceText, str]:
    written, _, task = path.read_bytes().decode().partition("\n======== task\n")
    kind, title, text = written.split("\n", 2)
    return SourceText(kind=TextKind(kind), source=kind, title=title, text=text), task


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_a_task_is_drafted_from_a_text(path: Path) -> None:
    text, task = parts_of(path)
    assert draft_statement([text]).task == task


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_a_drafted_task_is_clean(path: Path) -> None:
    text, task = parts_of(path)
    once = cleaned(task, text.kind)
    assert cleaned(once, text.kind) == once
    assert "<!--" not in task or "`a <!-- b`" in task
    assert "\r" not in task


def test_there_are_texts() -> None:
    assert len(TEXTS) > 40
