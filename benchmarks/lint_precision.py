"""A worksheet of lint's findings, to be judged by hand: python benchmarks/lint_precision.py MIRRORS TRUTH.jsonl…

MIRRORS holds a bare or plain repository `OWNER+NAME/repo` for each TRUTH file `OWNER+NAME.jsonl`. The task of each
admitted row is drafted from its commit message, unless `--texts FILE` (JSON: head -> task) gives one; there ⟦…⟧ stands
around what gives the fix away. Printed by code: every finding with the task around it, and the planted leaks missed.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from authoring.apply_command import apply_command
from authoring.case import Case
from authoring.change_reading import read_change
from authoring.change_words import ChangeWords
from authoring.lint import Finding, lint
from authoring.statement import SourceText, TextKind, draft_statement
from casewright.repository import Repository, open_source
from tests.support.cases import as_case, plain_case


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("truth", type=Path, nargs="+")
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--words", action="store_true", help="print what each change brings")
    chosen = parser.parse_args()
    texts = json.loads(chosen.texts.read_text(encoding="utf-8")) if chosen.texts else None
    sheet: dict[str, list[tuple[Case, Finding]]] = defaultdict(list)
    seconds: list[float] = []
    missed: list[str] = []
    cases = leaks = 0
    with tempfile.TemporaryDirectory() as cache:
        for truth in chosen.truth:
            with open_source(str(chosen.mirrors / truth.stem / "repo"), Path(cache)) as repository:
                for row in admitted(truth):
                    if texts is not None and row["head"] not in texts:
                        continue
                    task, planted = (
                        unmarked(texts[row["head"]]) if texts is not None else (drafted(repository, row), [])
                    )
                    began = perf_counter()
                    case, words = linted_case(repository, truth.stem.replace("+", "/"), row, task)
                    found = lint(case, words)
                    seconds.append(perf_counter() - began)
                    cases += 1
                    leaks += len(planted)
                    for begin, end in planted:
                        if not any(each.field == "task" and each.start < end and begin < each.end for each in found):
                            missed.append(f"{case.id}: {task[begin:end]}")
                    for finding in found:
                        sheet[finding.code].append((case, finding))
                    if chosen.words:
                        print_words(case, words)
    for code, rows in sheet.items():
        print(f"\n######## {code}: {len(rows)} in {len({case.id for case, _ in rows})} cases")
        for number, (case, finding) in enumerate(rows, 1):
            print(f"{number:3} {case.id} {finding.severity} {finding.text[:150]!r}\n      {finding.message[:220]}")
            print(f"      {around(case, finding)!r}")
    print(f"\n{cases} cases, slowest {max(seconds):.2f} s, median {sorted(seconds)[len(seconds) // 2]:.2f} s")
    print(f"planted leaks: {leaks}, missed: {missed}")
    print(dict(Counter({code: len(rows) for code, rows in sheet.items()})))


def unmarked(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a text without the marks, and where they were."""
    planted: list[tuple[int, int]] = []
    plain = ""
    for piece in re.split(r"(⟦[^⟧]*⟧)", text):
        bare = piece.strip("⟦⟧")
        if piece != bare:
            planted.append((len(plain), len(plain) + len(bare)))
        plain += bare
    return plain, planted


def admitted(truth: Path) -> Iterator[dict[str, Any]]:
    for line in truth.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["verdict"] == "admit":
            yield row


def drafted(repository: Repository, row: dict[str, Any]) -> str:
    commit = repository.commit(row["head"])
    single = commit.parents == (row["base"],)
    messages = (commit.message,) if single else repository.messages(row["base"], row["head"])
    texts = [message.decode("utf-8", "replace") for message in messages]
    return draft_statement(
        SourceText(kind=TextKind.COMMIT, source="commit message", title="", text=text) for text in texts
    ).task


def linted_case(repository: Repository, name: str, row: dict[str, Any], task: str) -> tuple[Case, ChangeWords]:
    test_part = {path for _, before, after in row["test_files"] for path in (before, after) if path}
    plain = plain_case()
    files = sorted(row["graded"])
    grading = {
        **plain["grading"],
        "files": files,
        "support_files": sorted(test_part - set(files)),
        "excluded_files": [],
        "apply": apply_command(row["base"], row["head"], [path.encode() for path in sorted(test_part)]),
        "fail_to_pass": row["fail_to_pass"],
        "pass_to_pass": [],
        "fails_by": [],
    }
    case = as_case(
        {
            **plain,
            "id": f"{name.split('/')[1]}-{row['head'][:10]}",
            "repository_id": name,
            "base_commit": row["base"],
            "grading_commit": row["head"],
            "task": task,
            "grading": grading,
        }
    )
    words = read_change(repository, name, row["base"], row["head"], {path.encode() for path in test_part})
    return case, words


def around(case: Case, finding: Finding) -> str:
    text = getattr(case, finding.field) or ""
    if finding.start == finding.end:
        return str(text[:300])
    begin, end = max(0, finding.start - 100), finding.end + 100
    return f"{text[begin : finding.start]}>>{text[finding.start : finding.end]}<<{text[finding.end : end]}"


def print_words(case: Case, words: ChangeWords) -> None:
    print(f"\n==== {case.id}\n{case.task}\n  -- rest: {[path.path for path in words.rest_paths]}")
    print(f"  -- fix names: {words.fix_names}\n  -- changed names: {words.changed_names}")
    print(f"  -- needs: {[(need.kind.value, need.text) for need in words.needs]}\n  -- code: {words.fragments[:8]}")


if __name__ == "__main__":
    sys.exit(main())
