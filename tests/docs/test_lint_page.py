"""The page on lint speaks of every rule, and of none that is not there."""

from __future__ import annotations

import re
from pathlib import Path

from authoring.finding import Code

PAGE = (Path(__file__).parents[2] / "docs" / "lint.md").read_text(encoding="utf-8")


def test_every_rule_is_explained_and_no_other() -> None:
    named = set(re.findall(r"`([a-z]+(?:-[a-z]+)+|link)`", PAGE))
    assert named >= {code.value for code in Code}
    assert named - {code.value for code in Code} <= {"add-case"}
